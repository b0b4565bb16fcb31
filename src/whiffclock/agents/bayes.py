"""The quasi-optimal Bayesian agent, and cheaper agents with the same belief (paper, "Bayesian agent").

The agent assumes independent whiffs with the probabilities of the record. Its belief is the probability of every
position relative to the source: moved with each step, zero in the source region until that is found, and updated by
each whiff or blank (R16). Where the record never has a whiff, the probability is ``floor``: otherwise a single
unexpected whiff would leave an empty belief (R14).

The agents differ in how they choose an action:

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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whiffclock.environments import trained_in
from whiffclock.params import BayesSettings, InputError, WorldSettings, require
from whiffclock.plume import Plume
from whiffclock.pomdp import belief as belief_kernels
from whiffclock.pomdp.gridsearch import GridBelief, GridSearch, GridVectors
from whiffclock.pomdp.model import Vectors
from whiffclock.world.loop import search
from whiffclock.world.moves import MOVES
from whiffclock.world.worlds import IndependentWorld

BLANK, WHIFF = 0, 1
QUASI_OPTIMAL = "Bayesian"

_NEGLIGIBLE = 1e-3  # share of the largest weight below which a position is left out when vectors are compared

_ROOM = 2**30  # bytes for the beliefs of searches made at the same time


def search_model(
    plume: Plume, threshold: float, settings: BayesSettings | None = None, world: WorldSettings | None = None
) -> GridSearch:
    """The search in a plume as a POMDP on the position relative to the source."""
    settings, world = settings or BayesSettings(), plume.settle(world)
    length, width = plume.field.shape[1:]
    x0, y0 = plume.source
    shape = 2 * length - 1, 2 * width - 1
    chance = np.zeros(shape)
    initial = np.zeros(shape)
    # The relative grid has the source in its middle; the record covers a part of it.
    left, low = length - 1 - x0, width - 1 - y0
    chance[left : left + length, low : low + width] = plume.whiffs(threshold).probability()
    for x, y in plume.starts(threshold, world):
        initial[left + x, low + y] = 1.0
    chance = np.clip(chance, settings.floor, 1 - settings.floor)
    dx, dy = np.arange(shape[0]) - (length - 1), np.arange(shape[1]) - (width - 1)
    target = dx[:, None] ** 2 + dy**2 <= world.radius**2
    return GridSearch(np.stack([1 - chance, chance]), target, initial / initial.sum(), MOVES, settings.discount)


@dataclass(frozen=True)
class Beliefs:
    """Beliefs of n searches; those with the same history share one.

    ``who[i]`` is the belief of search i; belief k is ``cells[start[k] : start[k] + size[k]]``, with weights.
    """

    who: np.ndarray
    start: np.ndarray
    size: np.ndarray
    cells: np.ndarray
    weights: np.ndarray
    action: np.ndarray

    def one(self, k: int) -> GridBelief:
        """Belief k."""
        here = slice(int(self.start[k]), int(self.start[k] + self.size[k]))
        return GridBelief(self.cells[here], self.weights[here].astype(np.float32))


#: Chooses the action of every belief: from all beliefs, int8[belief].
Choice = Callable[[GridSearch, Beliefs], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class BeliefPolicy:
    """A policy that acts on a belief; see :class:`whiffclock.policy.Policy`."""

    name: str
    model: GridSearch
    choose: Choice
    made_from: dict[str, Any] = field(default_factory=dict)
    vectors: GridVectors | None = None
    modes: int = 1

    def __repr__(self) -> str:
        place = [] if self.threshold is None else [trained_in(self.made_from)]
        vectors = [] if self.vectors is None else [f"{len(self.vectors.actions())} alpha vectors"]
        return f"BeliefPolicy({', '.join([self.name, *place, *vectors])})"

    @property
    def threshold(self) -> float | None:
        """Threshold of the environment its model was made from."""
        return self.made_from.get("threshold")

    @property
    def at_once(self) -> int:
        """Searches whose beliefs fit into the memory for them: each has up to as many cells as the initial belief."""
        return max(1, _ROOM // (32 * int(np.count_nonzero(self.model.initial))))

    def begin(self, whiff: np.ndarray) -> Beliefs:
        """The initial belief, updated by the first observation."""
        after = [self.model.observe(self.model.root(), observation) for observation in (BLANK, WHIFF)]
        return self._begun(whiff.astype(np.int64), after)

    def unobserved(self, n: int) -> Beliefs:
        """The initial belief of n searches, before any observation."""
        return self._begun(np.zeros(n, dtype=np.int64), [self.model.root()])

    def _begun(self, who: np.ndarray, beliefs: list[GridBelief]) -> Beliefs:
        size = np.array([len(belief.cells) for belief in beliefs])
        cells, weights = (np.concatenate([getattr(b, name) for b in beliefs]) for name in ("cells", "weights"))
        return self._decided(who, np.cumsum(size) - size, size, cells, weights.astype(np.float64))

    def act(self, memory: Beliefs) -> np.ndarray:
        """The action of each search's belief."""
        return memory.action[memory.who]

    def observe(self, memory: Beliefs, action: np.ndarray, whiff: np.ndarray) -> Beliefs:
        """Move the beliefs by ``action`` and update them by the observation."""
        history = (memory.who * len(MOVES) + action) * 2 + whiff
        different, who = np.unique(history, return_inverse=True)
        rest, observation = np.divmod(different, 2)
        parent, moved = np.divmod(rest, len(MOVES))
        room = memory.size[parent]
        start = np.cumsum(room) - room
        size = np.empty_like(room)
        cells, weights = np.empty(room.sum(), dtype=np.int32), np.empty(room.sum())
        belief_kernels.advance_all(
            memory.start, memory.size, memory.cells, memory.weights, parent, moved, observation,
            self.model.successor, self.model.chances, start, size, cells, weights,
        )  # fmt: skip
        if not size.all():  # empty belief: start again
            root = self.model.root()
            start, size = np.where(size > 0, start, len(cells)), np.where(size > 0, size, len(root.cells))
            cells, weights = np.append(cells, root.cells), np.append(weights, root.weights)
        return self._decided(who, start, size, cells, weights)

    def mode(self, memory: Beliefs) -> np.ndarray:
        """There is one mode."""
        return np.zeros(len(memory.who), dtype=np.int64)

    def select(self, memory: Beliefs, rows: np.ndarray) -> Beliefs:
        """The memory of some of the searches."""
        kept, who = np.unique(memory.who[rows], return_inverse=True)
        return Beliefs(who, memory.start[kept], memory.size[kept], memory.cells, memory.weights, memory.action[kept])

    def _decided(
        self, who: np.ndarray, start: np.ndarray, size: np.ndarray, cells: np.ndarray, weights: np.ndarray
    ) -> Beliefs:
        undecided = Beliefs(who, start, size, cells, weights, np.zeros(len(start), dtype=np.int8))
        return replace(undecided, action=self.choose(self.model, undecided))


def quasi_optimal(model: GridSearch, vectors: Vectors, made_from: dict[str, Any] | None = None) -> BeliefPolicy:
    """The policy of a solved search model."""
    if not isinstance(vectors, GridVectors):
        raise InputError("A search policy needs vectors over the cells of a grid.")
    return BeliefPolicy(QUASI_OPTIMAL, model, by_vectors(vectors), made_from or {}, vectors)


def belief_heuristic(name: str, model: GridSearch, made_from: dict[str, Any] | None = None) -> BeliefPolicy:
    """One of :data:`HEURISTICS`, which need no solver."""
    require(name in HEURISTICS, f"There is no agent called {name!r}; there are {', '.join(HEURISTICS)}.")
    return BeliefPolicy(name, model, HEURISTICS[name], made_from or {})


def by_vectors(vectors: GridVectors) -> Choice:
    """The action of the best alpha vector."""
    actions = vectors.actions().astype(np.int8)

    def choose(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
        return actions[vectors.choose(beliefs.start, beliefs.size, beliefs.cells, beliefs.weights, _NEGLIGIBLE)]

    return choose


def qmdp(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
    """The action that would be best if the position were known after it."""
    after = model.known_value_after
    expected = np.empty((len(beliefs.start), model.n_actions))
    belief_kernels.expect(beliefs.start, beliefs.size, beliefs.cells, beliefs.weights, after, expected)
    return expected.argmax(axis=1).astype(np.int8)


def infotaxis(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
    """The action after which the expected entropy is least."""
    return _least(model, beliefs, lambda entropy, distance: entropy)


def space_aware_infotaxis(model: GridSearch, beliefs: Beliefs) -> np.ndarray:
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
    "QMDP": qmdp,
    "infotaxis": infotaxis,
    "space-aware infotaxis": space_aware_infotaxis,
}


def discounted_rewards(policy: BeliefPolicy, steps: int = 500, seed: int = 0, repeats: int = 1) -> np.ndarray:
    """Discounted reward of searches in the world that the model describes, from every cell of the initial belief.

    Each cell is searched from ``repeats`` times. Where the initial belief is uniform, the mean is the value of the
    policy, to be compared with the bounds of the solver.
    """
    cells = np.repeat(policy.model.root().cells, repeats)
    reward = np.zeros(len(cells))
    for moment in search(policy, IndependentWorld(policy.model, cells, seed), steps):
        reward[moment.arrived] = policy.model.discount ** (moment.step - 1)
    return reward
