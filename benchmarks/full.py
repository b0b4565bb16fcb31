"""The full resolution of the simulation behind the paper, 1225 x 280 cells: training, evaluation, a Bayesian solve.

The plume is synthetic: the built-in one with every cell divided into about ten by ten (``stretched`` in
``benchmarks/scaling.py``), 2598 snapshots. Lengths and times are those of the paper in ten times as many cells and
steps: radius of the source 20, H = 5000 for horizon and clock, discounts to the power of 1/10. A searcher still moves
one cell per snapshot, so it is ten times slower relative to the wind. Plume "sparse".

Each stage is a process of its own, so its peak memory is its own, with about 300 MB for Python and the records. Times
without ``cpu`` are wall times.
"""

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from measurement import Add, peak_memory, run
from scaling import stretched

from whiffclock.agents.bayes import quasi_optimal, search_model
from whiffclock.agents.qlearning import Task, Training
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.params import BayesSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.policy import TablePolicy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solver import solve
from whiffclock.world.starts import make_starts, sample

THRESHOLD, HORIZON = 5e-6, 5000
EPISODES, SEARCHES = 1_000_000, 16  # of the training; of the Bayesian agent
WORLD, MODEL = WorldSettings(radius=20, start_threshold=7e-6), BayesSettings(discount=BayesSettings.discount**0.1)
SOLVER = SolverSettings(seconds=60, megabytes=4000)  # a vector has 5.5 MB
LEARNING = LearningSettings.shortened(EPISODES, horizon=HORIZON, gamma=LearningSettings.gamma**0.1)
SEEN = EvaluationSettings(snapshots=2, horizon=HORIZON, gamma=LEARNING.gamma)

Found = dict[str, tuple[float, str]]


def make_record() -> tuple[Plume, Found]:
    """The plume without its field, with whiffs: what other processes need."""
    plume = stretched(builtin_plume(), 1225, 280)
    records = [plume.whiffs(threshold) for threshold in (THRESHOLD, WORLD.start_threshold)]
    light = plume.without_field()
    for record in records:
        light.records[record.threshold] = record
    found = {"field": (plume.field.nbytes / 2**20, "MB"), "whiffs": (records[0].words.nbytes / 2**20, "MB")}
    return light, found | {"start_cells": (len(plume.starts(THRESHOLD, WORLD)), "cells")}


def train_one(plume: Plume) -> tuple[TablePolicy, Found]:
    for learning in (LearningSettings.shortened(1000), LEARNING):  # the first compiles
        training = Training(Task(plume, THRESHOLD, clock(HORIZON), learning, WORLD))
        before = time.process_time()
        training.advance(learning.episodes)
        taken = time.process_time() - before
    whole = taken * LearningSettings.episodes / EPISODES
    return training.policy(), {
        "episodes": (EPISODES, "episodes"),
        "steps_per_episode": (training.steps / EPISODES, "steps"),
        "step": (1e9 * taken / training.steps, "ns/step"),
        f"calculated.{LearningSettings.episodes}_episodes": (whole, "s"),
    }


def search_all(policy: TablePolicy, plume: Plume) -> tuple[None, Found]:
    starts = make_starts(plume, THRESHOLD, WORLD, SEEN, HORIZON)
    evaluate(policy, plume, THRESHOLD, WORLD, SEEN, starts.take(sample(starts, 2)))  # compile
    before = time.process_time()
    seen = evaluate(policy, plume, THRESHOLD, WORLD, SEEN, starts)
    rate = len(starts) / (time.process_time() - before)
    return None, {"searches": (len(starts), "searches"), "rate": (rate, "searches/s"), **quality(seen)}


def solve_one(plume: Plume) -> tuple[None, Found]:
    before = time.perf_counter()
    model = search_model(plume, THRESHOLD, MODEL, WORLD)
    found = {"model": (time.perf_counter() - before, "s"), "cells": (model.target.size, "cells")}
    solution = solve(model, SOLVER)
    first, last = solution.history[0], solution.history[-1]
    for name, state in (("first", first), ("last", last)):
        found |= {f"{name}.lower": (state.lower, "reward"), f"{name}.upper": (state.upper, "reward")}
        found |= {f"{name}.after": (state.seconds, "s"), f"{name}.vectors": (state.vectors, "vectors")}
    found |= {"backups": (last.backups, "backups"), "solver_memory": (last.megabytes, "MB")}
    found["solve.memory"] = peak_memory(), "MB"

    starts = make_starts(plume, THRESHOLD, WORLD, SEEN, HORIZON)
    some = starts.take(sample(starts, SEARCHES))
    before = time.process_time()
    seen = evaluate(quasi_optimal(model, solution.vectors), plume, THRESHOLD, WORLD, SEEN, some)
    taken = time.process_time() - before
    found |= {"decision": (1e3 * taken / seen.mode_steps.sum(), "ms"), "rate": (len(some) / taken, "searches/s")}
    return None, found | {"searches": (len(some), "searches"), **quality(seen)}


def quality(seen: Any) -> Found:
    names = {"f_plus": "f+", "speed": "T_min/T", "return": "G"}
    return {name: (seen.mean(metric), "1") for name, metric in names.items()}


def timed(work: Callable[..., tuple[Any, Found]], arguments: tuple[Any, ...]) -> tuple[Any, Found]:
    wall, cpu = time.perf_counter(), time.process_time()
    result, found = work(*arguments)
    taken = {"time": (time.perf_counter() - wall, "s"), "cpu_time": (time.process_time() - cpu, "s")}
    return result, taken | {"memory": (peak_memory(), "MB")} | found


def measure(add: Add) -> None:
    def stage(name: str, work: Callable[..., tuple[Any, Found]], *arguments: Any) -> Any:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            result, found = pool.submit(timed, work, arguments).result()
        for what, (value, unit) in found.items():
            add(f"full.{name}.{what}", value, unit)
        return result

    plume = stage("record", make_record)
    policy = stage("training", train_one, plume)
    stage("evaluation", search_all, policy, plume)
    stage("bayes", solve_one, plume)


if __name__ == "__main__":
    run(measure, __doc__)
