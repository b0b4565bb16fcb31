"""What the solver asks of a POMDP, whatever it is made of.

A belief lives in a *block*: a set of states that holds every belief the agent can have there. A model that
has nothing to observe for certain has one block; where something is fully observed (a robot's position),
blocks are small, and so are their alpha vectors. From a block, the possible steps are its *edges*, one per
action and observation, each of which leads into one block.

A :class:`Spread` is a belief together with all its children, computed at once. Solver, bounds and policies
work on spreads; only the model knows what is inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class Edges:
    """The possible steps from a block.

    Attributes
    ----------
    action, observation
        Of each edge, int64[edge]; sorted by action.
    block
        The block it leads to, int64[edge].
    first
        Position of each action's first edge, int64[action + 1].
    """

    action: np.ndarray
    observation: np.ndarray
    block: np.ndarray
    first: np.ndarray


@dataclass(frozen=True)
class Spread:
    """A belief and its children.

    Attributes
    ----------
    belief
        What was spread.
    reward
        Expected reward of each action, float64[action].
    probability
        Of each edge of the block, float64[edge].
    children
        The children, in the model's own form.
    """

    belief: Any
    reward: np.ndarray
    probability: np.ndarray
    children: Any


class Vectors(Protocol):
    """Alpha vectors of all blocks: the lower bound. Each vector has a number within its block."""

    def __len__(self) -> int:
        """Number of vectors in all blocks."""

    @property
    def first(self) -> int:
        """Number of vectors that each block began with; these stay."""

    @property
    def stamp(self) -> int:
        """Number of vectors ever added: what has been compared at this moment need not be compared again."""

    @property
    def bytes(self) -> int:
        """Memory used."""

    def actions(self, block: int) -> np.ndarray:
        """Action of each vector of a block."""

    def array(self, block: int) -> np.ndarray:
        """Vectors of a block, float[vector, state]."""

    def add(self, block: int, vector: np.ndarray, action: int) -> int:
        """Add a vector from elsewhere; returns its number."""

    def improve(self, spread: Spread, since: int, lower: np.ndarray, pick: np.ndarray) -> None:
        """Raise the lower bound of each child by the vectors that were added after ``since``."""

    def back_up(self, spread: Spread, action: int, pick: np.ndarray) -> int:
        """Add the vector that takes ``action`` and then follows ``pick[edge]``; returns its number."""

    def value(self, belief: Any, number: int) -> float:
        """Value of a belief by one vector of its block."""

    def best(self, belief: Any) -> tuple[int, float]:
        """Best vector for a belief, and its value."""

    def keep(self, kept: list[np.ndarray]) -> None:
        """Keep only these vectors (increasing numbers, one array per block)."""


class Upper(Protocol):
    """Upper bound of the value of any belief."""

    @property
    def interpolates(self) -> bool:
        """Whether what is learned of one belief says something of others."""

    @property
    def bytes(self) -> int:
        """Memory used."""

    def states(self, block: int) -> np.ndarray:
        """Upper bound of each state of a block, float64[state]."""

    def at(self, belief: Any) -> float:
        """Upper bound of one belief."""

    def children(self, spread: Spread, since: int, upper: np.ndarray, action: int | None = None) -> None:
        """Lower the upper bound of the children (of one action) by what was learned after ``since``.

        With ``since`` = -1 the children are new, and meet the first bound only.
        """

    @property
    def stamp(self) -> int:
        """Counts what was learned."""

    def learn(self, belief: Any, value: float) -> None:
        """The value of ``belief`` is at most ``value``."""


class Model(Protocol):
    """A POMDP as the solver sees it."""

    @property
    def discount(self) -> float:
        """Factor by which the next step counts less."""

    @property
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def looks_first(self) -> bool:
        """Whether the root is not a decision but a first look: one action, no reward, no discount."""

    def root(self) -> Any:
        """The initial belief."""

    def block(self, belief: Any) -> int:
        """Block of a belief."""

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""

    def edges(self, block: int) -> Edges:
        """Possible steps from a block."""

    def spread(self, belief: Any) -> Spread:
        """A belief and all its children."""

    def child(self, spread: Spread, edge: int) -> Any:
        """One child as a belief of its own."""

    def key(self, belief: Any) -> bytes | None:
        """Equal for equal beliefs; None where beliefs hardly ever meet again."""

    def entropy(self, belief: Any) -> float:
        """How uncertain a belief is, in bits."""

    def vectors(self) -> Vectors:
        """A first lower bound: blind policies."""

    def upper(self) -> Upper:
        """A first upper bound: the fully observed problem, or better."""
