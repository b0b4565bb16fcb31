/* You against the agent: the plume is hidden, both smell the same, and ten rounds are scored. */

const ROUNDS = 10, NEAREST = 14, PATIENCE = 300;
const KEYS = { ArrowLeft: 0, ArrowUp: 1, ArrowDown: 2, ArrowRight: 3 };

class Game {
  constructor() { Object.assign(this, { state: "idle", results: [], seconds: 0 }); }

  get running() { return this.state === "running"; }

  get opponent() { return view.agents[Number($("opponent").value)]; }

  /* A start on a whiff, some way off: the player knows at least that the plume is near. */
  draw() {
    const { world } = view, place = view.about.environments[Number($("play-environment").value)];
    for (let tries = 0; ; tries++) {
      const i = 2 * Math.floor((Math.random() * place.starts.length) / 2), t = Math.floor(Math.random() * world.snapshots);
      const start = [place.starts[i], place.starts[i + 1], t];
      const near = shortest(world, start[0], start[1]) < NEAREST;
      if (tries > 20000 || (!near && world.smell(place.level, ...start))) return { start, place };
    }
  }

  begin(given) {
    if (this.results.length >= ROUNDS) this.results = [];
    const { start, place } = given ?? this.draw();
    const you = new Searcher(view.world, place.level, start);
    Object.assign(this, { state: "running", you, place, start, trail: [this.moment(you)], pulse: performance.now(), party: 0 });
    this.theirs = search(view.world, place.level, this.opponent, start, Infinity, this.opponent.horizon);
    view.arena.box = null;
    this.tell();
    $("arena").focus({ preventScroll: true });
  }

  moment({ x, y, t, whiff, clock } = this.you) { return { x, y, t, whiff, clock, action: -1, node: 0 }; }

  move(action) {
    if (!this.running) return;
    this.trail.at(-1).action = action;
    this.you.step(action);
    this.trail.push(this.moment());
    this.moved = performance.now();
    if (this.you.whiff) { this.pulse = this.moved; if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(30); }
    if (this.you.arrived) this.end(true);
    else if (this.you.steps >= PATIENCE) this.end(false);
    this.tell();
  }

  /* The move that leads from the player towards a point of the arena. */
  towards(px, py) {
    const { plane } = view.arena, dx = px - plane.x(this.you.x), dy = py - plane.y(this.you.y);
    return Math.abs(dx) > Math.abs(dy) ? (dx < 0 ? UPWIND : DOWNWIND) : dy < 0 ? 1 : 2;
  }

  end(arrived) {
    const { gamma } = view.about, theirs = this.theirs, horizon = theirs.agent.horizon;
    const result = {
      mine: reward(this.you.steps, arrived, gamma, horizon), its: reward(theirs.moves, theirs.arrived, gamma, horizon),
      moves: arrived ? this.you.steps : 0, itsMoves: theirs.arrived ? theirs.moves : 0,
    };
    this.results.push(result);
    Object.assign(this, { state: "revealed", arrived, shown: 0 });
    this.tell();
  }

  tell() {
    const { results, state } = this, number = results.length + (state === "running" ? 1 : 0);
    const sum = (name) => results.reduce((total, one) => total + one[name], 0);
    const score = results.length ? `After ${results.length} of ${ROUNDS}: you ${sum("mine").toFixed(2)}, the agent ${sum("its").toFixed(2)}.` : "";
    $("next-round").hidden = state === "running";
    $("give-up").hidden = state !== "running";
    $("next-round").textContent = results.length >= ROUNDS ? "Play again" : `Start round ${results.length + 1}`;
    $("opponent").disabled = $("play-environment").disabled = state === "running" || (results.length > 0 && results.length < ROUNDS);
    $("round").textContent = state === "running" ? `Round ${number} of ${ROUNDS}. ${score}` : state === "revealed" ? score : "Ten rounds. The agent starts where you start, at the same time.";
    $("rounds").replaceChildren(...Array.from({ length: ROUNDS }, (_, i) => {
      const item = document.createElement("li"), one = results[i];
      if (!one) { item.textContent = String(i + 1); return item; }
      item.className = one.mine > one.its ? "won" : one.mine < one.its ? "lost" : "even";
      item.append(Object.assign(document.createElement("b"), { textContent: one.mine.toFixed(2) }), `it ${one.its.toFixed(2)}`);
      return item;
    }));
    const here = this.trail?.at(-1);
    let text = "You smell what the agent smells, and nothing else: the plume is hidden. The wind blows from left to right, so the source is somewhere to the left. Steer with the arrow keys, the pad, or by pressing beside the moth.";
    const advice = here?.clock > 45 ? " Return downwind, and the plume may find you again." : here?.clock > 12 ? " Cast: across the wind, farther each time." : "";
    if (state === "running") text = here.whiff ? "A whiff! The source is upwind, to the left." : `Nothing. The last whiff was ${here.clock} ${here.clock === 1 ? "move" : "moves"} ago.${advice}`;
    if (state === "revealed") text = this.verdict();
    $("play-say").textContent = text;
    announce(text);
    changed();
  }

  verdict() {
    const { moves, itsMoves } = this.results.at(-1), name = this.opponent.label;
    const mine = moves ? `You found it in ${moves} moves` : "You did not find it", its = itsMoves ? `in ${itsMoves}` : "not at all";
    const word = !moves && !itsMoves ? "A hard one." : moves && (!itsMoves || moves < itsMoves) ? "You win this round." : moves === itsMoves ? "A draw." : "The agent wins this round.";
    let end = "";
    if (this.results.length === ROUNDS) {
      const won = this.results.reduce((a, r) => a + r.mine - r.its, 0);
      end = won > 0 ? " Ten rounds: you beat it!" : " Ten rounds: the moth brain wins. It has a clock and a table, no map.";
    }
    return `${mine}; ${name} ${its}. ${word}${end}`;
  }

  /* A few words on the arena, once both have come to an end. */
  cheer() {
    const { mine, its } = this.results.at(-1), sum = (name) => this.results.reduce((total, one) => total + one[name], 0);
    if (this.results.length < ROUNDS) return mine > its ? "You win this round!" : mine < its ? "The agent wins this round" : "A draw";
    const score = `${sum("mine").toFixed(2)} to ${sum("its").toFixed(2)}`;
    return sum("mine") > sum("its") ? `You beat it, ${score}!` : `It beats you, ${score}. Once more?`;
  }

  /* Draw the round; true while something moves. */
  paint(now) {
    const { arena } = view, { state } = this;
    if (state === "revealed") return this.reveal(arena, now);
    const here = this.trail?.at(-1) ?? { x: 0, y: 0, whiff: 0 };
    const half = Math.min(30, arena.canvas.clientWidth / 24), high = (half * arena.canvas.clientHeight) / arena.canvas.clientWidth;
    const moving = arena.glide({ left: here.x - half, right: here.x + half, bottom: here.y - high, top: here.y + high });
    const g = arena.begin();
    this.night(arena, now);
    if (state === "idle") {
      const size = Math.min(1, arena.w / (44 * theme.label)), say = (text, y, how) => words(g, text, arena.w / 2, arena.h / 2 + y * size * theme.label, how);
      moth(g, arena.w / 2, arena.h / 2 - 6.5 * size * theme.label, Math.PI, 34 * size, theme.racers[0], calm.matches ? 0 : now / 130);
      say("Find the source with your nose", -1.8, { size: 2.3 * size, weight: 600, family: theme.serif });
      say("Each move you smell a whiff, or nothing.", 1.2, { size: Math.max(1, 1.15 * size), colour: theme.text });
      say("Press Enter, or press here, to begin.", 3.4, { size: Math.max(1, 1.15 * size), colour: theme.text });
      arena.drawWind();
      return !calm.matches;
    }
    const { plane } = arena;
    this.trail.forEach((m, i) => {
      if (!m.whiff) return;
      g.beginPath();
      g.arc(plane.x(m.x), plane.y(m.y), plane.cell * 1.5, 0, 7);
      g.fillStyle = theme.ink;
      g.globalAlpha = 0.13 + 0.2 * Math.exp(-(this.trail.length - i) / 20);
      g.fill();
      g.globalAlpha = 1;
    });
    arena.drawPath(this.trail, this.trail.length - 1, { colour: theme.racers[0] });
    arena.drawStart(this.trail[0]);
    const since = (now - this.pulse) / 900;
    if (here.whiff && since < 1 && !calm.matches) {
      g.beginPath();
      g.arc(plane.x(here.x), plane.y(here.y), 14 + 46 * since, 0, 7);
      g.strokeStyle = theme.ink;
      g.lineWidth = 4 * (1 - since);
      g.stroke();
    }
    const before = this.trail.at(-2)?.action ?? 0;
    moth(g, plane.x(here.x), plane.y(here.y), Math.atan2(-MOVES[before][1], MOVES[before][0]), Math.min(26, plane.cell * 1.4), theme.racers[0], calm.matches ? 0 : now / 130);
    words(g, here.whiff ? "whiff!" : `${here.clock}`, plane.x(here.x), plane.y(here.y) - 34, { size: 1.5, weight: 600, family: theme.serif });
    arena.drawWind();
    return moving || !calm.matches;
  }

  /* Streaks that drift with the wind: all that is visible of the air. */
  night(arena, now) {
    const { g, plane, w, h } = arena;
    g.fillStyle = theme.wash;
    g.fillRect(0, 0, w, h);
    g.strokeStyle = theme.soft;
    g.lineWidth = 1;
    const drift = calm.matches ? 0 : now / 260;
    for (let i = 0; i < 70; i++) {
      const a = (i * 0.6180339) % 1, b = (i * 0.7548777) % 1, span = w / plane.cell + 12;
      const x = ((((a * span + drift * (0.6 + 0.7 * b) + plane.left / plane.cell) % span) + span) % span) * plane.cell - 50;
      const y = (((((i * 0.5698403) % 1) * h + plane.base) % h) + h) % h;
      g.globalAlpha = 0.14 + 0.16 * b;
      g.beginPath();
      g.moveTo(x, y);
      g.lineTo(x + plane.cell * (1 + 1.6 * a), y);
      g.stroke();
    }
    g.globalAlpha = 1;
  }

  reveal(arena, now) {
    const longest = Math.max(this.trail.length - 1, this.theirs.moves);
    const elapsed = this.last ? (now - this.last) / 1000 : 0;
    this.last = now;
    this.shown = calm.matches ? longest : Math.min(longest, this.shown + Math.min(elapsed, 0.1) * Math.max(25, longest / 5));
    if (this.shown >= longest) this.last = 0;
    const moving = arena.glide(arena.boxOf([...this.trail, ...this.theirs.moments]));
    const g = arena.begin(), { place } = this, step = Math.floor(this.shown), colour = environmentColour(view.about.environments, view.about.environments.indexOf(place));
    const t = (this.start[2] + step) % view.world.snapshots;
    arena.drawPlume(t, this.shown - step, place.level, colour);
    arena.drawGround(null);
    arena.drawPath(this.theirs.moments, this.shown, { colour: theme.racers[1], dash: DASHES[1] });
    arena.drawPath(this.trail, this.shown, { colour: theme.racers[0] });
    arena.drawStart(this.trail[0]);
    arena.drawAgent(this.theirs.moments, Math.min(this.shown, this.theirs.moves), theme.racers[1]);
    arena.drawAgent(this.trail, Math.min(this.shown, this.trail.length - 1), theme.racers[0]);
    const { moves, itsMoves } = this.results.at(-1), over = this.shown >= longest;
    const told = (name, found, most) => `${name}: ${over ? (found ? `${found} moves` : "not found") : `move ${Math.min(step, most)}`}`;
    words(g, told("you", moves, this.trail.length - 1), 16, 20, { align: "left", colour: theme.racers[0], weight: 700, size: 1.15 });
    words(g, told(this.theirs.agent.label, itsMoves, this.theirs.moves), 16, 20 + 1.6 * theme.label, { align: "left", colour: theme.racers[1], weight: 700, size: 1.15 });
    const size = Math.min(2.2, arena.w / (22 * theme.label));
    if (over) words(g, this.cheer(), arena.w / 2, arena.h - 3.6 * theme.label, { size, weight: 600, family: theme.serif });
    if (over && this.results.length < ROUNDS) words(g, "Enter, or press here: next round", arena.w - 14, arena.h - theme.label * 1.1, { align: "right", colour: theme.soft });
    return this.celebrate(arena, now, this.shown >= longest) || moving || this.shown < longest;
  }

  /* Moths fly up from the source when you were the better one; true while they do. */
  celebrate({ g, plane, w }, now, over) {
    const { mine, its } = this.results.at(-1);
    if (!over || mine <= its || calm.matches) { this.party = 0; return false; }
    this.party ||= now;
    const since = (now - this.party) / 1000, lasts = this.results.length === ROUNDS ? 8 : 3;
    for (let i = 0; i < 24 && since < lasts; i++) {
      const turn = i * 2.4 + since * (0.6 + (i % 5) / 5), far = (since / lasts) ** 0.6 * w * (0.15 + 0.5 * ((i * 0.618) % 1));
      g.globalAlpha = Math.min(1, 2 * (1 - since / lasts));
      moth(g, plane.x(view.world.sourceX) + far * Math.abs(Math.cos(turn)), plane.y(view.world.sourceY) + 0.5 * far * Math.sin(turn), turn + 1.6, 9 + (i % 4) * 3,
        theme.racers[i % 4], now / 60 + i);
      g.globalAlpha = 1;
    }
    return since < lasts;
  }

  paintDial() {
    const here = this.trail?.at(-1) ?? { clock: 0, whiff: 0 };
    drawDial($("play-dial"), { moment: here, turn: TURNS.find((turn) => turn > here.clock) ?? TURNS.at(-1), player: true });
    $("play-dial").setAttribute("aria-label", here.whiff ? "Your clock: a whiff" : `Your clock: ${here.clock} moves since the last whiff`);
  }
}
