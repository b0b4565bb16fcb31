"""Void trajectories: what a policy does when it smells nothing more (paper, "Trajectories in the void")."""

from __future__ import annotations

import numpy as np

from whiffclock.memory import rows_of_mode
from whiffclock.policy import ClockPolicy

#: Displacement (x, y) of each action, in the order of :data:`whiffclock.policy.ACTIONS`.
MOVES = np.array([[-1, 0], [0, 1], [0, -1], [1, 0]])


def void_path(policy: ClockPolicy, mode: int | None = None, steps: int | None = None) -> np.ndarray:
    """Positions int[steps + 1, 2] from (0, 0) after a whiff, in one mode (default: the sparsest).

    ``steps`` defaults to :func:`largest_void_state`.
    """
    mode = policy.modes - 1 if mode is None else mode
    steps = largest_void_state(policy) if steps is None else steps
    rows = rows_of_mode(policy.clock, mode)
    clock = np.minimum(np.arange(steps), policy.clock.horizon - 1)
    moves = MOVES[policy.actions[rows[clock]]].reshape(steps, 2)
    return np.concatenate([[[0, 0]], np.cumsum(moves, axis=0)])


def largest_void_state(policy: ClockPolicy) -> int:
    """Largest void state of the last training episodes, or H for a policy that was not trained.

    Deeper states were hardly ever visited, and what a policy does there is noise.
    """
    record = policy.records.get("void")
    return policy.clock.horizon if record is None or record[0] == 0 else int(record[0])
