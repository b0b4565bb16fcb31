"""The search loop: any policy, in any world, many searches at the same time.

A *world* (:mod:`whiffclock.world.worlds`) moves searches and gives them observations. :func:`search` yields a
:class:`Moment` before every move, which evaluation, drawings and branches read. The kernel
:func:`whiffclock.world.episode.rollout` does the same for table policies in a plume, faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whiffclock.params import require
from whiffclock.policy import Policy, require_policy
from whiffclock.world.moves import N_ACTIONS


class SearchWorld(Protocol):
    """The interface of a world; ``position`` has one row per unfinished search."""

    position: np.ndarray

    def begin(self) -> np.ndarray | None:
        """First observation bool[n]; None if searches move before the first one."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Move all searches; returns arrived bool[n], whiff bool[n]."""


@dataclass
class Moment:
    """All searches after ``step`` moves."""

    step: int
    search: np.ndarray  # int[n]: numbers of the unfinished searches
    position: np.ndarray  # their positions
    whiff: np.ndarray | None  # their observations; None before the first one
    memory: Any  # their memory
    action: np.ndarray  # int[n]: their next move; -1 in the last moment
    arrived: np.ndarray  # numbers of the searches that reached the source with the last move
    arrived_at: np.ndarray  # their positions
    arrived_whiff: np.ndarray  # the observations there
    stop: np.ndarray  # bool[n], False; the caller may set it, to end searches here


def search(policy: Policy, world: SearchWorld, horizon: int, memory: Any = None) -> Iterator[Moment]:
    """Search for at most ``horizon`` moves; yields the moments 0, 1, ... until all searches have ended.

    ``memory`` is the initial memory of the searches; by default they begin with the first observation. If all searches
    end early, the last moment has none.
    """
    require_policy(policy)
    whiff = world.begin()
    n = len(world.position)
    if memory is None:
        memory = policy.begin(whiff) if whiff is not None else policy.unobserved(n)  # type: ignore[attr-defined]
    who = np.arange(n)
    ended = who[:0], world.position[:0], np.zeros(0, dtype=bool)
    for step in range(horizon + 1):
        last = step == horizon or not len(who)
        action = np.full(len(who), -1) if last else _actions(policy, memory, len(who))
        moment = Moment(step, who, world.position, whiff, memory, action, *ended, np.zeros(len(who), dtype=bool))
        yield moment
        if moment.stop.any():
            on = ~moment.stop
            memory, who, world.position = policy.select(memory, np.flatnonzero(on)), who[on], world.position[on]
            action = action[on]
        if last or not len(who):
            return
        arrived, whiff = world.step(action)
        ended = who[arrived], world.position[arrived], whiff[arrived]
        if arrived.any():
            on = ~arrived
            memory = policy.select(memory, np.flatnonzero(on))
            who, world.position, action, whiff = who[on], world.position[on], action[on], whiff[on]
        if len(who):
            memory = policy.observe(memory, action, whiff)


def modes_of(policy: Policy, moment: Moment) -> np.ndarray:
    """Mode int[n] of each search at a moment."""
    return np.broadcast_to(policy.mode(moment.memory), len(moment.search))


def _actions(policy: Policy, memory: Any, n: int) -> np.ndarray:
    """The next move of n searches, checked; one action may stand for all."""
    action = np.asarray(policy.act(memory))
    fits = action.shape in ((), (n,)) and action.dtype.kind in "iu"
    require(
        fits and bool(((action >= 0) & (action < N_ACTIONS)).all()),
        f"The policy {policy.name} chose an action that does not exist; actions are 0 to {N_ACTIONS - 1}, "
        f"one whole number for each of {n} searches.",
    )
    return action if action.ndim else np.full(n, action)
