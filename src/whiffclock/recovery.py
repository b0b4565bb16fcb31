"""Void trajectories, and the geometry of recovery (paper, "Characterization of trajectories in the void").

A void trajectory is the path of a deterministic policy that starts at (0, 0) on a whiff and smells nothing
more. x grows downwind, so upwind moves lower it. :func:`void_path` reads the path off a clock's table, for as
long as training visited it; :func:`follow_blanks` walks any policy through it, whatever it remembers.

Five numbers describe a path (:class:`Geometry`). They need positions alone, and so do not ask who walked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whiffclock.geometry import RETURN_BEGINS, SURGE_ENDS, Truncation
from whiffclock.memory import rows_of_mode
from whiffclock.params import require
from whiffclock.policy import MOVES as MOVES_BY_ACTION
from whiffclock.policy import ClockPolicy, Policy

#: Displacement (x, y) of each action, as an array.
MOVES = np.array(MOVES_BY_ACTION)


def void_path(
    policy: ClockPolicy, mode: int | None = None, truncation: Truncation = "largest void state"
) -> np.ndarray:
    """Positions int[moves + 1, 2] from (0, 0) after a whiff, in one mode (default: the sparsest)."""
    mode = policy.modes - 1 if mode is None else mode
    rows = rows_of_mode(policy.clock, mode)
    moves = MOVES[policy.actions[rows[: void_steps(policy, truncation)]]]
    return np.concatenate([[[0, 0]], np.cumsum(moves, axis=0)])


def void_steps(policy: ClockPolicy, truncation: Truncation) -> int:
    """Number of moves that count; all H for a policy that was not trained.

    States deeper than what the last training episodes visited are noise: nothing was learned there.
    """
    record = policy.records.get("void")
    if truncation == "none" or record is None:
        return policy.clock.horizon
    largest, void_sum, voids, longest, blank_sum, blanks = (int(v) for v in record)
    return {
        "largest void state": largest,
        "mean void state": round(void_sum / max(voids, 1)),
        "longest blank": longest,
        "mean blank": round(blank_sum / max(blanks, 1)),
    }[truncation]


def follow_blanks(policy: Policy, memory: Any, steps: int) -> np.ndarray:
    """Positions int[search, steps + 1, 2] from (0, 0) of searches that smell only blanks from now on.

    Parameters
    ----------
    policy
        Any deterministic policy.
    memory
        What the searches remember as they stand at (0, 0): ``policy.begin(np.ones(1, dtype=bool))`` for one
        that begins on a whiff, or a memory from the middle of a search.
    steps
        Number of moves.
    """
    require(steps >= 0, f"The number of moves is {steps}; it must be 0 or more.")
    action = policy.act(memory)
    blank = np.zeros(len(action), dtype=bool)
    moves = np.zeros((len(action), steps + 1, 2), dtype=np.int64)
    for step in range(1, steps + 1):
        moves[:, step] = MOVES[action]
        memory = policy.observe(memory, action, blank)
        action = policy.act(memory)
    return moves.cumsum(axis=1)


def follow_return(policy: Policy, memory: Any, steps: int) -> list[np.ndarray]:
    """Like :func:`follow_blanks`, but each search only until its downwind return is complete (R17).

    The return begins with three downwind moves in a row and is complete before the next two moves in a row
    that are not downwind, as the surge ends before two that are not upwind. A search that does not return
    goes on for all ``steps``.
    """
    search = np.arange(len(policy.act(memory)))
    moves = np.zeros((len(search), steps + 1, 2), dtype=np.int64)
    length = np.full(len(search), steps)
    down, other, returning = np.zeros_like(search), np.zeros_like(search), np.zeros(len(search), dtype=bool)
    for step in range(1, steps + 1):
        action = policy.act(memory)
        moves[search, step] = MOVES[action]
        downwind = MOVES[action, 0] == 1
        down, other = np.where(downwind, down + 1, 0), np.where(downwind, 0, other + 1)
        returning |= down >= RETURN_BEGINS
        done = returning & (other >= SURGE_ENDS)
        length[search[done]] = step - SURGE_ENDS
        if done.any():
            on = np.flatnonzero(~done)
            memory, search, action = policy.select(memory, on), search[on], action[on]
            down, other, returning = down[on], other[on], returning[on]
        if not len(search):
            break
        memory = policy.observe(memory, action, np.zeros(len(search), dtype=bool))
    paths = moves.cumsum(axis=1)
    return [path[: n + 1] for path, n in zip(paths, length, strict=True)]
