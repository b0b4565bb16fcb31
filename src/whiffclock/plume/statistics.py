"""Statistics of a plume: whiff probabilities, widths, durations, correlations.

Distances x are in cells downwind of the source, the axis is the source's row, and times are in snapshots.
"Near the axis" is within :data:`NEAR_AXIS` cells of it, and "the core" is near the axis at x = 20 to 80.
Where the grid is too short or narrow for a statistic, or has too few whiffs, it is NaN (null in JSON).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.environments import Environments
from whiffclock.formatting import nan_to_null
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume import correlation as corr
from whiffclock.plume.durations import Durations, complete_runs, distribution, mean_durations, transitions
from whiffclock.plume.plume import Plume
from whiffclock.plume.whiffs import Whiffs

#: Cells to either side of the axis that are pooled.
NEAR_AXIS = 2
#: Ranges of x over which correlations are pooled.
X_BINS = {"8-42": range(8, 42), "42-83": range(42, 83), "83-120": range(83, 121), "20-80": range(20, 81)}
CORE = X_BINS["20-80"]
#: Centres, in x, of the boxes of 7 x 5 cells in which thresholds are compared.
BOX_CENTRES = (20, 40, 60, 80)
_BOX_REACH = 3
#: Bytes unpacked at a time, in slices along the wind.
_SLAB_BYTES = 64 * 2**20


@dataclass(frozen=True)
class PlumeStatistics:
    """Statistics of one plume at one threshold."""

    origin: str
    fingerprint: str
    shape: tuple[int, int, int]  # snapshots, length, width
    source: tuple[int, int]
    threshold: float
    environments: Environments
    probability: np.ndarray  # float[x, y]: share of snapshots with a whiff
    whiff_duration: np.ndarray  # float[x, y]: mean duration at a fixed cell
    blank_duration: np.ndarray
    whiffs: Durations  # in the core
    blanks: Durations
    all_blanks: tuple[float, float]  # mean and standard deviation of all complete blanks, in all cells
    autocorrelation: dict[str, tuple[float, ...]]  # at lags 1 to 4 at fixed cells near the axis, by bin in x
    after_whiff: float  # probability of a whiff one snapshot after a whiff, and after a blank, in the core
    after_blank: float
    along: tuple[float, ...]  # correlation of cells 1 to 4 apart along and across the wind, in the core
    across: tuple[float, ...]
    neighbours: dict[str, tuple[float, float]]  # correlation of cells 1 apart along and across, by bin in x
    following: corr.Following
    maps: dict[str, np.ndarray]  # float[x, y]: probability of whiffs in each environment
    boxes: dict[str, tuple[float, ...]]  # the same, about BOX_CENTRES
    start_cells: dict[str, int]  # number of cells of D_init, with the threshold of each environment

    def at(self, x: int, off: int = 0) -> float:
        """Whiff probability ``x`` cells downwind and ``off`` cells from the axis, the mean of both sides."""
        column, y0 = self.source[0] + x, self.source[1]
        inside = [y for y in (y0 + off, y0 - off) if 0 <= y < self.shape[2]]
        return float(self.probability[column, inside].mean()) if 0 <= column < self.shape[1] and inside else math.nan

    def width(self, x: int) -> float:
        """Full width at half maximum across the wind ``x`` cells downwind, in cells."""
        column = self.source[0] + x
        return full_width(self.probability[column]) if 0 <= column < self.shape[1] else math.nan

    def apart(self, direction: str, cells: float) -> float:
        """Correlation ``"along"`` or ``"across"`` the wind, interpolated linearly between whole cells."""
        return float(np.interp(cells, corr.SEPARATIONS, getattr(self, direction)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; maps only on the axis."""
        x0, y0 = self.source
        distances = range(self.shape[1] - x0)
        following = self.following
        return nan_to_null(
            {
                "plume": self.origin,
                "fingerprint": self.fingerprint,
                "shape": self.shape,
                "source": self.source,
                "threshold": self.threshold,
                "environment": self.environments.name_of(self.threshold),
                "axis_probability": [self.at(x) for x in distances],
                "width": [self.width(x) for x in distances],
                "off_axis_probability_at_48": {"4": self.at(48, 4), "8": self.at(48, 8)},
                "axis_whiff_duration": self.whiff_duration[x0:, y0],
                "axis_blank_duration": self.blank_duration[x0:, y0],
                "whiffs": vars(self.whiffs),
                "blanks": vars(self.blanks),
                "all_blanks": dict(zip(("mean", "standard_deviation"), self.all_blanks, strict=True)),
                "autocorrelation": self.autocorrelation,
                "after_whiff": self.after_whiff,
                "after_blank": self.after_blank,
                "correlation_along": dict(zip(corr.SEPARATIONS, self.along, strict=True)),
                "correlation_across": dict(zip(corr.SEPARATIONS, self.across, strict=True)),
                "neighbour_correlation": self.neighbours,
                "following_flow": dict(zip(corr.FOLLOWING_LAGS, following.correlation, strict=True)),
                "displacement": dict(zip(corr.FOLLOWING_LAGS, following.displacement, strict=True)),
                "structure_speed": following.speed,
                "boxes": {"centres": BOX_CENTRES, **self.boxes},
                "start_cells": self.start_cells,
            }
        )


def plume_statistics(plume: Plume, threshold: float | None = None) -> PlumeStatistics:
    """Measure ``plume`` at ``threshold``, by default that of its dense environment."""
    threshold = plume.environments.default if threshold is None else threshold
    whiffs = plume.whiffs(threshold)
    snapshots, length, width = whiffs.shape
    x0 = plume.source[0]
    near = _near_axis(plume.source[1], width)
    counts = np.zeros((3, length, width), dtype=np.int64)
    covariance = np.zeros((length, 1 + len(corr.LAGS)))
    runs_of_blanks = np.zeros(3)  # number, sum, sum of squares
    slab = max(1, _SLAB_BYTES // (snapshots * width))
    for part in (slice(first, first + slab) for first in range(0, length, slab)):
        record = whiffs.record(part)
        counts[:, part] = transitions(record)
        _, lengths = complete_runs(np.moveaxis(record, 1, 2).reshape(-1, snapshots))
        runs_of_blanks += len(lengths), lengths.sum(), (lengths**2).sum()
        covariance[part] = corr.time_covariance(np.moveaxis(record[:, :, near], 1, 2))
    whiff_duration, blank_duration = mean_durations(snapshots, *counts)
    core = _core(whiffs, CORE, corr.REACH_ALONG)
    in_core = slice(x0 + CORE.start, x0 + CORE.stop)
    runs = complete_runs(np.moveaxis(whiffs.record(in_core)[:, :, near], 1, 2).reshape(-1, snapshots))
    after_whiff, after_blank = _next_whiff(counts[:, in_core, near], snapshots)
    bins = {name: slice(x0 + cells.start, x0 + cells.stop) for name, cells in X_BINS.items()}
    maps = {name: whiff_map(plume, c) for name, c in plume.environments.items()}
    return PlumeStatistics(
        origin=plume.origin,
        fingerprint=plume.fingerprint,
        shape=whiffs.shape,
        source=plume.source,
        threshold=threshold,
        environments=plume.environments,
        probability=whiffs.probability(),
        whiff_duration=whiff_duration,
        blank_duration=blank_duration,
        whiffs=distribution(runs[0]),
        blanks=distribution(runs[1]),
        all_blanks=_mean_and_deviation(*runs_of_blanks.tolist()),
        autocorrelation={name: corr.pooled_autocorrelation(covariance[cells]) for name, cells in bins.items()},
        after_whiff=after_whiff,
        after_blank=after_blank,
        along=tuple(core.correlation(dx=d) for d in corr.SEPARATIONS),
        across=tuple(core.across_wind(d) for d in corr.SEPARATIONS),
        neighbours={name: _core(whiffs, cells, 1).neighbours() for name, cells in X_BINS.items()},
        following=corr.following_flow(core),
        maps=maps,
        boxes={name: _box_probabilities(one, plume.source) for name, one in maps.items()},
        start_cells={name: count_start_cells(plume, value) for name, value in plume.environments.items()},
    )


def full_width(profile: np.ndarray) -> float:
    """Full width at half maximum of ``profile[y]``, linearly interpolated; NaN if the grid cuts it off."""
    peak = int(np.argmax(profile))
    half = profile[peak] / 2
    if half <= 0:
        return math.nan
    below = np.flatnonzero(profile < half)
    left, right = below[below < peak], below[below > peak]
    if not len(left) or not len(right):
        return math.nan
    a, b = int(left[-1]), int(right[0])
    start = a + (half - profile[a]) / (profile[a + 1] - profile[a])
    end = b - (half - profile[b]) / (profile[b - 1] - profile[b])
    return float(end - start)


def whiff_map(plume: Plume, threshold: float) -> np.ndarray:
    """float[x, y]: share of snapshots with a whiff; zero where nothing reaches the threshold."""
    return plume.whiffs(threshold).probability() if plume.reaches(threshold) else np.zeros(plume.field.shape[1:])


def _box_probabilities(probability: np.ndarray, source: tuple[int, int]) -> tuple[float, ...]:
    """Mean whiff probability in the boxes about :data:`BOX_CENTRES`; NaN for boxes that leave the grid."""
    length, width = probability.shape
    ends = [(source[0] + x - _BOX_REACH, source[0] + x + _BOX_REACH + 1) for x in BOX_CENTRES]
    near = probability[:, _near_axis(source[1], width)]
    return tuple(float(near[a:b].mean()) if a >= 0 and b <= length else math.nan for a, b in ends)


def count_start_cells(plume: Plume, threshold: float) -> int:
    """Size of D_init with this start threshold; 0 where nothing reaches it."""
    try:
        return len(plume.starts(threshold, WorldSettings(start_threshold="own")))
    except InputError:
        return 0


def _near_axis(y: int, width: int, more: int = 0) -> slice:
    return slice(max(0, y - NEAR_AXIS - more), min(width, y + NEAR_AXIS + more + 1))


def _core(whiffs: Whiffs, cells: range, reach: int) -> corr.Core:
    """Cells near the axis at some distances, with a margin downwind."""
    _, length, width = whiffs.shape
    x0, y0 = whiffs.source
    first, last = min(x0 + cells.start, length), min(x0 + cells.stop + reach, length)
    around, near = _near_axis(y0, width, corr.REACH_ACROSS), _near_axis(y0, width)
    record = np.moveaxis(whiffs.record(slice(first, last))[:, :, around], 1, 2)
    across = range(near.start - around.start, near.stop - around.start)
    return corr.Core(corr.anomaly(record), range(min(len(cells), last - first)), across)


def _mean_and_deviation(count: float, total: float, squares: float) -> tuple[float, float]:
    """Mean and standard deviation from sums; NaN where nothing was counted."""
    if count == 0:
        return math.nan, math.nan
    mean = total / count
    return mean, math.sqrt(max(0.0, squares / count - mean**2))


def _next_whiff(counts: np.ndarray, snapshots: int) -> tuple[float, float]:
    """P(whiff | whiff) and P(whiff | blank) over the cells of ``counts``."""
    whiffs, stays, begins = (int(n) for n in counts.sum(axis=(1, 2)))
    blanks = counts[0].size * (snapshots - 1) - whiffs
    return stays / whiffs if whiffs else math.nan, begins / blanks if blanks else math.nan
