"""Vectors to start from: those of a policy solved before, checked to be lower bounds.

Vectors that the solver has pruned cannot be verified one by one: a vector may depend on others that were dropped.
So three things are checked that hold for every such set. No vector may exceed, in any state, the value of
that state if it is known. The policy of the vectors must earn their value at the initial belief: let
V(b) be the best vector at b, and follow the action that maximises

    HV(b) = R(b, a) + discount * sum over o of P(o) V(child);

then V(root) minus the value of this policy is the expected sum of discount**t (V(b_t) - HV(b_t)), which some
walks estimate. And the solver refuses the vectors if its lower bound ever exceeds its upper bound.
"""

import math

import numpy as np

from whiffclock.params import require
from whiffclock.pomdp.model import Model, Upper, Vectors
from whiffclock.pomdp.sample import played
from whiffclock.pomdp.tree import Tree

#: Vectors to start from, as (block, vector, action).
Start = list[tuple[int, np.ndarray, int]]

#: Share of a value by which a bound may be off: files print few digits, and grids are in single precision.
_ROUNDING = 1e-3


def add_start(model: Model, vectors: Vectors, upper: Upper, start: Start) -> None:
    """Add ``start`` to ``vectors``; refuse what is not a lower bound."""
    for i, (block, vector, action) in enumerate(start):
        known = 0 <= block < model.n_blocks and 0 <= action < model.n_actions
        worth = upper.states(block) if known else np.empty(0)
        fits = known and np.shape(vector) == worth.shape and bool(np.isfinite(vector).all())
        why = "its block, action or number of values is another, or a value is not finite"
        require(fits, f"Vector {i} to start from does not fit the model: {why}.")
        excess = vector - worth - _ROUNDING * np.maximum(1.0, np.abs(worth))
        s = int(excess.argmax())
        why = f"it has the value {vector[s]:.5g} in a state where at most {worth[s]:.5g} is possible"
        require(bool(excess[s] <= 0), f"Vector {i} to start from is not a lower bound: {why}.")
        vectors.add(block, vector, action)
    if start:
        tree = Tree(model, vectors, upper)
        value, missing = tree.lower[0], shortfall(tree, np.random.default_rng(0))
        mean, error = missing.mean(), missing.std() / math.sqrt(len(missing) - 1)
        earned = f"their policy earns {value - mean:.5g} ± {error:.2g}"
        why = f"their value at the initial belief is {value:.5g}, where {earned}"
        allowed = 3 * error + _ROUNDING * max(1.0, abs(value))
        require(bool(mean <= allowed), f"The vectors to start from are not lower bounds: {why}.")


def require_in_order(lower: float, upper: float) -> None:
    """Refuse the start if it has led to a lower bound above the upper one."""
    why = f"they led to {lower:.5g}, above the upper bound {upper:.5g}"
    in_order = lower <= upper + _ROUNDING * max(1.0, abs(upper))
    require(in_order, f"The vectors to start from are not lower bounds: {why}.")


def shortfall(tree: Tree, rng: np.random.Generator, walks: int = 16) -> np.ndarray:
    """By how much the policy of the vectors earns less than their value at the root, on each of some walks."""
    missing = np.zeros(walks)
    for i in range(walks):
        weight = 1.0
        for node, spread in played(tree, rng, tree.depth):
            missing[i] += weight * (tree.lower[node] - tree.action_values(node, spread, tree.edge_lower).max())
            weight *= tree.gamma(node)
    return missing
