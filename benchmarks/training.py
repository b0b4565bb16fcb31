"""How fast does an agent learn? The package's kernel beside plain C, plain Python, NumPy and packages from PyPI.

Sequential Q-learning of a single-Q agent in the built-in plume, in steps per CPU second of one core. Kernel, C, Python
and NumPy (``learners.py``) take turns, so that a noisy machine is noisy for all, and must learn the same Q-matrix to
the last bit. The packages (``peers``) run in environments of their own. What cannot be built or installed is left out.
``training.full`` is one training with the paper's settings.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from learners import first_counter, in_numpy, in_python
from measurement import peak_memory, run
from peers import LEARNERS, measure_peers

from whiffclock.agents.qlearning import Task, Training
from whiffclock.environments import PAPER
from whiffclock.memory import clock
from whiffclock.params import LearningSettings
from whiffclock.plume.builtin import builtin_plume

EPISODES, FEW_EPISODES, LOCKSTEP_EPISODES, ROUNDS = 60_000, 300, 10, 5


class Problem(ctypes.Structure):
    _fields_ = (
        [("whiffs", ctypes.c_void_p)]
        + [(n, ctypes.c_int64) for n in ("length", "width", "snapshots", "source_x", "source_y", "radius_squared")]
        + [(n, ctypes.c_void_p) for n in ("next_node", "row", "first", "cells")]
        + [(n, ctypes.c_int64) for n in ("n_cells", "horizon", "rows")]
        + [(n, ctypes.c_double) for n in ("gamma", "alpha_start", "alpha_end", "epsilon_start", "epsilon_end", "decay")]
    )


def built(compiler, folder, level):
    """The C file as a library."""
    library = folder / f"qlearning_{level}.so"
    source = Path(__file__).with_name("qlearning.c")
    command = [compiler, f"-{level}", "-ffp-contract=off", "-shared", "-fPIC", str(source), "-o", str(library)]
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
    before = time.process_time()
    steps = function(
        ctypes.byref(problem),
        ctypes.c_void_p(q.ctypes.data),
        ctypes.c_void_p(best.ctypes.data),
        ctypes.c_void_p(top.ctypes.data),
        ctypes.c_uint64(first_counter(task.seed)),
        ctypes.c_int64(learning.episodes),
    )
    return time.process_time() - before, steps, q


def in_kernel(task):
    """CPU seconds, steps and Q-matrix of a training by the package's kernel."""
    training = Training(task)
    before = time.process_time()
    training.advance(task.learning.episodes)
    return time.process_time() - before, training.steps, training.q


def race(task, two_q, few, fewer):
    """Steps per second of every contestant: the median over rounds in which all take turns."""
    contestants = {"whiffclock": (in_kernel, task), "whiffclock.two_q": (in_kernel, two_q)}
    contestants |= {"python": (in_python, few), "numpy": (in_numpy, fewer)}
    compiler = shutil.which("cc")
    with tempfile.TemporaryDirectory() as folder:
        for level in ("O2", "O3") if compiler else ():
            library = built(compiler, Path(folder), level)
            for kind in ("plain", "cached"):
                contestants[f"c.{kind}_{level}"] = partial(in_c, getattr(library, f"learn_{kind}")), task
        right = {id(some): in_kernel(some)[2] for some in (task, two_q, few, fewer)}
        taken = {name: [] for name in contestants}
        for _ in range(ROUNDS):
            for name, (learn, some) in contestants.items():
                seconds, steps, q = learn(some)
                taken[name].append(steps / seconds)
                assert np.array_equal(q, right[id(some)]), f"{name} learned something else"
    return {name: float(np.median(values)) for name, values in taken.items()}


def measure(add):
    plume, threshold = builtin_plume(), PAPER["sparse"]
    in_kernel(Task(plume, threshold, learning=LearningSettings.shortened(10)))  # compile
    seconds, steps, _ = in_kernel(Task(plume, threshold))
    add("training.full", seconds, "s")
    add("training.full.steps", steps, "steps")
    add("training.full.memory", peak_memory(), "MB")

    task, few, fewer = (
        Task(plume, threshold, learning=LearningSettings.shortened(n))
        for n in (EPISODES, FEW_EPISODES, LOCKSTEP_EPISODES)
    )
    rates = race(task, Task(plume, threshold, clock(taus=(8,)), task.learning), few, fewer)
    for name, rate in rates.items():
        add(f"training.{name}", rate, "steps/s")
    add("training.whiffclock.step", 1e9 / rates["whiffclock"], "ns")
    compiled = [rate for name, rate in rates.items() if name.startswith("c.")]
    for name, rate in {"c": max(compiled, default=0), "numpy": rates["numpy"], "python": rates["python"]}.items():
        if rate:
            add(f"training.whiffclock_over_{name}", rates["whiffclock"] / rate, "ratio")
    measure_peers(add, "training", LEARNERS, task, np.zeros((0, 3), dtype=int))


if __name__ == "__main__":
    run(measure, __doc__)
