"""A tabular POMDP, divided into blocks.

Blocks (see :mod:`whiffclock.pomdp.model`) are found from the tables: all states that are possible after an action and
an observation belong together. What is fully observed thereby splits the states into small blocks, whether or not the
file says so (Ong, Png, Hsu and Lee 2010, call such models MOMDPs), and states that cannot be reached are left out.

An initial belief with more states than any later one has a block of its own. Where the model names fully observed
variables, these are seen before the first action, as in the reference solver: then the root is a first look
(:attr:`BlockModel.looks_first`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np

from whiffclock.params import require, require_memory
from whiffclock.pomdp.alpha import merge_classes, spread_block
from whiffclock.pomdp.bounds import BlockUpper, BlockVectors, Joint
from whiffclock.pomdp.deadline import NEVER, Deadline
from whiffclock.pomdp.model import Edges, Spread, Vectors
from whiffclock.pomdp.tabular import PartialVector, TabularModel, outcomes, ranges

_MOST_ACTIONS = 10_000


@dataclass(frozen=True)
class Block:
    """States of a block, and its edges as sparse matrices (layout in :mod:`whiffclock.pomdp.alpha`).

    ``groups`` lists, for each block that edges lead to, those edges.
    """

    states: np.ndarray
    reward: np.ndarray
    edges: Edges
    first: np.ndarray
    row: np.ndarray
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
    """A tabular POMDP in the form for the solver; the matrices of a block are computed on first use."""

    def __init__(self, tables: TabularModel) -> None:
        self.tables = tables
        self.discount = tables.discount
        self.n_actions = len(tables.actions)
        require(self.n_actions <= _MOST_ACTIONS, f"There are {self.n_actions} actions; the limit is {_MOST_ACTIONS}.")
        self.joint = joint_entries(tables)
        support = np.flatnonzero(tables.initial > 0)
        seen = np.zeros_like(support) if tables.visible is None else tables.visible[support]
        self._seeds = [support[seen == value] for value in np.unique(seen)]  # possible states by first look
        self.looks_first = len(self._seeds) > 1
        home = closed_classes(self.joint, self.n_actions, self._seeds, merge_seeds=tables.visible is not None)
        order = np.argsort(home, kind="stable")[np.count_nonzero(home < 0) :]
        size = np.bincount(home[order])
        self.states = np.split(order, np.cumsum(size)[:-1])
        first = home[support[0]]
        if self.looks_first or first < 0 or (home[support] != first).any():
            self.root_block = len(self.states)
            self.states.append(support)
        else:
            self.root_block = int(first)
        self._home, self._place = home, np.zeros(len(home), dtype=np.int32)
        self._place[order] = ranges(np.zeros_like(size), size)
        self.n_blocks = len(self.states)
        self._computed: dict[int, Block] = {}
        self.block(self.root_block)

    @property
    def megabytes(self) -> float:
        """Memory of the model."""
        parts = [(block.first, block.row, block.column, block.entry, block.reward) for block in self._computed.values()]
        return sum(array.nbytes for array in chain(self.joint, *parts)) / 1e6

    def block(self, k: int) -> Block:
        if k not in self._computed:
            looks = self.looks_first and k == self.root_block
            self._computed[k] = self._look() if looks else self._steps(self.states[k])
        return self._computed[k]

    def edges(self, block: int) -> Edges:
        return self.block(block).edges

    def meeting(self, states: np.ndarray) -> list[int]:
        """The blocks that may have all their states among ``states``."""
        home = np.unique(self._home[states])
        return sorted({*home[home >= 0].tolist(), self.root_block})

    def apart(self) -> tuple[list[int], list[int]]:
        """A block of the initial belief alone, if there is one; and the others, which have no states in common."""
        n = int(self._home.max()) + 1
        return list(range(n, self.n_blocks)), list(range(n))

    def root(self) -> BlockBelief:
        weights = self.tables.initial[self.states[self.root_block]]
        return BlockBelief(self.root_block, weights / weights.sum())

    def key(self, belief: BlockBelief) -> bytes:
        block = belief.block.to_bytes(4, "little")
        return blake2b(block + np.round(belief.weights, 9).tobytes(), digest_size=16).digest()

    def spread(self, belief: BlockBelief) -> Spread:
        block = self.block(belief.block)
        children = np.zeros((len(block.first) - 1, block.reach))
        probability = np.empty(len(children))
        matrices = block.first, block.row, block.column, block.entry
        spread_block(belief.weights, *matrices, children, probability)
        return Spread(belief, block.reward @ belief.weights, probability, children)

    def child(self, spread: Spread, edge: int) -> BlockBelief:
        target = int(self.edges(spread.belief.block).block[edge])
        return BlockBelief(target, spread.children[edge, : len(self.states[target])])

    def vectors(self, until: Deadline = NEVER) -> BlockVectors:
        return BlockVectors(self, until)

    def upper(self, until: Deadline = NEVER) -> BlockUpper:
        return BlockUpper(self, until)

    def _steps(self, own: np.ndarray) -> Block:
        """The block of the states ``own``: an edge for each action and observation that can happen in it."""
        tables, joint = self.tables, self.joint
        pairs = (np.arange(self.n_actions)[:, None] * len(tables.states) + own).ravel()
        count = joint.start[pairs + 1] - joint.start[pairs]
        mine, pair = ranges(joint.start[pairs], count), np.repeat(np.arange(len(pairs)), count)
        action, row = np.divmod(pair, len(own))
        outcome = action * len(tables.observations) + joint.observation[mine]
        order = np.argsort(outcome, kind="stable")
        mine, row, outcome = mine[order], row[order], outcome[order]
        begins = np.flatnonzero(np.diff(outcome, prepend=-1))
        action, observation = np.divmod(outcome[begins], len(tables.observations))
        following = joint.following[mine]
        first = np.searchsorted(action, np.arange(self.n_actions + 1))
        edges = Edges(action, observation, self._home[following[begins]], first)
        matrices = np.append(begins, len(mine)), row, self._place[following], joint.chance[mine]
        return self._packed(own, tables.reward[:, own], edges, matrices)

    def _look(self) -> Block:
        """The first look: one action without reward, which shows the fully observed variables."""
        own, seeds = self.states[-1], self._seeds
        target = np.array([self._home[seed[0]] for seed in seeds])
        row, column = np.searchsorted(own, np.concatenate(seeds)), self._place[np.concatenate(seeds)]
        first = np.cumsum([0, *(len(seed) for seed in seeds)])
        seen = np.array([self.tables.visible[seed[0]] for seed in seeds])  # type: ignore[index]
        edges = Edges(np.zeros_like(target), seen, target, np.array([0, len(seeds)]))
        return self._packed(own, np.zeros((1, len(own))), edges, (first, row, column, np.ones(len(own))))

    def _packed(self, own: np.ndarray, reward: np.ndarray, edges: Edges, matrices: tuple[np.ndarray, ...]) -> Block:
        first, row, column, entry = matrices
        order = np.argsort(edges.block, kind="stable")
        begins = np.flatnonzero(np.diff(edges.block[order], prepend=-1))
        targets = edges.block[order[begins]].tolist()
        reach = max(len(self.states[to]) for to in targets)
        n = len(order)
        require_memory(16 * n * reach, f"A belief over {len(own):,} states with {n:,} children over {reach:,}")
        groups = tuple(zip(targets, np.split(order, begins[1:]), strict=True))
        arrays = first.astype(np.int64), row.astype(np.int32), column.astype(np.int32), np.ascontiguousarray(entry)
        return Block(own, np.ascontiguousarray(reward), edges, *arrays, groups, reach)


def joint_entries(tables: TabularModel) -> Joint:
    """Everything that can happen: T_a(s, s') O_a(s', o), sorted by action, state, observation."""
    n, parts, counts = len(tables.states), [], []
    each = list(zip(tables.transition, tables.observation, strict=True))
    count = sum(int(np.diff(seen.indptr)[transition.indices].sum()) for transition, seen in each)
    require_memory(60 * count, f"A model with {count:,} ways to move and observe")
    for transition, seen in each:
        state, following, observation, chance = outcomes(transition, seen)
        place = (state * len(tables.observations) + observation) * n + following
        order = np.flatnonzero(chance > 0)
        if (np.diff(place) < 0).any():
            order = np.argsort(place, kind="stable")
            order = order[chance[order] > 0]
        counts.append(np.bincount(state[order], minlength=n))
        parts.append((observation[order].astype(np.int32), following[order].astype(np.int32), chance[order]))
    start = np.zeros(len(tables.actions) * n + 1, dtype=np.int64)
    np.cumsum(np.concatenate(counts), out=start[1:])
    return Joint(start, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def closed_classes(joint: Joint, n_actions: int, seeds: list[np.ndarray], *, merge_seeds: bool) -> np.ndarray:
    """The finest classes of states closed under every action and observation: class of each state, or -1.

    All states that are possible after a class, an action and an observation are in one class.
    """
    n = (len(joint.start) - 1) // n_actions
    ends = np.cumsum([len(seed) for seed in seeds])
    seen = np.full(int(joint.observation.max()) + 1, -1)
    reached, root = np.zeros(n, dtype=bool), np.arange(n)
    entries = joint.start, joint.observation, joint.following
    merge_classes(*entries, np.concatenate(seeds), ends, merge_seeds, seen, reached, root)
    home = np.full(n, -1)
    home[reached] = np.unique(root[reached], return_inverse=True)[1]
    return home


def to_pieces(model: BlockModel, vectors: Vectors) -> list[PartialVector]:
    """All vectors of all blocks, for a file; a first look needs none.

    Without visible variables a file's vectors span all states: then those of different blocks with the same action are
    joined, since a belief is in one block only. Each block has some for every action; the last ones are repeated.
    """
    blocks, rest = list(range(model.n_blocks)), list[int]()
    if model.looks_first:
        blocks.remove(model.root_block)
    elif model.tables.visible is None:
        blocks, rest = model.apart()
    pieces = [
        PartialVector(model.states[k], vector, action)
        for k in blocks
        for vector, action in zip(vectors.array(k), vectors.actions(k).tolist(), strict=True)
    ]
    states = np.concatenate([model.states[k] for k in rest]) if rest else np.empty(0)
    for action in range(model.n_actions) if rest else ():
        parts = [vectors.array(k)[vectors.actions(k) == action] for k in rest]
        for i in range(max(map(len, parts))):
            joined = np.concatenate([part[min(i, len(part) - 1)] for part in parts])
            pieces.append(PartialVector(states, joined, action))
    return pieces


def from_pieces(model: BlockModel, pieces: Sequence[PartialVector]) -> list[tuple[int, np.ndarray, int]]:
    """Vectors to start from, as (block, vector, action): each once, where it is defined on the whole block."""
    start, value = {}, np.full(len(model.tables.states), np.nan)
    for piece in pieces:
        value[piece.states] = piece.values
        for k in model.meeting(piece.states):
            part = value[model.states[k]]
            if not np.isnan(part).any():
                start[k, piece.action, part.tobytes()] = part
        value[piece.states] = np.nan
    return [(k, vector, action) for (k, action, _), vector in start.items()]
