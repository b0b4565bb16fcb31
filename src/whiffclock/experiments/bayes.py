"""The quasi-optimal Bayesian agent's part in the figures: its line in fig2, and all of fig8.

What it will take: per environment one policy, solved within ``profile.bayes_backups`` backups; its evaluation
from the starts ``sample(work.starts(environment), profile.bayes_starts)`` of
:func:`~whiffclock.experiments.judged.sample`; and the recovery ensemble of ``profile.bayes_trials``
searches. :func:`pieces` names these as pieces of work, and :func:`bayes_results` reads their records.
The cost of a piece is told in searches, at :data:`~whiffclock.runs.pieces.SEARCHES_PER_SECOND`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whiffclock.experiments.work import Work
from whiffclock.runs.pieces import Piece

#: Name of the group of pieces.
GROUP = "Bayesian agent"


@dataclass(frozen=True)
class BayesResults:
    """The Bayesian agent in all environments.

    Attributes
    ----------
    strata
        float[e, t, m]: means by time stratum of its starts.
    geometry
        For each environment float[branch, g]: geometry of the path in each forced-blank branch.
    weight
        For each environment float[branch]: product of Pr(blank | x_t) along the branch until its return is done.
    """

    strata: np.ndarray
    geometry: dict[str, np.ndarray]
    weight: dict[str, np.ndarray]


def pieces(work: Work) -> list[Piece]:
    """Solutions, evaluations and recovery ensembles; none yet."""
    return []


def bayes_results(work: Work) -> BayesResults | None:
    """What the store has of the Bayesian agent; None as long as there is no such agent."""
    return None
