"""Many searches that are moved from outside: the kernels of the environments in :mod:`whiffclock.gym`.

Every search has random numbers of its own, so it does not matter which others there are.
"""

from typing import NamedTuple

import numpy as np

from whiffclock.jit import kernel, without_runtime
from whiffclock.world import episode
from whiffclock.world.episode import draw_start, smell, step
from whiffclock.world.moves import N_ACTIONS

_U = np.uint64
_I = np.int64

_kernel = kernel(calls=(episode.__file__,), **without_runtime())


class Beginnings(NamedTuple):
    """Where and when searches start, if they are not told to."""

    cells: np.ndarray  # int32[m, 2]
    start_on_whiff: bool
    start_snapshots: int  # starts are drawn from snapshots 0 .. start_snapshots - 1


class Searches(NamedTuple):
    """The state of n searches; kernels change it in place."""

    place: np.ndarray  # int64[n, 3]: x, y and snapshot
    moves: np.ndarray  # int64[n], since the start
    clock: np.ndarray  # int64[n]: moves since the last whiff, or since just before the start
    ended: np.ndarray  # bool[n]
    counter: np.ndarray  # uint64[n], of the random numbers of each
    recent: np.ndarray  # int8[n, m]: the last m observations, the present one last; m may be 0
    odor: np.ndarray  # float32[n]: the concentration, if there is a field to read it from


@_kernel
def observe(searches, field, i, whiff):
    """Keep what a search observes at its place."""
    searches.clock[i] = (searches.clock[i] + 1) & (_I(whiff) - 1)
    recent, last = searches.recent, searches.recent.shape[1] - 1
    if last >= 0:
        for k in range(last):
            recent[i, k] = recent[i, k + 1]
        recent[i, last] = whiff
    if field.shape[0] > 0:
        x, y, t = searches.place[i, 0], searches.place[i, 1], searches.place[i, 2]
        inside = (_U(x) < _U(field.shape[1])) & (_U(y) < _U(field.shape[2]))
        searches.odor[i] = field[t, x, y] if inside else np.float32(0)


@_kernel
def begin(world, beginnings, searches, field, i, drawn):
    """Begin a search at its place, or at one that is drawn."""
    whiffs, region = world
    place = searches.place
    if drawn:
        found = draw_start(whiffs, region, beginnings.cells, beginnings, searches.counter[i])
        place[i, 0], place[i, 1], place[i, 2], _, searches.counter[i] = found
    searches.moves[i] = searches.clock[i] = 0
    searches.ended[i] = False
    for k in range(searches.recent.shape[1]):
        searches.recent[i, k] = 0
    observe(searches, field, i, smell(whiffs, region, place[i, 0], place[i, 1], place[i, 2]))


@_kernel
def begin_some(world, beginnings, searches, field, which, drawn):
    """Begin the searches that are marked in ``which`` (bool[n])."""
    for i in range(which.shape[0]):
        if which[i]:
            begin(world, beginnings, searches, field, i, drawn)


@_kernel
def advance(world, beginnings, searches, field, earned, horizon, action, reward, arrived, late):
    """Move every search by one step; those that have ended begin again instead, without reward.

    Parameters
    ----------
    field : float32[t, x, y]
        Concentrations; empty where searches do not observe them.
    earned : float64[2]
        Reward of a move that does not enter the source region, and of one that does.
    horizon : int
        A search ends after so many moves.
    action : int64[n]
    reward, arrived, late : float64[n], bool[n], bool[n]
        Filled: reward, whether each search is at the source, whether it ends without.

    Returns
    -------
    wrong : int
        The first search with an action that does not exist; nothing has moved then. -1: there is none.
    """
    whiffs, region = world
    place, moves = searches.place, searches.moves
    for i in range(action.shape[0]):
        if _U(action[i]) >= _U(N_ACTIONS):
            return i
    for i in range(action.shape[0]):
        if searches.ended[i]:
            begin(world, beginnings, searches, field, i, True)
            reward[i], arrived[i], late[i] = 0.0, False, False
        else:
            x, y, t, there, whiff = step(whiffs, region, place[i, 0], place[i, 1], place[i, 2], action[i])
            place[i, 0], place[i, 1], place[i, 2] = x, y, t
            moves[i] += 1
            reward[i], arrived[i], late[i] = earned[_I(there)], there, (moves[i] == horizon) & (not there)
            searches.ended[i] = arrived[i] | late[i]
            observe(searches, field, i, whiff)
    return -1
