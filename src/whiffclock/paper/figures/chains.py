"""Diagrams of memory: chains of clock states, and how whiffs and blanks lead through them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Wedge

from whiffclock.drawing.style import GREY, INK, SMALLEST

Point = tuple[float, float]
_RADIUS = 0.33
_ARROW: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0, "zorder": 2}
_BLANK: dict[str, Any] = {"marker": "o", "mfc": "white", "mec": INK, "mew": 0.6}


def state(axes: Axes, at: Point, label: str, face: str = "white") -> None:
    """A state of the memory."""
    axes.add_patch(Circle(at, _RADIUS, facecolor=face, edgecolor=INK, lw=0.8, zorder=3))
    axes.text(*at, label, ha="center", va="center", fontsize=6.5 if len(label) < 3 else SMALLEST, zorder=4)


def halves(axes: Axes, at: Point, upper: str, lower: str) -> None:
    """A state that two chains share: one row of the Q-matrix, reached in two ways."""
    for face, a in ((upper, 0), (lower, 180)):
        axes.add_patch(Wedge(at, 1.45 * _RADIUS, a, a + 180, facecolor=face, edgecolor=INK, lw=0.8, zorder=3))
    axes.add_patch(Circle(at, 0.5 * _RADIUS, facecolor="white", edgecolor="none", zorder=3.5))
    axes.text(*at, "0", ha="center", va="center", fontsize=7, zorder=4)


def arrow(axes: Axes, a: Point, b: Point, *, bend: float = 0.0, colour: str = INK, width: float = 0.8) -> None:
    """A transition from one place to another, straight or along an arc."""
    axes.add_patch(FancyArrowPatch(a, b, connectionstyle=f"arc3,rad={bend}", lw=width, color=colour, **_ARROW))


def blanks(axes: Axes, xs: Sequence[float], y: float, gaps: Sequence[int] = ()) -> None:
    """Arrows from each state to the next, with the white dot of a blank; dots instead of states at ``gaps``."""
    for i, (a, b) in enumerate(pairwise(xs)):
        if i in gaps:
            axes.text((a + b) / 2, y, "· · ·", ha="center", va="center", fontsize=8, color=INK)
            continue
        arrow(axes, (a + _RADIUS, y), (b - _RADIUS, y))
        blank_mark(axes, ((a + b) / 2, y + 0.22))


def blank_mark(axes: Axes, at: Point, size: float = 2.8) -> None:
    """The white dot of a blank."""
    axes.plot(*at, ms=size, **_BLANK)


def whiff_mark(axes: Axes, at: Point) -> None:
    """The black dot of a whiff."""
    axes.plot(*at, "o", ms=3.2, color=INK, zorder=5)


def draw_clock(axes: Axes, horizon: int) -> None:
    """The states 0 to H-1 of a single clock."""
    xs = [0.0, 1.35, 2.7, 4.05, 5.9]
    for x, label in zip(xs, ["0", "1", "2", "3", str(horizon - 1)], strict=True):
        state(axes, (x, 0), label)
    blanks(axes, xs, 0, gaps=(3,))
    for x in xs[1:]:
        arrow(axes, (x, -_RADIUS), (0.1, -_RADIUS), bend=-0.28 if x < 5 else -0.24, colour=GREY, width=0.6)
    arrow(axes, (-0.2, 0.27), (-0.3, -0.15), bend=2.2, colour=GREY, width=0.6)
    whiff_mark(axes, (2.0, -1.42))
    axes.text(2.2, -1.42, "whiff: back to 0", va="center", fontsize=6.5)
    blank_mark(axes, (2.0, 0.85), 3)
    axes.text(2.2, 0.85, "blank: one up", va="center", fontsize=6.5)
    axes.set(xlim=(-1.0, 6.4), ylim=(-1.75, 1.05), aspect="equal")
    axes.set_axis_off()
