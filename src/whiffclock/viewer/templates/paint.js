/* What is painted at a moment: the arena, the mind, the metrics, the controls. */

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
  const told = [step, found.cut, view.level, found.start, view.agent].join("/");
  if (view.told !== told) { // writing into the page costs a layout
    view.told = told;
    $("dial").setAttribute("aria-label", moment.whiff ? "Clock: a whiff" : `Clock: ${moment.clock} moves since the last whiff`);
    $("why").replaceChildren(...reasons(found, moment, step));
    const phase = phaseAt(found, step);
    [...$("phases").children].forEach((word, i) => word.classList.toggle("now", i === phase));
    $("phases").setAttribute("aria-label", phase < 0 ? "Phases of recovery" : `Phase of recovery: ${PHASE_WORDS[phase]}`);
    paintMetrics(step);
  }
  if (!$("program").hidden) drawProgram($("program"), mind);
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
