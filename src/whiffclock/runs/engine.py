"""Where jobs run: threads of this process, local processes, or a Dask cluster.

A job's result depends only on its settings and seed: every engine gives the same bits, with any number of workers.

Threads are the default. The kernels release the interpreter's lock, so threads use all cores, share one copy of the
plume, and need no start-up. Processes and Dask workers are in :mod:`whiffclock.runs.remote`.
"""

import os
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

from whiffclock.params import Settings, Valid, require

if TYPE_CHECKING:
    from whiffclock.runs.jobs import Engine

Result = TypeVar("Result")
Work = Callable[[Callable[[int], None]], Result]
Say = Callable[[str], None]


class Stopped(Exception):  # noqa: N818 - not an error
    """Raised inside a job when the run is being stopped."""


class EngineError(RuntimeError):
    """Workers, or their scheduler, have been lost; the message is one sentence. Finished results are kept."""


def cores() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class EngineSettings(Settings):
    """Where jobs run, and how many at the same time; a scheduler implies Dask."""

    engine: Annotated[
        Literal["threads", "processes", "dask"],
        "Where jobs run.",
        Valid("The engine is {}", must="be threads, processes or dask"),
    ] = "threads"
    workers: Annotated[
        int | None,
        "Jobs at the same time; default: number of cores.",
        Valid("--workers is {}", 1, le=1024, must="lie between 1 and 1024"),
    ] = None
    scheduler: Annotated[str | None, "Address or scheduler file of a running Dask cluster."] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scheduler is not None:
            dask = self.engine in (EngineSettings.engine, "dask")
            require(dask, f"A scheduler needs the engine dask; the engine is {self.engine}.")
            require(self.workers is None, "The number of workers is that of the cluster; leave out --workers.")
            object.__setattr__(self, "engine", "dask")

    @property
    def at_once(self) -> int:
        """Number of local workers."""
        return self.workers or cores()

    def open(self, say: Say = lambda line: None) -> AbstractContextManager["Engine"]:
        """The engine, for any number of calls; ``say`` is called with lines for the user, such as an address."""
        from whiffclock.runs import jobs, remote

        if self.engine == "threads":
            return nullcontext(jobs.threads(self.at_once))
        if self.engine == "processes":
            return remote.Processes(self.at_once, say)
        return remote.Cluster(self.at_once, self.scheduler, say)


def run_jobs(jobs: Sequence[Work[Result]], workers: int, progress: Callable[[int], None] | None = None) -> list[Result]:
    """Run all jobs, ``workers`` at a time; results in the order of the jobs. The first failure stops all of them.

    Each job gets a function to call with the amount of work done since the last call, which raises :class:`Stopped`
    when the run is to stop. ``progress`` is called with the same amounts, from any thread.
    """
    stop, take, ahead = threading.Event(), threading.Lock(), iter(range(len(jobs)))
    outcomes: queue.SimpleQueue[tuple[int, Result | None, BaseException | None]] = queue.SimpleQueue()

    def tick(amount: int) -> None:
        if progress is not None:
            progress(amount)
        if stop.is_set():
            raise Stopped

    def work() -> None:
        while not stop.is_set():
            with take:
                i = next(ahead, None)
            if i is None:
                return
            try:
                outcomes.put((i, jobs[i](tick), None))
            except BaseException as error:  # for the calling thread, which raises it
                outcomes.put((i, None, error))
                stop.set()

    # A pool's wait() holds a lock per pending job, and Ctrl-C in the middle of it leaves some locked forever;
    # a queue does not have this problem.
    threads = [threading.Thread(target=work, daemon=True) for _ in range(max(1, min(workers, len(jobs))))]
    results: dict[int, Result] = {}
    try:
        for thread in threads:
            thread.start()
        while len(results) < len(jobs):
            try:
                # Waking up now and then lets the main thread see Ctrl-C on every platform.
                i, result, error = outcomes.get(timeout=0.2)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            results[i] = cast(Result, result)
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    return [results[i] for i in range(len(jobs))]
