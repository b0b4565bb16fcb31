"""The plane of the search: maps of the plume, paths that darken as the clock runs, and the measures of a path."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.image import AxesImage
from matplotlib.patches import Circle
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

from whiffclock.drawing.style import FADED, GREY, INK, SOURCE, clock_colours, dark
from whiffclock.path_metrics import Truncation, geometry

#: Up to the longest blank of training that a whiff ended, a path is drawn in colour; the rest is thin and grey.
TRAINED: Truncation = "longest blank"

_VEIL = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
_ARROW = {"arrowstyle": "<|-|>", "color": INK, "lw": 0.7, "mutation_scale": 5, "shrinkA": 0, "shrinkB": 0}
_LINE = {"arrowstyle": "-", "lw": 0.5, "color": INK}
_BADGE = {"boxstyle": "circle,pad=0.18", "fc": "white", "ec": INK, "lw": 0.6}
_NUMBER: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5, "bbox": _BADGE, "zorder": 6}
#: Shades along a path, for a line of one point.
_SHADES = 22


def borders(source: tuple[int, int], shape: tuple[int, ...]) -> tuple[float, float, float, float]:
    """Borders of a grid of ``shape`` (x, y) seen from the source."""
    (x, y), (length, width) = source, shape
    return -x - 0.5, length - x - 0.5, -y - 0.5, width - y - 0.5


def draw_cells(axes: Axes, cells: np.ndarray, place: tuple[int, int], **looks: Any) -> AxesImage:
    """An array [x, y] as a picture seen from the source, which is drawn at its ``place``."""
    image = axes.imshow(cells.T, origin="lower", extent=borders(place, cells.shape), aspect="auto", **looks)
    axes.spines[["top", "right"]].set_visible(True)
    source(axes)
    return image


def draw_search(axes: Axes, x: np.ndarray, y: np.ndarray, whiff: np.ndarray, colour: str) -> None:
    """The path of a search in cells from the source: a line, a dot at every whiff, a diamond at its start."""
    axes.plot(x, y, color="white", lw=2.6, solid_joinstyle="round")
    axes.plot(x, y, color=dark(colour), lw=1.3, solid_joinstyle="round")
    axes.plot(x[whiff], y[whiff], "o", ms=2.6, mfc=INK, mec="white", mew=0.3)
    axes.plot(x[0], y[0], "D", ms=5.5, mfc=colour, mec="white", mew=0.8, zorder=5)


def source(axes: Axes, radius: float | None = None) -> None:
    """A dot at the source, and the outline of its region."""
    axes.plot(0, 0, "o", ms=3.6, color=SOURCE, mec="white", mew=0.5, zorder=5, clip_on=False)
    if radius is not None:
        axes.add_patch(Circle((0, 0), radius, fill=False, ec=SOURCE, lw=0.7, zorder=4))


def limits(paths: Iterable[ArrayLike], pad: float = 0.06) -> Bbox:
    """The part of the plane to show, in cells: all paths and their starts."""
    ends = np.concatenate([np.zeros((1, 2)), *paths])
    low, high = ends.min(axis=0), ends.max(axis=0)
    if (high == low).all():
        low, high = low - 5, high + 5
    room = pad * max(*(high - low), 10.0)
    return Bbox([low - room, high + room])


@dataclass(frozen=True)
class RecoveryPath:
    """A recovery path in two parts: up to the longest blank of training, and from there to its truncation."""

    trained: np.ndarray
    beyond: np.ndarray

    def draw(self, axes: Axes, colour: str, width: float = 1.1, offset: ArrayLike = (0, 0)) -> None:
        """Upwind to the left, from bright to dark, then thin and grey; a dot where it starts, on a whiff."""
        start = np.asarray(offset, dtype=np.float64)
        points, moves = self.trained + start, len(self.trained) - 1
        if len(self.beyond) > 1:
            grey = LineCollection([self.beyond + start], colors=FADED, linewidths=0.25 + 0.2 * width, zorder=1.5)
            axes.add_collection(grey, autolim=False)
        if moves >= 1:
            shades = min(round(_SHADES * width), moves)
            cuts = np.linspace(0, moves, shades + 1).round().astype(int)
            pieces = [points[a : b + 1] for a, b in pairwise(cuts)]
            colours = clock_colours(colour)(np.linspace(0, 1, len(pieces)))
            lines = LineCollection(pieces, colors=colours, linewidths=width, capstyle="round", joinstyle="round")
            axes.add_collection(lines, autolim=False)
        elif len(self.beyond) <= 1:
            place = (float(start[0]), float(start[1]))
            axes.annotate("no moves", place, (0, 6), textcoords="offset points", ha="center", fontsize=6, color=GREY)
        axes.plot(*start, "o", ms=1.2 + 1.7 * width, color=SOURCE, mec="white", mew=0.4, zorder=3)


def wind(axes: Axes, x: float = 0.98, y: float = 0.94) -> None:
    """An arrow along the wind, its point at a place in the panel."""
    arrow = {"arrowstyle": "-|>", "color": GREY, "lw": 0.7, "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate(
        "wind", xy=(x, y), xytext=(-14, 0), xycoords="axes fraction", textcoords="offset points", fontsize=6,
        color=GREY, ha="right", va="center", arrowprops=arrow, bbox=_VEIL,
    )  # fmt: skip


def legibility(path: np.ndarray) -> float:
    """How well the measures can be seen on a path: best if it surges, casts and returns; 0 without moves."""
    shape = geometry(path)
    size = (1 + min(shape.surge_length, 10)) * (1 + min(shape.cast_width, 20)) * (1 + min(shape.upwind_search, 40))
    return size - 1 if math.isnan(shape.downwind_return_start) else 100 * size


def metrics_on_path(axes: Axes, path: np.ndarray, colour: str) -> None:
    """The five measures of geometry on a path, numbered as in the caption; the return is above it."""
    shape = geometry(path)
    (left, low), (right, high) = path.min(axis=0), path.max(axis=0)
    room = 0.1 * max(right - left, high - low, 10.0)
    top, middle, bottom = high + 1.2 * room, low - room, low - 2.6 * room
    returned = float(left + shape.downwind_return_length)
    shown = limits([path, [[left - room, bottom - room], [right + 2.4 * room, top + room]]], 0)
    RecoveryPath(path, path[-1:]).draw(axes, colour, 1.3)
    _span(axes, 1, (-shape.surge_length, middle), (0, middle), room)
    _span(axes, 2, (right + 1.4 * room, low), (right + 1.4 * room, high), room)
    _span(axes, 3, (left, bottom), (0, bottom), room)
    _span(axes, 4, (left, top), (returned, top), room)
    if not math.isnan(shape.downwind_return_start):
        at = path[int(shape.downwind_return_start)].astype(float)
        axes.plot(*at, "s", ms=4, mfc="white", mec=INK, mew=0.8, zorder=5)
        axes.annotate("5", (at[0], at[1]), (12, 13), textcoords="offset points", arrowprops=_LINE, **_NUMBER)
    for x, foot, head in ((0, bottom, 0), (-shape.surge_length, middle, 0), (left, bottom, top), (returned, low, top)):
        axes.plot([x, x], [foot, head], color=GREY, lw=0.4, ls=(0, (2, 2)), zorder=0)
    axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel="x (cells)", ylabel="y (cells)")


def _span(axes: Axes, name: int, a: tuple[float, float], b: tuple[float, float], room: float) -> None:
    """An arrow between two places, with a number on it, or beside it if it is short."""
    axes.annotate("", a, b, arrowprops=_ARROW)
    length = math.dist(a, b)
    x, y = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
    axes.text(x if length > 2 * room else b[0] + room, y, str(name), **_NUMBER)
