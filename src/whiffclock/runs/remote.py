"""Engines in other processes: local ones, or the workers of a Dask cluster.

A worker gets a job, the results it depends on, and the whiffs of the plume at the thresholds it needs, which it keeps
for later jobs: about a megabyte each for the built-in plume. It sends back the arrays of the result, which this process
stores. Scheduling, work stealing and retries are left to the pool or to Dask.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import queue
import shutil
import signal
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from graphlib import TopologicalSorter
from importlib.util import find_spec
from multiprocessing import resource_tracker
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any, Self

import numpy as np

from whiffclock import __version__
from whiffclock.child_processes import end_with_parent
from whiffclock.params import InputError, needing, require
from whiffclock.plume import Plume
from whiffclock.plume.whiffs import Whiffs
from whiffclock.runs.engine import EngineError, Say, run_jobs
from whiffclock.runs.jobs import Arrays, Job, JobMemory, JobStore, Tick, nested, run

#: Jobs submitted at the same time; the others wait here, not in the memory of a scheduler.
_MOST_SUBMITTED = 1000
#: How often local processes are started again after one of them died.
_MOST_DEATHS = 3
_MOST_PLUMES = 16
_SECONDS_TO_CONNECT = 10.0
_HERE = "127.0.0.1"

#: Plumes of this worker, by fingerprint.
_PLUMES: dict[str, Plume] = {}


def perform(
    job: Job, plume: Plume, words: dict[float, np.ndarray | Path], needed: dict[str, Arrays], version: str
) -> tuple[Arrays, float]:
    """On a worker: the arrays of a job's result, and core-seconds.

    ``words`` are the whiffs by threshold, or files of them; ``needed`` are arrays of results by the keys of their jobs.
    """
    require(version == __version__, f"a worker has whiffclock {__version__}, and this is {version}")
    start = time.thread_time()
    if len(_PLUMES) > _MOST_PLUMES:
        _PLUMES.clear()
    plume = _PLUMES.setdefault(plume.fingerprint, plume)
    for threshold, record in words.items():
        if threshold not in plume.records:
            array = np.load(record) if isinstance(record, Path) else _writable(record)
            plume.records[threshold] = Whiffs(array, plume.field.shape[2], threshold, plume.source)
    store = JobMemory({key: {name: _writable(a) for name, a in arrays.items()} for key, arrays in needed.items()})
    run(job, plume, store)
    return store[job.key], time.thread_time() - start


def _writable(array: np.ndarray) -> np.ndarray:
    """Kernels are compiled for arrays that can be written; those from a network cannot."""
    return array if array.flags.writeable else array.copy()


def _needed(job: Job, store: JobStore) -> dict[str, Arrays]:
    """Arrays of the stored results that a job depends on, by key."""
    found: dict[str, Arrays] = {}
    for other in job.needs.values():
        found |= {other.key: store.load(other)} if other.kept else _needed(other, store)
    return found


class Remote:
    """Base of these engines: submits jobs when the jobs they depend on are finished, and stores their results.

    Subclasses provide an executor and send whiffs to workers. Use it in a ``with`` statement.
    """

    executor: Executor

    def __init__(self, workers: int, say: Say) -> None:
        self.workers, self.say = workers, say
        self._shared: dict[tuple[str, float], Any] = {}

    def send_words(self, name: str, words: np.ndarray) -> Any:
        """Make whiffs available to all workers; returns an argument that stands for them."""
        raise NotImplementedError

    def submit(self, job: Job, *args: Any) -> Future[tuple[Arrays, float]]:
        """Submit a job."""
        return self.executor.submit(perform, job, *args)

    def restart(self, error: BaseException) -> None:
        """Replace the workers, if that helps; otherwise raise the error."""
        raise error

    def __call__(self, jobs: Sequence[Job], plume: Plume, store: JobStore, progress: Tick | None) -> list[float]:
        todo, seconds = {job.key: job for job in jobs}, dict[str, float]()
        order = TopologicalSorter({job.key: {other.key for other in nested(job)} & todo.keys() for job in jobs})
        order.prepare()
        ready = deque(todo[key] for key in order.get_ready())
        with closing(self._results(ready, plume, store)) as results:
            for job, arrays, spent in results:
                store.save(job, arrays)
                seconds[job.key] = spent
                order.done(job.key)
                ready.extend(todo[key] for key in order.get_ready())
                if progress is not None:
                    progress(job.cost(plume))
        return [seconds[job.key] for job in jobs]

    def _results(self, ready: deque[Job], plume: Plume, store: JobStore) -> Generator[tuple[Job, Arrays, float]]:
        """Submit the jobs in ``ready``, to which the caller may add others; yields results as they come."""
        light, running = plume.without_field(), dict[Future[tuple[Arrays, float]], Job]()
        finished: queue.SimpleQueue[Future[tuple[Arrays, float]]] = queue.SimpleQueue()
        try:
            while ready or running:
                try:
                    while ready and len(running) < _MOST_SUBMITTED:
                        job = ready[0]
                        words = {threshold: self._words(plume, threshold) for threshold in job.thresholds}
                        future = self.submit(job, light, words, _needed(job, store), __version__)
                        running[future] = ready.popleft()
                        future.add_done_callback(finished.put)
                    future = finished.get(timeout=0.2)  # waking up lets the main thread see Ctrl-C everywhere
                    if future not in running:
                        continue  # of workers that have been replaced
                    arrays, seconds = future.result()
                except queue.Empty:
                    continue
                except (Exception, CancelledError) as error:
                    self.restart(error)
                    ready.extendleft(reversed(running.values()))
                    running.clear()
                    continue
                yield running.pop(future), arrays, seconds
        finally:
            for future in running:
                future.cancel()

    def _words(self, plume: Plume, threshold: float) -> Any:
        name = plume.fingerprint, threshold
        if name not in self._shared:
            self._shared[name] = self.send_words(f"{plume.fingerprint}-{threshold!r}", plume.whiffs(threshold).words)
        return self._shared[name]


class Processes(Remote):
    """Processes of this machine, which find whiffs in files of a temporary folder."""

    def __enter__(self) -> Self:
        self._deaths, self._others = 0, {*multiprocessing.active_children()}
        self._folder = Path(mkdtemp(prefix="whiffclock-"))
        self._start()
        return self

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.executor = ProcessPoolExecutor(self.workers, spawn, _begin, (self._folder,))

    def send_words(self, name: str, words: np.ndarray) -> Path:
        np.save(self._folder / f"{name}.npy", words)
        return self._folder / f"{name}.npy"

    def restart(self, error: BaseException) -> None:
        if not isinstance(error, BrokenProcessPool):
            raise error
        self._deaths += 1
        died = "a worker process died; it was killed, or memory ran out"
        if self._deaths > _MOST_DEATHS:
            raise EngineError(f"{died} ({self._deaths} times)") from error
        self.say(f"whiffclock: {died}. Its jobs are started again.")
        self.executor.shutdown()
        self._start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:  # do not wait for running jobs
            for child in {*multiprocessing.active_children()} - self._others:
                child.kill()
        self.executor.shutdown(cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)


def _begin(folder: Path) -> None:
    end_with_parent(partial(shutil.rmtree, folder, ignore_errors=True))


class Cluster(Remote):
    """The workers of a Dask cluster: a running one, by the address or file of its scheduler, or one on this machine."""

    def __init__(self, workers: int, scheduler: str | None, say: Say) -> None:
        super().__init__(workers, say)
        self._scheduler = scheduler

    def __enter__(self) -> Self:
        with needing("cluster", "The engine dask needs more packages"):
            import distributed
        with ExitStack() as stack:
            stack.enter_context(_quiet_loggers())
            if self._scheduler is None:
                where = stack.enter_context(_local_cluster(distributed, self.workers))
            else:
                where = _scheduler_address(distributed, self._scheduler)
            self._client = stack.enter_context(distributed.Client(where, set_as_default=False))  # type: ignore[no-untyped-call]
            self._require_versions()
            self.executor = self._client.get_executor(pure=False)
            self._stack = stack.pop_all()
        if find_spec("bokeh") is not None:
            self.say(f"Dask dashboard: {self._client.dashboard_link}")
        return self

    def _require_versions(self) -> None:
        """Refuse workers without this version of the package."""
        for address, found in self._client.run(package_version, on_error="return").items():
            has = f"has whiffclock {found}" if isinstance(found, str) else "cannot import whiffclock"
            same = f"this is {__version__}; all workers need the same version"
            require(found == __version__, f"The Dask worker {address} {has}, and {same}.")

    def send_words(self, name: str, words: np.ndarray) -> Any:
        return self._client.submit(np.asarray, words, key=f"whiffs-{name}")  # kept by the scheduler, if workers die

    def submit(self, job: Job, *args: Any) -> Future[tuple[Arrays, float]]:
        key = f"{type(job).__name__.lower()}-{job.key}-{os.urandom(4).hex()}"
        return self.executor.submit(perform, job, *args, key=key)  # type: ignore[call-arg]

    def restart(self, error: BaseException) -> None:
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            raise EngineError(f"{error.allowed_failures + 1} Dask workers died in the same job") from error
        if isinstance(error, CancelledError):
            raise EngineError("the connection to the Dask scheduler was lost") from error
        raise error

    def __exit__(self, *_: object) -> None:
        self._stack.close()


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """Without the messages of Dask: the engine reports what a user should know."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _local_cluster(distributed: ModuleType, workers: int) -> Any:
    """A cluster on this machine that only this machine can reach.

    Ctrl-C waits until it has started: half a cluster cannot be closed. Its threads and processes inherit the mask, so
    that Ctrl-C reaches this process alone, which then closes them.
    """
    before = None
    if hasattr(signal, "pthread_sigmask"):  # not on Windows, where Ctrl-C may leave a process of a half-started cluster
        resource_tracker.ensure_running()  # its start would end the mask
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return distributed.LocalCluster(
            None, workers, 1, host=_HERE, dashboard_address=f"{_HERE}:0", silence_logs=logging.CRITICAL
        )
    finally:
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _scheduler_address(distributed: ModuleType, where: str) -> str:
    """The address of a scheduler, which may be in a file; what does not answer like one is refused.

    A client that cannot connect waits for ever, or ends with a traceback; so the scheduler is asked first.
    """
    address = where if ":" in where and not Path(where).is_file() else _address_in(Path(where))  # a file may be C:\\...

    async def identity(tick: Tick) -> dict[str, Any]:
        async with distributed.rpc(address) as server, asyncio.timeout(_SECONDS_TO_CONNECT):
            answer = asyncio.ensure_future(server.identity())
            while not answer.done():
                tick(0)  # ends it after Ctrl-C
                await asyncio.wait([answer], timeout=0.1)
            return answer.result()

    try:  # in a thread: a notebook has an event loop of its own
        (found,) = run_jobs([lambda tick: asyncio.run(identity(tick))], 1)
    except Exception:  # a wrong address makes Dask raise errors of many kinds
        raise InputError(f"No Dask scheduler answers at {where}.") from None
    kind = found.get("type")
    require(kind == "Scheduler", f"A {kind} of Dask answers at {where}; name the address of the scheduler.")
    return address


def _address_in(file: Path) -> str:
    require(file.is_file(), f"There is no scheduler file at {file}; an address looks like tcp://host:8786.")
    try:
        return str(json.loads(file.read_bytes())["address"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{file} is not a scheduler file of Dask; it has no address.") from error


def package_version() -> str:
    """The version of the package on a worker."""
    return __version__
