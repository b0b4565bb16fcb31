"""A tabular POMDP, taken apart into blocks.

A block is a set of states that holds every belief the agent can have while it is in it. The finest such
sets are found from the tables: all states that one action and observation may leave open belong together.
What is fully observed (a robot's position) thereby splits the states into small blocks, whether or not the
file says so (Ong, Png, Hsu and Lee 2010, call such models MOMDPs), and states that cannot be reached are left
out.

The initial belief may leave more open than any later one. Then it has a block of its own, beside the
others. Where the model names fully observed variables, these are seen before the first action, as in the
reference solver: then the root is a first look (:attr:`BlockModel.looks_first`).
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from whiffclock.pomdp.alpha import merge_classes, spread_block
from whiffclock.pomdp.bounds import BlockUpper, BlockVectors, Joint
from whiffclock.pomdp.model import Edges, Spread, Vectors
from whiffclock.pomdp.tabular import TabularModel, entries_of_rows, ranges


@dataclass(frozen=True)
class Block:
    """States of a block, and its edges as sparse matrices (layout in :mod:`whiffclock.pomdp.alpha`).

    ``groups`` lists, for each block that edges lead to, those edges.
    """

    states: np.ndarray
    reward: np.ndarray
    edges: Edges
    start: np.ndarray
    column: np.ndarray
    entry: np.ndarray
    groups: tuple[tuple[int, np.ndarray], ...]
    reach: int


@dataclass(frozen=True)
class BlockBelief:
    """A block, and the weights of its states."""

    block: int
    weights: np.ndarray


class BlockModel:
    """A tabular POMDP as the solver sees it."""

    def __init__(self, tables: TabularModel) -> None:
        self.tables = tables
        self.discount = tables.discount
        self.n_actions = len(tables.actions)
        self.joint = joint_entries(tables)
        seeds = _first_supports(tables)
        self.looks_first = len(seeds) > 1
        home = closed_classes(self.joint, seeds, merge_seeds=tables.visible is not None)
        order = np.argsort(home, kind="stable")
        self.states = np.split(order[home[order] >= 0], np.cumsum(np.bincount(home[home >= 0]))[:-1])
        support = np.sort(np.concatenate(seeds))
        first = home[support[0]]
        if self.looks_first or first < 0 or (home[support] != first).any():
            self.root_block = len(self.states)
            self.states.append(support)
        else:
            self.root_block = int(first)
        self._home, self._place = home, np.zeros(len(home), dtype=np.int64)
        for members in self.states[: home.max() + 1]:
            self._place[members] = np.arange(len(members))
        self.blocks = [
            self._look(seeds) if self.looks_first and k == self.root_block else self._steps(states)
            for k, states in enumerate(self.states)
        ]
        self.n_blocks = len(self.blocks)

    @property
    def megabytes(self) -> float:
        """Memory of the model."""
        arrays = [*self.joint, *(array for block in self.blocks for array in (block.start, block.column, block.entry))]
        return sum(array.nbytes for array in arrays) / 1e6

    def edges(self, block: int) -> Edges:
        return self.blocks[block].edges

    def root(self) -> BlockBelief:
        weights = self.tables.initial[self.states[self.root_block]]
        return BlockBelief(self.root_block, weights / weights.sum())

    def key(self, belief: BlockBelief) -> bytes:
        block = belief.block.to_bytes(4, "little")
        return blake2b(block + np.round(belief.weights, 9).tobytes(), digest_size=16).digest()

    def spread(self, belief: BlockBelief) -> Spread:
        block = self.blocks[belief.block]
        children = np.zeros((len(block.start), block.reach))
        probability = np.empty(len(block.start))
        spread_block(belief.weights, block.start, block.column, block.entry, children, probability)
        return Spread(belief, block.reward @ belief.weights, probability, children)

    def child(self, spread: Spread, edge: int) -> BlockBelief:
        target = int(self.edges(spread.belief.block).block[edge])
        return BlockBelief(target, spread.children[edge, : len(self.states[target])])

    def vectors(self) -> BlockVectors:
        return BlockVectors(self)

    def upper(self) -> BlockUpper:
        return BlockUpper(self)

    def _steps(self, own: np.ndarray) -> Block:
        """The block of the states ``own``: an edge for each action and observation that can happen in it."""
        tables, joint = self.tables, self.joint
        row = np.full(len(tables.states), -1)
        row[own] = np.arange(len(own))
        pairs = (np.arange(len(tables.actions))[:, None] * len(row) + own).ravel()
        mine = ranges(joint.start[pairs], joint.start[pairs + 1] - joint.start[pairs])
        outcome = joint.action[mine] * len(tables.observations) + joint.observation[mine]
        order = np.argsort(outcome, kind="stable")
        mine, outcome = mine[order], outcome[order]
        named, edge = np.unique(outcome, return_inverse=True)
        action, observation = np.divmod(named, len(tables.observations))
        following = joint.following[mine]
        target = np.empty(len(named), dtype=np.int64)
        target[edge] = self._home[following]
        slots = np.arange(len(named))[:, None] * len(own) + np.arange(len(own) + 1)
        start = np.searchsorted(edge * len(own) + row[joint.state[mine]], slots)
        edges = Edges(action, observation, target, np.searchsorted(action, np.arange(len(tables.actions) + 1)))
        return self._packed(own, tables.reward[:, own], edges, (start, self._place[following], joint.chance[mine]))

    def _look(self, seeds: list[np.ndarray]) -> Block:
        """The first look: one action without reward, which shows the fully observed variables."""
        own = self.states[-1]
        target = np.array([self._home[seed[0]] for seed in seeds])
        column = [np.searchsorted(self.states[to], seed) for seed, to in zip(seeds, target, strict=True)]
        start = np.stack([np.searchsorted(seed, np.append(own, own[-1] + 1)) for seed in seeds])
        start += np.cumsum([0] + [len(seed) for seed in seeds[:-1]])[:, None]
        seen = np.array([self.tables.visible[seed[0]] for seed in seeds])  # type: ignore[index]
        edges = Edges(np.zeros_like(target), seen, target, np.array([0, len(seeds)]))
        return self._packed(own, np.zeros((1, len(own))), edges, (start, np.concatenate(column), np.ones(len(own))))

    def _packed(self, own: np.ndarray, reward: np.ndarray, edges: Edges, matrices: tuple[np.ndarray, ...]) -> Block:
        start, column, entry = matrices
        targets = np.unique(edges.block)
        groups = tuple((int(to), np.flatnonzero(edges.block == to)) for to in targets)
        reach = max(len(self.states[to]) for to in targets)
        arrays = start.astype(np.int64), column.astype(np.int64), np.ascontiguousarray(entry)
        return Block(own, np.ascontiguousarray(reward), edges, *arrays, groups, reach)


def _first_supports(tables: TabularModel) -> list[np.ndarray]:
    """What the agent may hold possible before its first action: one set of states for each first look."""
    support = np.flatnonzero(tables.initial > 0)
    seen = np.zeros_like(support) if tables.visible is None else tables.visible[support]
    return [support[seen == value] for value in np.unique(seen)]


def joint_entries(tables: TabularModel) -> Joint:
    """Everything that can happen: T_a(s, s') O_a(s', o), sorted by action, state, observation."""
    n, parts = len(tables.states), []
    for a, (transition, seen) in enumerate(zip(tables.transition, tables.observation, strict=True)):
        moves = transition.tocoo()
        which, at = entries_of_rows(seen, moves.col)
        chance = moves.data[which] * seen.data[at]
        row, observation, column = moves.row.astype(np.int64)[which], seen.indices[at], moves.col[which]
        order = np.argsort((row * len(tables.observations) + observation) * n + column, kind="stable")
        order = order[chance[order] > 0]
        parts.append((row[order], np.full(len(order), a), observation[order], column[order], chance[order]))
    state, action, observation, following, chance = (np.concatenate(column) for column in zip(*parts, strict=True))
    start = np.zeros(len(tables.actions) * n + 1, dtype=np.int64)
    np.cumsum(np.bincount(action * n + state, minlength=len(start) - 1), out=start[1:])
    return Joint(start, state, action, observation.astype(np.int64), following.astype(np.int64), chance)


def closed_classes(joint: Joint, seeds: list[np.ndarray], *, merge_seeds: bool) -> np.ndarray:
    """The finest classes of states closed under every action and observation: class of each state, or -1.

    All states that a class leaves open after one action and observation are of one class.
    """
    n_actions = int(joint.action[-1]) + 1
    n = (len(joint.start) - 1) // n_actions
    ends = np.cumsum([len(seed) for seed in seeds])
    outcomes = np.full(n_actions * (int(joint.observation.max()) + 1), -1)
    reached, root = np.zeros(n, dtype=bool), np.arange(n)
    entries = joint.start, joint.observation, joint.following
    merge_classes(*entries, np.concatenate(seeds), ends, merge_seeds, outcomes, reached, root)
    home = np.full(n, -1)
    home[reached] = np.unique(root[reached], return_inverse=True)[1]
    return home


def worst_value(model: BlockModel) -> float:
    """What no policy can fall below."""
    return float(model.tables.reward.min()) / (1 - model.discount)


def to_table(model: BlockModel, vectors: Vectors) -> tuple[np.ndarray, np.ndarray]:
    """All vectors over all states, float64[vector, state], and their actions.

    A block's vector says nothing of states outside it: it is -inf there. Within a value of the visible
    variables that it covers in part, it has the worst value instead, which is a lower bound as well.
    """
    tables = model.tables
    rows, actions = [], []
    for k, states in enumerate(model.states):
        if model.looks_first and k == model.root_block:
            continue
        empty = np.full(len(tables.states), -np.inf)
        if tables.visible is not None:
            empty[np.isin(tables.visible, tables.visible[states])] = worst_value(model)
        table = np.tile(empty, (len(vectors.actions(k)), 1))
        table[:, states] = vectors.array(k)
        rows.append(table)
        actions.append(vectors.actions(k))
    return np.concatenate(rows), np.concatenate(actions)


def from_table(model: BlockModel, table: np.ndarray, actions: np.ndarray) -> list[tuple[int, np.ndarray, int]]:
    """Vectors to start from, as (block, vector, action): each where it says something of the whole block."""
    start = []
    for k, states in enumerate(model.states):
        part = table[:, states]
        whole = np.flatnonzero(np.isfinite(part).all(axis=1))
        start += [(k, part[i], int(actions[i])) for i in whole]
    return start
