"""The geometry of a path: the five metrics (paper, "Characterization of trajectories in the void").

They depend on positions only. x grows downwind, so upwind moves lower it.
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

    surge_length: int
    cast_width: int
    upwind_search: int
    downwind_return_printed: int
    downwind_return_length: int
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


def geometry(path: ArrayLike) -> Geometry:
    """The five metrics of a path, wherever it starts.

    Parameters
    ----------
    path
        Integer positions [moves + 1, (x, y)], such as those of ``recovery_path``.

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
    """
    path = np.asarray(path)
    require(
        path.ndim == 2 and path.shape[0] >= 1 and path.shape[1] == 2 and np.issubdtype(path.dtype, np.integer),
        f"A path is an array of {path.dtype} of shape {path.shape}; it must be one or more positions (x, y) in cells.",
    )
    path = path.astype(np.int64)
    moves = np.diff(path, axis=0)
    for i in np.flatnonzero(np.abs(moves).sum(axis=1) != 1):
        wrong = f"Move {i} of the path is {moves[i].tolist()}"
        raise InputError(f"{wrong}; a move is one cell along the wind or across it.")
    x, y = path.T
    upwind = moves[:, 0] == -1
    surge_end = _first_run(~upwind, SURGE_ENDS)
    return_start = _first_run(moves[:, 0] == 1, RETURN_BEGINS)
    return Geometry(
        surge_length=int(upwind[:surge_end].sum()),
        cast_width=int(np.ptp(y)),
        upwind_search=int(x[0] - x.min()),
        downwind_return_printed=int(np.ptp(x)),
        downwind_return_length=int(x[x.argmin() :].max() - x.min()),
        downwind_return_start=math.nan if return_start is None else float(return_start),
    )


def _first_run(hits: np.ndarray, length: int) -> int | None:
    """Start of the first ``length`` hits in a row; None if there are none."""
    if len(hits) < length:
        return None
    runs = np.flatnonzero(np.lib.stride_tricks.sliding_window_view(hits, length).all(axis=1))
    return int(runs[0]) if len(runs) else None


#: Names of the metrics.
GEOMETRY = tuple(field.name for field in fields(Geometry))
