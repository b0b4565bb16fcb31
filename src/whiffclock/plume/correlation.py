"""Correlations of whiffs: in time at a fixed cell, in space, and following the flow.

The record is w = 1 for a whiff and 0 for a blank; each cell's own mean is removed. Correlations are pooled
over pairs of cells (a, b):

    rho = sum cov(a, b) / sqrt(sum var(a) * sum var(b)),

so that cells are weighted by their variance and rare whiffs at the edge do not dominate. NaN where nothing varies.
"""

from dataclasses import dataclass

import numpy as np

#: Lags, in snapshots, of the autocorrelation at a fixed cell.
LAGS = (1, 2, 3, 4)
#: Separations, in cells, of the correlation in space.
SEPARATIONS = (1, 2, 3, 4)
#: Lags, in snapshots, of the correlation that follows the flow.
FOLLOWING_LAGS = (1, 2, 4, 8, 16)
#: Speed, in cells per snapshot, up to which structures are sought first; where none is found, the window grows.
SPEED_SOUGHT = 2
#: Below this correlation, structures are not recognised, and are sought farther away.
FAINT = 0.1
#: Cells needed beyond the core: along the wind for structures that leave it, across it for separations.
REACH_ALONG = 4 * SPEED_SOUGHT * FOLLOWING_LAGS[-1] + 1
REACH_ACROSS = SEPARATIONS[-1]


def anomaly(record: np.ndarray) -> np.ndarray:
    """``record[x, y, t]`` as numbers, minus each cell's mean."""
    values = record.astype(np.float32)
    return values - values.mean(axis=-1, keepdims=True, dtype=np.float64).astype(np.float32)


def time_covariance(record: np.ndarray) -> np.ndarray:
    """Covariance of ``record[x, y, t]`` with itself at lags 0 and :data:`LAGS`, summed over y.

    Returns float[x, 1 + number of lags]. The ratio of sums over x to those of lag 0 is the autocorrelation.
    NaN at lags that the record is too short for.
    """
    less_mean = anomaly(record)
    snapshots = record.shape[-1]
    sums = np.full((len(record), 1 + len(LAGS)), np.nan)
    for i, lag in enumerate((0, *LAGS)):
        if lag < snapshots:
            pairs = _dot(less_mean[..., : snapshots - lag], less_mean[..., lag:])
            sums[:, i] = pairs.sum(axis=1) / (snapshots - lag)
    return sums


def pooled_autocorrelation(covariance: np.ndarray) -> tuple[float, ...]:
    """Autocorrelation at :data:`LAGS` from rows of :func:`time_covariance`."""
    total = covariance.sum(axis=0)
    return tuple((total[1:] / total[0]).tolist()) if total[0] > 0 else (float("nan"),) * len(LAGS)


@dataclass(frozen=True)
class Core:
    """The record near the plume's axis, means removed, with a margin of cells to correlate with."""

    anomaly: np.ndarray  # float32[x, y, t]
    along: range  # which of these cells are the core
    across: range

    def correlation(self, dx: int = 0, dy: int = 0, lag: int = 0) -> float:
        """Correlation of the core with the cells ``dx, dy`` away, ``lag`` snapshots later."""
        length, width, snapshots = self.anomaly.shape
        xs = slice(max(self.along.start, -dx, 0), max(0, min(self.along.stop, length - dx)))
        ys = slice(max(self.across.start, -dy, 0), max(0, min(self.across.stop, width - dy)))
        if xs.start >= xs.stop or ys.start >= ys.stop or lag >= snapshots:
            return float("nan")
        here = self.anomaly[xs, ys]
        there = self.anomaly[xs.start + dx : xs.stop + dx, ys.start + dy : ys.stop + dy]
        covariance = _dot(here[..., : snapshots - lag], there[..., lag:]).sum() / (snapshots - lag)
        scale = np.sqrt(_dot(here, here).sum() * _dot(there, there).sum()) / snapshots
        return float(covariance / scale) if scale > 0 else float("nan")

    def across_wind(self, cells: int) -> float:
        """Correlation with the cells at a distance to either side, the mean of both."""
        return (self.correlation(dy=cells) + self.correlation(dy=-cells)) / 2

    def neighbours(self) -> tuple[float, float]:
        """Correlation of cells one apart, along and across the wind."""
        return self.correlation(dx=1), self.across_wind(1)


@dataclass(frozen=True)
class Following:
    """Correlation following the flow: at each lag, the best displacement downwind and its correlation.

    A displacement is NaN where the best one is the largest that was possible: structures have gone farther. ``speed``
    is the slope of displacement against lag through the origin, each lag weighted by its correlation.
    """

    displacement: tuple[float, ...]
    correlation: tuple[float, ...]
    speed: float


def following_flow(core: Core) -> Following:
    """Follow the core's structures for :data:`FOLLOWING_LAGS` snapshots."""
    best = [_best_displacement(core, lag) for lag in FOLLOWING_LAGS]
    places = np.array([place for place, _ in best])
    peaks = np.array([peak for _, peak in best])
    weight = np.where(np.isfinite(places), np.maximum(peaks, 0), 0.0)
    lags = np.array(FOLLOWING_LAGS)
    scale = (weight * lags**2).sum()
    speed = float((weight * lags * np.nan_to_num(places)).sum() / scale) if scale > 0 else float("nan")
    return Following(tuple(places.tolist()), tuple(peaks.tolist()), speed)


def _best_displacement(core: Core, lag: int) -> tuple[float, float]:
    """Peak over whole displacements downwind, refined by the parabola through it and its neighbours.

    The window grows until the maximum is inside, or the core's margin ends.
    """
    seen, end = np.empty(0), SPEED_SOUGHT * lag + 2
    while len(seen) < end:
        more = [core.correlation(dx=d, lag=lag) for d in range(len(seen), end)]
        seen = np.append(seen, more)
        beyond = np.isfinite(more).all() and (np.argmax(seen) == end - 1 or seen.max() < FAINT)
        end = min(2 * end, REACH_ALONG + 1) if beyond else end
    if not np.isfinite(seen).any():
        return float("nan"), float("nan")
    place = int(np.nanargmax(seen))
    peak = float(seen[place])
    if place == np.isfinite(seen).sum() - 1:
        return float("nan"), peak
    if place == 0:
        return 0.0, peak
    before, after = float(seen[place - 1]), float(seen[place + 1])
    curvature = 2 * peak - before - after
    if curvature <= 0:
        return float(place), peak
    shift = (after - before) / (2 * curvature)
    return place + shift, min(1.0, peak + shift * (after - before) / 4)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum over time, cell by cell, as float64."""
    return np.einsum("xyt,xyt->xy", a, b).astype(np.float64)
