"""Where failed searches smelled their last whiff: ``lost`` arrays as values with weights, and in words."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from whiffclock.experiments.results import Result
from whiffclock.paper.figures.violins import Side, nothing, violin
from whiffclock.paper.figures.words import number
from whiffclock.paper.quantiles import weighted_quantiles

LABEL = "x of the last whiff (cells)"


def distances(result: Result, lost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances downwind of the source, and failures of all agents together, from ``lost[..., x]``."""
    counts = lost.reshape(-1, lost.shape[-1]).sum(axis=0)
    return np.arange(lost.shape[-1], dtype=np.float64) - result.facts["source"][0], counts


def median(result: Result, lost: np.ndarray) -> str:
    """The median distance, in words."""
    x, counts = distances(result, lost)
    return number(float(weighted_quantiles(x, counts, 0.5)), ".0f") if counts.any() else "none"


def draw_lost(
    axes: Axes, at: float, result: Result, lost: np.ndarray, colour: str, *,
    width: float = 0.8, side: Side = "both", shade: float = 0.5,
) -> None:  # fmt: skip
    """A violin of the last whiffs, or a word if no search failed after a whiff."""
    x, counts = distances(result, lost)
    if counts.any():
        violin(axes, at, x, counts, colour, width=width, side=side, shade=shade, lowest=float(x[0]))
    else:
        shift = {"both": 0.0, "left": -0.25, "right": 0.25}[side] * width
        nothing(axes, at + shift, 2, "no failures")


def downwind(axes: Axes, result: Result, lost: np.ndarray) -> None:
    """Limits along the whole grid."""
    x, _ = distances(result, lost)
    axes.set_ylim(float(x[0]) - 1, float(x[-1]) + 2)


def failing(result: Result, failures: np.ndarray) -> float:
    """Share of searches that fail, in per cent, all agents together."""
    return float(100 * failures.mean() / result.facts["searches"])
