"""The leaderboard: agents on a fixed suite of searches, each in the same turbulence, none of which they have seen.

The suite is the second half of a record, in all environments of the plume; two simulated records; the windy cases of a
published benchmark (:mod:`whiffclock.runs.windy`); and records that a user adds. Agents are trained in the first half.
A score is a job like any other and stays in the store, with the time that a decision took: who adds an agent runs only
that one. A change of the suite, or of what a score is, increases :data:`SUITE`.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.agents.bayes import BeliefPolicy, infotaxis, qmdp
from whiffclock.agents.castsurge import ANGLES, NAME, cast_and_surge
from whiffclock.agents.compose import heuristic_two_q
from whiffclock.agents.shipped import shipped
from whiffclock.archive import array_named
from whiffclock.evaluation import METRICS
from whiffclock.memory import clock, controller, window
from whiffclock.params import (
    BayesSettings,
    EvaluationSettings,
    LearningSettings,
    OptimizeSettings,
    Settings,
    WorldSettings,
    require,
)
from whiffclock.plume import Plume
from whiffclock.policy import Policy, SavedPolicy, TablePolicy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.progress import Bar
from whiffclock.runs.comparison import best, evaluations
from whiffclock.runs.jobs import Arrays, Engine, Job, JobStore, Tick, execute, missing, run, work_in
from whiffclock.runs.kinds import Evaluate, Given, Solve, Train
from whiffclock.runs.programs import program_search, search_programs
from whiffclock.runs.store import damaged_record
from whiffclock.runs.windy import windy_jobs, windy_results

if TYPE_CHECKING:
    import xarray as xr

#: Version of the suite.
SUITE = 2
#: Seeds of the two simulated records (``whiffclock plume simulate --seed``).
OTHER_SEEDS = (1, 2)
#: Nodes of the searched controller, and the share of the first half in which it is searched; the rest is its test.
_NODES, _SEARCHED = 32, 0.9
_TAU = 10
#: What making an agent took, for those of the user.
YOURS = "yours"
_HORIZON = LearningSettings.horizon


@dataclass(frozen=True)
class Size(Settings):
    """How long agents are trained, and in how many searches they are tested."""

    episodes: int
    seeds: int
    backups: int  # of the solver
    snapshots: int  # start times per cell
    sampled: int  # searches of an agent with a belief, in each environment
    candidates: int  # of the search for a controller
    windy: int  # searches in each windy case
    windy_backups: int  # of the solver, in each


SIZES = {
    "quick": Size(100_000, 1, 50, 4, 64, 8_000, 400, 6_000),
    "paper": Size(3_000_000, 5, 3_000, 16, 1_000, 200_000, 10_000, 60_000),
}


@dataclass(frozen=True)
class Entrant:
    """An agent in the suite: its policy, the environment it was made for ("" for none), and what making it took."""

    agent: str
    policy: Policy
    trained: str = ""
    training: str = ""
    given: Given = field(init=False)
    word: str = ""  # that names a policy of the user

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", _given(self.policy, self.word))

    @property
    def bits(self) -> float:
        """Bits of memory: of the number of states, or of a belief in double precision; NaN where it is not known."""
        if isinstance(self.policy, TablePolicy):
            return float(math.ceil(math.log2(len(self.policy.memory.row)))) if len(self.policy.memory.row) > 1 else 0.0
        if isinstance(self.policy, BeliefPolicy):
            return 64.0 * int(np.count_nonzero(self.policy.model.initial))
        return float(getattr(self.policy, "bits", math.nan))


def _given(policy: Policy, word: str) -> Given:
    """A policy as a job; one without a file is what its module says, so that a changed module is another policy."""
    source = None if isinstance(policy, SavedPolicy) else inspect.getsourcefile(type(policy))
    if source is None:
        return Given.of(policy)
    content = Path(source).read_bytes() + f" {word} {type(policy).__qualname__}".encode()
    return Given(policy.name, hashlib.sha256(content).hexdigest()[:20], policy)


@dataclass(frozen=True)
class Scored:
    """What a score consists of: means and standard errors by metric, and seconds per decision."""

    mean: np.ndarray
    error: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Score(Evaluate):
    """An evaluation of which only the means are kept, and the time that a decision took."""

    kind, verb, revision = "score", "scoring", SUITE

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> Any:
        warm = Evaluate(self.policy, self.plume, self.threshold, self.world, self.settings, 1)
        warm.compute(plume, needed, lambda amount: None)  # compiled code is loaded
        before = time.thread_time()
        found = super().compute(plume, needed, tick)
        seconds = (time.thread_time() - before) / max(1, int(found.mode_steps.sum()))
        errors = [found.standard_error(metric) for metric in METRICS]
        return Scored(np.array([found.mean(metric) for metric in METRICS]), np.array(errors), seconds)

    def pack(self, result: Any) -> Arrays:
        return {"mean": result.mean, "error": result.error, "seconds": np.array([result.seconds])}

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> Any:
        with damaged_record(path):
            mean, error = (_finite(arrays, name) for name in ("mean", "error"))
            return Scored(mean, error, float(array_named(arrays, "seconds", "f", (1,), 0)[0]))


def _finite(arrays: Arrays, name: str) -> np.ndarray:
    require(name in arrays and arrays[name].shape == (len(METRICS),), f"it has no {name} of each metric")
    return arrays[name]


def our_entrants(plume: Plume, size: Size, store: JobStore, engine: Engine, bar: Bar) -> list[Entrant]:
    """All agents of this package, made in one part of a record; only what is not stored is computed."""
    world, places = plume.settle(), dict(plume.environments.items())
    learning = LearningSettings.shortened(size.episodes)
    memories = {"single-Q": clock(), "two-Q": clock(_HORIZON, (_TAU,)), "window-4": window(4)}
    trainings = {
        (agent, name): [Train(plume.fingerprint, at, memory, learning, world, seed) for seed in range(size.seeds)]
        for agent, memory in memories.items()
        for name, at in places.items()
    }
    solver = SolverSettings(seconds=None, backups=size.backups)
    solved = {name: Solve(plume.fingerprint, at, world, BayesSettings(), solver) for name, at in places.items()}
    jobs: list[Job] = [*(job for some in trainings.values() for job in some), *solved.values()]
    bar.begin("making agents", work_in(missing(jobs, store), plume))
    execute(jobs, plume, store, engine, bar.advance)

    def trained(agent: str, name: str) -> list[TablePolicy]:
        return [run(job, plume, store) for job in trainings[agent, name]]

    found = [_cast(plume, name, at, size, store, engine, bar) for name, at in places.items()]
    took = f"{size.episodes / 1000:g}k ep."
    found += [Entrant(agent, one, name, took) for agent, name in trainings for one in trained(agent, name)]
    pair = plume.environments.pair
    if pair:
        both = zip(trained("single-Q", pair[0]), trained("single-Q", pair[1]), strict=True)
        found += [Entrant("2Q^h", heuristic_two_q(one, two, _TAU), "", f"2 x {took}") for one, two in both]
    search = OptimizeSettings(candidates=size.candidates, chains=1, train_share=_SEARCHED)
    searches = [program_search([plume], [name], search, controller(_NODES), WorldSettings())[1] for name in places]
    for name, job in zip(places, search_programs(searches, plume, store, engine, bar), strict=True):
        found.append(Entrant("searched controller", run(job, plume, store), name, f"{size.candidates / 1000:g}k cand."))
    for name in shipped():
        made = shipped(name).made_from
        here = made.get("environment", "") if made.get("environment") in places else ""
        seconds = made["optimize"]["seconds"] * made["optimize"]["chains"]
        found.append(Entrant("searched clock" if here else "robust clock", shipped(name), here, f"{seconds:g} s"))
    makers: dict[str, Callable[[str], Policy]] = {
        "QMDP": lambda name: qmdp(plume, name),
        "infotaxis": lambda name: infotaxis(plume, name),
        "space-aware infotaxis": lambda name: infotaxis(plume, name, space_aware=True),
        "Bayesian": lambda name: run(solved[name], plume, store),
    }
    for agent, maker in makers.items():
        cost = f"{size.backups:,} backups" if agent == "Bayesian" else "none"
        found += [Entrant(agent, maker(name), name, cost) for name in places]
    return found


def _cast(
    plume: Plume, name: str, at: float, size: Size, store: JobStore, engine: Engine, bar: Bar
) -> Entrant:  # fmt: skip
    """Cast-and-surge at the angle that is best in the part of the record for training."""
    how = EvaluationSettings(size.snapshots, horizon=_HORIZON)
    casts = [cast_and_surge(angle) for angle in ANGLES]
    tests = [Evaluate(Given.of(one), plume.fingerprint, at, plume.settle(), how) for one in casts]
    chosen = best(evaluations(tests, plume, store, engine, bar))
    return Entrant(NAME, casts[chosen], name, f"{len(ANGLES)} angles")


def scores(
    entrants: Sequence[Entrant], places: Mapping[str, Plume], size: Size, store: JobStore, engine: Engine, bar: Bar
) -> xr.Dataset:
    """Scores by entrant, place (a record and an environment) and metric; NaN where an entrant was not tested.

    In the first place, the suite's own record, agents are tested in all environments; in others in the one they were
    made for, if the record has one of this name.
    """
    import xarray as xr

    tests: dict[tuple[int, str], tuple[Plume, Score]] = {}
    for number, (record, plume) in enumerate(places.items()):
        for name, at in plume.environments.items():
            for i, one in enumerate(entrants):
                if number == 0 or one.trained in ("", name):
                    tests[i, f"{record}, {name}"] = plume, _score(one, plume, at, size)
    for plume in places.values():
        jobs = [job for where, job in tests.values() if where is plume]
        bar.begin("testing agents", work_in(missing(jobs, store), plume))
        execute(jobs, plume, store, engine, bar.advance)
    names = list(dict.fromkeys(place for _, place in tests))
    values = np.full((2, len(entrants), len(names), len(METRICS)), np.nan)
    seconds = np.full((len(entrants), len(names)), np.nan)
    for (i, place), (plume, job) in tests.items():
        found, at = run(job, plume, store), names.index(place)
        values[:, i, at], seconds[i, at] = (found.mean, found.error), found.seconds
    dims = ("entrant", "place", "metric")
    about = {
        "agent": [one.agent for one in entrants],
        "trained": [one.trained for one in entrants],
        "training": [one.training for one in entrants],
        "bits": [one.bits for one in entrants],
    }
    return xr.Dataset(
        {"mean": (dims, values[0]), "error": (dims, values[1]), "seconds": (dims[:2], seconds)}
        | {name: ("entrant", np.array(column)) for name, column in about.items()},
        coords={"place": names, "metric": list(METRICS)},
        attrs={
            "suite": SUITE,
            "record": next(iter(places)),
            "plumes": ", ".join(p.fingerprint for p in places.values()),
        },
    )


def windy_scores(
    entrants: Sequence[Entrant], ours: bool, plume: Plume, size: Size, store: JobStore, engine: Engine, bar: Bar
) -> xr.Dataset:
    """Results in the windy cases: of the user's agents, those made for no environment, and ours with a belief."""
    some = [(one.agent, one.given) for one in entrants if one.training == YOURS or not one.trained]
    known = [(agent, given) for agent, given in some if not isinstance(given.policy, BeliefPolicy)]
    jobs = windy_jobs(list(dict(known).items()), size.windy, size.windy_backups if ours else 0)
    bar.begin("windy cases", work_in(missing([*jobs.values()], store), plume))
    execute([*jobs.values()], plume, store, engine, bar.advance)
    return windy_results(jobs, plume, store)


def _score(one: Entrant, plume: Plume, at: float, size: Size) -> Score:
    how = EvaluationSettings(size.snapshots, horizon=_HORIZON)
    sampled = size.sampled if isinstance(one.policy, BeliefPolicy) else None
    return Score(one.given, plume.fingerprint, at, plume.settle(), how, sampled)


@dataclass(frozen=True)
class Line:
    """An agent on the board: means over its entrants and the environments, at home and elsewhere."""

    agent: str
    reward: float
    error: float
    arrival: float
    failed: float
    elsewhere: float
    others: float  # reward in the other records
    bits: float
    microseconds: float
    training: str


def lines(data: xr.Dataset) -> list[Line]:
    """The board, the highest reward first. An agent that was made for no environment is at home in all."""
    found = []
    for agent in dict.fromkeys(data["agent"].values.tolist()):
        some = data.sel(entrant=data["agent"].values == agent)
        environment = np.array([place.removeprefix(f"{data.attrs['record']}, ") for place in data["place"].values])
        own = np.array([place.startswith(f"{data.attrs['record']}, ") for place in data["place"].values])
        trained = some["trained"].values[:, None]
        home = own & ((trained == environment) | (trained == ""))
        away = own & ~home
        mean = {name: some["mean"].sel(metric=name).values for name in ("G", "T_min/T", "f+")}
        errors = some["error"].sel(metric="G").values[home]
        found.append(
            Line(
                agent,
                float(mean["G"][home].mean()),
                float(np.sqrt((errors**2).sum())) / len(errors),
                float(mean["T_min/T"][home].mean()),
                float(1 - mean["f+"][home].mean()),
                _mean(mean["G"][away]),
                _mean(mean["G"][:, ~own]),
                float(some["bits"].values.mean()),
                1e6 * float(some["seconds"].values[home].mean()),
                str(some["training"].values[0]),
            )
        )
    return sorted(found, key=lambda line: -line.reward)


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
