"""Fig. 4, generalization: agents trained in one environment and tested in all four.

Arrays (axes as in :mod:`whiffclock.experiments.measures`; the first e is where agents were trained, the second
where they were tested):

lost_single, lost_two : float[e, e, a, x]
    Failed searches by the x of their last whiff.
failures_single, failures_two : float[e, e, a]
    All failed searches.
G_single, G_two : float[e, e, a]
    Mean return.

Facts: tau (per environment of training), searches (per agent and environment).
"""

from __future__ import annotations

from whiffclock.experiments import agents, groups
from whiffclock.experiments.measures import everywhere, facts, failures, lost, means, taus
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SINGLE_HOME, groups.SINGLE_ABROAD, groups.TWO_HOME, groups.TWO_ABROAD)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    arrays = {}
    for name, ensemble in (("single", agents.single), ("two", agents.two)):
        arrays[f"lost_{name}"] = everywhere(work, ensemble, lost)
        arrays[f"failures_{name}"] = everywhere(work, ensemble, failures)
        arrays[f"G_{name}"] = everywhere(work, ensemble, lambda judged: means(judged)[:, 0])
    return Result("fig4", arrays, facts(work, tau=taus(work)))
