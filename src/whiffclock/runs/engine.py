"""Jobs in parallel threads.

The kernels release the interpreter's lock, so threads use all cores, share one copy of the plume, and need no start-up.
A job's result depends on its own settings and seed alone, never on the number of workers.
"""

import os
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

Result = TypeVar("Result")
Job = Callable[[Callable[[int], None]], Result]


class Stopped(Exception):  # noqa: N818 - not an error
    """Raised inside a job when the run is being stopped."""


def cores() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(jobs: Sequence[Job[Result]], workers: int, progress: Callable[[int], None] | None = None) -> list[Result]:
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

    # A pool's wait() holds a lock per pending job, and Ctrl-C in the middle of it leaves some locked for ever;
    # a queue has no such moment.
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
