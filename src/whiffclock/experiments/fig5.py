"""Fig. 5, the states of the two-Q agent.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

tau : float[e]
    Blanks of at least this length lead into Q+.
share : float[e, a]
    Share of the training decisions of the two-Q agents that were taken in Q+.

Facts: horizon, states (number of rows of the Q-matrix), shared_whiff_state (R6), heuristic_tau.
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.measures import facts, in_each, taus
from whiffclock.experiments.performance import HEURISTIC_TAU
from whiffclock.experiments.results import Result
from whiffclock.experiments.tuning import sparse_share
from whiffclock.experiments.work import Work
from whiffclock.params import ClockSettings

NEEDS = (groups.TWO,)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    found = taus(work)
    clock = ClockSettings(work.profile.horizon, (found[0],))
    arrays = {
        "tau": np.array(found),
        "share": in_each(lambda e: [sparse_share(agents.policy(work, agent)) for agent in agents.two(work, e)]),
    }
    told = facts(work, states=clock.rows, shared_whiff_state=not clock.split_zero, heuristic_tau=HEURISTIC_TAU)
    return Result("fig5", arrays, told)
