"""Fig. 3, the geometry of recovery: void trajectories of single-Q agents, and where those that fail were last."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.geometry import MAIN_TRUNCATION
from whiffclock.paper.dataset import (
    ENVIRONMENT_NAMES,
    MODE,
    SINGLE,
    Datasets,
    at_home,
    best_agents,
    recovery,
    void_path,
)
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import Group, metric_row
from whiffclock.paper.figures.trails import frame, legibility, limits, metrics_on_path, trail, wind
from whiffclock.paper.figures.violins import LAST_WHIFF, density, failing, last_whiffs, median_last_whiff

TITLE = "How agents search for a lost plume, and how that depends on sparsity"
NEEDS = ("single-Q at home",)


def draw(data: Datasets) -> Figure:
    """The figure."""
    best = best_agents(data, SINGLE)
    paths = {e: void_path(data, SINGLE, MODE, e, int(best.sel(environment=e))) for e in ENVIRONMENT_NAMES}
    shown = limits(paths.values())
    height = style.TWO_COLUMNS / 4 * float(np.clip(shown.aspect, 0.3, 1.3)) + 0.45
    figure = style.new_figure(style.TWO_COLUMNS, height + 3.7)
    rows = figure.add_gridspec(2, 1, height_ratios=[height, 3.7])
    top = rows[0].subgridspec(1, 4)
    for e, (name, path) in enumerate(paths.items()):
        axes = figure.add_subplot(top[e])
        trail(axes, path, style.COLOURS[name])
        frame(axes, shown)
        style.environment_title(axes, name, "a" if e == 0 else "")
        axes.set_xlabel("x (cells)")
        axes.tick_params(labelleft=e == 0)
        if e == 0:
            axes.set_ylabel("y (cells)")
            wind(axes)
    below = rows[1].subgridspec(2, 4, width_ratios=[1.75, 1, 1, 1])
    _example(figure.add_subplot(below[:, 0]), paths)
    cells = [figure.add_subplot(below[i, j]) for i in range(2) for j in range(1, 4)]
    metric_row(cells[: len(style.METRICS)], [Group(recovery(data, SINGLE, MODE)["geometry_of"])])
    style.title(cells[0], "c")
    _lost(cells[-1], data)
    return figure


def caption(data: Datasets) -> str:
    """What the figure shows, with its numbers."""
    geometry = recovery(data, SINGLE, MODE)["geometry_of"]
    told = "; ".join(
        f"{label} {words.medians(geometry.sel(geometry=metric), '.0f')} {unit}"
        for metric, (label, unit) in style.METRICS.items()
    )
    shares = failing(data, at_home(data.searches["failures"], SINGLE))
    lost = at_home(data.searches["lost"], SINGLE)
    last = words.listing(f"{median_last_whiff(data, lost.sel(environment=e))} ({e})" for e in ENVIRONMENT_NAMES)
    return (
        "(a) What the single-Q agent with the highest return does when it smells nothing more: moves from its last "
        "whiff (red dot) on, from bright to dark as the clock runs, up to the "
        f"{MAIN_TRUNCATION} of the last training episodes. "
        "(b) Five measures of such a path: 1 upwind moves before it first turns aside, 2 its breadth, 3 how far upwind "
        "it gets, 4 its length along the wind, 5 the number of moves before it returns downwind. "
        f"(c) These measures over agents; an open dot at the top is an agent that never returns. Medians: {told}. "
        "(d) How far downwind of the source failed searches smelled their last whiff, all agents of an environment "
        f"together. Searches that fail: {words.each(shares, '.1f')} per cent; median distance: {last} cells. "
        f"{words.run(data)}"
    )


def _example(axes: Axes, paths: dict[str, np.ndarray]) -> None:
    chosen = max(paths, key=lambda name: legibility(paths[name]))
    style.title(axes, "b", "Five measures of a path")
    if legibility(paths[chosen]) <= 0:
        style.empty(axes, "no moves in any path")
        return
    axes.set_anchor("N")
    metrics_on_path(axes, paths[chosen], style.COLOURS[chosen])


def _lost(axes: Axes, data: Datasets) -> None:
    lost = at_home(data.searches["lost"], SINGLE)
    style.title(axes, "d", "Last whiff if lost")
    axes.set_xlabel(LAST_WHIFF)
    axes.set_ylabel("density (per cell)")
    if not lost.any():
        style.empty(axes, "no failures")
        return
    for name, colour in style.COLOURS.items():
        x, counts = last_whiffs(data, lost.sel(environment=name))
        grid = np.linspace(x[0], x[-1], 300)
        shape = density(x, counts, grid, float(x[0])) if counts.any() else np.full(len(grid), np.nan)
        axes.fill_between(grid, shape, color=style.tint(colour, 0.6), alpha=0.25, lw=0)
        axes.plot(grid, shape, color=style.dark(colour), lw=1.0, label=name if counts.any() else f"{name}: none")
    axes.set_xlim(float(x[0]), float(x[-1]))
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
    axes.legend(loc="upper right", fontsize=5.8, handlelength=1, borderpad=0, labelspacing=0.3)
