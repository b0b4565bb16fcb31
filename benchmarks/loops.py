"""The hot loops of the package, each as a small piece of work whose instructions can be counted.

The function of a loop prepares it and returns ``work(size)``, which does so much work and returns how many units of it
were done. ``instructions.py`` counts them.
"""

from __future__ import annotations

import ctypes
import gc
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba.core.event import install_recorder

from whiffclock.agents.bayes import BeliefPolicy, search_model
from whiffclock.agents.beliefs import Beliefs, Choice, by_infotaxis, by_vectors
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.qlearning import Task, Training
from whiffclock.evaluation import EvaluationSettings, evaluate
from whiffclock.memory import clock
from whiffclock.params import LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.simulate.channel import ChannelFlow
from whiffclock.plume.simulate.filaments import Filaments
from whiffclock.plume.simulate.recipe import FlowSettings, OdorSettings
from whiffclock.plume.toy import toy_plume
from whiffclock.plume.whiffs import threshold_field
from whiffclock.pomdp.blocks import BlockModel
from whiffclock.pomdp.gridsearch import GridSearch, GridVectors
from whiffclock.pomdp.model import Model
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.pomdp.tabular import TabularModel
from whiffclock.world.starts import Starts, make_starts

THRESHOLD = 3e-6
Work = Callable[[int], int]


@dataclass(frozen=True)
class Loop:
    """How to prepare it, its unit of work, and the size to count it with, beside twice that size."""

    prepare: Callable[[], Work]
    unit: str
    size: int


LOOPS: dict[str, Loop] = {}


def loop(name: str, unit: str, size: int) -> Callable[[Callable[[], Work]], Callable[[], Work]]:
    """Decorator: add a loop."""

    def add(prepare: Callable[[], Work]) -> Callable[[], Work]:
        LOOPS[name] = Loop(prepare, unit, size)
        return prepare

    return add


@cache
def plume() -> Plume:
    """A small plume."""
    return toy_plume(200, 60, 27)


@cache
def model() -> GridSearch:
    """The search in a smaller one as a POMDP."""
    return search_model(toy_plume(200, 40, 15), THRESHOLD)


EPISODES = 1000
TRAININGS: dict[str, dict[str, Any]] = {
    "training": {},
    "training.two-Q": {"taus": (10,)},
    "training.record": {"record_last": EPISODES},
    "training.two-Q.record": {"taus": (10,), "record_last": EPISODES},
    "training.cut": {"bootstrap_at_horizon": False, "start_on_whiff": True},
    "training.trace": {"trace": 0.9},
}


def trained(taus: tuple[int, ...] = (), start_on_whiff: bool = False, **learning: Any) -> Work:
    """The first episodes of a training."""
    settings = LearningSettings.shortened(EPISODES, **{"record_last": 1} | learning)
    world = WorldSettings(start_threshold=None, start_on_whiff=start_on_whiff)
    task = Task(plume(), THRESHOLD, clock(500, taus), settings, world)

    def work(size: int) -> int:
        training = Training(task)
        training.advance(size)
        return training.steps

    return work


for name, how in TRAININGS.items():
    loop(name, "step", 200)(partial(trained, **how))


@loop("rollout", "step", 400)
def rollout() -> Work:
    policy, world = cast_and_surge(45), WorldSettings(start_threshold=None)
    starts = make_starts(plume(), THRESHOLD, world, EvaluationSettings(), 500)
    order = np.random.default_rng(0).permutation(len(starts))

    def work(size: int) -> int:
        some = order[:size]
        chosen = Starts(starts.points[some], starts.stratum[some], starts.shortest[some])
        return int(evaluate(policy, plume(), THRESHOLD, world, starts=chosen).mode_steps.sum())

    return work


def beliefs(size: int) -> Beliefs:
    """So many beliefs, each over all cells of the model."""
    cells = np.flatnonzero(~model().in_target).astype(np.int32)
    none, all_of_them = np.zeros(size, dtype=np.int64), np.full(size, len(cells))
    return Beliefs(np.arange(size), none, all_of_them, cells, np.full(len(cells), 1 / len(cells)), none, none)


@loop("belief.update", "cell", 16)
def belief_update() -> Work:
    policy = BeliefPolicy("none", model(), lambda model, beliefs: np.zeros(len(beliefs.start), dtype=np.int8))

    def work(size: int) -> int:
        after = policy.observe(beliefs(size), np.arange(size) % 4, np.zeros(size, dtype=bool))
        return int(after.size.sum())

    return work


def decided(choose: Choice, size: int) -> int:
    """Cells of beliefs for which an action was chosen."""
    choose(model(), beliefs(size))
    return int(beliefs(size).size.sum())


@loop("belief.vectors", "cell", 16)
def belief_vectors() -> Work:
    return partial(decided, by_vectors(GridVectors(model())))


@loop("belief.infotaxis", "cell", 4)
def belief_infotaxis() -> Work:
    return partial(decided, by_infotaxis)


@cache
def tables() -> BlockModel:
    """A random POMDP without structure."""
    rng = np.random.default_rng(0)
    states, actions, observations = 30, 3, 4
    transition = [sp.csr_array(rng.dirichlet(np.full(states, 0.05), states)) for _ in range(actions)]
    observation = [sp.csr_array(rng.dirichlet(np.ones(observations), states)) for _ in range(actions)]
    reward, initial = rng.random((actions, states)), np.full(states, 1 / states)
    return BlockModel(TabularModel(tuple(transition), tuple(observation), reward, initial, 0.9))


def solving(model: Model) -> Work:
    """The whole solver, after its first bounds."""
    return lambda size: solve(model, SolverSettings(seconds=None, gap=0.0, backups=size)).backups


def repeated(once: Callable[[], object]) -> Work:
    """The same again and again."""

    def work(size: int) -> int:
        for _ in range(size):
            once()
        return size

    return work


def spreading(model: Model) -> Work:
    """All children of a belief."""
    return repeated(partial(model.spread, model.root()))


def comparing(model: Model) -> Work:
    """The best vectors of the children of a belief."""
    spread, vectors = model.spread(model.root()), model.vectors()
    pick = np.zeros(len(spread.probability), dtype=np.int64)
    return repeated(lambda: vectors.improve(spread, 0, np.full(len(pick), -np.inf), pick))


def backing_up(model: Model) -> Work:
    """A new vector from those of the children."""
    spread, vectors = model.spread(model.root()), model.vectors()
    return repeated(partial(vectors.back_up, spread, 0, np.zeros(len(spread.probability), dtype=np.int64)))


def interpolating(model: Model) -> Work:
    """Upper bounds of the children of a belief, with some beliefs whose bound is known."""
    spread, bound = model.spread(model.root()), model.upper()
    for edge in range(len(spread.probability)):
        belief = model.child(spread, edge)
        bound.learn(belief, 0.99 * bound.at(belief))
    return repeated(lambda: bound.children(spread, -1, np.full(len(spread.probability), np.inf)))


for name, made in (("search", model), ("tables", tables)):
    loop(f"sarsop.{name}", "backup", 100)(lambda made=made: solving(made()))
    loop(f"sarsop.{name}.spread", "belief", 10)(lambda made=made: spreading(made()))
    loop(f"sarsop.{name}.vectors", "belief", 10)(lambda made=made: comparing(made()))
    loop(f"sarsop.{name}.back_up", "vector", 10)(lambda made=made: backing_up(made()))
    loop(f"sarsop.{name}.upper", "belief", 10)(lambda made=made: interpolating(made()))


def flow() -> ChannelFlow:
    """A small channel."""
    return ChannelFlow(FlowSettings(points=(24, 24, 16)), np.random.default_rng(0))


def filaments(flow: ChannelFlow) -> Filaments:
    """Odor in it, released for some time."""
    odor = Filaments(OdorSettings(), 60, 27, np.random.default_rng(0))
    odor.release(flow, 1000, 20.0)
    return odor


@loop("plume.flow", "step", 1)
def plume_flow() -> Work:
    return repeated(partial(flow().step, 0.01))


@loop("plume.filaments", "filament", 2)
def plume_filaments() -> Work:
    air = flow()

    def work(size: int) -> int:
        odor, moved = filaments(air), 0
        for _ in range(size):
            odor.predict(air)
            odor.correct(air, 0.1)
            moved += len(odor.age)
        return moved

    return work


@loop("plume.slice", "slice", 2)
def plume_slice() -> Work:
    air = flow()
    return repeated(partial(filaments(air).sample, air.settings.depth))


@loop("whiffs.pack", "cell", 100)
def whiffs_pack() -> Work:
    field = plume().field

    def work(size: int) -> int:
        threshold_field(field[:size], THRESHOLD, plume().source)
        return field[:size].size

    return work


@loop("whiffs.unpack", "cell", 30)
def whiffs_unpack() -> Work:
    whiffs = plume().whiffs(THRESHOLD)
    return lambda size: whiffs.record(slice(0, size)).size


def count(library: str, names: list[str]) -> None:
    """Do the work of these loops, counted; print the units of work by name, and the number of compilations."""
    counter, units = ctypes.CDLL(library), {}
    gc.disable()  # it would run in some of the counted parts, and not in others
    with install_recorder("numba:compile") as compilations:
        for name in names:
            work, size = LOOPS[name].prepare(), LOOPS[name].size
            work(2 * size)  # loads what is compiled
            for now in (size, 2 * size):
                counter.start()
                done = work(now)
                counter.stop(f"{name} {now}".encode())
                units[f"{name} {now}"] = done
    print(json.dumps({"units": units, "compilations": len(compilations.buffer)}))
