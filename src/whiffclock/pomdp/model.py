"""The interface between the solver and a POMDP.

A belief belongs to a *block*: a set of states that contains every belief the agent can have there. A model
without fully observed variables has one block; where something is fully observed (a robot's position),
blocks are small, and so are their alpha vectors. From a block, the possible steps are its *edges*, one per
action and observation, each of which leads into one block.

A :class:`Spread` is a belief together with all its children, computed at once. Solver, bounds and policies
work on spreads; only the model knows their form. There are two models, :class:`~gridsearch.GridSearch` and
:class:`~blocks.BlockModel`, and each has its own ``Vectors`` and ``Upper``. All have these methods.

Model
    ``root()``: the initial belief. ``edges(block)``: the possible steps. ``spread(belief)``: all its children;
    ``child(spread, edge)``: one of them as a belief of its own. ``key(belief)``: equal for beliefs that differ by
    rounding only, or None where two histories hardly ever lead to the same. ``vectors(until)``, ``upper(until)``:
    first bounds, looser ones if the deadline ``until`` has passed before they are solved.
Vectors, the lower bound: alpha vectors, numbered within their block
    ``array(block)``, ``actions(block)``: all vectors [vector, state], and their actions. ``add(block, vector,
    action)`` returns the new vector's number; so does ``back_up(spread, action, pick)``, which adds the vector of an
    action followed by those picked for each edge. ``improve(spread, since, lower, pick)``: raise each child's lower
    bound by the vectors added after ``since``. ``value(belief, number)``: inner product. ``best(belief)``: number
    and value of the best vector. ``used``: how many there are in each block. ``keep(kept)``: drop all others in some
    blocks; numbers by block. ``first``: number that are never dropped.
Upper, the upper bound
    ``states(block)``: of each state. ``at(belief)``: of one belief. ``children(spread, since, upper, action)``: lower
    those of all children, or an action's, by what was learned after ``since``, or if that is -1, by the first bound.
    ``learn(belief, value)``: the value is at most this. ``interpolates``: whether this lowers other bounds.

Both bounds count additions in a ``stamp``, so that nothing is compared twice. ``bytes`` is the memory they take.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from whiffclock.pomdp.blocks import BlockModel
    from whiffclock.pomdp.bounds import BlockUpper, BlockVectors
    from whiffclock.pomdp.gridsearch import GridSearch, GridUpper, GridVectors

Model: TypeAlias = "GridSearch | BlockModel"
Vectors: TypeAlias = "GridVectors | BlockVectors"
Upper: TypeAlias = "GridUpper | BlockUpper"


@dataclass(frozen=True)
class Edges:
    """The possible steps from a block: action, observation, and the block it leads to, each int64[edge].

    They are sorted by action; ``first`` is the position of each action's first edge, int64[action + 1].
    """

    action: np.ndarray
    observation: np.ndarray
    block: np.ndarray
    first: np.ndarray


@dataclass(frozen=True)
class Spread:
    """A belief and its children, which are in the model's own form.

    ``reward`` is the expected reward of each action, float64[action]; ``probability`` that of each edge of the
    block, float64[edge].
    """

    belief: Any
    reward: np.ndarray
    probability: np.ndarray
    children: Any


def entropy(weights: np.ndarray) -> float:
    """Entropy of a belief with these weights, in bits."""
    weights = weights[weights > 0]
    return float(-(weights * np.log2(weights)).sum())


def grown(array: np.ndarray, size: int) -> np.ndarray:
    """``array`` with room for at least ``size`` rows."""
    if size <= len(array):
        return array
    larger = np.empty((max(size, 8, len(array) * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
