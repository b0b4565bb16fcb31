"""Many searches that are moved from outside: the kernels of the environments in :mod:`whiffclock.gym`.

Every search has random numbers of its own, so it does not matter which others there are. Arguments are few and plain
arrays, since Numba needs more time to unpack them than to move one search.

Layouts
-------
``state[COLUMN, i]`` (int64)
    x, y and snapshot; moves since the start; the clock (moves since the last whiff, or since just before the start);
    whether the search has ended; the counter of its random numbers.
``numbers[NUMBER]`` (int64)
    width of the grid and source region as in :class:`~whiffclock.world.episode.SourceRegion`; searches start at
    snapshots 0 to ``start_snapshots - 1``, on a whiff or anywhere, and end after ``horizon`` moves.
``recent[i, m]`` (int8)
    the last observations, the present one last; m may be 0.
``odor[i]`` (float32)
    the concentration, read from ``field[t, x, y]`` unless that is empty.
"""

from typing import NamedTuple

import numpy as np

from whiffclock.jit import kernel, without_runtime
from whiffclock.world import episode
from whiffclock.world.episode import SourceRegion, draw_start, smell, step
from whiffclock.world.moves import N_ACTIONS

PARTS = 7
X, Y, T, MOVES, CLOCK, ENDED, COUNTER = range(PARTS)
_WIDTH, _SOURCE_X, _SOURCE_Y, _RADIUS_SQUARED, _LAST_X, _START_SNAPSHOTS, _ON_WHIFF, _HORIZON = range(8)
_U = np.uint64
_I = np.int64

_kernel = kernel(calls=(episode.__file__,), **without_runtime())
_inlined = kernel(calls=(episode.__file__,), inline="always", **without_runtime())


class StartTimes(NamedTuple):
    """When searches start, for :func:`~whiffclock.world.episode.draw_start`."""

    start_snapshots: int
    start_on_whiff: bool


@_kernel
def region_of(numbers):
    """The source region."""
    return SourceRegion(
        numbers[_WIDTH], numbers[_SOURCE_X], numbers[_SOURCE_Y], numbers[_RADIUS_SQUARED], numbers[_LAST_X]
    )


@_kernel
def observe(state, recent, odor, field, i, whiff):
    """Keep what a search observes at its place."""
    state[CLOCK, i] = (state[CLOCK, i] + 1) & (_I(whiff) - 1)
    last = recent.shape[1] - 1
    if last >= 0:
        for k in range(last):
            recent[i, k] = recent[i, k + 1]
        recent[i, last] = whiff
    if field.shape[0] > 0:
        x, y = state[X, i], state[Y, i]
        inside = (_U(x) < _U(field.shape[1])) & (_U(y) < _U(field.shape[2]))
        odor[i] = field[state[T, i], x, y] if inside else np.float32(0)


@_kernel
def begin(whiffs, region, times, cells, field, state, recent, odor, i, drawn):
    """Begin a search at its place, or at one that is drawn."""
    if drawn:
        x, y, t, _, counter = draw_start(whiffs, region, cells, times, _U(state[COUNTER, i]))
        state[X, i], state[Y, i], state[T, i], state[COUNTER, i] = x, y, t, _I(counter)
    state[MOVES, i] = state[CLOCK, i] = state[ENDED, i] = 0
    for k in range(recent.shape[1]):
        recent[i, k] = 0
    observe(state, recent, odor, field, i, smell(whiffs, region, state[X, i], state[Y, i], state[T, i]))


@_kernel
def begin_some(whiffs, numbers, cells, field, state, recent, odor, which, drawn):
    """Begin the searches that are marked in ``which`` (bool[n])."""
    region, times = region_of(numbers), StartTimes(numbers[_START_SNAPSHOTS], numbers[_ON_WHIFF] == 1)
    for i in range(which.shape[0]):
        if which[i]:
            begin(whiffs, region, times, cells, field, state, recent, odor, i, drawn)


@_inlined  # as a call it makes the loop over all searches three times slower
def move(whiffs, region, horizon, field, state, recent, odor, i, action):
    """Move a search by one step; whether it is at the source, and whether it ends without."""
    x, y, t, there, whiff = step(whiffs, region, state[X, i], state[Y, i], state[T, i], action)
    moves = state[MOVES, i] + 1
    late = (moves == horizon) & (not there)
    state[X, i], state[Y, i], state[T, i], state[MOVES, i], state[ENDED, i] = x, y, t, moves, there | late
    observe(state, recent, odor, field, i, whiff)
    return there, late


@_kernel
def advance_one(whiffs, numbers, field, state, recent, odor, action):
    """Move the only search, which has not ended, by an action that exists; 1: at the source, 2: it ends without."""
    there, late = move(whiffs, region_of(numbers), numbers[_HORIZON], field, state, recent, odor, 0, action)
    return _I(there) + 2 * _I(late)


@_kernel
def advance(whiffs, numbers, cells, field, state, recent, odor, earned, action, reward, ends):
    """Move every search by one step; those that have ended begin again instead, without reward.

    Parameters
    ----------
    earned : float64[2]
        Reward of a move that does not enter the source region, and of one that does.
    action : int64[n]
    reward, ends : float64[n], bool[2, n]
        Filled: the reward; whether each search is at the source, and whether it ends without.

    Returns
    -------
    wrong : int
        The first search with an action that does not exist; nothing has moved then. -1: there is none.
    """
    region, times = region_of(numbers), StartTimes(numbers[_START_SNAPSHOTS], numbers[_ON_WHIFF] == 1)
    horizon = numbers[_HORIZON]
    for i in range(action.shape[0]):
        if _U(action[i]) >= _U(N_ACTIONS):
            return i
    for i in range(action.shape[0]):
        if state[ENDED, i]:
            begin(whiffs, region, times, cells, field, state, recent, odor, i, True)
            reward[i], ends[0, i], ends[1, i] = 0.0, False, False
        else:
            there, late = move(whiffs, region, horizon, field, state, recent, odor, i, action[i])
            reward[i], ends[0, i], ends[1, i] = earned[_I(there)], there, late
    return -1
