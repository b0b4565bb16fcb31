"""Boxes over ensembles, with every agent as a point, and agents for which there is no value."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, MaxNLocator

from whiffclock.drawing.style import GEOMETRY_LABELS, GREY, INK, colours, dark, environment_axis, tint

Fill = Literal["filled", "open", "hatched", "solid"]

#: Smallest number of values for a box; fewer are points and a line at their median. Whiskers reach to the last value
#: within this number of quartile ranges.
_FEWEST, _REACH = 4, 1.5
#: More points than this hide a box, wide or narrow; then only those beyond the whiskers are drawn.
_MANY, _FEW, _NARROW = 40, 10, 0.3
#: Golden ratio: spreads any number of points evenly, the same way every time.
_GOLDEN = 0.6180339887
#: Height of the line for missing values, as a share of the panel.
_NEVER = 0.95


def box(axes: Axes, at: float, values: np.ndarray, colour: str, fill: Fill = "filled", width: float = 0.6) -> None:
    """One ensemble: quartiles, whiskers to the last value within 1.5 quartile ranges, and the agents.

    NaN is drawn on the line at the top that :func:`never` labels.
    """
    seen = values[np.isfinite(values)]
    if len(seen) >= _FEWEST:
        _box(axes, at, seen, colour, fill, width)
    elif len(seen):
        axes.plot([at - width / 2, at + width / 2], [np.median(seen)] * 2, color=dark(colour), lw=1.3, zorder=3)
    shown = seen if len(seen) <= (_MANY if width > _NARROW else _FEW) else seen[_beyond(seen)]
    size = 4.5 if width > _NARROW else 3.0
    where = at + _spread(len(shown)) * width
    axes.scatter(where, shown, s=size, color=dark(colour), edgecolor="white", linewidth=0.3, zorder=4)
    absent = len(values) - len(seen)
    if absent:
        where = at + _spread(absent) * width
        axes.scatter(
            where, np.full(absent, _NEVER), s=5, marker="o", facecolor="white", edgecolor=dark(colour), linewidth=0.5,
            transform=axes.get_xaxis_transform(), clip_on=False, zorder=4,
        )  # fmt: skip


def never(axes: Axes, values: np.ndarray, word: str = "never") -> None:
    """Limits of a panel, with room and a name for the line of NaN if there are any."""
    seen = values[np.isfinite(values)]
    low, high = (min(seen.min(), 0.0), seen.max()) if len(seen) else (0.0, 1.0)
    room = max(high - low, 1.0)
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    if len(seen) == values.size:
        axes.set_ylim(low - 0.04 * room, high + 0.06 * room)
        return
    axes.set_ylim(low - 0.04 * room, high + 0.2 * room)
    axes.axhline(high + 0.08 * room, color=GREY, lw=0.5, ls=(0, (1, 2)))
    ticks = [tick for tick in MaxNLocator(5).tick_values(low, high) if low <= tick <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks if len(seen) else []))
    axes.annotate(
        word, (0, _NEVER), xycoords="axes fraction", xytext=(-3, 0), textcoords="offset points", ha="right",
        va="center", fontsize=6, color=GREY, annotation_clip=False,
    )  # fmt: skip


def key(label: str, fill: Fill) -> Patch:
    """Legend entry for a fill."""
    return Patch(label=label, **_looks(GREY, fill))


def metric_panels(grid: np.ndarray, columns: Sequence[Mapping[Fill, xr.DataArray]]) -> None:
    """Axes [metric, column] for geometries [environment, agent, geometry] by their fill; a row has one scale."""
    all_values = [values for ensembles in columns for values in ensembles.values()]
    pooled = xr.concat(all_values, "agent", coords="minimal", compat="override")
    for row, (metric, (label, unit)) in zip(grid, GEOMETRY_LABELS.items(), strict=True):
        for axes, ensembles in zip(row, columns, strict=True):
            _metric_boxes(axes, metric, ensembles)
            never(axes, pooled.sel(geometry=metric).values, "never" if axes is row[0] else "")
            axes.tick_params(labelleft=axes is row[0], labelbottom=len(columns) == 1 or axes in grid[-1])
        row[0].set_ylabel(f"{label}\n({unit})")


def _metric_boxes(axes: Axes, metric: str, ensembles: Mapping[Fill, xr.DataArray]) -> None:
    """Boxes of one metric, side by side within each environment."""
    names = list(next(iter(ensembles.values()))["environment"].values)
    count, room = len(ensembles), 0.8 / len(ensembles)
    for j, (fill, values) in enumerate(ensembles.items()):
        here = values.sel(geometry=metric, environment=names).transpose("environment", "agent").values
        for e, (seen, colour) in enumerate(zip(here, colours(names).values(), strict=True)):
            box(axes, e + (j - (count - 1) / 2) * room, seen, colour, fill, 0.8 * room if count > 1 else 0.6)
    environment_axis(axes, names, rotate=True)
    axes.margins(x=0)


def _box(axes: Axes, at: float, seen: np.ndarray, colour: str, fill: Fill, width: float) -> None:
    low, median, high = np.quantile(seen, [0.25, 0.5, 0.75])
    inside = seen[~_beyond(seen)]
    ends = [[(at, inside.min()), (at, low)], [(at, high), (at, inside.max())]]
    axes.add_collection(LineCollection(ends, colors=dark(colour), linewidths=0.7, zorder=1.9))
    axes.add_patch(Rectangle((at - width / 2, low), width, high - low, zorder=2, **_looks(colour, fill)))
    line = [[(at - width / 2, median), (at + width / 2, median)]]
    ink = INK if fill == "solid" else dark(colour)
    axes.add_collection(LineCollection(line, colors=ink, linewidths=1.3, capstyle="butt", zorder=3))


def _beyond(seen: np.ndarray) -> np.ndarray:
    """Which values lie beyond the whiskers."""
    low, high = np.quantile(seen, [0.25, 0.75])
    return (seen < low - _REACH * (high - low)) | (seen > high + _REACH * (high - low))


def _spread(n: int) -> np.ndarray:
    """Offsets of n points, within a quarter of the width to either side."""
    return 0.6 * ((0.5 + _GOLDEN * np.arange(n)) % 1 - 0.5)


def _looks(colour: str, fill: Fill) -> dict[str, Any]:
    face = {"filled": tint(colour), "open": "white", "hatched": "white", "solid": tint(colour, 0.85)}[fill]
    hatch = "/////" if fill == "hatched" else None
    return {"facecolor": face, "edgecolor": dark(colour), "linewidth": 0.7, "hatch": hatch}
