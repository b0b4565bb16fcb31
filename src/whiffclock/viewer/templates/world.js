"use strict";
/* The world of a search, as in whiffclock.world.episode: a searcher at (x, y) observes snapshot t. In one step it moves
   by one cell, time advances by one snapshot (after the last comes the first), and it observes again. Off the grid there
   are only blanks. A search ends in the disc around the source. Tests compare this file with Python, search by search. */

const UPWIND = 0, DOWNWIND = 3;
const MOVES = [[-1, 0], [0, 1], [0, -1], [1, 0]];
const MOVE_NAMES = ["upwind", "+y", "−y", "downwind"];

class World {
  constructor(plume, radius, levels) {
    Object.assign(this, { snapshots: plume.snapshots, length: plume.length, width: plume.width, levels });
    [this.sourceX, this.sourceY] = plume.source;
    this.radiusSquared = Math.floor(radius * radius);
  }
  /* 1 on a whiff, which is a concentration that reaches a level; else 0. */
  smell(level, x, y, t) {
    if (x < 0 || y < 0 || x >= this.length || y >= this.width) return 0;
    return this.levels[(t * this.length + x) * this.width + y] >= level ? 1 : 0;
  }
  atSource(x, y) {
    const dx = x - this.sourceX, dy = y - this.sourceY;
    return dx * dx + dy * dy <= this.radiusSquared;
  }
}

/* One search, moved step by step by whoever holds it: an agent's program, or a player. */
class Searcher {
  constructor(world, level, [x, y, t]) {
    Object.assign(this, { world, level, x, y, t, steps: 0, arrived: false, odor: true });
    this.whiff = world.smell(level, x, y, t);
    this.clock = 1 - this.whiff; // moves since the last whiff, or since just before the start
  }
  step(action) {
    this.x += MOVES[action][0];
    this.y += MOVES[action][1];
    this.t = this.t + 1 === this.world.snapshots ? 0 : this.t + 1;
    this.steps += 1;
    this.arrived = this.world.atSource(this.x, this.y);
    this.whiff = this.odor ? this.world.smell(this.level, this.x, this.y, this.t) : 0;
    this.clock = this.whiff ? 0 : this.clock + 1;
  }
}

/* The memory of a recorded search: the number of moves. */
function chain(length) {
  const all = Array.from({ length }, (_, i) => i);
  return { modes: ["mode 0"], next: all.flatMap((i) => [i + 1, i + 1]), row: all, mode: all.map(() => 0), first: [0, 0], after_whiff: [0] };
}

/* A finite-state memory with an action for each of its rows: whiffclock.policy.TablePolicy. */
class Agent {
  constructor(policy, memories) {
    const memory = policy.start ? chain(policy.horizon + 1) : memories[policy.memory];
    Object.assign(this, policy, { memory, modes: memory.modes.length, actions: Uint8Array.from(policy.actions, Number) });
  }
  begin(whiff) { return this.memory.first[whiff]; }
  act(node) { return this.actions[this.memory.row[node]]; }
  observe(node, whiff) { return this.memory.next[2 * node + whiff]; }
  mode(node) { return this.memory.mode[node]; }
  /* Nodes of the next moves if only blanks follow. */
  ahead(node, moves) {
    const nodes = [];
    for (let i = 0; i < moves; i++, node = this.observe(node, 0)) nodes.push(node);
    return nodes;
  }
  /* The moves after a whiff in a mode, if only blanks follow. */
  program(mode, moves) { return this.ahead(this.memory.after_whiff[mode], moves).map((node) => this.act(node)); }
}

/* Steps until the source; 0 on failure. */
function arrival(world, level, agent, start, horizon = agent.horizon) {
  const at = new Searcher(world, level, start);
  for (let node = agent.begin(at.whiff); at.steps < horizon;) {
    at.step(agent.act(node));
    if (at.arrived) return at.steps;
    node = agent.observe(node, at.whiff);
  }
  return 0;
}

/* A whole search, moment by moment; from the step `cut` on, no odor is left. */
function search(world, level, agent, start, cut = Infinity, horizon = agent.horizon) {
  const at = new Searcher(world, level, start);
  const moments = [];
  let node = agent.begin(at.whiff);
  for (;;) {
    const last = at.arrived || at.steps === horizon;
    const moment = { x: at.x, y: at.y, t: at.t, whiff: at.whiff, clock: at.clock, node, action: last ? -1 : agent.act(node) };
    moments.push(moment);
    if (last) return { agent, start, level, cut, moments, moves: at.steps, arrived: at.arrived };
    at.odor = at.steps < cut;
    at.step(moment.action);
    if (!at.arrived) node = agent.observe(node, at.whiff);
  }
}

/* G: the sum of gamma^t times the reward of move t (whiffclock.world.reward). */
function reward(moves, arrived, gamma, horizon) {
  return arrived ? 2 * gamma ** (moves - 1) - 1 : gamma ** horizon - 1;
}

/* Fewest moves from a cell into the disc around the source. */
function shortest(world, x, y) {
  const dx = Math.abs(x - world.sourceX), dy = Math.abs(y - world.sourceY);
  let moves = dx + dy;
  for (let column = 0; column * column <= world.radiusSquared; column++) {
    const half = Math.floor(Math.sqrt(world.radiusSquared - column * column));
    moves = Math.min(moves, Math.abs(dx - column) + Math.max(dy - half, 0));
  }
  return moves;
}
