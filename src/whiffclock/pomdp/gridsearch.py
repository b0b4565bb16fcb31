"""Search on a grid for a hidden target: a POMDP without tables.

The state is the searcher's position relative to the target. A move is a translation; at the border of the
grid a move off it stays (R15). Entering the target region ends the search, with a reward of 1; all other
rewards are 0. In each cell, each observation has its likelihood, independent of all others. So a belief is moved,
the mass in the target region removed, and the rest weighed by the likelihood of what was observed (R16).

Beliefs are lists of cells; the work is in :mod:`whiffclock.pomdp.belief`. Alpha vectors are in single
precision.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from whiffclock.params import require
from whiffclock.pomdp import belief as kernel
from whiffclock.pomdp.deadline import NEVER, Deadline
from whiffclock.pomdp.model import Edges, Spread
from whiffclock.pomdp.tabular import DISCOUNT, TabularModel

#: Cells with less than this share of a child's largest weight are left out when its best vector is looked for.
#: Values are not negative, so what is found is still a lower bound.
_NEGLIGIBLE = 1e-3

#: Memory for the blind policies, and for the first tiles of vectors, on grids where fewer are enough.
_BLIND_BYTES = 2**29


@dataclass(frozen=True)
class GridBelief:
    """Cells (flat numbers, int32[j]) and their weights (float32[j]), which sum to one; there is one block."""

    cells: np.ndarray
    weights: np.ndarray
    block: int = 0


@dataclass(frozen=True)
class GridSearch:
    """Search for a target on a grid of relative positions; the step that arrives has the full reward."""

    likelihood: np.ndarray  # of each observation in each cell, float[observation, x, y]
    target: np.ndarray  # cells of the target region, bool[x, y]
    initial: np.ndarray  # initial belief, float[x, y]
    moves: tuple[tuple[int, int], ...]  # displacement (x, y) of each action
    discount: float = 0.98
    looks_first: bool = False
    n_blocks: int = 1

    def __post_init__(self) -> None:
        grids = self.likelihood.shape[1:], self.target.shape, self.initial.shape
        require(0 < self.discount < 1, f"The discount is {self.discount:g}; {DISCOUNT}")
        on_one = self.likelihood.ndim == 3 and len(set(grids)) == 1
        where = "{}, {} and {}".format(*grids)
        require(on_one, f"Likelihoods, target and initial belief must be on one grid, not {where}.")
        chances = (self.likelihood >= 0).all() and np.allclose(self.likelihood.sum(axis=0), 1, atol=1e-5)
        require(bool(chances), "The likelihoods of a cell must be probabilities that sum to one.")
        require(bool(self.target.any()), "The target region is empty.")
        chances = (self.initial >= 0).all() and abs(self.initial[~self.target].sum() - 1) < 1e-5
        require(bool(chances), "The initial belief must be probabilities that sum to one outside the target region.")

    @property
    def n_actions(self) -> int:
        """Number of moves."""
        return len(self.moves)

    @cached_property
    def chances(self) -> np.ndarray:
        """Likelihoods by flat cell, float32[observation, cell]."""
        return np.ascontiguousarray(self.likelihood.reshape(len(self.likelihood), -1), dtype=np.float32)

    @cached_property
    def in_target(self) -> np.ndarray:
        """Target region by flat cell, bool[cell]."""
        return np.ascontiguousarray(self.target.ravel())

    @cached_property
    def successor(self) -> np.ndarray:
        """Cell that each move leads to, int32[cell, action]; -1 where it enters the target region."""
        width, height = self.target.shape
        x, y = np.divmod(np.arange(width * height), height)
        moved = [np.clip(x + dx, 0, width - 1) * height + np.clip(y + dy, 0, height - 1) for dx, dy in self.moves]
        cell = np.stack(moved, axis=1)
        return np.where(self.in_target[cell], -1, cell).astype(np.int32)

    @cached_property
    def _edges(self) -> Edges:
        action, observation = np.divmod(np.arange(self.n_actions * len(self.likelihood)), len(self.likelihood))
        first = np.arange(self.n_actions + 1) * len(self.likelihood)
        return Edges(action, observation, np.zeros_like(action), first)

    def edges(self, block: int) -> Edges:
        return self._edges

    def key(self, belief: GridBelief) -> bytes | None:
        return None

    def root(self) -> GridBelief:
        return self.belief(self.initial)

    def belief(self, weights: np.ndarray) -> GridBelief:
        """A belief from weights on the grid, float[x, y]; the target region's mass is removed."""
        flat = np.where(self.in_target, 0.0, weights.ravel())
        cells = np.flatnonzero(flat > 0).astype(np.int32)
        return GridBelief(cells, (flat[cells] / flat.sum()).astype(np.float32))

    def spread(self, belief: GridBelief) -> Spread:
        slot = np.full(self.target.size, -1, dtype=np.int32)
        room = min(self.target.size, len(belief.cells) * self.n_actions)
        cells, table = np.empty(room, dtype=np.int32), np.empty((room, len(self._edges.action)), dtype=np.float32)
        reward = np.empty(self.n_actions)
        space = slot, cells, table, reward
        rows = kernel.spread_belief(belief.cells, belief.weights, self.successor, self.chances, *space)
        children = cells[:rows], table[:rows]
        probability = np.einsum("ij->j", children[1], dtype=np.float64)  # as the sum over axis 0, and faster
        return Spread(belief, reward, probability, children)

    def child(self, spread: Spread, edge: int) -> GridBelief:
        cells, table = spread.children
        column = table[:, edge]
        there = column > 0
        return GridBelief(cells[there], column[there] / np.float32(spread.probability[edge]))

    def observe(self, belief: GridBelief, observation: int) -> GridBelief:
        """The belief after an observation without a move: the first of a search.

        An impossible observation changes nothing.
        """
        weights = belief.weights * self.chances[observation, belief.cells]
        total = weights.sum()
        return GridBelief(belief.cells, weights / total) if total > 0 else belief

    def tables(self) -> TabularModel:
        """The same search in tables: a state for each cell outside the target region, and one for having arrived.

        It has one more observation, which is made there.
        """
        free, n = np.flatnonzero(~self.in_target), len(self.likelihood)
        end, place = len(free), np.full(self.target.size + 1, len(free))
        place[free] = np.arange(end)
        here, ones = np.arange(end + 1), np.ones(end + 1)
        following = np.vstack([place[self.successor[free]], np.full(self.n_actions, end)])
        transition = tuple(sp.csr_array((ones, (here, to)), shape=(end + 1, end + 1)) for to in following.T)
        seen = np.zeros((end + 1, n + 1))
        seen[:end, :n], seen[end, n] = self.likelihood.reshape(n, -1).T[free], 1.0
        seen /= seen.sum(axis=1, keepdims=True)
        reward = np.hstack([(following[:end] == end).T, np.zeros((self.n_actions, 1))])
        initial = np.append(self.initial.ravel()[free], 0.0)
        x, y = np.divmod(free, self.target.shape[1]) - np.array(self.target.shape)[:, None] // 2
        cells = tuple(f"x{i}y{j}" for i, j in zip(x.tolist(), y.tolist(), strict=True))
        model = transition, (sp.csr_array(seen),) * self.n_actions, reward, initial / initial.sum()
        return TabularModel(*model, self.discount, states=(*cells, "arrived"))

    def vectors(self, until: Deadline = NEVER) -> "GridVectors":
        return GridVectors(self)

    def upper(self, until: Deadline = NEVER) -> "GridUpper":
        return GridUpper(self)

    @cached_property
    def distance(self) -> np.ndarray:
        """Fewest moves from each cell into the target region, float64[cell]."""
        return np.where(self.in_target, 0.0, 1 + np.log(np.maximum(self.known_value, 1e-300)) / np.log(self.discount))

    @cached_property
    def known_value(self) -> np.ndarray:
        """Value of each cell if the position were known, float64[cell]: discount ** (moves - 1)."""
        value = np.zeros(self.target.size)
        kernel.reach(self.successor, self.in_target, self.discount, value)
        return value

    @cached_property
    def known_value_after(self) -> np.ndarray:
        """The same after each move, discounted, float64[cell, action]; 1 where it enters the target region."""
        return np.where(self.successor < 0, 1.0, self.discount * self.known_value[self.successor])


class GridUpper:
    """The fully observed search as an upper bound.

    Moves are certain, so the fast informed bound is the same; interpolation between beliefs gains nothing.
    """

    stamp = 0
    interpolates = False
    bytes = 0

    def __init__(self, model: GridSearch) -> None:
        self._model, self._known_value = model, model.known_value

    def states(self, block: int = 0) -> np.ndarray:
        return np.where(self._model.in_target, np.inf, self._known_value)  # no belief contains the target region

    def at(self, belief: GridBelief) -> float:
        return float(self._known_value[belief.cells] @ belief.weights)

    def children(self, spread: Spread, since: int, upper: np.ndarray, action: int | None = None) -> None:
        if since >= 0:
            return
        cells, table = spread.children
        valued = self._known_value[cells] @ table
        known = spread.probability > 0
        upper[known] = np.minimum(upper[known], valued[known] / spread.probability[known])

    def learn(self, belief: GridBelief, value: float) -> None:
        """Do nothing: this bound does not interpolate."""


class GridVectors:
    """Alpha vectors over all cells, tiled for the kernel: blind policies, or given ones with their actions."""

    def __init__(self, model: GridSearch, vectors: np.ndarray | None = None, actions: np.ndarray | None = None) -> None:
        self._model = model
        tiles = 4 if 4 * 4 * kernel.LANES * model.target.size <= _BLIND_BYTES else 1
        self._tiles = np.zeros((tiles, model.target.size, kernel.LANES), dtype=np.float32)
        self._actions = np.zeros(0, dtype=np.int64)
        self._stamps = np.zeros(0, dtype=np.int64)
        self.stamp = self.first = 0
        if vectors is None or actions is None:
            self._start_blind()
        else:
            for vector, action in zip(vectors, actions, strict=True):
                self.add(0, vector, int(action))

    def _start_blind(self) -> None:
        """Blind policies: go one way for ever, or some cells to one side and then one way for ever.

        From every cell, one of these arrives, so every belief has a positive value.
        """
        model = self._model
        for action in range(model.n_actions):
            value = np.zeros(model.target.size)
            kernel.reach(model.successor[:, action : action + 1], model.in_target, model.discount, value)
            self.add(0, value, action)
            for side, (dx, dy) in enumerate(model.moves):
                if dx == 0 and model.moves[action][0] != 0:
                    self._start_sideways(value, side, abs(dy))
        self.first = len(self)

    def _start_sideways(self, value: np.ndarray, side: int, cells: int) -> None:
        """Some moves of ``cells`` cells to one side, then the blind policy with this value.

        Where vectors are so large that these would fill the memory, there are fewer, but enough for the target region.
        """
        model = self._model
        moves = model.target.shape[1] // (2 * cells)
        room = _BLIND_BYTES // (4 * 4 * model.target.size)  # two ways to go, two sides; four bytes
        breadth = int(np.ptp(np.nonzero(model.target)[1])) + 1
        every = min(-(-moves // max(room, 1)), max(breadth // cells, 1))
        following = np.ascontiguousarray(model.successor[:, side])
        for n in range(1, moves + 1):
            before, value = value, np.empty_like(value)
            kernel.value_before(following, model.in_target, model.discount, before, value)
            if (moves - n) % every == 0:
                self.add(0, value, side)

    def __len__(self) -> int:
        return len(self._actions)

    @property
    def used(self) -> np.ndarray:
        return np.array([len(self)])

    @property
    def bytes(self) -> int:
        return self._tiles.nbytes

    def actions(self, block: int = 0) -> np.ndarray:
        return self._actions

    def array(self, block: int = 0) -> np.ndarray:
        return self._tiles.transpose(0, 2, 1).reshape(-1, self._model.target.size)[: len(self)]

    def add(self, block: int, vector: np.ndarray, action: int) -> int:
        number = self._reserve(action)
        self._tiles[number // kernel.LANES, :, number % kernel.LANES] = vector
        return number

    def _reserve(self, action: int) -> int:
        number = len(self)
        if number == len(self._tiles) * kernel.LANES:
            # In place: a second copy of all vectors would be the largest thing in memory.
            self._tiles.resize((len(self._tiles) * 9 // 8 + 1, *self._tiles.shape[1:]), refcheck=False)
        self._actions = np.append(self._actions, action)
        self._stamps = np.append(self._stamps, self.stamp)
        self.stamp += 1
        return number

    def improve(self, spread: Spread, since: int, lower: np.ndarray, pick: np.ndarray) -> None:
        first = int(self._stamps.searchsorted(since))
        if first >= len(self):
            return
        before = (np.where(spread.probability > 0, lower, 0.0) * spread.probability).astype(np.float32)
        best = before.copy()
        cells, table = spread.children
        self._compare(first, cells, table, best, pick)
        better = best > before
        lower[better] = best[better] / spread.probability[better]

    def _compare(self, first: int, cells: np.ndarray, table: np.ndarray, best: np.ndarray, pick: np.ndarray) -> None:
        """Best of the vectors from ``first`` on for each column of ``table``, where it beats ``best``."""
        children = table.shape[1]
        rows = np.empty(len(cells), dtype=np.int32)
        n = kernel.main_rows(table, np.float32(_NEGLIGIBLE), np.empty(children, dtype=np.float32), rows)
        sums = np.empty((children, kernel.LANES), dtype=np.float32)
        kernel.best_vectors(self._tiles, first, len(self), cells, table, rows[:n], sums, best, pick)

    def back_up(self, spread: Spread, action: int, pick: np.ndarray) -> int:
        model, number, first = self._model, self._reserve(action), self._model.edges(0).first
        chosen = pick[first[action] : first[action + 1]]
        step = model.successor, model.chances, np.float32(model.discount), model.in_target
        kernel.back_up(self._tiles, chosen, action, *step, number)
        return number

    def value(self, belief: GridBelief, number: int) -> float:
        return float(kernel.value_of(self._tiles, number, belief.cells, belief.weights))

    def best(self, belief: GridBelief) -> tuple[int, float]:
        best, pick = np.full(1, -np.inf, dtype=np.float32), np.zeros(1, dtype=np.int64)
        self._compare(0, belief.cells, belief.weights[:, None], best, pick)
        return int(pick[0]), self.value(belief, int(pick[0]))

    def choose(
        self, start: np.ndarray, size: np.ndarray, cells: np.ndarray, weights: np.ndarray, negligible: float
    ) -> np.ndarray:
        """Best vector of many beliefs, which may share cells (layout in :mod:`whiffclock.pomdp.belief`)."""
        room = int(size.sum())
        main_cells, main_weights = np.empty(room, dtype=cells.dtype), np.empty(room, dtype=np.float32)
        main = np.empty_like(start), np.empty_like(size), main_cells, main_weights
        kernel.main_cells(start, size, cells, weights, negligible, *main)
        best, index = np.full(len(start), -np.inf, dtype=np.float32), np.zeros(len(start), dtype=np.int64)
        sums = np.empty(kernel.LANES, dtype=np.float32)
        kernel.choose_vectors(self._tiles, len(self), *main, sums, best, index)
        return index

    def keep(self, kept: dict[int, np.ndarray]) -> None:
        if not kept:
            return
        chosen = kept[0]
        for number, old in enumerate(chosen):  # in place; the room of the others is reused
            if number != old:
                lanes = self._tiles[old // kernel.LANES, :, old % kernel.LANES]
                self._tiles[number // kernel.LANES, :, number % kernel.LANES] = lanes
        self._actions, self._stamps = self._actions[chosen], self._stamps[chosen]
