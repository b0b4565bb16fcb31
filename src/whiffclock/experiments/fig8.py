"""Fig. 8, the Bayesian agent's recovery: the geometry of its paths after many different histories.

Arrays, for each environment (``denser``, ``dense``, ``sparse``, ``sparser``):

geometry_<environment> : float[branch, g]
    Metrics of the path in each branch of forced blanks, in the order of ``facts["geometry"]``; NaN for a return
    that never begins.
weight_<environment> : float[branch]
    Weight of each branch.

There are no branches as long as there is no Bayesian agent.

Facts: trials, backups, bayes (whether there is such an agent).
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import groups
from whiffclock.experiments.bayes import bayes_results
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, GEOMETRY, facts
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.BAYES,)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    bayes = bayes_results(work)
    arrays = {}
    for environment in ENVIRONMENT_NAMES:
        none = np.zeros((0, len(GEOMETRY)))
        arrays[f"geometry_{environment}"] = none if bayes is None else bayes.geometry[environment]
        arrays[f"weight_{environment}"] = none[:, 0] if bayes is None else bayes.weight[environment]
    told = facts(work, trials=work.profile.bayes_trials, backups=work.profile.bayes_backups, bayes=bayes is not None)
    return Result("fig8", arrays, told)
