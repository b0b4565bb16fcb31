"""How times grow with the grid, the number of modes and of alpha vectors, the length of the record, and threads.

Each series ends with its slope in a log-log plot, by least squares: 0 is a constant time, 1 a proportional one. The
size of a grid is its number of cells. Times are CPU times of one core. Those of threads are wall times, whose ideal
slope is -1. The sizes of a series take turns, and the least of some rounds counts.

Large grids hold the built-in plume, every cell divided into smaller ones. The radius of the source, the horizon and
the length of the clock grow with the grid; the record keeps its snapshots. ``benchmarks/engines.py`` has threads,
processes and Dask workers on the plume as it is.
"""

import math
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import dask.array
import numpy as np
from measurement import Add, run

from whiffclock.agents.bayes import belief_heuristic, quasi_optimal, search_model
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.qlearning import Task, Training
from whiffclock.evaluation import evaluate
from whiffclock.memory import Memory, clock
from whiffclock.params import EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.reading.files import read_plume
from whiffclock.plume.reading.writing import write_plume
from whiffclock.pomdp.gridsearch import GridVectors
from whiffclock.runs.engine import cores, run_jobs
from whiffclock.world.starts import make_starts

THRESHOLD = 7e-6  # also that of the starts, so one record serves for both
SIZES = ((123, 27), (245, 56), (490, 112), (817, 187), (1225, 280))
MODES = (1, 2, 4, 8, 16)
VECTORS = (10, 30, 100, 300, 1000, 3000, 10_000)
SNAPSHOTS = (500, 1000, 2598, 5000, 10_000, 20_000)
STEPS, ROUNDS = 10_000_000, 5

Timed = Callable[[], float]  # does something once and returns its time per unit, in seconds


def stretched(plume: Plume, length: int, width: int) -> Plume:
    """The plume with its cells divided into ``length`` x ``width`` smaller ones; the field is made when it is read."""
    old_length, old_width = plume.field.shape[1:]
    x, y = np.arange(length) * old_length // length, np.arange(width) * old_width // width
    parts = dask.array.from_array(plume.field, chunks=(max(1, 2**23 // (length * width)), -1, -1))
    chunks = parts.chunks[0], (length,), (width,)
    field = parts.map_blocks(lambda part: part.take(y, axis=2).take(x, axis=1), chunks=chunks, dtype=np.float32)
    source = int(np.flatnonzero(x == plume.source[0]).min()), int(np.median(np.flatnonzero(y == plume.source[1])))
    return Plume(field, source, f"{plume.origin}, stretched to {length} x {width} cells (synthetic)")


def scaled_task(plume: Plume, memory: Memory | None = None, steps: int = STEPS) -> Task:
    """A training of about this many steps; lengths are scaled to the grid."""
    scale = plume.field.shape[1] / 123
    horizon = round(500 * scale)
    learning = LearningSettings.shortened(round(steps / (0.75 * horizon)), horizon=horizon)
    return Task(plume, THRESHOLD, memory or clock(horizon), learning, WorldSettings(radius=2 * scale))


def cpu(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def training_step(task: Task) -> float:
    training = Training(task)
    return cpu(lambda: training.advance(task.learning.episodes)) / training.steps


def rollout_step(task: Task) -> Timed:
    """A step of the rollout kernel, with cast-and-surge: a policy that is the same on all grids."""
    horizon = task.learning.horizon
    policy, how = cast_and_surge(45, horizon), EvaluationSettings(snapshots=1, horizon=horizon)
    starts = make_starts(task.plume, THRESHOLD, task.world, how, horizon)
    starts = starts.take(np.arange(0, len(starts), -(-len(starts) // 5000)))

    def once() -> float:
        before = time.process_time()
        seen = evaluate(policy, task.plume, THRESHOLD, task.world, how, starts)
        return (time.process_time() - before) / seen.mode_steps.sum()

    return once


def belief_step(task: Task) -> Timed:
    """One move, update and decision of a Bayesian agent (QMDP) with the widest belief it ever has."""
    policy = belief_heuristic("QMDP", search_model(task.plume, THRESHOLD, world=task.world))
    memory, up, blank = policy.begin(np.zeros(1, dtype=bool)), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)
    return lambda: cpu(lambda: [policy.observe(memory, up, blank) for _ in range(20)]) / 20


def decision(vectors: int) -> Timed:
    """The choice of an action among alpha vectors, for the widest belief; it does not depend on their values."""
    model = search_model(builtin_plume(), THRESHOLD)
    made = (model.known_value.astype(np.float32) for _ in range(vectors))
    policy = quasi_optimal(model, GridVectors(model, made, np.zeros(vectors, dtype=np.int64)))
    memory = policy.begin(np.zeros(1, dtype=bool))
    times = max(1, 3000 // vectors)
    return lambda: cpu(lambda: [policy.choose(model, memory) for _ in range(times)]) / times


def series(add: Add, name: str, unit: str, scale: float, cases: dict[str, tuple[float, Timed]]) -> None:
    """Measure cases, each with its label and size: one round to compile, then the least of the others."""
    taken = [{label: once() for label, (_, once) in cases.items()} for _ in range(ROUNDS + 1)][1:]
    least = {label: min(times[label] for times in taken) for label in cases}
    for label, seconds in least.items():
        add(f"scaling.{name}.{label}", scale * seconds, unit)
    sizes = [size for size, _ in cases.values()]
    add(f"scaling.{name}.slope", np.polyfit(np.log(sizes), np.log(list(least.values())), 1)[0], "1")


def measure_grids(add: Add) -> Plume:
    tasks = {(length, width): scaled_task(stretched(builtin_plume(), length, width)) for length, width in SIZES}
    kinds = {
        "training": ("ns/step", 1e9, lambda task: partial(training_step, task)),
        "rollout": ("ns/step", 1e9, rollout_step),
        "belief": ("ms/step", 1e3, belief_step),
    }
    for kind, (unit, scale, prepared) in kinds.items():
        cases = {f"{a}x{b}": (a * b, prepared(task)) for (a, b), task in tasks.items()}
        series(add, f"grid.{kind}", unit, scale, cases)
    for (length, width), task in tasks.items():
        add(f"scaling.grid.record.{length}x{width}", task.plume.whiffs(THRESHOLD).words.nbytes / 2**20, "MB")
    return tasks[SIZES[-1]].plume


def measure_records(add: Add) -> None:
    """Records of any length, by repetition of the built-in one; loading is reading a file and finding the whiffs."""
    field = builtin_plume().field
    plumes = {n: Plume.from_array(np.resize(field, (n, *field.shape[1:])), (0, 13), "repeated") for n in SNAPSHOTS}
    steps = {str(n): (n, partial(training_step, scaled_task(plume))) for n, plume in plumes.items()}
    series(add, "record.training", "ns/step", 1e9, steps)
    with tempfile.TemporaryDirectory() as folder:
        files = {n: Path(folder, f"{n}.npy") for n in SNAPSHOTS}
        for n, path in files.items():
            write_plume(plumes[n], path)
        loads = {
            str(n): (n, lambda path=path: cpu(lambda: read_plume(path).whiffs(THRESHOLD))) for n, path in files.items()
        }
        series(add, "record.load", "s", 1, loads)


def measure_threads(add: Add, plume: Plume) -> None:
    """Wall time of equal trainings, twice as many as cores, on a grid whose record is larger than a cache."""
    counts = sorted({min(2**i, cores()) for i in range(math.ceil(math.log2(cores())) + 1)})
    jobs = [lambda tick: training_step(scaled_task(plume)) for _ in range(2 * cores())]

    def wall(threads: int) -> float:
        before = time.perf_counter()
        run_jobs(jobs, threads)
        return time.perf_counter() - before

    series(add, "threads.large_grid", "s", 1, {str(n): (n, partial(wall, n)) for n in counts})


def measure(add: Add) -> None:
    large = measure_grids(add)
    measure_threads(add, large)
    tasks = {n: scaled_task(builtin_plume(), clock(500, tuple(8 * i for i in range(1, n)))) for n in MODES}
    series(add, "modes.training", "ns/step", 1e9, {str(n): (n, partial(training_step, tasks[n])) for n in MODES})
    series(add, "vectors.decision", "ms", 1e3, {str(n): (n, decision(n)) for n in VECTORS})
    measure_records(add)


if __name__ == "__main__":
    run(measure, __doc__)
