"""Fig. S4, every policy: the void trajectories of all single-Q agents, and of both modes of all two-Q agents."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.paper.dataset import MINUS, MODE, PLUS, SINGLE, TWO, Datasets, at_home, recovery, void_path
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.trails import limits, trail

TITLE = "All policies"
NEEDS = ("single-Q at home", "two-Q at home")

#: Ensemble and mode of each column.
_COLUMNS = {"single-Q": (SINGLE, MODE), f"two-Q: {style.MINUS}": (TWO, MINUS), f"two-Q: {style.PLUS}": (TWO, PLUS)}
#: Agents side by side in a panel, at least, and its height in inches, at most.
_FEWEST, _TALLEST = 5, 2.05
_BAR = 50


def draw(data: Datasets) -> Figure:
    """The figure."""
    paths = [[_paths(data, *column, name) for column in _COLUMNS.values()] for name in style.COLOURS]
    cell = _cell([path for row in paths for panel in row for path in panel])
    across, tall = _across(len(paths[0][0]), cell)
    figure = style.new_figure(style.TWO_COLUMNS, len(paths) * (tall + 0.08) + 0.45)
    grid = figure.subplots(len(paths), len(_COLUMNS))
    for row, panels, (name, colour) in zip(paths, grid, style.COLOURS.items(), strict=True):
        for panel, axes in zip(row, panels, strict=True):
            _thumbnails(axes, panel, colour, cell, across)
        panels[0].set_ylabel(name, color=style.dark(colour), fontsize=7.5)
    for axes, letter, label in zip(grid[0], "abc", _COLUMNS, strict=True):
        style.title(axes, letter, label)
    _scale(grid[-1, -1])
    return figure


def caption(data: Datasets) -> str:
    """What the figure shows, with its numbers."""
    single, minus, plus = (recovery(data, *column)["steps"] for column in _COLUMNS.values())
    returns = at_home(data.searches["mean"], SINGLE).sel(metric="G")
    return (
        "What every agent does when it smells nothing more, from its last whiff (red dot) on, upwind to the left, from "
        "bright to dark as the clock runs; all on one scale, as far as the largest void state of the mode in the last "
        f"training episodes. (a) Single-Q, {single.sizes['agent']} agents per environment, in the order of their "
        "return, the best first. (b, c) The two modes of as many two-Q agents, in the same places in both. Median "
        f"moves shown: single-Q {words.medians(single, '.0f')}; Q⁻ {words.medians(minus, '.0f')}; "
        f"Q⁺ {words.medians(plus, '.0f')}. Highest and lowest return of a single-Q agent: "
        f"{words.number(float(returns.max()))} and {words.number(float(returns.min()))}. {words.run(data)}"
    )


def _paths(data: Datasets, ensemble: str, mode: str, environment: str) -> list[np.ndarray]:
    """Paths of the agents of an environment, as far as they count; the best agent comes first."""
    returns = at_home(data.searches["mean"], ensemble).sel(metric="G", environment=environment)
    ordered = returns["agent"].values[np.argsort(-returns.values, kind="stable")]
    return [void_path(data, ensemble, mode, environment, agent) for agent in ordered]


def _cell(paths: list[np.ndarray]) -> tuple[float, float]:
    """Width and height of the place of one path: enough for the longest and the broadest."""
    spans = np.array([np.ptp(path, axis=0) for path in paths])
    width, height = np.maximum(spans.max(axis=0), 10) * 1.12
    return float(width), float(height)


def _across(agents: int, cell: tuple[float, float]) -> tuple[int, float]:
    """Agents side by side in a panel, and its height in inches: as few as leave a page high enough for all."""
    for across in range(min(agents, _FEWEST), agents + 1):
        tall = (style.TWO_COLUMNS - 0.4) / 3 * math.ceil(agents / across) * cell[1] / (across * cell[0])
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
    right, below = axes.get_xlim()[1], axes.get_xaxis_transform()
    axes.plot([right - _BAR, right], [-0.06] * 2, color=style.INK, lw=1.2, transform=below, clip_on=False)
    axes.annotate(f"wind →        {_BAR} cells", (right - _BAR - 4, -0.06), xycoords=below,
                  ha="right", va="center", fontsize=6, color=style.GREY, annotation_clip=False)  # fmt: skip
