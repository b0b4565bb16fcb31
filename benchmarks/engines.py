"""Engines side by side: speed-up of 40 equal trainings, overhead per job, and what a cluster would give.

The wall time of the profile ``deep`` on many workers is a calculation: its jobs are handed out as the engine does it,
with the time per job and the overheads that were measured here with Dask.
"""

import heapq
import tempfile
import time
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np
from measurement import Add, Parser, run

from whiffclock.memory import clock
from whiffclock.paper.dataset import SCAN, trained
from whiffclock.paper.ensembles import Study
from whiffclock.paper.figures import FIGURES
from whiffclock.paper.kinds import jobs as jobs_of
from whiffclock.paper.profiles import profile_named
from whiffclock.paper.reproduce import needs_of
from whiffclock.params import LearningSettings
from whiffclock.plume.builtin import builtin_plume
from whiffclock.runs.engine import EngineSettings
from whiffclock.runs.jobs import Job, JobFolder, execute, missing
from whiffclock.runs.kinds import Train

JOBS, EPISODES, SMALL = 40, 400_000, 200
WORKERS = (1, 2, 8, 64, 512)


@dataclass(frozen=True)
class Empty(Job):
    """A job that does nothing; its result is as large as a policy."""

    kind, agent = "empty", "nobody"

    number: int

    def compute(self, plume, needed, tick):
        return np.zeros((500, 4))

    def pack(self, result):
        return {"q": result}

    def unpack(self, arrays, plume, path):
        return arrays["q"]


def timed(jobs: list[Job], plume, engine, store: Path) -> tuple[float, float]:
    """Wall time, and processor time of this process."""
    began, cpu = time.perf_counter(), time.process_time()
    execute(jobs, plume, JobFolder(store), engine)
    return time.perf_counter() - began, time.process_time() - cpu


def measure_engines(add: Add) -> tuple[float, float]:
    """With Dask: seconds per episode on one worker, and seconds of this process per job."""
    plume = builtin_plume()
    learning = LearningSettings.shortened(EPISODES)
    trainings = [Train(plume.fingerprint, 5e-6, clock(500), learning, plume.settle(), seed) for seed in range(JOBS)]
    short = [replace(job, learning=LearningSettings.shortened(1000)) for job in trainings[:4]]  # start, compile
    for name in ("threads", "processes", "dask"):
        walls = {}
        for workers in (1, 2):
            with tempfile.TemporaryDirectory() as folder, EngineSettings(name, workers).open() as engine:
                timed(short, plume, engine, Path(folder))
                walls[workers], _ = timed(trainings, plume, engine, Path(folder))
                small, cpu = timed([Empty(number) for number in range(SMALL)], plume, engine, Path(folder))
        add(f"engines.{name}.one_worker", walls[1], "s")
        add(f"engines.{name}.two_workers", walls[2], "s")
        add(f"engines.{name}.speedup", walls[1] / walls[2], "ratio")
        add(f"engines.{name}.overhead_per_job", 1e3 * small / SMALL, "ms")
        add(f"engines.{name}.overhead_per_job_in_this_process", 1e3 * cpu / SMALL, "ms")
    return walls[1] / (JOBS * EPISODES), cpu / SMALL


def deep_jobs() -> list[list[tuple[str, list[str], int]]]:
    """Key, keys of dependencies, and work of all jobs of the profile ``deep``, in two rounds."""
    plume = builtin_plume()
    study = Study(plume, profile_named("deep"), dict.fromkeys(("denser", "dense", "sparse", "sparser"), 5))
    with tempfile.TemporaryDirectory() as folder:
        store = JobFolder(Path(folder))
        scan = missing(jobs_of(study, trained(SCAN)), store)
        known = {job.key for job in scan}
        rest = [job for job in missing(jobs_of(study, needs_of(list(FIGURES))), store) if job.key not in known]
    return [[(j.key, [o.key for o in j.needs.values()], j.cost(plume)) for j in part] for part in (scan, rest)]


def wall_time(rounds: list[list[tuple[str, list[str], int]]], workers: int, per_work: float, serial: float) -> float:
    """Wall time when one process hands out jobs and stores results, ``serial`` seconds each, and workers compute."""
    now = 0.0
    for jobs in rounds:
        keys, order, idle, running, dispatcher = {key for key, *_ in jobs}, count(), workers, [], now
        waiting = {key: {other for other in needs if other in keys} for key, needs, _ in jobs}
        work = {key: amount for key, _, amount in jobs}
        ready = [key for key, others in waiting.items() if not others]
        followers: dict[str, list[str]] = {}
        for key, others in waiting.items():
            for other in others:
                followers.setdefault(other, []).append(key)
        while ready or running:
            while ready and idle:
                key, idle = ready.pop(0), idle - 1
                heapq.heappush(running, (max(now, dispatcher) + work[key] * per_work, next(order), key))
            now, _, key = heapq.heappop(running)
            idle, dispatcher = idle + 1, max(now, dispatcher) + serial
            for follower in followers.get(key, ()):
                waiting[follower].discard(key)
                if not waiting[follower]:
                    ready.append(follower)
        now = max(now, dispatcher)
    return now


def draw(walls: dict[int, float], path: Path) -> None:
    import matplotlib.pyplot as plt

    from whiffclock.drawing.style import context

    with context():
        figure, axes = plt.subplots(figsize=(3.4, 2.4), layout="constrained")
        workers = np.array(list(walls))
        minutes = np.array(list(walls.values())) / 60
        axes.loglog(workers, minutes, "o-", base=2, markersize=4, label="model: calculated, see text")
        axes.loglog(workers, minutes[0] / workers, ":", color="0.5", base=2, label="without overhead")
        axes.set_xlabel("workers")
        axes.set_ylabel("wall time of profile deep (min)")
        axes.set_xticks(workers, map(str, workers))
        ticks = [1, 5, 20, 60, 300]
        axes.set_yticks(ticks, map(str, ticks))
        axes.legend(frameon=False)
        figure.savefig(path, dpi=200)


def measure(add: Add, out: Path | None = None) -> None:
    per_work, serial = measure_engines(add)
    add("engines.training", 1e6 * per_work, "s per million episodes")
    rounds = deep_jobs()
    add("engines.deep.jobs", sum(map(len, rounds)), "jobs")
    add("engines.deep.longest_job", per_work * max(job[2] for part in rounds for job in part), "s")
    walls = {workers: wall_time(rounds, workers, per_work, serial) for workers in WORKERS}
    for workers, wall in walls.items():
        add(f"engines.deep.calculated.{workers}_workers", wall / 60, "min")
    if out:
        draw(walls, out)


def add_options(parser: Parser) -> None:
    parser.add_argument("--out", type=Path, help="draw the calculated times into this file")


if __name__ == "__main__":
    run(measure, __doc__, add_options)
