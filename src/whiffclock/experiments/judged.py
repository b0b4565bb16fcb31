"""How everyone did: evaluations, kept in the store per start, and what is left of each for the figures.

A record has, for every start of :meth:`~whiffclock.experiments.work.Work.starts`, the arrays of an
:class:`~whiffclock.evaluate.Evaluation` in small integers: ``arrival``, ``last_whiff``, ``mode_steps``; and
``occupancy`` for policies with more than one mode. The starts follow from the plume and the settings, and are
not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.evaluate import METRICS, Evaluation, Starts, evaluate
from whiffclock.experiments.agents import Agent, policy
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS
from whiffclock.runs.pieces import Piece, Tick
from whiffclock.runs.store import canonical, plain

#: Kind under which the store keeps evaluations.
EVALUATION = "evaluation"


@dataclass(frozen=True)
class Verdict:
    """What the figures take from one evaluation.

    Attributes
    ----------
    means
        float[metric], in the order of :data:`~whiffclock.evaluate.METRICS`.
    strata
        float[stratum, metric]: means over the starts of each time stratum. They are the same starts for every
        policy, so that differences between policies can be taken stratum by stratum.
    lost
        int[x]: failed searches by the x of their last whiff.
    failures
        Number of failed searches, those without any whiff among them.
    mode_share
        float[mode]: share of decisions.
    """

    means: np.ndarray
    strata: np.ndarray
    lost: np.ndarray
    failures: int
    mode_share: np.ndarray

    @property
    def errors(self) -> np.ndarray:
        """Standard errors float[metric] over time strata; NaN with a single stratum."""
        return standard_errors(self.strata)


def standard_errors(strata: np.ndarray) -> np.ndarray:
    """float[metric] of float[stratum, metric]; NaN with a single stratum."""
    n = len(strata)
    return strata.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(strata.shape[1], np.nan)


def testing(work: Work, agents: Sequence[Agent], environment: str, group: str) -> list[Piece]:
    """The evaluations of some agents in an environment, as pieces of work."""
    return [_testing(work, agent, environment, group) for agent in agents]


def load(work: Work, agent: Agent, environment: str) -> Evaluation:
    """A finished evaluation, out of the store."""
    record = work.store.load(EVALUATION, description(work, agent, environment)).arrays
    mode_steps = record["mode_steps"].astype(np.int32)
    modes, grid = mode_steps.shape[1], work.plume.field.shape[1:]
    return Evaluation(
        policy=str(agent.description["agent"]),
        threshold=ENVIRONMENTS[environment],
        starts=work.starts(environment),
        settings=work.profile.evaluation,
        horizon=work.profile.horizon,
        arrival=record["arrival"].astype(np.int32),
        last_whiff=record["last_whiff"].astype(np.int32),
        mode_steps=mode_steps,
        occupancy=record.get("occupancy", np.zeros((modes, *grid))).astype(np.int64),
        plume=work.plume.fingerprint,
    )


def verdict(work: Work, agent: Agent, environment: str) -> Verdict:
    """What is left of a finished evaluation."""
    key = ("verdict", environment, canonical(plain(agent.description)))
    return work.remember(key, lambda: summary(load(work, agent, environment)))


def verdicts(work: Work, agents: Sequence[Agent], environment: str) -> list[Verdict]:
    """:func:`verdict` of every agent."""
    return [verdict(work, agent, environment) for agent in agents]


def summary(evaluation: Evaluation) -> Verdict:
    """The few numbers of an evaluation that figures need."""
    steps = evaluation.mode_steps.sum(axis=0)
    return Verdict(
        means=np.array([evaluation.mean(metric) for metric in METRICS]),
        strata=strata_means(evaluation),
        lost=np.bincount(evaluation.lost_at(), minlength=evaluation.occupancy.shape[1]),
        failures=int((~evaluation.arrived).sum()),
        mode_share=steps / steps.sum(),
    )


def strata_means(evaluation: Evaluation, some: np.ndarray | None = None) -> np.ndarray:
    """float[stratum, metric]: means over the starts of each time stratum, or over ``some`` of them."""
    values = np.stack([evaluation.per_start(metric) for metric in METRICS], axis=1)
    stratum = evaluation.starts.stratum
    if some is not None:
        values, stratum = values[some], stratum[some]
    sums = np.stack([np.bincount(stratum, weights=column) for column in values.T], axis=1)
    return sums / np.bincount(stratum)[:, None]


def sample(starts: Starts, count: int) -> np.ndarray:
    """Indices of about ``count`` starts, in order: as many from every time stratum, one at least, drawn once for all.

    Whoever is too slow for all starts is judged from these, and can still be compared with the others start by
    start.
    """
    rng = np.random.default_rng(0)
    strata = [np.flatnonzero(starts.stratum == stratum) for stratum in np.unique(starts.stratum)]
    share = max(1, count // len(strata))
    return np.concatenate([np.sort(rng.permutation(members)[:share]) for members in strata])


def description(work: Work, agent: Agent, environment: str) -> dict[str, Any]:
    """Everything that determines an evaluation."""
    return {
        "policy": agent.description,
        "plume": work.plume.fingerprint,
        "threshold": ENVIRONMENTS[environment],
        "world": work.world.to_dict(),
        "evaluation": work.profile.evaluation.to_dict(),
    }


def _testing(work: Work, agent: Agent, environment: str, group: str) -> Piece:
    starts = work.starts(environment)

    def make(tick: Tick) -> dict[str, np.ndarray]:
        judged = policy(work, agent)
        settings, threshold = work.profile.evaluation, ENVIRONMENTS[environment]
        made = _compact(evaluate(judged, work.plume, threshold, work.world, settings, starts))
        tick(len(starts))
        return made

    return Piece(EVALUATION, description(work, agent, environment), make, len(starts), group)


def _compact(evaluation: Evaluation) -> dict[str, np.ndarray]:
    small = np.int16 if max(evaluation.horizon, *evaluation.occupancy.shape) < 2**15 else np.int32
    arrays = {
        "arrival": evaluation.arrival.astype(small),
        "last_whiff": evaluation.last_whiff.astype(small),
        "mode_steps": evaluation.mode_steps.astype(small),
    }
    if evaluation.mode_steps.shape[1] > 1:
        arrays["occupancy"] = evaluation.occupancy.astype(np.int32)
    return arrays
