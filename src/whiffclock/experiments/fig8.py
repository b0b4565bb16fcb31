"""Fig. 8, the Bayesian agent's recovery: the geometry of its paths after many different histories.

Arrays, for each environment (``denser``, ``dense``, ``sparse``, ``sparser``):

geometry_<environment> : float[branch, g]
    Metrics of the path in each branch of forced blanks, in the order of ``facts["geometry"]``; NaN for a return
    that never begins.
weight_<environment> : float[branch]
    Weight of each branch.
trial_<environment> : float[branch]
    Number of the search that the branch was split off from: branches of one search are not independent.

Facts: trials, backups.
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import groups
from whiffclock.experiments.bayes import bayes_results
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, facts
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.BAYES,)
REVISION = 4


def compute(work: Work) -> Result:
    """The result of this figure."""
    bayes = bayes_results(work)
    arrays = {}
    for environment in ENVIRONMENT_NAMES:
        arrays[f"geometry_{environment}"] = bayes.geometry[environment]
        arrays[f"weight_{environment}"] = bayes.weight[environment]
        arrays[f"trial_{environment}"] = bayes.trial[environment].astype(np.float64)
    told = facts(work, trials=work.profile.bayes_trials, backups=work.profile.bayes_backups)
    return Result("fig8", arrays, told)
