/* The mind of an agent: its clock, its program of moves, and the record of whiffs. */

const TURNS = [60, 120, 240, 500];

/* A clock face: a ring for each mode, coloured by the move at each reading, and a hand at the present reading. */
function drawDial(canvas, { agent: given, moment, turn, player }) {
  const agent = given?.start ? null : given; // a recorded search has no program
  const { g, w, h } = fitted(canvas), radius = Math.min(w, h) / 2 - theme.label * 1.75, cx = w / 2, cy = h / 2;
  const angle = (reading) => (2 * Math.PI * reading) / turn - Math.PI / 2;
  const rings = agent ? agent.modes : 1, wide = Math.min(radius * 0.24, (radius * 0.42) / rings);
  const mode = agent ? agent.mode(moment.node) : 0;
  g.lineCap = "butt";
  for (let ring = 0; ring < rings; ring++) {
    const r = radius - wide * (ring + 0.5) - 2 * ring, program = agent ? agent.program(ring, turn) : Array(turn).fill(-1);
    g.globalAlpha = rings > 1 && ring !== mode ? 0.25 : 1;
    for (let from = 0, i = 1; i <= turn; i++) {
      if (i < turn && program[i] === program[from]) continue;
      g.beginPath();
      g.arc(cx, cy, r, angle(from), angle(i));
      g.strokeStyle = program[from] < 0 ? theme.wash : theme.moves[program[from]];
      g.lineWidth = wide;
      g.stroke();
      if (program[from] === 1 || program[from] === 2) { // which side: a line at the outer edge is +y, at the inner one -y
        g.beginPath();
        g.arc(cx, cy, r + (program[from] === 1 ? 0.32 : -0.32) * wide, angle(from), angle(i));
        g.strokeStyle = theme.halo;
        g.lineWidth = 2;
        g.stroke();
      }
      from = i;
    }
    g.globalAlpha = 1;
  }
  for (let i = 0; i < 20; i++) {
    const a = angle((i * turn) / 20), long = i % 5 ? 3 : 7;
    g.beginPath();
    g.moveTo(cx + (radius + 2) * Math.cos(a), cy + (radius + 2) * Math.sin(a));
    g.lineTo(cx + (radius + 2 + long) * Math.cos(a), cy + (radius + 2 + long) * Math.sin(a));
    g.strokeStyle = theme.soft;
    g.lineWidth = i % 5 ? 1 : 2;
    g.stroke();
  }
  for (const [i, align, dx, dy] of [[1, "left", 12, 0], [2, "center", 0, 1.25], [3, "right", -12, 0], [0, "center", 0, -1.25]]) {
    const a = angle((i * turn) / 4), size = 0.85;
    words(g, String((i * turn) / 4), cx + radius * Math.cos(a) + dx, cy + radius * Math.sin(a) + dy * theme.label, { align, size, colour: theme.soft });
  }
  const a = angle(Math.min(moment.clock, turn)), inner = radius * 0.5;
  for (const [style, width] of [[theme.halo, 7], [theme.ink, 3.2]]) {
    g.beginPath();
    g.moveTo(cx + inner * Math.cos(a), cy + inner * Math.sin(a));
    g.lineTo(cx + (radius + 3) * Math.cos(a), cy + (radius + 3) * Math.sin(a));
    g.strokeStyle = style;
    g.lineWidth = width;
    g.lineCap = "round";
    g.stroke();
  }
  if (moment.whiff) {
    g.beginPath();
    g.arc(cx, cy, inner, 0, 7);
    g.fillStyle = theme.ink;
    g.fill();
  }
  const colour = moment.whiff ? theme.paper : theme.ink;
  g.textAlign = "center";
  g.textBaseline = "middle";
  g.fillStyle = colour;
  g.font = font(Math.min(moment.whiff ? 1.45 : 2.5, ((moment.whiff ? 0.6 : 1) * inner) / theme.label), 600, theme.serif);
  g.fillText(moment.whiff ? "whiff" : moment.clock, cx, cy - theme.label * 0.15);
  g.font = font(0.85, 600);
  if (agent && agent.modes > 1) g.fillText(modeName(agent, moment.node), cx, cy + theme.label * 1.5);
  else if (player && !moment.whiff && inner > 2.4 * theme.label) g.fillText("moves", cx, cy + theme.label * 1.5);
}

const modeName = (agent, node) => agent.memory.modes[agent.mode(node)].replace("-", "⁻").replace("+", "⁺").replace("mode ", "mode ");

/* The largest reading of a whole turn of the dial. */
const turnOf = (moments) => TURNS.find((turn) => turn > Math.max(...moments.map((m) => m.clock))) ?? TURNS.at(-1);

/* Runs of equal moves: [action, first reading, length]. */
function runsOf(program) {
  const found = [];
  program.forEach((action, i) => {
    if (found.length && found.at(-1)[0] === action) found.at(-1)[2] += 1;
    else found.push([action, i, 1]);
  });
  return found;
}

/* The program of moves after a whiff, a bar for each mode, with the present reading marked. */
function drawProgram(canvas, { agent, moment, turn }) {
  const { g, w, h } = fitted(canvas), mode = agent.mode(moment.node), label = theme.label, left = agent.modes > 1 ? 3.2 * label : 0;
  const bars = agent.modes, high = Math.min(2.1 * label, (h - 3.2 * label) / bars - 4), scale = (w - left - 8) / turn;
  for (let bar = 0; bar < bars; bar++) {
    const y = 1.5 * label + bar * (high + 6), own = bar === mode;
    g.globalAlpha = own ? 1 : 0.3;
    if (bars > 1) {
      const name = agent.memory.modes[bar].replace("-", "⁻").replace("+", "⁺");
      words(g, name.replace("mode ", "m"), 0, y + high / 2, { align: "left", weight: own ? 700 : 400, size: 1.1 });
    }
    for (const [action, first, length] of runsOf(agent.program(bar, turn))) {
      const x = left + first * scale, wide = Math.max(1, length * scale - 1.2);
      g.fillStyle = theme.moves[action];
      g.beginPath();
      g.roundRect(x, y, wide, high, Math.min(4, wide / 3));
      g.fill();
      const size = Math.min(high * 0.26, wide * 0.3);
      if (wide > 9) arrow(g, action, x + Math.min(wide / 2, wide - size - 2), y + high / 2, Math.max(2.5, size), theme.paper);
      if (wide > 2.6 * label && own) words(g, String(length), x + wide / 2, y - label * 0.62, { size: 0.85, colour: theme.soft });
    }
    g.globalAlpha = 1;
    if (own && onPath(agent, moment)) {
      const x = left + (Math.min(moment.clock, turn - 1) + 0.5) * scale;
      g.strokeStyle = theme.halo;
      g.lineWidth = 6;
      g.strokeRect(x - Math.max(3, scale / 2), y - 2, Math.max(6, scale), high + 4);
      g.strokeStyle = theme.ink;
      g.lineWidth = 2.4;
      g.strokeRect(x - Math.max(3, scale / 2), y - 2, Math.max(6, scale), high + 4);
    }
  }
  const y = 1.5 * label + bars * (high + 6) + label * 0.7;
  g.fillStyle = theme.soft;
  for (let i = 0; i <= 4; i++) {
    const x = left + (i * turn * scale) / 4;
    if (i === 3 && turn * scale < 60 * label) continue;
    words(g, i === 4 ? `${turn} moves after the whiff` : String((i * turn) / 4), x, y, { size: 0.85, colour: theme.soft, align: i === 4 ? "right" : i ? "center" : "left" });
  }
}

/* Whether the node is the one that the clock reading has on the recovery path of its mode. */
function onPath(agent, moment) {
  return agent.ahead(agent.memory.after_whiff[agent.mode(moment.node)], moment.clock + 1).at(-1) === moment.node;
}

const MOVE_WORDS = ["upwind", "across, to +y", "across, to −y", "downwind"];

/* Why the agent makes its next move, as nodes for the page. */
function reasons(found, moment, step) {
  const { agent } = found, out = [], say = (text, kind = "span") => out.push(Object.assign(document.createElement(kind), { textContent: text }));
  const smelled = found.moments.slice(0, step + 1).some((m) => m.whiff);
  if (moment.action < 0) {
    if (found.arrived) say(`Found, after ${found.moves} moves. The shortest way would have been ${shortest(view.world, found.start[0], found.start[1])}.`);
    else say(`Not found in ${found.moves} moves.`);
    return out;
  }
  say(moment.whiff ? "A whiff! The clock is back at " : smelled ? "No whiff for " : "No whiff yet; the clock reads ");
  say(moment.whiff ? "0" : smelled ? `${moment.clock} ${moment.clock === 1 ? "move" : "moves"}` : moment.clock, "b");
  if (agent.modes > 1) say(`, in mode ${modeName(agent, moment.node)}`);
  if (!agent.start && !onPath(agent, moment)) say(` (node ${moment.node} of its memory)`);
  say(agent.start ? `. ${agent.belief ? "By its belief" : "So"} it moves ` : moment.whiff ? ". So it moves " : ". At this reading it moves ");
  const move = Object.assign(document.createElement("span"), { textContent: MOVE_WORDS[moment.action], className: `move m${moment.action}` });
  out.push(move);
  if (agent.values) {
    const row = agent.memory.row[moment.node], values = agent.values.slice(4 * row, 4 * row + 4);
    say(`  Values: ${values.map((v, i) => `${MOVE_NAMES[i]} ${v.toFixed(3)}`).join(", ")}`, "small");
  }
  return out;
}

/* The phases of recovery by their number, and that of the next move; -1 at the end. */
const PHASES = ["surge", "cast", "return"], PHASE_WORDS = ["surge: upwind", "cast: across the wind", "return: downwind"];
const phaseAt = (found, step) => (found.phases ??= phasesOf(found.moments))[step] ?? -1;

/* The names of the phases in a row, the present one dark. */
function drawPhases(g, phase, x, y) {
  PHASE_WORDS.forEach((text, i) => {
    g.font = font(0.95, 600);
    const wide = g.measureText(text).width + 20;
    g.fillStyle = i === phase ? theme.ink : theme.wash;
    g.beginPath();
    g.roundRect(x, y - 12, wide, 24, 12);
    g.fill();
    g.fillStyle = i === phase ? theme.paper : theme.soft;
    g.textAlign = "left";
    g.textBaseline = "middle";
    g.fillText(text, x + 10, y + 0.5);
    x += wide + 8;
  });
}

/* Clock readings over the moves, whiffs as marks, the cut, and the present move; several searches are rows. */
function drawTimeline(canvas, searches, time, end, colours) {
  const { g, w, h } = fitted(canvas), label = theme.label, pad = 8, base = h - label * 1.4, scale = (w - 2 * pad) / Math.max(1, end);
  const x = (step) => pad + step * scale, rows = searches.length, high = (base - 8) / rows;
  searches.forEach((found, row) => {
    const foot = 6 + (row + 1) * high - 2, last = Math.min(found.moves, end), top = Math.max(10, ...found.moments.slice(0, last + 1).map((m) => m.clock));
    for (const pass of rows > 1 ? [colours[row]] : [theme.upwind, theme.across, theme.downwind]) {
      g.beginPath();
      for (let i = 0; i <= last; i++) {
        const m = found.moments[i];
        if (rows === 1 && theme.moves[Math.max(m.action, 0)] !== pass) continue;
        const tall = ((high - 8) * m.clock) / top;
        g.rect(x(i), foot - tall, Math.max(scale, 1), tall);
      }
      g.globalAlpha = 0.55;
      g.fillStyle = pass;
      g.fill();
      g.globalAlpha = 1;
    }
    g.fillStyle = theme.ink;
    for (let i = 0; i <= last; i++) if (found.moments[i].whiff) g.fillRect(x(i), foot - Math.min(high * 0.55, 18), Math.max(2, Math.min(scale - 0.5, 4)), Math.min(high * 0.55, 18));
    g.strokeStyle = theme.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x(0), foot + 0.5);
    g.lineTo(x(end), foot + 0.5);
    g.stroke();
    if (found.moves <= end) {
      g.beginPath();
      g.arc(x(found.moves), foot, 4.5, 0, 7);
      g.fillStyle = found.arrived ? theme.source : theme.paper;
      g.strokeStyle = theme.source;
      g.lineWidth = 1.5;
      g.fill();
      g.stroke();
    }
    if (found.cut <= end) {
      g.fillStyle = theme.source;
      g.globalAlpha = 0.09;
      g.fillRect(x(found.cut), 2, x(end) - x(found.cut), base - 2);
      g.globalAlpha = 1;
      words(g, "no odor", x(found.cut) + 5, label * 0.75, { colour: theme.source, align: "left", size: 0.85, weight: 600 });
    }
  });
  const now = x(time);
  g.fillStyle = g.strokeStyle = theme.ink;
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(now, 3);
  g.lineTo(now, base + 2);
  g.stroke();
  g.beginPath();
  g.arc(now, base + 2, 6, 0, 7);
  g.fill();
  words(g, `move ${Math.floor(time)}`, Math.min(Math.max(now, pad + label * 2.9), w - pad - label * 2.9), h - label * 0.45, { weight: 600, size: 0.9 });
  const room = 6 * label;
  if (now > room) words(g, "0", pad, h - label * 0.45, { size: 0.85, colour: theme.soft, align: "left" });
  if (now < w - room) words(g, String(end), w - pad, h - label * 0.45, { size: 0.85, colour: theme.soft, align: "right" });
}
