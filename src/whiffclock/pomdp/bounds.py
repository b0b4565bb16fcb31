"""Bounds for tabular models.

Lower: alpha vectors, at first those of the blind policies that repeat one action for ever. Upper: at first
the fast informed bound (Hauskrecht 2000), which is never above the fully observed problem's; then the
sawtooth interpolation between beliefs whose bound is known to be lower. Both start on the safe side and are
iterated towards the solution, so that they are bounds wherever the iteration is ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whiffclock.kernels.alpha import back_up_block, informed_back_up, sawtooth
from whiffclock.pomdp.model import Spread

if TYPE_CHECKING:
    from whiffclock.pomdp.blocks import Block, BlockBelief, BlockModel

_SWEEPS = 2000
_CONVERGED = 1e-7
#: A point is learned where it lowers the interpolation by at least this share of the tooth's depth.
_WORTHWHILE = 1e-3


def _extreme(model: BlockModel, which: str) -> float:
    """A value that no policy can fall below, or exceed."""
    rewards = [getattr(block.reward, which)() for block in model.blocks]
    return float(getattr(np, which)(rewards)) / (1 - model.discount)


def blind_policies(model: BlockModel) -> list[np.ndarray]:
    """Values of repeating each action, one array [action, state] per block."""
    values = [np.full((model.n_actions, len(states)), _extreme(model, "min")) for states in model.states]
    for _ in range(_SWEEPS):
        new = [
            np.stack([_blind_step(model, block, values, a) for a in range(model.n_actions)])
            if len(block.reward) == model.n_actions
            else values[k]
            for k, block in enumerate(model.blocks)
        ]
        change = max(float(np.abs(a - b).max()) for a, b in zip(new, values, strict=True))
        values = new
        if change < _CONVERGED:
            break
    return values


def _blind_step(model: BlockModel, block: Block, values: list[np.ndarray], action: int) -> np.ndarray:
    of = slice(int(block.edges.first[action]), int(block.edges.first[action + 1]))
    following = np.zeros((of.stop - of.start, block.reach))
    for e, to in enumerate(block.edges.block[of]):
        following[e, : len(model.states[to])] = values[to][action]
    vector = np.empty(len(block.states))
    back_up_block(block.reward[action], block.start[of], block.column, block.entry, model.discount, following, vector)
    return vector


def fast_informed_bound(model: BlockModel) -> list[np.ndarray]:
    """Upper bounds Q(a, s), one array per block: the observation is known when the next action is chosen."""
    values = [np.full((len(block.reward), len(block.states)), _extreme(model, "max")) for block in model.blocks]
    for _ in range(_SWEEPS):
        new = [_informed_step(model, block, values) for block in model.blocks]
        change = max(float(np.abs(a - b).max()) for a, b in zip(new, values, strict=True))
        values = new
        if change < _CONVERGED:
            break
    return values


def _informed_step(model: BlockModel, block: Block, values: list[np.ndarray]) -> np.ndarray:
    following = np.zeros((len(block.start), model.n_actions, block.reach))
    for to, edges in block.groups:
        following[edges, :, : len(model.states[to])] = values[to]
    out = np.zeros_like(block.reward)
    sums = np.empty(model.n_actions)
    informed_back_up(block.start, block.column, block.entry, block.edges.action, following, sums, out)
    gamma = model.discount if len(block.reward) == model.n_actions else 1.0
    return block.reward + gamma * out


class BlockVectors:
    """Alpha vectors, a matrix per block."""

    def __init__(self, model: BlockModel) -> None:
        self._model = model
        self._matrix = blind_policies(model)
        self._actions = [np.arange(len(matrix)) for matrix in self._matrix]
        self._stamps = [np.zeros(len(matrix), dtype=np.int64) for matrix in self._matrix]
        self._used = [len(matrix) for matrix in self._matrix]
        self._added = 1

    def __len__(self) -> int:
        return sum(self._used)

    @property
    def stamp(self) -> int:
        """Counts the vectors added."""
        return self._added

    @property
    def bytes(self) -> int:
        """Memory of the vectors."""
        return sum(matrix.nbytes for matrix in self._matrix)

    def actions(self, block: int) -> np.ndarray:
        """Action of each vector of a block."""
        return self._actions[block][: self._used[block]]

    def array(self, block: int) -> np.ndarray:
        """Vectors of a block, float64[vector, state]."""
        return self._matrix[block][: self._used[block]]

    def add(self, block: int, vector: np.ndarray, action: int) -> int:
        """Add one vector to a block; returns its number."""
        number = self._used[block]
        if number == len(self._matrix[block]):
            for rows in (self._matrix, self._actions, self._stamps):
                rows[block] = np.concatenate(
                    [rows[block], np.empty_like(rows[block], shape=(number + 8, *rows[block].shape[1:]))]
                )
        self._matrix[block][number] = vector
        self._actions[block][number] = action
        self._stamps[block][number] = self._added
        self._used[block] += 1
        self._added += 1
        return number

    def improve(self, spread: Spread, since: int, lower: np.ndarray, pick: np.ndarray) -> None:
        """Raise each child's lower bound by the vectors added after ``since``."""
        for to, edges in self._model.blocks[spread.belief.block].groups:
            used = self._used[to]
            first = int(self._stamps[to][:used].searchsorted(since))
            if first == used:
                continue
            matrix = self._matrix[to][first:used]
            values = spread.children[edges, : matrix.shape[1]] @ matrix.T
            number = values.argmax(axis=1)
            value = values[np.arange(len(edges)), number]
            better = value > lower[edges]
            lower[edges[better]] = value[better]
            pick[edges[better]] = first + number[better]

    def back_up(self, spread: Spread, action: int, pick: np.ndarray) -> int:
        """Add the vector of ``action``, then ``pick``."""
        model, k = self._model, spread.belief.block
        block = model.blocks[k]
        of = slice(int(block.edges.first[action]), int(block.edges.first[action + 1]))
        following = np.zeros((of.stop - of.start, block.reach))
        for e, (to, number) in enumerate(zip(block.edges.block[of], pick[of], strict=True)):
            following[e, : self._matrix[to].shape[1]] = self._matrix[to][number]
        vector = np.empty(len(block.states))
        back_up_block(
            block.reward[action], block.start[of], block.column, block.entry, model.discount, following, vector
        )
        return self.add(k, vector, action)

    def value(self, belief: BlockBelief, number: int) -> float:
        """Inner product with one vector."""
        return float(self._matrix[belief.block][number] @ belief.weights)

    def best(self, belief: BlockBelief) -> tuple[int, float]:
        """Best vector for a belief, and its value."""
        values = self.array(belief.block) @ belief.weights
        number = int(values.argmax())
        return number, float(values[number])

    def keep(self, kept: list[np.ndarray]) -> None:
        """Keep only these vectors."""
        for k, chosen in enumerate(kept):
            for rows in (self._matrix, self._actions, self._stamps):
                rows[k] = rows[k][chosen]
            self._used[k] = len(chosen)


class BlockUpper:
    """The fast informed bound, and a sawtooth on it."""

    def __init__(self, model: BlockModel) -> None:
        self._model = model
        self._informed = fast_informed_bound(model)
        self._corner = [values.max(axis=0) for values in self._informed]
        self._points = [np.empty((8, len(states))) for states in model.states]
        self._depth = [np.empty(8) for _ in model.states]
        self._used = [0 for _ in model.states]
        self._known: dict[bytes, int] = {}
        self._log = [np.empty(8, dtype=np.int64) for _ in model.states]
        self._log_stamp = [np.empty(8, dtype=np.int64) for _ in model.states]
        self._logged = [0 for _ in model.states]
        self.stamp = 0

    def at(self, belief: BlockBelief) -> float:
        """Upper bound of one belief."""
        k = belief.block
        informed = float((self._informed[k] @ belief.weights).max())
        return min(informed, self._interpolated(k, belief.weights, np.arange(self._used[k]), np.inf))

    def _interpolated(self, k: int, weights: np.ndarray, which: np.ndarray, bound: float) -> float:
        flat = float(self._corner[k] @ weights)
        return flat + sawtooth(weights, self._points[k], self._depth[k], which, min(bound - flat, 0.0))

    def children(self, spread: Spread, since: int, upper: np.ndarray, action: int | None = None) -> None:
        """Lower the bounds of the children by what was learned after ``since`` (-1: everything)."""
        block = self._model.blocks[spread.belief.block]
        for to, edges in block.groups:
            which = np.arange(self._used[to]) if since < 0 else self._learned_since(to, since)
            if since >= 0 and not len(which):
                continue
            for e in edges:
                if spread.probability[e] <= 0 or (action is not None and block.edges.action[e] != action):
                    continue
                weights = spread.children[e, : len(self._corner[to])]
                if since < 0:
                    upper[e] = min(upper[e], float((self._informed[to] @ weights).max()))
                upper[e] = min(upper[e], self._interpolated(to, weights, which, float(upper[e])))

    def _learned_since(self, k: int, since: int) -> np.ndarray:
        logged = self._logged[k]
        return self._log[k][int(self._log_stamp[k][:logged].searchsorted(since, side="right")) : logged]

    def learn(self, belief: BlockBelief, value: float) -> None:
        """The value of ``belief`` is at most ``value``."""
        k = belief.block
        depth = value - float(self._corner[k] @ belief.weights)
        if depth >= 0:
            return
        key = self._model.key(belief)
        i = self._known.get(key, -1)
        if i >= 0:
            if depth > self._depth[k][i] * (1 + _WORTHWHILE):
                self._depth[k][i] = min(depth, self._depth[k][i])
                return
        else:
            i = self._known[key] = self._used[k]
            self._used[k] += 1
            self._points[k] = _room(self._points[k], i + 1)
            self._depth[k] = _room(self._depth[k], i + 1)
            self._points[k][i] = belief.weights
        self._depth[k][i] = depth
        self.stamp += 1
        n = self._logged[k]
        self._log[k], self._log_stamp[k] = _room(self._log[k], n + 1), _room(self._log_stamp[k], n + 1)
        self._log[k][n], self._log_stamp[k][n] = i, self.stamp
        self._logged[k] += 1


def _room(array: np.ndarray, size: int) -> np.ndarray:
    if size <= len(array):
        return array
    return np.concatenate([array, np.empty_like(array, shape=(len(array), *array.shape[1:]))])
