"""Bounds for tabular models.

Lower: alpha vectors, at first those of the blind policies that repeat one action for ever. Upper: at first
the fast informed bound (Hauskrecht 2000), which is never above the fully observed problem's; then the
sawtooth interpolation between beliefs whose bound is known to be lower. The corners of the sawtooth, the bounds of
the certain states, are lowered as well. With w a lower bound on the value of any policy,

    V(e_s) <= (V(b) - (1 - b(s)) w) / b(s)    for every belief b,

since the policy that is best at e_s has a vector. This says something where b is nearly certain.

The first bounds are fixed points v = Hv of monotone operators with H(v + c) = Hv + discount * c. So, for any v,
v + min(Hv - v) / (1 - discount) is below the fixed point and v + max(Hv - v) / (1 - discount) above it (MacQueen 1966):
they are bounds however early the iteration ends.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from whiffclock.pomdp.alpha import back_up_block, informed_sweep, lower_children, observed_sweep
from whiffclock.pomdp.deadline import NEVER, Deadline
from whiffclock.pomdp.model import Spread, grown

if TYPE_CHECKING:
    from whiffclock.pomdp.blocks import BlockBelief, BlockModel

#: Sweeps before a system is solved directly, and ten times as many if it has more than ``_LARGEST`` unknowns.
_SWEEPS, _LARGEST = 100, 5000
#: Rounds of policy iteration, and how much nearer to its value each of them must come.
_ROUNDS, _NEARER = 100, 0.1
#: Seconds at the worst: a direct solution, over the cube of its unknowns; an entry in a sweep, per action.
_SLOWEST_SOLUTION, _SLOWEST_STEP = 1e-10, 4e-9
#: A point is learned where it lowers the interpolation by at least this share of the tooth's depth.
_WORTHWHILE = 1e-3
#: A corner is lowered by at least this share of its height above the worst value: all is compared again afterwards.
_CORNER = 1e-4


class Joint(NamedTuple):
    """All possible steps: entry i is T_a(s, s') O_a(s', o); sorted by action, state, observation.

    ``start[a * n + s]`` is the first entry of an action in a state.
    """

    start: np.ndarray
    observation: np.ndarray
    following: np.ndarray
    chance: np.ndarray


def blind_policies(model: BlockModel, until: Deadline = NEVER) -> np.ndarray:
    """Value of repeating each action for ever, float64[action, state], from below; looser if time is up."""
    tables, gamma = model.tables, model.discount
    values = np.empty(tables.reward.shape)
    for value, transition, reward in zip(values, tables.transition, tables.reward, strict=True):
        value[:] = fixed_rule(transition, reward, gamma, np.zeros(len(reward)), until)
        value += (reward + gamma * (transition @ value) - value).min() / (1 - gamma)
    return values


def fully_observed(model: BlockModel, until: Deadline = NEVER) -> np.ndarray:
    """Upper bounds Q, float64[action, state]: all is known from the next step on.

    By sweeps over all states, then by policy iteration.
    """
    tables, gamma = model.tables, model.discount
    step, n = sp.vstack(tables.transition, format="csr"), len(tables.states)
    value, accuracy = np.zeros(n), _accuracy(tables.reward)
    reward = np.ascontiguousarray(tables.reward)
    for i in range(_SWEEPS):
        change = observed_sweep(step.indptr, step.indices, step.data, reward, gamma, value, i % 2 == 1)
        if change < accuracy * (1 - gamma) or until.passed():
            break
    for _ in range(_ROUNDS):
        q = tables.reward + gamma * (step @ value).reshape(tables.reward.shape)
        change = q.max(axis=0) - value
        if (error := _error(change, gamma)) < accuracy or until.passed():
            break
        chosen = q.argmax(axis=0)
        rule = step[chosen * n + np.arange(n)], tables.reward[chosen, np.arange(n)]
        value = fixed_rule(*rule, gamma, value, until, max(accuracy, _NEARER * error))
    return q + gamma * change.max() / (1 - gamma)


def fast_informed_bound(model: BlockModel, until: Deadline = NEVER) -> np.ndarray:
    """Upper bounds Q, float64[state, action]: the next action knows the observation; looser if time is up."""
    tables, gamma, joint = model.tables, model.discount, model.joint
    bound = np.ascontiguousarray(fully_observed(model, until).T)
    reward, sums = np.ascontiguousarray(tables.reward), np.empty(model.n_actions)
    sweep = _SLOWEST_STEP * len(joint.chance) * model.n_actions
    for _ in range(_sweeps(bound.size)):
        if until.passed(sweep):
            return bound
        if informed_sweep(*joint, reward, gamma, sums, bound) < _accuracy(reward) * (1 - gamma):
            return bound
    if bound.size > _LARGEST:
        return bound
    return np.minimum(bound, _informed_by_rules(joint, reward, gamma, bound, until))


def _informed_by_rules(
    joint: Joint, reward: np.ndarray, gamma: float, bound: np.ndarray, until: Deadline
) -> np.ndarray:
    """The fast informed bound by policy iteration: a rule says which action follows each observation."""
    n, rules = len(bound), np.ones(len(joint.chance), dtype=bool)
    row = np.repeat(np.arange(reward.size), np.diff(joint.start))
    rules[1:] = (np.diff(row) != 0) | (np.diff(joint.observation) != 0)
    first, rule = np.flatnonzero(rules), np.cumsum(rules) - 1
    for _ in range(_ROUNDS):
        sums = np.add.reduceat(joint.chance[:, None] * bound[joint.following], first)
        following = np.bincount(row[first], sums.max(axis=1), minlength=bound.size).reshape(reward.shape)
        better = (reward + gamma * following).T
        change = better - bound
        if _error(change, gamma) < _accuracy(reward) or until.passed():
            break
        column = sums.argmax(axis=1)[rule] * n + joint.following
        step = sp.csr_array((joint.chance, (row, column)), shape=(bound.size,) * 2)
        bound = fixed_rule(step, reward.ravel(), gamma, bound.T.ravel(), until).reshape(reward.shape).T
    return better + gamma * change.max() / (1 - gamma)


def worst_value(model: BlockModel) -> float:
    """A lower bound on the value of every policy."""
    return float(model.tables.reward.min()) / (1 - model.discount)


def fixed_rule(
    step: sp.csr_array,
    reward: np.ndarray,
    gamma: float,
    value: np.ndarray,
    until: Deadline = NEVER,
    accuracy: float | None = None,
) -> np.ndarray:
    """Solve value = reward + gamma * step @ value from a guess, by sweeps; where these are slow, directly."""
    accuracy = _accuracy(reward) if accuracy is None else accuracy
    for _ in range(_sweeps(len(value))):
        change = reward + gamma * (step @ value) - value
        if _error(change, gamma) < accuracy:
            return value + change.mean() / (1 - gamma)
        value = value + change
        if until.passed():
            return value
    if len(value) > _LARGEST or until.passed(_SLOWEST_SOLUTION * len(value) ** 3):
        return value
    matrix = sp.csc_array(sp.eye_array(len(value)) - gamma * step)
    if matrix.nnz > matrix.shape[0] ** 2 // 10:
        return np.linalg.solve(matrix.toarray(), reward)
    return splu(matrix).solve(reward)


def _sweeps(unknowns: int) -> int:
    return _SWEEPS if unknowns <= _LARGEST else 10 * _SWEEPS


def _error(change: np.ndarray, gamma: float) -> float:
    """Largest error of a value, up to a constant, if a sweep changes it by ``change``."""
    return float(np.ptp(change)) / (1 - gamma)


def _accuracy(reward: np.ndarray) -> float:
    """Required accuracy of a solution."""
    return 1e-6 * max(1.0, float(np.abs(reward).max()))


class BlockVectors:
    """Alpha vectors, a matrix per block."""

    def __init__(self, model: BlockModel, until: Deadline = NEVER) -> None:
        self._model = model
        blind = blind_policies(model, until)
        self._matrix = [blind[:, states] for states in model.states]
        self._actions = [np.arange(len(matrix)) for matrix in self._matrix]
        self._stamps = [np.zeros(len(matrix), dtype=np.int64) for matrix in self._matrix]
        self.used = np.array([len(matrix) for matrix in self._matrix])
        self.bytes = sum(matrix.nbytes for matrix in self._matrix)
        self.stamp = 1
        self.first = model.n_actions

    def __len__(self) -> int:
        return int(self.used.sum())

    def actions(self, block: int) -> np.ndarray:
        return self._actions[block][: self.used[block]]

    def array(self, block: int) -> np.ndarray:
        return self._matrix[block][: self.used[block]]

    def add(self, block: int, vector: np.ndarray, action: int) -> int:
        number = int(self.used[block])
        self.bytes -= self._matrix[block].nbytes
        for rows, new in ((self._matrix, vector), (self._actions, action), (self._stamps, self.stamp)):
            rows[block] = grown(rows[block], number + 1)
            rows[block][number] = new
        self.bytes += self._matrix[block].nbytes
        self.used[block] += 1
        self.stamp += 1
        return number

    def improve(self, spread: Spread, since: int, lower: np.ndarray, pick: np.ndarray) -> None:
        for to, edges in self._model.block(spread.belief.block).groups:
            used = int(self.used[to])
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
        model, k = self._model, spread.belief.block
        block = model.block(k)
        start, stop = block.edges.first[action : action + 2].tolist()
        of, following = slice(start, stop), np.zeros((stop - start, block.reach))
        for e, (to, number) in enumerate(zip(block.edges.block[of], pick[of], strict=True)):
            following[e, : self._matrix[to].shape[1]] = self._matrix[to][number]
        vector, matrix = np.empty(len(block.states)), (block.first[start:], block.row, block.column, block.entry)
        back_up_block(block.reward[action], *matrix, model.discount, following, vector)
        return self.add(k, vector, action)

    def value(self, belief: BlockBelief, number: int) -> float:
        return float(self._matrix[belief.block][number] @ belief.weights)

    def best(self, belief: BlockBelief) -> tuple[int, float]:
        values = self.array(belief.block) @ belief.weights
        number = int(values.argmax())
        return number, float(values[number])

    def keep(self, kept: dict[int, np.ndarray]) -> None:
        for k, chosen in kept.items():
            self.bytes -= self._matrix[k].nbytes
            for rows in (self._matrix, self._actions, self._stamps):
                rows[k] = rows[k][chosen]
            self.bytes += self._matrix[k].nbytes
            self.used[k] = len(chosen)


class BlockUpper:
    """The fast informed bound, and a sawtooth on it.

    ``_log`` has the points of each block in the order in which they were learned, and ``_log_stamp`` when; both begin
    again whenever a corner is lowered, at ``_lowered``, since that changes all teeth.
    """

    interpolates = True

    def __init__(self, model: BlockModel, until: Deadline = NEVER) -> None:
        self._model = model
        informed = fast_informed_bound(model, until).T
        self._informed = [np.ascontiguousarray(informed[:, states]) for states in model.states]
        if model.looks_first:  # each outcome of the look may have another best action
            self._informed[model.root_block] = self._informed[model.root_block].max(axis=0, keepdims=True)
        self._corner = [values.max(axis=0) for values in self._informed]
        self._points = [np.empty((0, len(states))) for states in model.states]
        self._depth = [np.empty(0) for _ in model.states]
        self.bytes = 0
        self._used = [0 for _ in model.states]
        self._known: dict[bytes, int] = {}
        self._log: list[list[int]] = [[] for _ in model.states]
        self._log_stamp: list[list[int]] = [[] for _ in model.states]
        self._lowered = [0 for _ in model.states]
        self._worst = worst_value(model)
        self.stamp = 0

    def states(self, block: int) -> np.ndarray:
        return self._corner[block]

    def at(self, belief: BlockBelief) -> float:
        k, upper = belief.block, np.full(1, np.inf)
        first, points = (self._informed[k], self._corner[k]), (self._points[k], self._depth[k])
        known = np.arange(self._used[k])
        lower_children(belief.weights[None], np.arange(1), *first, *points, known, True, upper)
        return float(upper[0])

    def children(self, spread: Spread, since: int, upper: np.ndarray, action: int | None = None) -> None:
        block = self._model.block(spread.belief.block)
        for to, edges in block.groups:
            which, fresh = self._learned_since(to, since), since < self._lowered[to]
            if not fresh and not len(which):
                continue
            happen = spread.probability[edges] > 0
            if action is not None:
                happen &= block.edges.action[edges] == action
            first, points = (self._informed[to], self._corner[to]), (self._points[to], self._depth[to])
            lower_children(spread.children, edges[happen], *first, *points, which, fresh, upper)

    def _learned_since(self, k: int, since: int) -> np.ndarray:
        if since <= 0 or since < self._lowered[k]:
            return np.arange(0 if since < 0 else self._used[k])
        return np.array(self._log[k][bisect_right(self._log_stamp[k], since) :], dtype=np.int64)

    def learn(self, belief: BlockBelief, value: float) -> None:
        k = belief.block
        self._lower_corner(k, belief.weights, value)
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
            self.bytes += 100 - self._points[k].nbytes
            self._points[k] = grown(self._points[k], i + 1)
            self.bytes += self._points[k].nbytes
            self._depth[k] = grown(self._depth[k], i + 1)
            self._points[k][i] = belief.weights
        self._depth[k][i] = depth
        self.stamp += 1
        self._log[k].append(i)
        self._log_stamp[k].append(self.stamp)

    def _lower_corner(self, k: int, weights: np.ndarray, value: float) -> None:
        """Lower the corner of a block at the likeliest state of a belief with this value, if that is worthwhile.

        The values of all points stay; their depths are measured from the new corner.
        """
        corner, s = self._corner[k], int(weights.argmax())
        weight = float(weights[s])
        drop = float(corner[s]) - (value - (1 - weight) * self._worst) / weight
        if drop <= _CORNER * (float(corner[s]) - self._worst):
            return
        corner[s] -= drop
        np.minimum(self._informed[k][:, s], corner[s], out=self._informed[k][:, s])
        self._depth[k][: self._used[k]] += drop * self._points[k][: self._used[k], s]
        self._log[k], self._log_stamp[k] = [], []
        self.stamp += 1
        self._lowered[k] = self.stamp
