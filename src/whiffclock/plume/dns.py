"""The plume of the paper in figures: what is known of the DNS slice, and how near another plume comes.

Origin of the figures: public detection maps and recorded searches that derive from the channel-flow DNS behind
the paper (Zenodo 15469831, CC-BY-4.0): nose height, downsampled to the paper's grid, 2598 snapshots. All are at
3e-6 ("dense") unless they name another threshold. Correlations, probabilities after a whiff or blank and the
structure speed were read off searches on rescaled grids and are approximate; where a range was found, the
middle is used. The boxes at the other three thresholds rest on the first 200 snapshots alone.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from operator import attrgetter, getitem
from typing import Any

import numpy as np

from whiffclock.params import ENVIRONMENTS, require
from whiffclock.plume.correlation import FOLLOWING_LAGS
from whiffclock.plume.statistics import BOX_CENTRES, PlumeStatistics, plain

ORIGIN = "channel-flow DNS behind the paper, figures read off public maps and searches (Zenodo 15469831, CC-BY-4.0)"
THRESHOLD = ENVIRONMENTS["dense"]

#: Whiff probability on the axis, by distance downwind.
_EVERY_EIGHT = (0.0, 0.58, 0.72, 0.70, 0.69, 0.71, 0.72, 0.73, 0.73, 0.66, 0.61, 0.53, 0.45, 0.35, 0.23, 0.10)
AXIS = dict(zip(range(0, 121, 8), _EVERY_EIGHT, strict=True))
AXIS_NEAR_SOURCE = {2: 0.16, 4: 0.34, 6: 0.49, 10: 0.64, 14: 0.70}
#: Full width at half maximum, by distance downwind.
WIDTH = {8: 1.5, 16: 3.6, 30: 6.7, 60: 7.6, 90: 7.5, 115: 8.9}
#: Whiff probability at x = 48, by distance from the axis.
OFF_AXIS = {4: 0.33, 8: 0.01}
#: Whiff probability near the axis about x = 20, 40, 60, 80; a small sample, about 16% low at 3e-6.
BOXES = {
    "denser": (0.67, 0.71, 0.80, 0.92),
    "sparse": (0.51, 0.45, 0.20, 0.01),
    "sparser": (0.45, 0.29, 0.02, 0.00),
}
#: At lags 1 to 4 for x = 8 to 83.
AUTOCORRELATION = (0.35, 0.215, 0.145, 0.065)
AUTOCORRELATION_FAR = 0.18
AFTER_WHIFF, AFTER_BLANK = 0.72, 0.33
#: Correlation by distance in cells.
ALONG = {1.7: 0.22, 3.3: 0.085}
ACROSS = {1.7: 0.22, 3.3: 0.06}
#: Following the flow, by lag.
FOLLOWING = dict(zip(FOLLOWING_LAGS, (0.545, 0.42, 0.30, 0.19), strict=True))
SPEED = 0.94


@dataclass(frozen=True)
class Figure:
    """One number about a plume: its name, how it is taken from statistics, its value for the DNS slice.

    ``target`` is the lowest and the highest value that counts as near; ``None``: shown, not judged.
    """

    name: str
    measure: Callable[[PlumeStatistics], float]
    dns: float
    target: tuple[float, float] | None = None


@dataclass(frozen=True)
class Row:
    """A plume beside the DNS in one figure."""

    figure: str
    dns: float
    here: float
    target: tuple[float, float] | None

    @property
    def difference(self) -> float:
        """This plume less the DNS."""
        return self.here - self.dns

    @property
    def met(self) -> bool | None:
        """Whether it comes near; ``None`` where there is no target or no value."""
        if self.target is None or not math.isfinite(self.here):
            return None
        return self.target[0] <= self.here <= self.target[1]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {name: plain(getattr(self, name)) for name in ("figure", "dns", "here", "difference", "target", "met")}


def axis_error(statistics: PlumeStatistics) -> float:
    """Root-mean-square difference of axis probabilities, every 8 cells as far as the grid goes."""
    differences = np.array([statistics.at(x) - value for x, value in AXIS.items()])
    inside = differences[np.isfinite(differences)]
    return float(np.sqrt(np.mean(inside**2))) if len(inside) else math.nan


def ordered_boxes(statistics: PlumeStatistics) -> float:
    """Share of the boxes at x = 20 to 60 in which every higher threshold has strictly fewer whiffs.

    Beyond, the poorest two have next to none in the DNS either.
    """
    columns = np.array([statistics.boxes[name] for name in ENVIRONMENTS])[:, :-1]
    columns = columns[:, np.isfinite(columns).all(axis=0)]
    return float((np.diff(columns, axis=0) < 0).all(axis=0).mean()) if columns.size else math.nan


def beside_dns(statistics: PlumeStatistics) -> list[Row]:
    """Lay a plume's statistics at 3e-6 beside those of the DNS slice."""
    require(
        statistics.threshold == THRESHOLD,
        f"The DNS figures are at the threshold {THRESHOLD:g}, these statistics at {statistics.threshold:g}; "
        f"measure the plume at {THRESHOLD:g}.",
    )
    figures = [figure for group in GROUPS for figure in group]
    return [Row(figure.name, figure.dns, figure.measure(statistics), figure.target) for figure in figures]


def _entry(attribute: str, *keys: Any) -> Callable[[PlumeStatistics], float]:
    """Takes ``statistics.attribute[key]...``."""
    return lambda statistics: reduce(getitem, keys, attrgetter(attribute)(statistics))


def _along_the_axis() -> Iterator[Figure]:
    yield Figure("axis probability, RMS error", axis_error, 0.0, (0.0, 0.05))
    for x, value in sorted((AXIS | AXIS_NEAR_SOURCE).items()):
        yield Figure(f"axis probability, x = {x}", partial(PlumeStatistics.at, x=x), value)
    for off, value in OFF_AXIS.items():
        yield Figure(f"probability {off} cells off it, x = 48", partial(PlumeStatistics.at, x=48, off=off), value)


def _widths() -> Iterator[Figure]:
    for x, width in WIDTH.items():
        target = (0.8 * width, 1.2 * width) if x >= 16 else None
        yield Figure(f"full width at half maximum, x = {x}", partial(PlumeStatistics.width, x=x), width, target)


def _in_time() -> Iterator[Figure]:
    first = _entry("autocorrelation", "20-80", 0)
    yield Figure("autocorrelation, x = 20-80, lag 1", first, AUTOCORRELATION[0], (-1.0, 0.5))
    for place in ("8-42", "42-83"):
        for i, value in enumerate(AUTOCORRELATION):
            yield Figure(f"autocorrelation, x = {place}, lag {i + 1}", _entry("autocorrelation", place, i), value)
    yield Figure("autocorrelation, x > 83, lag 1", _entry("autocorrelation", ">83", 0), AUTOCORRELATION_FAR)
    yield Figure("P(whiff | whiff), core", _entry("after_whiff"), AFTER_WHIFF)
    yield Figure("P(whiff | blank), core", _entry("after_blank"), AFTER_BLANK)


def _in_space() -> Iterator[Figure]:
    for direction, values in (("along", ALONG), ("across", ACROSS)):
        for cells, value in values.items():
            apart = partial(PlumeStatistics.apart, direction=direction, cells=cells)
            yield Figure(f"correlation {cells:g} cells {direction}", apart, value, (value - 0.15, value + 0.15))
    for i, (lag, value) in enumerate(FOLLOWING.items()):
        target = value - 0.15, value + 0.15
        yield Figure(f"following the flow, lag {lag}", _entry("following.correlation", i), value, target)
    yield Figure("structure speed (cells/snapshot)", _entry("following.speed"), SPEED, (0.8, 1.2))


def _in_boxes() -> Iterator[Figure]:
    yield Figure("boxes with thresholds in order", ordered_boxes, 1.0, (1.0, 1.0))
    for name, values in BOXES.items():
        for i, centre in enumerate(BOX_CENTRES):
            threshold = f"{ENVIRONMENTS[name]:.0e}".replace("e-0", "e-")
            yield Figure(f"P(c >= {threshold}), x = {centre}", _entry("boxes", name, i), values[i])


#: All figures, in groups, in the order of a table.
GROUPS = [list(group()) for group in (_along_the_axis, _widths, _in_time, _in_space, _in_boxes)]
