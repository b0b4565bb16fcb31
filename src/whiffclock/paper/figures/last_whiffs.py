"""Searches that fail: how many, and where they had their last whiff."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from whiffclock.drawing import style
from whiffclock.drawing.violins import density
from whiffclock.paper.dataset import Datasets, in_each, shares_without_whiff
from whiffclock.quantiles import weighted_quantiles

_FAILING = "searches that fail (%)"
#: Where the last whiff was, between these shares of the way from the source to the downwind end, as in the claims.
REGIONS = {
    "near the source (< 1/3)": (-np.inf, 1 / 3),
    "between": (1 / 3, 1 / 2),
    "far downwind (≥ 1/2)": (1 / 2, np.inf),
}
NEVER = "never met odor"
#: How much of a colour the areas of the regions have; that of searches without any whiff is hatched.
_SHADES = (0.25, 0.6, 1.0)
_EDGE = 0.5


@dataclass(frozen=True)
class LastWhiffs:
    """Where failed searches of an ensemble had their last whiff; all agents with such searches have the same weight."""

    x: np.ndarray  # distances downwind of the source
    weights: np.ndarray  # share of the failures there, summed over agents
    parts: np.ndarray  # searches that fail after a whiff in each of the regions, and without any, in per cent
    agents: int  # that have such searches
    count: float  # effective number of failures
    failing: float  # searches that fail, in per cent
    error: float  # its standard error over agents
    silent: float  # failures without any whiff, which are not in the weights, in per cent

    @classmethod
    def of(cls, data: Datasets, searches: xr.Dataset) -> Self:
        """From ``lost[agent, x]`` and ``failures[agent]``."""
        lost, failures = searches["lost"].transpose("agent", "x").values, searches["failures"].values
        lost, failures = lost[np.isfinite(failures)], failures[np.isfinite(failures)]
        x, per_cent = searches["x"].values - float(data.facts["source"][0]), 100 / data.facts["searches"]
        way = x / max(1.0, float(x[-1]))
        parts = [lost[:, (low <= way) & (way < high)].sum(axis=1) for low, high in REGIONS.values()]
        parts.append(failures - lost.sum(axis=1))
        error = per_cent * failures.std(ddof=1) / np.sqrt(len(failures)) if len(failures) > 1 else np.nan
        each = lost.sum(axis=1)
        lost, each = lost[each > 0], each[each > 0]
        return cls(
            x=x,
            parts=per_cent * np.mean(parts, axis=1),
            weights=(lost / each[:, None]).sum(axis=0),
            agents=len(each),
            count=float(len(each) ** 2 / (1 / each).sum()) if len(each) else 0.0,
            failing=per_cent * float(failures.mean()),
            error=error,
            silent=100 * float(shares_without_whiff(searches)),
        )

    @property
    def median(self) -> float:
        """The median distance; NaN without failures."""
        return float(weighted_quantiles(self.x, self.weights, 0.5)) if self.agents else float("nan")

    def density(self, grid: np.ndarray) -> np.ndarray:
        """Density per cell."""
        return density(self.x, self.weights, grid, float(self.x[0]), self.count)

    def bar(self, axes: Axes, at: float, colour: str, width: float, *, number: bool = True) -> None:
        """A stack of the regions with the standard error of its height, and the height as a number above it."""
        looks: dict[str, Any] = {"width": width, "ec": style.dark(colour), "lw": _EDGE}
        below = np.append(0, self.parts.cumsum())
        for share, foot, face in zip(self.parts, below, _faces(colour), strict=False):
            axes.bar(at, share, bottom=foot, **looks, **face)
        top = self.failing + np.nan_to_num(self.error)
        axes.plot([at, at], [max(0.0, 2 * self.failing - top), top], color=style.INK, lw=0.7, zorder=4)
        if number:
            text, ink = f"{self.failing:.{int(self.failing < 9.95)}f}", style.dark(colour)
            axes.annotate(text, (at, top), (0, 1.5), textcoords="offset points", ha="center", va="bottom", color=ink,
                          fontsize=style.SMALLEST)  # fmt: skip


def _faces(colour: str) -> list[dict[str, Any]]:
    """How the regions look, and searches without any whiff."""
    return [*({"fc": style.tint(colour, shade)} for shade in _SHADES), {"fc": "white", "hatch": "//////"}]


def failure_axis(axes: Axes, found: Iterable[LastWhiffs]) -> None:
    """The scale of a panel of bars, with room for the numbers; or why it is empty."""
    axes.set(ylabel=_FAILING, ylim=(0, 1.1 * max(1.0, axes.get_ylim()[1])))
    if not any(lost.failing for lost in found):
        style.empty(axes, "no failures", scales=True)


def add_legend(figure: Figure, panel: str) -> None:
    """A legend of the regions and of the standard error, for a panel, below the figure."""
    labels = zip((*REGIONS, NEVER), _faces(style.GREY), strict=True)
    areas = [Patch(label=label, ec=style.dark(style.GREY), lw=_EDGE, **face) for label, face in labels]
    error = Line2D([], [], ls="", marker="|", ms=6, color=style.INK, label="standard error")
    title = Patch(fc="none", ec="none", label=f"last whiff in ({panel}):")
    figure.legend(handles=[title, *areas, error], loc="outside lower center", ncols=6, columnspacing=1.0)


def last_whiffs(data: Datasets, kind: str) -> dict[str, LastWhiffs]:
    """Last whiffs of the agents of a kind in their training environment, by environment."""
    found = data.searches.sel(kind=kind)
    return {name: LastWhiffs.of(data, found.sel(trained=name, tested=name)) for name in data.environments}


def of_each(found: Mapping[str, LastWhiffs], name: str) -> xr.DataArray:
    """One of their attributes: float[environment]."""
    return in_each(found, lambda environment: float(getattr(found[environment], name)))
