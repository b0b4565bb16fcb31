"""Fig. 6, where the modes are used: mean blank at each cell, and the share of Q+ there."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch

from whiffclock.drawing import style
from whiffclock.paper.dataset import PLUS, SAME_PATH, TWO, Datasets, at_home, where_trained
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.maps import draw_map, extent, plume_note

TITLE = "Where the plume is sparse, and where the two-Q agent uses which mode"
NEEDS = at_home(TWO, SAME_PATH)

#: Cells nearer to the axis than this are its core, in the caption.
_CORE = 3
#: A share of fewer decisions is not drawn.
_FEWEST = 10


def draw(data: Datasets) -> Figure:
    colours = style.colours(data.environments)
    figure = style.new_figure(style.TWO_COLUMNS, 1.3 + 0.9 * len(colours))
    grid = figure.subplots(len(colours), 2, squeeze=False, subplot_kw={"facecolor": style.PALE})
    contours = data["usage"].attrs["contours"]
    for (axes, beside), (name, colour) in zip(grid, colours.items(), strict=True):
        blanks, uses = _blank(axes, data, name), _usage(beside, data, name)
        first = axes is grid[0, 0]
        style.title(axes, "a" if first else "", name, style.dark(colour))
        tau = f", τ = {int(data.searches['tau'].sel(trained=name))}"
        style.title(beside, "b" if first else "", name + tau, style.dark(colour))
        axes.set_ylabel("y (cells)")
        beside.tick_params(labelleft=False)
    bar = figure.colorbar(blanks, ax=list(grid[:, 0]), location="top", shrink=0.75, aspect=38, pad=0.012)
    bar.set_ticks(contours, labels=[str(level) for level in contours])
    bar.ax.minorticks_off()
    bar.set_label("mean blank at a fixed cell (snapshots)")
    bar = figure.colorbar(uses, ax=list(grid[:, 1]), location="top", shrink=0.75, aspect=38, pad=0.012)
    bar.set_label(f"share of decisions in {style.PLUS}")
    for axes in grid.flat:
        axes.tick_params(labelbottom=axes in grid[-1])
        axes.set_xlabel("x downwind of the source (cells)" if axes in grid[-1] else "")
        plume_note(axes, data)
    greys = {"no blank ends (a), no decision (b)": style.PALE, f"fewer than {_FEWEST} decisions (b)": style.FADED}
    handles = [Patch(facecolor=grey, edgecolor=style.GREY, lw=0.4, label=label) for label, grey in greys.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def caption(data: Datasets) -> str:
    levels = captions.listing(str(level) for level in data["usage"].attrs["contours"])
    return captions.caption("fig6", data)(contours=levels, near=_CORE)


def table(data: Datasets) -> captions.Table:
    core, edge = _core_and_edge(data)
    return captions.table(
        {
            "τ (moves)": (data.searches["tau"], ".0f"),
            "share of decisions in Q⁺": (where_trained(data.searches["share"], TWO), ".2f"),
            "near the axis": (core, ".2f"),
            "further out": (edge, ".2f"),
        }
    )


def alt(data: Datasets) -> str:
    core, edge = map(captions.ends, _core_and_edge(data))
    blank, near = data["usage"]["blank"], _near_axis(data)
    short, long = (captions.ends(blank.where(there).median(["x", "y"]), ".0f", "snapshots") for there in (near, ~near))
    return captions.caption("fig6_alt", data)(near=_CORE, core=core, edge=edge, short=short, long=long)


def _near_axis(data: Datasets) -> xr.DataArray:
    """bool[y]."""
    return abs(data["usage"]["y"] - data.facts["source"][1]) <= _CORE


def _core_and_edge(data: Datasets) -> tuple[xr.DataArray, xr.DataArray]:
    """Share of decisions in Q+ near the axis, and further out: float[environment]."""
    decisions, near = data["usage"]["decisions"], _near_axis(data)
    core, edge = (_share(decisions.where(there).sum(["x", "y"])) for there in (near, ~near))
    return core, edge


def _share(decisions: xr.DataArray) -> xr.DataArray:
    """Share of decisions in Q+; NaN where there are none."""
    total = decisions.sum("mode")
    return decisions.sel(mode=PLUS) / total.where(total > 0)


def _blank(axes: Axes, data: Datasets, name: str) -> AxesImage:
    contours = data["usage"].attrs["contours"]
    blank = data["usage"]["blank"].sel(environment=name).transpose("x", "y")
    image = draw_map(axes, data, blank, cmap="YlGnBu_r", norm=LogNorm(contours[0] / 2.5, contours[-1] * 2.5))
    if not blank.notnull().any():
        style.empty(axes, "no blank ends anywhere", scales=True)
    elif blank.min() < max(contours) and min(blank.shape) > 1:
        left, right, bottom, top = extent(data, blank)
        x, y = np.arange(left + 0.5, right), np.arange(bottom + 0.5, top)
        lines = axes.contour(x, y, _smooth(blank.values).T, levels=contours, colors="#222222", linewidths=0.5)
        axes.clabel(lines, fontsize=style.SMALLEST, fmt="%g", inline_spacing=1)
    return image


def _smooth(cells: np.ndarray) -> np.ndarray:
    """Geometric means over 3 x 3 cells, for contours that can be read."""
    padded = np.pad(np.log(np.maximum(cells, 1e-9)), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(*cells.shape, 9)
    known = np.isfinite(windows)
    mean = np.where(known, windows, 0).sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
    return np.where(np.isfinite(cells), np.exp(mean), np.nan)


def _usage(axes: Axes, data: Datasets, name: str) -> AxesImage:
    decisions = data["usage"]["decisions"].sel(environment=name)
    total = decisions.sum("mode")
    few = xr.ones_like(total).where((total > 0) & (total < _FEWEST))
    usage = _share(decisions).where(total >= _FEWEST)
    if not total.any():
        style.empty(axes, "no decisions", scales=True)
    draw_map(axes, data, few, cmap=ListedColormap([style.FADED]))
    return draw_map(axes, data, usage, cmap="viridis", vmin=0, vmax=1)
