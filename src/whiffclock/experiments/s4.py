"""Fig. S4, every policy: the void trajectories of all single-Q agents, and of both modes of all two-Q agents.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

single, minus, plus : float[e, a, s, 2]
    Trajectories (x, y), all H moves of them.
steps_single, steps_two : float[e, a]
    How many of the moves count: the largest void state of the last training episodes.
G_single, G_two : float[e, a]
    Mean return, in the environment of training.
"""

from __future__ import annotations

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.agents import MINUS, PLUS
from whiffclock.experiments.measures import Ensemble, at_home, facts, in_each, means, path, steps
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work

NEEDS = (groups.SINGLE_HOME, groups.TWO_HOME)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    arrays = {
        "single": in_each(lambda e: _paths(work, agents.single, e, 0)),
        "minus": in_each(lambda e: _paths(work, agents.two, e, MINUS)),
        "plus": in_each(lambda e: _paths(work, agents.two, e, PLUS)),
        "steps_single": in_each(lambda e: steps(work, agents.single(work, e))),
        "steps_two": in_each(lambda e: steps(work, agents.two(work, e))),
        "G_single": in_each(lambda e: means(at_home(work, agents.single, e))[:, 0]),
        "G_two": in_each(lambda e: means(at_home(work, agents.two, e))[:, 0]),
    }
    return Result("s4", arrays, facts(work))


def _paths(work: Work, ensemble: Ensemble, environment: str, mode: int) -> np.ndarray:
    return np.stack([path(agents.policy(work, agent), mode, "none") for agent in ensemble(work, environment)])
