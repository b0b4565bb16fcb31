"""Fig. S3, the choice of tau: how evenly it divides training between the modes, and what it does to performance.

Arrays (axes as in :mod:`whiffclock.experiments.measures`; k is the value of tau, n the agent of the scan):

tau : float[k]
    Values of the scan.
share : float[e, k, n]
    Share of training decisions in Q+.
performance : float[e, k, n, m]
    Means over all starts, in the environment of training.
strata : float[e, k, n, t, m]
    The same by time stratum.
chosen : float[e]
    The tau of the two-Q agents, whose share lies closest to one half.

Facts: scan_seeds, scan_episodes.
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.judged import Verdict, verdicts
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, facts, in_each, means, strata, taus
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SCAN, groups.SCAN_HOME)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    profile = work.profile
    judged = [[_judged(work, e, tau) for tau in profile.taus] for e in ENVIRONMENT_NAMES]
    arrays = {
        "tau": np.array(profile.taus),
        "share": in_each(lambda e: list(agents.scan_shares(work, e).values())),
        "performance": np.stack([np.stack([means(ones) for ones in row]) for row in judged]),
        "strata": np.stack([np.stack([strata(ones) for ones in row]) for row in judged]),
        "chosen": np.array(taus(work)),
    }
    return Result("s3", arrays, facts(work, scan_seeds=profile.scan_seeds, scan_episodes=profile.scan_episodes))


def _judged(work: Work, environment: str, tau: int) -> list[Verdict]:
    return verdicts(work, agents.scan(work, environment, tau), environment)
