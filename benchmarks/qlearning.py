"""How fast does an agent learn, and search? The package's learning kernel beside plain C, in one run.

Prints lines ``name value unit``. All times are CPU times of one core, and the contestants take turns, so
that a noisy machine is noisy for all. Without a C compiler the C lines are left out.
"""

from __future__ import annotations

import ctypes
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from whiffclock.agents.qlearning import Task, Training, train
from whiffclock.evaluate import evaluate, make_starts
from whiffclock.memory import clock
from whiffclock.params import ENVIRONMENTS, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume.standin import standin_plume
from whiffclock.runs.engine import cores, run_jobs

EPISODES, ROUNDS = 60_000, 5


class Problem(ctypes.Structure):
    _fields_ = (
        [("whiffs", ctypes.c_void_p)]
        + [(n, ctypes.c_int64) for n in ("length", "width", "snapshots", "source_x", "source_y", "radius_squared")]
        + [(n, ctypes.c_void_p) for n in ("next_node", "row", "first", "cells")]
        + [(n, ctypes.c_int64) for n in ("n_cells", "horizon", "rows")]
        + [(n, ctypes.c_double) for n in ("gamma", "alpha_start", "alpha_end", "epsilon_start", "epsilon_end", "decay")]
    )


def line(name, value, unit):
    print(f"{name} {value:.4g} {unit}", flush=True)


def built(compiler, folder, level):
    """The C file as a library."""
    library = folder / f"qlearning{level}.so"
    source = Path(__file__).with_name("qlearning.c")
    command = [compiler, level, "-ffp-contract=off", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def in_c(function, task):
    """CPU seconds, steps and Q-matrix of a training by a C function."""
    function.restype = ctypes.c_int64
    whiffs, memory, learning = task.plume.whiffs(task.threshold), task.memory, task.learning
    cells = task.plume.starts(task.threshold, task.world)
    snapshots, length, width = whiffs.shape
    problem = Problem(
        whiffs.words.ctypes.data, length, width, snapshots, *whiffs.source, int(task.world.radius**2),
        memory.next_node.ctypes.data, memory.row.ctypes.data, memory.first.ctypes.data, cells.ctypes.data,
        len(cells), learning.horizon, memory.rows,
        learning.gamma, learning.alpha_start, learning.alpha_end, learning.epsilon_start, learning.epsilon_end,
        learning.alpha_decay,
    )  # fmt: skip
    q = np.full((memory.rows, 4), learning.q_start)
    best, top = np.empty(memory.rows, dtype=np.int64), np.empty(memory.rows)
    counter = int(np.random.SeedSequence(task.seed).generate_state(1, np.uint64)[0])
    before = time.process_time()
    steps = function(
        ctypes.byref(problem),
        ctypes.c_void_p(q.ctypes.data),
        ctypes.c_void_p(best.ctypes.data),
        ctypes.c_void_p(top.ctypes.data),
        ctypes.c_uint64(counter),
        ctypes.c_int64(learning.episodes),
    )
    return time.process_time() - before, steps, q


def in_numba(task):
    """CPU seconds, steps and Q-matrix of a training by the package's kernel."""
    training = Training(task)
    before = time.process_time()
    training.advance(task.learning.episodes)
    return time.process_time() - before, training.steps, training.q


def race(task):
    """Nanoseconds per step of every contestant: the median over rounds in which all take turns."""
    contestants = {"numba": in_numba}
    compiler = shutil.which("cc")
    with tempfile.TemporaryDirectory() as folder:
        if compiler:
            for level in ("-O2", "-O3"):
                library = built(compiler, Path(folder), level)
                for kind in ("plain", "cached"):
                    contestants[f"c_{kind}{level.replace('-', '_')}"] = partial(in_c, getattr(library, f"learn_{kind}"))
        taken = {name: [] for name in contestants}
        for _ in range(ROUNDS):
            results = {name: run(task) for name, run in contestants.items()}
            for name, (seconds, steps, q) in results.items():
                taken[name].append(1e9 * seconds / steps)
                assert np.array_equal(q, results["numba"][2]), f"{name} learned something else"
    return {name: float(np.median(values)) for name, values in taken.items()}


def search_rate(policy, plume):
    """Searches and steps per CPU second of the rollout kernel."""
    starts = make_starts(plume, 3e-6, WorldSettings(), EvaluationSettings(), 500)
    seen, taken = evaluate(policy, plume, 3e-6, starts=starts), []
    for _ in range(ROUNDS):
        before = time.process_time()
        evaluate(policy, plume, 3e-6, starts=starts)
        taken.append(time.process_time() - before)
    return len(starts) / np.median(taken), seen.mode_steps.sum() / np.median(taken)


def main():
    plume = standin_plume()
    learning = LearningSettings.shortened(EPISODES)
    in_numba(Task(plume, 3e-6, learning=LearningSettings.shortened(10)))  # compile

    taken = race(Task(plume, 3e-6, learning=learning))
    line("qlearning.ns_per_step", taken["numba"], "ns")
    line("qlearning.steps_per_second", 1e9 / taken["numba"], "steps/s")
    in_c_only = {name: value for name, value in taken.items() if name != "numba"}
    for name, value in in_c_only.items():
        line(f"qlearning.{name}.ns_per_step", value, "ns")
    if in_c_only:
        line("qlearning.numba_over_c", min(in_c_only.values()) / taken["numba"], "ratio")
    seconds, steps, _ = in_numba(Task(plume, 3e-6, clock(taus=(8,)), learning))
    line("qlearning.two_q.ns_per_step", 1e9 * seconds / steps, "ns")

    ensemble = [partial(train, Task(plume, threshold, learning=learning)) for threshold in ENVIRONMENTS.values()]
    wall = {}
    for workers in (1, 2):
        before = time.perf_counter()
        run_jobs(ensemble, workers)
        wall[workers] = time.perf_counter() - before
    if cores() > 1:
        line("qlearning.two_workers_speedup", wall[1] / wall[2], "ratio")

    searches, moves = search_rate(train(Task(plume, 3e-6, learning=learning)), plume)
    line("rollout.searches_per_second", searches, "searches/s")
    line("rollout.ns_per_step", 1e9 / moves, "ns")

    seconds, steps, _ = in_numba(Task(plume, 3e-6))
    line("qlearning.full_training", seconds, "s")
    line("qlearning.full_training.steps", steps, "steps")
    scale = 2**10 if sys.platform != "darwin" else 2**20
    line("qlearning.peak_memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale, "MB")


if __name__ == "__main__":
    main()
