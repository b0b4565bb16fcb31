"""Fig. 7, what the two modes learn: their geometry, their paths, and how each fails alone."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.drawing.boxes import Fill, key, metric_panels
from whiffclock.drawing.plane import RecoveryPath, limits, wind
from whiffclock.paper import dataset as ds
from whiffclock.paper.dataset import HEURISTIC, MINUS, MODE, PLUS, SINGLE, TWO, Datasets, recovery, where_trained
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.last_whiffs import add_legend, failure_axis, last_whiffs, of_each
from whiffclock.paper.figures.maps import recovery_paths

TITLE = "What the two modes of the two-Q agent learn"
NEEDS = (*ds.trained(SINGLE), *ds.at_home(TWO, ds.MINUS_ONLY, ds.PLUS_ONLY, HEURISTIC))

#: Ensemble, mode and label by the fill of the boxes.
_BOXES: dict[Fill, tuple[str, str, str]] = {
    "open": (TWO, MINUS, style.MINUS),
    "filled": (SINGLE, MODE, "single-Q"),
    "solid": (TWO, PLUS, style.PLUS),
}
#: Measures whose medians are in the table.
_IN_TABLE = ("upwind_search", "downwind_return_start")
#: What the paper says about the modes.
_CLAIMED = {
    "surge_length": f"paper: {style.MINUS} longer",
    "upwind_search": f"paper: {style.PLUS} further",
    "downwind_return_start": f"paper: {style.PLUS} later",
}
#: Kinds of agents that fail, with their labels.
_ALONE = {ds.MINUS_ONLY: f"{style.MINUS} only", TWO: "two-Q", ds.PLUS_ONLY: f"{style.PLUS} only"}
#: In more environments, labels stand upright, and there is no room for numbers above the bars.
_FEW = 4


def draw(data: Datasets) -> Figure:
    paths, colours = _paths(data)
    shown = limits((path.trained for row in paths for path in row), 0.1)
    across = style.TWO_COLUMNS / (max(4, len(paths[0])) + 0.6)
    height = 2 * (across * float(np.clip(shown.height / shown.width, 0.4, 1.3)) + 0.12) + 0.4
    figure = style.new_figure(style.TWO_COLUMNS, height + 4.9)
    rows = figure.add_gridspec(3, 1, height_ratios=[3.1, height, 1.8])
    panels = np.asarray(rows[0].subgridspec(2, 3).subplots()).ravel()
    found = {fill: recovery(data, name, mode)["geometry_of"] for fill, (name, mode, _) in _BOXES.items()}
    metric_panels(panels[:-1, None], [found])
    for axes, metric in zip(panels, style.GEOMETRY_LABELS, strict=False):
        style.title(axes, "a" if axes is panels[0] else "", _CLAIMED.get(metric, ""))
    panels[-1].set_axis_off()
    keys = [key(label, fill) for fill, (_, _, label) in _BOXES.items()]
    panels[-1].legend(handles=keys, loc="center", fontsize=7.5, handlelength=2.2, labelspacing=0.9)
    grid = np.asarray(rows[1].subgridspec(2, len(paths[0])).subplots(squeeze=False))
    for (i, j), axes in np.ndenumerate(grid):
        paths[i][j].draw(axes, colours[i][j])
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel="x (cells)" if i == 1 else "")
        axes.tick_params(labelleft=j == 0, labelbottom=i == 1)
    _label_paths(grid, data)
    _alone(figure.add_subplot(rows[2]), data)
    add_legend(figure, "d")
    return figure


def caption(data: Datasets) -> str:
    composed = captions.caption("fig7_composed", data)() if data.facts["heuristic_from"] else ""
    return captions.caption("fig7", data)(composed=composed)


def table(data: Datasets) -> captions.Table:
    modes = {metric: [_geometry(data, mode, metric) for mode in (MINUS, PLUS)] for metric in _IN_TABLE}
    lost = [last_whiffs(data, kind) for kind in _ALONE]
    numbers = {name: [of_each(found, name) for found in lost] for name in ("failing", "silent", "median")}
    return captions.table(
        {f"{style.GEOMETRY_LABELS[name][0]}, Q⁻ · Q⁺": (values, ".0f") for name, values in modes.items()}
        | {
            "fail (%)": (numbers["failing"], ".1f"),
            "never met odor (% of these)": (numbers["silent"], ".0f"),
            "median last whiff": (numbers["median"], ".0f"),
        }
    )


def alt(data: Datasets) -> str:
    minus, plus = (_geometry(data, mode, "upwind_search") for mode in (MINUS, PLUS))
    minus_only, two, plus_only = (of_each(last_whiffs(data, kind), "failing") for kind in _ALONE)
    return captions.caption("fig7_alt", data)(
        composed=" and of one 2Qʰ agent" * bool(data.facts["heuristic_from"]),
        minus=captions.ends(minus, ".0f", "cells"),
        plus=captions.ends(plus, ".0f", "cells"),
        longer=captions.places(captions.medians(plus) > captions.medians(minus)),
        two=captions.ends(two, ".1f", "per cent"),
        less_minus=captions.places(two < minus_only),
        less_plus=captions.places(two < plus_only),
    )


def _geometry(data: Datasets, mode: str, metric: str) -> xr.DataArray:
    return recovery(data, TWO, mode)["geometry_of"].sel(geometry=metric)


def _paths(data: Datasets) -> tuple[list[list[RecoveryPath]], list[list[str]]]:
    """Paths and colours [mode][column]: the best two-Q agent of each environment, then the best 2Q^h agent."""
    best, shades = ds.best_agents(data, TWO), style.colours(data.environments)
    rewards = where_trained(data.searches["mean"], HEURISTIC).sel(metric="G").mean("environment")
    composed = int(rewards.fillna(-np.inf).idxmax("agent"))
    origins = data.facts["heuristic_from"] or ("", "")
    paths, colours = [], []
    for mode, origin in zip((MINUS, PLUS), origins, strict=True):
        of_best = [recovery_paths(data, TWO, mode, e)[int(best.sel(environment=e))] for e in shades]
        of_parts = [recovery_paths(data, SINGLE, MODE, origin)[composed]] if origin else []
        paths.append([*of_best, *of_parts])
        colours.append([*shades.values(), *([shades[origin]] if origin else [])])
    return paths, colours


def _label_paths(grid: np.ndarray, data: Datasets) -> None:
    shades, origins = style.colours(data.environments), data.facts["heuristic_from"]
    for j, (name, colour) in enumerate(shades.items()):
        style.title(grid[0, j], "b" if j == 0 else "", name, style.dark(colour))
    for axes, name, letter, word in zip(grid[:, -1], origins, ("c", ""), ("2Q$^h$ from ", "from "), strict=False):
        style.title(axes, letter, word + name, style.dark(shades[name]))
    for axes, mode in zip(grid[:, 0], (style.MINUS, style.PLUS), strict=True):
        axes.set_ylabel(f"{mode}\ny (cells)")
    wind(grid[0, 0])


def _alone(axes: Axes, data: Datasets) -> None:
    found, names = {kind: last_whiffs(data, kind) for kind in _ALONE}, data.environments.names
    places, few = [0.3 * (j - (len(_ALONE) - 1) / 2) for j in range(len(_ALONE))], len(names) <= _FEW
    for shift, kind in zip(places, _ALONE, strict=True):
        for e, (lost, colour) in enumerate(zip(found[kind].values(), style.colours(names).values(), strict=True)):
            lost.bar(axes, e + shift, colour, 0.24, number=few)
    style.environment_axis(axes, names, borders=True)
    for e, word in enumerate(axes.get_xticklabels()):
        axes.annotate(word.get_text(), (e, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                      color=word.get_color())  # fmt: skip
    at, labels = [e + shift for e in range(len(names)) for shift in places], [*_ALONE.values()] * len(names)
    axes.set_xticks(at, labels, fontsize=style.SMALLEST, color=style.INK, rotation=0 if few else 90)
    axes.set_xlim(-0.5, len(names) - 0.5)
    failure_axis(axes, (lost for each in found.values() for lost in each.values()))
    style.title(axes, "d", "Searches that fail, with both modes and with one alone", pad=13)
