"""Ensembles: the trainings, tests and choices that ``train``, ``compare`` and ``reproduce`` share.

tau of the two-Q agents is chosen per environment: of the values of a scan, the one whose agents took closest to half of
their training decisions in Q+ (their mean; of two equally close, the smaller). Cast-and-surge uses the angle with the
highest mean G.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.agents.castsurge import ANGLES
from whiffclock.agents.files import load_policy
from whiffclock.agents.qlearning import sparse_share
from whiffclock.archive import require_writable
from whiffclock.environments import PAPER, Environments
from whiffclock.evaluation import METRICS, Evaluation
from whiffclock.memory import clock
from whiffclock.params import (
    EvaluationSettings,
    InputError,
    LearningSettings,
    Settings,
    WorldSettings,
    require,
    require_positive,
)
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy
from whiffclock.runs.jobs import ONE_THREAD, Engine, Job, JobStore, Tick, execute, run
from whiffclock.runs.kinds import CastAndSurge, Evaluate, Given, HeuristicTwoQ, Train
from whiffclock.runs.store import Store

if TYPE_CHECKING:
    import xarray as xr

#: Values of tau in the scan; 1 is needed to divide decisions evenly in the densest plume.
TAUS = (1, 2, 3, 5, 8, 12, 20, 35, 60)
#: The one tau of the 2Q^h agents, which are never retrained.
HEURISTIC_TAU = 10


@dataclass(frozen=True)
class TauScan(Settings):
    """The scan from which tau is chosen: values, agents per value, and the length of their training."""

    taus: tuple[int, ...] = TAUS
    seeds: int = 3
    episodes: int = 1_000_000
    horizon: int = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "seeds", "episodes", "horizon")

    def trainings(self, plume: Plume, threshold: float, world: WorldSettings) -> dict[int, list[Job]]:
        """The trainings of each tau below the horizon."""
        learning = LearningSettings.shortened(self.episodes, horizon=self.horizon)
        memories = {tau: clock(self.horizon, (tau,)) for tau in self.taus if tau < self.horizon}
        alike = Train(plume.fingerprint, threshold, clock(self.horizon), learning, world)
        return {tau: [replace(alike, memory=m, seed=s) for s in range(self.seeds)] for tau, m in memories.items()}


def balanced(shares: dict[int, np.ndarray]) -> int:
    """The tau whose share of decisions in Q+ is closest to one half."""
    require(bool(shares), "The scan of tau has no value below the horizon.")
    return min(shares, key=lambda tau: (abs(float(shares[tau].mean()) - 0.5), tau))


def scan_shares(scan: dict[int, list[Job]], plume: Plume, store: JobStore) -> dict[int, np.ndarray]:
    """Share of training decisions in Q+, float[agent], of each tau of a scan that is done."""
    return {tau: np.array([sparse_share(run(job, plume, store)) for job in jobs]) for tau, jobs in scan.items()}


def choose_tau(
    plume: Plume,
    threshold: float,
    world: WorldSettings,
    scan: TauScan,
    store: JobStore,
    engine: Engine = ONE_THREAD,
    progress: Tick | None = None,
) -> int:
    """tau of the two-Q agents in an environment; the agents of the scan are stored."""
    trainings = scan.trainings(plume, threshold, world)
    execute([job for jobs in trainings.values() for job in jobs], plume, store, engine, progress)
    return balanced(scan_shares(trainings, plume, store))


def best(evaluations: Sequence[Evaluation]) -> int:
    """Index of the evaluation with the highest mean G; the first if there are several."""
    return int(np.argmax([evaluation.mean("G") for evaluation in evaluations]))


class PolicyFolder(JobStore):
    """Policies of the ``named`` trainings in files with names, ``<environment>/<agent>-seed00.npz``.

    All other results are in a hidden run store. ``force`` replaces policies made with other settings, which are refused
    otherwise. Results that ``store`` has are not trained again, and new ones are also stored there.
    """

    def __init__(
        self,
        folder: Path,
        named: Sequence[Train],
        store: Store | None = None,
        force: bool = False,
        environments: Environments = PAPER,
    ) -> None:
        super().__init__(store or Store(folder / ".runs"))
        self.shared = store is not None
        self.paths = {job.key: policy_path(folder, job, environments.name_of(job.threshold)) for job in named}
        different = len(set(self.paths.values())) == len(self.paths)
        require(different, "Two of the policies would have the same file name; train them into different folders.")
        for place in {path.parent for path in self.paths.values()}:
            require_writable(place)
        self.done = {job.key for job in named if _holds(self.paths[job.key], job, force)}

    def has(self, job: Job) -> bool:
        if job.key not in self.paths:
            return super().has(job)
        if job.key not in self.done and self.shared and super().has(job):
            record, path = self.store.load(job.kind, job.description), self.paths[job.key]
            TablePolicy.from_arrays(record.arrays, path).save(path)
            self.done.add(job.key)
        return job.key in self.done

    def load(self, job: Job, plume: Plume) -> Any:
        return TablePolicy.load(self.paths[job.key]) if job.key in self.paths else super().load(job, plume)

    def save(self, job: Job, result: Any) -> None:
        if job.key in self.paths:
            result.save(self.paths[job.key])
            self.done.add(job.key)
        if job.key not in self.paths or self.shared:
            super().save(job, result)


def policy_path(folder: Path, job: Train, place: str) -> Path:
    """The named file of the policy of a training, in the folder of its environment."""
    kind = job.memory.name.lower() + "".join(f"-tau{tau}" for tau in job.memory.spec.get("taus", ()))
    return folder / place / f"{kind}-seed{job.seed:02d}.npz"


def _holds(path: Path, job: Train, force: bool) -> bool:
    """Whether the file has the finished policy of this training; with ``force``, it may hold another one."""
    if not path.exists():
        return False
    try:
        policy = TablePolicy.load(path)
    except InputError:
        if force:
            return False
        raise
    wanted = {name: job.description[name] for name in ("plume", "threshold", "learning", "seed")}
    wanted["episodes_played"] = job.learning.episodes
    same = policy.memory == job.memory and all(policy.made_from.get(name) == value for name, value in wanted.items())
    same = same and WorldSettings.from_dict(policy.made_from.get("world") or {}) == job.world  # older: own is null
    sentence = f"{path} holds a policy made with other settings; choose another folder, or --force to replace it."
    require(same or force, sentence)
    return same


def find_policies(paths: Sequence[Path]) -> list[tuple[Path, Policy]]:
    """Policies from files and folders (with all folders in them that are not hidden), in order of name."""
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.npz")) if path.is_dir() else [path]
        shown = [file for file in inside if not any(p.startswith(".") for p in file.relative_to(path).parts)]
        require(bool(shown), f"There are no policies in {path}.")
        files += shown
    require(bool(files), "No policy was given; name files or folders.")
    return [(file, load_policy(file)) for file in files]


@dataclass(frozen=True)
class Row:
    """One kind of agent in one environment: an ensemble of evaluations."""

    environment: str
    agent: str
    evaluations: Sequence[Evaluation]
    note: str = ""

    @property
    def best(self) -> Evaluation:
        """The evaluation with the highest G."""
        return self.evaluations[best(self.evaluations)]

    def values(self, metric: str) -> np.ndarray:
        """One mean per agent of the ensemble."""
        return np.array([e.mean(metric) for e in self.evaluations])

    def to_dict(self) -> dict[str, Any]:
        """Plain values: quartiles and range over the ensemble, standard error of the best agent."""
        quartiles = ("min", "q1", "median", "q3", "max")
        values = {metric: np.quantile(self.values(metric), [0, 0.25, 0.5, 0.75, 1]).tolist() for metric in METRICS}
        return {
            "environment": self.environment,
            "agent": self.agent,
            "n": len(self.evaluations),
            "note": self.note,
            **{metric: dict(zip(quartiles, five, strict=True)) for metric, five in values.items()},
            "best": self.best.to_dict(),
        }

    def to_xarray(self) -> xr.Dataset:
        """Means by agent and metric, and the same by time stratum."""
        import xarray as xr

        means = np.stack([self.values(metric) for metric in METRICS], axis=1)
        strata = np.stack([evaluation.strata() for evaluation in self.evaluations])
        return xr.Dataset(
            {"mean": (("agent", "metric"), means), "strata": (("agent", "stratum", "metric"), strata)},
            coords={"agent": np.arange(len(means)), "metric": list(METRICS)},
            attrs={"environment": self.environment, "kind": self.agent, "note": self.note},
        )


@dataclass(frozen=True)
class Comparison:
    """Compare policies on the same starts, with cast-and-surge at its best angle.

    Each is tested in its training environment, or ``everywhere``; one without a training environment, in all.
    """

    plume: Plume
    policies: Sequence[Given | HeuristicTwoQ]
    thresholds: Sequence[float]
    world: WorldSettings
    settings: EvaluationSettings
    everywhere: bool = False

    def tests(self) -> dict[tuple[str, str], list[Job]]:
        """Evaluations by environment and agent."""
        found: dict[tuple[str, str], list[Job]] = {}
        for threshold in self.thresholds:
            name = self.plume.environments.name_of(threshold)
            for job in self.policies:
                trained = job.policy.threshold if isinstance(job, Given) else None
                if self.everywhere and trained is not None:
                    agent = f"{job.agent} ({self.plume.environments.name_of(trained)})"
                elif trained in (None, threshold):
                    agent = job.agent if job.agent != CastAndSurge.agent else f"{job.agent}, as given"
                else:
                    continue
                found.setdefault((name, agent), []).append(self._test(job, threshold))
            cast = [CastAndSurge(angle, self.settings.horizon or LearningSettings.horizon) for angle in ANGLES]
            found[name, cast[0].agent] = [self._test(job, threshold) for job in cast]
        return found

    def _test(self, policy: Job, threshold: float) -> Job:
        return Evaluate(policy, self.plume.fingerprint, threshold, self.world, self.settings)

    def rows(self, store: JobStore, engine: Engine = ONE_THREAD, progress: Tick | None = None) -> list[Row]:
        """Run the tests that are missing; return one row per ensemble."""
        tests = self.tests()
        execute([job for jobs in tests.values() for job in jobs], self.plume, store, engine, progress)
        rows = []
        for (environment, agent), jobs in tests.items():
            evaluations, note = [run(job, self.plume, store) for job in jobs], ""
            if agent == CastAndSurge.agent:
                chosen = best(evaluations)
                evaluations, note = [evaluations[chosen]], f"{ANGLES[chosen]} degrees"
            rows.append(Row(environment, agent, evaluations, note))
        return rows


def heuristic_ensemble(policies: Iterable[Given], dense: float, sparse: float, tau: int) -> list[HeuristicTwoQ]:
    """2Q^h agents from the single-Q agents of two environments, paired by seed."""
    by_seed: dict[float, dict[int, Given]] = {dense: {}, sparse: {}}
    for given in policies:
        policy, threshold, seed = given.policy, given.policy.threshold, given.policy.made_from.get("seed")
        single = isinstance(policy, TablePolicy) and policy.memory.maker == "clock" and policy.modes == 1
        if single and threshold in by_seed and seed is not None:
            by_seed[threshold][seed] = given
    seeds = sorted(by_seed[dense].keys() & by_seed[sparse].keys())
    return [HeuristicTwoQ(by_seed[dense][s], by_seed[sparse][s], tau) for s in seeds]
