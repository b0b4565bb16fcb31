/* The five metrics of a recovery path, as in whiffclock.path_metrics; a path is a list of positions [x, y]. */

const SURGE_ENDS = 2, RETURN_BEGINS = 3;

/* Start of the first `length` hits in a row; -1 if there are none. */
function firstRun(hits, length) {
  for (let i = 0, run = 0; i < hits.length; i++) {
    run = hits[i] ? run + 1 : 0;
    if (run === length) return i - length + 1;
  }
  return -1;
}

function geometry(path) {
  const xs = path.map((at) => at[0]), ys = path.map((at) => at[1]);
  const moves = xs.slice(1).map((x, i) => x - xs[i]);
  const surgeEnd = firstRun(moves.map((dx) => dx !== -1), SURGE_ENDS);
  const returnStart = firstRun(moves.map((dx) => dx === 1), RETURN_BEGINS);
  const least = Math.min(...xs), extreme = xs.indexOf(least);
  const returned = returnStart < 0 ? -1 : firstRun(moves.slice(returnStart).map((dx) => dx !== 1), SURGE_ENDS);
  return {
    surgeLength: moves.slice(0, surgeEnd < 0 ? moves.length : surgeEnd).filter((dx) => dx === -1).length,
    castWidth: Math.max(...ys) - Math.min(...ys),
    upwindSearch: xs[0] - least,
    returnLength: Math.max(...xs.slice(extreme)) - least,
    returnStart, // -1: not begun
    surgeEnd, // move; -1: still surging
    returnEnd: returned < 0 ? -1 : returnStart + returned, // move before the first two in a row that are not downwind
    extreme, // move at which the path is farthest upwind
    top: ys.indexOf(Math.max(...ys)),
    bottom: ys.indexOf(Math.min(...ys)),
  };
}

/* The phase of every move of a path that begins on a whiff and meets blanks only, as in whiffclock.drawing.film. */
const SURGE = 0, CAST = 1, RETURN = 2;

function phases(path) {
  const moves = path.slice(1).map(([x], i) => x - path[i][0]), found = Array(moves.length).fill(CAST);
  const next = (from, hit, length) => {
    const first = firstRun(moves.slice(from).map(hit), length);
    return first < 0 ? moves.length : from + first;
  };
  found.fill(SURGE, 0, next(0, (dx) => dx !== -1, SURGE_ENDS));
  for (let at = 0; ;) {
    const begin = next(at, (dx) => dx === 1, RETURN_BEGINS);
    if (begin === moves.length) return found;
    at = next(begin, (dx) => dx !== 1, SURGE_ENDS);
    found.fill(RETURN, begin, at);
  }
}

/* The phase of every move of a search; its clock starts again at every whiff. */
function phasesOf(moments) {
  const path = moments.map((m) => [m.x, m.y]), last = path.length - 1;
  const cuts = moments.flatMap((m, i) => (i === 0 || i === last || m.whiff ? [i] : []));
  return cuts.slice(1).flatMap((end, i) => phases(path.slice(cuts[i], end + 1)));
}
