"""The kinds of jobs: train, evaluate, solve, branch; and policies that are put together of others.

What the methods do is told in the base class, :class:`~whiffclock.runs.jobs.Job`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.agents.bayes import QUASI_OPTIMAL, BeliefPolicy, quasi_optimal, search_model
from whiffclock.agents.castsurge import NAME, cast_and_surge
from whiffclock.agents.compose import HEURISTIC, heuristic_two_q, one_mode
from whiffclock.agents.files import belief_policy_arrays, belief_policy_from
from whiffclock.agents.qlearning import Task, train
from whiffclock.evaluate import Evaluation, Starts, evaluate, make_starts, sample
from whiffclock.memory import Memory
from whiffclock.params import BayesSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solver import solve
from whiffclock.recovery import Branches, BranchSettings, forced_blanks
from whiffclock.runs.jobs import CARRIED, SEARCHES_PER_SECOND, Job, Tick

# About what things take on one core, in searches, for the time that is left.
_PER_BACKUP = int(5e-4 * SEARCHES_PER_SECOND)
_PER_BELIEF_SEARCH = int(2e-3 * SEARCHES_PER_SECOND)
_PER_TRIAL = int(5e-2 * SEARCHES_PER_SECOND)


@dataclass(frozen=True)
class Train(Job):
    """One Q-learning agent; its result is a :class:`TablePolicy`."""

    kind, verb, revision = "policy", "training", 2

    plume: str
    threshold: float
    memory: Memory
    learning: LearningSettings = field(default_factory=LearningSettings)
    world: WorldSettings = field(default_factory=WorldSettings)
    seed: int = 0

    @property
    def agent(self) -> str:
        return self.memory.name

    def cost(self, plume: Plume) -> int:
        return self.learning.episodes

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        return train(Task(plume, self.threshold, self.memory, self.learning, self.world, self.seed), tick)

    def pack(self, result: TablePolicy) -> dict[str, np.ndarray]:
        return result.to_arrays()

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> TablePolicy:
        return TablePolicy.from_arrays(arrays, path)


@dataclass(frozen=True)
class CastAndSurge(Job):
    """Cast-and-surge with a half-opening angle in degrees."""

    kind, kept, agent = "policy", False, NAME

    angle: float
    length: int

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        return cast_and_surge(self.angle, self.length)


@dataclass(frozen=True)
class HeuristicTwoQ(Job):
    """2Q^h of two trained agents."""

    kind, kept, agent = "policy", False, HEURISTIC

    dense: Job
    sparse: Job
    tau: int

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        return heuristic_two_q(needed["dense"], needed["sparse"], self.tau)


@dataclass(frozen=True)
class OneMode(Job):
    """A policy confined to one of its modes."""

    kind, kept = "policy", False

    policy: Job
    mode: int

    @property
    def agent(self) -> str:
        return f"{self.policy.agent}, mode {self.mode} only"

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        return one_mode(needed["policy"], self.mode)


@dataclass(frozen=True)
class Given(Job):
    """A policy at hand, such as one from a file, described by a digest of its contents."""

    kind, kept = "policy", False

    name: str
    digest: str
    policy: Policy = field(metadata=CARRIED, compare=False, repr=False)

    @classmethod
    def of(cls, policy: Policy, file: Path | None = None) -> Given:
        """A policy, read from ``file`` if it is not a table."""
        if isinstance(policy, TablePolicy):
            content = repr(policy.memory.spec).encode() + policy.actions.astype(np.int8).tobytes()
        else:
            content = file.read_bytes() if file is not None else repr(policy).encode()
        return cls(policy.name, hashlib.sha256(content).hexdigest()[:20], policy)

    @property
    def agent(self) -> str:
        return self.name

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Policy:
        return self.policy


@dataclass(frozen=True)
class Evaluate(Job):
    """Searches of a policy from every start, or from about ``sampled`` of them; its result is an Evaluation.

    A record has small integers per start, and occupancy for policies with modes; the starts follow from the job.
    """

    kind, verb, revision = "evaluation", "testing", 2

    policy: Job
    plume: str
    threshold: float
    world: WorldSettings
    settings: EvaluationSettings
    sampled: int | None = None

    @property
    def _per_search(self) -> int:
        return _PER_BELIEF_SEARCH if isinstance(self.policy, Solve) else 1

    def cost(self, plume: Plume) -> int:
        return len(self.starts(plume)) * self._per_search

    def horizon(self) -> int:
        """The longest search; with settings that do not say, that of the policy's training."""
        if self.settings.horizon is not None:
            return self.settings.horizon
        return self.policy.learning.horizon if isinstance(self.policy, Train) else LearningSettings.horizon

    def starts(self, plume: Plume) -> Starts:
        """Where the searches start."""
        every = shared_starts(plume, self.threshold, self.world, self.settings, self.horizon())
        return every if self.sampled is None else every.some(sample(every, self.sampled))

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Evaluation:
        starts = self.starts(plume)
        return evaluate(
            needed["policy"], plume, self.threshold, self.world, self.settings, starts,
            lambda searches: tick(searches * self._per_search),
        )  # fmt: skip

    def pack(self, result: Evaluation) -> dict[str, np.ndarray]:
        small = np.int16 if max(result.horizon, *result.occupancy.shape) < 2**15 else np.int32
        arrays = {name: getattr(result, name).astype(small) for name in ("arrival", "last_whiff", "mode_steps")}
        return arrays | ({"occupancy": result.occupancy.astype(np.int32)} if len(result.occupancy) > 1 else {})

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> Evaluation:
        arrival, last_whiff, mode_steps = (arrays[k].astype(np.int32) for k in ("arrival", "last_whiff", "mode_steps"))
        occupancy = arrays.get("occupancy", np.zeros((mode_steps.shape[1], *plume.field.shape[1:]))).astype(np.int64)
        made = self.agent, self.threshold, self.starts(plume), self.settings, self.horizon()
        return Evaluation(*made, arrival, last_whiff, mode_steps, occupancy, plume.fingerprint)


@dataclass(frozen=True)
class Solve(Job):
    """The quasi-optimal Bayesian agent; its result is a :class:`BeliefPolicy`."""

    kind, verb, agent = "solution", "solving", QUASI_OPTIMAL

    plume: str
    threshold: float
    world: WorldSettings
    model: BayesSettings
    solver: SolverSettings

    def cost(self, plume: Plume) -> int:
        return (self.solver.backups or 0) * _PER_BACKUP

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> BeliefPolicy:
        model = search_model(plume, self.threshold, self.model, self.world)
        before = 0

        def progress(state: Any) -> None:
            nonlocal before
            tick((state.backups - before) * _PER_BACKUP)
            before = state.backups

        solution = solve(model, self.solver, progress=progress)
        made_from = self.description | {"lower": solution.lower, "upper": solution.upper}
        return quasi_optimal(model, solution.vectors, made_from)

    def pack(self, result: BeliefPolicy) -> dict[str, np.ndarray]:
        return belief_policy_arrays(result)

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> BeliefPolicy:
        return belief_policy_from(arrays, path)


@dataclass(frozen=True)
class Branch(Job):
    """Forced blanks of a policy; its result is a :class:`Branches` without paths."""

    kind, verb = "branches", "forced blanks of"

    policy: Job
    plume: str
    threshold: float
    world: WorldSettings
    settings: BranchSettings

    def cost(self, plume: Plume) -> int:
        return self.settings.trials * _PER_TRIAL

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Branches:
        each = self.cost(plume) // (self.settings.steps + 1)
        return forced_blanks(
            needed["policy"], plume, self.threshold, self.world, self.settings, lambda steps: tick(steps * each)
        )

    def pack(self, result: Branches) -> dict[str, np.ndarray]:
        return {name: getattr(result, name) for name in ("metrics", "weight", "trial", "step")}

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> Branches:
        return Branches(**arrays, paths=[])


_STARTS: dict[tuple, Starts] = {}


def shared_starts(
    plume: Plume, threshold: float, world: WorldSettings, settings: EvaluationSettings, horizon: int
) -> Starts:
    """Starts as in :func:`~whiffclock.evaluate.make_starts`, made once for all who have the same."""
    key = (plume.fingerprint, threshold, world, settings.snapshots, settings.seed, horizon)
    if key not in _STARTS:
        if len(_STARTS) > 64:
            _STARTS.clear()
        _STARTS[key] = make_starts(plume, threshold, world, settings, horizon)
    return _STARTS[key]
