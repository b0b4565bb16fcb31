"""Fig. 3, the geometry of recovery: recovery paths of single-Q agents, and where those that fail were last."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.drawing.boxes import metric_panels
from whiffclock.drawing.plane import TRAINED, RecoveryPath, legibility, limits, metrics_on_path, wind
from whiffclock.paper.dataset import MODE, SINGLE, Datasets, at_home, best_agents, in_each, recovery
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.last_whiffs import LAST_WHIFF, last_whiffs, of_each
from whiffclock.paper.figures.maps import recovery_paths
from whiffclock.path_metrics import MAIN_TRUNCATION

TITLE = "How agents search for a lost plume, and how that depends on sparsity"
NEEDS = at_home(SINGLE)


def draw(data: Datasets) -> Figure:
    paths = _paths(data)
    figure = style.new_figure(style.TWO_COLUMNS, 6.5)
    rows = figure.add_gridspec(3, 1, height_ratios=[3.0, 1.75, 1.45])
    shown = limits([path.trained for path in paths.values()], 0.12)
    tall = shown.height > 1.3 * shown.width
    upper = rows[0].subgridspec(1, 2, width_ratios=[1.5 if tall else 1, 1])
    across = len(paths) if tall or len(paths) < 3 else -(-len(paths) // 2)
    grid = np.asarray(upper[0].subgridspec(-(-len(paths) // across), across).subplots(squeeze=False))
    for axes in grid.flat[len(paths) :]:
        axes.set_axis_off()
    for axes, (name, path), colour in zip(grid.flat, paths.items(), style.colours(paths).values(), strict=False):
        path.draw(axes, colour)
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", anchor="N")
        style.title(axes, "a" if axes is grid[0, 0] else "", name, style.dark(colour))
        axes.tick_params(labelleft=axes in grid[:, 0], labelbottom=axes in grid[-1])
        axes.set(xlabel="x (cells)" if axes in grid[-1] else "", ylabel="y (cells)" if axes in grid[:, 0] else "")
    wind(grid[0, 0])
    _example(figure.add_subplot(upper[1], anchor="N"), paths)
    panels = np.asarray(rows[1].subgridspec(1, len(style.GEOMETRY_LABELS)).subplots())
    metric_panels(panels[:, None], [{"filled": recovery(data, SINGLE, MODE)["geometry_of"]}])
    style.title(panels[0], "c")
    _lost(figure.add_subplot(rows[2]), data)
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("fig3", data)(
        truncation=MAIN_TRUNCATION,
        trained=TRAINED,
        example=_clearest(_paths(data)),
        counting=captions.listing(str(lost.agents) for lost in last_whiffs(data, SINGLE).values()),
    )


def table(data: Datasets) -> captions.Table:
    geometry = recovery(data, SINGLE, MODE)["geometry_of"]
    lost = last_whiffs(data, SINGLE)
    found = {label: (geometry.sel(geometry=metric), ".0f") for metric, (label, _) in style.GEOMETRY_LABELS.items()}
    for label, name, form in (("fail (%)", "failing", ".1f"), ("no whiff (%)", "silent", ".0f")):
        found[label] = of_each(lost, name), form
    return captions.table(found | {"last whiff": (of_each(lost, "median"), ".0f")})


def alt(data: Datasets) -> str:
    geometry, paths = recovery(data, SINGLE, MODE)["geometry_of"], _paths(data)
    return captions.caption("fig3_alt", data)(
        moves=captions.ends(in_each(paths, lambda name: len(paths[name].trained) - 1), ".0f", "moves"),
        upwind=captions.ends(in_each(paths, lambda name: -paths[name].trained[:, 0].min()), ".0f", "cells"),
        search=captions.ends(geometry.sel(geometry="upwind_search"), ".0f", "cells"),
        begins=captions.ends(geometry.sel(geometry="downwind_return_start"), ".0f", "moves"),
        last=captions.ends(of_each(last_whiffs(data, SINGLE), "median"), ".0f", "cells"),
    )


def _paths(data: Datasets) -> dict[str, RecoveryPath]:
    """Of the agent with the highest reward in each environment."""
    best = best_agents(data, SINGLE)
    return {e: recovery_paths(data, SINGLE, MODE, e)[int(best.sel(environment=e))] for e in data.environments}


def _clearest(paths: dict[str, RecoveryPath]) -> str:
    return max(paths, key=lambda name: legibility(paths[name].trained))


def _example(axes: Axes, paths: dict[str, RecoveryPath]) -> None:
    chosen = _clearest(paths)
    style.title(axes, "b", "Five measures of a path")
    if legibility(paths[chosen].trained) > 0:
        metrics_on_path(axes, paths[chosen].trained, style.colours(paths)[chosen])
    else:
        style.empty(axes, "no moves in any path")


def _lost(axes: Axes, data: Datasets) -> None:
    style.title(axes, "d", "Last whiff of searches that fail, and their share of all searches")
    axes.set(xlabel=LAST_WHIFF, ylabel="density (per cell)")
    found = last_whiffs(data, SINGLE)
    if not any(lost.agents for lost in found.values()):
        style.empty(axes, "no failures")
        return
    for (name, lost), dashes in zip(found.items(), style.DASHES, strict=False):
        colour, grid = style.colours(found)[name], np.linspace(lost.x[0], lost.x[-1], 300)
        shape = lost.density(grid) if lost.agents else np.full(len(grid), np.nan)
        axes.fill_between(grid, shape, color=style.tint(colour, 0.6), alpha=0.25, lw=0)
        axes.plot(grid, shape, color=style.dark(colour), ls=dashes, lw=1.1, label=f"{name}: {lost.failing:.1f}%")
    axes.set(xlim=(lost.x[0], lost.x[-1]), ylim=(0, None))
    axes.legend(loc="upper right")
