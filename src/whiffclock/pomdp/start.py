"""Vectors to start from: those of a policy solved before, checked to be lower bounds.

A set of vectors that the solver has pruned is no longer its own proof: a vector may rest on others that are
gone. So three things are checked that hold for every such set. No vector may promise more in a state than that
state is worth if it is known. The policy of the vectors must earn what they promise at the initial belief: let
V(b) be the best vector at b, and follow the action that maximises

    HV(b) = R(b, a) + discount * sum over o of P(o) V(child);

then V(root) minus the value of this policy is the expected sum of discount**t (V(b_t) - HV(b_t)), which some
walks estimate. And the solver refuses the vectors if its lower bound ever exceeds its upper bound.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from whiffclock.params import require
from whiffclock.pomdp.model import Model, Upper, Vectors

#: Vectors to start from, as (block, vector, action).
Start = list[tuple[int, np.ndarray, int]]

_WALKS = 16
#: Share of a value by which a bound may be off: files print few digits, and grids are in single precision.
_ROUNDING = 1e-3


def add_start(model: Model, vectors: Vectors, upper: Upper, start: Start) -> None:
    """Add ``start`` to ``vectors``; refuse what is not a lower bound."""
    for i, (block, vector, action) in enumerate(start):
        known = 0 <= block < model.n_blocks and 0 <= action < model.n_actions
        worth = upper.states(block) if known else np.empty(0)
        require(
            known and np.shape(vector) == worth.shape and bool(np.isfinite(vector).all()),
            f"Vector {i} to start from does not fit the model: its block, action or number of values is another, or "
            "a value is not finite.",
        )
        excess = vector - worth - _ROUNDING * np.maximum(1.0, np.abs(worth))
        s = int(excess.argmax())
        require(
            bool(excess[s] <= 0),
            f"Vector {i} to start from is not a lower bound: it promises {vector[s]:.5g} in a state worth at most "
            f"{worth[s]:.5g}.",
        )
        vectors.add(block, vector, action)
    if start:
        promised, missing = shortfall(model, vectors, np.random.default_rng(0))
        mean, error = missing.mean(), missing.std() / math.sqrt(len(missing) - 1)
        require(
            bool(mean <= 3 * error + _ROUNDING * max(1.0, abs(promised))),
            f"The vectors to start from are not lower bounds: they promise {promised:.5g} at the initial belief, where "
            f"their policy earns {promised - mean:.5g} ± {error:.2g}.",
        )


def require_in_order(lower: float, upper: float) -> None:
    """Refuse the start if it has led to a lower bound above the upper one."""
    require(
        lower <= upper + _ROUNDING * max(1.0, abs(upper)),
        f"The vectors to start from are not lower bounds: they led to {lower:.5g}, above the upper bound {upper:.5g}.",
    )


def shortfall(model: Model, vectors: Vectors, rng: np.random.Generator) -> tuple[float, np.ndarray]:
    """What the vectors promise at the root, and by how much their policy earns less on each of some walks."""
    depth = math.ceil(math.log(0.01) / math.log(model.discount))
    belief: Any = model.root()
    root = model.spread(belief)
    promised = vectors.best(belief)[1]
    missing = np.zeros(_WALKS)
    for walk in range(_WALKS):
        spread, value, weight = root, promised, 1.0
        for step in range(depth):
            first = model.edges(model.block(spread.belief)).first
            lower = np.full(len(spread.probability), -np.inf)
            vectors.improve(spread, 0, lower, np.zeros(len(lower), dtype=np.int32))
            worth = spread.probability * np.where(spread.probability > 0, lower, 0.0)
            gamma = 1.0 if step == 0 and model.looks_first else model.discount
            values = spread.reward + gamma * np.add.reduceat(worth, first[:-1])
            action = int(values.argmax())
            missing[walk] += weight * (value - values[action])
            weight *= gamma
            chance = spread.probability[first[action] : first[action + 1]].cumsum()
            drawn = rng.random()
            if drawn >= chance[-1]:
                break
            edge = int(first[action] + chance.searchsorted(drawn, side="right"))
            value = float(lower[edge])
            belief = model.child(spread, edge)
            spread = model.spread(belief)
    return promised, missing
