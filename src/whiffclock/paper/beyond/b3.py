"""Fig. B3, recovery paths of searched programs, and their geometry beside that of Q-learned agents."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.drawing.boxes import Fill, key, metric_panels
from whiffclock.drawing.plane import TRAINED, RecoveryPath, limits, wind
from whiffclock.paper.beyond.verdicts import best_robust
from whiffclock.paper.dataset import (
    MODE,
    ROBUST,
    SEARCHED,
    SEARCHED_TWO,
    SINGLE,
    Datasets,
    at_home,
    best_agents,
    recovery,
)
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.maps import recovery_paths

TITLE = "How searched programs search for a lost plume"
NEEDS = at_home(SINGLE, SEARCHED, SEARCHED_TWO, ROBUST)

#: Ensembles by the fill of their boxes, with their labels.
_BOXES: dict[Fill, tuple[str, str]] = {"solid": (SEARCHED, "searched clock"), "open": (SINGLE, "Q-learned single-Q")}


def draw(data: Datasets) -> Figure:
    rows, shades = _paths(data), style.colours(data.environments) | {"robust": style.INK}
    shown = [limits((path.trained for path in row.values()), 0.08) for row in rows]
    across = style.TWO_COLUMNS / (len(shades) + 0.5)
    tall = [across * float(np.clip(box.height / box.width, 0.4, 1.6)) + 0.4 for box in shown]
    figure = style.new_figure(style.TWO_COLUMNS, sum(tall) + 2.2)
    parts = figure.add_gridspec(2, 1, height_ratios=[sum(tall), 2.0])
    grid = np.asarray(parts[0].subgridspec(2, len(shades), height_ratios=tall).subplots(squeeze=False))
    for places, row, box, letter in zip(grid, rows, shown, "ab", strict=True):
        for axes, (name, colour) in zip(places, shades.items(), strict=True):
            if name not in row:
                axes.set_axis_off()
                continue
            row[name].draw(axes, colour)
            axes.set(xlim=box.intervalx, ylim=box.intervaly, aspect="equal", xlabel="x (cells)")
            axes.tick_params(labelleft=axes is places[0])
            style.title(axes, letter if axes is places[0] else "", name, style.dark(colour))
        places[0].set_ylabel("y (cells)")
    wind(grid[0, 0])
    keys = [key(label, fill) for fill, (_, label) in _BOXES.items()]
    grid[1, -1].legend(handles=keys, loc="center", title="in (c)", title_fontsize=6.5)
    panels = np.asarray(parts[1].subgridspec(1, len(style.GEOMETRY_LABELS)).subplots())
    metric_panels(panels[:, None], [{fill: _geometry(data, name) for fill, (name, _) in _BOXES.items()}])
    style.title(panels[0], "c")
    return figure


def _paths(data: Datasets) -> list[dict[str, RecoveryPath]]:
    """Of the best agent in each environment, searched and then Q-learned; the best robust program after the first."""
    rows = []
    for kind in (SEARCHED, SINGLE):
        best = best_agents(data, kind)
        rows.append({e: recovery_paths(data, kind, MODE, e)[int(best.sel(environment=e))] for e in data.environments})
    rows[0]["robust"] = recovery_paths(data, ROBUST, MODE, data.environments.names[0])[best_robust(data)]
    return rows


def _geometry(data: Datasets, ensemble: str) -> xr.DataArray:
    return recovery(data, ensemble, MODE, TRAINED)["geometry_of"]


def caption(data: Datasets) -> str:
    return captions.caption("b3", data)(trained=TRAINED)


def table(data: Datasets) -> captions.Table:
    both = [_geometry(data, kind) for kind, _ in _BOXES.values()]
    labels = {metric: label for metric, (label, _) in style.GEOMETRY_LABELS.items()}
    return captions.table({label: ([one.sel(geometry=m) for one in both], ".0f") for m, label in labels.items()})


def alt(data: Datasets) -> str:
    geometry = _geometry(data, SEARCHED)
    return captions.caption("b3_alt", data)(
        search_length=captions.ends(geometry.sel(geometry="upwind_search"), ".0f", "cells"),
        begins=captions.ends(geometry.sel(geometry="downwind_return_start"), ".0f", "moves"),
    )
