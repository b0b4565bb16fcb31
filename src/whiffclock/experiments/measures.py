"""Arrays that several figures are made of, with the same axes throughout.

Axes, by their letters in the docstrings of the figures' modules:

===  ==================================================================================================
e    environment, in the order of :data:`~whiffclock.params.ENVIRONMENTS`: denser, dense, sparse, sparser
a    agent of an ensemble, by its seed
m    measure of performance, in the order of :data:`~whiffclock.evaluate.METRICS`: G, T_min/T, f+, G_sum
t    time stratum of the starts; the same starts for every policy
g    measure of geometry, in the order of :data:`GEOMETRY`; NaN for a return that never begins
s    position along a path, 0 .. H
x,y  cell along and across the wind
===  ==================================================================================================

``lost`` arrays count failed searches by the x of their last whiff. Failures without any whiff are not among
them, but are in ``failures``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from typing import Any

import numpy as np

from whiffclock.evaluate import METRICS
from whiffclock.experiments.agents import Agent, chosen_tau, policy
from whiffclock.experiments.judged import Verdict, verdicts
from whiffclock.experiments.work import Work
from whiffclock.geometry import Geometry, Truncation, geometry
from whiffclock.params import ENVIRONMENTS
from whiffclock.policy import ClockPolicy
from whiffclock.recovery import void_path, void_steps

ENVIRONMENT_NAMES = tuple(ENVIRONMENTS)
#: Measures of geometry, in the order of axis g.
GEOMETRY = tuple(field.name for field in fields(Geometry))
#: The truncation that the paper uses throughout.
MAIN_TRUNCATION: Truncation = "largest void state"

Ensemble = Callable[[Work, str], list[Agent]]


def facts(work: Work, **others: Any) -> dict[str, Any]:
    """What every result tells: the meaning of its axes, and the numbers of the profile."""
    return {
        "environments": list(ENVIRONMENT_NAMES),
        "thresholds": list(ENVIRONMENTS.values()),
        "metrics": list(METRICS),
        "geometry": list(GEOMETRY),
        "seeds": work.profile.seeds,
        "episodes": work.profile.episodes,
        "snapshots": work.profile.snapshots,
        "horizon": work.profile.horizon,
        "source": list(work.plume.source),
        "searches": len(work.starts(ENVIRONMENT_NAMES[0])),
        **others,
    }


def taus(work: Work) -> list[int]:
    """tau of the two-Q agents in each environment."""
    return [chosen_tau(work, environment) for environment in ENVIRONMENT_NAMES]


def in_each(measure: Callable[[str], Any]) -> np.ndarray:
    """``measure`` of every environment, stacked: axis e first."""
    return np.stack([np.asarray(measure(environment)) for environment in ENVIRONMENT_NAMES])


def means(judged: Sequence[Verdict]) -> np.ndarray:
    """float[a, m]."""
    return np.stack([one.means for one in judged])


def strata(judged: Sequence[Verdict]) -> np.ndarray:
    """float[a, t, m]."""
    return np.stack([one.strata for one in judged])


def lost(judged: Sequence[Verdict]) -> np.ndarray:
    """float[a, x]: failed searches by the x of their last whiff."""
    return np.stack([one.lost for one in judged]).astype(np.float64)


def failures(judged: Sequence[Verdict]) -> np.ndarray:
    """float[a]: failed searches, with and without a whiff."""
    return np.array([one.failures for one in judged], dtype=np.float64)


def at_home(work: Work, ensemble: Ensemble, environment: str) -> list[Verdict]:
    """Agents in the environment they belong to."""
    return verdicts(work, ensemble(work, environment), environment)


def everywhere(work: Work, ensemble: Ensemble, measure: Callable[[Sequence[Verdict]], np.ndarray]) -> np.ndarray:
    """``measure`` of agents trained in one environment and tested in another: [trained e, tested e, ...]."""
    return np.stack(
        [
            np.stack([measure(verdicts(work, ensemble(work, trained), tested)) for tested in ENVIRONMENT_NAMES])
            for trained in ENVIRONMENT_NAMES
        ]
    )


def best(judged: Sequence[Verdict]) -> int:
    """The agent with the highest mean G."""
    return int(np.argmax([one.means[METRICS.index("G")] for one in judged]))


def geometries(
    work: Work, agents: Sequence[Agent], mode: int = 0, truncation: Truncation = MAIN_TRUNCATION
) -> np.ndarray:
    """float[a, g]: geometry of the void trajectories of one mode."""
    return np.stack([_geometry(policy(work, agent), mode, truncation) for agent in agents])


def steps(work: Work, agents: Sequence[Agent], truncation: Truncation = MAIN_TRUNCATION) -> np.ndarray:
    """float[a]: how many moves of the void trajectory count."""
    return np.array([void_steps(policy(work, agent), truncation) for agent in agents], dtype=np.float64)


def path(trained: ClockPolicy, mode: int = 0, truncation: Truncation = MAIN_TRUNCATION) -> np.ndarray:
    """float32[s, 2]: a void trajectory; NaN after its end."""
    positions = void_path(trained, mode, truncation)
    padded = np.full((trained.clock.horizon + 1, 2), np.nan, dtype=np.float32)
    padded[: len(positions)] = positions
    return padded


def _geometry(trained: ClockPolicy, mode: int, truncation: Truncation) -> np.ndarray:
    return np.array(astuple(geometry(void_path(trained, mode, truncation))), dtype=np.float64)
