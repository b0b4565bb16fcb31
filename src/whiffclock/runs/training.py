"""Trainings of ensembles: the choice of tau, and folders of policies.

tau of the two-Q agents is chosen per environment: of the values of a scan, the one whose agents took closest to half of
their training decisions in Q+ (their mean; of two equally close, the smaller).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from whiffclock.agents.qlearning import sparse_share
from whiffclock.archive import write_npz
from whiffclock.disk import require_writable
from whiffclock.environments import PAPER, Environments
from whiffclock.memory import Memory, make_memory
from whiffclock.params import Count, InputError, LearningSettings, Settings, require
from whiffclock.plume import Plume
from whiffclock.policy import TablePolicy
from whiffclock.progress import Bar
from whiffclock.runs.jobs import Arrays, Engine, Job, JobFolder, JobStore, execute, missing, run, work_in
from whiffclock.runs.kinds import Train

#: Values of tau in the scan; 1 is needed to divide decisions evenly in the densest plume.
TAUS = (1, 2, 3, 5, 8, 12, 20, 35, 60)


@dataclass(frozen=True)
class TauScan(Settings):
    """The scan from which tau is chosen: values, agents per value, and the length of their training."""

    taus: tuple[int, ...] = TAUS
    seeds: Count = 3
    episodes: Count = 1_000_000

    @classmethod
    def for_ensemble(cls, agents: int, learning: LearningSettings) -> TauScan:
        """A scan with a third of the episodes of an ensemble, and three agents per value at most."""
        return cls(seeds=min(3, agents), episodes=max(1, round(learning.episodes / 3)))

    def trainings(self, like: Train) -> dict[int, list[Train]]:
        """The trainings of each tau below the length of the clock; settings and memory are otherwise those of one."""
        like = replace(like, learning=like.learning.scaled(self.episodes))
        memories = {tau: with_tau(like.memory, tau) for tau in self.taus if tau < like.memory.length}
        return {tau: [replace(like, memory=m, seed=s) for s in range(self.seeds)] for tau, m in memories.items()}


def with_tau(memory: Memory, tau: int) -> Memory:
    """A clock with two modes, and otherwise the settings of another clock."""
    require(memory.maker == "clock", f"tau is a setting of the clock; the memory is {memory.name}.")
    return make_memory(memory.spec | {"taus": [tau]})


def balanced(shares: Mapping[int, np.ndarray]) -> int:
    """The tau whose share of decisions in Q+ is closest to one half."""
    require(bool(shares), "The scan of tau has no value below the horizon.")
    return min(shares, key=lambda tau: (abs(float(shares[tau].mean()) - 0.5), tau))


def scan_shares(scan: Mapping[int, Sequence[Job]], plume: Plume, store: JobStore) -> dict[int, np.ndarray]:
    """Share of training decisions in Q+, float[agent], of each tau of a scan that is done."""
    return {tau: np.array([sparse_share(run(job, plume, store)) for job in jobs]) for tau, jobs in scan.items()}


def with_chosen_tau(
    jobs: Sequence[Train], plume: Plume, scan: TauScan, store: JobStore, engine: Engine, bar: Bar
) -> list[Train]:
    """The same trainings with two modes, and the tau that a scan finds for each threshold; its agents are stored."""
    first = {job.threshold: job for job in reversed(jobs)}
    scans = {threshold: scan.trainings(job) for threshold, job in first.items()}
    agents = [job for trainings in scans.values() for some in trainings.values() for job in some]
    bar.begin("choosing tau", work_in(missing(agents, store), plume))
    execute(agents, plume, store, engine, bar.advance)
    chosen = {threshold: balanced(scan_shares(trainings, plume, store)) for threshold, trainings in scans.items()}
    for threshold, tau in chosen.items():
        bar.note(f"tau in {plume.environments.name_of(threshold)}: {tau}")
    return [replace(job, memory=with_tau(job.memory, chosen[job.threshold])) for job in jobs]


class NamedPolicy(Protocol):
    """A job whose result is a policy with a file of its own."""

    @property
    def key(self) -> str:
        """Key of its result."""

    def file(self, environments: Environments) -> str:
        """The file, in the folder of an environment."""

    def made(self, policy: TablePolicy) -> bool:
        """Whether a policy is its result."""


class PolicyFolder(JobFolder):
    """Policies of the ``named`` jobs in files with names, ``<environment>/<agent>-seed00.npz``.

    All other results are in a hidden run store. ``force`` replaces policies made with other settings, which are refused
    otherwise. Results that are in ``store``, a folder, are not trained again, and new ones are also stored there.
    """

    def __init__(
        self,
        folder: Path,
        named: Sequence[NamedPolicy],
        store: Path | None = None,
        force: bool = False,
        environments: Environments = PAPER,
    ) -> None:
        super().__init__(store or folder / ".runs")
        self.shared = store is not None
        self.paths = {job.key: folder / job.file(environments) for job in named}
        different = len(set(self.paths.values())) == len(self.paths)
        require(different, "Two of the policies would have the same file name; train them into different folders.")
        for place in {path.parent for path in self.paths.values()}:
            require_writable(place)
        self.done = {job.key for job in named if _holds(self.paths[job.key], job, force)}

    def has(self, job: Job) -> bool:
        if job.key not in self.paths:
            return super().has(job)
        if job.key not in self.done and self.shared and super().has(job):
            arrays = super().load(job)
            TablePolicy.from_arrays(arrays, super().place(job))  # damage is found before anything is written
            self._write(job, arrays)
        return job.key in self.done

    def load(self, job: Job) -> Arrays:
        return TablePolicy.load(self.paths[job.key]).to_arrays() if job.key in self.paths else super().load(job)

    def save(self, job: Job, arrays: Arrays) -> None:
        if job.key in self.paths:
            self._write(job, arrays)
        if job.key not in self.paths or self.shared:
            super().save(job, arrays)

    def place(self, job: Job) -> Path:
        return self.paths.get(job.key) or super().place(job)

    def _write(self, job: Job, arrays: Arrays) -> None:
        write_npz(self.paths[job.key], arrays)
        self.done.add(job.key)


def _holds(path: Path, job: NamedPolicy, force: bool) -> bool:
    """Whether the file has the finished policy of this job; with ``force``, it may hold another one."""
    if not path.exists():
        return False
    try:
        same = job.made(TablePolicy.load(path))
    except InputError:
        if force:
            return False
        raise
    sentence = f"{path} holds a policy made with other settings; choose another folder, or --force to replace it."
    require(same or force, sentence)
    return same
