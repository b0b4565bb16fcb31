"""Fig. 3, the geometry of recovery: void trajectories of single-Q agents, and where those that fail were last."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import lastwhiff, words
from whiffclock.paper.figures.annotate import example, metrics_on_path
from whiffclock.paper.figures.panels import Group, metric, metric_row
from whiffclock.paper.figures.style import (
    COLOURS,
    METRICS,
    TWO_COLUMNS,
    dark,
    empty,
    environment_title,
    new_figure,
    styled,
    tint,
    title,
)
from whiffclock.paper.figures.trails import frame, limits, trail, wind
from whiffclock.paper.figures.violins import density

TITLE = "How agents search for a lost plume, and how that depends on sparsity"


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    paths = result["path"]
    shown = limits(paths)
    height = TWO_COLUMNS / 4 * float(np.clip(shown.aspect, 0.3, 1.3)) + 0.45
    figure = new_figure(TWO_COLUMNS, height + 3.7)
    rows = figure.add_gridspec(2, 1, height_ratios=[height, 3.7])
    top = rows[0].subgridspec(1, 4)
    for e, name in enumerate(result.facts["environments"]):
        axes = figure.add_subplot(top[e])
        trail(axes, paths[e], COLOURS[name])
        frame(axes, shown)
        environment_title(axes, name, "a" if e == 0 else "")
        axes.set_xlabel("x (cells)")
        axes.tick_params(labelleft=e == 0)
        if e == 0:
            axes.set_ylabel("y (cells)")
            wind(axes)
    below = rows[1].subgridspec(2, 4, width_ratios=[1.75, 1, 1, 1])
    _example(figure.add_subplot(below[:, 0]), result)
    cells = [figure.add_subplot(below[i, j]) for i in range(2) for j in range(1, 4)]
    metric_row(cells[: len(METRICS)], result, [Group(result["geometry"])])
    title(cells[0], "c")
    _lost(cells[-1], result)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts, geometry = result.facts, result["geometry"]
    told = "; ".join(
        f"{label} {words.medians(result, metric(result, geometry, name), '.0f')} {unit}"
        for name, (label, unit) in METRICS.items()
    )
    shares = [lastwhiff.failing(result, one) for one in result["failures"]]
    last = words.listing(
        f"{lastwhiff.median(result, one)} ({name})"
        for name, one in zip(facts["environments"], result["lost"], strict=True)
    )
    return words.sentences(
        "(a) What the single-Q agent with the highest return does when it smells nothing more: moves from its last "
        "whiff (red dot) on, from bright to dark as the clock runs, up to the "
        f"{facts['truncation']} of the last training episodes. "
        "(b) Five measures of such a path: 1 upwind moves before it first turns aside, 2 its breadth, 3 how far upwind "
        "it gets, 4 its length along the wind, 5 the number of moves before it returns downwind. "
        f"(c) These measures over agents; an open dot at the top is an agent that never returns. Medians: {told}. "
        "(d) How far downwind of the source failed searches smelled their last whiff, all agents of an environment "
        f"together. Searches that fail: {words.each(facts['environments'], shares, '.1f')} per cent; median distance: "
        f"{last} cells.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _example(axes: Axes, result: Result) -> None:
    chosen = example(result["path"])
    title(axes, "b", "Five measures of a path")
    if chosen is None:
        empty(axes, "no moves in any path")
        return
    axes.set_anchor("N")
    metrics_on_path(axes, result["path"][chosen], COLOURS[result.facts["environments"][chosen]])


def _lost(axes: Axes, result: Result) -> None:
    title(axes, "d", "Last whiff if lost")
    axes.set_xlabel(lastwhiff.LABEL)
    axes.set_ylabel("density (per cell)")
    if not result["lost"].any():
        empty(axes, "no failures")
        return
    x, _ = lastwhiff.distances(result, result["lost"])
    grid = np.linspace(x[0], x[-1], 300)
    for name, lost in zip(result.facts["environments"], result["lost"], strict=True):
        _, counts = lastwhiff.distances(result, lost)
        shape = density(x, counts, grid, float(x[0])) if counts.any() else np.full(len(grid), np.nan)
        axes.fill_between(grid, shape, color=tint(COLOURS[name], 0.6), alpha=0.25, lw=0)
        axes.plot(grid, shape, color=dark(COLOURS[name]), lw=1.0, label=name if counts.any() else f"{name}: none")
    axes.set_xlim(float(x[0]), float(x[-1]))
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
    axes.legend(loc="upper right", fontsize=5.8, handlelength=1, borderpad=0, labelspacing=0.3)
