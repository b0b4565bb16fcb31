/* The arena: the plume as a moving picture, whiffs outlined, and the paths of searchers on it. */

const ROOM = { left: 6, right: 5, across: 4 }; // cells around the grid
const FARTHEST = 110; // cells beyond the grid that are still shown
const AHEAD = 70; // moves of the recovery path that are drawn ahead of the agent

/* A rectangle of cells, fitted into a canvas; y grows upward. `plain`: the borders of cells are whole pixels. */
class Plane {
  constructor(w, h, box, plain = false) {
    this.cell = Math.min(w / (box.right - box.left), h / (box.top - box.bottom));
    if (plain && this.cell > 4) this.cell = Math.floor(this.cell);
    this.left = w / 2 - this.cell * (box.left + box.right) / 2;
    this.base = h / 2 + this.cell * (box.bottom + box.top) / 2;
    if (plain) [this.left, this.base] = [this.left, this.base].map((at) => Math.round(at) + 0.5 * (this.cell % 2));
  }
  x(x) { return this.left + this.cell * x; }
  y(y) { return this.base - this.cell * y; }
  cellAt(px, py) { return [Math.round((px - this.left) / this.cell), Math.round((this.base - py) / this.cell)]; }
}

/* `plain`: square cells in few shades, which make a small file. */
class Arena {
  constructor(canvas, world, about, plain = false) {
    Object.assign(this, { canvas, world, about, plain, box: null, borders: {} });
    this.smoke = document.createElement("canvas");
    [this.smoke.width, this.smoke.height] = [world.length, world.width];
    this.ink = this.smoke.getContext("2d");
    this.pixels = this.ink.createImageData(world.length, world.width);
    this.words = new Uint32Array(this.pixels.data.buffer); // red in the lowest byte
    const most = about.plume.edges.length;
    this.opacity = Uint8Array.from({ length: 4 * most + 1 }, (_, i) => {
      const alpha = i < 2 ? 0 : 14 + 241 * (i / 4 / most) ** 1.1; // by quarters of a level
      return plain ? 84 * Math.round(alpha / 84) : alpha;
    });
  }

  /* The rectangle that holds the grid, and all positions that are given. */
  boxOf(positions = []) {
    const { length, width } = this.world;
    const box = { left: -ROOM.left, right: length - 1 + ROOM.right, bottom: -ROOM.across, top: width - 1 + ROOM.across };
    for (const { x, y } of positions) {
      box.left = Math.max(-FARTHEST, Math.min(box.left, x - 3));
      box.right = Math.min(length + FARTHEST, Math.max(box.right, x + 3));
      box.bottom = Math.max(-FARTHEST, Math.min(box.bottom, y - 3));
      box.top = Math.min(width + FARTHEST, Math.max(box.top, y + 3));
    }
    return box;
  }

  /* Move the view towards a rectangle; true while it is still on its way. */
  glide(box, atOnce = calm.matches) {
    if (!this.box || atOnce) { this.box = box; return false; }
    let far = 0;
    const now = {};
    for (const side of Object.keys(box)) {
      const gap = box[side] - this.box[side];
      far = Math.max(far, Math.abs(gap));
      now[side] = Math.abs(gap) < 0.05 ? box[side] : this.box[side] + 0.14 * gap;
    }
    this.box = now;
    return far >= 0.05;
  }

  begin() {
    const { g, w, h } = fitted(this.canvas);
    g.fillStyle = theme.field;
    g.fillRect(0, 0, w, h);
    Object.assign(this, { g, w, h, plane: new Plane(w, h, this.box ?? this.boxOf(), this.plain) });
    return g;
  }

  /* The plume between two snapshots: `share` of the second. */
  drawPlume(t, share, level, tint, opacity = 1) {
    const { world, g, plane } = this, { levels, length, width } = world, size = length * width;
    const a = t * size, b = ((t + 1) % world.snapshots) * size;
    const smoke = theme.smoke.split(" ").map(Number), strong = rgb(tint), fade = calm.matches ? 0 : share, { words } = this;
    const [below, above] = [0, 0.35].map((part) => smoke.reduceRight((word, v, i) => (word << 8) | Math.round(v + part * (strong[i] - v)), 0));
    for (let x = 0, i = 0; x < length; x++) {
      for (let y = 0; y < width; y++, i++) {
        const from = levels[a + i], value = from + fade * (levels[b + i] - from);
        words[(width - 1 - y) * length + x] = (this.opacity[Math.round(4 * value)] << 24) | (value >= level ? above : below);
      }
    }
    this.ink.putImageData(this.pixels, 0, 0);
    g.save();
    g.globalAlpha = opacity;
    g.imageSmoothingEnabled = !this.plain;
    g.drawImage(this.smoke, plane.x(-0.5), plane.y(width - 0.5), plane.cell * length, plane.cell * width);
    g.globalAlpha = (this.plain ? 1 : 0.85) * opacity;
    this.outline(`whiffs ${level} ${t}`, (x, y) => world.smell(level, x, y, t), mixed(tint, theme.ink, 0.25), this.plain ? 1 : 1.3);
    g.restore();
  }

  /* The belief of a recorded Bayesian agent: where it may be. */
  drawBelief(agent, step) {
    const { g, plane, world } = this, size = world.length * world.width, map = agent.belief.subarray(step * size, (step + 1) * size);
    const [red, green, blue] = rgb(theme.downwind), data = this.pixels.data;
    for (let x = 0, i = 0; x < world.length; x++) {
      for (let y = 0; y < world.width; y++, i++) {
        const at = 4 * ((world.width - 1 - y) * world.length + x);
        [data[at], data[at + 1], data[at + 2], data[at + 3]] = [red, green, blue, map[i] ? 25 + 12 * map[i] : 0];
      }
    }
    this.ink.putImageData(this.pixels, 0, 0);
    g.imageSmoothingEnabled = false;
    g.drawImage(this.smoke, plane.x(-0.5), plane.y(world.width - 0.5), plane.cell * world.length, plane.cell * world.width);
    words(g, "where it believes it may be", 14, this.h - theme.label, { align: "left", colour: theme.downwind, weight: 600 });
  }

  /* The border of all cells for which `inside` is true; kept under a name until it, or the view, is another one. */
  outline(name, inside, colour, width, dash = []) {
    const { g, plane, world } = this, key = [name, plane.left, plane.base, plane.cell].join("/"), kind = name.split(" ")[0];
    if (this.borders[kind]?.key !== key) {
      const path = new Path2D(), sharp = this.plain ? 0.5 : 0;
      for (let x = 0; x <= world.length; x++) {
        for (let y = 0; y <= world.width; y++) {
          const here = Boolean(inside(x, y)), [px, py] = [plane.x(x - 0.5) + sharp, plane.y(y - 0.5) + sharp];
          if (here !== Boolean(inside(x - 1, y))) { path.moveTo(px, py); path.lineTo(px, py - plane.cell); }
          if (here !== Boolean(inside(x, y - 1))) { path.moveTo(px, py); path.lineTo(px + plane.cell, py); }
        }
      }
      this.borders[kind] = { key, path };
    }
    g.setLineDash(dash);
    g.lineCap = "round";
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.stroke(this.borders[kind].path);
    g.setLineDash([]);
  }

  /* The grid's edge, the start region, the source, the wind. */
  drawGround(starts, named = true) {
    const { g, plane, world, about } = this;
    g.strokeStyle = theme.line;
    g.lineWidth = 1;
    g.strokeRect(plane.x(-0.5), plane.y(world.width - 0.5), plane.cell * world.length, plane.cell * world.width);
    if (starts) this.outline(`starts ${view.environment}`, (x, y) => starts.has(x * 4096 + y), theme.soft, 0.9, [1, 4]);
    const x = plane.x(world.sourceX), y = plane.y(world.sourceY);
    g.beginPath();
    g.arc(x, y, plane.cell * (about.radius + 0.35), 0, 7);
    g.fillStyle = theme.source;
    g.globalAlpha = 0.18;
    g.fill();
    g.globalAlpha = 1;
    g.strokeStyle = theme.source;
    g.lineWidth = 1.5;
    g.stroke();
    g.beginPath();
    g.arc(x, y, Math.max(3, plane.cell * 0.45), 0, 7);
    g.fillStyle = theme.source;
    g.fill();
    if (!named) return;
    words(g, "source", Math.max(x, 28 * theme.label / 13), y + plane.cell * (about.radius + 0.4) + theme.label * 0.75, { colour: theme.source, weight: 600 });
    this.drawWind();
  }

  drawWind() {
    const { g, w } = this, y = theme.label * 1.2;
    const long = 34 * theme.label / 13;
    words(g, "wind", w - long - 24, y, { align: "right", colour: theme.soft });
    arrow(g, DOWNWIND, w - 14 - long / 2, y, long / 2, theme.soft);
  }

  /* The path of a search until `time`, in moves; colours by move, or one colour. */
  drawPath(moments, time, { colour, dash = [], width = 2.6, from = 0 } = {}) {
    const { g, plane } = this, last = Math.min(Math.floor(time), moments.length - 1), share = time - last;
    g.lineCap = g.lineJoin = "round";
    const points = moments.slice(from, last + 1).map((m) => [plane.x(m.x), plane.y(m.y)]);
    if (last + 1 < moments.length && share > 0) {
      const { x, y } = this.between(moments, time);
      points.push([plane.x(x), plane.y(y)]);
    }
    const lines = (style, w, pick) => {
      g.beginPath();
      for (let i = 1; i < points.length; i++) {
        if (pick !== undefined && theme.moves[moments[from + i - 1].action] !== pick) continue;
        g.moveTo(...points[i - 1]);
        g.lineTo(...points[i]);
      }
      g.strokeStyle = style;
      g.lineWidth = w;
      g.stroke();
    };
    lines(theme.halo, width + 2.4);
    if (colour) {
      g.beginPath();
      points.forEach((p) => g.lineTo(...p));
      g.setLineDash(dash);
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.stroke();
      g.setLineDash([]);
    } else for (const one of [theme.upwind, theme.across, theme.downwind]) lines(one, width, one);
    g.beginPath();
    for (let i = from; i <= last; i++) {
      if (!moments[i].whiff) continue;
      const px = plane.x(moments[i].x), py = plane.y(moments[i].y), r = Math.min(4, Math.max(2.2, 0.3 * plane.cell));
      g.moveTo(px + r, py);
      g.arc(px, py, r, 0, 7);
    }
    g.fillStyle = theme.ink;
    g.strokeStyle = theme.halo;
    g.lineWidth = 1.5;
    g.stroke();
    g.fill();
  }

  drawStart({ x, y }, colour = theme.ink) {
    const { g, plane } = this, r = 5, px = plane.x(x), py = plane.y(y);
    g.beginPath();
    g.moveTo(px, py - r); g.lineTo(px + r, py); g.lineTo(px, py + r); g.lineTo(px - r, py);
    g.closePath();
    g.fillStyle = theme.halo;
    g.strokeStyle = colour;
    g.lineWidth = 1.8;
    g.fill();
    g.stroke();
  }

  /* The moves ahead if only blanks follow. */
  drawAhead(moments, time, agent, most = AHEAD) {
    const { g, plane } = this, now = Math.min(Math.floor(time), moments.length - 1), moment = moments[now];
    if (moment.action < 0) return;
    let { x, y } = this.between(moments, time), at = [moment.x, moment.y];
    g.save();
    g.setLineDash([1, 5]);
    g.lineCap = "round";
    g.lineWidth = 2.4;
    agent.ahead(moment.node, most).forEach((node, i) => {
      const action = agent.act(node), next = [at[0] + MOVES[action][0], at[1] + MOVES[action][1]];
      g.globalAlpha = 0.9 * (1 - i / most);
      g.strokeStyle = theme.moves[action];
      g.beginPath();
      g.moveTo(plane.x(i ? at[0] : x), plane.y(i ? at[1] : y));
      g.lineTo(plane.x(next[0]), plane.y(next[1]));
      g.stroke();
      at = next;
    });
    g.restore();
  }

  /* Position between two moments. */
  between(moments, time) {
    const now = Math.min(Math.floor(time), moments.length - 1), here = moments[now], next = moments[now + 1];
    const share = next && !calm.matches ? time - now : 0;
    return share ? { x: here.x + share * (next.x - here.x), y: here.y + share * (next.y - here.y) } : here;
  }

  /* The agent itself, with a ring that spreads from it on a whiff. */
  drawAgent(moments, time, colour = theme.ink) {
    const { g, plane } = this, now = Math.min(Math.floor(time), moments.length - 1), here = moments[now];
    const { x, y } = this.between(moments, time), px = plane.x(x), py = plane.y(y), share = time - now;
    if (here.whiff) {
      g.beginPath();
      g.arc(px, py, 9 + (calm.matches ? 4 : 16 * share), 0, 7);
      g.strokeStyle = theme.ink;
      g.globalAlpha = calm.matches ? 0.8 : 0.9 * (1 - share);
      g.lineWidth = 2.5;
      g.stroke();
      g.globalAlpha = 1;
    }
    const action = here.action >= 0 ? here.action : (moments[now - 1]?.action ?? 0);
    moth(g, px, py, Math.atan2(-MOVES[action][1], MOVES[action][0]), Math.max(13, Math.min(1.5 * plane.cell, 24)), colour,
      calm.matches ? 0 : time * 2.2);
  }

  /* Dimension lines of the metrics on a recovery path, each once it is reached. */
  drawMetrics(path, shape) {
    const { g, plane } = this, [x0, y0] = path[0], xs = path.map((p) => p[0]), ys = path.map((p) => p[1]);
    const least = Math.min(...xs), most = Math.max(...xs), low = Math.min(...ys), high = Math.max(...ys);
    const gap = (theme.label * 1.85) / plane.cell;
    const span = (a, b, text, colour, along) => {
      const [ax, ay, bx, by] = [plane.x(a[0]), plane.y(a[1]), plane.x(b[0]), plane.y(b[1])];
      for (const [style, width] of [[theme.halo, 4], [colour, 1.6]]) {
        g.strokeStyle = style;
        g.lineWidth = width;
        g.beginPath();
        g.moveTo(ax, ay); g.lineTo(bx, by);
        for (const [x, y] of [[ax, ay], [bx, by]]) {
          if (along) { g.moveTo(x, y - 4); g.lineTo(x, y + 4); } else { g.moveTo(x - 4, y); g.lineTo(x + 4, y); }
        }
        g.stroke();
      }
      if (along) words(g, text, (ax + bx) / 2, ay - theme.label * 0.8, { colour, weight: 600 });
      else words(g, text, ax + 8, by + theme.label * 0.6, { colour, weight: 600, align: "left" });
    };
    const surged = shape.surgeEnd >= 0 ? xs[shape.surgeEnd] : least;
    if (shape.surgeLength) span([x0, high + gap], [surged, high + gap], `surge ${shape.surgeLength}`, theme.upwind, true);
    if (shape.surgeEnd >= 0 && shape.castWidth) span([most + 1.2, low], [most + 1.2, high], `cast width ${shape.castWidth}`, theme.across, false);
    if (shape.surgeEnd >= 0) span([x0, low - gap], [least, low - gap], `upwind search ${shape.upwindSearch}`, theme.ink, true);
    if (shape.returnStart >= 0) {
      span([least, low - 2 * gap], [least + shape.returnLength, low - 2 * gap], `downwind return ${shape.returnLength}`, theme.downwind, true);
      const [x, y] = path[shape.returnStart];
      g.beginPath();
      g.arc(plane.x(x), plane.y(y), 5, 0, 7);
      g.fillStyle = theme.downwind;
      g.strokeStyle = theme.halo;
      g.lineWidth = 2;
      g.fill(); g.stroke();
      const left = plane.x(x) > 14 * theme.label;
      words(g, `${left ? "return begins: " : ""}move ${shape.returnStart}`, plane.x(x) + (left ? -10 : 10), plane.y(y) - (left ? 0 : theme.label), { colour: theme.downwind, weight: 600, align: left ? "right" : "left" });
    }
  }
}
