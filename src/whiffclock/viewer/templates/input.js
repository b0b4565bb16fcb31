/* Clicks, touches and keys. */

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
  for (const button of document.querySelectorAll(".pad button")) {
    const action = Number(button.dataset.move);
    steers(button, () => action);
    button.addEventListener("click", (event) => { if (!event.detail) view.game.move(action); }); // by a key
  }
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

/* Steer while a finger or a mouse button is down: one move at once, and more after a while. */
function steers(element, action) {
  const stop = () => clearInterval(element.again);
  element.addEventListener("pointerdown", (event) => {
    if (view.name !== "play" || !view.game.running) return;
    const move = () => (view.game.running ? view.game.move(action(event)) : stop()), begun = performance.now();
    stop();
    element.again = setInterval(() => { if (performance.now() - begun > view.patience) move(); }, 110);
    move();
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) element.addEventListener(end, stop);
  element.addEventListener("contextmenu", (event) => { if (view.name === "play") event.preventDefault(); });
}

function listenArena() {
  const canvas = $("arena"), inside = ([x, y]) => x >= 0 && y >= 0 && x < view.world.length && y < view.world.width;
  const startAt = (cell) => {
    if (view.name === "play" || !inside(cell) || view.world.atSource(...cell)) return;
    const found = view.name === "race" ? view.races[0] : view.search, now = found.moments[Math.min(Math.floor(view.time), found.moves)];
    begin([...cell, now.t]);
    play(true);
  };
  canvas.addEventListener("pointerdown", () => { canvas.idle = !view.game.running; });
  canvas.addEventListener("click", (event) => { // not where a finger scrolls the page
    view.cursor = null;
    if (view.name !== "play") startAt(view.arena.plane.cellAt(event.offsetX, event.offsetY));
    else if (canvas.idle) view.game.begin();
  });
  steers(canvas, (event) => view.game.towards(event.offsetX, event.offsetY));
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
