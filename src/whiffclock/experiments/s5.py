"""Fig. S5, other initial conditions in training: geometry of single-Q agents (R10).

Arrays (axes as in :mod:`whiffclock.experiments.measures`; i is the initial condition, in the order of
``facts["conditions"]``, which is that of the paper's columns):

geometry : float[i, e, a, g]
    Geometry of the void trajectories, up to the largest void state of the last training episodes.
steps : float[i, e, a]
    Moves of the trajectory that count.
start_cells : float[i, e]
    Number of cells in which training starts.

Facts: conditions, main (index of the condition of the other figures).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.agents import CONDITIONS
from whiffclock.experiments.measures import facts, geometries, in_each, steps
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS

NEEDS = (groups.SINGLE, groups.INITIAL)
REVISION = 1


def compute(work: Work) -> Result:
    """The result of this figure."""
    names = list(CONDITIONS)
    arrays = {
        "geometry": _under_each(lambda c, e: geometries(work, agents.initial(work, e, c))),
        "steps": _under_each(lambda c, e: steps(work, agents.initial(work, e, c))),
        "start_cells": _under_each(lambda c, e: _cells(work, e, c)),
    }
    told = facts(work, conditions=names, main=len(names) - 1)
    return Result("s5", arrays, told)


def _under_each(measure: Callable[[str, str], Any]) -> np.ndarray:
    """``measure`` of every condition and environment: axes i and e first."""
    return np.stack([in_each(partial(measure, condition)) for condition in CONDITIONS])


def _cells(work: Work, environment: str, condition: str) -> int:
    return len(work.plume.starts(ENVIRONMENTS[environment], CONDITIONS[condition]))
