"""Thresholds from a record: environments that are as far apart on any plume as the paper's are on its own.

The rule. The start region of a threshold are the cells, outside the source disc, that reach it at least once. The
sparsest threshold is one whose whiff probability, averaged over its own start region, is that of the paper's sparsest
environment on the built-in plume. Often there are several, since a higher threshold loses whiffs and cells with few
of them; of these, it is the one at which the whiff probability averaged over all whiffs (sum p^2 / sum p) is nearest
to the paper's, or highest if other probabilities are wanted. The others have, averaged over the same region,
the whiff probabilities of the paper's other three. So thresholds scale with the values, and no unit is needed.

A longer record has more cells that reach a threshold at least once. The numbers of the paper are therefore kept by
the length of the record (:data:`PAPER_PROBABILITIES`); between lengths they are interpolated in its logarithm. They
are means over contiguous parts of the built-in plume, as :func:`measure` finds them.

Names are those of :func:`whiffclock.environments.numbered`: four environments are called as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from whiffclock.environments import MOST, Environments, numbered
from whiffclock.formatting import plainly, short
from whiffclock.params import WorldSettings, require
from whiffclock.plume.durations import complete_runs
from whiffclock.plume.plume import Plume
from whiffclock.plume.whiffs import single

#: By number of snapshots: whiff probability in the start region of the built-in plume in the paper's four environments,
#: from dense to sparse, and the average over all whiffs in the last of them.
PAPER_PROBABILITIES: dict[int, tuple[float, ...]] = {
    20: (0.703, 0.521, 0.356, 0.235, 0.382),
    50: (0.639, 0.447, 0.284, 0.179, 0.339),
    100: (0.621, 0.421, 0.257, 0.160, 0.345),
    200: (0.597, 0.390, 0.230, 0.142, 0.350),
    500: (0.575, 0.361, 0.202, 0.123, 0.351),
    1000: (0.556, 0.336, 0.180, 0.108, 0.339),
    2598: (0.542, 0.316, 0.161, 0.096, 0.346),
}
#: Most values that are looked at: of larger fields, the middle snapshots and some of the cells.
MOST_VALUES = 10_000_000
MOST_SNAPSHOTS = 3000
#: Largest relative error of a whiff probability; beyond it, the values of the record are too coarse.
TOLERANCE = 0.3
#: Fewest cells of a start region.
FEWEST_CELLS = 10
_STEPS = 2000
#: Relative error of the sparsest whiff probability that is accepted for a better average over whiffs.
_CLOSE = 0.1


@dataclass(frozen=True)
class Suggestion:
    """Environments from a record, with what they are like in the start region."""

    environments: Environments
    wanted: tuple[float, ...]  # whiff probability that each should have, from dense to sparse
    found: tuple[float, ...]  # and has
    blanks: tuple[float, ...]  # mean duration of complete blanks, in snapshots
    start_cells: int
    snapshots: int  # that were looked at

    @property
    def lowest(self) -> float:
        """The lowest threshold, that of the densest environment."""
        return min(self.environments.values())


class _Region:
    """Values of cells outside the source disc, and their whiffs."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.highest = values, values.max(axis=1)  # values[cell, t]
        self.ordered, self.peaks = np.sort(values, axis=None), np.sort(self.highest)

    def own_probability(self, threshold: Any) -> Any:
        """Mean whiff probability in the start region of each threshold itself; no whiff is outside of it."""
        whiffs = len(self.ordered) - np.searchsorted(self.ordered, threshold)
        cells = len(self.peaks) - np.searchsorted(self.peaks, threshold)
        return whiffs / np.maximum(cells, 1) / self.values.shape[1]

    def probability(self, threshold: float, start: float) -> float:
        """Mean whiff probability in the start region of ``start``; 0 where it is empty."""
        cells = self.highest >= single(start)
        return float((self.values[cells] >= single(threshold)).mean()) if cells.any() else 0.0

    def at_whiffs(self, threshold: float) -> float:
        """Mean whiff probability over all whiffs."""
        p = (self.values[self.highest >= single(threshold)] >= single(threshold)).mean(axis=1)
        return float(np.square(p).sum() / p.sum())

    def blank(self, threshold: float, start: float) -> float:
        """Mean duration of the blanks between two whiffs."""
        _, lengths = complete_runs(self.values[self.highest >= single(start)] >= single(threshold))
        return float(lengths.mean()) if len(lengths) else float("nan")


def suggested(plume: Plume, probabilities: Sequence[float] | None = None) -> Environments:
    """Environments of ``plume`` by the rule above, or with these whiff probabilities in the start region."""
    falling = None if probabilities is None else sorted(probabilities, reverse=True)
    return suggest_environments(plume.field, plume.source, falling).environments


def suggest_environments(
    field: Any,
    source: tuple[int, int] | None = None,
    probabilities: Sequence[float] | None = None,
    radius: float = WorldSettings.radius,
) -> Suggestion:
    """Environments for ``field[t, x, y]`` by the rule above.

    ``probabilities`` are other whiff probabilities in the start region. The cells within ``radius`` of ``source`` are
    left out.
    """
    region, snapshots = _region(field, source, radius), min(field.shape[0], MOST_SNAPSHOTS)
    paper = paper_probabilities(snapshots)
    wanted, at_whiffs = (paper[:-1], paper[-1]) if probabilities is None else (_required(probabilities), None)
    lowest, highest = (float(value) for value in (region.values.min(), region.highest.max()))
    require(lowest < highest, f"All values are {plainly(lowest)}, so no threshold can be found.")
    require(highest > 0, f"The highest value is {plainly(highest)}; thresholds are positive.")
    start = _start_threshold(region, wanted[-1], at_whiffs)
    found = [_rounded(region, _crossing(region, p, start), start, p) for p in wanted[:-1]]
    start = _rounded(region, start, None, wanted[-1])
    thresholds = [*found, start]
    have = tuple(region.probability(c, start) for c in thresholds)
    cells = int((region.highest >= single(start)).sum())
    _require_close(thresholds, wanted, have, cells)
    blanks = tuple(region.blank(c, start) for c in thresholds)
    return Suggestion(Environments(numbered(thresholds)), wanted, have, blanks, cells, snapshots)


def measure(plume: Plume, snapshots: int, parts: int = 8) -> tuple[float, ...]:
    """What :data:`PAPER_PROBABILITIES` has of so many ``snapshots``: the mean over contiguous parts of ``plume``."""
    record, thresholds = plume.field.shape[0], tuple(plume.environments.values())
    firsts = np.unique(np.linspace(0, record - snapshots, parts).astype(int))
    found = []
    for first in firsts:
        region = _region(plume.field[first : first + snapshots], plume.source, WorldSettings.radius)
        in_region = [region.probability(c, thresholds[-1]) for c in thresholds]
        found.append([*in_region, region.at_whiffs(thresholds[-1])])
    return tuple(float(value) for value in np.mean(found, axis=0))


def paper_probabilities(snapshots: int) -> tuple[float, ...]:
    """An entry of :data:`PAPER_PROBABILITIES` for any length of the record."""
    lengths = np.log([*PAPER_PROBABILITIES])
    columns = zip(*PAPER_PROBABILITIES.values(), strict=True)
    return tuple(float(np.interp(np.log(snapshots), lengths, column)) for column in columns)


def _required(probabilities: Sequence[float]) -> tuple[float, ...]:
    given = tuple(float(p) for p in probabilities)
    falling = all(a > b for a, b in pairwise(given))
    fine = 1 <= len(given) <= MOST and all(0 < p < 1 for p in given) and falling
    shown = ", ".join(plainly(p) for p in given)
    must = f"they must be one to {MOST} falling numbers between 0 and 1, such as .2,.1,.05,.02"
    require(fine, f"The whiff probabilities are {shown or 'none'}; {must}.")
    return given


def _region(field: Any, source: tuple[int, int] | None, radius: float) -> _Region:
    """Values of a sample of the field: contiguous snapshots, every cell or some, outside the source disc."""
    snapshots, length, width = field.shape
    count = min(snapshots, MOST_SNAPSHOTS)
    first = (snapshots - count) // 2
    outside = np.ones((length, width), dtype=bool)
    if source is not None:
        x, y = np.indices((length, width))
        outside = (x - source[0]) ** 2 + (y - source[1]) ** 2 > radius**2
    cells = np.flatnonzero(outside)
    every = max(1, -(-count * len(cells) // MOST_VALUES))
    cells = cells[every // 2 :: every] if every > 1 else cells
    parts = (field[i : min(i + 64, first + count)] for i in range(first, first + count, 64))
    values = np.concatenate([np.asarray(part).reshape(len(part), -1)[:, cells] for part in parts])
    return _Region(single(values.T))


def _start_threshold(region: _Region, wanted: float, at_whiffs: float | None) -> float:
    """The threshold whose whiff probability in its own start region is ``wanted``, by the rule above."""
    steps = np.unique(np.quantile(region.peaks, np.linspace(0, 1, _STEPS)))
    steps = steps[steps > 0]
    error = np.abs(np.log(np.maximum(region.own_probability(steps), 1e-12) / wanted))
    close = np.flatnonzero(error <= max(_CLOSE, float(error.min())))
    some = steps[np.unique(np.linspace(close[0], close[-1], 25).astype(int))]
    mean = np.interp(steps[close], some, [region.at_whiffs(float(c)) for c in some])
    cost = error[close] + np.abs(np.log(mean / at_whiffs)) if at_whiffs else -mean
    return float(steps[close[np.argmin(cost)]])


def _crossing(region: _Region, wanted: float, start: float) -> float:
    """The threshold whose whiff probability in the start region of ``start`` is ``wanted``: a quantile."""
    return float(np.quantile(region.values[region.highest >= single(start)], 1 - wanted))


def _rounded(region: _Region, threshold: float, start: float | None, wanted: float) -> float:
    """The threshold with as few digits as hardly change its whiff probability."""
    exact = region.probability(threshold, threshold if start is None else start)
    for digits in (3, 4, 6):
        nearest = float(f"{threshold:.{digits}g}")
        step = 10.0 ** (math.floor(math.log10(abs(threshold) or 1.0)) - digits + 1)
        for value in (
            nearest,
            float(f"{nearest - step:.{digits}g}"),
        ):  # many are at the threshold itself
            if abs(region.probability(value, value if start is None else start) - exact) <= 0.01 * wanted:
                return value
    return threshold


def _require_close(thresholds: Sequence[float], wanted: Sequence[float], have: Sequence[float], cells: int) -> None:
    """Refuse thresholds that the values of the record do not allow."""
    way_out = "give thresholds yourself with --environments"
    few = f"Only {cells} cells reach the sparsest threshold, {plainly(thresholds[-1])}"
    require(cells >= FEWEST_CELLS, f"{few}; a plume needs {FEWEST_CELLS} at least: {way_out}.")
    for c, p, found in zip(thresholds, wanted, have, strict=True):
        close = abs(found - p) <= TOLERANCE * p
        jumps = f"The whiff probability jumps: {short(p, 3)} is wanted, {short(found, 3)} the nearest, at {plainly(c)}"
        require(close, f"{jumps}; the values are too coarse, or mostly equal: {way_out}.")
        require(
            c > 0, f"A whiff probability of {short(p, 3)} needs the threshold {plainly(c)}, not positive: {way_out}."
        )
    rising = all(a < b for a, b in pairwise(thresholds))
    shown = ", ".join(plainly(c) for c in thresholds)
    require(rising, f"The thresholds would be {shown}: the values are too coarse to tell them apart; {way_out}.")
