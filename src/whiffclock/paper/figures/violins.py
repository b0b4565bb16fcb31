"""Violins over weighted values, and over the last whiffs of failed searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, Datasets, in_each, shares_without_whiff
from whiffclock.paper.figures.style import GREY, INK, dark, tint
from whiffclock.paper.quantiles import weighted_quantiles

Side = Literal["both", "left", "right"]
LAST_WHIFF = "x of the last whiff (cells)"
_SHIFT = {"both": 0.0, "left": -1.0, "right": 1.0}

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
    axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str, *,
    width: float = 0.8, side: Side = "both", shade: float = 0.5, lowest: float = 0.0, tail: float = 0.0,
    count: float | None = None,
) -> None:  # fmt: skip
    """One violin of greatest width ``width``, or half of one, with weighted median and quartiles.

    NaN and values without weight have no part in the density; nothing is drawn if there are no others. ``shade``
    is how much of the colour there is in the area, and ``tail`` the share of the weight that is cut off at the
    upper end.
    """
    counting = np.isfinite(values) & (weights > 0)
    if not counting.any():
        return
    _quartiles(axes, at + _SHIFT[side] * min(0.25 * width, 0.012), values, weights, colour)
    values, weights = values[counting], weights[counting]
    beyond = _BEYOND * bandwidth(values, weights, count)
    low = values.min() - beyond
    high = float(weighted_quantiles(values, weights, 1 - tail)) if tail else values.max() + beyond
    grid = np.linspace(max(low, lowest), max(high, low + beyond), 140)
    shape = density(values, weights, grid, lowest, count)
    half = 0.5 * width * shape / shape.max()
    left, right = at - half * (side != "right"), at + half * (side != "left")
    axes.fill_betweenx(grid, left, right, facecolor=tint(colour, shade), edgecolor=dark(colour), lw=0.6, zorder=2)


def nothing(axes: Axes, at: float, height: float, word: str) -> None:
    """A word in place of a violin."""
    axes.text(at, height, word, rotation=90, ha="center", va="bottom", fontsize=5.5, color=GREY)


@dataclass(frozen=True)
class LastWhiffs:
    """Where failed searches of an ensemble had their last whiff; all agents with such searches have the same weight.

    Attributes
    ----------
    x, weights
        Distances downwind of the source, and the share of the failures there, summed over agents.
    agents, count
        Number of agents with such searches, and effective number of failures.
    failing, silent
        Searches that fail, and failures without any whiff, which are not in the weights; in per cent.
    """

    x: np.ndarray
    weights: np.ndarray
    agents: int
    count: float
    failing: float
    silent: float

    @classmethod
    def of(cls, data: Datasets, searches: xr.Dataset) -> LastWhiffs:
        """From ``lost[agent, x]`` and ``failures[agent]``."""
        lost, failures = searches["lost"].transpose("agent", "x").values, searches["failures"].values
        each = lost.sum(axis=1)
        lost, each = lost[each > 0], each[each > 0]
        return cls(
            x=searches["x"].values - float(data.facts["source"][0]),
            weights=(lost / each[:, None]).sum(axis=0),
            agents=len(each),
            count=float(len(each) ** 2 / (1 / each).sum()) if len(each) else 0.0,
            failing=100 * float(np.nanmean(failures)) / data.facts["searches"],
            silent=100 * float(shares_without_whiff(searches)),
        )

    @property
    def shown(self) -> float:
        """Searches that fail after a whiff, in per cent."""
        return self.failing * (1 - self.silent / 100) if self.agents else 0.0

    @property
    def median(self) -> float:
        """The median distance; NaN without failures."""
        return float(weighted_quantiles(self.x, self.weights, 0.5)) if self.agents else float("nan")

    def density(self, grid: np.ndarray) -> np.ndarray:
        """Density per cell."""
        return density(self.x, self.weights, grid, float(self.x[0]), self.count)

    def violin(self, axes: Axes, at: float, colour: str, most: float, width: float, **looks: Any) -> None:
        """A violin, or a word if no search failed after a whiff; y spans the whole grid.

        Its width is proportional to the square root of :attr:`shown`, and is ``width`` if that is ``most``.
        """
        if self.agents:
            width *= np.sqrt(self.shown / most)
            lowest = float(self.x[0])
            violin(axes, at, self.x, self.weights, colour, width=width, lowest=lowest, count=self.count, **looks)
        else:
            nothing(axes, at + _SHIFT[looks.get("side", "both")] * 0.25 * width, 2, "no failures")
        axes.set_ylim(float(self.x[0]) - 1, float(self.x[-1]) + 2)


def last_whiffs(data: Datasets, kind: str) -> dict[str, LastWhiffs]:
    """Last whiffs of the agents of a kind in their training environment, by environment."""
    found = data.searches.sel(kind=kind)
    return {name: LastWhiffs.of(data, found.sel(trained=name, tested=name)) for name in ENVIRONMENT_NAMES}


def of_each(found: Mapping[str, LastWhiffs], name: str) -> xr.DataArray:
    """One of their attributes: float[environment]."""
    return in_each(lambda environment: float(getattr(found[environment], name)))


def _quartiles(axes: Axes, at: float, values: np.ndarray, weights: np.ndarray, colour: str) -> None:
    """Bar and dot; NaN counts as larger than all values, and a quartile that is NaN is not drawn."""
    low, median, high = weighted_quantiles(values, weights, [0.25, 0.5, 0.75])
    high = high if np.isfinite(high) else np.nanmax(values[weights > 0])
    axes.plot([at, at], [low, high], color=dark(colour), lw=1.6, solid_capstyle="butt", zorder=3)
    axes.plot(at, median, "o", ms=2.6, mfc="white", mec=INK, mew=0.6, zorder=4)
