"""Violins over weighted values, and over the last whiffs of failed searches."""

from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from whiffclock.paper.dataset import Datasets
from whiffclock.paper.figures.style import GREY, INK, dark, tint
from whiffclock.paper.figures.words import number
from whiffclock.paper.quantiles import weighted_quantiles

Side = Literal["both", "left", "right"]
LAST_WHIFF = "x of the last whiff (cells)"

#: Least bandwidth (values are whole cells and moves), and for how many of them a density goes on beyond all values.
_LEAST, _BEYOND = 0.6, 2.0


def bandwidth(values: np.ndarray, weights: np.ndarray) -> float:
    """Silverman's, for weighted values: fewer count than there are if their weights are uneven."""
    share = weights / weights.sum()
    spread = np.sqrt(share @ (values - share @ values) ** 2)
    low, high = weighted_quantiles(values, weights, [0.25, 0.75])
    if high > low:
        spread = min(spread, (high - low) / 1.34)
    return max(_LEAST, float(0.9 * spread * (1 / (share @ share)) ** -0.2))


def density(values: np.ndarray, weights: np.ndarray, grid: np.ndarray, lowest: float) -> np.ndarray:
    """Weighted Gaussian kernel density on ``grid``; what would leak below ``lowest`` is reflected."""
    width, share = bandwidth(values, weights), weights / weights.sum()

    def kernels(centres: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * ((grid[:, None] - centres) / width) ** 2) @ share

    found = np.where(grid >= lowest, kernels(values) + kernels(2 * lowest - values), 0)
    return found / (width * np.sqrt(2 * np.pi))


def violin(
    axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str, *,
    width: float = 0.8, side: Side = "both", shade: float = 0.5, lowest: float = 0.0, tail: float = 0.0,
) -> None:  # fmt: skip
    """One violin of greatest width ``width``, or half of one, with weighted median and quartiles.

    NaN and values without weight have no part in the density; nothing is drawn if there are no others. ``shade``
    is how much of the colour there is in the area, and ``tail`` the share of the weight that is cut off at the
    upper end.
    """
    counting = np.isfinite(values) & (weights > 0)
    if not counting.any():
        return
    _quartiles(axes, at + {"both": 0.0, "left": -0.06, "right": 0.06}[side] * width, values, weights, colour)
    values, weights = values[counting], weights[counting]
    beyond = _BEYOND * bandwidth(values, weights)
    low = values.min() - beyond
    high = float(weighted_quantiles(values, weights, 1 - tail)) if tail else values.max() + beyond
    grid = np.linspace(max(low, lowest), max(high, low + beyond), 140)
    shape = density(values, weights, grid, lowest)
    half = 0.5 * width * shape / shape.max()
    left, right = at - half * (side != "right"), at + half * (side != "left")
    axes.fill_betweenx(grid, left, right, facecolor=tint(colour, shade), edgecolor=dark(colour), lw=0.6, zorder=2)


def nothing(axes: Axes, at: float, height: float, word: str) -> None:
    """A word where a violin would stand."""
    axes.text(at, height, word, rotation=90, ha="center", va="bottom", fontsize=5.5, color=GREY)


def last_whiffs(data: Datasets, lost: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Distances downwind of the source, and failed searches of all agents together, from ``lost[..., x]``."""
    counts = lost.sum([name for name in lost.dims if name != "x"])
    return counts["x"].values - float(data.facts["source"][0]), counts.values


def median_last_whiff(data: Datasets, lost: xr.DataArray) -> str:
    """The median distance, in words."""
    x, counts = last_whiffs(data, lost)
    return number(float(weighted_quantiles(x, counts, 0.5)), ".0f") if counts.any() else "none"


def draw_last_whiffs(
    axes: Axes, at: float, data: Datasets, lost: xr.DataArray, colour: str, *,
    width: float = 0.8, side: Side = "both", shade: float = 0.5,
) -> None:  # fmt: skip
    """A violin of the last whiffs, or a word if no search failed after a whiff; y spans the whole grid."""
    x, counts = last_whiffs(data, lost)
    if counts.any():
        violin(axes, at, x, counts, colour, width=width, side=side, shade=shade, lowest=float(x[0]))
    else:
        shift = {"both": 0.0, "left": -0.25, "right": 0.25}[side] * width
        nothing(axes, at + shift, 2, "no failures")
    axes.set_ylim(float(x[0]) - 1, float(x[-1]) + 2)


def failing(data: Datasets, failures: xr.DataArray) -> xr.DataArray:
    """Share of searches that fail, in per cent, all agents together."""
    return 100 * failures.mean("agent") / data.facts["searches"]


def _quartiles(axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str) -> None:
    """Bar and dot; NaN counts as beyond all values, and what falls there is not drawn."""
    low, median, high = weighted_quantiles(values, weights, [0.25, 0.5, 0.75])
    high = high if np.isfinite(high) else np.nanmax(values[weights > 0])
    axes.plot([at, at], [low, high], color=dark(colour), lw=1.6, solid_capstyle="butt", zorder=3)
    axes.plot(at, median, "o", ms=2.6, mfc="white", mec=INK, mew=0.6, zorder=4)
