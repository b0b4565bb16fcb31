"""How long whiffs and blanks last at a fixed cell: means, distributions, power laws.

Write n_w for the number of snapshots with a whiff that have a successor, and e_w for those among them
whose successor is a blank. The mean whiff lasts n_w / e_w snapshots. Runs that the record cuts at its ends
count with their recorded snapshots, so long runs are not missed; likewise for blanks.

Distributions are of complete runs. The exponent a of a power law p(d) ~ d^-a on lo <= d <= hi is the
maximum-likelihood estimate: the mean of log d under the law is the observed mean.
"""

from dataclasses import dataclass

import numpy as np

#: Decade of durations, in snapshots, to which power laws are fitted.
FIT_RANGE = (2, 20)
#: Fewer durations than this in the range give no exponent.
_LEAST = 30


@dataclass(frozen=True)
class Durations:
    """Distribution of durations in snapshots, over logarithmic bins."""

    edges: np.ndarray  # int[n + 1]; bin i holds the durations edges[i] <= d < edges[i + 1]
    density: np.ndarray  # float[n]; probability per snapshot of duration
    count: int  # number of complete runs
    mean: float  # of the complete runs; too small where runs are about as long as the record (use the maps)
    exponent: float  # a of p(d) ~ d^-a on fit_range; NaN where too few durations fall into it
    fit_range: tuple[int, int] = FIT_RANGE


def complete_runs(record: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Durations of all complete whiffs and of all complete blanks in ``record[cell, t]``."""
    cell, before = np.nonzero(record[:, 1:] != record[:, :-1])
    together = cell[1:] == cell[:-1]
    lengths = np.diff(before)[together]
    whiff = record[cell[:-1], before[:-1] + 1][together]
    return lengths[whiff], lengths[~whiff]


def distribution(lengths: np.ndarray, bins_per_decade: int = 8) -> Durations:
    """Histogram of ``lengths`` over logarithmic bins, and its power law."""
    longest = int(lengths.max()) if len(lengths) else 1
    decades = np.log10(longest + 1)
    edges = np.unique(np.rint(np.logspace(0, decades, int(np.ceil(bins_per_decade * decades)) + 1)).astype(np.int64))
    counts, _ = np.histogram(lengths, edges - 0.5)
    density = counts / (max(1, len(lengths)) * np.diff(edges))
    mean = float(lengths.mean()) if len(lengths) else float("nan")
    return Durations(edges, density, len(lengths), mean, power_law(lengths, FIT_RANGE), FIT_RANGE)


def power_law(lengths: np.ndarray, within: tuple[int, int]) -> float:
    """Maximum-likelihood exponent of the durations within a range; NaN if there are fewer than 30."""
    low, high = within
    inside = lengths[(lengths >= low) & (lengths <= high)]
    if len(inside) < _LEAST:
        return float("nan")
    observed = np.log(inside).mean()
    logs = np.log(np.arange(low, high + 1))
    shallow, steep = -10.0, 30.0
    while steep - shallow > 1e-6:
        middle = (shallow + steep) / 2
        weight = np.exp(-middle * (logs - logs[0]))
        if (weight * logs).sum() / weight.sum() > observed:
            shallow = middle
        else:
            steep = middle
    return float((shallow + steep) / 2)


def transitions(record: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts per cell of ``record[x, t, y]``: whiffs with a successor, whiff to whiff, blank to whiff."""
    now, later = record[:, :-1], record[:, 1:]
    whiffs = now.sum(axis=1)
    stays = (now & later).sum(axis=1)
    return whiffs, stays, later.sum(axis=1) - stays


def mean_durations(
    snapshots: int, whiffs: np.ndarray, stays: np.ndarray, begins: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean whiff and mean blank per cell, in snapshots; NaN where none ends."""
    ends = whiffs - stays
    blanks = snapshots - 1 - whiffs
    return _ratio(whiffs, ends), _ratio(blanks, begins)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.where(below > 0, above / np.maximum(below, 1), np.nan)
