"""Void trajectories: what a policy does when it smells nothing more (paper, "Trajectories in the void")."""

from __future__ import annotations

from typing import Literal

import numpy as np

from whiffclock.memory import rows_of_mode
from whiffclock.policy import ClockPolicy

#: Displacement (x, y) of each action, in the order of :data:`whiffclock.policy.ACTIONS`.
MOVES = np.array([[-1, 0], [0, 1], [0, -1], [1, 0]])


#: How much of a void trajectory counts: criteria (i) to (v) of the paper's Methods.
Truncation = Literal["none", "largest void state", "mean void state", "longest blank", "mean blank"]


def void_path(
    policy: ClockPolicy, mode: int | None = None, truncation: Truncation = "largest void state"
) -> np.ndarray:
    """Positions int[steps + 1, 2] from (0, 0) after a whiff, in one mode (default: the sparsest)."""
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
