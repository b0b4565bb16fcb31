"""Evaluations of policies, and comparisons of ensembles on the same starts.

Policies that differ in their seed alone are an ensemble. Cast-and-surge takes part with the angle that has
the highest mean G.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.agents.castsurge import ANGLES
from whiffclock.agents.compose import HEURISTIC, heuristic_two_q
from whiffclock.agents.own import is_file, policy_named
from whiffclock.evaluation import METRICS, Evaluation
from whiffclock.params import EvaluationSettings, LearningSettings, WorldSettings, require
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy
from whiffclock.progress import Bar
from whiffclock.runs.jobs import Account, Engine, Job, JobStore, execute, missing, run, work_in
from whiffclock.runs.kinds import CastAndSurge, Evaluate, Given, HeuristicTwoQ, trained_horizon

if TYPE_CHECKING:
    import xarray as xr

#: What policies of one ensemble may differ in, or what follows from the rest.
_OF_ONE_AGENT = {
    "seed", "version", "origin", "plume_origin", "environment", "episodes_played", "kept_at", "found", "searched_at",
}  # fmt: skip


def best(evaluations: Sequence[Evaluation]) -> int:
    """Index of the evaluation with the highest mean G; the first if there are several."""
    return int(np.argmax([evaluation.mean("G") for evaluation in evaluations]))


def find_policies(paths: Sequence[Path]) -> list[tuple[Path, Policy]]:
    """Policies from files and folders (with all folders in them that are not hidden), in order of name.

    Others are named as :func:`whiffclock.agents.own.policy_named` takes them.
    """
    files: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.npz")) if path.is_dir() else [path]
        shown = [file for file in inside if not any(p.startswith(".") for p in file.relative_to(path).parts)]
        require(bool(shown), f"There are no policies in {path}.")
        files += shown
    require(bool(files), "No policy was given; name files or folders.")
    return [(file, policy_named(file)) for file in files]


def label_of(path: Path) -> str:
    """A policy in tables: its file with the last folder, or what else names it."""
    return f"{path.parent.name}/{path.stem}" if is_file(path) else str(path)


@dataclass(frozen=True)
class Row:
    """One kind of agent in one environment: an ensemble of evaluations."""

    environment: str
    agent: str
    evaluations: Sequence[Evaluation]
    note: str = ""

    @property
    def best(self) -> Evaluation:
        """The evaluation with the highest G."""
        return self.evaluations[best(self.evaluations)]

    def values(self, metric: str) -> np.ndarray:
        """One mean per agent of the ensemble."""
        return np.array([e.mean(metric) for e in self.evaluations])

    def to_dict(self) -> dict[str, Any]:
        """Plain values: quartiles and range over the ensemble, standard error of the best agent."""
        quartiles = ("min", "q1", "median", "q3", "max")
        values = {metric: np.quantile(self.values(metric), [0, 0.25, 0.5, 0.75, 1]).tolist() for metric in METRICS}
        return {
            "environment": self.environment,
            "agent": self.agent,
            "n": len(self.evaluations),
            "note": self.note,
            **{metric: dict(zip(quartiles, five, strict=True)) for metric, five in values.items()},
            "best": self.best.to_dict(),
        }

    def to_xarray(self) -> xr.Dataset:
        """Means by agent and metric, and the same by time stratum."""
        import xarray as xr

        means = np.stack([self.values(metric) for metric in METRICS], axis=1)
        strata = np.stack([evaluation.strata() for evaluation in self.evaluations])
        return xr.Dataset(
            {"mean": (("agent", "metric"), means), "strata": (("agent", "stratum", "metric"), strata)},
            coords={"agent": np.arange(len(means)), "metric": list(METRICS)},
            attrs={"environment": self.environment, "kind": self.agent, "note": self.note},
        )


@dataclass(frozen=True)
class Contender:
    """A policy in a comparison: the name of its ensemble, its job, and the threshold it was trained at, if any."""

    name: str
    policy: Job
    trained: float | None = None


def contenders(policies: Sequence[Policy]) -> list[Contender]:
    """Policies as contenders: those that differ in their seed alone share a name, others say how they differ."""
    given = [Given.of(policy) for policy in policies]
    names, alike = {}, defaultdict(list)
    for i, policy in enumerate(policies):
        alike[policy.name, policy.threshold].append(i)
    for members in alike.values():
        traits = {i: _traits(given[i]) for i in members}
        every = dict.fromkeys(trait for found in traits.values() for trait in found)
        differ = [trait for trait in every if len({found.get(trait) for found in traits.values()}) > 1]
        for i, found in traits.items():
            different = (f"{trait.rpartition('.')[2]} {found[trait]}" for trait in differ if trait in found)
            names[i] = ", ".join([policies[i].name, *different])
    return [Contender(names[i], job, job.policy.threshold) for i, job in enumerate(given)]


def _traits(given: Given) -> dict[str, str]:
    """What distinguishes a policy from others of its name, but for its seed; without a seed, also its contents."""
    policy, made = given.policy, given.policy.made_from
    traits = {name: value for name, value in made.items() if name not in _OF_ONE_AGENT}
    if "learning" in made:
        learning = LearningSettings.from_dict(made["learning"])
        usual = replace(learning.shortened(learning.episodes), episodes=LearningSettings.episodes)
        known = usual.to_dict()
        traits["learning"] = {name: value for name, value in learning.to_dict().items() if value != known[name]}
    if isinstance(policy, TablePolicy):
        traits["memory"] = {name: value for name, value in policy.memory.changed.items() if name != "maker"}
        if traits["memory"].get("length") == traits.get("learning", {}).get("horizon"):
            traits["memory"].pop("length", None)
    return dict(_flat(traits)) | ({} if "seed" in made else {"digest": given.digest[:6]})


def _flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def evaluations(
    tests: Sequence[Evaluate], plume: Plume, store: JobStore, engine: Engine, bar: Bar, account: Account | None = None
) -> list[Evaluation]:
    """The results of some tests, computed with an engine where they are not stored."""
    stored = {test: run(test, plume, store) for test in tests if store.has(test)}  # damage is found before any work
    bar.begin("evaluating", work_in(missing(tests, store), plume))
    execute(tests, plume, store, engine, bar.advance, account)
    return [stored.get(test) or run(test, plume, store) for test in tests]


@dataclass(frozen=True)
class Comparison:
    """Compare policies on the same starts, with cast-and-surge at its best angle.

    Each is tested in its training environment, or ``everywhere``; one without a training environment, in all. Settings
    without a horizon take the longest one of their trainings.
    """

    plume: Plume
    contenders: Sequence[Contender]
    thresholds: Sequence[float]
    world: WorldSettings
    settings: EvaluationSettings
    everywhere: bool = False

    def __post_init__(self) -> None:
        if self.settings.horizon is None:
            longest = max((trained_horizon(one.policy) for one in self.contenders), default=LearningSettings.horizon)
            object.__setattr__(self, "settings", replace(self.settings, horizon=longest))

    def tests(self) -> dict[tuple[str, str], list[Evaluate]]:
        """Evaluations by environment and agent."""
        found: dict[tuple[str, str], list[Evaluate]] = {}
        for threshold in self.thresholds:
            name = self.plume.environments.name_of(threshold)
            for one in self.contenders:
                if self.everywhere and one.trained is not None:
                    agent = f"{one.name} ({self.plume.environments.name_of(one.trained)})"
                elif one.trained in (None, threshold):
                    agent = one.name if one.name != CastAndSurge.agent else f"{one.name}, as given"
                else:
                    continue
                found.setdefault((name, agent), []).append(self._test(one.policy, threshold))
            cast = [CastAndSurge(angle, self.settings.horizon or LearningSettings.horizon) for angle in ANGLES]
            found[name, CastAndSurge.agent] = [self._test(job, threshold) for job in cast]
        return found

    def _test(self, policy: Job, threshold: float) -> Evaluate:
        return Evaluate(policy, self.plume.fingerprint, threshold, self.world, self.settings)

    def rows(self, store: JobStore, engine: Engine, bar: Bar) -> list[Row]:
        """Run the tests that are missing; return one row per ensemble."""
        tests = self.tests()
        every = [job for jobs in tests.values() for job in jobs]
        found = dict(zip(every, evaluations(every, self.plume, store, engine, bar), strict=True))
        rows = []
        for (environment, agent), jobs in tests.items():
            results, note = [found[job] for job in jobs], ""
            if agent == CastAndSurge.agent:
                chosen = best(results)
                results, note = [results[chosen]], f"{ANGLES[chosen]} degrees"
            rows.append(Row(environment, agent, results, note))
        return rows


def heuristic_ensemble(policies: Iterable[Policy], dense: float, sparse: float, tau: int) -> list[Contender]:
    """2Q^h agents from the single-Q agents of two environments, in pairs that differ in the environment alone."""
    pairs: dict[Any, dict[float, TablePolicy]] = defaultdict(dict)
    for policy in policies:
        if not isinstance(policy, TablePolicy) or policy.memory.maker != "clock" or policy.modes != 1:
            continue
        if policy.threshold in (dense, sparse) and "seed" in policy.made_from:
            traits = {name: value for name, value in _traits(Given.of(policy)).items() if name != "threshold"}
            pairs[policy.made_from["seed"], *sorted(traits.items())][policy.threshold] = policy
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    for pair in whole:
        heuristic_two_q(pair[dense], pair[sparse], tau)  # whether it can be made
    made = [HeuristicTwoQ(Given.of(pair[dense]), Given.of(pair[sparse]), tau) for pair in whole]
    return [Contender(HEURISTIC, job) for job in made]
