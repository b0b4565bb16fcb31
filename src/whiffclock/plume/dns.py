"""Statistics of the DNS slice behind the paper, to compare plumes with.

Origin of the numbers: public derivatives of the channel-flow DNS behind the paper (Zenodo 15469831, CC-BY-4.0; nose
height, the paper's grid, 2598 snapshots). Whiff probabilities are of the full record at four thresholds; the maps are
computed from ``dns.toml``. Correlations are at 3e-6 ("dense"), from recorded searches and one pair of whole frames, and
approximate; where a range was found, the middle is used. Blanks: Rando et al. 2025, same simulation.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from operator import attrgetter, getitem
from typing import Any, NamedTuple

import numpy as np

from whiffclock.environments import PAPER
from whiffclock.formatting import nan_to_null, plainly
from whiffclock.params import require
from whiffclock.plume.calibration import FIRST, map_error, read_target
from whiffclock.plume.correlation import FOLLOWING_LAGS
from whiffclock.plume.statistics import PlumeStatistics, full_width

ORIGIN = "channel-flow DNS behind the paper, figures of public derivatives (Zenodo 15469831, CC-BY-4.0)"
THRESHOLD = PAPER["dense"]

#: Whiff probability on the axis, by distance downwind.
DISTANCES = (2, 4, 6, 8, 16, 24, 40, 56, 72, 88, 104, 120)
AXIS = {
    "denser": (0.21, 0.42, 0.55, 0.62, 0.80, 0.78, 0.80, 0.87, 0.91, 0.92, 0.94, 0.98),
    "dense": (0.16, 0.34, 0.49, 0.58, 0.72, 0.70, 0.71, 0.73, 0.67, 0.53, 0.36, 0.10),
    "sparse": (0.08, 0.26, 0.41, 0.51, 0.68, 0.64, 0.60, 0.45, 0.19, 0.06, 0.02, 0.00),
    "sparser": (0.04, 0.19, 0.33, 0.44, 0.64, 0.59, 0.48, 0.19, 0.02, 0.00, 0.00, 0.00),
}
#: Autocorrelation at a fixed cell at lags 1 to 4, by range of x.
AUTOCORRELATION = {"8-42": (0.40, 0.23, 0.15, 0.06), "42-83": (0.43, 0.30, 0.25, 0.18), "83-120": (0.28,)}
#: Correlation by distance in cells; that of neighbours is the same at all distances downwind.
ALONG = {1: 0.375, 1.7: 0.22, 3.3: 0.085}
ACROSS = {1: 0.355, 1.7: 0.22, 3.3: 0.06}
#: Following the flow, by lag.
FOLLOWING = dict(zip(FOLLOWING_LAGS, (0.73, 0.545, 0.42, 0.30, 0.19), strict=True))
SPEED = 0.87
#: Mean and standard deviation of all blanks between two whiffs; how far downwind start cells reach.
BLANKS, REACH = (9.97, 41.16), 99


class Row(NamedTuple):
    """One quantity of a plume and of the DNS."""

    figure: str
    dns: float
    here: float
    target: tuple[float, float] | None
    difference: float  # this plume minus the DNS
    met: bool | None  # whether it lies in the target range; None where there is no target or no value

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return nan_to_null(self._asdict())


class Quantity(NamedTuple):
    """One quantity: how it is measured, its value in the DNS, and the target range."""

    name: str
    measure: Callable[[PlumeStatistics], float]
    dns: float  # its value for the DNS slice
    target: tuple[float, float] | None = None  # lowest and highest value of the target range

    def beside(self, statistics: PlumeStatistics) -> Row:
        """Its value for a plume, and in the DNS."""
        here = self.measure(statistics)
        met = self.target[0] <= here <= self.target[1] if self.target and math.isfinite(here) else None
        return Row(self.name, self.dns, here, self.target, here - self.dns, met)


@cache
def maps(length: int = 123, width: int = 27, source: tuple[int, int] = (0, 13)) -> dict[str, np.ndarray]:
    """Whiff probability [x, y] at the four thresholds, on the paper's grid or another one of the same cells."""
    return dict(zip(PAPER, read_target("dns").probability(length, width, source), strict=True))


def error_of_map(statistics: PlumeStatistics, name: str) -> float:
    """Root-mean-square difference of the whole map in one environment of the paper; NaN in others."""
    if statistics.environments != PAPER:
        return math.nan
    _, length, width = statistics.shape
    return map_error(statistics.maps[name], maps(length, width, statistics.source)[name], statistics.source)


def start_cells(statistics: PlumeStatistics) -> tuple[float, float]:
    """Number of start cells at 7e-6, and how far downwind they reach; NaN elsewhere, and on a short grid."""
    if statistics.environments != PAPER:
        return math.nan, math.nan
    ever = np.flatnonzero(statistics.maps["sparser"].any(axis=1)) - statistics.source[0]
    long = len(ever) and statistics.shape[1] - statistics.source[0] > REACH
    return (statistics.start_cells["sparser"], float(ever[-1])) if long else (math.nan, math.nan)


def beside_dns(statistics: PlumeStatistics) -> list[Row]:
    """Compare a plume's statistics at 3e-6 with those of the DNS slice."""
    seen = statistics.threshold
    at, other = plainly(THRESHOLD), plainly(seen)
    require(seen == THRESHOLD, f"The DNS statistics are at the threshold {at}, these at {other}.")
    known = statistics.environments == PAPER
    require(known, f"The DNS is known in {', '.join(PAPER)}; these statistics are in other environments.")
    return [quantity.beside(statistics) for group in GROUPS for quantity in group]


def _entry(attribute: str, *keys: Any) -> Callable[[PlumeStatistics], float]:
    """A function from statistics to ``statistics.attribute[key]...``."""
    return lambda statistics: reduce(getitem, keys, attrgetter(attribute)(statistics))


def _about(value: float, margin: float) -> tuple[float, float]:
    return value - margin, value + margin


def _whole_maps() -> Iterator[Quantity]:
    for name, threshold in PAPER.items():
        title = f"map at {plainly(threshold)}, x >= {FIRST}, RMSE"
        yield Quantity(title, partial(error_of_map, name=name), 0.0, (0.0, 0.02))


def _along_the_axis() -> Iterator[Quantity]:
    for x, value in zip(DISTANCES, AXIS["dense"], strict=True):
        yield Quantity(f"axis probability, x = {x}", partial(PlumeStatistics.at, x=x), value)
    for x in (8, 16, 30, 60, 90, 115):
        width = full_width(maps()["dense"][x])
        target = _about(width, 0.2 * width) if x >= 16 else None
        yield Quantity(f"full width at half maximum, x = {x}", partial(PlumeStatistics.width, x=x), width, target)


def _in_time() -> Iterator[Quantity]:
    for place, values in AUTOCORRELATION.items():
        for i, value in enumerate(values):
            name, target = f"autocorrelation, x = {place}, lag {i + 1}", _about(value, 0.1 if i else 0.08)
            yield Quantity(name, _entry("autocorrelation", place, i), value, target)
    yield Quantity("P(whiff | whiff), core", _entry("after_whiff"), 0.73)
    yield Quantity("P(whiff | blank), core", _entry("after_blank"), 0.33)
    yield Quantity("blanks, all cells, mean", _entry("all_blanks", 0), BLANKS[0], (9, 11))
    yield Quantity("blanks, standard deviation", _entry("all_blanks", 1), BLANKS[1], (37, 45))


def _in_space() -> Iterator[Quantity]:
    for i, (direction, values) in enumerate((("along", ALONG), ("across", ACROSS))):
        for place in AUTOCORRELATION:
            name = f"correlation 1 cell {direction}, x = {place}"
            yield Quantity(name, _entry("neighbours", place, i), values[1], (0.25, 0.45))
        for cells in (1.7, 3.3):
            apart, value = partial(PlumeStatistics.apart, direction=direction, cells=cells), values[cells]
            yield Quantity(f"correlation {cells:g} cells {direction}", apart, value, _about(value, 0.15))
    for i, (lag, value) in enumerate(FOLLOWING.items()):
        yield Quantity(f"following the flow, lag {lag}", _entry("following.correlation", i), value, _about(value, 0.15))
    yield Quantity("structure speed (cells/snapshot)", _entry("following.speed"), SPEED, (0.8, 0.94))


def _starts() -> Iterator[Quantity]:
    yield Quantity("start cells at 7e-6", lambda statistics: start_cells(statistics)[0], 1270, (1150, 1400))
    yield Quantity("  reaching x =", lambda statistics: start_cells(statistics)[1], REACH, (92, 104))


#: All quantities, in groups, in the order of the table.
GROUPS = [list(group()) for group in (_whole_maps, _along_the_axis, _in_time, _in_space, _starts)]
