"""Jobs: computations described as data.

A job is a small frozen dataclass that pickles. Its fields determine its result; a plume is named by its fingerprint,
and a job that another one depends on is a field of it: ``Evaluate(policy=Train(...), ...)``. The key of a job in a
store is the hash of what differs from the defaults, and of the revision of its class: a new setting with a default
changes no key, and a default that changes needs a new revision. :func:`run` computes a job, or finds its result in a
store; :func:`execute` does many.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from whiffclock.memory import Memory
from whiffclock.params import Settings, require
from whiffclock.plume import Plume
from whiffclock.runs.engine import run_jobs
from whiffclock.runs.store import Label, Store

#: A result as named arrays.
Arrays = dict[str, np.ndarray]

#: Speed of one core on the built-in plume; other work is converted to searches by its time.
SEARCHES_PER_SECOND = 270_000
#: Called with the amount of work done since the last call, in searches; raises to stop.
Tick = Callable[[int], None]
#: Metadata of a field that is not part of the description, and so not of the key.
NOT_IN_KEY = {"described": False}


@dataclass(frozen=True)
class Job:
    """Base of all jobs.

    ``kind`` is the folder of its results in a store; ``verb`` what it does with its agent; ``revision`` is increased
    when the same job gives a different result. Results of cheap jobs are not ``kept``, but computed when needed.
    """

    kind: ClassVar[str]
    verb: ClassVar[str] = "making"
    revision: ClassVar[int] = 1
    kept: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settled = getattr(getattr(self, "world", None), "settled", True)
        require(settled, "A job needs the start threshold as a number or 'own'; plume.settle(world) gives it.")

    @property
    def agent(self) -> str:
        """Kind of agent; by default that of its policy."""
        return self.needs["policy"].agent

    @property
    def task(self) -> str:
        """Verb and agent, for tables of time."""
        return f"{self.verb} {self.agent}"

    @cached_property
    def description(self) -> dict[str, Any]:
        """What determines its result, in plain values: all that differs from the defaults, and the revision."""
        what = {"job": type(self).__name__, "agent": self.agent, "revision": self.revision}
        return what | changed(self)

    @cached_property
    def key(self) -> str:
        """Key of its result in a store."""
        return Label(self.kind, self.description).key

    @property
    def needs(self) -> dict[str, Job]:
        """The jobs it depends on, by field."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in found.items() if isinstance(value, Job)}

    @property
    def thresholds(self) -> set[float]:
        """Thresholds of the whiff records that it needs, with those of the jobs it depends on."""
        threshold, world = getattr(self, "threshold", None), getattr(self, "world", None)
        own = set() if threshold is None else {threshold}
        own |= set() if threshold is None or world is None else {world.start_at(threshold)}
        return own.union(*(other.thresholds for other in self.needs.values()))

    def cost(self, plume: Plume) -> int:
        """Approximate work, in searches: one episode of training, or one search of a table policy."""
        return 0

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Any:
        """The result, from the results of :attr:`needs`."""
        raise NotImplementedError

    def pack(self, result: Any) -> Arrays:
        """A result that is kept, as named arrays; by default those of a policy."""
        return result.to_arrays()

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> Any:
        """Inverse of :meth:`pack`, for the contents of ``path``."""
        raise NotImplementedError


def changed(values: Job | Settings) -> dict[str, Any]:
    """The fields that differ from their defaults, in plain values."""
    described = [f for f in fields(values) if f.metadata.get("described", True)]
    defaults = {f.name: f.default_factory() if f.default_factory is not MISSING else f.default for f in described}
    found = {name: getattr(values, name) for name in defaults}
    return {name: _plain(value) for name, value in found.items() if value != defaults[name]}


def _plain(value: Any) -> Any:
    if isinstance(value, Job):
        return value.description
    if isinstance(value, Memory):
        return value.changed
    return changed(value) if isinstance(value, Settings) else value


class JobStore(Protocol):
    """Where results of jobs are kept, as named arrays."""

    def has(self, job: Job) -> bool:
        """Whether the result is there."""

    def load(self, job: Job) -> Arrays:
        """The result."""

    def save(self, job: Job, arrays: Arrays) -> None:
        """Keep a result."""

    def place(self, job: Job) -> Path:
        """Where the result is, for messages."""


class JobMemory(dict[str, Arrays]):
    """Results in memory, by key."""

    def has(self, job: Job) -> bool:
        return job.key in self

    def load(self, job: Job) -> Arrays:
        return self[job.key]

    def save(self, job: Job, arrays: Arrays) -> None:
        self[job.key] = arrays

    def place(self, job: Job) -> Path:
        return Path(job.key)


class JobFolder:
    """Results in a folder of records."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)

    def has(self, job: Job) -> bool:
        return self.store.has_key(job.kind, job.key)

    def load(self, job: Job) -> Arrays:
        return self.store.load(job.kind, job.description).arrays

    def save(self, job: Job, arrays: Arrays) -> None:
        self.store.save(job.kind, job.description, arrays)

    def place(self, job: Job) -> Path:
        return self.store.path(job.kind, job.description)


@dataclass
class Account:
    """Results found in the store, results computed and core-seconds, by task; and the latter by key of the job."""

    found: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    made: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    of_job: dict[str, float] = field(default_factory=dict)

    @property
    def tasks(self) -> list[str]:
        """All tasks, in the order in which they came up."""
        return list(dict.fromkeys([*self.found, *self.made]))


def run(job: Job, plume: Plume, store: JobStore | None = None, tick: Tick | None = None) -> Any:
    """The result of a job: from the store, or computed with the jobs it depends on, and stored."""
    cache = store if job.kept else None
    if cache is not None and cache.has(job):
        return job.unpack(cache.load(job), plume, cache.place(job))
    require_plume(job, plume)
    needed = {name: run(other, plume, store) for name, other in job.needs.items()}
    result = job.compute(plume, needed, tick or (lambda amount: None))
    if cache is not None:
        cache.save(job, job.pack(result))
    return result


def require_plume(job: Job, plume: Plume) -> None:
    """Refuse a plume that is not the one that a job names."""
    wanted = getattr(job, "plume", plume.fingerprint)
    require(wanted == plume.fingerprint, f"A job on the plume {wanted} cannot run on the plume {plume.fingerprint}.")


def missing(jobs: Iterable[Job], store: JobStore) -> list[Job]:
    """Jobs to be stored that have no result, with those they depend on, each once; dependencies come first."""
    found: dict[str, Job] = {}
    depth: dict[str, int] = {}

    def visit(job: Job) -> int:
        key = job.key
        if job.kept and (key in depth or store.has(job)):
            return depth.get(key, 0)
        depth[key] = max((visit(other) + 1 for other in job.needs.values()), default=0)
        if job.kept:
            found[key] = job
        return depth[key]

    for job in jobs:
        visit(job)
    return sorted(found.values(), key=lambda job: depth[job.key])


#: Where jobs run. An engine computes jobs without results, dependencies first. It keeps the results,
#: calls its last argument with the work done (which may raise to stop), and returns core-seconds.
Engine = Callable[[Sequence[Job], Plume, JobStore, Tick | None], list[float]]


def threads(workers: int) -> Engine:
    """Jobs on threads of this process; each result is stored immediately, so only unfinished jobs can be lost."""

    def compute(jobs: Sequence[Job], plume: Plume, store: JobStore, progress: Tick | None) -> list[float]:
        done = {job.key: threading.Event() for job in jobs}
        return run_jobs([partial(_perform, job, plume, store, done) for job in jobs], workers, progress)

    return compute


ONE_THREAD = threads(1)


def execute(
    jobs: Sequence[Job],
    plume: Plume,
    store: JobStore,
    engine: Engine = ONE_THREAD,
    progress: Tick | None = None,
    account: Account | None = None,
) -> list[Job]:
    """Compute and keep the results that are missing; returns the jobs that were computed."""
    account = Account() if account is None else account
    todo = missing(jobs, store)
    keys = {job.key for job in todo}
    for job in {job.key: job for job in jobs if job.kept}.values():
        account.found[job.task] += job.key not in keys
    for job, seconds in zip(todo, engine(todo, plume, store, progress), strict=True):
        account.made[job.task] += 1
        account.seconds[job.task] += seconds
        account.of_job[job.key] = seconds
    return todo


def _perform(job: Job, plume: Plume, store: JobStore, done: dict[str, threading.Event], tick: Tick) -> float:
    """Run a job after those it depends on; returns core-seconds."""
    for other in nested(job):
        while other.key in done and not done[other.key].wait(0.2):
            tick(0)  # dependencies come first in the order of jobs: a worker runs it, or it failed
    start, left = time.thread_time(), job.cost(plume)

    def limited(amount: int) -> None:
        nonlocal left
        amount = min(amount, left)
        left -= amount
        tick(amount)

    run(job, plume, store, limited)
    done[job.key].set()
    tick(left)
    return time.thread_time() - start


def nested(job: Job) -> Iterator[Job]:
    """All jobs that a job depends on, directly or not."""
    for other in job.needs.values():
        yield other
        yield from nested(other)


def work_in(jobs: Iterable[Job], plume: Plume) -> int:
    """Work of some jobs, in searches; each job is counted once."""
    return sum(job.cost(plume) for job in {job.key: job for job in jobs}.values())
