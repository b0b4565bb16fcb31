"""Sweeps: from a grid of settings to jobs, and from their results to one dataset.

At every point of the grid, one agent per seed is trained, and tested with the same plume, threshold and world. The
dataset has a dimension for each swept setting, named as in the sweep (but ``evaluation_gamma`` for
``evaluation.gamma``), and the dimension ``seed``. Its variables are the metrics of the tests, means over all starts.

- A number is its own label. Where a setting has values that are not numbers, all labels are texts.
- Attributes: ``sweep`` (what was given), ``fixed`` (all settings that are the same at all points), ``plumes``
  (fingerprint and origin, by name), all three in JSON; ``version`` of the package.
"""

import itertools
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

import numpy as np
import xarray as xr

from whiffclock import __version__
from whiffclock.environments import Environments
from whiffclock.evaluation import METRICS
from whiffclock.formatting import plainly
from whiffclock.memory import parse_memory
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, Settings, WorldSettings, require
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.reading.files import read_plume
from whiffclock.runs.jobs import ONE_THREAD, Engine, Job, JobStore, Tick, execute, missing, run, work_in
from whiffclock.runs.kinds import Evaluate, Train
from whiffclock.runs.sweepfile import BUILTIN, CLASSES, NO_TAU, OWN, Grid, memory_settings, read_sweep
from whiffclock.world.starts import start_cells

#: An estimate of time trains at most this many agents, each for about this many steps and at least these episodes.
_SAMPLED, _SAMPLED_STEPS, _FEWEST_EPISODES = 8, 10**7, 600


@dataclass(frozen=True)
class Sweep:
    """A sweep that can run: its grid, its plumes by name, and a test of an agent for every point and seed."""

    grid: Grid
    plumes: dict[str, Plume]
    tests: list[Evaluate]  # in the order of the dimensions

    @classmethod
    def of(cls, source: Path | str | Mapping[str, Any]) -> Self:
        """Read a sweep and its plumes; whatever cannot run is refused."""
        grid = read_sweep(source)
        folder = Path() if grid.place.path is None else grid.place.path.parent
        plumes = {name: _open(name, folder, grid) for name in grid.values["plume"]}
        grid = _with_thresholds(grid, plumes)
        return cls(grid, plumes, _tests(grid, plumes))

    @property
    def environments(self) -> Environments:
        """Those of its first plume."""
        return next(iter(self.plumes.values())).environments

    @property
    def shape(self) -> dict[str, int]:
        """Dimensions of the dataset."""
        sizes = {dimension(name): len(self.grid.values[name]) for name in self.grid.swept}
        return sizes | {"seed": len(self.grid.values["seeds"])}

    def plume_of(self, test: Evaluate) -> Plume:
        """The plume of a test."""
        return next(plume for plume in self.plumes.values() if plume.fingerprint == test.plume)

    def by_plume(self) -> list[tuple[Plume, list[Evaluate]]]:
        """Each plume with its tests."""
        return [(plume, [t for t in self.tests if t.plume == plume.fingerprint]) for plume in self.plumes.values()]

    def work(self, store: JobStore) -> int:
        """Work that is left to do, in searches."""
        return sum(work_in(missing(tests, store), plume) for plume, tests in self.by_plume())

    def run(self, store: JobStore, engine: Engine = ONE_THREAD, progress: Tick | None = None) -> xr.Dataset:
        """Compute what is missing in the store; return the dataset."""
        for plume, tests in self.by_plume():
            execute(tests, plume, store, engine, progress)
        return self.dataset(store)

    def dataset(self, store: JobStore) -> xr.Dataset:
        """The results, all of which are in the store."""
        shape, swept = self.shape, {dimension(name): name for name in self.grid.swept}
        results = [run(test, self.plume_of(test), store) for test in self.tests]
        made = xr.Dataset(attrs=self._facts())
        for at, name in swept.items():
            about = {"setting": name, "long_name": describe(name)}
            about |= {"environments": self.environments.text} if name == "threshold" else {}
            made[at] = at, labels(self.grid.values[name]), about
        made["seed"] = list(self.grid.values["seeds"])
        for metric in METRICS:
            means = np.reshape([result.mean(metric) for result in results], [*shape.values()])
            name = metric.replace("/", "_over_")  # names in NetCDF files have no slash
            made[name] = tuple(shape), means, {"metric": metric}
        return made

    def _facts(self) -> dict[str, str]:
        """Given settings, settings that are the same at all points, and plumes."""
        grid = self.grid
        given = {name: labels(values).tolist() for name, values in grid.values.items()}
        resolved = [_resolved(test) for test in self.tests]
        fixed = {
            name: value
            for name, value in resolved[0].items()
            if name not in grid.swept and all(one.get(name) == value for one in resolved)
        }
        plumes = {
            name: {"fingerprint": one.fingerprint, "origin": one.origin, "environments": dict(one.environments)}
            for name, one in self.plumes.items()
        }
        facts = {"sweep": given, "fixed": fixed, "plumes": plumes}
        return {name: json.dumps(value) for name, value in facts.items()} | {"version": __version__}


def results_in(folder: Path) -> Path:
    """Where the results of a sweep are cached."""
    return folder / "runs"


def dimension(name: str) -> str:
    """The dimension of a swept setting."""
    return name.replace(".", "_")


def labels(values: Sequence[Any]) -> np.ndarray:
    """Values of a setting as labels: numbers, truth values, or texts for all of them."""
    plain = [_label(value) for value in values]
    if len({isinstance(value, bool) for value in plain}) == 1 and not any(isinstance(value, str) for value in plain):
        return np.array(plain)
    return np.array([spelled(value) for value in plain])


def spelled(value: Any) -> str:
    """A label as text: 7e-6, 100000, true."""
    if isinstance(value, float):
        return plainly(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _label(value: Any) -> Any:
    if value is None:
        return OWN
    if isinstance(value, tuple):  # tau
        return value[0] if len(value) == 1 else ",".join(map(str, value)) or NO_TAU
    return value


def describe(name: str) -> str:
    """The description of a setting; empty if it has none."""
    table, _, own = name.rpartition(".")
    texts: list[str] = []
    for kind in CLASSES[f"{table}." if table else ""]:
        notes = get_args(get_type_hints(kind, include_extras=True).get(own))[1:]
        texts += [note.rstrip(".") for note in notes if isinstance(note, str)]
    return "".join(texts[:1])


def _open(name: str, folder: Path, grid: Grid) -> Plume:
    try:
        return builtin_plume() if name == BUILTIN else read_plume(folder / name)
    except InputError as error:
        raise grid.place.refusal(str(error), "plume") from error


def _with_thresholds(grid: Grid, plumes: Mapping[str, Plume]) -> Grid:
    """The same with a number for the name of an environment, which must mean the same in all plumes."""

    def number(given: str | float) -> float:
        found = {plume.environments.threshold_of(given, "threshold") for plume in plumes.values()}
        several = f"threshold is {given!r}, which differs between the plumes; give numbers, or one plume"
        require(len(found) == 1, f"{several}.")
        return found.pop()

    try:
        thresholds = [number(given) for given in grid.values["threshold"]]
    except InputError as error:
        raise grid.place.refusal(str(error), "threshold") from error
    for twice in {one for one in thresholds if thresholds.count(one) > 1}:
        raise grid.place.refusal(f"threshold has the value {plainly(twice)} twice.", "threshold")
    return replace(grid, values=grid.values | {"threshold": thresholds})


def _tests(grid: Grid, plumes: Mapping[str, Plume]) -> list[Evaluate]:
    """A test for each point and seed; a point that cannot run, or is there twice, is refused."""
    fixed = {name: values[0] for name, values in grid.values.items() if name not in grid.swept and name != "seeds"}
    tests: list[Evaluate] = []
    points: dict[str, dict[str, Any]] = {}
    checked: set[tuple] = set()
    for values in itertools.product(*(grid.values[name] for name in grid.swept)):
        swept = dict(zip(grid.swept, values, strict=True))
        point = fixed | swept
        try:
            test = _test(point, plume := plumes[point["plume"]])
            starts = test.plume, test.threshold, test.world, test.settings, training(test).learning.horizon
            if starts not in checked:
                test.starts(plume)
                start_cells(plume, test.threshold, test.world, training(test).learning.horizon)
                checked.add(starts)
        except InputError as error:
            raise _refused(grid, point, str(error)) from error
        other = points.setdefault(test.key, swept)
        require(other is swept, f"These points of the sweep are the same: {_text_of(other)}; {_text_of(swept)}.")
        tests += [replace(test, policy=replace(training(test), seed=seed)) for seed in grid.values["seeds"]]
    return tests


def _test(point: Mapping[str, Any], plume: Plume) -> Evaluate:
    """The test of the agent with seed 0 at a point."""
    learning = LearningSettings.shortened(**({"episodes": LearningSettings.episodes} | _own(LearningSettings, point)))
    world = plume.settle(WorldSettings(**_own(WorldSettings, point)))
    settings = EvaluationSettings(**_own(EvaluationSettings, point, "evaluation."))
    memory = parse_memory(point["memory"], **({"length": learning.horizon} | memory_settings(point)))
    train = Train(plume.fingerprint, point["threshold"], memory, learning, world)
    return Evaluate(train, plume.fingerprint, point["threshold"], world, settings)


def _own(kind: type[Settings], point: Mapping[str, Any], table: str = "") -> dict[str, Any]:
    return {f.name: point[table + f.name] for f in fields(kind) if table + f.name in point}


def _refused(grid: Grid, point: Mapping[str, Any], sentence: str) -> InputError:
    """An error that names its point: the swept settings, and others that the sentence mentions."""
    named = [name for name in point if name in grid.swept or re.search(rf"\b{name.rpartition('.')[2]}\b", sentence)]
    lines = {name: grid.place.line(name) for name in named}
    texts = [_text_of({name: point[name]}) + f" (line {line})" * (line is not None) for name, line in lines.items()]
    return grid.place.refusal(f"{' and '.join(texts)}: {sentence}" if texts else sentence)


def _text_of(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {spelled(_label(value))}" for name, value in point.items())


def _resolved(test: Evaluate) -> dict[str, Any]:
    """Everything that determines a test, under the names of a sweep."""
    train, names = training(test), {"maker": "memory", "taus": "tau"}
    memory = {names.get(name, name): value for name, value in train.memory.spec.items()}
    evaluation = {f"evaluation.{name}": value for name, value in test.settings.to_dict().items()}
    return {"threshold": train.threshold} | memory | train.learning.to_dict() | train.world.to_dict() | evaluation


def training(test: Evaluate) -> Train:
    """The training of the agent of a test."""
    assert isinstance(test.policy, Train)
    return test.policy


def estimate(sweep: Sweep, store: JobStore) -> float:
    """About how many core-seconds the missing results will take, from short trainings and tests of a few points.

    The time of a training is taken to grow with episodes times horizon. Nothing is stored.
    """
    todo = [test for test in sweep.tests if not store.has(test)]
    if not todo:
        return 0.0
    trainings, per_step, per_test = [t for t in map(training, todo) if not store.has(t)], [], []
    for test in todo[:: math.ceil(len(todo) / _SAMPLED)]:
        job, plume = training(test), sweep.plume_of(test)
        episodes = min(job.learning.episodes, max(_FEWEST_EPISODES, _SAMPLED_STEPS // job.learning.horizon))
        short = replace(job, learning=job.learning.scaled(episodes))
        timed(replace(job, learning=job.learning.scaled(_FEWEST_EPISODES)), plume, {})  # to compile
        policy, seconds = timed(short, plume, {})
        per_step.append(seconds / (episodes * job.learning.horizon))
        per_test.append(timed(test, plume, {"policy": policy})[1])
    steps = sum(job.learning.episodes * job.learning.horizon for job in trainings)
    return float(np.mean(per_step) * steps + np.mean(per_test) * len(todo))


def timed(job: Job, plume: Plume, needed: dict[str, Any]) -> tuple[Any, float]:
    """The result of a job, and the seconds of processor time that it took."""
    began = time.thread_time()
    result = job.compute(plume, needed, lambda amount: None)
    return result, time.thread_time() - began
