/* To take along: links to a moment, and a search as GIF, WebM or SVG. */

const MOST_FRAMES = 240;

/* The address holds the view: agent, environment or level, start, move, cut. */
function address() {
  const values = { view: view.name, agent: view.agents[view.agent].label, odor: view.place.name, start: view.start.join(","), move: Math.floor(view.time) };
  if (view.level !== view.place.level) values.level = view.level;
  if (view.cut < Infinity) values.cut = view.cut;
  if (view.name === "race" || view.name === "map") values.race = view.racers.join(",");
  return `#${new URLSearchParams(values)}`;
}

/* Read an address; whatever does not fit this page is left as it is. */
function readAddress(hash) {
  const given = new URLSearchParams(hash.slice(1)), whole = (name, low, high, other) => {
    const value = Number(given.get(name) ?? NaN);
    return Number.isInteger(value) && value >= low && value <= high ? value : other;
  };
  const agent = view.agents.findIndex((one) => one.label === given.get("agent"));
  const place = view.about.environments.findIndex((one) => one.name === given.get("odor"));
  if (agent >= 0) view.agent = agent;
  if (place >= 0) setEnvironment(place, false);
  view.level = whole("level", 1, view.about.plume.edges.length, view.level);
  const racers = (given.get("race") ?? "").split(",").map(Number).filter((i, at, all) => Number.isInteger(i) && i >= 0 && i < view.agents.length && all.indexOf(i) === at);
  if (given.get("race") && racers.length) view.racers = racers.slice(0, MOST_RACERS);
  const start = (given.get("start") ?? "").split(",").map(Number), { length, width, snapshots } = view.world;
  const fits = start.length === 3 && start.every(Number.isInteger) && [length, width, snapshots].every((end, i) => start[i] >= 0 && start[i] < end);
  begin(fits ? start : view.start, whole("cut", 0, 1e6, Infinity));
  const name = given.get("view");
  show(["watch", "race", "map", "play"].includes(name) ? name : "watch");
  seek(whole("move", 0, 1e6, 0));
}

function saveFile(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  announce(`Saved ${name}, ${(blob.size / 1e6).toFixed(1)} MB.`);
}

const fileName = (form) => `search-${view.agents[view.agent].label.replace(/[^A-Za-z0-9]+/g, "-")}-${view.start.join("-")}.${form}`;

const breath = () => new Promise((done) => setTimeout(done, 0));

async function gif() {
  const shot = new Shot(true), end = shownMoves(), every = Math.max(1, Math.ceil(end / MOST_FRAMES)), samples = [0, 0.35, 0.7, 1].map((share) => (shot.draw(Math.floor(share * end)), shot.pixels()));
  const made = new Gif(shot.canvas.width, shot.canvas.height, paletteOf(samples), Math.round(100 / 12));
  for (let move = 0; move <= end; move += every) {
    shot.draw(move);
    made.add(shot.pixels(), move + every > end ? 200 : undefined);
    if (move % 6 === 0) { announce(`Drawing move ${move} of ${end} …`); await breath(); }
  }
  return made.blob();
}

async function webm() {
  const shot = new Shot(), end = shownMoves(), stream = shot.draw(0).captureStream(0), [track] = stream.getVideoTracks();
  const recorder = new MediaRecorder(stream, { mimeType: "video/webm", videoBitsPerSecond: 4e6 }), parts = [];
  let size = 0;
  recorder.ondataavailable = ({ data }) => { parts.push(data); size += data.size; };
  const stopped = new Promise((done) => { recorder.onstop = done; });
  recorder.start(200);
  const begun = performance.now(), speed = Math.max(view.speed, end / 40);
  for (let time = 0; time < end;) {
    await new Promise((done) => setTimeout(done, 33));
    time = Math.min(end, ((performance.now() - begun) / 1000) * speed);
    shot.draw(time);
    track.requestFrame();
    announce(`Recording move ${Math.floor(time)} of ${end} …`);
  }
  for (let wait = 0; wait < 8 || (size < 5000 && wait < 80); wait++) { // a slow encoder may lag behind
    track.requestFrame();
    await new Promise((done) => setTimeout(done, 100));
  }
  recorder.stop();
  await stopped;
  return new Blob(parts, { type: "video/webm" });
}

const escapeXml = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/* The present moment as a drawing: a cell is 10 units wide. */
function svg() {
  const { world, about, search: found, place } = view, now = Math.min(Math.floor(view.time), found.moves), { t } = found.moments[now], out = [];
  const box = view.arena.boxOf(found.moments.slice(0, now + 1)), u = 10, X = (x) => (x * u).toFixed(0), Y = (y) => (-y * u).toFixed(0), most = about.plume.edges.length;
  const tint = environmentColour(about.environments, view.environment), odorless = now > found.cut;
  for (let y = 0; y < world.width && !odorless; y++) {
    for (let x = 0, from = 0; x < world.length; x = from) {
      const level = world.levels[(t * world.length + x) * world.width + y];
      for (from = x; from < world.length && world.levels[(t * world.length + from) * world.width + y] === level; from++);
      if (level) out.push(`<rect x="${X(x - 0.5)}" y="${Y(y + 0.5)}" width="${(from - x) * u}" height="${u}" fill="${level >= view.level ? tint : `rgb(${theme.smoke.split(" ")})`}" fill-opacity="${(0.05 + 0.8 * (level / most) ** 1.25).toFixed(2)}"/>`);
    }
  }
  const line = (from, to, colour, width) => `<polyline points="${found.moments.slice(from, to + 1).map((m) => `${X(m.x)},${Y(m.y)}`).join(" ")}" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linejoin="round" stroke-linecap="round"/>`;
  if (now) out.push(line(0, now, theme.halo, 5));
  for (const [action, first, length] of runsOf(found.moments.slice(0, now).map((m) => m.action))) out.push(line(first, first + length, theme.moves[action], 2.6));
  for (const m of found.moments.slice(0, now + 1)) if (m.whiff) out.push(`<circle cx="${X(m.x)}" cy="${Y(m.y)}" r="3.4" fill="${theme.ink}" stroke="${theme.halo}"/>`);
  const here = found.moments[now], first = found.moments[0];
  out.push(`<circle cx="${X(world.sourceX)}" cy="${Y(world.sourceY)}" r="${(about.radius + 0.35) * u}" fill="${theme.source}" fill-opacity="0.18" stroke="${theme.source}"/>`,
    `<rect x="${X(first.x) - 5}" y="${Y(first.y) - 5}" width="10" height="10" fill="${theme.halo}" stroke="${theme.ink}"/>`,
    `<circle cx="${X(here.x)}" cy="${Y(here.y)}" r="7" fill="${theme.halo}" stroke="${theme.ink}" stroke-width="2.5"/>`);
  const [left, top, wide, high] = [box.left * u, -box.top * u, (box.right - box.left) * u, (box.top - box.bottom) * u];
  const title = `${found.agent.label} in the ${environmentWord()} plume, move ${now}, clock ${here.clock}`;
  return new Blob([`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${wide} ${high}"><title>${escapeXml(title)}</title><desc>${escapeXml(about.plume.origin)}</desc>` +
    `<rect x="${left}" y="${top}" width="${wide}" height="${high}" fill="${theme.field}"/>${out.join("")}</svg>`], { type: "image/svg+xml" });
}

/* Make a file while its button waits; failures are told. */
async function take(button, form, make) {
  button.disabled = true;
  try { saveFile(await make(), fileName(form)); } catch (error) { announce(`This browser cannot make it: ${error.message}`); }
  button.disabled = false;
}

async function copyLink() {
  const link = location.href.split("#")[0] + address();
  try { await navigator.clipboard.writeText(link); announce("The link to this moment is copied."); } catch { announce(`The link to this moment: ${link}`); }
}
