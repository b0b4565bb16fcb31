"""Fig. B4, generalization: programs searched, or agents trained, in one environment and tested in all."""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.paper.dataset import (
    CAST,
    ROBUST,
    SEARCHED,
    SEARCHED_TWO,
    SINGLE,
    Datasets,
    at_home,
    elsewhere,
    where_trained,
)
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.s1 import matrix

TITLE = "Searched programs outside their environment"
NEEDS = (*at_home(SINGLE, SEARCHED, SEARCHED_TWO, ROBUST, CAST), *elsewhere(SINGLE, SEARCHED, SEARCHED_TWO))

#: Kinds of agents, with the kind and the name of the last row, and a title.
_PANELS = ((SINGLE, CAST, "cast-and-\nsurge", "Q-learned single-Q"), (SEARCHED, ROBUST, "robust", "searched clock"))


def draw(data: Datasets) -> Figure:
    figure, names = style.new_figure(style.TWO_COLUMNS, 3.4), data.environments.names
    panels = figure.subplots(1, 2)
    quantiles = [_rows(data, kind, last).quantile([0.25, 0.5, 0.75], "agent") for kind, last, _, _ in _PANELS]
    middles = [one.sel(quantile=0.5).values for one in quantiles]
    low, high = float(np.nanmin(middles)), float(np.nanmax(middles))
    for axes, (_, _, last, title), each, middle, letter in zip(panels, _PANELS, quantiles, middles, "ab", strict=True):
        ends = each.sel(quantile=[0.25, 0.75]).transpose("row", "tested", "quantile").values
        notes = [[_quartiles(*pair) for pair in row] for row in ends]
        looks = {"vmin": low, "vmax": max(high, low + 1e-6), "cmap": "viridis"}
        image = matrix(axes, names, middle, ".3f", notes, [last], **looks)
        axes.axhline(len(names) - 0.5, color="white", lw=2.5)
        axes.set(xlabel="tested in", ylabel="from" if letter == "a" else "")
        style.title(axes, letter, title)
    figure.colorbar(image, ax=list(panels), location="right", fraction=0.03, pad=0.015, label="median reward $G$")
    return figure


def _quartiles(low: float, high: float) -> str:
    return f"{captions.number(low, '.3f')}–{captions.number(high, '.3f')}" if low < high else ""


def _rows(data: Datasets, kind: str, last: str) -> xr.DataArray:
    """G of a kind from every environment, then that of a kind without one: float[row, tested, agent]."""
    rewards = data.searches["mean"].sel(metric="G")
    same = where_trained(rewards, last).rename(environment="tested")
    found = [rewards.sel(kind=kind, trained=name, drop=True) for name in data.environments] + [same.drop_vars("kind")]
    return xr.concat(found, "row", coords="minimal", compat="override").transpose("row", "tested", "agent")


def caption(data: Datasets) -> str:
    return captions.caption("b4", data)()


def table(data: Datasets) -> captions.Table:
    lowest = {kind: _lowest(data, kind) for kind in (SEARCHED, SINGLE)}
    return captions.table({"lowest median G": (list(lowest.values()), ".3f")})


def _lowest(data: Datasets, kind: str) -> xr.DataArray:
    """The lowest median G in any environment, by environment of training: float[environment]."""
    found = data.searches["mean"].sel(metric="G", kind=kind).median("agent").min("tested")
    return found.rename(trained="environment")


def alt(data: Datasets) -> str:
    learned, searched = (float(_lowest(data, kind).min()) for kind in (SINGLE, SEARCHED))
    robust = float(where_trained(data.searches["mean"], ROBUST).sel(metric="G").median("agent").min())
    numbers = {"learned": learned, "searched": searched, "robust": robust}
    return captions.caption("b4_alt", data)(**{name: captions.number(value, ".3f") for name, value in numbers.items()})
