"""Jobs side by side on threads.

The kernels release the interpreter's lock, so threads use all cores, share one copy of the plume, and
need no start-up. A job's result depends on its own settings and seed alone, never on the number of
workers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")
Job = Callable[[Callable[[int], None]], Result]


class Stopped(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Raised inside a job when the run is being stopped."""


def cores() -> int:
    """Number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job[Result]],
    workers: int,
    progress: Callable[[int], None] | None = None,
    finished: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Run all jobs, ``workers`` at a time; results in the order of the jobs.

    Parameters
    ----------
    jobs
        Each takes a function to call with the amount of work done since the last call; that call raises
        :class:`Stopped` when the run is to end.
    progress
        Hears the amounts of work, from any thread.
    finished
        Hears the index and the result of each finished job, in the calling thread.
    """
    stop = threading.Event()

    def tick(amount: int) -> None:
        if progress is not None:
            progress(amount)
        if stop.is_set():
            raise Stopped

    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        index: dict[Future[Result], int] = {pool.submit(job, tick): i for i, job in enumerate(jobs)}
        results: dict[int, Result] = {}
        pending = set(index)
        try:
            while pending:
                # Waking up now and then lets the main thread see Ctrl-C on every platform.
                done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    i = index[future]
                    results[i] = future.result()
                    if finished is not None:
                        finished(i, results[i])
        except BaseException:
            stop.set()
            for future in pending:
                future.cancel()
            raise
    return [results[i] for i in range(len(jobs))]
