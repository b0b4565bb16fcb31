"""The graph of a finite-state controller: chains of equal moves on a circle, and where a blank and a whiff lead."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.path import Path

from whiffclock.chains import Chain
from whiffclock.drawing.style import COLOURS, INK, SOURCE, tint
from whiffclock.world.moves import CROSSWIND_MINUS, CROSSWIND_PLUS, DOWNWIND, UPWIND

#: Moves as arrows; upwind is to the left, as in all pictures of paths.
GLYPHS = {
    UPWIND: r"$\leftarrow$", CROSSWIND_PLUS: r"$\uparrow$", CROSSWIND_MINUS: r"$\downarrow$", DOWNWIND: r"$\rightarrow$"
}  # fmt: skip
_FILL = {
    UPWIND: tint(COLOURS["denser"]), CROSSWIND_PLUS: tint(COLOURS["dense"]),
    CROSSWIND_MINUS: tint(COLOURS["sparse"]), DOWNWIND: tint(COLOURS["sparser"]),
}  # fmt: skip
#: Names and looks of the transitions after a blank and after a whiff.
EDGES = ({"color": INK, "ls": "-"}, {"color": SOURCE, "ls": (0, (3.5, 1.5))})
EDGE_NAMES = ("after a blank", "after a whiff")
#: In radii of a node: distance between neighbours on the circle, and room outside of it.
_APART, _OUTSIDE = 3.1, 3.7
#: How far transitions across the circle keep from its centre, as a share of the chord's own distance.
_BEND = (0.8, 0.5)
#: Angle between two things outside of a node: loops, and where searches begin.
_FAN = math.radians(56)


def radius_of_circle(nodes: int) -> float:
    """Radius of the circle on which nodes of radius 1 stand."""
    return 0.0 if nodes == 1 else max(2.4, _APART / 2 / math.sin(math.pi / nodes))


def side_of_picture(nodes: int) -> float:
    """Width and height of the picture, in radii of a node."""
    return 2 * (radius_of_circle(nodes) + _OUTSIDE)


def draw_controller(axes: Axes, found: Sequence[Chain], first: Sequence[int], fontsize: float) -> None:
    """One circle per chain, clockwise from the top; ``first``: nodes of searches that begin with a blank or a whiff."""
    at = {chain.nodes[0]: number for number, chain in enumerate(found)}
    turn = math.pi / 2 - 2 * math.pi * np.arange(len(found)) / len(found)
    outward = np.column_stack([np.cos(turn), np.sin(turn)])
    places = radius_of_circle(len(found)) * outward
    for number, chain in enumerate(found):
        _draw_chain(axes, chain, places[number], fontsize)
        targets = [at[chain.blank], at[chain.whiff]]
        around = [(seen, to) for seen, to in enumerate(targets) if to == number]
        begin = [seen for seen, node in enumerate(first) if at[node] == number]
        angles = turn[number] + _FAN * (np.arange(len(begin) + len(around)) - (len(begin) + len(around) - 1) / 2)
        for seen, angle in zip(begin, angles, strict=False):
            _draw_begin(axes, places[number], angle, seen, fontsize)
        for (seen, _), angle in zip(around, angles[len(begin) :], strict=True):
            _draw_loop(axes, places[number], angle, seen)
        for seen, to in enumerate(targets):
            if to != number:
                neighbours = seen == 0 and to == number + 1
                _draw_edge(axes, places[number], places[to], 1.0 if neighbours else _BEND[seen], seen)
    side = side_of_picture(len(found)) / 2
    axes.set(xlim=(-side, side), ylim=(-side, side), aspect="equal")
    axes.set_axis_off()
    lines = [Line2D([], [], lw=1, **looks) for looks in EDGES]
    axes.legend(lines, EDGE_NAMES, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, frameon=False)


def _draw_chain(axes: Axes, chain: Chain, place: np.ndarray, fontsize: float) -> None:
    """A circle with the move, and how often it is made."""
    x, y = place.tolist()
    many = len(chain.nodes) > 1
    axes.add_patch(Circle((x, y), 1, fc=_FILL[chain.action], ec=INK, lw=0.8, zorder=3))
    size = (1.3 if many else 1.7) * fontsize
    axes.text(x, y + 0.35 * many, GLYPHS[chain.action], ha="center", va="center", fontsize=size, zorder=4)
    if many:
        count = f"×{len(chain.nodes)}"
        axes.text(x, y - 0.5, count, ha="center", va="center", fontsize=0.9 * fontsize, zorder=4)


def _arrow(axes: Axes, points: Sequence[np.ndarray], seen: int) -> None:
    """A curve through two ends, with one control point or two between them."""
    codes = [Path.MOVETO, *[{3: Path.CURVE3, 4: Path.CURVE4}[len(points)]] * (len(points) - 1)]
    looks = {"arrowstyle": "-|>", "mutation_scale": 7, "lw": 0.9, "zorder": 2, "capstyle": "butt"} | EDGES[seen]
    axes.add_patch(FancyArrowPatch(path=Path(np.array(points), codes), **looks))  # type: ignore[arg-type]


def _draw_edge(axes: Axes, a: np.ndarray, b: np.ndarray, bend: float, seen: int) -> None:
    """From the edge of one circle to the edge of another; the way back is another curve."""
    across = np.array([a[1] - b[1], b[0] - a[0]])
    middle = bend * (a + b) / 2 + 0.06 * across * (bend < 1)
    begin, end = (place + (middle - place) / math.dist(middle, place) for place in (a, b))
    _arrow(axes, [begin, middle, end], seen)


def _draw_loop(axes: Axes, place: np.ndarray, angle: float, seen: int) -> None:
    """From a circle to itself."""
    begin, end = (np.array([math.cos(angle + d), math.sin(angle + d)]) for d in (-0.38, 0.38))
    _arrow(axes, [place + begin, place + 2.9 * begin, place + 2.9 * end, place + end], seen)


def _draw_begin(axes: Axes, place: np.ndarray, angle: float, seen: int, fontsize: float) -> None:
    """An arrow from outside, where a search begins."""
    out = np.array([math.cos(angle), math.sin(angle)])
    _arrow(axes, [place + 2.5 * out, place + 1.8 * out, place + out], seen)
    x, y = (place + 2.65 * out).tolist()
    sides = "left" if out[0] > 0.4 else "right" if out[0] < -0.4 else "center"
    level = "bottom" if out[1] > 0.4 else "top" if out[1] < -0.4 else "center"
    axes.text(x, y, "start", color=EDGES[seen]["color"], ha=sides, va=level, fontsize=0.95 * fontsize)
