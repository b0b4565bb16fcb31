"""Fig. 3, the geometry of recovery: recovery paths of single-Q agents, and where those that fail were last."""

from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from whiffclock.drawing import style
from whiffclock.drawing.boxes import metric_panels
from whiffclock.drawing.plane import RecoveryPath, legibility, limits, metrics_on_path, wind
from whiffclock.paper.dataset import MODE, SINGLE, Datasets, at_home, best_agents, in_each, recovery
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.last_whiffs import REGIONS, add_legend, failure_axis, last_whiffs, of_each
from whiffclock.paper.figures.maps import recovery_paths

TITLE = "How agents search for a lost plume, and how that depends on sparsity"
NEEDS = at_home(SINGLE)

#: In inches: greatest width and height of all paths together, least height with the example, room for labels.
_WIDEST, _TALLEST, _LEAST, _LABELS, _TITLE = 4.7, 2.4, 2.0, 0.4, 0.2


def draw(data: Datasets) -> Figure:
    paths = _paths(data)
    shown = limits([path.trained for path in paths.values()], 0.08)
    across, width, height = _arrangement(len(paths), shown)
    figure = style.new_figure(style.TWO_COLUMNS, height + 4.1)
    rows = figure.add_gridspec(3, 1, height_ratios=[height, 1.85, 1.75])
    upper = rows[0].subgridspec(1, 2, width_ratios=[width, style.TWO_COLUMNS - width])
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
    for number, (axes, (label, unit)) in enumerate(zip(panels, style.GEOMETRY_LABELS.values(), strict=True), 1):
        axes.set_ylabel(f"{number}  {label}\n({unit})")
    bars, curves = np.asarray(rows[2].subgridspec(1, 2, width_ratios=[1, 1.5]).subplots())
    _lost(bars, curves, data)
    add_legend(figure, "d")
    return figure


def _arrangement(count: int, shown: Bbox) -> tuple[int, float, float]:
    """How many paths side by side make them largest, and the width and height of all together in inches."""

    def scale(across: int) -> float:
        down = -(-count // across)
        return min((_WIDEST - _LABELS) / across / shown.width, _TALLEST / down / shown.height)

    across = max(range(1, count + 1), key=scale)
    width, height = scale(across) * shown.width, scale(across) * shown.height
    down = -(-count // across)
    return across, across * (width + _TITLE / 2) + _LABELS, max(_LEAST, down * (height + _TITLE) + _LABELS)


def caption(data: Datasets) -> str:
    return captions.caption("fig3", data)()


def table(data: Datasets) -> captions.Table:
    geometry = recovery(data, SINGLE, MODE)["geometry_of"]
    lost = last_whiffs(data, SINGLE)
    found = {label: (geometry.sel(geometry=metric), ".0f") for metric, (label, _) in style.GEOMETRY_LABELS.items()}
    for label, name, form in (("fail (%)", "failing", ".1f"), ("never met odor (% of these)", "silent", ".0f")):
        found[label] = of_each(lost, name), form
    return captions.table(found | {"median last whiff": (of_each(lost, "median"), ".0f")})


def alt(data: Datasets) -> str:
    geometry, paths = recovery(data, SINGLE, MODE)["geometry_of"], _paths(data)
    return captions.caption("fig3_alt", data)(
        moves=captions.ends(in_each(paths, lambda name: len(paths[name].trained) - 1), ".0f", "moves"),
        upwind=captions.ends(in_each(paths, lambda name: -paths[name].trained[:, 0].min()), ".0f", "cells"),
        search=captions.ends(geometry.sel(geometry="upwind_search"), ".0f", "cells"),
        begins=captions.ends(geometry.sel(geometry="downwind_return_start"), ".0f", "moves"),
        failing=captions.ends(of_each(last_whiffs(data, SINGLE), "failing"), ".1f", "per cent"),
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
    style.title(axes, "b", f"Five measures ({chosen})")
    if legibility(paths[chosen].trained) > 0:
        metrics_on_path(axes, paths[chosen].trained, style.colours(paths)[chosen])
    else:
        style.empty(axes, "no moves in any path")


def _lost(bars: Axes, curves: Axes, data: Datasets) -> None:
    """How many searches fail, by where they were last; and the distances of those that met odor."""
    style.title(bars, "d", "Searches that fail")
    style.title(curves, "e", "Last whiff of searches that fail")
    found, colours = last_whiffs(data, SINGLE), style.colours(data.environments)
    for at, (name, lost) in enumerate(found.items()):
        lost.bar(bars, at, colours[name], 0.7)
    style.environment_axis(bars, data.environments.names, rotate=len(found) > 4)
    failure_axis(bars, found.values())
    curves.set(xlabel="distance downwind of the source (cells)", ylabel="density (per cell)")
    if not any(lost.agents for lost in found.values()):
        style.empty(curves, "no failures")
        return
    for (name, lost), dashes in zip(found.items(), style.DASHES, strict=False):
        colour, grid = colours[name], np.linspace(lost.x[0], lost.x[-1], 300)
        shape = lost.density(grid) if lost.agents else np.full(len(grid), np.nan)
        label = f"{name}: median {captions.number(lost.median, '.0f')}"
        curves.plot(grid, shape, color=style.dark(colour), ls=dashes, lw=1.1, label=label)
        curves.plot(lost.median, 0, "^", ms=4, color=colour, mec=style.dark(colour), mew=0.5, clip_on=False, zorder=4)
    for _, end in list(REGIONS.values())[:-1]:
        curves.axvline(end * lost.x[-1], color=style.FADED, lw=0.6, ls=(0, (2, 2)), zorder=0)
        curves.text(end * lost.x[-1] + 1, 0.98, str(Fraction(end).limit_denominator(9)), va="top", color=style.GREY,
                    transform=curves.get_xaxis_transform())  # fmt: skip
    curves.set(xlim=(lost.x[0], lost.x[-1]), ylim=(0, None))
    curves.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
