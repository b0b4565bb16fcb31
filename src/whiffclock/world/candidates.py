"""Scores of candidate programs: the kernel behind the direct search over programs (:mod:`whiffclock.agents.programs`).

A change of a program concerns only the searches that reach a changed row. For every search, the rows at which it took a
decision are kept as bits; a candidate is scored by repeating the searches whose bits meet those of the change.

Most candidates are worse, and a few hundred searches show it. The searches are in random order; after 512 of them, then
1,024, 2,048, ..., a candidate is rejected if its mean reward in some group is too low by ``z`` standard errors.
"""

import numpy as np

from whiffclock.jit import kernel, without_runtime
from whiffclock.world import episode
from whiffclock.world.episode import remember, smell, step

_U = np.uint64
_I = np.int64

_kernel = kernel(calls=(episode.__file__,), **without_runtime())


@_kernel
def repeat_search(world, memory, actions, start, horizon, reached):
    """One search of a program: steps until the source, 0 on failure; sets the bits of the rows it ``reached``."""
    whiffs, region = world
    x, y, t = _I(start[0]), _I(start[1]), _I(start[2])
    whiff = smell(whiffs, region, x, y, t)
    node = _U(memory.first[whiff])
    row = _U(memory.row[node])
    for word in range(reached.shape[0]):
        reached[word] = _U(0)
    for steps in range(horizon):
        reached[row >> _U(6)] |= _U(1) << (row & _U(63))
        x, y, t, arrived, whiff = step(whiffs, region, x, y, t, _I(actions[row]))
        if arrived:
            return steps + 1
        node, row = remember(memory.onward, node, whiff)
    return 0


@_kernel
def too_low(level, sums, squares, seen, count, bar, z):
    """Whether the mean reward of some group would stay below the bar, by ``z`` standard errors."""
    for group in range(level.shape[0]):
        if seen[group] > 0:
            mean = sums[group] / seen[group]
            variance = max(squares[group] / seen[group] - mean * mean, 0.0)
            left = 1.0 - seen[group] / count[group]
            if level[group] + mean + z * np.sqrt(variance / seen[group] * left) < bar:
                return True
    return False


@_kernel
def attempt(world, memory, actions, points, group, reward, changed, bar, z, first_block, scores, work):
    """Score a candidate, and take it if the mean reward of every group is at least ``bar``.

    Parameters
    ----------
    actions : int8[row]
    points : int32[search, 3]
        Starts in random order.
    group : int64[search]
        The lowest mean reward of the groups is what counts.
    reward : float64[horizon + 1]
        By the number of steps until the source; ``reward[0]`` is that of a failure.
    changed : uint64[word]
        Bits of the rows that differ from the last program that was taken.
    scores : tuple
        Of the last program that was taken; changed in place with it: ``reached`` (uint64[search, word]), ``value``
        (float64[search]), ``level`` (float64[group], the mean of ``value``), ``count`` (int64[group]).
    work : tuple
        Work space: ``reached`` and ``value`` of the candidate, ``touched`` (int64[search]), ``sums``, ``squares``
        (float64[group]), ``seen`` (int64[group]).

    Returns
    -------
    taken : bool
    repeated : int
        Number of searches that were repeated.
    """
    reached, value, level, count = scores
    new_reached, new_value, touched, sums, squares, seen = work
    searches, words, horizon = points.shape[0], changed.shape[0], reward.shape[0] - 1
    for g in range(level.shape[0]):
        sums[g] = squares[g] = 0.0
        seen[g] = 0
    repeated = 0
    block = first_block
    for i in range(searches):
        concerned = _U(0)
        for word in range(words):
            concerned |= reached[i, word] & changed[word]
        g = group[i]
        seen[g] += 1
        if concerned != _U(0):
            new_value[i] = reward[repeat_search(world, memory, actions, points[i], horizon, new_reached[i])]
            difference = new_value[i] - value[i]
            sums[g] += difference
            squares[g] += difference * difference
            touched[repeated] = i
            repeated += 1
        if i + 1 == block:
            block *= 2
            if too_low(level, sums, squares, seen, count, bar, z):
                return False, repeated
    for g in range(level.shape[0]):
        if level[g] + sums[g] / count[g] < bar:
            return False, repeated
    for g in range(level.shape[0]):
        level[g] += sums[g] / count[g]
    for k in range(repeated):
        i = touched[k]
        value[i] = new_value[i]
        for word in range(words):
            reached[i, word] = new_reached[i, word]
    return True, repeated
