"""The plume of the paper in figures: what is known of the DNS slice, and how near another plume comes.

Origin of the figures: public detection maps and recorded searches that derive from the channel-flow DNS behind
the paper (Zenodo 15469831, CC-BY-4.0): nose height, downsampled to the paper's grid, 2598 snapshots. All are at
3e-6 ("dense") unless they name another threshold. Correlations, probabilities after a whiff or blank and the
structure speed were read off searches on rescaled grids and are approximate; where a range was found, the
middle is used. The boxes at the other three thresholds rest on the first 200 snapshots alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.params import ENVIRONMENTS, require
from whiffclock.plume.correlation import FOLLOWING_LAGS
from whiffclock.plume.statistics import BOX_CENTRES, PlumeStatistics

ORIGIN = "channel-flow DNS behind the paper, figures read off public maps and searches (Zenodo 15469831, CC-BY-4.0)"
THRESHOLD = ENVIRONMENTS["dense"]

#: Whiff probability on the axis, by distance downwind.
AXIS = dict(
    zip(
        range(0, 121, 8),
        (0.0, 0.58, 0.72, 0.70, 0.69, 0.71, 0.72, 0.73, 0.73, 0.66, 0.61, 0.53, 0.45, 0.35, 0.23, 0.10),
        strict=True,
    )
)
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


Measure = Callable[[PlumeStatistics], float]


@dataclass(frozen=True)
class Figure:
    """One number about a plume.

    Attributes
    ----------
    name
        What it is, in a few words.
    measure
        How it is taken from statistics.
    dns
        Its value for the DNS slice.
    target
        Lowest and highest value that counts as near; ``None``: shown, not judged.
    """

    name: str
    measure: Measure
    dns: float
    target: tuple[float, float] | None = None


@dataclass(frozen=True)
class Row:
    """A plume beside the DNS in one figure; ``met`` is ``None`` where there is no target or no value."""

    figure: str
    dns: float
    here: float
    target: tuple[float, float] | None
    met: bool | None

    @property
    def difference(self) -> float:
        """This plume less the DNS."""
        return self.here - self.dns

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        known = math.isfinite(self.here)
        return {
            "figure": self.figure,
            "dns": self.dns,
            "here": self.here if known else None,
            "difference": self.difference if known else None,
            "target": None if self.target is None else list(self.target),
            "met": self.met,
        }


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
    return [_row(figure, figure.measure(statistics)) for figure in FIGURES]


def _row(figure: Figure, here: float) -> Row:
    met = None
    if figure.target is not None and math.isfinite(here):
        met = figure.target[0] <= here <= figure.target[1]
    return Row(figure.name, figure.dns, here, figure.target, met)


def _near(value: float, margin: float = 0.15) -> tuple[float, float]:
    return value - margin, value + margin


def _at(x: int, off: int = 0) -> Measure:
    return lambda statistics: statistics.at(x, off)


def _width(x: int) -> Measure:
    return lambda statistics: statistics.width(x)


def _autocorrelation(place: str, lag: int) -> Measure:
    return lambda statistics: statistics.autocorrelation[place][lag - 1]


def _apart(direction: str, cells: float) -> Measure:
    return lambda statistics: statistics.apart(direction, cells)


def _following(i: int) -> Measure:
    return lambda statistics: statistics.following.correlation[i]


def _box(name: str, i: int) -> Measure:
    return lambda statistics: statistics.boxes[name][i]


def _axis_figures() -> list[Figure]:
    return [
        Figure("axis probability, RMS error", axis_error, 0.0, (0.0, 0.05)),
        *(Figure(f"axis probability, x = {x}", _at(x), p) for x, p in sorted((AXIS | AXIS_NEAR_SOURCE).items())),
        *(Figure(f"probability {off} cells off it, x = 48", _at(48, off), p) for off, p in OFF_AXIS.items()),
    ]


def _width_figures() -> list[Figure]:
    return [
        Figure(f"full width at half maximum, x = {x}", _width(x), w, (0.8 * w, 1.2 * w) if x >= 16 else None)
        for x, w in WIDTH.items()
    ]


def _time_figures() -> list[Figure]:
    return [
        Figure("autocorrelation, x = 20-80, lag 1", _autocorrelation("20-80", 1), AUTOCORRELATION[0], (-1.0, 0.5)),
        *(
            Figure(f"autocorrelation, x = {place}, lag {lag}", _autocorrelation(place, lag), value)
            for place in ("8-42", "42-83")
            for lag, value in enumerate(AUTOCORRELATION, 1)
        ),
        Figure("autocorrelation, x > 83, lag 1", _autocorrelation(">83", 1), AUTOCORRELATION_FAR),
        Figure("P(whiff | whiff), core", lambda statistics: statistics.after_whiff, AFTER_WHIFF),
        Figure("P(whiff | blank), core", lambda statistics: statistics.after_blank, AFTER_BLANK),
    ]


def _space_figures() -> list[Figure]:
    return [
        *(
            Figure(f"correlation {cells:g} cells {direction}", _apart(direction, cells), value, _near(value))
            for direction, values in (("along", ALONG), ("across", ACROSS))
            for cells, value in values.items()
        ),
        *(
            Figure(f"following the flow, lag {lag}", _following(i), value, _near(value))
            for i, (lag, value) in enumerate(FOLLOWING.items())
        ),
        Figure("structure speed (cells/snapshot)", lambda statistics: statistics.following.speed, SPEED, (0.8, 1.2)),
    ]


def _box_figures() -> list[Figure]:
    return [
        Figure("boxes with thresholds in order", ordered_boxes, 1.0, (1.0, 1.0)),
        *(
            Figure(f"P(c >= {ENVIRONMENTS[name]:.0e}), x = {centre}".replace("e-0", "e-"), _box(name, i), values[i])
            for name, values in BOXES.items()
            for i, centre in enumerate(BOX_CENTRES)
        ),
    ]


#: All figures, in groups, in the order of a table.
GROUPS: tuple[tuple[Figure, ...], ...] = (
    tuple(_axis_figures()),
    tuple(_width_figures()),
    tuple(_time_figures()),
    tuple(_space_figures()),
    tuple(_box_figures()),
)
FIGURES: tuple[Figure, ...] = tuple(figure for group in GROUPS for figure in group)
