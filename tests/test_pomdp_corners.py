"""Corners of the upper bound: lowered where a belief is nearly certain, and never below the value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_pomdps import brute_force, check_proper, random_tables, tables

from whiffclock.pomdp import bounds
from whiffclock.pomdp.blocks import BlockBelief, BlockModel
from whiffclock.pomdp.solver import SolverSettings, solve


class PlainUpper:
    """The upper bound of a model of one block, from its definition: nothing is remembered but values."""

    def __init__(self, block, least):
        self.informed = bounds.fast_informed_bound(block)[block.states[block.root_block]]
        self.worst = block.tables.reward.min() / (1 - block.discount)
        self.known, self.least = [], least

    @property
    def corner(self):
        return self.informed.max(axis=1)

    def learn(self, weights, value):
        s = weights.argmax()
        certain = (value - (1 - weights[s]) * self.worst) / weights[s]
        if self.corner[s] - certain > self.least * (self.corner[s] - self.worst):
            self.informed[s] = np.minimum(self.informed[s], certain)
        self.known.append((weights, value))

    def at(self, weights):
        found = [(weights @ self.informed).max(), weights @ self.corner]
        for point, value in self.known:
            share = min(weights[s] / point[s] for s in np.flatnonzero(point))
            found.append(weights @ self.corner + share * (value - point @ self.corner))
        return min(found)


def nearly_certain(rng, n):
    """A belief that is certain, but for as little as ``rng`` says."""
    doubt = rng.choice([0.0, 1e-6, 1e-4, 0.03])
    return (1 - doubt) * np.eye(n)[rng.integers(n)] + doubt * rng.dirichlet(np.ones(n))


@pytest.fixture(autouse=True, scope="module")
def _every_change_counts():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "_WORTHWHILE", 0.0)
        yield


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_the_bound_is_the_plain_one(seed):
    """In lockstep, at beliefs and at all children of one, which are compared with what is new only."""
    block, rng = BlockModel(random_tables(seed, 0.8)), np.random.default_rng(seed)
    root = block.root()
    n = len(root.weights)
    upper, plain = block.upper(), PlainUpper(block, bounds._CORNER)
    spread = block.spread(root)
    children = np.full(len(spread.probability), np.inf)
    since = -1
    for step in range(12):
        upper.children(spread, since, children)
        since = upper.stamp
        weights = nearly_certain(rng, n) if step % 2 else rng.dirichlet(np.ones(n))
        value = upper.at(BlockBelief(0, weights)) - rng.choice([0.0, 1e-3, 0.1])
        upper.learn(BlockBelief(0, weights), value)
        plain.learn(weights, value)
        for test in (weights, rng.dirichlet(np.ones(n)), nearly_certain(rng, n)):
            assert upper.at(BlockBelief(0, test)) == pytest.approx(plain.at(test), abs=1e-9)
    upper.children(spread, since, children)
    for e in np.flatnonzero(spread.probability > 0):
        assert children[e] == pytest.approx(upper.at(block.child(spread, int(e))), abs=1e-9)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_the_bound_stays_above_the_value(seed):
    """The lowest values that can be known are learned at nearly certain beliefs; no belief's bound is below its own."""
    model, rng = random_tables(seed), np.random.default_rng(seed)
    block = BlockModel(model)
    upper, n = block.upper(), len(model.states)
    first = upper.states(0).copy()
    for _ in range(4):
        weights = nearly_certain(rng, n)
        upper.learn(BlockBelief(0, weights), min(brute_force(model, 6, weights)[1], upper.at(BlockBelief(0, weights))))
    assert (upper.states(0) <= first).all()
    for weights in [*np.eye(n), *rng.dirichlet(np.ones(n), size=3), nearly_certain(rng, n)]:
        assert upper.at(BlockBelief(0, weights)) >= brute_force(model, 6, weights)[0] - 1e-9
    for state in range(n):
        assert upper.states(0)[state] >= brute_force(model, 6, np.eye(n)[state])[0] - 1e-9


def beacons():
    """A ring of six cells: moves slip half the time and nothing is seen but a beacon, where the goal pays or costs."""
    n, transition, seen = 6, np.zeros((3, 6, 6)), np.zeros((6, 2))
    for cell in range(n):
        transition[2, cell] = 1 / n  # the bet moves it anywhere
        for move, step in enumerate((1, -1)):
            transition[move, cell, [cell, (cell + step) % n]] += 0.5
        seen[cell, int(cell == 0)] = 1
    reward = np.array([[0.0] * n, [0.0] * n, [-1, -1, 2, -1, -1, -1]])
    return tables(transition, [seen] * 3, reward, np.full(n, 1 / n), 0.9)


def test_corners_meet_the_value_of_what_is_certain(monkeypatch):
    """The beacon makes a belief certain: its corner comes down to the value, and the bounds meet sooner."""
    few = SolverSettings(seconds=None, backups=8000, gap=0.003)
    lowered = solve(BlockModel(beacons()), few)
    monkeypatch.setattr(bounds, "_CORNER", np.inf)
    fixed = solve(BlockModel(beacons()), few)
    check_proper(lowered)
    assert lowered.ended == fixed.ended == "gap reached"
    assert lowered.backups < fixed.backups
    assert lowered.lower <= fixed.upper
    assert fixed.lower <= lowered.upper
