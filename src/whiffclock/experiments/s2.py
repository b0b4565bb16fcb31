"""Fig. S2, how much of a void trajectory counts: geometry under the five truncations.

Arrays (axes as in :mod:`whiffclock.experiments.measures`; c is the truncation, in the order of
``facts["truncations"]``, criteria (i) to (v) of the paper):

single, minus, plus : float[c, e, a, g]
    Geometry of the single-Q agents, and of the modes Q- and Q+ of the two-Q agents.
steps_single, steps_two : float[c, e, a]
    Moves of the trajectories that count.

Facts: truncations, main (index of the truncation that other figures use).
"""

from __future__ import annotations

from typing import get_args

import numpy as np

from whiffclock.experiments import agents, groups
from whiffclock.experiments.agents import MINUS, PLUS
from whiffclock.experiments.measures import MAIN_TRUNCATION, Ensemble, facts, geometries, in_each, steps
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work
from whiffclock.geometry import Truncation

NEEDS = (groups.SINGLE, groups.TWO)
REVISION = 1

TRUNCATIONS: tuple[Truncation, ...] = get_args(Truncation)


def compute(work: Work) -> Result:
    """The result of this figure."""
    arrays = {
        "single": _geometry(work, agents.single, 0),
        "minus": _geometry(work, agents.two, MINUS),
        "plus": _geometry(work, agents.two, PLUS),
        "steps_single": _steps(work, agents.single),
        "steps_two": _steps(work, agents.two),
    }
    told = facts(work, truncations=list(TRUNCATIONS), main=TRUNCATIONS.index(MAIN_TRUNCATION))
    return Result("s2", arrays, told)


def _geometry(work: Work, ensemble: Ensemble, mode: int) -> np.ndarray:
    def under(truncation: Truncation) -> np.ndarray:
        return in_each(lambda e: geometries(work, ensemble(work, e), mode, truncation))

    return np.stack([under(truncation) for truncation in TRUNCATIONS])


def _steps(work: Work, ensemble: Ensemble) -> np.ndarray:
    def under(truncation: Truncation) -> np.ndarray:
        return in_each(lambda e: steps(work, ensemble(work, e), truncation))

    return np.stack([under(truncation) for truncation in TRUNCATIONS])
