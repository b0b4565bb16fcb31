"""Fig. S1, generalization in every measure: agents trained in one environment and tested in all four.

Arrays (axes as in :mod:`whiffclock.experiments.measures`; the first e is where agents were trained, the second
where they were tested):

single, two : float[e, e, a, m]
    Means over all starts.

Facts: tau (per environment of training).
"""

from __future__ import annotations

from whiffclock.experiments import agents, groups
from whiffclock.experiments.measures import everywhere, facts, means, taus
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SINGLE_HOME, groups.SINGLE_ABROAD, groups.TWO_HOME, groups.TWO_ABROAD)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    arrays = {"single": everywhere(work, agents.single, means), "two": everywhere(work, agents.two, means)}
    return Result("s1", arrays, facts(work, tau=taus(work)))
