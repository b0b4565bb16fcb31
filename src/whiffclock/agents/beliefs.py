"""Beliefs of many searches, and the ways to choose an action on them (paper, "Bayesian agent").

``alpha vectors``
    the policy of a solved POMDP: quasi-optimal.
``QMDP``
    as if the position were known after the next step (Littman, Cassandra and Kaelbling 1995).
``infotaxis``
    the move after which the expected entropy is least (Vergassola, Villermaux and Shraiman 2007).
``space-aware infotaxis``
    the same for a measure of entropy and distance (Loisy and Eloy 2022).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from whiffclock.pomdp import belief as belief_kernels
from whiffclock.pomdp.gridsearch import GridBelief, GridSearch, GridVectors

QMDP, INFOTAXIS, SPACE_AWARE = "QMDP", "infotaxis", "space-aware infotaxis"

_NEGLIGIBLE = 1e-3  # share of the largest weight below which a position is left out when vectors are compared


@dataclass(frozen=True)
class Beliefs:
    """Beliefs of n searches; those with the same history share one.

    ``who[i]`` is the belief of search i; belief k is ``cells[start[k] : start[k] + size[k]]``, with weights.
    ``last[k]`` is its last observation; a blank before the first.
    """

    who: np.ndarray
    start: np.ndarray
    size: np.ndarray
    cells: np.ndarray
    weights: np.ndarray
    last: np.ndarray
    action: np.ndarray

    def one(self, k: int) -> GridBelief:
        """Belief k."""
        here = slice(int(self.start[k]), int(self.start[k] + self.size[k]))
        return GridBelief(self.cells[here], self.weights[here].astype(np.float32))


#: Chooses the action of every belief: from all beliefs, int8[belief].
Choice = Callable[[GridSearch, Beliefs], np.ndarray]


def by_vectors(vectors: GridVectors) -> Choice:
    """The action of the best alpha vector."""
    return partial(_best_of, vectors, vectors.actions().astype(np.int8))


def _best_of(vectors: GridVectors, actions: np.ndarray, model: GridSearch, beliefs: Beliefs) -> np.ndarray:
    return actions[vectors.choose(beliefs.start, beliefs.size, beliefs.cells, beliefs.weights, _NEGLIGIBLE)]


def by_qmdp(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
    """The action that would be best if the position were known after it."""
    after = model.known_value_after
    expected = np.empty((len(beliefs.start), model.n_actions))
    belief_kernels.expect(beliefs.start, beliefs.size, beliefs.cells, beliefs.weights, after, expected)
    return expected.argmax(axis=1).astype(np.int8)


def by_infotaxis(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
    """The action after which the expected entropy is least."""
    return _least(model, beliefs, lambda entropy, distance: entropy)


def by_space_aware_infotaxis(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
    """The action after which log2(D + 2**(H - 1) - 1/2) is least, with D the mean distance and H the entropy."""

    def measure(entropy: np.ndarray, distance: np.ndarray) -> np.ndarray:
        return np.log2(np.maximum(distance + 2 ** (entropy - 1) - 0.5, 1.0))

    return _least(model, beliefs, measure)


def _least(model: GridSearch, beliefs: Beliefs, measure: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    """The action with the smallest expected measure; a found source counts as 0."""
    action = np.empty(len(beliefs.start), dtype=np.int8)
    edges = model.edges(0)
    entropy, distance = np.empty(len(edges.action)), np.empty(len(edges.action))
    for k in range(len(action)):
        spread = model.spread(beliefs.one(k))
        cells, table = spread.children
        belief_kernels.uncertainty(cells, table, model.distance, entropy, distance)
        worth = np.where(spread.probability > 0, spread.probability * measure(entropy, distance), 0.0)
        action[k] = np.add.reduceat(worth, edges.first[:-1]).argmin()
    return action


#: Agents that act on the belief without a solved POMDP, by name.
HEURISTICS: dict[str, Choice] = {
    QMDP: by_qmdp,
    INFOTAXIS: by_infotaxis,
    SPACE_AWARE: by_space_aware_infotaxis,
}
