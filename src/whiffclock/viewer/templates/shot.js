/* A picture of the present search at any time, for films: arena, key, clock, reason, phase and time line. */

const SHOT = { width: 1000, label: 14, arena: 260, key: 28, mind: 172, foot: 22, left: 196 };

class Shot {
  constructor(plain = false) {
    const canvas = (wide, high) => Object.assign(document.createElement("canvas"), { wide, high, ratio: 1 });
    this.parts = [canvas(SHOT.width, SHOT.arena), canvas(SHOT.left - 16, SHOT.mind), canvas(SHOT.width - SHOT.left - 10, 84)];
    this.arena = new Arena(this.parts[0], view.world, view.about, plain);
    this.canvas = Object.assign(document.createElement("canvas"), { width: SHOT.width, height: SHOT.arena + SHOT.key + SHOT.mind + SHOT.foot });
    this.g = this.canvas.getContext("2d", { willReadFrequently: true });
    this.arena.box = view.arena.boxOf(view.search.moments.slice(0, shownMoves() + 1));
  }

  /* Labels have one size in a film, whatever they have on the page. */
  draw(time) {
    const { label, least } = theme;
    theme.label = theme.least = SHOT.label;
    this.paint(time);
    Object.assign(theme, { label, least });
    return this.canvas;
  }

  paint(time) {
    const { g, parts, arena } = this, found = view.search, step = Math.min(Math.floor(time), found.moves), moment = found.moments[step];
    const top = SHOT.arena + SHOT.key;
    paintSearch(arena, time);
    drawDial(parts[1], { agent: found.agent, moment, turn: turnOf(found.moments.slice(0, shownMoves() + 1)) });
    drawTimeline(parts[2], [found], time, shownMoves(), theme.racers);
    g.fillStyle = theme.paper;
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    g.drawImage(parts[0], 0, 0);
    g.drawImage(parts[1], 8, top);
    g.drawImage(parts[2], SHOT.left, top + SHOT.mind - 84);
    this.say(`${found.agent.label} in the ${environmentWord()} plume`, top + 14, 1.2, 600);
    this.say(reasons(found, moment, step).map((node) => node.textContent).join("").split("Values")[0], top + 40, 1.1);
    drawPhases(g, phaseAt(found, step), SHOT.left, top + 69);
    this.drawKey(SHOT.arena + SHOT.key / 2);
    this.say(view.about.plume.origin, this.canvas.height - SHOT.foot / 2 - 2, 0.85, 400, 10, theme.soft);
  }

  say(text, y, size, weight = 400, x = SHOT.left, colour = theme.ink) {
    const { g } = this;
    g.textAlign = "left";
    g.textBaseline = "middle";
    g.fillStyle = colour;
    g.font = `${weight} ${Math.round(size * SHOT.label)}px ${size > 1 ? theme.serif : theme.sans}`;
    g.fillText(text, x, y, SHOT.width - x - 10);
  }

  /* What the signs on the arena mean. */
  drawKey(y) {
    const { g } = this, tint = environmentColour(view.about.environments, view.environment);
    const line = (colour, dash = []) => (x) => { g.strokeStyle = colour; g.lineWidth = 3; g.setLineDash(dash); g.beginPath(); g.moveTo(x, y); g.lineTo(x + 20, y); g.stroke(); g.setLineDash([]); };
    const patch = (fill, edge) => (x) => { g.fillStyle = fill; g.strokeStyle = edge; g.lineWidth = 1.5; g.fillRect(x + 3, y - 6, 13, 13); if (edge) g.strokeRect(x + 3, y - 6, 13, 13); };
    const dot = (x) => { g.fillStyle = theme.ink; g.beginPath(); g.arc(x + 11, y, 4, 0, 7); g.fill(); };
    const smoke = mixed(theme.field, theme.soft, 0.5);
    const signs = [[patch(smoke), "odor"], [patch(mixed(theme.field, tint, 0.5), mixed(tint, theme.ink, 0.25)), "odor that is a whiff"], [dot, "whiff on the way"],
      [line(theme.upwind), "upwind"], [line(theme.across), "across"], [line(theme.downwind), "downwind"]];
    if (!view.search.agent.belief) signs.push([line(theme.ink, [1.5, 5]), "moves to come, if no whiff does"]);
    let x = 10;
    for (const [draw, text] of signs) {
      g.lineCap = "butt";
      draw(x);
      this.say(text, y + 0.5, 0.93, 400, x + 26, theme.text);
      x += 44 + g.measureText(text).width;
    }
  }

  pixels() { return this.g.getImageData(0, 0, this.canvas.width, this.canvas.height); }
}
