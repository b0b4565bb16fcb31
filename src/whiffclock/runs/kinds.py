"""The kinds of jobs: train, evaluate, solve, branch; and policies made from others.

The methods are documented in the base class, :class:`~whiffclock.runs.jobs.Job`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.agents.bayes import QUASI_OPTIMAL, BeliefPolicy, quasi_optimal, search_model
from whiffclock.agents.castsurge import NAME, cast_and_surge
from whiffclock.agents.compose import HEURISTIC, heuristic_two_q, one_mode
from whiffclock.agents.files import belief_policy_arrays, belief_policy_from
from whiffclock.agents.qlearning import Task, train
from whiffclock.archive import array_named
from whiffclock.evaluation import Evaluation, Starts, evaluate, make_starts, own_horizon, sample
from whiffclock.memory import Memory
from whiffclock.params import BayesSettings, EvaluationSettings, InputError, LearningSettings, WorldSettings, require
from whiffclock.path_metrics import GEOMETRY
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solver import Progress, Report, solve
from whiffclock.recovery import Branches, BranchSettings, forced_blanks
from whiffclock.runs.jobs import NOT_IN_KEY, SEARCHES_PER_SECOND, Job, Tick, require_plume
from whiffclock.runs.store import damaged_record

# Approximate cost on one core, in searches.
_PER_BACKUP, _PER_BELIEF_SEARCH, _PER_TRIAL = (int(seconds * SEARCHES_PER_SECOND) for seconds in (5e-4, 2e-3, 5e-2))

#: Starts of evaluations, shared by those with the same settings.
_STARTS: dict[tuple, Starts] = {}


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
        policy = TablePolicy.from_arrays(arrays, path)
        with damaged_record(path):
            require(policy.memory == self.memory, "its policy has another memory than its label says")
            require({"curve", "usage", "void"} <= policy.records.keys(), "its policy lacks records of its training")
        return policy


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
    """A given policy, such as one from a file, described by a digest of its contents."""

    kind, kept = "policy", False

    name: str
    digest: str
    policy: Policy = field(metadata=NOT_IN_KEY, compare=False, repr=False)

    @classmethod
    def of(cls, policy: Policy) -> Given:
        """A table policy or a belief policy; for others, use ``Given(name, digest, policy)``."""
        if isinstance(policy, TablePolicy):
            content = [repr(policy.memory.spec).encode(), policy.actions.astype(np.int8).tobytes()]
        else:
            if not isinstance(policy, BeliefPolicy):
                raise InputError(f"The policy {policy.name} is of an unknown kind; use Given(name, digest, policy).")
            arrays = belief_policy_arrays(policy)
            arrays["header"] = np.array(policy.model.discount)  # not what it was made from, nor the version
            content = [f"{name} {values.shape}".encode() + values.tobytes() for name, values in arrays.items()]
        return cls(policy.name, hashlib.sha256(b"".join(content)).hexdigest()[:20], policy)

    @property
    def agent(self) -> str:
        return self.name

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Policy:
        return self.policy


@dataclass(frozen=True)
class Evaluate(Job):
    """Searches of a policy from every start, or from about ``sampled`` of them; its result is an Evaluation.

    Settings without a horizon take that of the policy's training. A record has small integers per start, and occupancy
    for policies with modes; the starts follow from the job.
    """

    kind, verb, revision = "evaluation", "testing", 2

    policy: Job
    plume: str
    threshold: float
    world: WorldSettings
    settings: EvaluationSettings
    sampled: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.settings.horizon is None:  # the key must contain it
            object.__setattr__(self, "settings", replace(self.settings, horizon=_trained_horizon(self.policy)))

    @property
    def horizon(self) -> int:
        """The longest search."""
        assert self.settings.horizon is not None
        return self.settings.horizon

    def cost(self, plume: Plume) -> int:
        return len(self.starts(plume)) * (_PER_BELIEF_SEARCH if isinstance(self.policy, Solve) else 1)

    def starts(self, plume: Plume) -> Starts:
        """Where the searches start."""
        require_plume(self, plume)
        key = (self.plume, self.threshold, self.world, self.settings, self.sampled)
        starts = _STARTS.get(key)
        if starts is None:
            starts = make_starts(plume, self.threshold, self.world, self.settings, self.horizon)
            starts = starts if self.sampled is None else starts.take(sample(starts, self.sampled))
            if len(_STARTS) > 64:
                _STARTS.clear()
            _STARTS[key] = starts
        return starts

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Evaluation:
        starts = self.starts(plume)
        each = self.cost(plume) // len(starts)
        how = self.threshold, self.world, self.settings, starts
        return evaluate(needed["policy"], plume, *how, lambda searches: tick(searches * each))

    def pack(self, result: Evaluation) -> dict[str, np.ndarray]:
        small = np.int16 if max(result.horizon, *result.occupancy.shape) < 2**15 else np.int32
        arrays = {name: getattr(result, name).astype(small) for name in ("arrival", "last_whiff", "mode_steps")}
        counts = result.occupancy.astype(np.int32 if result.occupancy.max() < 2**31 else np.int64)
        return arrays | ({"occupancy": counts} if len(counts) > 1 else {})

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> Evaluation:
        starts, grid, horizon = self.starts(plume), plume.field.shape[1:], self.horizon
        with damaged_record(path):
            arrival = array_named(arrays, "arrival", "iu", (len(starts),), 0, horizon)
            last_whiff = array_named(arrays, "last_whiff", "iu", (len(starts), 3), -1, max(horizon, *grid))
            mode_steps = array_named(arrays, "mode_steps", "iu", (len(starts), None), 0, horizon)
            modes = mode_steps.shape[1]
            require(modes > 0 and bool((last_whiff[:, :2] < grid).all()), "a last whiff lies outside the grid")
            empty = np.zeros((modes, *grid), dtype=np.int64)
            occupancy = array_named({"occupancy": empty} | arrays, "occupancy", "iu", empty.shape, 0)
        arrival, last_whiff, mode_steps = (values.astype(np.int32) for values in (arrival, last_whiff, mode_steps))
        made = self.agent, self.threshold, starts, self.settings, horizon
        place = plume.fingerprint, plume.environments.name_of(self.threshold)
        return Evaluation(*made, arrival, last_whiff, mode_steps, occupancy.astype(np.int64), *place)


def _trained_horizon(policy: Job) -> int:
    if isinstance(policy, Given):
        return own_horizon(policy.policy)
    if isinstance(policy, Train):
        return policy.learning.horizon
    return max(map(_trained_horizon, policy.needs.values()), default=LearningSettings.horizon)


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
        before = 0

        def progress(state: Progress) -> None:
            nonlocal before
            tick((state.backups - before) * _PER_BACKUP)
            before = state.backups

        return self.solved(plume, progress)

    def solved(self, plume: Plume, report: Report) -> BeliefPolicy:
        """Solve; ``report`` is called with the solver's state now and then."""
        model = search_model(plume, self.threshold, self.model, self.world)
        solution = solve(model, self.solver, progress=report)
        place = {"environment": plume.environments.name_of(self.threshold)}
        made_from = self.description | place | {"lower": solution.lower, "upper": solution.upper}
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
        how = self.threshold, self.world, self.settings
        return forced_blanks(needed["policy"], plume, *how, lambda steps: tick(steps * each))

    def pack(self, result: Branches) -> dict[str, np.ndarray]:
        return {name: getattr(result, name) for name in ("metrics", "weight", "trial", "step")}

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> Branches:
        with damaged_record(path):
            weight = array_named(arrays, "weight", "f", (None,), 0, 1)
            metrics = array_named(arrays, "metrics", "f", (len(weight), len(GEOMETRY)))
            trial = array_named(arrays, "trial", "iu", weight.shape, 0, self.settings.trials - 1)
            step = array_named(arrays, "step", "iu", weight.shape, 0, self.settings.steps)
        return Branches(metrics, weight, trial, step, paths=[])
