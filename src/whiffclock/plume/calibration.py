"""Calibration: map a plume onto the whiff probabilities of another one.

A target gives the probability P_k of c >= c_k in every cell, for thresholds c_1 < c_2 < ... . In each cell, the
snapshots are ordered by their simulated concentration s, and the first N_k = P_k T of T (rounded, halves to even) get
values of at least c_k: a quantile mapping. Ranks in time do not change, so structure and motion are kept. With a_k the
N_k-th highest concentration,

- a_k becomes c_k, and values between a_k and the next of them are interpolated linearly in log c against log s;
- above the highest threshold that a cell reaches, values are scaled copies of the simulated ones; where these
  would reach the next threshold, or a thousand times the highest one, log c is contracted to stay below it;
- below the lowest threshold, values are scaled copies of the simulated ones. Zeros stay zero.

Equal concentrations are ordered by their neighbourhood: by a copy smoothed over 2 cells and 2 snapshots, then over
8 and 8, and where all of these are equal, earlier snapshots come first. So where a target has more whiffs than a cell
has snapshots with odor, they come when there is odor nearby. Zero and negative concentrations that become whiffs have
no logarithm; in their order, they are spread over one octave below the lowest positive concentration of the cell.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from whiffclock.disk import read_toml
from whiffclock.formatting import plainly
from whiffclock.params import Settings, convert, require
from whiffclock.plume.plume import Plume
from whiffclock.plume.statistics import count_start_cells, whiff_map
from whiffclock.plume.whiffs import single

#: Crossings of the fits up to this probability are repaired; larger ones are refused.
CROSSING = 0.03
#: Maps are compared from this distance on; nearer cells are at the source.
FIRST = 3
#: Concentrations become at most this many times the highest threshold.
_HIGHEST = 1e3
_NEIGHBOURHOODS = (2.0, 8.0)


@dataclass(frozen=True)
class CrosswindProfile(Settings):
    """Whiff probability at one threshold: amplitude, width (in cells) and shape at each distance."""

    c: float
    amplitude: tuple[float, ...]
    width: tuple[float, ...]
    shape: tuple[float, ...]

    def rows(self, across: np.ndarray) -> np.ndarray:
        """Probability, float[distance, y], ``across`` cells from the plume's middle."""
        a, w, m = (np.array(row)[:, None] for row in (self.amplitude, self.width, self.shape))
        with np.errstate(over="ignore"):
            return np.minimum(a * np.exp(-((across / w) ** m)), 1)


@dataclass(frozen=True)
class Target(Settings):
    """Whiff probabilities about a source, at several thresholds.

    At distances ``x`` downwind of the source, y cells across, P = A exp(-|(y - shift) / w|^m), at most 1. Between these
    distances P is linear in x, before and after them it is constant.
    """

    origin: str
    x: tuple[float, ...]
    threshold: tuple[CrosswindProfile, ...]
    shift: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        x = np.array(self.x)
        require(len(x) > 0 and bool(np.isfinite(x).all()), "A target needs at least one distance x, all finite.")
        require(bool((np.diff(x) > 0).all()), "The distances x of a target must increase.")
        c = single(np.array(self.thresholds))
        growing = len(c) > 0 and c[0] > 0 and bool(np.isfinite(c).all()) and bool((np.diff(c) > 0).all())
        require(growing, "The thresholds of a target must be positive and increase from one to the next.")
        for profile in self.threshold:
            for name in ("amplitude", "width", "shape"):
                row, what = np.array(getattr(profile, name)), f"{name} at c = {plainly(profile.c)}"
                require(len(row) == len(x), f"{what} has {len(row)} values; it needs {len(x)}, one for each distance.")
                fits = np.isfinite(row) & (row >= 0 if name == "amplitude" else row > 0)
                must = "0 or more" if name == "amplitude" else "positive"
                require(bool(fits.all()), f"{what} has values out of range; they must be {must} and finite.")

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The thresholds, lowest first."""
        return tuple(profile.c for profile in self.threshold)

    def probability(self, length: int, width: int, source: tuple[int, int]) -> np.ndarray:
        """Whiff probability, float[threshold, x, y], on a grid with its source in a cell.

        A higher threshold never has more whiffs: where the fits of two thresholds cross by at most :data:`CROSSING`,
        the lower probability is used.
        """
        along, across = np.arange(length) - source[0], np.abs(np.arange(width) - source[1] - self.shift)
        weights = np.array([np.interp(along, self.x, row) for row in np.eye(len(self.x))])
        maps = np.array([weights.T @ profile.rows(across) for profile in self.threshold])
        ordered = np.minimum.accumulate(maps)
        excess = maps - ordered
        k, x, y = np.unravel_index(np.argmax(excess), excess.shape)
        where = f"{along[x]} cells downwind and {y - source[1]} across, by {excess.max():.2g}"
        more = f"The target has more whiffs at {plainly(self.thresholds[k])} than at a lower threshold {where}"
        require(excess.max() <= CROSSING, f"{more}; a higher threshold cannot have more.")
        return ordered


def read_target(name: str) -> Target:
    """The target in a TOML file; ``"dns"`` is the built-in one."""
    path = Path(__file__).with_name("dns.toml") if name == "dns" else Path(name)
    require(os.path.exists(path), f"The target {name} cannot be read: there is no such file; name a file, or dns.")
    return convert(read_toml(path), Target, f"The target {name} cannot be used")


def calibrate(plume: Plume, target: Target) -> Plume:
    """``plume`` with the whiff probabilities of ``target``."""
    too_large = f"{plume.origin} is too large to be calibrated in memory; make it smaller with whiffclock plume export."
    require(isinstance(plume.field, np.ndarray), too_large)
    field = single(plume.field)
    snapshots, length, width = field.shape
    counts = np.rint(target.probability(length, width, plume.source) * snapshots).astype(np.int64)
    nearby = [gaussian_filter(field, size, mode="nearest") for size in _NEIGHBOURHOODS]
    levels = single(np.array(target.thresholds))
    mapped = np.empty_like(field)
    for x, y in np.ndindex(length, width):
        order = np.lexsort([-copy[:, x, y] for copy in (*nearby[::-1], field)])
        mapped[order, x, y] = map_sorted(field[order, x, y], counts[:, x, y], levels)
    return Plume(mapped, plume.source, f"{plume.origin}, whiff probabilities mapped onto {target.origin}")


def before_and_after(plume: Plume, mapped: Plume, target: Target) -> list[dict[str, float]]:
    """Error of the whiff map and number of start cells, before and after, by threshold."""
    _, length, width = plume.field.shape
    rows = []
    for c, wanted in zip(target.thresholds, target.probability(length, width, plume.source), strict=True):
        row = {"threshold": c}
        for when, one in (("before", plume), ("after", mapped)):
            row[when] = map_error(whiff_map(one, c), wanted, plume.source)
            row[f"start_cells_{when}"] = count_start_cells(one, c)
        rows.append(row)
    return rows


def map_error(seen: np.ndarray, wanted: np.ndarray, source: tuple[int, int]) -> float:
    """Root-mean-square difference of two maps [x, y], from :data:`FIRST` cells downwind on; NaN if there are none."""
    difference = (seen - wanted)[source[0] + FIRST :]
    return float(np.sqrt((difference**2).mean())) if difference.size else float("nan")


def map_sorted(series: np.ndarray, counts: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Map concentrations in descending order, so that ``counts[k]`` of them are at least ``levels[k]``.

    Levels increase and counts do not. All concentrations are in single precision.
    """
    under = np.nextafter(levels, np.float32(0))
    whiffs = counts[0]
    reached = np.flatnonzero(counts > np.append(counts[1:], 0))  # levels that are the highest one of some snapshot
    mapped = np.empty_like(series)
    lowest = levels[reached[0]] if whiffs else min(under[0], series[0])
    mapped[whiffs:] = np.minimum(_scaled(series[whiffs:], series[max(whiffs - 1, 0)], lowest), under[0])
    if whiffs:
        log_s, log_c = _logarithms(series)[:whiffs], np.log(levels[reached].astype(float))
        limit = np.log(float(np.append(under[1:], _HIGHEST * levels[-1])[reached[-1]]))
        knots = log_s[counts[reached] - 1]
        top = min(log_c[-1] + log_s[0] - knots[-1], limit)
        # Downward, since interp takes the last of equal knots: equal concentrations get the lowest of their values.
        knots, log_c = np.append(knots, log_s[0])[::-1], np.append(log_c, top)[::-1]
        values = np.exp(np.interp(-log_s, -knots, log_c)).astype(np.float32)
        level = np.count_nonzero(np.arange(whiffs)[:, None] < counts, axis=1) - 1
        mapped[:whiffs] = np.clip(values, levels[level], np.append(under[1:], np.float32(np.inf))[level])
    return mapped


def _scaled(rest: np.ndarray, anchor: float, value: float) -> np.ndarray:
    """Blanks, scaled so that ``anchor`` becomes ``value``; negative concentrations do not change."""
    scale = float(value) / float(anchor) if anchor > 0 else 1.0
    return np.where(rest > 0, rest.astype(float) * scale, rest).astype(np.float32)


def _logarithms(series: np.ndarray) -> np.ndarray:
    """Logarithms of concentrations in descending order; those of zeros and negatives continue down over one octave."""
    odor = np.count_nonzero(series > 0)
    logs = np.log(series[:odor].astype(float))
    rest = np.arange(1, len(series) - odor + 1) / (len(series) - odor + 1)
    return np.append(logs, (logs[-1] if odor else 0.0) - np.log(2) * rest)
