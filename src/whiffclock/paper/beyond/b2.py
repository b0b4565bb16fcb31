"""Fig. B2, the memory-reward curve: the best found with a memory of a size."""

from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.drawing import style
from whiffclock.paper.dataset import (
    BAYES,
    BY_LEARNING,
    BY_SEARCH,
    CAST,
    SEARCHED,
    SINGLE,
    Datasets,
    at_home,
    in_each,
    where_trained,
)
from whiffclock.paper.figures import captions

TITLE = "How much memory does a reward need?"
NEEDS = at_home(SINGLE, SEARCHED, CAST, BAYES)

_METRICS = {name: style.PERFORMANCE[name] for name in ("G", "f+")}
#: Families of memories: how they are called, their marker and the line between them.
_FAMILIES: dict[str, tuple[str, str, Any]] = {
    "clock": ("clock", "o", "-"),
    "modes": ("clock with modes", "s", ""),
    "window": ("window", "^", ""),
    "controller": ("controller", "D", (0, (2, 1.5))),
}
_BASELINES: dict[str, dict[str, Any]] = {
    BAYES: style.BAYES_LINE | {"lw": 1.0},
    CAST: style.CAST_LINE | {"lw": 1.0},
}
#: Ticks along the size of the memory.
_BITS = (1, 3, 5, 7, 9)
#: Clocks up to this number of states are short.
_SHORT = 35
#: Room below the lowest of what the axes must show, as a share of their span.
_ROOM = 0.15
_ARROW: dict[str, Any] = {"arrowstyle": "-|>", "lw": 0.7, "shrinkA": 0, "shrinkB": 0}


def draw(data: Datasets) -> Figure:
    figure, names = style.new_figure(style.TWO_COLUMNS, 4.0), data.environments.names
    grid = figure.subplots(2, len(names), sharex=True, sharey="row", squeeze=False)
    for j, (name, colour) in enumerate(style.colours(names).items()):
        for axes, metric in zip(grid[:, j], _METRICS, strict=True):
            _panel(axes, data, name, metric, colour)
        style.title(grid[0, j], "", name, style.dark(colour))
        grid[1, j].set_xlabel("states\n(bits)", fontsize=6.5)
    for row, (metric, label) in zip(grid, _METRICS.items(), strict=True):
        row[0].set(ylabel=label, ylim=_useful(data, metric))
        for axes, (name, colour) in zip(row, style.colours(names).items(), strict=True):
            _mark_outside(axes, data, name, metric, colour)
    figure.legend(handles=_keys(data), loc="outside upper center", ncols=4, columnspacing=1.4)
    return figure


def _panel(axes: Axes, data: Datasets, name: str, metric: str, colour: str) -> None:
    for kind, line_looks in _BASELINES.items():
        level = where_trained(data.searches["mean"], kind).sel(environment=name, metric=metric, agent=0)
        axes.axhline(float(level), **line_looks)
    memories, best = data["memories"], _best(data, metric).sel(trained=name)
    for family, (_, marker, line) in _FAMILIES.items():
        here = (memories["family"] == family).values
        states = memories["states"].values[here]
        for how, face in ((BY_LEARNING, "white"), (BY_SEARCH, colour)):
            looks: dict[str, Any] = {
                "ls": line,
                "lw": 0.7,
                "color": style.dark(colour),
                "ms": 3.4,
                "mfc": face,
                "mew": 0.6,
            }
            order = np.argsort(states)
            axes.plot(states[order], best.sel(how=how).values[here][order], marker=marker, **looks)
    axes.set_xscale("log", base=2)
    axes.set_xticks([2**bits for bits in _BITS], [f"{2**bits}\n({bits})" for bits in _BITS])
    axes.minorticks_off()


def _useful(data: Datasets, metric: str) -> tuple[float, float]:
    """Limits that show all searched programs and both baselines; a training that failed does not stretch them."""
    levels = [where_trained(data.searches["mean"], kind).sel(metric=metric, agent=0) for kind in _BASELINES]
    best = _best(data, metric)
    low = min(float(one.min()) for one in (*levels, best.sel(how=BY_SEARCH)))
    high = max(float(one.max()) for one in (*levels, best))
    return low - _ROOM * (high - low), high + 0.05 * (high - low)


def _mark_outside(axes: Axes, data: Datasets, name: str, metric: str, colour: str) -> None:
    """Arrows and values of what lies below the axis."""
    low, best = axes.get_ylim()[0], _best(data, metric).sel(trained=name)
    for how, memory in product(best["how"].values, best["memory"].values):
        value = float(best.sel(how=how, memory=memory))
        if value < low:
            at, ink = (float(data["memories"]["states"].sel(memory=memory)), 0), style.dark(colour)
            place: dict[str, Any] = {"xycoords": axes.get_xaxis_transform(), "textcoords": "offset points"}
            axes.annotate("", at, (0, 9), arrowprops={"color": ink, **_ARROW}, **place)
            axes.annotate(captions.number(value), at, (-4, 1), ha="right", color=ink, fontsize=style.SMALLEST, **place)


def _keys(data: Datasets) -> list[Line2D]:
    there = {*data["memories"]["family"].values.tolist()}
    shown: dict[str, Any] = {"color": style.GREY, "ms": 3.6, "mew": 0.6, "lw": 0.7}
    keys = [Line2D([], [], label=label, marker=marker, ls=line or "none", **shown)
            for family, (label, marker, line) in _FAMILIES.items() if family in there]  # fmt: skip
    for how, face in ((BY_SEARCH, style.GREY), (BY_LEARNING, "white")):
        keys.append(Line2D([], [], label=how, marker="o", ls="none", mfc=face, **shown))
    return keys + [Line2D([], [], label=kind, **looks) for kind, looks in _BASELINES.items()]


def _best(data: Datasets, metric: str) -> xr.DataArray:
    """The best agent: float[how, memory, trained]."""
    return data["memories"]["mean"].sel(metric=metric).max("replica").transpose("how", "memory", "trained")


def caption(data: Datasets) -> str:
    agents = data["memories"].sizes["replica"]
    best = "one agent per memory" if agents == 1 else f"the best of {agents} agents per memory"
    return captions.caption("b2", data)(best=best)


def table(data: Datasets) -> captions.Table:
    memories, best = data["memories"], _best(data, "G").rename(trained="environment")
    columns: dict[str, Any] = {}
    for family, (label, _, _) in _FAMILIES.items():
        found = best.isel(memory=(memories["family"] == family).values)
        if found.sizes["memory"]:
            hows = [how for how in (BY_SEARCH, BY_LEARNING) if found.sel(how=how).notnull().any()]
            columns[label] = [found.sel(how=how).max("memory") for how in hows], ".3f"
    return captions.table(columns)


def alt(data: Datasets) -> str:
    memories, best = data["memories"], _best(data, "G").sel(how=BY_SEARCH)
    short = ((memories["family"] == "clock") & (memories["states"] <= _SHORT)).values
    return captions.caption("b2_alt", data)(
        memories=memories.sizes["memory"],
        best=captions.ends(_highest(best)),
        short=captions.ends(_highest(best.isel(memory=short))) if short.any() else "unknown",
    )


def _highest(best: xr.DataArray) -> xr.DataArray:
    """Over memories: float[environment]."""
    return in_each(best["trained"].values.tolist(), lambda name: float(best.sel(trained=name).max()))
