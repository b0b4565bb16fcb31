"""Paths in the plane: void trajectories that darken as the clock runs, on axes that can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import ArrayLike

from whiffclock.paper.figures.style import GREY, SOURCE, clock_colours

_VEIL = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
#: Shades along a path.
_SHADES = 24


class Limits(NamedTuple):
    """What of the plane is shown, in cells."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def aspect(self) -> float:
        """Height over width."""
        return (self.top - self.bottom) / (self.right - self.left)


def walked(path: np.ndarray) -> np.ndarray:
    """The positions of a path before its end."""
    return path[np.isfinite(path).all(axis=1)].astype(np.float64)


def limits(paths: Iterable[np.ndarray], pad: float = 0.06) -> Limits:
    """Limits that hold all paths and where they start."""
    ends = np.concatenate([np.zeros((1, 2)), *(walked(path) for path in paths)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    if (high == low).all():
        low, high = low - 5, high + 5
    room = pad * max(*(high - low), 10.0)
    return Limits(low[0] - room, high[0] + room, low[1] - room, high[1] + room)


def trail(axes: Axes, path: np.ndarray, colour: str, width: float = 1.1, offset: ArrayLike = (0, 0)) -> None:
    """One path, upwind to the left, from bright to dark; a dot where it starts, on a whiff."""
    points = walked(path) + np.asarray(offset, dtype=np.float64)
    moves = len(points) - 1
    if moves >= 1:
        cuts = np.linspace(0, moves, min(_SHADES, moves) + 1).round().astype(int)
        pieces = [points[a : b + 1] for a, b in pairwise(cuts)]
        shades = clock_colours(colour)(np.linspace(0, 1, len(pieces)))
        lines = LineCollection(pieces, colors=shades, linewidths=width, capstyle="round", joinstyle="round")
        axes.add_collection(lines, autolim=False)
    else:
        place = (float(points[0, 0]), float(points[0, 1]))
        axes.annotate("no moves", place, (0, 6), textcoords="offset points", ha="center", fontsize=5.5, color=GREY)
    axes.plot(*np.asarray(offset, dtype=np.float64), "o", ms=2.2 + width, color=SOURCE, mec="white", mew=0.4, zorder=3)


def frame(axes: Axes, shown: Limits) -> None:
    """The same limits and the same scale along and across."""
    axes.set_xlim(shown.left, shown.right)
    axes.set_ylim(shown.bottom, shown.top)
    axes.set_aspect("equal")


def wind(axes: Axes, x: float = 0.98, y: float = 0.94) -> None:
    """An arrow along the wind, its point at a place in the panel."""
    arrow = {"arrowstyle": "-|>", "color": GREY, "lw": 0.7, "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate(
        "wind", xy=(x, y), xytext=(-14, 0), xycoords="axes fraction", textcoords="offset points", fontsize=6,
        color=GREY, ha="right", va="center", arrowprops=arrow, bbox=_VEIL,
    )  # fmt: skip
