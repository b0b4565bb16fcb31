"""The kinds of jobs: train, evaluate, solve, branch; and policies made from others.

The methods are documented in the base class, :class:`~whiffclock.runs.jobs.Job`.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.agents.bayes import QUASI_OPTIMAL, BeliefPolicy, conditional_chances, quasi_optimal, search_model
from whiffclock.agents.castsurge import NAME, cast_and_surge
from whiffclock.agents.compose import HEURISTIC, heuristic_two_q, one_mode
from whiffclock.agents.qlearning import Task, train
from whiffclock.archive import array_named
from whiffclock.environments import Environments
from whiffclock.evaluation import Evaluation, evaluate, own_horizon, require_fit
from whiffclock.formatting import mode_name
from whiffclock.memory import Memory
from whiffclock.params import (
    BayesSettings,
    EvaluationSettings,
    InputError,
    LearningSettings,
    Settings,
    WorldSettings,
    require,
)
from whiffclock.path_metrics import GEOMETRY
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy, require_policy
from whiffclock.pomdp.gridsearch import GridSearch
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solver import Progress, Report, Solution, solve
from whiffclock.pomdp.start import Start
from whiffclock.recovery import Branches, BranchSettings, forced_blanks
from whiffclock.runs.jobs import NOT_IN_KEY, SEARCHES_PER_SECOND, Arrays, Job, Tick, require_plume
from whiffclock.runs.store import damaged_record
from whiffclock.world.robot import RobotSettings
from whiffclock.world.starts import Starts, make_starts, sample

# Approximate cost on one core, in searches.
_PER_BACKUP, _PER_BELIEF_SEARCH, _PER_TRIAL = (int(seconds * SEARCHES_PER_SECOND) for seconds in (5e-4, 2e-3, 5e-2))

#: Distinguishes objects of this process from those of others.
_PROCESS = os.urandom(16)
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

    @property
    def horizon(self) -> int:
        """Steps per episode."""
        return self.learning.horizon

    def file(self, environments: Environments) -> str:
        """Where its policy is in a folder of policies."""
        kind = self.memory.name.lower() + "".join(f"-tau{tau}" for tau in self.memory.spec.get("taus", ()))
        return f"{environments.name_of(self.threshold)}/{kind}-seed{self.seed:02d}.npz"

    def made(self, policy: TablePolicy) -> bool:
        """Whether a policy is its finished result, by what it was made from."""
        made, played = policy.made_from, self.learning.episodes
        own = {"plume": self.plume, "threshold": self.threshold, "seed": self.seed, "episodes_played": played}
        settings = {"learning": self.learning, "world": self.world}
        same = policy.memory == self.memory and all(made.get(name) == value for name, value in own.items())
        return same and all(name in made and type(one).from_dict(made[name]) == one for name, one in settings.items())

    def cost(self, plume: Plume) -> int:
        return self.learning.episodes

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        return train(Task(plume, self.threshold, self.memory, self.learning, self.world, self.seed), tick)

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> TablePolicy:
        policy = TablePolicy.from_arrays(arrays, path)
        with damaged_record(path):
            require(policy.memory == self.memory, "its policy has another memory than its label says")
            require({"curve", "usage", "clock"} <= policy.records.keys(), "its policy lacks records of its training")
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
        modes = self.policy.memory.modes if isinstance(self.policy, Train) else 2
        return f"{self.policy.agent}, {mode_name(self.mode, modes)} only"

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        return one_mode(needed["policy"], self.mode)


@dataclass(frozen=True)
class Given(Job):
    """A given policy, such as one from a file, described by a digest of its contents."""

    kind, kept = "policy", False

    name: str
    digest: str
    policy: Policy = field(metadata=NOT_IN_KEY, compare=False, repr=False)

    def __post_init__(self) -> None:
        require_policy(self.policy)

    @classmethod
    def of(cls, policy: Policy) -> Given:
        """A policy of any kind. One that has no file format is a new one in every process."""
        require_policy(policy)
        if isinstance(policy, TablePolicy):
            content = [repr(policy.memory.spec).encode(), policy.actions.astype(np.int8).tobytes()]
        elif isinstance(policy, BeliefPolicy):
            arrays = policy.to_arrays()
            arrays["header"] = np.array(policy.model.discount)  # not what it was made from, nor the version
            content = [f"{name} {values.shape}".encode() + values.tobytes() for name, values in arrays.items()]
        else:
            content = [_PROCESS, str(id(policy)).encode()]
        return cls(policy.name, hashlib.sha256(b"".join(content)).hexdigest()[:20], policy)

    @property
    def agent(self) -> str:
        return self.name

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Policy:
        return self.policy


@dataclass(frozen=True)
class Evaluate(Job):
    """Searches of a policy from every start, or from about ``sampled`` of them; its result is an Evaluation.

    Settings without a horizon take that of the policy's training. A record has small integers; the starts follow from
    the job.
    """

    kind, verb, revision = "evaluation", "testing", 3

    policy: Job
    plume: str
    threshold: float
    world: WorldSettings
    settings: EvaluationSettings
    sampled: int | None = None
    robot: RobotSettings = field(default_factory=RobotSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.policy, Given):
            require_fit(self.policy.policy, self.world)
        if self.settings.horizon is None:  # the key must contain it
            object.__setattr__(self, "settings", replace(self.settings, horizon=trained_horizon(self.policy)))

    @property
    def horizon(self) -> int:
        """The longest search."""
        assert self.settings.horizon is not None
        return self.settings.horizon

    def cost(self, plume: Plume) -> int:
        tables = not (isinstance(self.policy, Solve) or isinstance(getattr(self.policy, "policy", None), BeliefPolicy))
        return len(self.starts(plume)) * (1 if tables else _PER_BELIEF_SEARCH)

    def starts(self, plume: Plume) -> Starts:
        """Where the searches start."""
        require_plume(self, plume)
        key = (self.plume, self.threshold, self.world, self.settings, self.sampled, self.robot.stride)
        starts = _STARTS.get(key)
        if starts is None:
            starts = make_starts(plume, self.threshold, self.world, self.settings, self.horizon)
            starts = starts if self.sampled is None else starts.take(sample(starts, self.sampled))
            starts = starts.at_speed(self.robot.stride)
            if len(_STARTS) > 64:
                _STARTS.clear()
            _STARTS[key] = starts
        return starts

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Evaluation:
        starts = self.starts(plume)
        each = self.cost(plume) // len(starts)
        how = self.threshold, self.world, self.settings, starts
        found = evaluate(needed["policy"], plume, *how, lambda searches: tick(searches * each), self.robot)
        return replace(found, policy=self.agent)

    def pack(self, result: Evaluation) -> Arrays:
        small = np.int16 if max(result.horizon, *result.occupancy.shape) < 2**15 else np.int32
        arrays = {name: getattr(result, name).astype(small) for name in ("arrival", "last_whiff", "mode_steps")}
        counts = result.occupancy.astype(np.int32 if result.occupancy.max() < 2**31 else np.int64)
        return arrays | {"occupancy": counts}

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> Evaluation:
        starts, grid, horizon = self.starts(plume), plume.field.shape[1:], self.horizon
        with damaged_record(path):
            arrival = array_named(arrays, "arrival", "iu", (len(starts),), 0, horizon)
            last_whiff = array_named(arrays, "last_whiff", "iu", (len(starts), 3), -1, max(horizon, *grid))
            mode_steps = array_named(arrays, "mode_steps", "iu", (len(starts), None), 0, horizon)
            modes = mode_steps.shape[1]
            require(modes > 0 and bool((last_whiff[:, :2] < grid).all()), "a last whiff lies outside the grid")
            occupancy = array_named(arrays, "occupancy", "iu", (modes, *grid), 0)
        arrival, last_whiff, mode_steps = (values.astype(np.int32) for values in (arrival, last_whiff, mode_steps))
        made = self.agent, self.threshold, starts, self.settings, horizon
        place = plume.fingerprint, plume.environments.name_of(self.threshold)
        return Evaluation(*made, arrival, last_whiff, mode_steps, occupancy.astype(np.int64), *place)


def trained_horizon(policy: Job) -> int:
    """The longest search in the training of a policy, or in those of its parts."""
    if isinstance(policy, Given):
        return own_horizon(policy.policy)
    if horizon := getattr(policy, "horizon", None):
        return horizon
    return max(map(trained_horizon, policy.needs.values()), default=LearningSettings.horizon)


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

        def report(state: Progress) -> None:
            nonlocal before
            tick((state.backups - before) * _PER_BACKUP)
            before = state.backups

        return self.solved(plume, report)[0]

    def solved(self, plume: Plume, report: Report, start: Path | None = None) -> tuple[BeliefPolicy, Solution]:
        """Solve, perhaps from the vectors of a solved policy; ``report`` is called with the solver's state."""
        require_plume(self, plume)
        model = search_model(plume, self.threshold, self.model, self.world)
        solution = solve(model, self.solver, [] if start is None else vectors_from(start, model), report)
        names = ("plume", "threshold", "world", "model", "solver")
        settings = {name: getattr(self, name) for name in names}
        made_from = {name: one.to_dict() if isinstance(one, Settings) else one for name, one in settings.items()}
        made_from |= {"plume_origin": plume.origin, "environment": plume.environments.name_of(self.threshold)}
        made_from |= {name: one for name, one in solution.to_dict().items() if "seconds" not in name}  # they vary
        conditional = conditional_chances(plume, self.threshold, self.model)
        return quasi_optimal(model, solution.vectors, made_from, conditional), solution

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> BeliefPolicy:
        return BeliefPolicy.from_arrays(arrays, path)


def vectors_from(path: Path, model: GridSearch) -> Start:
    """Vectors of a solved policy, to continue from; they must be bounds for this model."""
    before = BeliefPolicy.load(path)
    vectors, other = before.vectors, before.model
    same = other.discount == model.discount and all(
        np.array_equal(getattr(other, name), getattr(model, name)) for name in ("likelihood", "target")
    )
    if vectors is None or not same:
        raise InputError(f"{path} was solved for another plume, threshold, floor or discount; leave out --start.")
    return [(0, vector, int(action)) for vector, action in zip(vectors.array(), vectors.actions(), strict=True)]


@dataclass(frozen=True)
class Branch(Job):
    """Forced blanks of a policy; its result are :class:`Branches`."""

    kind, verb, revision = "branches", "forced blanks of", 2

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

    def pack(self, result: Branches) -> Arrays:
        arrays = {name: getattr(result, name) for name in ("metrics", "weight", "trial", "step")}
        positions = np.concatenate([np.zeros((0, 2), dtype=np.int64), *result.paths]).astype(np.int32)
        return arrays | {"position": positions, "length": np.array([len(path) for path in result.paths], dtype=int)}

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> Branches:
        with damaged_record(path):
            weight = array_named(arrays, "weight", "f", (None,), 0, 1)
            metrics = array_named(arrays, "metrics", "f", (len(weight), len(GEOMETRY)))
            trial = array_named(arrays, "trial", "iu", weight.shape, 0, self.settings.trials - 1)
            step = array_named(arrays, "step", "iu", weight.shape, 0, self.settings.steps)
            length = array_named(arrays, "length", "iu", weight.shape, 1, self.settings.horizon + 1)
            positions = array_named(arrays, "position", "i", (int(length.sum()), 2))
        paths = np.split(positions.astype(np.int64), np.cumsum(length)[:-1]) if len(length) else []
        return Branches(metrics, weight, trial, step, paths)
