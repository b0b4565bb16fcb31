"""Where failed searches had their last whiff."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from whiffclock.drawing.violins import SHIFT, density, nothing, violin
from whiffclock.paper.dataset import Datasets, in_each, shares_without_whiff
from whiffclock.quantiles import weighted_quantiles

LAST_WHIFF = "x of the last whiff (cells)"


@dataclass(frozen=True)
class LastWhiffs:
    """Where failed searches of an ensemble had their last whiff; all agents with such searches have the same weight."""

    x: np.ndarray  # distances downwind of the source
    weights: np.ndarray  # share of the failures there, summed over agents
    agents: int  # that have such searches
    count: float  # effective number of failures
    failing: float  # searches that fail, in per cent
    silent: float  # failures without any whiff, which are not in the weights, in per cent

    @classmethod
    def of(cls, data: Datasets, searches: xr.Dataset) -> Self:
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
            nothing(axes, at + SHIFT[looks.get("side", "both")] * 0.25 * width, 2, "no failures")
        axes.set_ylim(float(self.x[0]) - 1, float(self.x[-1]) + 2)


def last_whiffs(data: Datasets, kind: str) -> dict[str, LastWhiffs]:
    """Last whiffs of the agents of a kind in their training environment, by environment."""
    found = data.searches.sel(kind=kind)
    return {name: LastWhiffs.of(data, found.sel(trained=name, tested=name)) for name in data.environments}


def of_each(found: Mapping[str, LastWhiffs], name: str) -> xr.DataArray:
    """One of their attributes: float[environment]."""
    return in_each(found, lambda environment: float(getattr(found[environment], name)))
