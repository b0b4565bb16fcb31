"""Void trajectories, and the geometry of recovery (paper, "Characterization of trajectories in the void").

A void trajectory is the path of a deterministic policy that starts at (0, 0) on a whiff and smells nothing
more. x grows downwind, so upwind moves lower it. :func:`void_path` reads the path off a clock's table, for as
long as training visited it; :func:`follow_blanks` walks any policy through it, whatever it remembers.

Five numbers describe a path (:class:`Geometry`). They need positions alone, and so do not ask who walked.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from whiffclock.memory import rows_of_mode
from whiffclock.params import InputError, require
from whiffclock.policy import MOVES as MOVES_BY_ACTION
from whiffclock.policy import ClockPolicy, Policy

#: Displacement (x, y) of each action, as an array.
MOVES = np.array(MOVES_BY_ACTION)

#: Moves in a row, none of them upwind, that end the surge; a single sidestep does not.
SURGE_ENDS = 2
#: Moves in a row, all of them downwind, that begin the return.
RETURN_BEGINS = 3

#: How much of a void trajectory counts: criteria (i) to (v) of the paper's Methods.
Truncation = Literal["none", "largest void state", "mean void state", "longest blank", "mean blank"]


@dataclass(frozen=True)
class Geometry:
    """The shape of a path, in cells and moves; the first position counts like any other.

    Attributes
    ----------
    surge_length
        Upwind moves before the first two moves in a row that are not upwind. An isolated move to another side
        neither ends the surge nor counts, and what it does to x is not subtracted. A path without two such
        moves surges to its end; one that begins with them does not surge: 0.
    cast_width
        Largest minus smallest y.
    upwind_search
        How far upwind of its start the path reaches; 0 if it never does.
    backtracking
        Largest minus smallest x, as the paper prints it. The largest may be the start: a path that never
        returns has all of its upwind search for backtracking.
    backtracking_after_extreme
        How far downwind the path gets after it first stands at its smallest x, as the paper draws it (R13);
        0 if it ends there.
    backtracking_initiation
        Moves before the first three downwind moves in a row; NaN if there are no such three, even where the
        path ends after two: such a path has not returned yet.
    """

    surge_length: int
    cast_width: int
    upwind_search: int
    backtracking: int
    backtracking_after_extreme: int
    backtracking_initiation: float

    def to_dict(self) -> dict[str, float | None]:
        """Plain values; None for a return that never begins, since JSON has no NaN."""
        return {name: None if math.isnan(value) else value for name, value in asdict(self).items()}


def geometry(path: ArrayLike) -> Geometry:
    """The five metrics of ``path``, integer positions [moves + 1, (x, y)], wherever it starts.

    A path of a single position has zero lengths, and no return.
    """
    path = np.asarray(path)
    require(
        path.ndim == 2 and path.shape[0] >= 1 and path.shape[1] == 2 and np.issubdtype(path.dtype, np.integer),
        f"A path is an array of {path.dtype} of shape {path.shape}; it must be one or more positions (x, y) in cells.",
    )
    path = path.astype(np.int64)
    moves = np.diff(path, axis=0)
    for i in np.flatnonzero(np.abs(moves).sum(axis=1) != 1):
        raise InputError(
            f"Move {i} of the path is {moves[i].tolist()}; a move is one cell along the wind or across it."
        )
    x, y = path.T
    upwind = moves[:, 0] == -1
    surge_end = _first_run(~upwind, SURGE_ENDS)
    return_start = _first_run(moves[:, 0] == 1, RETURN_BEGINS)
    return Geometry(
        surge_length=int(upwind[:surge_end].sum()),
        cast_width=int(np.ptp(y)),
        upwind_search=int(x[0] - x.min()),
        backtracking=int(np.ptp(x)),
        backtracking_after_extreme=int(x[x.argmin() :].max() - x.min()),
        backtracking_initiation=math.nan if return_start is None else float(return_start),
    )


def _first_run(hits: np.ndarray, length: int) -> int | None:
    """Where the first ``length`` hits in a row begin; None if there are none."""
    if len(hits) < length:
        return None
    runs = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(hits, length).all(axis=1))
    return int(runs[0]) if len(runs) else None


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


def weighted_quantiles(values: ArrayLike, weights: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The smallest values that at least the shares ``q`` of the weight do not exceed.

    This inverts the weighted distribution function: each quantile is one of the values, none is interpolated,
    and values without weight might as well not be there. A NaN stands for a value beyond all others, such as
    the beginning of a return that never begins; a quantile that falls there is NaN.
    """
    values, weights, q = (np.asarray(a, dtype=np.float64) for a in (values, weights, q))
    require(
        values.ndim == 1 and values.shape == weights.shape,
        f"There are values of shape {values.shape} and weights of shape {weights.shape}; each value needs one weight.",
    )
    require(
        bool(np.isfinite(weights).all() and (weights >= 0).all() and weights.any()),
        "Weights must be finite and not negative, and one of them positive.",
    )
    require(bool(((q >= 0) & (q <= 1)).all()), "A quantile is asked for at a share outside 0 to 1.")
    values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values)  # NaN last
    share = np.cumsum(weights[order] / weights.max())
    # Rounding in the sum must not decide between two values.
    return values[order][np.searchsorted(share / share[-1], q - 1e-12)]
