"""The kinds of jobs: train, evaluate, solve, branch; and policies that are put together of others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.agents.bayes import QUASI_OPTIMAL, BayesSettings, BeliefPolicy, quasi_optimal, search_model
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.compose import heuristic_two_q, one_mode
from whiffclock.agents.files import belief_policy_arrays, belief_policy_from
from whiffclock.agents.qlearning import Task, train
from whiffclock.evaluate import Evaluation, Starts, evaluate, make_starts, sample
from whiffclock.memory import Memory
from whiffclock.params import EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.recovery import Branches, BranchSettings, forced_blanks
from whiffclock.runs.jobs import CARRIED, SEARCHES_PER_SECOND, Job, Tick

# About what things take on one core, in searches, for the time that is left.
_PER_BACKUP = int(5e-4 * SEARCHES_PER_SECOND)
_PER_BELIEF_SEARCH = int(2e-3 * SEARCHES_PER_SECOND)
_PER_TRIAL = int(5e-2 * SEARCHES_PER_SECOND)


@dataclass(frozen=True)
class Train(Job):
    """One Q-learning agent; its result is a :class:`TablePolicy`."""

    kind = "policy"
    revision = 2

    plume: str
    threshold: float
    memory: Memory
    learning: LearningSettings = field(default_factory=LearningSettings)
    world: WorldSettings = field(default_factory=WorldSettings)
    seed: int = 0

    @property
    def agent(self) -> str:
        """The name that goes with its memory."""
        return self.memory.name

    @property
    def task(self) -> str:
        """Training of a kind of agent."""
        return f"training {self.agent}"

    def cost(self, plume: Plume) -> int:
        """One search per episode."""
        return self.learning.episodes

    def on(self, plume: Plume) -> Task:
        """The training with its plume."""
        return Task(plume, self.threshold, self.memory, self.learning, self.world, self.seed)

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        """Train."""
        return train(self.on(plume), tick)

    def pack(self, result: TablePolicy) -> dict[str, np.ndarray]:
        """As in a policy's file."""
        return result.to_arrays()

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> TablePolicy:
        """As from a policy's file."""
        return TablePolicy.from_arrays(arrays, path)


@dataclass(frozen=True)
class CastAndSurge(Job):
    """Cast-and-surge with a half-opening angle in degrees."""

    kind = "policy"
    kept = False

    angle: float
    length: int

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return "cast-and-surge"

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        """Write down its actions."""
        return cast_and_surge(self.angle, self.length)


@dataclass(frozen=True)
class HeuristicTwoQ(Job):
    """2Q^h of two trained agents."""

    kind = "policy"
    kept = False

    dense: Job
    sparse: Job
    tau: int

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return "2Q^h"

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        """Put the two together."""
        return heuristic_two_q(needed["dense"], needed["sparse"], self.tau)


@dataclass(frozen=True)
class OneMode(Job):
    """A policy confined to one of its modes."""

    kind = "policy"
    kept = False

    policy: Job
    mode: int

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return f"{self.policy.agent}, mode {self.mode} only"

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        """Take the mode out."""
        return one_mode(needed["policy"], self.mode)


@dataclass(frozen=True)
class Given(Job):
    """A policy at hand, such as one from a file, described by a digest of its contents."""

    kind = "policy"
    kept = False

    name: str
    digest: str
    policy: Policy = field(metadata=CARRIED, compare=False, repr=False)

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return self.name

    @classmethod
    def of(cls, policy: Policy, file: Path | None = None) -> Given:
        """A policy, read from ``file`` if it is not a table."""
        if isinstance(policy, TablePolicy):
            content = repr(policy.memory.spec).encode() + policy.actions.astype(np.int8).tobytes()
        else:
            content = file.read_bytes() if file is not None else repr(policy).encode()
        return cls(policy.name, hashlib.sha256(content).hexdigest()[:20], policy)

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Policy:
        """It is there already."""
        return self.policy


@dataclass(frozen=True)
class Evaluate(Job):
    """Searches of a policy from every start, or from about ``sampled`` of them; its result is an Evaluation."""

    kind = "evaluation"
    revision = 2

    policy: Job
    plume: str
    threshold: float
    world: WorldSettings
    settings: EvaluationSettings
    sampled: int | None = None

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return self.policy.agent

    @property
    def task(self) -> str:
        """Tests of a kind of policy."""
        return f"testing {self.agent}"

    def cost(self, plume: Plume) -> int:
        """One search per start; those on beliefs take longer."""
        return len(self.starts(plume)) * (_PER_BELIEF_SEARCH if isinstance(self.policy, Solve) else 1)

    def horizon(self) -> int:
        """The longest search; with settings that do not say, that of the policy's training."""
        if self.settings.horizon is not None:
            return self.settings.horizon
        return self.policy.learning.horizon if isinstance(self.policy, Train) else LearningSettings.horizon

    def starts(self, plume: Plume) -> Starts:
        """Where the searches start."""
        every = shared_starts(plume, self.threshold, self.world, self.settings, self.horizon())
        if self.sampled is None:
            return every
        some = sample(every, self.sampled)
        return Starts(every.points[some], every.stratum[some], every.shortest[some])

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Evaluation:
        """Search."""
        policy, each = needed["policy"], _PER_BELIEF_SEARCH if isinstance(self.policy, Solve) else 1
        starts, settings = self.starts(plume), self.settings
        return evaluate(policy, plume, self.threshold, self.world, settings, starts, lambda n: tick(n * each))

    def pack(self, result: Evaluation) -> dict[str, np.ndarray]:
        """Per-start records in small integers, and occupancy for policies with modes; starts follow from the job."""
        small = np.int16 if max(result.horizon, *result.occupancy.shape) < 2**15 else np.int32
        arrays = {name: getattr(result, name).astype(small) for name in ("arrival", "last_whiff", "mode_steps")}
        if result.mode_steps.shape[1] > 1:
            arrays["occupancy"] = result.occupancy.astype(np.int32)
        return arrays

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> Evaluation:
        """The evaluation, with its starts."""
        modes = arrays["mode_steps"].shape[1]
        occupancy = arrays.get("occupancy", np.zeros((modes, *plume.field.shape[1:])))
        return Evaluation(
            policy=self.agent,
            threshold=self.threshold,
            starts=self.starts(plume),
            settings=self.settings,
            horizon=self.horizon(),
            arrival=arrays["arrival"].astype(np.int32),
            last_whiff=arrays["last_whiff"].astype(np.int32),
            mode_steps=arrays["mode_steps"].astype(np.int32),
            occupancy=occupancy.astype(np.int64),
            plume=plume.fingerprint,
        )


@dataclass(frozen=True)
class Solve(Job):
    """The quasi-optimal Bayesian agent; its result is a :class:`BeliefPolicy`."""

    kind = "solution"

    plume: str
    threshold: float
    world: WorldSettings
    model: BayesSettings
    solver: SolverSettings

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return QUASI_OPTIMAL

    @property
    def task(self) -> str:
        """Solving."""
        return f"solving {self.agent}"

    def cost(self, plume: Plume) -> int:
        """By its budget of backups."""
        return (self.solver.backups or 0) * _PER_BACKUP

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> BeliefPolicy:
        """Solve the search in the plume as a POMDP."""
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
        """As in a policy's file."""
        return belief_policy_arrays(result)

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> BeliefPolicy:
        """As from a policy's file."""
        return belief_policy_from(arrays, path)


@dataclass(frozen=True)
class Branch(Job):
    """Forced blanks of a policy; its result is a :class:`Branches` without paths."""

    kind = "branches"

    policy: Job
    plume: str
    threshold: float
    world: WorldSettings
    settings: BranchSettings

    @property
    def agent(self) -> str:
        """Name of the policy."""
        return self.policy.agent

    @property
    def task(self) -> str:
        """Branches of a kind of policy."""
        return f"forced blanks of {self.agent}"

    def cost(self, plume: Plume) -> int:
        """By the number of searches."""
        return self.settings.trials * _PER_TRIAL

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Branches:
        """Search and branch."""
        each = self.cost(plume) // (self.settings.steps + 1)
        return forced_blanks(
            needed["policy"], plume, self.threshold, self.world, self.settings, lambda steps: tick(steps * each)
        )

    def pack(self, result: Branches) -> dict[str, np.ndarray]:
        """One row per branch."""
        return {name: getattr(result, name) for name in ("metrics", "weight", "trial", "step")}

    def unpack(self, arrays: dict[str, np.ndarray], plume: Plume, path: Path) -> Branches:
        """Inverse of :meth:`pack`."""
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
