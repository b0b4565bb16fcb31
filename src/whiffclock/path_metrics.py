"""The geometry of a path: the five metrics (paper, "Characterization of trajectories in the void").

They depend on positions only. x grows downwind, so upwind moves lower it. For moves on a grid they are those of the
paper; diagonal moves and continuous paths are measured by the same rules (:class:`Geometry`).
"""

import math
import warnings
from dataclasses import asdict, dataclass, fields
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from whiffclock.formatting import nan_to_null
from whiffclock.params import InputError, require

#: Moves in a row, none of them upwind, that end the surge; a single sidestep does not.
SURGE_ENDS = 2
#: Moves in a row, all of them downwind, that begin the downwind return.
RETURN_BEGINS = 3
#: A step is upwind within this angle of upwind, in degrees, and downwind within that of downwind. On the grid, one move
#: aside for each move upwind (45 degrees) goes on with a surge, and two do not (63); a move aside after three moves
#: downwind (18) begins a return, and after two (27) does not.
UPWIND_WITHIN, DOWNWIND_WITHIN = 55.0, 23.0
#: A shorter step, in cells, has no direction; and where a path is no farther from its smallest x, it has reached it.
STANDS = 0.25
#: How far from a whole step a position may be to be taken for its end.
_CLOSE = 0.02

#: Where a recovery path is cut: criteria (i) to (v) of the paper's Methods.
Truncation = Literal["none", "largest clock reading", "mean clock reading", "longest blank", "mean blank"]
TRUNCATIONS: tuple[Truncation, ...] = get_args(Truncation)
#: The truncation that the paper uses in all main figures.
MAIN_TRUNCATION: Truncation = "largest clock reading"

#: Names of metrics in version 0.1, and the present ones.
_RENAMED = {
    "backtracking": "downwind_return_printed",
    "backtracking_after_extreme": "downwind_return_length",
    "backtracking_initiation": "downwind_return_start",
}


@dataclass(frozen=True)
class Geometry:
    """The shape of a path, in cells and moves; the first position counts like any other.

    The rules are those of the paper for moves on a grid. For other steps, a step is upwind or downwind by its direction
    (:data:`UPWIND_WITHIN`, :data:`DOWNWIND_WITHIN`), and the surge is the distance upwind that its steps cover.

    Attributes
    ----------
    surge_length
        Upwind moves before the first two moves in a row that are not upwind. A single other move neither ends the
        surge nor counts, and its effect on x is not subtracted. A path without two such moves surges to its end;
        one that begins with them has a surge of 0.
    cast_width
        Largest minus smallest y.
    upwind_search
        How far upwind of its start the path reaches; 0 if it never does.
    downwind_return_printed
        Largest minus smallest x, as the paper prints it. The largest may be the start: for a path that never
        returns, it equals the upwind search.
    downwind_return_length
        How far downwind the path gets after it first reaches its smallest x, as the paper draws it (R13);
        0 if it ends there.
    downwind_return_start
        Moves before the first three downwind moves in a row; NaN if there are none, even if the path ends after two.
    """

    surge_length: float  # whole for a path on the grid
    cast_width: float
    upwind_search: float
    downwind_return_printed: float
    downwind_return_length: float
    downwind_return_start: float

    def to_dict(self) -> dict[str, float | None]:
        """Plain values; None for a downwind return that never starts, since JSON has no NaN."""
        return nan_to_null(asdict(self))

    def __getattr__(self, name: str) -> float:
        """A metric by its name in version 0.1."""
        if name not in _RENAMED:
            raise AttributeError(f"A geometry has no {name!r}; it has {', '.join(GEOMETRY)}.")
        warnings.warn(f"{name} is called {_RENAMED[name]} now.", DeprecationWarning, stacklevel=2)
        return getattr(self, _RENAMED[name])


def geometry(path: ArrayLike, steps: ArrayLike | None = None) -> Geometry:
    """The five metrics of a path, wherever it starts.

    Surge length and start of the downwind return are counted in steps; the other metrics are extents of the whole path.

    Parameters
    ----------
    path
        Positions [n, (x, y)] in cells. Integers are moves of one cell, diagonal ones included, such as those of
        ``recovery_path``; other numbers are a continuous path, such as that of an animal.
    steps
        The path in the steps to count, one per move, such as its positions at equal times; default: the path itself
        if it has integers, or else the path in steps of one cell (:func:`equal_steps`).

    Returns
    -------
    Geometry
        Surge length, cast width and others. A path of a single position has zero lengths, and no downwind return.

    Examples
    --------
    >>> import whiffclock as wc
    >>> shape = wc.geometry(wc.recovery_path(wc.cast_and_surge(45, length=100)))
    >>> shape.surge_length, shape.cast_width
    (2, 17)
    >>> wc.geometry([(0, 0), (-2.5, 0), (-2.5, 4), (3, 4)]).downwind_return_length
    5.5
    """
    path = _positions(path)
    if steps is None:
        steps = path if np.issubdtype(path.dtype, np.integer) else equal_steps(path)
    moves = np.diff(_positions(steps), axis=0)
    upwind, downwind = _along_wind(moves)
    surge_end = _first_run(~upwind, SURGE_ENDS)
    return_start = _first_run(downwind, RETURN_BEGINS)
    x, y = path.T
    return Geometry(
        surge_length=np.maximum(-moves[:surge_end, 0], 0).sum().item(),
        cast_width=np.ptp(y).item(),
        upwind_search=(x[0] - x.min()).item(),
        downwind_return_printed=np.ptp(x).item(),
        downwind_return_length=(x[_extreme(x) :].max() - x.min()).item(),
        downwind_return_start=math.nan if return_start is None else float(return_start),
    )


def _positions(path: ArrayLike) -> np.ndarray:
    """A path as integers, checked move by move, or as finite floats."""
    path = np.asarray(path)
    require(
        path.ndim == 2 and path.shape[0] >= 1 and path.shape[1] == 2 and path.dtype.kind in "iuf",
        f"A path is an array of {path.dtype} of shape {path.shape}; it must be one or more positions (x, y) in cells.",
    )
    if path.dtype.kind == "f":
        unknown = len(path) - int(np.isfinite(path).all(axis=1).sum())
        require(not unknown, f"{unknown} positions of the path are not finite; cut it into paths without gaps.")
        return path.astype(np.float64)
    path = path.astype(np.int64)
    moves = np.diff(path, axis=0)
    for i in np.flatnonzero(np.abs(moves).max(axis=1) != 1):
        wrong = f"Move {i} of the path is {moves[i].tolist()}"
        raise InputError(f"{wrong}; a move is one cell along the wind, across it, or both. Floats are any path.")
    return path


def _along_wind(moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which moves are upwind, and which downwind."""
    length = np.hypot(*moves.T)
    x = np.where(length < STANDS, 0.0, moves[:, 0] / np.maximum(length, STANDS))
    return x < -math.cos(math.radians(UPWIND_WITHIN)), x > math.cos(math.radians(DOWNWIND_WITHIN))


def equal_steps(path: ArrayLike, length: float = 1.0) -> np.ndarray:
    """A path in straight steps of equal length, as a pair of compasses measures a coast.

    Each step ends where the path is first a length away from where the step began, so that jitter smaller than this
    adds no steps. A position within 2% of the length is taken as it is; a path on the grid is its own result. What is
    left at the end, shorter than a step, is dropped.

    Parameters
    ----------
    path
        Positions [n, (x, y)], without gaps.
    length
        Length of a step, in the unit of the path.

    Returns
    -------
    numpy.ndarray
        Positions float[steps + 1, 2].

    Examples
    --------
    >>> equal_steps([(0, 0), (-2.5, 0)]).tolist()
    [[0.0, 0.0], [-1.0, 0.0], [-2.0, 0.0]]
    """
    points = (_positions(path) / length).tolist()
    made = [points[0]]
    (ax, ay), (px, py) = points[0], points[0]
    nearest, farthest = (1 - _CLOSE) ** 2, (1 + _CLOSE) ** 2
    for x, y in points:
        while (far := (x - ax) ** 2 + (y - ay) ** 2) >= nearest:
            if far <= farthest:
                ax, ay = x, y
            else:
                share = _crossing(px - ax, py - ay, x - px, y - py)
                ax, ay = px + share * (x - px), py + share * (y - py)
            made.append([ax, ay])
        px, py = x, y
    return np.array(made) * length


def _crossing(x: float, y: float, dx: float, dy: float) -> float:
    """The share of the way from (x, y) by (dx, dy) at which it leaves the unit circle."""
    a, b, c = dx * dx + dy * dy, x * dx + y * dy, x * x + y * y - 1
    return max(0.0, (math.sqrt(max(b * b - a * c, 0.0)) - b) / a)


def _extreme(x: np.ndarray) -> int:
    """Where a path first reaches its smallest x; jitter does not decide between two places as far upwind."""
    near = x < x.min() + STANDS
    first = int(near.argmax())
    leaves = first + int((~near[first:]).argmax())
    return first + int(x[first : leaves if leaves > first else len(x)].argmin())


def _first_run(hits: np.ndarray, length: int) -> int | None:
    """Start of the first ``length`` hits in a row; None if there are none."""
    if len(hits) < length:
        return None
    runs = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(hits, length).all(axis=1))
    return int(runs[0]) if len(runs) else None


#: Names of the metrics.
GEOMETRY = tuple(field.name for field in fields(Geometry))
