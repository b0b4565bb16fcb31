"""Fig. 7, what the two modes learn: their geometry, their paths, and how each fails alone.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

single, minus, plus : float[e, a, g]
    Geometry of the single-Q agents, and of the modes Q- and Q+ of the two-Q agents, up to the largest void state
    of each agent's last training episodes, in whichever mode that was.
path : float[e, 2, s, 2]
    Trajectories (x, y) of Q- and Q+ of the two-Q agent with the highest G; NaN after the end.
path_heuristic : float[2, s, 2]
    The same for the 2Q^h agent with the highest mean G over the environments. Its modes end where the agents it
    is made of end.
lost_two, lost_minus, lost_plus : float[e, a, x]
    Failed searches by the x of their last whiff: the two-Q agents, and the same confined to Q- or Q+.
failures_two, failures_minus, failures_plus : float[e, a]
    All failed searches.
performance_two, performance_minus, performance_plus : float[e, a, m]
    Means over all starts.

Facts: best (index of the drawn agent, per environment), best_heuristic, tau, heuristic_tau, heuristic_from.
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.agents import HEURISTIC_FROM, MINUS, PLUS, Agent
from whiffclock.experiments.judged import verdicts
from whiffclock.experiments.measures import (
    ENVIRONMENT_NAMES,
    Ensemble,
    at_home,
    best,
    facts,
    failures,
    geometries,
    in_each,
    lost,
    means,
    path,
    taus,
)
from whiffclock.experiments.performance import HEURISTIC_TAU
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SINGLE, groups.TWO_HOME, groups.ALONE, groups.HEURISTIC)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    drawn = [best(at_home(work, agents.two, environment)) for environment in ENVIRONMENT_NAMES]
    chosen = [agents.two(work, e)[i] for e, i in zip(ENVIRONMENT_NAMES, drawn, strict=True)]
    heuristic = _best_heuristic(work)
    arrays = {
        "single": in_each(lambda e: geometries(work, agents.single(work, e))),
        "minus": in_each(lambda e: geometries(work, agents.two(work, e), MINUS)),
        "plus": in_each(lambda e: geometries(work, agents.two(work, e), PLUS)),
        "path": np.stack([_both_paths(work, agent) for agent in chosen]),
        "path_heuristic": np.stack(
            [path(agents.policy(work, agents.single(work, e)[heuristic])) for e in HEURISTIC_FROM]
        ),
    }
    arrays |= _failing(work)
    told = facts(
        work,
        best=drawn,
        best_heuristic=heuristic,
        tau=taus(work),
        heuristic_tau=HEURISTIC_TAU,
        heuristic_from=list(HEURISTIC_FROM),
    )
    return Result("fig7", arrays, told)


def _failing(work: Work) -> dict[str, np.ndarray]:
    ensembles: dict[str, Ensemble] = {
        "two": agents.two,
        "minus": lambda work, e: agents.alone(work, e, MINUS),
        "plus": lambda work, e: agents.alone(work, e, PLUS),
    }
    arrays = {}
    for name, ensemble in ensembles.items():
        judged = [at_home(work, ensemble, environment) for environment in ENVIRONMENT_NAMES]
        arrays[f"lost_{name}"] = np.stack([lost(ones) for ones in judged])
        arrays[f"failures_{name}"] = np.stack([failures(ones) for ones in judged])
        arrays[f"performance_{name}"] = np.stack([means(ones) for ones in judged])
    return arrays


def _both_paths(work: Work, agent: Agent) -> np.ndarray:
    return np.stack([path(agents.policy(work, agent), mode) for mode in (MINUS, PLUS)])


def _best_heuristic(work: Work) -> int:
    ensemble = agents.heuristic(work)
    return int(in_each(lambda e: means(verdicts(work, ensemble, e))[:, 0]).mean(axis=0).argmax())
