"""The tree of beliefs that sampling has reached, as arrays that grow.

A node is a belief that was visited: its bounds, and for every edge of its block the bounds of the child and
the vector that gives the lower one. Beliefs themselves are not kept: walks down the tree recompute them, so
a million nodes fit into a few hundred megabytes.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whiffclock.pomdp.deadline import NEVER, Deadline
from whiffclock.pomdp.model import Model, Spread, Upper, Vectors, grown

#: No walk is longer, and where beliefs learn from each other, none that plays the policy is longer than ``_PLAYED``:
#: with a discount near one, many short walks raise the lower bound faster than a few of thousands of steps.
DEEPEST, _PLAYED = 500, 100


class Tree:
    """Nodes, of which 0 is the ``root``, and edges; ``pick`` is the best vector known.

    ``seen_vectors`` and ``seen_upper`` say up to which stamp a node's edges were compared with vectors, and each
    action's edges with what the upper bound has learned. An edge without a node has the ``child`` -1. ``depth`` is the
    number of steps after which a reward counts a hundredth, or the most that is allowed; ``end`` says when
    walks must come to an end.
    """

    def __init__(self, model: Model, vectors: Vectors, upper: Upper, end: Deadline = NEVER) -> None:
        self.model, self.vectors, self.bound, self.end = model, vectors, upper, end
        self.size = self.edges_used = 0
        longest = _PLAYED if upper.interpolates else DEEPEST
        self.depth = min(longest, math.ceil(math.log(0.01) / math.log(model.discount)))
        self.first_edge = np.zeros(65, dtype=np.int64)
        self.lower, self.upper, self.edge_lower, self.edge_upper = np.empty((4, 64))
        self.block, self.pick, self.edge_pick, self.edge_block, self.child = np.empty((5, 64), dtype=np.int32)
        self.seen_vectors = np.empty(64, dtype=np.int64)
        self.seen_upper = np.empty((64, model.n_actions), dtype=np.int64)
        self._known: dict[bytes, int] = {}
        belief: Any = model.root()
        self.root = model.spread(belief)
        pick, lower = vectors.best(belief)
        self.add(self.root, lower, upper.at(belief), pick)

    @property
    def bytes(self) -> int:
        """Memory of the arrays."""
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        return sum(array.nbytes for array in arrays) + 120 * len(self._known)

    def late(self) -> bool:
        """Whether time is up."""
        return self.end.passed()

    def turning(self) -> Callable[[], bool]:
        """Says when a walk that begins now must turn back; backing up takes the other two thirds of the time."""
        return self.end.part(1 / 3).passed

    def gamma(self, node: int) -> float:
        """Discount of the step that leaves a node."""
        return 1.0 if node == 0 and self.model.looks_first else self.model.discount

    def edges_of(self, node: int) -> slice:
        """Positions of the edges of a node."""
        return slice(int(self.first_edge[node]), int(self.first_edge[node + 1]))

    def of_action(self, node: int, action: int) -> slice:
        """Positions of the edges of an action, relative to the node's first edge."""
        first = self.model.edges(int(self.block[node])).first
        return slice(int(first[action]), int(first[action + 1]))

    def find(self, belief: Any) -> int:
        """The node of an equal belief, or -1."""
        key = self.model.key(belief)
        return -1 if key is None else self._known.get(key, -1)

    def add(self, spread: Spread, lower: float, upper: float, pick: int) -> int:
        """A new node for a belief with these bounds and this vector."""
        node, first = self.size, self.edges_used
        end = first + len(spread.probability)
        self._grow(node + 1, end)
        self.block[node] = spread.belief.block
        self.first_edge[node + 1] = end
        self.lower[node], self.upper[node], self.pick[node] = lower, upper, pick
        self.seen_vectors[node], self.seen_upper[node] = 0, -1
        self.edge_lower[first:end], self.edge_upper[first:end] = -np.inf, np.inf
        self.edge_pick[first:end], self.child[first:end] = 0, -1
        self.edge_block[first:end] = self.model.edges(int(self.block[node])).block
        self.size, self.edges_used = node + 1, end
        key = self.model.key(spread.belief)
        if key is not None:
            self._known[key] = node
        self.bound.children(spread, -1, self.edge_upper[first:end])
        self.seen_upper[node] = 0
        return node

    def _grow(self, nodes: int, edges: int) -> None:
        self.first_edge = grown(self.first_edge, nodes + 1)
        for name in ("block", "lower", "upper", "pick", "seen_vectors", "seen_upper"):
            setattr(self, name, grown(getattr(self, name), nodes))
        for name in ("edge_lower", "edge_upper", "edge_pick", "child", "edge_block"):
            setattr(self, name, grown(getattr(self, name), edges))

    def action_values(self, node: int, spread: Spread, values: np.ndarray) -> np.ndarray:
        """Value of each action if the children have ``values``, an array over all edges."""
        first = self.model.edges(int(self.block[node])).first[:-1]
        worth = spread.probability * np.where(spread.probability > 0, values[self.edges_of(node)], 0.0)
        return spread.reward + self.gamma(node) * np.add.reduceat(worth, first)
