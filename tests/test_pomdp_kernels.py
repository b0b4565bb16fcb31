"""The kernels of beliefs and alpha vectors agree with plain Python over random problems.

Single precision and reordered sums leave rounding; everything else, and every choice, is the same.
"""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whiffclock.pomdp import alpha, belief

SINGLE = {"rtol": 2e-5, "atol": 1e-6}
seeds = st.integers(0, 2**32)
quick = settings(max_examples=60, deadline=None)


class Case:
    """A random search problem without geometry: any cell may follow any other."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.n, self.actions, self.observations = (
            int(rng.integers(2, 9)),
            int(rng.integers(1, 5)),
            int(rng.integers(1, 4)),
        )
        self.successor = rng.integers(-1, self.n, (self.n, self.actions)).astype(np.int32)
        likelihood = rng.random((self.observations, self.n)) * (rng.random((self.observations, self.n)) < 0.8)
        likelihood[0, likelihood.sum(axis=0) == 0] = 1
        self.likelihood = (likelihood / likelihood.sum(axis=0)).astype(np.float32)

    def belief(self):
        cells = self.rng.permutation(self.n)[: self.rng.integers(1, self.n + 1)].astype(np.int32)
        weights = self.rng.random(len(cells)) ** 6 + 1e-9
        return cells, (weights / weights.sum()).astype(np.float32)

    def beliefs(self, k):
        """Several beliefs with gaps between them: start, size, cells, weights."""
        made = [self.belief() for _ in range(k)]
        size = np.array([len(cells) for cells, _ in made])
        start = np.cumsum(size + 1) - size
        cells, weights = np.zeros(start[-1] + size[-1], np.int32), np.full(start[-1] + size[-1], 7, np.float32)
        for first, (own, their) in zip(start, made, strict=True):
            cells[first : first + len(own)], weights[first : first + len(own)] = own, their
        return start, size, cells, weights

    def tiles(self, vectors):
        """Random vectors, float32[vector, cell], and the same in tiles, with rubbish in the unused lanes."""
        values = self.rng.random((vectors, self.n)).astype(np.float32)
        room = vectors // belief.LANES + 1
        tiles = np.full((room, self.n, belief.LANES), 99, np.float32)
        for v in range(vectors):
            tiles[v // belief.LANES, :, v % belief.LANES] = values[v]
        return values, tiles

    def spread(self):
        cells, weights = self.belief()
        slot = np.full(self.n, -1, np.int32)
        out_cells, out = np.empty(self.n, np.int32), np.full((self.n, self.actions * self.observations), 7, np.float32)
        reward = np.full(self.actions, 7.0)
        rows = belief.spread_belief(cells, weights, self.successor, self.likelihood, slot, out_cells, out, reward)
        assert (slot == -1).all()
        return cells, weights, out_cells[:rows], out[:rows], reward


@quick
@given(seeds)
def test_spread_belief(seed):
    case = Case(seed)
    cells, weights, out_cells, out, reward = case.spread()
    expected = np.zeros((case.n, case.actions, case.observations))
    arrived = np.zeros(case.actions)
    reached = set()
    for cell, weight in zip(cells, weights, strict=True):
        for a in range(case.actions):
            following = case.successor[cell, a]
            if following < 0:
                arrived[a] += weight
                continue
            reached.add(int(following))
            for o in range(case.observations):
                expected[following, a, o] += weight * case.likelihood[o, following]
    assert sorted(out_cells.tolist()) == sorted(reached)
    np.testing.assert_allclose(out, expected.reshape(case.n, -1)[out_cells], **SINGLE)
    np.testing.assert_allclose(reward, arrived, **SINGLE)


@quick
@given(seeds, st.sampled_from([0.0, 1e-3, 0.3]))
def test_main_rows(seed, tolerance):
    case = Case(seed)
    *_, table, _ = case.spread()
    kept = np.full(case.n, -7, np.int32)
    n = belief.main_rows(table, np.float32(tolerance), np.empty(table.shape[1], np.float32), kept)
    expected = [
        row
        for row in range(len(table))
        if any(table[row, e] > np.float32(tolerance) * table[:, e].max() for e in range(table.shape[1]))
    ]
    assert kept[:n].tolist() == expected


@quick
@given(seeds, st.sampled_from([1, 5, 64, 65, 130]), st.booleans())
def test_best_vectors(seed, vectors, known):
    case = Case(seed)
    _, _, cells, table, _ = case.spread()
    values, tiles = case.tiles(vectors)
    first = int(case.rng.integers(0, vectors))
    rows = np.flatnonzero(case.rng.random(len(table)) < 0.8).astype(np.int32)
    best = np.full(table.shape[1], 0.2 if known else -np.inf, np.float32)
    index = np.full(table.shape[1], -7, np.int64)
    sums = np.full((table.shape[1], belief.LANES), 7, np.float32)
    before = best.copy()
    belief.best_vectors(tiles, first, vectors, cells, table, rows, sums, best, index)
    products = values.astype(float)[:, cells[rows]] @ table.astype(float)[rows]
    for e in range(table.shape[1]):
        most = products[first:, e].max()
        np.testing.assert_allclose(best[e], max(most, before[e]), **SINGLE)
        if index[e] < 0:
            assert most <= before[e] * (1 + 1e-5)
        else:
            assert first <= index[e] < vectors
            np.testing.assert_allclose(products[index[e], e], most, **SINGLE)


@quick
@given(seeds)
def test_value_of_and_back_up(seed):
    case = Case(seed)
    values, tiles = case.tiles(70)
    picks = case.rng.integers(0, 70, case.observations)
    action, slot = int(case.rng.integers(case.actions)), 70
    target = case.rng.random(case.n) < 0.3
    before = tiles.copy()
    belief.back_up(tiles, picks, action, case.successor, case.likelihood, np.float32(0.9), target, slot)
    expected = []
    for cell in range(case.n):
        following = case.successor[cell, action]
        ahead = sum(case.likelihood[o, following] * values[picks[o], following] for o in range(case.observations))
        expected.append(0.0 if target[cell] else 1.0 if following < 0 else 0.9 * ahead)
    np.testing.assert_allclose(tiles[1, :, 6], expected, **SINGLE)
    tiles[1, :, 6] = before[1, :, 6]
    assert (tiles == before).all()  # no other vector is touched
    cells, weights = case.belief()
    np.testing.assert_allclose(belief.value_of(tiles, 66, cells, weights), values[66, cells] @ weights, **SINGLE)


@quick
@given(seeds)
def test_advance_all(seed):
    case = Case(seed)
    start, size, cells, weights = case.beliefs(4)
    children = 6
    parent, action = case.rng.integers(0, 4, children), case.rng.integers(0, case.actions, children)
    observation = case.rng.integers(0, case.observations, children)
    out_start = np.cumsum(size[parent]) - size[parent]
    out_size = np.empty_like(size[parent])
    out_cells, out_weights = np.empty(size[parent].sum(), np.int32), np.empty(size[parent].sum(), np.float32)
    belief.advance_all(
        start, size, cells, weights, parent, action, observation, case.successor, case.likelihood,
        out_start, out_size, out_cells, out_weights,
    )  # fmt: skip
    for k in range(children):
        moved = []
        for j in range(start[parent[k]], start[parent[k]] + size[parent[k]]):
            following = case.successor[cells[j], action[k]]
            if following >= 0:
                moved.append((int(following), weights[j] * case.likelihood[observation[k], following]))
        kept = [(cell, weight) for cell, weight in moved if weight > 0]
        total = math.fsum(weight for _, weight in kept)
        here = slice(out_start[k], out_start[k] + out_size[k])
        assert out_cells[here].tolist() == [cell for cell, _ in kept]
        np.testing.assert_allclose(out_weights[here], [weight / total for _, weight in kept], **SINGLE)


@quick
@given(seeds, st.sampled_from([0.0, 1e-3, 0.3]))
def test_main_cells(seed, negligible):
    case = Case(seed)
    start, size, cells, weights = case.beliefs(3)
    out = np.empty_like(start), np.empty_like(size), np.empty_like(cells), np.empty_like(weights)
    belief.main_cells(start, size, cells, weights, np.float32(negligible), *out)
    for i in range(3):
        here = slice(start[i], start[i] + size[i])
        large = weights[here] > np.float32(negligible) * weights[here].max()
        there = slice(out[0][i], out[0][i] + out[1][i])
        assert out[2][there].tolist() == cells[here][large].tolist()
        assert out[3][there].tolist() == weights[here][large].tolist()


@quick
@given(seeds, st.sampled_from([1, 63, 64, 130]))
def test_choose_vectors(seed, vectors):
    case = Case(seed)
    start, size, cells, weights = case.beliefs(3)
    values, tiles = case.tiles(vectors)
    best, index = np.full(3, -np.inf, np.float32), np.full(3, -7, np.int64)
    sums = np.full(belief.LANES, 7, np.float32)
    belief.choose_vectors(tiles, vectors, start, size, cells, weights, sums, best, index)
    for i in range(3):
        here = slice(start[i], start[i] + size[i])
        products = values[:, cells[here]] @ weights[here]
        assert 0 <= index[i] < vectors
        np.testing.assert_allclose(products[index[i]], products.max(), **SINGLE)
        np.testing.assert_allclose(best[i], products.max(), **SINGLE)


@quick
@given(seeds)
def test_expect(seed):
    case = Case(seed)
    start, size, cells, weights = case.beliefs(3)
    table, out = case.rng.normal(size=(case.n, 4)), np.full((3, 4), 7.0)
    belief.expect(start, size, cells, weights, table, out)
    for i in range(3):
        here = slice(start[i], start[i] + size[i])
        np.testing.assert_allclose(out[i], weights[here] @ table[cells[here]], **SINGLE)


@quick
@given(seeds)
def test_uncertainty(seed):
    case = Case(seed)
    _, _, cells, table, _ = case.spread()
    distance = case.rng.random(case.n) * 10
    entropy, mean = np.empty(table.shape[1]), np.empty(table.shape[1])
    belief.uncertainty(cells, table, distance, entropy, mean)
    for e in range(table.shape[1]):
        column = table[:, e].astype(float)
        if column.sum() == 0:
            assert entropy[e] == mean[e] == 0
            continue
        share = column / column.sum()
        np.testing.assert_allclose(entropy[e], -sum(p * math.log2(p) for p in share if p > 0), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(mean[e], share @ distance[cells], rtol=1e-9)


class Tables:
    """Random edges of a block: dense matrices, and the same in the kernels' layout."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.states, self.reach, self.edges = (int(n) for n in rng.integers(1, 6, 3))
        shape = self.edges, self.states, self.reach
        self.dense = rng.random(shape) * (rng.random(shape) < 0.5)
        edge, row, column = np.nonzero(self.dense)
        first, entry = np.searchsorted(edge, np.arange(self.edges + 1)), self.dense[edge, row, column]
        self.matrices = first, row.astype(np.int32), column.astype(np.int32), entry


@quick
@given(seeds)
def test_spread_block(seed):
    case = Tables(seed)
    weights = case.rng.dirichlet(np.ones(case.states)) * (case.rng.random(case.states) < 0.7)
    children, probability = np.zeros((case.edges, case.reach)), np.full(case.edges, 7.0)
    alpha.spread_block(weights, *case.matrices, children, probability)
    for e in range(case.edges):
        mass = weights @ case.dense[e]
        np.testing.assert_allclose(probability[e], mass.sum(), atol=1e-14)
        np.testing.assert_allclose(children[e], mass / mass.sum() if mass.sum() > 0 else 0 * mass, atol=1e-12)


@quick
@given(seeds)
def test_back_up_block(seed):
    case = Tables(seed)
    reward, following = case.rng.normal(size=case.states), case.rng.normal(size=(case.edges, case.reach))
    vector = np.full(case.states, 7.0)
    alpha.back_up_block(reward, *case.matrices, 0.9, following, vector)
    expected = reward + 0.9 * sum(case.dense[e] @ following[e] for e in range(case.edges))
    np.testing.assert_allclose(vector, expected, atol=1e-12)


@quick
@given(seeds)
def test_informed_sweep(seed):
    rng = np.random.default_rng(seed)
    n, actions, observations = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    joint = rng.random((actions, n, observations, n)) * (rng.random((actions, n, observations, n)) < 0.5)
    reward, bound = rng.normal(size=(actions, n)), rng.normal(size=(n, actions))
    entries = np.argwhere(joint > 0)  # sorted by action, state, observation
    start = np.searchsorted(entries[:, 0] * n + entries[:, 1], np.arange(actions * n + 1))
    swept = bound.copy()
    observation, following = np.ascontiguousarray(entries[:, 2]), np.ascontiguousarray(entries[:, 3])
    chance = joint[tuple(entries.T)]
    change = alpha.informed_sweep(start, observation, following, chance, reward, 0.9, np.empty(actions), swept)
    largest, expected = 0.0, bound.copy()
    for a in range(actions):
        for s in range(n):
            value = reward[a, s] + 0.9 * sum((joint[a, s, o] @ expected).max() for o in range(observations))
            largest = max(largest, abs(value - expected[s, a]))
            expected[s, a] = value
    np.testing.assert_allclose(swept, expected, atol=1e-12)
    np.testing.assert_allclose(change, largest, atol=1e-12)


def plain_tooth(weights, point, depth):
    """How far one point lowers the bound at ``weights``."""
    return depth * min(weights[s] / point[s] for s in range(len(point)) if point[s] > 0)


def points_of(rng, n):
    points = rng.dirichlet(np.ones(n), size=6) * (rng.random((6, n)) < 0.7)
    points[points.sum(axis=1) == 0, 0] = 1
    return points / points.sum(axis=1, keepdims=True), -rng.random(6)


@quick
@given(seeds, st.sampled_from([0.0, -0.3, -9.0]))
def test_sawtooth(seed, best):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    points, depth = points_of(rng, n)
    which = np.flatnonzero(rng.random(6) < 0.6)
    for weights in (rng.dirichlet(np.ones(n)), points[0]):
        teeth = [plain_tooth(weights, points[i], depth[i]) for i in which]
        np.testing.assert_allclose(alpha.sawtooth(weights, points, depth, which, best), min([best, *teeth]), atol=1e-12)


@quick
@given(seeds, st.booleans())
def test_lower_children(seed, fresh):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    points, depth = points_of(rng, n)
    which = np.flatnonzero(rng.random(6) < 0.6)
    children = np.zeros((4, n + 2))  # the widest block that edges lead to is wider than this one
    children[:, :n] = rng.dirichlet(np.ones(n), size=4)
    informed = rng.normal(size=(3, n))
    corner, edges = informed.max(axis=0), np.array([0, 3])
    upper = np.array([np.inf if fresh else 0.3, 5.0, 5.0, 0.1])
    before = upper.copy()
    alpha.lower_children(children, edges, informed, corner, points, depth, which, fresh, upper)
    assert (upper[1:3] == 5).all()
    for e in edges:
        weights = children[e, :n]
        bounds = [before[e]]
        if fresh:
            bounds.append((informed @ weights).max())
        bounds += [corner @ weights + plain_tooth(weights, points[i], depth[i]) for i in which]
        # Where nothing is deeper, the flat interpolation of the corners is a bound as well.
        np.testing.assert_allclose(upper[e], min([*bounds, corner @ weights]), atol=1e-12)
