"""Fig. S4, every policy: the void trajectories of all single-Q agents, and of both modes of all two-Q agents."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.style import (
    COLOURS,
    GREY,
    INK,
    MINUS,
    PLUS,
    TWO_COLUMNS,
    dark,
    new_figure,
    styled,
    title,
)
from whiffclock.paper.figures.trails import limits, trail, walked

TITLE = "All policies"

_KINDS = {"single": "single-Q", "minus": f"two-Q: {MINUS}", "plus": f"two-Q: {PLUS}"}
#: Agents side by side in a panel, at least, and its height in inches, at most.
_FEWEST, _TALLEST = 5, 2.05
_BAR = 50


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    names = result.facts["environments"]
    paths = {kind: _counting(result, kind) for kind in _KINDS}
    cell = _cell([path for rows in paths.values() for row in rows for path in row])
    agents = result["single"].shape[1]
    across, tall = _across(agents, cell)
    figure = new_figure(TWO_COLUMNS, len(names) * (tall + 0.08) + 0.45)
    grid = np.array([[figure.add_subplot(len(names), 3, 3 * e + j + 1) for j in range(3)] for e in range(len(names))])
    for (e, j), axes in np.ndenumerate(grid):
        kind = list(_KINDS)[int(j)]
        ordered = [paths[kind][e][a] for a in _order(result, kind, int(e))]
        _thumbnails(axes, ordered, COLOURS[names[int(e)]], cell, across)
        if e == 0:
            title(axes, "abc"[int(j)], _KINDS[kind])
        if j == 0:
            axes.set_ylabel(names[int(e)], color=dark(COLOURS[names[int(e)]]), fontsize=7.5)
    _scale(grid[-1, -1])
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    return words.sentences(
        "What every agent does when it smells nothing more, from its last whiff (red dot) on, upwind to the left, from "
        "bright to dark as the clock runs; all on one scale, as far as the largest void state of the agent's last "
        f"training episodes. (a) Single-Q, {result['single'].shape[1]} agents per environment, in the order of their "
        "return, the best first. (b, c) The two modes of as many two-Q agents, in the same places in both. Median "
        f"moves shown: single-Q {words.medians(result, result['steps_single'], '.0f')}; two-Q "
        f"{words.medians(result, result['steps_two'], '.0f')}. Highest and lowest return of a single-Q agent: "
        f"{words.number(float(result['G_single'].max()))} and {words.number(float(result['G_single'].min()))}.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _counting(result: Result, kind: str) -> list[list[np.ndarray]]:
    """Paths [e][a] as far as they count."""
    steps = result["steps_single" if kind == "single" else "steps_two"]
    return [
        [walked(path)[: int(n) + 1] for path, n in zip(paths, counts, strict=True)]
        for paths, counts in zip(result[kind], steps, strict=True)
    ]


def _order(result: Result, kind: str, e: int) -> np.ndarray:
    return np.argsort(-result["G_single" if kind == "single" else "G_two"][e], kind="stable")


def _cell(paths: list[np.ndarray]) -> tuple[float, float]:
    """Width and height of the place of one path: enough for the longest and the broadest."""
    spans = np.array([np.ptp(path, axis=0) for path in paths])
    width, height = np.maximum(spans.max(axis=0), 10) * 1.12
    return float(width), float(height)


def _across(agents: int, cell: tuple[float, float]) -> tuple[int, float]:
    """Agents side by side in a panel, and its height in inches: as few as leave a page high enough for all."""
    for across in range(min(agents, _FEWEST), agents + 1):
        tall = (TWO_COLUMNS - 0.4) / 3 * math.ceil(agents / across) * cell[1] / (across * cell[0])
        if tall <= _TALLEST:
            return across, tall
    return agents, _TALLEST


def _thumbnails(axes: Axes, paths: list[np.ndarray], colour: str, cell: tuple[float, float], across: int) -> None:
    down = math.ceil(len(paths) / across)
    for place, path in enumerate(paths):
        box = limits([path], 0)
        centre = np.array([(place % across + 0.5) * cell[0], -(place // across + 0.5) * cell[1]])
        trail(axes, path, colour, 0.6, centre - [(box.left + box.right) / 2, (box.bottom + box.top) / 2])
    axes.set_xlim(0, across * cell[0])
    axes.set_ylim(-down * cell[1], 0)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("#CCCCCC")


def _scale(axes: Axes) -> None:
    """How long some cells are, under the last panel."""
    right = axes.get_xlim()[1]
    axes.plot(
        [right - _BAR, right], [-0.06] * 2, color=INK, lw=1.2, transform=axes.get_xaxis_transform(), clip_on=False
    )
    axes.annotate(f"wind →        {_BAR} cells", (right - _BAR - 4, -0.06), xycoords=axes.get_xaxis_transform(),
                  ha="right", va="center", fontsize=6, color=GREY, annotation_clip=False)  # fmt: skip
