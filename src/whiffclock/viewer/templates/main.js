/* The page: what is shown, and what happens on keys, clicks and time. */

const view = { name: "watch", agent: 0, environment: 0, time: 0, cut: Infinity, playing: false, speed: 12, racers: [], races: [], failure: 0, dirty: true };

async function unpacked(id) {
  const text = $(id).textContent, bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : decoded(atob(text));
  $(id).remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

function decoded(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

const changed = () => { view.dirty = true; };
const announce = (text) => { if ($("status").textContent !== text) $("status").textContent = text; };
const environmentWord = () => (view.level === view.place.level ? view.place.name : `own (whiffs from ${plainNumber(view.about.plume.edges[view.level - 1])})`);
const plainNumber = (value) => (value < 1e-3 || value >= 1e4 ? value.toExponential(1).replace(".0e", "e") : String(Number(value.toPrecision(2))));

/* The search, or the races, from a start. */
function begin(given, cut = Infinity) {
  const shown = (view.name === "race" ? view.racers : [view.agent]).map((i) => view.agents[i]), bound = shown.find((one) => one.start);
  const start = bound?.start ?? given;
  if (bound && bound.environment !== view.environment) setEnvironment(bound.environment, false);
  if (bound) [cut, view.level] = [Infinity, view.place.level];
  view.racing = view.racers.filter((i) => !view.agents[i].start || String(view.agents[i].start) === String(start));
  if (!view.racing.length) view.racing = [view.agents.findIndex((one) => !one.start)];
  Object.assign(view, { start, cut, time: 0 });
  view.search = search(view.world, view.level, view.agents[view.agent], start, cut);
  view.races = view.racing.map((i) => search(view.world, view.level, view.agents[i], start));
  view.recovery = recoveryOf(view.search);
  tellSearch();
  changed();
}

/* Moves that are shown: until the race or the search ends, or, after a cut, until the return is complete. */
function shownMoves() {
  if (view.name === "race") return Math.max(...view.races.map((one) => one.moves));
  return view.recovery?.end ?? view.search.moves;
}

/* After a cut: the path from the last whiff, and the move at which its downwind return is complete. */
function recoveryOf(found) {
  if (found.cut === Infinity || found.cut >= found.moves) return null;
  let first = 0;
  for (let i = 0; i <= found.cut; i++) if (found.moments[i].whiff) first = i;
  const most = found.agent.ends[found.agent.mode(found.moments[first].node)] ?? found.moves;
  const path = found.moments.slice(first, first + most + 1).map((m) => [m.x, m.y]), { returnEnd } = geometry(path);
  return { first, path, end: Math.min(found.moves, first + (returnEnd < 0 ? path.length - 1 : returnEnd) + 2), complete: returnEnd };
}

function seek(time) {
  view.time = Math.max(0, Math.min(time, shownMoves()));
  changed();
}

function play(on = !view.playing) {
  if (on && view.time >= shownMoves()) view.time = 0;
  view.playing = on;
  $("play").textContent = on ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (!on) tellMoment();
  changed();
}

function setEnvironment(index, restart = true) {
  view.environment = index;
  view.place = view.about.environments[index];
  view.level = view.place.level;
  view.starts = new Set();
  for (let i = 0; i < view.place.starts.length; i += 2) view.starts.add(view.place.starts[i] * 4096 + view.place.starts[i + 1]);
  if (restart) begin(view.start);
}

function setAgent(index) {
  view.agent = index;
  const own = view.agents[index].environment;
  if (own !== null && own !== view.environment) setEnvironment(own, false);
  begin(view.start);
}

function show(name) {
  view.name = name;
  document.body.dataset.view = name;
  for (const tab of document.querySelectorAll("nav button")) {
    tab.setAttribute("aria-selected", tab.dataset.view === name);
    tab.tabIndex = tab.dataset.view === name ? 0 : -1;
  }
  play(false);
  if (name === "race" && view.racers.some((i) => view.agents[i].start)) begin(view.start);
  if (name === "race") { if (view.time > shownMoves()) view.time = 0; buildRacers(); }
  if (name === "map") { buildRacers(); view.maps.build(); }
  if (name === "play") view.game.tell();
  if (name !== "play") view.arena.box = null;
  announce("");
  changed();
}

/* Cut the odor at this move, or give it back. */
function cut() {
  const at = Math.floor(view.time), again = view.cut < Infinity;
  begin(view.start, again ? Infinity : at);
  seek(at);
  if (!again && at < view.search.moves) play(true);
  announce(again ? "The odor is back." : `No odor from move ${at} on.`);
}

function elsewhere() {
  const { starts } = view.place, i = 2 * Math.floor((Math.random() * starts.length) / 2);
  begin([starts[i], starts[i + 1], Math.floor(Math.random() * view.world.snapshots)]);
  play(true);
}

function failure() {
  const found = nextFailure(view.world, view.place, view.level, view.agents[view.agent], view.failure);
  const count = (view.place.starts.length / 2) * TIMES;
  if (!found) { announce(`No failure among ${count.toLocaleString("en")} searches: this agent always finds the source here.`); return; }
  view.failure = found.number;
  begin(found.start);
  play(true);
  announce(`A failure, from cell (${found.start[0]}, ${found.start[1]}) at snapshot ${found.start[2]}.`);
}

/* Arena, path, plan and metrics of the present search at a time. */
function paintSearch(arena, time) {
  const found = view.search, step = Math.min(Math.floor(time), found.moves), tint = environmentColour(view.about.environments, view.environment);
  const g = arena.begin(), gone = time - found.cut;
  const faint = gone > 0 ? Math.max(0, 1 - gone / 3) : 1;
  if (faint > 0) arena.drawPlume(found.moments[step].t, time - step, view.level, tint, faint);
  arena.drawGround(view.starts);
  if (found.agent.belief) arena.drawBelief(found.agent, step);
  else if (!(view.recovery?.complete >= 0 && step >= view.recovery.first + view.recovery.complete)) arena.drawAhead(found.moments, time, found.agent);
  arena.drawPath(found.moments, time);
  arena.drawStart(found.moments[0]);
  if (view.recovery && time >= found.cut) {
    const path = view.recovery.path.slice(0, Math.max(1, step - view.recovery.first + 1));
    const end = view.recovery.complete < 0 ? path.length : Math.min(path.length, view.recovery.complete + 1);
    arena.drawMetrics(path.slice(0, end), geometry(path.slice(0, end)));
    const { x, y } = found.moments[found.cut];
    words(g, "odor cut", arena.plane.x(x) + 10, arena.plane.y(y) + theme.label * 1.1, { colour: theme.source, weight: 600, align: "left", size: 0.9 });
  }
  arena.drawAgent(found.moments, time);
}

function paintRace(arena, time) {
  const tint = environmentColour(view.about.environments, view.environment), longest = view.races.reduce((a, b) => (a.moves > b.moves ? a : b));
  const step = Math.min(Math.floor(time), longest.moves);
  arena.begin();
  arena.drawPlume(longest.moments[step].t, time - step, view.level, tint);
  arena.drawGround(view.starts);
  view.races.forEach((found, i) => arena.drawPath(found.moments, Math.min(time, found.moves), { colour: racerColour(i), dash: DASHES[i] }));
  arena.drawStart(view.races[0].moments[0]);
  view.races.forEach((found, i) => arena.drawAgent(found.moments, Math.min(time, found.moves), racerColour(i)));
}

const METRIC_NAMES = [["surgeLength", "surge length", "cells"], ["castWidth", "cast width", "cells"], ["upwindSearch", "upwind search", "cells"],
  ["returnLength", "downwind return", "cells"], ["returnStart", "return begins", "move"]];

/* The table of the metrics after a cut; those that are final are dark. */
function paintMetrics(step) {
  const { recovery } = view, shown = recovery && step >= view.cut;
  $("metrics").hidden = !shown;
  $("program").hidden = Boolean(shown || view.search.agent.start);
  if (!shown) return;
  const end = recovery.complete < 0 ? Infinity : recovery.complete + 1;
  const path = recovery.path.slice(0, Math.min(end, Math.max(1, step - recovery.first + 1))), shape = geometry(path), done = path.length >= end;
  const reached = { surgeLength: shape.surgeEnd >= 0, castWidth: done, upwindSearch: shape.returnStart >= 0, returnLength: done, returnStart: shape.returnStart >= 0 };
  const row = document.createElement("tr");
  for (const [name, label, unit] of METRIC_NAMES) {
    const cell = document.createElement("td"), value = name === "returnStart" && shape.returnStart < 0 ? "–" : shape[name];
    cell.className = reached[name] ? "reached" : "";
    cell.append(label, Object.assign(document.createElement("b"), { textContent: value }), reached[name] ? unit : `${unit}, so far`);
    row.append(cell);
  }
  $("metrics").tBodies[0].replaceChildren(row);
}

function paintMind() {
  const found = view.search, step = Math.min(Math.floor(view.time), found.moves), moment = found.moments[step];
  const turn = turnOf(found.moments.slice(0, shownMoves() + 1)), mind = { agent: found.agent, moment, turn };
  drawDial($("dial"), mind);
  if (view.told !== `${step}/${found.cut}/${view.level}/${found.start}/${view.agent}`) $("dial").setAttribute("aria-label", moment.whiff ? "Clock: a whiff" : `Clock: ${moment.clock} moves since the last whiff`);
  if (view.told !== `${step}/${found.cut}/${view.level}/${found.start}/${view.agent}`) {
    view.told = `${step}/${found.cut}/${view.level}/${found.start}/${view.agent}`;
    $("why").replaceChildren(...reasons(found, moment, step));
    paintMetrics(step);
  }
  if (!$("program").hidden) drawProgram($("program"), mind);
}

function tellMoment() {
  if (view.name !== "watch") return;
  const step = Math.min(Math.floor(view.time), view.search.moves), m = view.search.moments[step];
  announce(`Move ${step}, cell (${m.x}, ${m.y}), ${m.whiff ? "a whiff" : `clock at ${m.clock}`}${m.action >= 0 ? `, next: ${MOVE_WORDS[m.action]}` : view.search.arrived ? ", source found" : ", not found"}.`);
}

/* The whole search in words, for those who cannot see it. */
function tellSearch() {
  const { moments, agent, arrived, moves } = view.search, lines = [`${agent.label} starts at cell (${moments[0].x}, ${moments[0].y}), snapshot ${moments[0].t}.`];
  moments.forEach((m, i) => {
    if (i === view.cut) lines.push(`Move ${i}: the odor is cut.`);
    if (m.whiff) lines.push(`Move ${i}: a whiff at (${m.x}, ${m.y})${i && moments[i - 1].clock > 0 ? `, after ${moments[i - 1].clock} moves without` : ""}.`);
  });
  lines.push(arrived ? `Move ${moves}: the source is found.` : `The source is not found in ${moves} moves.`);
  $("log").replaceChildren(...lines.map((textContent) => Object.assign(document.createElement("li"), { textContent })));
}

function syncControls() {
  const told = [view.name, view.agent, view.environment, view.level, view.cut].join("/");
  if (view.toldControls === told) return; // writing into the page costs a layout
  view.toldControls = told;
  $("agent").value = view.agent;
  $("environment").value = $("race-environment").value = view.environment;
  $("level").value = view.level;
  $("threshold").textContent = plainNumber(view.level === view.place.level ? view.place.threshold : view.about.plume.edges[view.level - 1]);
  const recorded = Boolean(view.agents[view.agent].start);
  for (const id of ["cut", "elsewhere", "failure", "level"]) $(id).disabled = recorded && view.name === "watch";
  $("mind-words").textContent = recorded ? "and knows how likely they are everywhere." : "and remembers little more than how long ago the last one was.";
  $("hint").textContent = recorded ? "Its searches were recorded when this page was made." : "Click anywhere to start it there.";
  $("cut").textContent = view.cut < Infinity ? "Give the odor back" : "Cut the odor now";
  $("cut").setAttribute("aria-pressed", view.cut < Infinity);
}

let before = 0;
function frame(now) {
  const elapsed = Math.min(0.1, (now - before) / 1000);
  before = now;
  const stage = view.name === "watch" || view.name === "race";
  if (view.playing && stage) {
    view.time = Math.min(shownMoves(), view.time + elapsed * view.speed);
    changed();
    if (view.time >= shownMoves()) play(false);
  }
  if (view.dirty) {
    view.dirty = false;
    paint(now);
    if (view.onframe) view.onframe(now);
  }
  requestAnimationFrame(frame);
}

function paint(now) {
  const { arena } = view;
  syncControls();
  if (view.name === "play") {
    if (view.game.paint(now)) changed();
    view.game.paintDial();
    return;
  }
  if (view.name === "map") return;
  const step = Math.ceil(view.time), found = view.name === "race" ? view.races : [view.search];
  const places = found.flatMap((one) => one.moments.slice(0, step + 12));
  if (view.name === "watch" && view.recovery && view.time >= view.cut) places.push(...roomForMetrics(view.recovery, step));
  if (arena.glide(arena.boxOf(places))) changed();
  if (view.name === "race") {
    paintRace(arena, view.time);
    const told = `${step}/${view.start}/${view.racers}/${view.level}`;
    if (view.toldRace !== told) drawResults();
    view.toldRace = told;
  } else {
    paintSearch(arena, view.time);
    paintMind();
  }
  if (view.cursor) {
    const { g, plane } = arena;
    g.strokeStyle = theme.accent;
    g.lineWidth = 2.5;
    g.strokeRect(plane.x(view.cursor[0] - 0.5) - 3, plane.y(view.cursor[1] + 0.5) - 3, plane.cell + 6, plane.cell + 6);
  }
  const line = $("timeline");
  drawTimeline(line, found, view.time, shownMoves(), found.map((_, i) => racerColour(i)));
  for (const [name, value] of [["valuemin", 0], ["valuemax", shownMoves()], ["valuenow", Math.floor(view.time)]]) {
    if (line.getAttribute(`aria-${name}`) !== String(value)) line.setAttribute(`aria-${name}`, value);
  }
  if (!view.playing && view.name !== "map" && view.ready) remember();
}

/* Places above and below a recovery, so that its dimension lines and their labels can be seen. */
function roomForMetrics({ first, path }, step) {
  const ys = path.slice(0, Math.max(1, step - first + 1)).map((at) => at[1]), line = theme.label / (view.arena.plane?.cell ?? 9), [[x]] = path;
  return [{ x, y: Math.min(...ys) - 4 * line }, { x, y: Math.max(...ys) + 2.5 * line }];
}

function remember() {
  clearTimeout(view.later);
  view.later = setTimeout(() => { try { history.replaceState(null, "", address()); } catch { /* a page without an address, such as in a notebook */ } }, 300);
}

function choices(select, names) { select.replaceChildren(...names.map((name, i) => new Option(name, i))); }

function listen() {
  const on = (id, event, act) => $(id).addEventListener(event, act);
  on("agent", "change", () => setAgent(Number($("agent").value)));
  on("environment", "change", () => setEnvironment(Number($("environment").value)));
  on("race-environment", "change", () => { setEnvironment(Number($("race-environment").value)); if (view.name === "map") view.maps.build(); });
  on("level", "input", () => { view.level = Number($("level").value); const at = view.time; begin(view.start, view.cut); seek(at); });
  on("speed", "input", () => { view.speed = Number($("speed").value); });
  on("play", "click", () => play());
  on("back", "click", () => { play(false); seek(Math.ceil(view.time) - 1); tellMoment(); });
  on("on", "click", () => { play(false); seek(Math.floor(view.time) + 1); tellMoment(); });
  on("cut", "click", cut);
  on("elsewhere", "click", elsewhere);
  on("failure", "click", failure);
  on("map-kind", "change", () => view.maps.shown.forEach((one) => view.maps.draw(one)));
  on("next-round", "click", () => view.game.begin());
  on("give-up", "click", () => view.game.end(false));
  on("play-environment", "change", () => {
    const place = Number($("play-environment").value), own = view.agents.findIndex((one) => one.environment === place && one.modes > 1 && !one.start);
    const any = own >= 0 ? own : view.agents.findIndex((one) => one.environment === place && !one.start);
    if (any >= 0) $("opponent").value = any;
  });
  on("link", "click", copyLink);
  on("save-gif", "click", () => take($("save-gif"), "gif", gif));
  on("save-webm", "click", () => take($("save-webm"), "webm", webm));
  on("save-svg", "click", () => take($("save-svg"), "svg", async () => svg()));
  on("lecture", "click", () => look("lecture", $("lecture").getAttribute("aria-pressed") !== "true"));
  on("theme", "click", () => look("dark", !document.documentElement.classList.contains("dark")));
  for (const button of document.querySelectorAll(".pad button")) button.addEventListener("click", () => view.game.move(Number(button.dataset.move)));
  for (const tab of document.querySelectorAll("nav button")) {
    tab.addEventListener("click", () => show(tab.dataset.view));
    tab.addEventListener("keydown", (event) => {
      const tabs = [...document.querySelectorAll("nav button")], way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const next = tabs[(tabs.indexOf(tab) + way + tabs.length) % tabs.length];
      next.focus();
      next.click();
      event.stopPropagation();
    });
  }
  listenArena();
  listenTimeline();
  document.addEventListener("keydown", keys);
  addEventListener("hashchange", () => readAddress(location.hash));
  new ResizeObserver(() => { changed(); view.maps.shown.forEach((one) => view.maps.draw(one)); }).observe($("stage").parentElement);
}

function listenArena() {
  const canvas = $("arena"), inside = ([x, y]) => x >= 0 && y >= 0 && x < view.world.length && y < view.world.width;
  const startAt = (cell) => {
    if (view.name === "play" || !inside(cell) || view.world.atSource(...cell)) return;
    const found = view.name === "race" ? view.races[0] : view.search, now = found.moments[Math.min(Math.floor(view.time), found.moves)];
    begin([...cell, now.t]);
    play(true);
  };
  canvas.addEventListener("pointerdown", (event) => { view.cursor = null; startAt(view.arena.plane.cellAt(event.offsetX, event.offsetY)); });
  canvas.addEventListener("keydown", (event) => {
    if (view.name === "play") return;
    const action = KEYS[event.key];
    if (action !== undefined) {
      const from = view.cursor ?? [view.start[0], view.start[1]], to = [from[0] + MOVES[action][0], from[1] + MOVES[action][1]];
      if (inside(to)) view.cursor = to;
      announce(`Start at cell (${view.cursor.join(", ")}): press Enter.`);
    } else if (event.key === "Enter" && view.cursor) { startAt(view.cursor); view.cursor = null; } else return;
    event.preventDefault();
    event.stopPropagation();
    changed();
  });
  canvas.addEventListener("blur", () => { view.cursor = null; changed(); });
}

function listenTimeline() {
  const line = $("timeline"), move = (event) => seek(((event.offsetX - 8) / (line.clientWidth - 16)) * shownMoves());
  line.addEventListener("pointerdown", (event) => { play(false); line.setPointerCapture(event.pointerId); move(event); });
  line.addEventListener("pointermove", (event) => { if (line.hasPointerCapture(event.pointerId)) move(event); });
  line.addEventListener("pointerup", tellMoment);
  line.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (!way) return;
    play(false);
    seek(Math.round(view.time) + way);
    tellMoment();
    event.preventDefault();
    event.stopPropagation();
  });
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /SELECT|INPUT|TEXTAREA/.test(event.target.tagName)) return;
  if (view.name === "play" && KEYS[event.key] !== undefined && view.game.running) { view.game.move(KEYS[event.key]); event.preventDefault(); return; }
  const onButton = /BUTTON|SUMMARY/.test(event.target.tagName), stage = view.name === "watch" || view.name === "race";
  if (event.key === "Enter" && view.name === "play" && !onButton && !view.game.running) { view.game.begin(); event.preventDefault(); return; }
  if (event.key === " " && !onButton && stage) { play(); event.preventDefault(); return; }
  const named = { l: "lecture", d: "theme", ...(stage ? { ",": "back", ".": "on", r: "elsewhere" } : {}), ...(view.name === "watch" ? { c: "cut", n: "failure" } : {}) }[event.key.toLowerCase()];
  if (named) $(named).click();
  else if (/^[1-4]$/.test(event.key)) show(["watch", "race", "map", "play"][event.key - 1]);
  else if (stage && event.key === "Home") seek(0);
  else if (stage && event.key === "End") seek(shownMoves());
  else if (view.name === "watch" && event.key.toLowerCase() === "a") setAgent((view.agent + 1) % view.agents.length);
  else if (stage && event.key.toLowerCase() === "e") setEnvironment((view.environment + 1) % view.about.environments.length);
  else return;
  if (/^(Home|End)$/.test(event.key)) event.preventDefault();
}

function look(name, on) {
  document.documentElement.classList.toggle(name, on);
  if (name === "lecture") $("lecture").setAttribute("aria-pressed", on);
  readTheme();
  if (view.name === "race") buildRacers();
  view.toldRace = "";
  view.maps?.shown.forEach((one) => view.maps.draw(one));
  changed();
}

async function open() {
  look("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  const about = JSON.parse(new TextDecoder().decode(await unpacked("data-about"))), levels = new Uint8Array(await unpacked("data-plume"));
  const world = new World(about.plume, about.radius, levels), agents = about.policies.map((one) => new Agent(one, about.memories));
  const maps = $("data-beliefs") ? new Uint8Array(await unpacked("data-beliefs")) : null;
  agents.reduce((at, one) => { if (one.maps) one.belief = maps.subarray(at, at + one.maps); return at + (one.maps ?? 0); }, 0);
  Object.assign(view, { about, world, agents, arena: new Arena($("arena"), world, about), maps: new Maps($("maps")), game: new Game() });
  view.agent = about.first;
  view.environment = agents[view.agent].environment ?? Math.min(2, about.environments.length - 1);
  setEnvironment(view.environment, false);
  const middle = agents.map((_, i) => i).filter((i) => agents[i].environment === view.environment && !agents[i].start), free = agents.map((_, i) => i).filter((i) => agents[i].environment === null);
  view.racers = [...new Set([view.agent, ...middle, ...free.slice(-1), ...agents.keys()].filter((i) => i === view.agent || !agents[i].start))].slice(0, MOST_RACERS);
  choices($("agent"), agents.map((one) => one.label));
  choices($("opponent"), agents.map((one) => one.label));
  for (const option of [...$("opponent").options]) if (agents[option.value].start) option.remove();
  for (const id of ["environment", "race-environment", "play-environment"]) choices($(id), about.environments.map((one) => one.name));
  $("play-environment").value = view.environment;
  $("opponent").value = middle.find((i) => agents[i].modes > 1) ?? (agents[view.agent].start ? agents.findIndex((one) => !one.start) : view.agent);
  $("level").max = about.plume.edges.length;
  begin(firstStart());
  listen();
  $("wait").remove();
  view.ready = true;
  if (location.hash.length > 1) readAddress(location.hash); else { show("watch"); if (!calm.matches) play(true); }
  requestAnimationFrame((now) => { before = now; frame(now); view.opened = performance.now(); });
}

/* A start to begin with: far away, and with a lot to see, that is whiffs soon, and blanks neither short nor long. */
function firstStart() {
  const { starts } = view.place, times = startTimes(view.world), count = starts.length / 2, agent = view.agents[view.agent];
  let best = { score: -1 };
  for (let i = 0; i < 300; i++) {
    const cell = 2 * scattered(i, count), start = [starts[cell], starts[cell + 1], times[i % times.length]];
    const { moves, arrived, moments } = search(view.world, view.level, agent, start), far = shortest(view.world, start[0], start[1]);
    const smelled = moments.slice(0, 25).filter((m) => m.whiff).length, longest = Math.max(...moments.map((m) => m.clock));
    const score = arrived * (Math.min(smelled, 3) + 3 * (far > 0.45 * view.world.length) + 3 * (longest > 14 && longest < 58) + 2 * (moves > 1.4 * far && moves < 2.6 * far));
    if (score > best.score) best = { score, start };
  }
  return best.start;
}

if (typeof document !== "undefined") open();
