"""Fig. S2, how much of a void trajectory counts: geometry under the five truncations."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.boxes import key
from whiffclock.paper.figures.panels import Group, metric, metric_grid
from whiffclock.paper.figures.style import COLOURS, GREY, METRICS, MINUS, PLUS, TWO_COLUMNS, dark, new_figure, styled

TITLE = "Geometry of recovery under five truncations of the path"

_NUMERALS = ("i", "ii", "iii", "iv", "v")
_MARKERS = {"minus": ("v", -0.36), "plus": ("^", 0.36)}


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    truncations = result.facts["truncations"]
    figure = new_figure(TWO_COLUMNS, 7.4)
    rows, columns = len(METRICS), len(truncations)
    grid = np.array(
        [[figure.add_subplot(rows, columns, columns * i + j + 1) for j in range(columns)] for i in range(rows)]
    )
    metric_grid(grid, result, [[Group(values)] for values in result["single"]])
    for (i, j), axes in np.ndenumerate(grid):
        _modes(axes, result, int(j), list(METRICS)[int(i)])
    for j, (axes, name) in enumerate(zip(grid[0], truncations, strict=True)):
        weight = "bold" if j == result.facts["main"] else "normal"
        words_of = "all moves" if name == "none" else name
        axes.set_title(f"({_NUMERALS[j]}) {words_of}", loc="left", fontsize=6.5, fontweight=weight)
    figure.legend(handles=_keys(), loc="outside upper center", ncols=3)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    lengths = words.listing(
        f"{words.number(words.middle(steps), '.0f')} ({'all moves' if name == 'none' else name})"
        for name, steps in zip(facts["truncations"], result["steps_single"], strict=True)
    )
    first, last = facts["environments"][0], facts["environments"][-1]
    growing = sum(
        words.middle(one[-1]) > words.middle(one[0]) for one in metric(result, result["single"], "upwind_search")
    )
    return words.sentences(
        "The path after a last whiff, cut at five points (columns; bold: the one that other figures use). Boxes: "
        "single-Q agents; triangles: medians of the modes Q⁻ and Q⁺ of two-Q agents. An open dot at the top is an "
        "agent whose path does not return before it is cut; a median that falls there has no triangle. "
        f"Median lengths of the single-Q paths, all environments together: {lengths} moves. The median upwind search "
        f"of single-Q agents is longer in {last} than in {first} under {growing} of {len(facts['truncations'])} "
        "truncations.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _modes(axes: Axes, result: Result, truncation: int, name: str) -> None:
    """Medians of Q- and Q+ beside the boxes."""
    for kind, (marker, shift) in _MARKERS.items():
        values = metric(result, result[kind][truncation], name)
        for e, environment in enumerate(result.facts["environments"]):
            middle = words.middle(values[e])
            if np.isfinite(middle):
                axes.plot(e + shift, middle, marker, ms=2.6, color=dark(COLOURS[environment]), mew=0, clip_on=True)


def _keys() -> list:
    marks = [(MINUS, "v"), (PLUS, "^")]
    lines = [Line2D([], [], ls="", marker=m, ms=3.5, color=GREY, label=f"{word}, median") for word, m in marks]
    return [key("single-Q", "filled"), *lines]
