"""Violins over weighted values."""

import numpy as np
from matplotlib.axes import Axes

from whiffclock.drawing.style import GREY, INK, dark, tint
from whiffclock.quantiles import weighted_quantiles

#: Least bandwidth (values are whole cells and moves), and for how many of them a density goes on beyond all values.
_LEAST, _BEYOND = 0.6, 2.0


def bandwidth(values: np.ndarray, weights: np.ndarray, count: float | None = None) -> float:
    """Silverman's, for ``count`` values; by default, fewer than there are if their weights are uneven."""
    share = weights / weights.sum()
    spread = np.sqrt(share @ (values - share @ values) ** 2)
    low, high = weighted_quantiles(values, weights, [0.25, 0.75])
    if high > low:
        spread = min(spread, (high - low) / 1.34)
    return max(_LEAST, float(0.9 * spread * (count or 1 / (share @ share)) ** -0.2))


def density(
    values: np.ndarray, weights: np.ndarray, grid: np.ndarray, lowest: float, count: float | None = None
) -> np.ndarray:
    """Weighted Gaussian kernel density on ``grid``; what would leak below ``lowest`` is reflected."""
    width, share = bandwidth(values, weights, count), weights / weights.sum()

    def kernels(centres: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * ((grid[:, None] - centres) / width) ** 2) @ share

    found = np.where(grid >= lowest, kernels(values) + kernels(2 * lowest - values), 0)
    return found / (width * np.sqrt(2 * np.pi))


def violin(
    axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str, *, width: float, tail: float
) -> None:
    """One violin of greatest width ``width``, for values from 0 on, with weighted median and quartiles.

    NaN and values without weight have no part in the density; nothing is drawn if there are no others. ``tail`` is the
    share of the weight that is cut off at the upper end.
    """
    counting = np.isfinite(values) & (weights > 0)
    if not counting.any():
        return
    _quartiles(axes, at, values, weights, colour)
    values, weights = values[counting], weights[counting]
    beyond = _BEYOND * bandwidth(values, weights)
    low, high = values.min() - beyond, float(weighted_quantiles(values, weights, 1 - tail))
    grid = np.linspace(max(low, 0.0), max(high, low + beyond), 140)
    shape = density(values, weights, grid, 0.0)
    half = 0.5 * width * shape / shape.max()
    face, edge = tint(colour, 0.5), dark(colour)
    axes.fill_betweenx(grid, at - half, at + half, facecolor=face, edgecolor=edge, lw=0.6, zorder=2)


def nothing(axes: Axes, at: float, height: float, word: str) -> None:
    """A word in place of a violin."""
    axes.text(at, height, word, rotation=90, ha="center", va="bottom", fontsize=6, color=GREY)


def _quartiles(axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str) -> None:
    """Bar and dot; NaN counts as larger than all values, and a quartile that is NaN is not drawn."""
    low, median, high = weighted_quantiles(values, weights, [0.25, 0.5, 0.75])
    high = high if np.isfinite(high) else np.nanmax(values[weights > 0])
    axes.plot([at, at], [low, high], color=dark(colour), lw=1.6, solid_capstyle="butt", zorder=3)
    axes.plot(at, median, "o", ms=2.6, mfc="white", mec=INK, mew=0.6, zorder=4)
