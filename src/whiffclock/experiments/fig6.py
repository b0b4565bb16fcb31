"""Fig. 6, where the modes are used: mean blank at each cell, and the share of Q+ there.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

blank : float[e, x, y]
    Mean duration of a blank at a fixed cell, in snapshots; NaN where no blank is seen to end.
decisions : float[e, 2, x, y]
    Decisions that the two-Q agents of the environment took in Q- and in Q+, all agents together, in tests.
usage : float[e, x, y]
    Share of these in Q+; NaN where nobody went.
share : float[e, a]
    Share of all test decisions in Q+, per agent.
by_blank : float[e, a, 2, b]
    Decisions per agent in Q- and Q+, by the mean blank of the cell: b bins between 0, the ``contours`` and
    infinity, and a last one for cells whose mean blank is NaN. Decisions off the grid are not counted.
by_distance : float[e, a, 2, x]
    Decisions per agent in Q- and Q+, by cell along the wind.

Facts: contours, tau.
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.judged import load
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, facts, taus
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS
from whiffclock.plume.durations import mean_durations, transitions
from whiffclock.plume.whiffs import Whiffs

NEEDS = (groups.TWO_HOME,)
REVISION = 1

CONTOURS = (5, 10, 25, 50, 100, 200)


def compute(work: Work) -> Result:
    """The result of this figure."""
    blank = np.stack([blank_times(work.plume.whiffs(threshold)) for threshold in ENVIRONMENTS.values()])
    occupancy = [_occupancy(work, environment) for environment in ENVIRONMENT_NAMES]
    decisions = np.stack([counts.sum(axis=0) for counts in occupancy])
    total = decisions.sum(axis=1)
    arrays = {
        "blank": blank,
        "decisions": decisions,
        "usage": np.divide(decisions[:, 1], total, out=np.full(total.shape, np.nan), where=total > 0),
        "share": np.stack([_share(work, environment) for environment in ENVIRONMENT_NAMES]),
        "by_blank": np.stack([by_bin(counts, _bins(cells)) for counts, cells in zip(occupancy, blank, strict=True)]),
        "by_distance": np.stack([counts.sum(axis=3) for counts in occupancy]),
    }
    return Result("fig6", arrays, facts(work, contours=list(CONTOURS), tau=taus(work)))


def blank_times(whiffs: Whiffs) -> np.ndarray:
    """Mean blank float[x, y] at every cell."""
    snapshots, length, _ = whiffs.shape
    columns = [transitions(whiffs.record(slice(x, x + 1))) for x in range(length)]
    counts = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return mean_durations(snapshots, *counts)[1]


def by_bin(occupancy: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Decisions [a, mode, x, y] by the bin of each cell: [a, mode, b]."""
    found = [occupancy[:, :, bins == b].sum(axis=2) for b in range(len(CONTOURS) + 2)]
    return np.stack(found, axis=2)


def _bins(blank: np.ndarray) -> np.ndarray:
    """Bin of each cell; NaN comes after all numbers."""
    return np.where(np.isnan(blank), len(CONTOURS) + 1, np.searchsorted(CONTOURS, blank, side="right"))


def _occupancy(work: Work, environment: str) -> np.ndarray:
    """Decisions [a, mode, x, y] of the two-Q agents of an environment."""
    return np.stack([load(work, agent, environment).occupancy for agent in agents.two(work, environment)])


def _share(work: Work, environment: str) -> np.ndarray:
    steps = [load(work, agent, environment).mode_steps.sum(axis=0) for agent in agents.two(work, environment)]
    return np.array([counts[-1] / counts.sum() for counts in steps])
