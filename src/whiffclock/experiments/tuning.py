"""Parameters that the paper tunes per environment: the casting angle, and tau of the two-Q agent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from whiffclock.agents.castsurge import ANGLES, cast_and_surge
from whiffclock.agents.qlearning import Task, train
from whiffclock.evaluate import Evaluation, evaluate, make_starts
from whiffclock.params import ClockSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.policy import ClockPolicy, Policy
from whiffclock.runs.engine import Job, cores, run_jobs

TAUS = (2, 3, 5, 8, 12, 20, 35, 60)


def tune_angle(
    plume: Plume,
    threshold: float,
    world: WorldSettings | None = None,
    settings: EvaluationSettings | None = None,
    horizon: int = 500,
    angles: Sequence[float] = ANGLES,
) -> tuple[ClockPolicy, Evaluation]:
    """Cast-and-surge with the half-opening angle that gives the highest G."""
    world, settings = world or WorldSettings(), settings or EvaluationSettings()
    policies = [cast_and_surge(angle, horizon) for angle in angles]
    tested = evaluate_all(policies, plume, threshold, world, settings, horizon)
    return max(zip(policies, tested, strict=True), key=lambda pair: pair[1].mean("G"))


def evaluate_all(
    policies: Sequence[Policy],
    plume: Plume,
    threshold: float,
    world: WorldSettings,
    settings: EvaluationSettings,
    horizon: int,
) -> list[Evaluation]:
    """Evaluate many policies on the same starts, on all cores."""
    starts = make_starts(plume, threshold, world, settings, settings.horizon or horizon)
    jobs: list[Job[Evaluation]] = [
        lambda _, p=policy: evaluate(p, plume, threshold, world, settings, starts)  # type: ignore[misc]
        for policy in policies
    ]
    return run_jobs(jobs, cores())


def sparse_share(policy: ClockPolicy) -> float:
    """Share of training decisions that were taken in the sparsest mode."""
    usage = policy.records["usage"]
    return float(usage[-1] / usage.sum())


def balanced_tau(
    plume: Plume,
    threshold: float,
    world: WorldSettings | None = None,
    horizon: int = 500,
    episodes: int = 20_000,
    taus: Sequence[int] = TAUS,
) -> int:
    """The tau whose (short) training divides its decisions most evenly between Q- and Q+."""
    candidates = [tau for tau in taus if tau < horizon]
    learning, world = LearningSettings.shortened(episodes), world or WorldSettings()
    jobs = [
        partial(train, Task(plume, threshold, ClockSettings(horizon, (tau,)), learning, world)) for tau in candidates
    ]
    shares = [sparse_share(policy) for policy in run_jobs(jobs, cores())]
    return min(zip(candidates, shares, strict=True), key=lambda pair: abs(pair[1] - 0.5))[0]
