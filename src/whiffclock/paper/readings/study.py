"""What each reading of the paper changes: small ensembles beside ours, through the same jobs as a reproduction.

A reading that is about training has agents of its own; one that is about tests has the agents of ours. All other
settings are ours, also tau of the two-Q agents. Differences are of medians over agents, of the other reading minus
ours. Their 95% intervals resample agents (those of one seed together) and, for searches, time blocks as well.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import xarray as xr

from whiffclock import __version__
from whiffclock.paper import dataset as ds
from whiffclock.paper.claims import CLAIMS, judge
from whiffclock.paper.claims.recoveries import measure
from whiffclock.paper.claims.verdict import with_interval
from whiffclock.paper.collect import Collector
from whiffclock.paper.dataset import Datasets, Need
from whiffclock.paper.ensembles import Study
from whiffclock.paper.kinds import CHOOSING, jobs, with_scan
from whiffclock.paper.profiles import Profile
from whiffclock.paper.readings.alternatives import SCOPES, Alternative
from whiffclock.paper.reproduce import require_starts, with_choices
from whiffclock.params import InputError, require
from whiffclock.path_metrics import GEOMETRY
from whiffclock.plume import Plume
from whiffclock.progress import Bar
from whiffclock.resampling import Draws, over_agents, over_strata, resampled
from whiffclock.runs.jobs import Engine, Job, JobStore, execute, missing, work_in

METRICS = ("G", "f+")
#: Along the last dimension of the datasets: both medians, their difference, and its interval.
VALUES = ("ours", "other", "change", "low", "high")


def small_profile(seeds: int, episodes: int) -> Profile:
    """The profile of the study: some agents, and a Bayesian agent as that of the standard profile, for the scale."""
    return Profile(
        name="readings", seeds=seeds, episodes=episodes, snapshots=16, scan_seeds=1,
        scan_episodes=max(1, episodes // 4), bayes_backups=6_000, bayes_starts=4_000, bayes_trials=100,
    )  # fmt: skip


@dataclass(frozen=True)
class ReadingsStudy:
    """Our reading, and others beside it, on one plume."""

    plume: Plume
    profile: Profile
    alternatives: Sequence[Alternative]

    def __post_init__(self) -> None:
        """Find bad input before any work is done."""
        ours, tau = Study(self.plume, self.profile), min(self.profile.taus)
        require_starts(ours)
        any_tau = replace(ours, taus=dict.fromkeys(ours.environments, tau), heuristic_tau=tau)
        for one in self.alternatives:
            try:
                pair = one.kind != ds.HEURISTIC or ours.environments.pair is not None
                require(pair, "2Q^h is made of agents from two environments, and the plume has one.")
                require_starts(one.change(any_tau))
            except InputError as error:
                raise InputError(f"{one.number} is not possible here; leave it out by --only. {error}") from error

    def run(self, store: JobStore, engine: Engine, bar: Bar) -> xr.Dataset:
        """Compute what is missing; return the dataset."""
        ours, kinds = Study(self.plume, self.profile), dict.fromkeys(one.kind for one in self.alternatives)
        needs = with_scan(need for kind in kinds for need in SCOPES[kind].needs)
        if scan := jobs(ours, [need for need in needs if need in CHOOSING]):
            self._execute("choosing tau", scan, store, engine, bar)
            ours = with_choices(ours, needs, store)
        others = [one for one in self.alternatives if _differs(one, ours)]
        studies = {kind: [ours, *(one.change(ours) for one in others if one.kind == kind)] for kind in kinds}
        every = [job for kind, some in studies.items() for study in some for job in jobs(study, SCOPES[kind].needs)]
        self._execute("training and testing", every, store, engine, bar)
        bar.enter("comparing")
        base = {kind: collected(ours, kind, store) for kind in kinds}
        found = [compared(one, base[one.kind], collected(one.change(ours), one.kind, store)) for one in others]
        return together(found, ours)

    def _execute(self, stage: str, every: Sequence[Job], store: JobStore, engine: Engine, bar: Bar) -> None:
        bar.begin(stage, max(1, work_in(missing(every, store), self.plume)))
        execute(every, self.plume, store, engine, bar.advance)


def _differs(one: Alternative, ours: Study) -> bool:
    """Whether an alternative is another reading than ours, which has chosen a tau of 2Q^h."""
    return one.number != "R18" or one.change(ours).heuristic_tau != ours.heuristic_tau


def collected(study: Study, kind: str, store: JobStore) -> Datasets:
    """The datasets of a finished study of one scope."""
    scope = SCOPES[kind]
    collector = Collector(study, store, scope.needs, scope.figures)
    return Datasets(
        searches=collector.searches(),
        recoveries=collector.recoveries() if scope.modes else None,
        branches=collector.branches() if Need(ds.BAYES, "branched") in scope.needs else None,
    )


def compared(one: Alternative, ours: Datasets, other: Datasets) -> xr.Dataset:
    """Differences and verdicts of one alternative."""
    scope, places = SCOPES[one.kind], list(ours.environments)
    strata = resampled(ours.searches.sizes["stratum"], np.random.default_rng(0))

    def rewards(data: Datasets, metric: str, place: str) -> np.ndarray:
        found = ds.where_trained(data.searches["strata"], one.kind).sel(environment=place, metric=metric)
        return found.transpose("agent", "stratum").dropna("agent", how="all").values

    def lengths(data: Datasets, geometry: str, mode: str, place: str) -> np.ndarray:
        found = measure(data, geometry, one.kind, mode).sel(environment=place).values
        return np.where(np.isinf(found), data.facts["horizon"], found)  # a return that never starts

    other = replace(other, searches=_with_reward(other.searches, one.reward))
    modes, both = (ds.MODE, ds.MINUS, ds.PLUS), (ours, other)
    searches = np.full((len(places), len(METRICS), len(VALUES)), np.nan)
    paths = np.full((len(places), len(modes), len(GEOMETRY), len(VALUES)), np.nan)
    for (i, place), (j, metric) in product(enumerate(places), enumerate(METRICS)):
        before, after = (rewards(data, metric, place) for data in both)
        searches[i, j] = change(before, after, strata)
    for (i, place), mode, (j, name) in product(enumerate(places), scope.modes, enumerate(GEOMETRY)):
        before, after = (lengths(data, name, mode, place) for data in both)
        paths[i, modes.index(mode), j] = change(before, after)
    tested = [CLAIMS[name] for name in scope.claims]
    verdicts = [[verdict.verdict for verdict in judge(data, tested)] for data in both]
    made = xr.Dataset(
        {
            "searches": (("environment", "metric", "value"), searches),
            "paths": (("environment", "mode", "geometry", "value"), paths),
            "verdict": (("claim", "whose"), np.array(verdicts, dtype=object).T),
        },
        coords={"environment": places, "metric": list(METRICS), "value": list(VALUES), "mode": list(modes)},
    )
    made = made.assign_coords(geometry=list(GEOMETRY), claim=list(scope.claims), whose=["ours", "other"])
    about = {"number": one.number, "title": one.title, "agents": one.kind}
    return made.assign({name: ((), text) for name, text in about.items()})


def _with_reward(searches: xr.Dataset, reward: str) -> xr.Dataset:
    """The same searches, with another metric in the place of G."""
    names = searches["metric"].values.tolist()
    return searches.sel(metric=[reward if name == "G" else name for name in names]).assign_coords(metric=names)


def change(ours: np.ndarray, other: np.ndarray, strata: np.ndarray | None = None) -> list[float]:
    """The :data:`VALUES` of float[agent], or of float[agent, stratum] with weights of the strata."""
    # The same random numbers for both: agents of one seed, and time blocks, are resampled together.

    def drawn(values: np.ndarray) -> Draws:
        if strata is not None and len(values) == 1:  # the Bayesian agent
            return over_strata(values[0], strata)
        return over_agents(values, np.random.default_rng(0), strata)

    first, second = drawn(ours), drawn(other)
    moved = second - first
    told = with_interval(replace(moved, freedom=max(0, moved.n - 1)))
    return [first.value, second.value, told["value"], told["low"], told["high"]]


def together(found: Sequence[xr.Dataset], ours: Study) -> xr.Dataset:
    """All alternatives along ``reading``; a claim that was not tested for one has the verdict ""."""
    claims = [name for name in CLAIMS if any(name in one["claim"] for one in found)]
    filled = [one.reindex(claim=claims, fill_value={"verdict": ""}) for one in found]
    made = xr.concat(filled, "reading", coords="minimal", compat="override")
    labels = [f"{number}: {title}" for number, title in zip(made["number"].values, made["title"].values, strict=True)]
    facts = ours.profile.to_dict() | {
        "origin": ours.plume.origin, "fingerprint": ours.plume.fingerprint, "version": __version__,
        "environments": dict(ours.environments), "tau": ours.taus, "heuristic_tau": ours.heuristic_tau or None,
    }  # fmt: skip
    made["verdict"] = made["verdict"].astype(str)
    return made.assign_coords(reading=labels).assign_attrs(facts=json.dumps(facts))
