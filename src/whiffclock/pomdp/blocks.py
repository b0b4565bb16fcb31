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

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from whiffclock.kernels.alpha import spread_block
from whiffclock.pomdp.bounds import BlockUpper, BlockVectors
from whiffclock.pomdp.model import Edges, Spread
from whiffclock.pomdp.tabular import TabularModel


@dataclass(frozen=True)
class Block:
    """States of a block, and its edges as sparse matrices (layout in :mod:`whiffclock.kernels.alpha`).

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
        seeds, self.looks_first = _first_supports(tables)
        classes, home = _closed_classes(tables, seeds)
        self.states = [*classes]
        first_look: list[tuple[int, float]] = []
        if self.looks_first:
            first_look = [(int(home[seed[0]]), float(tables.initial[seed].sum())) for seed in seeds]
            self.states.append(np.flatnonzero(tables.initial > 0))
            self._root_block = len(classes)
        else:
            (support,) = seeds
            inside = home[support[0]] >= 0 and bool((home[support] == home[support[0]]).all())
            self._root_block = int(home[support[0]]) if inside else len(classes)
            if not inside:
                self.states.append(support)
        self.blocks = [
            _look(tables, self.states, seeds, first_look)
            if self.looks_first and k == self._root_block
            else _block(tables, self.states, states, home)
            for k, states in enumerate(self.states)
        ]

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    def edges(self, block: int) -> Edges:
        """Possible steps from a block."""
        return self.blocks[block].edges

    def block(self, belief: BlockBelief) -> int:
        """Block of a belief."""
        return belief.block

    def root(self) -> BlockBelief:
        """The initial belief."""
        weights = self.tables.initial[self.states[self._root_block]]
        return BlockBelief(self._root_block, weights / weights.sum())

    def key(self, belief: BlockBelief) -> bytes:
        """Equal for beliefs that differ by rounding only."""
        return belief.block.to_bytes(4, "little") + np.round(belief.weights, 9).tobytes()

    def spread(self, belief: BlockBelief) -> Spread:
        """A belief and all its children, float64[edge, state]."""
        block = self.blocks[belief.block]
        children = np.zeros((len(block.start), block.reach))
        probability = np.empty(len(block.start))
        spread_block(belief.weights, block.start, block.column, block.entry, children, probability)
        return Spread(belief, block.reward @ belief.weights, probability, children)

    def child(self, spread: Spread, edge: int) -> BlockBelief:
        """One child as a belief of its own."""
        target = int(self.blocks[spread.belief.block].edges.block[edge])
        return BlockBelief(target, spread.children[edge, : len(self.states[target])])

    def vectors(self) -> BlockVectors:
        """The blind policies."""
        return BlockVectors(self)

    def upper(self) -> BlockUpper:
        """The fast informed bound."""
        return BlockUpper(self)


def _first_supports(tables: TabularModel) -> tuple[list[np.ndarray], bool]:
    """What the agent may hold possible before its first action, and whether it looks first."""
    support = np.flatnonzero(tables.initial > 0)
    if tables.visible is None:
        return [support], False
    seen = [support[tables.visible[support] == value] for value in np.unique(tables.visible[support])]
    return seen, len(seen) > 1


def _closed_classes(tables: TabularModel, seeds: list[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """Finest classes of states closed under every action and observation; the class of each state, or -1."""
    n = len(tables.states)
    parent = np.arange(n)
    reached = np.zeros(n, dtype=bool)

    def find(s: int) -> int:
        while parent[s] != s:
            parent[s] = parent[parent[s]]
            s = int(parent[s])
        return s

    observable = [o.tocsc() for o in tables.observation]

    def together(group: np.ndarray) -> bool:
        roots = {find(int(s)) for s in group}
        changed = len(roots) > 1 or not reached[group].all()
        reached[group] = True
        top = min(roots)
        for root in roots:
            parent[root] = top
        return changed

    pending = [*seeds]
    if tables.visible is not None:
        for seed in seeds:
            together(seed)
    while pending:
        group = pending.pop()
        for transition, seen in zip(tables.transition, observable, strict=True):
            to = np.unique(transition[group].indices)
            open_after = sp.csc_array(seen[to])
            for o in range(open_after.shape[1]):
                candidates = to[open_after.indices[open_after.indptr[o] : open_after.indptr[o + 1]]]
                if len(candidates) and together(candidates):
                    top = find(int(candidates[0]))
                    pending.append(np.array([s for s in range(n) if reached[s] and find(s) == top]))
    home = np.array([find(s) if reached[s] else -1 for s in range(n)])
    tops = np.unique(home[reached])
    number = np.full(n + 1, -1)
    number[tops] = np.arange(len(tops))
    home = number[home]
    return [np.flatnonzero(home == k) for k in range(len(tops))], home


def _block(tables: TabularModel, states: list[np.ndarray], own: np.ndarray, home: np.ndarray) -> Block:
    """The edges of one block."""
    place = np.full(len(tables.states), -1)
    for members in states[: home.max() + 1]:
        place[members] = np.arange(len(members))
    action, observation, target, matrices = [], [], [], []
    for a, (transition, seen) in enumerate(zip(tables.transition, tables.observation, strict=True)):
        rows = sp.csc_array(transition[own])
        by_observation = seen.tocsc()
        for o in range(seen.shape[1]):
            chance = by_observation[:, [o]].toarray().ravel()
            joint = rows.copy()
            joint.data = joint.data * np.repeat(chance, np.diff(joint.indptr))
            joint.eliminate_zeros()
            if joint.nnz:
                to = int(home[joint.tocoo().col[0]])
                action.append(a)
                observation.append(o)
                target.append(to)
                matrices.append(joint[:, states[to]].tocsr())
    return _packed(own, tables.reward[:, own], action, observation, target, matrices)


def _look(
    tables: TabularModel, states: list[np.ndarray], seeds: list[np.ndarray], first_look: list[tuple[int, float]]
) -> Block:
    """The first look: one action without reward, which shows the fully observed variables."""
    own = states[-1]
    matrices = []
    for seed, (to, _) in zip(seeds, first_look, strict=True):
        rows, columns = np.searchsorted(own, seed), np.searchsorted(states[to], seed)
        shape = len(own), len(states[to])
        matrices.append(sp.csr_array((np.ones(len(seed)), (rows, columns)), shape=shape))
    target = [to for to, _ in first_look]
    observation = [int(tables.visible[seed[0]]) for seed in seeds]  # type: ignore[index]
    return _packed(own, np.zeros((1, len(own))), [0] * len(target), observation, target, matrices)


def _packed(
    own: np.ndarray,
    reward: np.ndarray,
    action: list[int],
    observation: list[int],
    target: list[int],
    matrices: list[sp.csr_array],
) -> Block:
    offsets = np.cumsum([0, *(m.nnz for m in matrices)])
    start = np.stack([m.indptr + offset for m, offset in zip(matrices, offsets, strict=False)]).astype(np.int64)
    targets = np.array(target)
    edges = Edges(
        np.array(action), np.array(observation), targets, np.searchsorted(np.array(action), np.arange(len(reward) + 1))
    )
    return Block(
        states=own,
        reward=np.ascontiguousarray(reward),
        edges=edges,
        start=start,
        column=np.concatenate([m.indices for m in matrices]).astype(np.int64),
        entry=np.concatenate([m.data for m in matrices]),
        groups=tuple((int(to), np.flatnonzero(targets == to)) for to in np.unique(targets)),
        reach=max(m.shape[1] for m in matrices),
    )
