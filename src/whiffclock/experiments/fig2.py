"""Fig. 2, performance: ensembles of Q-agents beside two baselines, in four environments.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

single, two, heuristic : float[e, a, m]
    Means over all starts, of agents trained in the environment; the 2Q^h agents are the same in all.
single_strata, two_strata, heuristic_strata : float[e, a, t, m]
    The same by time stratum. Strata and starts are shared by all agents, so differences can be paired.
cast : float[e, m, 2]
    Mean and standard error of cast-and-surge with its best angle.
cast_strata : float[e, t, m]
    The same by time stratum.
cast_angle : float[e]
    The best half-opening angle, in degrees.
cast_scan : float[e, angle, m]
    Means at all the angles of ``facts["angles"]``.
bayes : float[e, m, 2]
    Mean and standard error of the Bayesian agent. Its starts are a sample of the others',
    ``facts["bayes_starts"]`` of them.
bayes_strata : float[e, t, m]
    The same by time stratum.
bayes_bounds : float[e, 2]
    Lower and upper bound on the value of the Bayesian agent's POMDP, in its own discounted reward.
single_on_bayes_starts : float[e, a, t, m]
    The single-Q agents by time stratum, over the starts of the Bayesian agent, to be compared with it.

Facts: tau (per environment), heuristic_tau, angles, bayes_starts.
"""

from __future__ import annotations

import numpy as np

from whiffclock.agents.castsurge import ANGLES
from whiffclock.experiments import agents, groups
from whiffclock.experiments.bayes import bayes_results
from whiffclock.experiments.judged import Verdict, load, sample, standard_errors, strata_means, verdicts
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, at_home, best, facts, in_each, means, strata, taus
from whiffclock.experiments.performance import HEURISTIC_TAU
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SINGLE_HOME, groups.TWO_HOME, groups.HEURISTIC, groups.CAST, groups.BAYES)
REVISION = 2


def compute(work: Work) -> Result:
    """The result of this figure."""
    arrays: dict[str, np.ndarray] = {}
    for name, ensemble in (
        ("single", agents.single),
        ("two", agents.two),
        ("heuristic", lambda work, _: agents.heuristic(work)),
    ):
        judged = [at_home(work, ensemble, environment) for environment in ENVIRONMENT_NAMES]
        arrays[name] = np.stack([means(ones) for ones in judged])
        arrays[f"{name}_strata"] = np.stack([strata(ones) for ones in judged])
    arrays |= _cast(work)
    arrays |= _bayes(work)
    told = facts(
        work,
        tau=taus(work),
        heuristic_tau=HEURISTIC_TAU,
        angles=list(ANGLES),
        bayes_starts=len(sample(work.starts(ENVIRONMENT_NAMES[0]), work.profile.bayes_starts)),
    )
    return Result("fig2", arrays, told)


def _bayes(work: Work) -> dict[str, np.ndarray]:
    found = bayes_results(work)
    return {
        "bayes": np.stack([np.stack([one.mean(axis=0), standard_errors(one)], axis=1) for one in found.strata]),
        "bayes_strata": found.strata,
        "bayes_bounds": found.bounds,
        "single_on_bayes_starts": in_each(lambda e: _single_on_bayes_starts(work, e)),
    }


def _single_on_bayes_starts(work: Work, environment: str) -> np.ndarray:
    some = sample(work.starts(environment), work.profile.bayes_starts)
    return np.stack([strata_means(load(work, agent, environment), some) for agent in agents.single(work, environment)])


def _cast(work: Work) -> dict[str, np.ndarray]:
    tested = [verdicts(work, agents.cast(work), environment) for environment in ENVIRONMENT_NAMES]
    tuned: list[Verdict] = [judged[best(judged)] for judged in tested]
    return {
        "cast": np.stack([np.stack([one.means, one.errors], axis=1) for one in tuned]),
        "cast_strata": np.stack([one.strata for one in tuned]),
        "cast_angle": np.array([ANGLES[best(judged)] for judged in tested]),
        "cast_scan": in_each(lambda e: means(verdicts(work, agents.cast(work), e))),
    }
