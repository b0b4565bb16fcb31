"""Beliefs about where a hidden target is, and alpha vectors over the same cells.

One step spreads a belief: every action moves each cell to its successor, the mass that reaches the target is removed,
and every observation weighs the rest by its likelihood there. In the table that results, a column is a child, and its
sum the probability of the observation; a product with a vector of values gives the values of all children.

Layouts
-------
``cells[j]``, ``weights[j]``
    A belief; weights sum to one.
``successor[cell, action]``
    The cell that a move leads to; ``-1`` where it reaches the target.
``likelihood[observation, cell]``
    Probability of an observation in a cell.
``spread_cells[j]``, ``spread[j, action * O + observation]``
    All children, each column unnormalised.
``tiles[tile, cell, lane]``
    Alpha vectors, vector ``v`` in lane ``v % LANES`` of tile ``v // LANES``: the values of many vectors at one cell
    are contiguous, so all children are compared with them at the speed of a matrix product.
"""

import numpy as np

from whiffclock.jit import kernel

LANES = 64

_kernel = kernel(fastmath={"contract", "reassoc", "nsz"})


@_kernel
def spread_belief(cells, weights, successor, likelihood, slot, out_cells, out, reward):
    """All children of a belief, and the probability of arriving by each action; returns the number of rows used.

    ``slot`` (int32[cell], all -1) is work space and is restored; ``out_cells`` and ``out`` need
    room for as many rows as there are cells times actions, at most the number of cells of the grid.
    """
    n_actions, n_observations = successor.shape[1], likelihood.shape[0]
    rows = 0
    reward[:] = 0.0
    for j in range(cells.shape[0]):
        weight = weights[j]
        for a in range(n_actions):
            cell = successor[cells[j], a]
            if cell < 0:
                reward[a] += weight
                continue
            row = slot[cell]
            if row < 0:
                row = rows
                slot[cell] = row
                out_cells[row] = cell
                for e in range(out.shape[1]):
                    out[row, e] = 0.0
                rows += 1
            for o in range(n_observations):
                out[row, a * n_observations + o] += weight * likelihood[o, cell]
    for row in range(rows):
        slot[out_cells[row]] = -1
    return rows


@_kernel
def reach(successor, target, discount, value):
    """Raise ``value`` to discount ** (moves - 1) for the fewest moves to the target, 0 where there is no way.

    ``successor`` has the actions to choose from. Sweeps forth and back follow whole paths, so a few of them are enough
    on a grid of any size.
    """
    n = successor.shape[0]
    changed = forth = True
    while changed:
        changed = False
        for i in range(n):
            cell = i if forth else n - 1 - i
            best = 0.0
            for a in range(successor.shape[1]):
                following = successor[cell, a]
                best = max(best, 1.0 if following < 0 else discount * value[following])
            if not target[cell] and best != value[cell]:
                value[cell] = best
                changed = True
        forth = not forth


@_kernel
def value_before(following, target, discount, value, out):
    """Value of a move to ``following[cell]`` without an observation, if ``value`` follows it."""
    for cell in range(following.shape[0]):
        to = following[cell]
        out[cell] = 0.0 if target[cell] else 1.0 if to < 0 else discount * value[to]


@_kernel
def main_rows(spread, tolerance, top, kept):
    """Rows in which some child has more than ``tolerance`` times its largest weight; returns their number."""
    top[:] = 0.0
    for row in range(spread.shape[0]):
        for e in range(spread.shape[1]):
            top[e] = max(top[e], spread[row, e])
    n = 0
    for row in range(spread.shape[0]):
        keep = False
        for e in range(spread.shape[1]):
            keep |= spread[row, e] > tolerance * top[e]
        if keep:
            kept[n] = row
            n += 1
    return n


@_kernel
def best_vectors(tiles, first, end, spread_cells, spread, rows, sums, best, index):
    """Best of the vectors ``first .. end - 1`` for every child, where it is better than ``best``.

    ``best`` is in units of the unnormalised columns.
    """
    children = spread.shape[1]
    for tile in range(first // LANES, (end + LANES - 1) // LANES):
        for e in range(children):
            for lane in range(LANES):
                sums[e, lane] = 0.0
        for k in range(rows.shape[0]):
            row = rows[k]
            cell = spread_cells[row]
            for e in range(children):
                weight = spread[row, e]
                for lane in range(LANES):
                    sums[e, lane] += weight * tiles[tile, cell, lane]
        for e in range(children):
            for lane in range(LANES):
                v = tile * LANES + lane
                if first <= v < end and sums[e, lane] > best[e]:
                    best[e] = sums[e, lane]
                    index[e] = v


@_kernel
def value_of(tiles, vector, cells, weights):
    """Inner product of one vector and one belief."""
    tile, lane = vector // LANES, vector % LANES
    total = 0.0
    for j in range(cells.shape[0]):
        total += np.float64(weights[j]) * tiles[tile, cells[j], lane]
    return total


@_kernel
def back_up(tiles, picks, action, successor, likelihood, discount, target, vector):
    """Write into slot ``vector`` the value of taking ``action`` and then following ``picks[observation]``."""
    tile, lane = vector // LANES, vector % LANES
    for cell in range(successor.shape[0]):
        following = successor[cell, action]
        total = np.float32(0.0)
        if following >= 0:
            for o in range(likelihood.shape[0]):
                pick = picks[o]
                total += likelihood[o, following] * tiles[pick // LANES, following, pick % LANES]
            total *= discount
        else:
            total = np.float32(1.0)
        tiles[tile, cell, lane] = np.float32(0.0) if target[cell] else total


# Many beliefs at once: belief i is cells[start[i] : start[i] + size[i]], and weights likewise.


@_kernel
def advance_all(
    start, size, cells, weights, parent, action, observation, successor, likelihood,
    out_start, out_size, out_cells, out_weights,
):  # fmt: skip
    """Child k follows belief ``parent[k]`` after ``action[k]`` and ``observation[k]``.

    ``out_start`` gives each child as much room as its parent has. Only impossible cells are dropped: if the model is
    wrong, the true position may be very unlikely for a while. At the border a cell may be listed twice.
    """
    for k in range(parent.shape[0]):
        first, to = start[parent[k]], out_start[k]
        n = 0
        total = 0.0
        for j in range(first, first + size[parent[k]]):
            cell = successor[cells[j], action[k]]
            if cell >= 0:
                weight = weights[j] * likelihood[observation[k], cell]
                if weight > 0.0:
                    out_cells[to + n] = cell
                    out_weights[to + n] = weight
                    total += weight
                    n += 1
        for j in range(to, to + n):
            out_weights[j] /= total
        out_size[k] = n


@_kernel
def main_cells(start, size, cells, weights, negligible, out_start, out_size, out_cells, out_weights):
    """Of each belief, the cells with more than ``negligible`` times its largest weight."""
    n = 0
    for i in range(start.shape[0]):
        top = 0.0
        for j in range(start[i], start[i] + size[i]):
            top = max(top, weights[j])
        out_start[i] = n
        for j in range(start[i], start[i] + size[i]):
            if weights[j] > negligible * top:
                out_cells[n] = cells[j]
                out_weights[n] = weights[j]
                n += 1
        out_size[i] = n - out_start[i]


@_kernel
def choose_vectors(tiles, n_vectors, start, size, cells, weights, sums, best, index):
    """Best vector of each belief; each tile is compared with all beliefs before the next one is read."""
    for tile in range((n_vectors + LANES - 1) // LANES):
        for i in range(start.shape[0]):
            for lane in range(LANES):
                sums[lane] = 0.0
            for j in range(start[i], start[i] + size[i]):
                weight = weights[j]
                cell = cells[j]
                for lane in range(LANES):
                    sums[lane] += weight * tiles[tile, cell, lane]
            for lane in range(LANES):
                v = tile * LANES + lane
                if v < n_vectors and sums[lane] > best[i]:
                    best[i] = sums[lane]
                    index[i] = v


@_kernel
def expect(start, size, cells, weights, table, out):
    """Expected value of each column of ``table[cell, column]`` under each belief."""
    for i in range(start.shape[0]):
        for c in range(table.shape[1]):
            out[i, c] = 0.0
        for j in range(start[i], start[i] + size[i]):
            for c in range(table.shape[1]):
                out[i, c] += weights[j] * table[cells[j], c]


@_kernel
def uncertainty(spread_cells, spread, distance, entropy, mean_distance):
    """Entropy (bits) of each child, and its mean distance from the target."""
    for e in range(spread.shape[1]):
        total = 0.0
        logs = 0.0
        far = 0.0
        for row in range(spread.shape[0]):
            weight = np.float64(spread[row, e])
            if weight > 0.0:
                total += weight
                logs += weight * np.log2(weight)
                far += weight * distance[spread_cells[row]]
        entropy[e] = np.log2(total) - logs / total if total > 0.0 else 0.0
        mean_distance[e] = far / total if total > 0.0 else 0.0
