"""Fig. 3, the geometry of recovery: void trajectories of single-Q agents, and where those that fail were last.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

geometry : float[e, a, g]
    Metrics of every agent's void trajectory, up to the largest void state of its last training episodes.
steps : float[e, a]
    Moves of the trajectory that count.
path : float[e, s, 2]
    Trajectory (x, y) of the agent with the highest G; NaN after its end.
lost : float[e, a, x]
    Failed searches by the x of their last whiff.
failures : float[e, a]
    All failed searches.
G : float[e, a]
    Mean return, for a choice of other agents to draw.

Facts: best (index of the drawn agent, per environment), truncation, searches (per agent and environment).
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.measures import (
    ENVIRONMENT_NAMES,
    MAIN_TRUNCATION,
    at_home,
    best,
    facts,
    failures,
    geometries,
    in_each,
    lost,
    means,
    path,
    steps,
)
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SINGLE_HOME,)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    judged = [at_home(work, agents.single, environment) for environment in ENVIRONMENT_NAMES]
    drawn = [best(ones) for ones in judged]
    chosen = [agents.single(work, e)[i] for e, i in zip(ENVIRONMENT_NAMES, drawn, strict=True)]
    arrays = {
        "geometry": in_each(lambda e: geometries(work, agents.single(work, e))),
        "steps": in_each(lambda e: steps(work, agents.single(work, e))),
        "path": np.stack([path(agents.policy(work, agent)) for agent in chosen]),
        "lost": np.stack([lost(ones) for ones in judged]),
        "failures": np.stack([failures(ones) for ones in judged]),
        "G": np.stack([means(ones)[:, 0] for ones in judged]),
    }
    return Result("fig3", arrays, facts(work, best=drawn, truncation=MAIN_TRUNCATION))
