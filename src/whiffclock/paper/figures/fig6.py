"""Fig. 6, where the modes are used: mean blank at each cell, and the share of Q+ there."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, PLUS, TWO, Datasets, at_home
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.plane import draw_map, extent, plume_note

TITLE = "Where the plume is sparse, and where the two-Q agent uses which mode"
NEEDS = ("two-Q at home", "two modes, same path")

#: Cells nearer to the axis than this are its core, in the caption.
_CORE = 3


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 4.9)
    grid = figure.subplots(len(ENVIRONMENT_NAMES), 2, subplot_kw={"facecolor": style.PALE})
    contours = data["usage"].attrs["contours"]
    for (axes, beside), name in zip(grid, ENVIRONMENT_NAMES, strict=True):
        blanks, uses = _blank(axes, data, name), _usage(beside, data, name)
        style.environment_title(axes, name, "a" if name == ENVIRONMENT_NAMES[0] else "")
        tau = f", τ = {int(data.searches['tau'].sel(trained=name))}"
        style.environment_title(beside, name, "b" if name == ENVIRONMENT_NAMES[0] else "", tau)
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
    plume_note(grid[0, 0], data)
    return figure


def caption(data: Datasets) -> str:
    decisions, contours = data["usage"]["decisions"], data["usage"].attrs["contours"]
    core = abs(decisions["y"] - data.facts["source"][1]) <= _CORE
    return words.caption("fig6", data)(
        contours=words.listing(str(level) for level in contours),
        shares=words.medians(at_home(data.searches["share"], TWO)),
        near=_CORE,
        core=words.each(_share(decisions.where(core).sum(["x", "y"]))),
        edge=words.each(_share(decisions.where(~core).sum(["x", "y"]))),
        tau=words.each(data.searches["tau"], ".0f"),
    )


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
        axes.clabel(lines, fontsize=5, fmt="%g", inline_spacing=1)
    return image


def _smooth(cells: np.ndarray) -> np.ndarray:
    """Geometric means over 3 x 3 cells, for contours that can be read."""
    padded = np.pad(np.log(np.maximum(cells, 1e-9)), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(*cells.shape, 9)
    known = np.isfinite(windows)
    mean = np.where(known, windows, 0).sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
    return np.where(np.isfinite(cells), np.exp(mean), np.nan)


def _usage(axes: Axes, data: Datasets, name: str) -> AxesImage:
    usage = _share(data["usage"]["decisions"].sel(environment=name))
    if not usage.notnull().any():
        style.empty(axes, "nobody went anywhere", scales=True)
    return draw_map(axes, data, usage, cmap="PRGn", vmin=0, vmax=1)
