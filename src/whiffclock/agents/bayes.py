"""The quasi-optimal Bayesian agent, and cheaper agents with the same belief (paper, "Bayesian agent").

The agent assumes independent whiffs with the probabilities of the record. Its belief is the probability of every
position relative to the source: moved with each step, zero in the source region until that is found, and updated by
each whiff or blank (R16). Where the record never has a whiff, the probability is ``floor``: otherwise a single
unexpected whiff would leave an empty belief (R14).

With conditional likelihoods, the update uses the probability of a whiff given the observation before it and the move
in between, as the record has it: whiffs are correlated, so the second one of a pair says less. Actions are chosen as
before.

The agents differ in how they choose an action (:mod:`whiffclock.agents.beliefs`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from whiffclock import __version__
from whiffclock.agents.beliefs import HEURISTICS, INFOTAXIS, QMDP, SPACE_AWARE, Beliefs, Choice, by_vectors
from whiffclock.archive import array_named, read_header
from whiffclock.environments import trained_in
from whiffclock.params import BayesSettings, InputError, WorldSettings, convert, require
from whiffclock.plume import Plume
from whiffclock.policy import Name, Origin, SavedPolicy, damaged_policy, format_of
from whiffclock.pomdp import belief as belief_kernels
from whiffclock.pomdp.gridsearch import GridBelief, GridSearch, GridVectors
from whiffclock.pomdp.model import Vectors
from whiffclock.world.loop import search
from whiffclock.world.moves import MOVES
from whiffclock.world.reward import arrival_reward
from whiffclock.world.worlds import IndependentWorld

BLANK, WHIFF = 0, 1
QUASI_OPTIMAL = "Bayesian"

#: Snapshots with a cell's own frequency of whiffs, added to the counts of its conditional probabilities.
PRIOR = 10.0

_ROOM = 2**30  # bytes for the beliefs of searches made at the same time


def search_model(
    plume: Plume, threshold: float, settings: BayesSettings | None = None, world: WorldSettings | None = None
) -> GridSearch:
    """The search in a plume as a POMDP on the position relative to the source."""
    settings, world = settings or BayesSettings(), plume.settle(world)
    length, width = plume.field.shape[1:]
    start = np.zeros((length, width))
    start[tuple(plume.starts(threshold, world).T)] = 1.0
    initial = _from_source(plume, start / start.sum())
    chance = _from_source(plume, plume.whiffs(threshold).probability(), settings.floor)
    dx, dy = np.arange(2 * length - 1) - (length - 1), np.arange(2 * width - 1) - (width - 1)
    target = dx[:, None] ** 2 + dy**2 <= world.radius**2
    return GridSearch(np.stack([1 - chance, chance]), target, initial, MOVES, settings.discount)


def conditional_chances(plume: Plume, threshold: float, settings: BayesSettings) -> np.ndarray | None:
    """Probability of a whiff given the observation before, for a :class:`BeliefPolicy`; None if it is not asked for."""
    if settings.likelihood == "independent":
        return None
    return _from_source(plume, plume.whiffs(threshold).conditional(MOVES, PRIOR), settings.floor)


def _from_source(plume: Plume, values: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Probabilities ``[..., x, y]`` on the relative grid, which has the source in its middle, ``floor`` at least."""
    length, width = values.shape[-2:]
    left, low = length - 1 - plume.source[0], width - 1 - plume.source[1]
    out = np.zeros((*values.shape[:-2], 2 * length - 1, 2 * width - 1))
    out[..., left : left + length, low : low + width] = values
    return np.clip(out, floor, 1 - floor)


@dataclass(frozen=True, eq=False, repr=False)
class BeliefPolicy(SavedPolicy):
    """A policy that acts on a belief; see :class:`whiffclock.policy.Policy`."""

    FORMAT = "whiffclock belief policy 2"
    OLD_FORMATS = ("whiffclock belief policy 1",)

    name: str = field()  # without a default, though its base class has one
    model: GridSearch
    choose: Choice
    made_from: dict[str, Any] = field(default_factory=dict)
    vectors: GridVectors | None = None
    #: Probability of a whiff, float[move, previous observation, x, y]; None where whiffs are independent.
    conditional: np.ndarray | None = None

    def __post_init__(self) -> None:
        given, shape = self.conditional, (len(MOVES), 2, *self.model.target.shape)
        fits = given is None or (given.shape == shape and bool(((given >= 0) & (given <= 1)).all()))
        size = " x ".join(map(str, shape))
        require(fits, f"The conditional probabilities of a whiff must be {size} numbers between 0 and 1.")

    def __repr__(self) -> str:
        place = [] if self.threshold is None else [trained_in(self.made_from)]
        vectors = [] if self.vectors is None else [f"{len(self.vectors.actions())} alpha vectors"]
        belief = [] if self.conditional is None else ["conditional likelihoods"]
        return f"BeliefPolicy({', '.join([self.name, *place, *vectors, *belief])})"

    @property
    def at_once(self) -> int:
        """Searches whose beliefs fit into the memory for them: each has up to as many cells as the initial belief."""
        return max(1, _ROOM // (32 * int(np.count_nonzero(self.model.initial))))

    @cached_property
    def _chances(self) -> np.ndarray:
        """float32[row, cell]: likelihood of an observation, or of each after a move and the observation before."""
        if self.conditional is None:
            return self.model.chances
        both = np.stack([1 - self.conditional, self.conditional], axis=2)
        return np.ascontiguousarray(both.reshape(-1, self.model.target.size), dtype=np.float32)

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
        last = np.arange(len(beliefs))
        return self._decided(who, np.cumsum(size) - size, size, cells, weights.astype(np.float64), last)

    def act(self, memory: Beliefs) -> np.ndarray:
        """The action of each search's belief."""
        return memory.action[memory.who]

    def observe(self, memory: Beliefs, action: np.ndarray, whiff: np.ndarray) -> Beliefs:
        """Move the beliefs by ``action`` and update them by the observation."""
        history = (memory.who * len(MOVES) + action) * 2 + whiff
        different, who = np.unique(history, return_inverse=True)
        rest, observation = np.divmod(different, 2)
        parent, moved = np.divmod(rest, len(MOVES))
        row = observation if self.conditional is None else (moved * 2 + memory.last[parent]) * 2 + observation
        room = memory.size[parent]
        start = np.cumsum(room) - room
        size = np.empty_like(room)
        cells, weights = np.empty(room.sum(), dtype=np.int32), np.empty(room.sum())
        belief_kernels.advance_all(
            memory.start, memory.size, memory.cells, memory.weights, parent, moved, row,
            self.model.successor, self._chances, start, size, cells, weights,
        )  # fmt: skip
        if not size.all():  # empty belief: start again
            root = self.model.root()
            start, size = np.where(size > 0, start, len(cells)), np.where(size > 0, size, len(root.cells))
            cells, weights = np.append(cells, root.cells), np.append(weights, root.weights)
        return self._decided(who, start, size, cells, weights, observation)

    def select(self, memory: Beliefs, rows: np.ndarray) -> Beliefs:
        """The memory of some of the searches."""
        kept, who = np.unique(memory.who[rows], return_inverse=True)
        start, size, last, action = (part[kept] for part in (memory.start, memory.size, memory.last, memory.action))
        return Beliefs(who, start, size, memory.cells, memory.weights, last, action)

    def _decided(
        self, who: np.ndarray, start: np.ndarray, size: np.ndarray, cells: np.ndarray, weights: np.ndarray,
        last: np.ndarray,
    ) -> Beliefs:  # fmt: skip
        undecided = Beliefs(who, start, size, cells, weights, last, np.zeros(len(start), dtype=np.int8))
        return replace(undecided, action=self.choose(self.model, undecided))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Its model, and its alpha vectors if it has any."""
        arrays = {"header": self._header(discount=self.model.discount)}
        arrays |= {part: np.asarray(getattr(self.model, part)) for part in ("likelihood", "target", "initial", "moves")}
        if self.vectors is not None:
            arrays |= {"vectors": self.vectors.array(), "actions": self.vectors.actions().astype(np.int8)}
        return arrays if self.conditional is None else arrays | {"conditional": self.conditional}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], path: Path) -> BeliefPolicy:
        """Inverse of :meth:`to_arrays`, for the contents of ``path``."""
        known = format_of(arrays, path) in (cls.FORMAT, *cls.OLD_FORMATS)
        require(known, f"{path} is not a policy that acts on beliefs.")
        header = read_header(arrays, path, "whiffclock policy", _Header)
        with damaged_policy(path):
            convert(header.made_from, Origin, "its origin is wrong")
            model, conditional = _model(arrays, header.discount), None
            if "conditional" in arrays:
                conditional = array_named(arrays, "conditional", "f", (len(MOVES), 2, *model.target.shape), 0, 1)
            if header.name in HEURISTICS:
                return belief_heuristic(header.name, model, header.made_from, conditional)
            require(header.name == QUASI_OPTIMAL, f"there is no agent called {header.name!r}")
            actions = array_named(arrays, "actions", "iu", (None,), 0, len(MOVES) - 1)
            require(len(actions) > 0, "it has no alpha vectors")
            vectors = array_named(arrays, "vectors", "f", (len(actions), model.target.size))
            require(bool(np.isfinite(vectors).all()), "a vector has a value that is not finite")
            return quasi_optimal(model, GridVectors(model, vectors, actions), header.made_from, conditional)


class _Header(msgspec.Struct):
    """Header of a policy that acts on beliefs."""

    name: Name
    made_from: dict[str, Any]
    discount: Annotated[float, msgspec.Meta(gt=0, lt=1)]


def _model(arrays: dict[str, np.ndarray], discount: float) -> GridSearch:
    likelihood = array_named(arrays, "likelihood", "f", (2, None, None), 0, 1)
    target = array_named(arrays, "target", "b", likelihood.shape[1:])
    initial = array_named(arrays, "initial", "f", likelihood.shape[1:], 0, 1)
    moves = array_named(arrays, "moves", "iu", np.shape(MOVES))
    require(np.array_equal(moves, MOVES), "its moves are not those of a searcher")
    return GridSearch(likelihood, target, initial, MOVES, discount)


def quasi_optimal(
    model: GridSearch,
    vectors: Vectors,
    made_from: dict[str, Any] | None = None,
    conditional: np.ndarray | None = None,
) -> BeliefPolicy:
    """The policy of a solved search model, with a belief whose whiffs are independent or ``conditional``."""
    if not isinstance(vectors, GridVectors):
        raise InputError("A search policy needs vectors over the cells of a grid.")
    return BeliefPolicy(QUASI_OPTIMAL, model, by_vectors(vectors), made_from or {}, vectors, conditional)


def belief_heuristic(
    name: str, model: GridSearch, made_from: dict[str, Any] | None = None, conditional: np.ndarray | None = None
) -> BeliefPolicy:
    """One of :data:`HEURISTICS`, which need no solver."""
    require(name in HEURISTICS, f"There is no agent called {name!r}; there are {', '.join(HEURISTICS)}.")
    return BeliefPolicy(name, model, HEURISTICS[name], made_from or {}, conditional=conditional)


def qmdp(plume: Plume, threshold: str | float, *, world: WorldSettings | None = None, **model: Any) -> BeliefPolicy:
    """QMDP: a Bayesian agent that moves as if it would know its position after the next move.

    Parameters
    ----------
    plume
        The plume whose whiff probabilities the agent knows.
    threshold
        Name of an environment, or a concentration.
    world
        Source radius and starts.
    **model
        ``discount``, ``floor`` (smallest probability of a whiff, and of a blank) and ``likelihood`` (in the belief,
        whiffs are ``"independent"``, or ``"conditional"`` on the observation before).

    Returns
    -------
    BeliefPolicy

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.qmdp(wc.builtin_plume(), "sparse")
    BeliefPolicy(QMDP, sparse)
    """
    return _heuristic(QMDP, plume, threshold, world, model)


def infotaxis(
    plume: Plume,
    threshold: str | float,
    *,
    space_aware: bool = False,
    world: WorldSettings | None = None,
    **model: Any,
) -> BeliefPolicy:
    """Infotaxis: a Bayesian agent that makes the move after which it expects to know most about its position.

    Parameters
    ----------
    plume
        The plume whose whiff probabilities the agent knows.
    threshold
        Name of an environment, or a concentration.
    space_aware
        Count the distance to the source as well (space-aware infotaxis).
    world
        Source radius and starts.
    **model
        ``discount``, ``floor`` (smallest probability of a whiff, and of a blank) and ``likelihood`` (in the belief,
        whiffs are ``"independent"``, or ``"conditional"`` on the observation before).

    Returns
    -------
    BeliefPolicy

    Examples
    --------
    >>> import whiffclock as wc
    >>> plume = wc.builtin_plume()
    >>> agent = wc.infotaxis(plume, "denser")
    >>> agent
    BeliefPolicy(infotaxis, denser)
    >>> wc.search(agent, plume, (20, 13), horizon=3).moves
    3
    """
    return _heuristic(SPACE_AWARE if space_aware else INFOTAXIS, plume, threshold, world, model)


def _heuristic(
    name: str, plume: Plume, threshold: str | float, world: WorldSettings | None, settings: dict[str, Any]
) -> BeliefPolicy:
    world, assumed, at = plume.settle(world), BayesSettings(**settings), plume.environments.threshold_of(threshold)
    made_from = {"threshold": at, "plume": plume.fingerprint, "plume_origin": plume.origin}
    made_from |= {"world": world.to_dict(), "model": assumed.to_dict(), "version": __version__}
    model, conditional = search_model(plume, at, assumed, world), conditional_chances(plume, at, assumed)
    return belief_heuristic(name, model, made_from, conditional)


def discounted_rewards(policy: BeliefPolicy, steps: int = 500, seed: int = 0, repeats: int = 1) -> np.ndarray:
    """Discounted reward of searches in the world that the model describes, from every cell of the initial belief.

    Each cell is searched from ``repeats`` times. Where the initial belief is uniform, the mean is the value of the
    policy, to be compared with the bounds of the solver.
    """
    cells = np.repeat(policy.model.root().cells, repeats)
    reward = np.zeros(len(cells))
    for moment in search(policy, IndependentWorld(policy.model, cells, seed), steps):
        reward[moment.arrived] = arrival_reward(moment.step, policy.model.discount)
    return reward
