"""Clock memory with modes: what a policy remembers between two observations (paper, Methods).

The clock ``c`` counts the steps since the last whiff: 0 on a whiff, one more on every blank, and it stays
at ``H - 1`` (R3). The mode ``m`` says how long the blank was that the last whiff ended: the number of
thresholds ``tau_1 < ... < tau_{k-1}`` that its length reaches. So m = 0 is the dense mode (Q-, short
blanks) and m = k-1 the sparse mode (Q+, long blanks), in which a search starts. Single-Q is k = 1 and
two-Q is k = 2.

This memory is a finite-state machine on the nodes ``m H + c``, and that is all the kernels see of it.

The Q-matrix has one row per void state and either one whiff state for all modes (rows ``0``, then
``1 .. H-1`` for m = 0, ``H .. 2H-2`` for m = 1, ...; R4, R6) or one for each (row = node).
"""

from __future__ import annotations

import numpy as np

from whiffclock.episode import Clock
from whiffclock.params import ClockSettings


def clock_tables(settings: ClockSettings) -> Clock:
    """The memory that ``settings`` describe, as tables for the kernels."""
    horizon, modes = settings.horizon, settings.modes
    mode, clock = np.divmod(np.arange(modes * horizon), horizon)
    rows = row_of(settings, mode, clock)

    ended = np.where(clock > 0, rows, 0) if settings.literal_tau else clock
    mode_after_whiff = np.searchsorted(np.array(settings.taus, dtype=np.int64), ended, side="right")
    on_blank = mode * horizon + np.minimum(clock + 1, horizon - 1)
    on_whiff = mode_after_whiff * horizon

    next_node = np.stack([on_blank, on_whiff], axis=1)
    onward = next_node.astype(np.uint64) << np.uint64(32) | rows[next_node].astype(np.uint64)

    start = (modes - 1) * horizon
    return Clock(
        next_node=next_node.astype(np.int32),
        row=rows.astype(np.int32),
        onward=onward.ravel(),
        mode=mode.astype(np.int32),
        first=np.array([start + 1, start], dtype=np.int32),
    )


def row_of(settings: ClockSettings, mode: np.ndarray, clock: np.ndarray) -> np.ndarray:
    """Row of the Q-matrix that belongs to a clock value in a mode."""
    if settings.split_zero:
        return mode * settings.horizon + clock
    return np.where(clock == 0, 0, mode * (settings.horizon - 1) + clock)


def rows_of_mode(settings: ClockSettings, mode: int) -> np.ndarray:
    """Rows for the clock values 0 .. H-1 of one mode."""
    clock = np.arange(settings.horizon)
    return row_of(settings, np.full_like(clock, mode), clock)
