"""Diagrams of memory: chains of clock states, and how whiffs and blanks lead through them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Wedge

from whiffclock.paper.figures.style import GREY, INK

Point = tuple[float, float]
BLANK = "#999999"
_RADIUS = 0.33


def state(axes: Axes, at: Point, label: str, face: str = "white", edge: str = INK, size: float = 6.5) -> None:
    """A state of the memory."""
    axes.add_patch(Circle(at, _RADIUS, facecolor=face, edgecolor=edge, lw=0.8, zorder=3))
    axes.text(*at, label, ha="center", va="center", fontsize=size, zorder=4)


def halves(axes: Axes, at: Point, upper: str, lower: str, edge: str = INK) -> None:
    """A state that two chains share: one row of the Q-matrix, reached in two ways."""
    radius = 1.45 * _RADIUS
    axes.add_patch(Wedge(at, radius, 0, 180, facecolor=upper, edgecolor=edge, lw=0.8, zorder=3))
    axes.add_patch(Wedge(at, radius, 180, 360, facecolor=lower, edgecolor=edge, lw=0.8, zorder=3))
    axes.add_patch(Circle(at, 0.5 * _RADIUS, facecolor="white", edgecolor="none", zorder=3.5))
    axes.text(*at, "0", ha="center", va="center", fontsize=7, zorder=4)


def arrow(axes: Axes, a: Point, b: Point, *, bend: float = 0.0, colour: str = INK, width: float = 0.8) -> None:
    """A transition from one place to another, straight or along an arc."""
    style = f"arc3,rad={bend}"
    looks: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 6,
        "lw": width,
        "color": colour,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.add_patch(FancyArrowPatch(a, b, connectionstyle=style, zorder=2, **looks))


def blanks(axes: Axes, xs: Sequence[float], y: float, gaps: Sequence[int] = ()) -> None:
    """Arrows from each state to the next, with the white dot of a blank; dots instead of states at ``gaps``."""
    for i, (a, b) in enumerate(pairwise(xs)):
        if i in gaps:
            axes.text((a + b) / 2, y, "· · ·", ha="center", va="center", fontsize=8, color=INK)
            continue
        arrow(axes, (a + _RADIUS, y), (b - _RADIUS, y))
        axes.plot((a + b) / 2, y + 0.22, "o", ms=2.8, mfc="white", mec=INK, mew=0.6)


def whiff_mark(axes: Axes, at: Point) -> None:
    """The black dot of a whiff."""
    axes.plot(*at, "o", ms=3.2, color=INK, zorder=5)


def draw_clock(axes: Axes, horizon: int) -> None:
    """The states 0 to H-1 of a single clock."""
    xs = [0.0, 1.35, 2.7, 4.05, 5.9]
    labels = ["0", "1", "2", "3", str(horizon - 1)]
    for x, label in zip(xs, labels, strict=True):
        state(axes, (x, 0), label, size=6.5 if len(label) < 3 else 5.5)
    blanks(axes, xs, 0, gaps=(3,))
    for x in xs[1:]:
        arrow(axes, (x, -_RADIUS), (0.1, -_RADIUS), bend=-0.28 if x < 5 else -0.24, colour=GREY, width=0.6)
    arrow(axes, (-0.2, 0.27), (-0.3, -0.15), bend=2.2, colour=GREY, width=0.6)
    whiff_mark(axes, (2.0, -1.42))
    axes.text(2.2, -1.42, "whiff: back to 0", va="center", fontsize=6.5)
    axes.plot(2.0, 0.85, "o", ms=3, mfc="white", mec=INK, mew=0.6)
    axes.text(2.2, 0.85, "blank: one up", va="center", fontsize=6.5)
    axes.set_xlim(-1.0, 6.4)
    axes.set_ylim(-1.75, 1.05)
    axes.set_aspect("equal")
