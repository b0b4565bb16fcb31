"""The five measures of geometry, drawn on a path."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from whiffclock.geometry import geometry
from whiffclock.paper.figures.style import GREY, INK
from whiffclock.paper.figures.trails import frame, limits, trail, walked

_ARROW = {"arrowstyle": "<|-|>", "color": INK, "lw": 0.7, "mutation_scale": 5, "shrinkA": 0, "shrinkB": 0}
_BADGE = {"boxstyle": "circle,pad=0.18", "fc": "white", "ec": INK, "lw": 0.6}


def example(paths: np.ndarray) -> int | None:
    """The path on which the measures are seen best: one that returns, and surges and casts widely.

    None if no path has any extent.
    """

    def seen(path: np.ndarray) -> float:
        shape = geometry(walked(path).astype(np.int64))
        size = (1 + min(shape.surge_length, 10)) * (1 + min(shape.cast_width, 20)) * (1 + min(shape.upwind_search, 40))
        return size - 1 if math.isnan(shape.backtracking_initiation) else 100 * size

    scores = [seen(path) for path in paths]
    return int(np.argmax(scores)) if max(scores) > 0 else None


def metrics_on_path(axes: Axes, path: np.ndarray, colour: str) -> None:
    """A path with arrows, numbered as in the caption."""
    points = walked(path)
    shape = geometry(points.astype(np.int64))
    (left, low), (right, high) = points.min(axis=0), points.max(axis=0)
    room = 0.1 * max(right - left, high - low, 10.0)
    trail(axes, path, colour, 1.3)
    _along(axes, 1, 0, -shape.surge_length, high + room, above=room)
    _across(axes, 2, right + room, low, high)
    _along(axes, 3, 0, left, low - room)
    _along(axes, 4, left, right, low - 2.4 * room)
    if not math.isnan(shape.backtracking_initiation):
        _moment(axes, 5, points[int(shape.backtracking_initiation)])
    for x, bottom in (
        (0.0, low - room),
        (-shape.surge_length, points[shape.surge_length][1]),
        (left, low - 2.4 * room),
        (right, low - 2.4 * room),
    ):
        axes.plot([x, x], [bottom, high + room], color=GREY, lw=0.4, ls=(0, (2, 2)), zorder=0)
    box = limits([path, np.array([[left - room, low - 3.6 * room], [right + 2.2 * room, high + 2.4 * room]])], 0)
    frame(axes, box)
    axes.set_xlabel("x (cells)")
    axes.set_ylabel("y (cells)")


def _along(axes: Axes, name: int, a: float, b: float, y: float, above: float = 0.0) -> None:
    axes.annotate("", (a, y), (b, y), arrowprops=_ARROW)
    axes.text((a + b) / 2, y + above, str(name), ha="center", va="center", fontsize=6.5, bbox=_BADGE, zorder=6)


def _across(axes: Axes, name: int, x: float, a: float, b: float) -> None:
    axes.annotate("", (x, a), (x, b), arrowprops=_ARROW)
    axes.text(x, (a + b) / 2, str(name), ha="center", va="center", fontsize=6.5, bbox=_BADGE, zorder=6)


def _moment(axes: Axes, name: int, at: np.ndarray) -> None:
    axes.plot(*at, "s", ms=4, mfc="white", mec=INK, mew=0.8, zorder=5)
    line = {"arrowstyle": "-", "lw": 0.5, "color": INK}
    axes.annotate(
        str(name), (float(at[0]), float(at[1])), xytext=(0, 14), textcoords="offset points", ha="center", va="center",
        fontsize=6.5, bbox=_BADGE, arrowprops=line, zorder=6,
    )  # fmt: skip
