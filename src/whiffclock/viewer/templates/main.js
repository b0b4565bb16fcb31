/* The page: what is shown, and what happens with time. */

const view = { name: "watch", agent: 0, environment: 0, time: 0, cut: Infinity, playing: false, speed: 12, racers: [], races: [], failure: 0, dirty: true, patience: 350 };

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

function remember() {
  clearTimeout(view.later);
  view.later = setTimeout(() => { try { history.replaceState(null, "", address()); } catch { /* a page without an address, such as in a notebook */ } }, 300);
}

function choices(select, names) { select.replaceChildren(...names.map((name, i) => new Option(name, i))); }

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
