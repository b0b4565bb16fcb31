/* Several agents: a race from one start, and maps of all start cells. */

const TIMES = 16; // start times of each cell in a map
const DASHES = [[], [9, 4], [2, 4], [12, 4, 2, 4]];
const MOST_RACERS = 4;

/* Start times spread over the record: the middle of each of 16 parts. */
const startTimes = (world) => Array.from({ length: TIMES }, (_, i) => Math.floor(((i + 0.5) * world.snapshots) / TIMES));

/* The number of a start in an order that jumps from cell to cell and from time to time, so that neighbours differ. */
function scattered(number, count) {
  let step = Math.max(1, Math.floor(count * 0.6180339887));
  const common = (a, b) => (b ? common(b, a % b) : a);
  while (common(step, count) !== 1) step += 1;
  return (number * step) % count;
}

/* The next start whose search fails, after the number `from`; null if all of them succeed. */
function nextFailure(world, place, level, agent, from) {
  const cells = place.starts.length / 2, times = startTimes(world), count = cells * times.length;
  for (let i = 1; i <= count; i++) {
    const number = (from + i) % count, at = scattered(number, count), cell = Math.floor(at / times.length);
    const start = [place.starts[2 * cell], place.starts[2 * cell + 1], times[at % times.length]];
    if (!arrival(world, level, agent, start)) return { start, number };
  }
  return null;
}

/* Arrivals from every start cell at 16 times: number found, and sum of the moves of those. */
function mapOf(world, place, level, agent) {
  const times = startTimes(world), cells = place.starts.length / 2;
  const found = new Uint8Array(cells), moves = new Int32Array(cells);
  for (let i = 0; i < cells; i++) {
    for (const t of times) {
      const steps = arrival(world, level, agent, [place.starts[2 * i], place.starts[2 * i + 1], t]);
      found[i] += steps > 0;
      moves[i] += steps;
    }
  }
  const total = found.reduce((a, b) => a + b, 0);
  return { found, moves, searches: cells * TIMES, share: total / (cells * TIMES), mean: moves.reduce((a, b) => a + b, 0) / Math.max(1, total) };
}

/* The share of searches that fail from a start cell, or the mean number of moves of the others. */
const failed = (map, i) => 1 - map.found[i] / TIMES;
const meanMoves = (map, i) => (map.found[i] ? map.moves[i] / map.found[i] : Infinity);

function drawMap(canvas, map, place, world, kind, slowest, cursor) {
  const { g, w, h } = fitted(canvas), plane = new Plane(w, h, mapBox(place, world));
  canvas.plane = plane;
  g.fillStyle = theme.field;
  g.fillRect(0, 0, w, h);
  for (let i = 0; i < map.found.length; i++) {
    const x = place.starts[2 * i], y = place.starts[2 * i + 1];
    g.fillStyle = kind === "success" ? mixed(theme.low, theme.bad, Math.sqrt(failed(map, i))) : map.found[i] ? mixed(theme.low, theme.high, meanMoves(map, i) / slowest) : theme.bad;
    g.fillRect(plane.x(x - 0.5), plane.y(y + 0.5), plane.cell + 0.4, plane.cell + 0.4);
  }
  g.beginPath();
  g.arc(plane.x(world.sourceX), plane.y(world.sourceY), Math.max(4, plane.cell * 1.6), 0, 7);
  g.fillStyle = theme.source;
  g.fill();
  if (cursor) {
    g.strokeStyle = theme.ink;
    g.lineWidth = 2;
    g.strokeRect(plane.x(cursor[0] - 0.5) - 1, plane.y(cursor[1] + 0.5) - 1, plane.cell + 2, plane.cell + 2);
  }
}

/* The rectangle around the source and all start cells. */
function mapBox({ starts }, world) {
  const xs = starts.filter((_, i) => i % 2 === 0).concat(world.sourceX), ys = starts.filter((_, i) => i % 2).concat(world.sourceY);
  return { left: Math.min(...xs) - 3, right: Math.max(...xs) + 2, bottom: Math.min(...ys) - 2, top: Math.max(...ys) + 2 };
}

/* The page's maps, one for each racer. */
class Maps {
  constructor(place) { Object.assign(this, { place, cache: new Map(), shown: [] }); }

  get(agent) {
    const key = `${agent}/${view.level}`;
    if (!this.cache.has(key)) {
      const begun = performance.now();
      const made = mapOf(view.world, view.place, view.level, view.agents[agent]);
      made.milliseconds = performance.now() - begun;
      this.cache.set(key, made);
    }
    return this.cache.get(key);
  }

  /* Lay out a figure for each racer; each map is computed after the page has been drawn once. */
  async build() {
    const turn = (this.turn = {});
    this.shown = [];
    this.place.replaceChildren();
    for (const agent of view.racers.filter((i) => !view.agents[i].start)) {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption"), canvas = document.createElement("canvas");
      caption.append(Object.assign(document.createElement("b"), { textContent: view.agents[agent].label }), Object.assign(document.createElement("span"), { textContent: "searching …" }));
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "img");
      figure.append(caption, canvas);
      this.place.append(figure);
      const one = { agent, canvas, caption, cursor: null };
      this.shown.push(one);
      this.listen(one);
    }
    for (const one of this.shown) {
      await new Promise((done) => setTimeout(done, 0));
      if (this.turn !== turn) return;
      one.map = this.get(one.agent);
      this.shown.forEach((each) => this.draw(each));
    }
  }

  /* The slowest mean of all maps, so that their colours can be compared. */
  get slowest() {
    return Math.max(1, ...this.shown.flatMap(({ map }) => (map ? Array.from(map.found, (_, i) => (map.found[i] ? meanMoves(map, i) : 0)) : [])));
  }

  draw(one) {
    if (!one.map) return;
    const { map, canvas } = one, { world } = view, box = mapBox(view.place, world), kind = $("map-kind").value, { slowest } = this;
    canvas.style.aspectRatio = `${box.right - box.left} / ${box.top - box.bottom}`;
    drawMap(canvas, map, view.place, world, kind, slowest, one.cursor);
    const [first, bar, last] = $("legend").children;
    first.textContent = kind === "success" ? "all find it" : "0 moves";
    last.textContent = kind === "success" ? "none does" : `${slowest.toFixed(0)} moves`;
    bar.style.setProperty("--most", kind === "success" ? theme.bad : theme.high);
    const text = `${(100 * map.share).toFixed(1)}% of ${map.searches.toLocaleString("en")} searches, mean ${map.mean.toFixed(0)} moves`;
    const at = one.cursor && this.index(one.cursor);
    const detail = at >= 0 && one.cursor ? `cell (${one.cursor.join(", ")}): ${map.found[at]} of ${TIMES} found${map.found[at] ? `, mean ${(map.moves[at] / map.found[at]).toFixed(0)} moves` : ""}` : text;
    one.caption.lastChild.textContent = detail;
    canvas.setAttribute("aria-label", `Map of all start cells for ${view.agents[one.agent].label}: ${text}`);
  }

  index([x, y]) {
    const { starts } = view.place;
    for (let i = 0; i < starts.length; i += 2) if (starts[i] === x && starts[i + 1] === y) return i / 2;
    return -1;
  }

  listen(one) {
    const move = (cell) => { one.cursor = cell && this.index(cell) >= 0 ? cell : null; this.draw(one); };
    const play = () => one.cursor && this.play(one);
    one.canvas.onpointermove = (event) => one.canvas.plane && move(one.canvas.plane.cellAt(event.offsetX, event.offsetY));
    one.canvas.onpointerleave = () => move(null);
    one.canvas.onclick = (event) => { move(one.canvas.plane.cellAt(event.offsetX, event.offsetY)); play(); };
    one.canvas.onkeydown = (event) => {
      const action = KEYS[event.key];
      if (event.key === "Enter") play();
      else if (action !== undefined) {
        const from = one.cursor ?? [view.place.starts[0], view.place.starts[1]], to = [from[0] + MOVES[action][0], from[1] + MOVES[action][1]];
        if (!one.cursor || this.index(to) >= 0) move(one.cursor ? to : from);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    };
  }

  /* Watch a search from the cell under the cursor; one that fails, if there is any. */
  play(one) {
    const agent = view.agents[one.agent], times = startTimes(view.world);
    const t = times.find((at) => !arrival(view.world, view.level, agent, [...one.cursor, at])) ?? times[0];
    view.agent = one.agent;
    begin([...one.cursor, t]);
    show("watch");
    play(true);
  }
}

/* The colour of a race: that of its agent's button; a recorded search with another start takes no part. */
const racerColour = (race) => theme.racers[Math.max(0, view.racers.indexOf(view.racing[race]))];

/* The racers, each with a button that takes it out, and a list of those that may come in. */
function buildRacers() {
  const set = (racers) => { view.racers = racers; begin(view.start); buildRacers(); if (view.name === "map") view.maps.build(); };
  const out = view.racers.map((agent, rank) => {
    const button = Object.assign(document.createElement("button"), { textContent: view.agents[agent].label, disabled: view.racers.length < 2 });
    button.append(Object.assign(document.createElement("span"), { textContent: "×" }));
    button.setAttribute("aria-label", `Take out ${view.agents[agent].label}`);
    button.style.setProperty("--racer", theme.racers[rank]);
    button.onclick = () => set(view.racers.filter((one) => one !== agent));
    return button;
  });
  if (view.racers.length < MOST_RACERS && view.racers.length < view.agents.length) {
    const select = document.createElement("select"), others = view.agents.map((one, i) => [one.label, i]).filter(([, i]) => !view.racers.includes(i));
    select.setAttribute("aria-label", "Add an agent to the race");
    select.append(new Option("+ one more", ""), ...others.map(([label, i]) => new Option(label, i)));
    select.onchange = () => set([...view.racers, Number(select.value)]);
    out.push(select);
  }
  $("racers").replaceChildren(...out);
}

function drawResults() {
  const step = Math.floor(view.time), order = view.races.map((r) => (r.arrived ? r.moves : Infinity)).toSorted((a, b) => a - b);
  const cards = view.races.map((found, i) => {
    const here = found.moments[Math.min(step, found.moves)], done = step >= found.moves;
    const card = Object.assign(document.createElement("div"), { className: "racer" });
    card.style.setProperty("--racer", racerColour(i));
    const whiffs = found.moments.slice(0, step + 1).filter((m) => m.whiff).length;
    const big = done ? (found.arrived ? `${["1st", "2nd", "3rd", "4th"][order.indexOf(found.moves)]}: ${found.moves} moves` : "not found") : `move ${step}`;
    const about = done && found.arrived ? `${whiffs} whiffs on the way; reward ${reward(found.moves, true, view.about.gamma, found.agent.horizon).toFixed(3)}`
      : `${whiffs} ${whiffs === 1 ? "whiff" : "whiffs"} so far, clock at ${here.clock}${done ? "" : `, ${PHASES[phaseAt(found, step)]}`}`;
    card.append(Object.assign(document.createElement("h3"), { textContent: found.agent.label }), Object.assign(document.createElement("p"), { textContent: big, className: "big" }),
      Object.assign(document.createElement("p"), { textContent: about }));
    return card;
  });
  $("results").replaceChildren(...cards);
}
