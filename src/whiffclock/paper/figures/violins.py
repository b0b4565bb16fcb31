"""Violins over weighted values: densities that know their weights and where values begin."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from whiffclock.paper.figures.style import GREY, INK, dark, tint
from whiffclock.paper.quantiles import weighted_quantiles

Side = Literal["both", "left", "right"]

_POINTS = 140
#: Least bandwidth: values are whole cells and moves.
_LEAST = 0.6
#: Beyond the outermost values a density goes on for so many bandwidths.
_BEYOND = 2.0


def bandwidth(values: np.ndarray, weights: np.ndarray) -> float:
    """Silverman's, for weighted values: fewer count than there are if their weights are uneven."""
    share = weights / weights.sum()
    mean = float(share @ values)
    spread = float(np.sqrt(share @ (values - mean) ** 2))
    low, high = weighted_quantiles(values, weights, [0.25, 0.75])
    if high > low:
        spread = min(spread, float(high - low) / 1.34)
    counting = 1 / float(share @ share)
    return max(_LEAST, 0.9 * spread * counting**-0.2)


def density(values: np.ndarray, weights: np.ndarray, grid: np.ndarray, lowest: float | None = None) -> np.ndarray:
    """Weighted Gaussian kernel density on ``grid``; what would leak below ``lowest`` is reflected."""
    width, share = bandwidth(values, weights), weights / weights.sum()

    def kernels(centres: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * ((grid[:, None] - centres) / width) ** 2) @ share

    found = kernels(values)
    if lowest is not None:
        found = np.where(grid >= lowest, found + kernels(2 * lowest - values), 0)
    return found / (width * np.sqrt(2 * np.pi))


def violin(
    axes: Axes,
    at: float,
    values: np.ndarray,
    weights: np.ndarray,
    colour: str,
    *,
    width: float = 0.8,
    side: Side = "both",
    shade: float = 0.5,
    lowest: float | None = 0.0,
    tail: float = 0.0,
) -> None:
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
    grid = np.linspace(low if lowest is None else max(low, lowest), max(high, low + beyond), _POINTS)
    shape = density(values, weights, grid, lowest)
    half = 0.5 * width * shape / shape.max()
    zero = np.zeros_like(half)
    left, right = (zero if side == "right" else half), (zero if side == "left" else half)
    axes.fill_betweenx(
        grid, at - left, at + right, facecolor=tint(colour, shade), edgecolor=dark(colour), lw=0.6, zorder=2
    )


def nothing(axes: Axes, at: float, height: float, word: str = "none", size: float = 5.5) -> None:
    """A word where a violin would stand."""
    axes.text(at, height, word, rotation=90, ha="center", va="bottom", fontsize=size, color=GREY)


def _quartiles(axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str) -> None:
    """Bar and dot; NaN counts as beyond all values, and what falls there is not drawn."""
    low, median, high = weighted_quantiles(values, weights, [0.25, 0.5, 0.75])
    high = high if np.isfinite(high) else np.nanmax(values[weights > 0])
    axes.plot([at, at], [low, high], color=dark(colour), lw=1.6, solid_capstyle="butt", zorder=3)
    axes.plot(at, median, "o", ms=2.6, mfc="white", mec=INK, mew=0.6, zorder=4)
