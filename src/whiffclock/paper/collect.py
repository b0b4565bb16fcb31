"""From the results of jobs to the datasets of :mod:`whiffclock.paper.dataset`."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from whiffclock import __version__
from whiffclock.agents.castsurge import ANGLES
from whiffclock.agents.qlearning import sparse_share
from whiffclock.evaluation import METRICS, Evaluation
from whiffclock.paper import dataset as names
from whiffclock.paper.dataset import ENVIRONMENT_NAMES, Datasets
from whiffclock.paper.ensembles import HEURISTIC_FROM, MINUS, PLUS, STARTS, Study
from whiffclock.params import ENVIRONMENTS
from whiffclock.path_metrics import GEOMETRY, TRUNCATIONS, geometry
from whiffclock.plume.durations import mean_durations, transitions
from whiffclock.plume.whiffs import Whiffs
from whiffclock.policy import TablePolicy
from whiffclock.recovery import recovery_moves, recovery_path
from whiffclock.runs.comparison import HEURISTIC_TAU
from whiffclock.runs.jobs import Job, JobStore, run
from whiffclock.world.episode import CURVE
from whiffclock.world.starts import sample
from whiffclock.world.trajectory import trajectory
from whiffclock.world.worlds import PlumeWorld

_SEARCH_IN = "sparse"
#: Bounds of the bins of mean blanks in fig. 6, and its contours.
BLANK_CONTOURS = (5, 10, 25, 50, 100, 200)


class Collector:
    """Collects the results of a study in which everything in ``needs`` is finished."""

    def __init__(self, study: Study, store: JobStore, needs: Collection[str], figures: Sequence[str]) -> None:
        self.study, self.store, self.needs, self.figures = study, store, needs, figures
        trainings = {need.removesuffix(end) + " training" for need in needs for end in (" tests", " elsewhere")}
        self.all_needs = {*needs, *trainings}
        self.agents = np.arange(study.profile.seeds)
        self._summary, self._policy = cache(self._summarize), cache(self._get)

    def datasets(self) -> Datasets:
        """All datasets that the needs allow for."""
        return Datasets(
            searches=self.searches(),
            recoveries=self.recoveries() if "single-Q training" in self.all_needs else None,
            setting=self.setting() if {"single-Q tests", "two-Q training"} <= self.all_needs else None,
            usage=self.usage() if "two-Q tests" in self.needs else None,
            branches=self.branches() if "Bayesian branches" in self.needs else None,
        )

    def _get(self, job: Job) -> Any:
        """The result of a job."""
        return run(job, self.study.plume, self.store)

    def _summarize(self, job: Job) -> dict[str, Any]:
        """The part of an evaluation that the datasets need; the whole is too large to keep."""
        found: Evaluation = self._get(job)
        steps = found.mode_steps.sum(axis=0)
        return {
            "mean": [found.mean(metric) for metric in METRICS],
            "strata": found.strata(),
            "lost": np.bincount(found.lost_at(), minlength=self.study.plume.field.shape[1]),
            "lost_by": self._lost_by(found),
            "failures": int((~found.arrived).sum()),
            "share": steps[-1] / steps.sum(),
        }

    def _lost_by(self, found: Evaluation) -> np.ndarray:
        """Failed searches by the stratum of their start and the sixth of the grid (in x) of their last whiff."""
        length, source = self.study.plume.field.shape[1], self.study.plume.source[0]
        sixth = np.clip(6 * (found.lost_at() - source) // max(1, length - 1 - source), 0, 5)
        counts = np.zeros((self.study.profile.snapshots, 6))
        np.add.at(counts, (found.starts.stratum[found.lost], sixth), 1)
        return counts

    def _best(self, jobs: Sequence[Job]) -> int:
        """Index of the evaluation with the highest mean G; the first if there are several."""
        return int(np.argmax([self._summary(job)["mean"][list(METRICS).index("G")] for job in jobs]))

    def searches(self) -> xr.Dataset:
        """Evaluation results."""
        study, profile = self.study, self.study.profile
        strata, length = np.arange(profile.snapshots), study.plume.field.shape[1]
        places = {"kind": list(names.KINDS), "trained": list(ENVIRONMENT_NAMES), "tested": list(ENVIRONMENT_NAMES)}
        made = xr.Dataset(coords=places | {"agent": self.agents, "metric": list(METRICS), "stratum": strata})
        made = made.assign_coords(x=np.arange(length), sixth=np.arange(6), side=["lower", "upper"], angle=list(ANGLES))
        who = (*places, "agent")
        for name, rest in (("mean", ("metric",)), ("strata", ("stratum", "metric")), ("lost", ("x",)),
                           ("lost_by", ("stratum", "sixth")), ("failures", ()), ("share", ())):  # fmt: skip
            made[name] = _empty(made, (*who, *rest))
        for kind, (need, policies) in self._tested().items():
            own, others = {need, f"{need} tests"} & {*self.needs}, {f"{need} elsewhere"} & {*self.needs}
            for trained, tested in product(ENVIRONMENT_NAMES, repeat=2):
                if own if trained == tested else others:
                    self._fill(made, kind, trained, tested, study.tests(policies(trained), tested))
        if "cast-and-surge" in self.needs:
            self._fill_cast(made)
        if "Bayesian searches" in self.needs:
            self._fill_bayes(made)
        if "tau scan" in self.needs:
            self._fill_scan(made)
        if study.taus is not None:
            made["tau"] = ("trained", [study.taus[name] for name in ENVIRONMENT_NAMES])
        if "two-Q training" in self.all_needs:
            shares = [[sparse_share(self._policy(job)) for job in study.two(name)] for name in ENVIRONMENT_NAMES]
            made["training_share"] = (("trained", "agent"), np.array(shares))
        return made.assign_attrs(facts=json.dumps(self.facts()))

    def _tested(self) -> dict[str, tuple[str, Callable[[str], list[Job]]]]:
        """By kind of agent: what its tests are called among the needs, and its policies by training environment."""
        study = self.study
        return {
            names.SINGLE: ("single-Q", study.single),
            names.TWO: ("two-Q", study.two),
            names.LONGER: ("single-Q, twice as long", study.longer),
            names.SAME_PATH: ("two modes, same path", study.same_path),
            names.HEURISTIC: ("2Q^h", study.heuristic),
            names.MINUS_ONLY: ("one mode", partial(study.alone, mode=MINUS)),
            names.PLUS_ONLY: ("one mode", partial(study.alone, mode=PLUS)),
        }

    def _fill(self, made: xr.Dataset, kind: str, trained: str, tested: str, jobs: Sequence[Job]) -> None:
        for agent, job in enumerate(jobs):
            for name, values in self._summary(job).items():
                _put(made, name, values, kind=kind, trained=trained, tested=tested, agent=agent)

    def _fill_cast(self, made: xr.Dataset) -> None:
        made["cast_angle"], made["cast_scan"] = _empty(made, ("tested",)), _empty(made, ("tested", "angle", "metric"))
        for name in ENVIRONMENT_NAMES:
            jobs = self.study.tests(self.study.cast(name), name)
            best = self._best(jobs)
            self._fill(made, names.CAST, name, name, [jobs[best]])
            _put(made, "cast_angle", ANGLES[best], tested=name)
            _put(made, "cast_scan", [self._summary(job)["mean"] for job in jobs], tested=name)

    def _fill_bayes(self, made: xr.Dataset) -> None:
        made["bound"] = _empty(made, ("tested", "side"))
        made["sampled"] = _empty(made, ("kind", "tested", "agent", "stratum", "metric"))
        for name in ENVIRONMENT_NAMES:
            self._fill(made, names.BAYES, name, name, [self.study.bayes_test(name)])
            solved = self._get(self.study.solution(name)).made_from
            _put(made, "bound", [solved["lower"], solved["upper"]], tested=name)
            compared = {}
            if "single-Q tests" in self.needs:
                compared[names.SINGLE] = self.study.tests(self.study.single(name), name)
            if "cast-and-surge" in self.needs:
                cast = self.study.tests(self.study.cast(name), name)
                compared[names.CAST] = [cast[self._best(cast)]]
            for kind, jobs in compared.items():
                for agent, job in enumerate(jobs):
                    found = self._get(job)
                    some = sample(found.starts, self.study.profile.bayes_starts)
                    _put(made, "sampled", found.strata(some), kind=kind, tested=name, agent=agent)

    def _fill_scan(self, made: xr.Dataset) -> None:
        scans = {name: self.study.scan(name) for name in ENVIRONMENT_NAMES}
        taus, replicas = list(scans[ENVIRONMENT_NAMES[0]]), np.arange(self.study.profile.scan_seeds)
        made.coords.update({"tau_scanned": taus, "replica": replicas})
        dims = ("trained", "tau_scanned", "replica")
        for name, rest in (("share", ()), ("mean", ("metric",)), ("strata", ("stratum", "metric"))):
            made[f"scan_{name}"] = _empty(made, (*dims, *rest))
        for name, scan in scans.items():
            for tau, jobs in scan.items():
                for replica, (job, test) in enumerate(zip(jobs, self.study.tests(jobs, name), strict=True)):
                    found = self._summary(test) | {"share": sparse_share(self._policy(job))}
                    for of in ("share", "mean", "strata"):
                        _put(made, f"scan_{of}", found[of], trained=name, tau_scanned=tau, replica=replica)

    def recoveries(self) -> xr.Dataset:
        """Void trajectories of trained agents."""
        study, horizon = self.study, self.study.profile.horizon
        who = {"ensemble": list(names.ENSEMBLES), "trained": list(ENVIRONMENT_NAMES), "agent": self.agents}
        who |= {"mode": [names.MODE, names.MINUS, names.PLUS]}
        made = xr.Dataset(coords=who | {"truncation": list(TRUNCATIONS), "geometry": list(GEOMETRY)})
        made = made.assign_coords(step=np.arange(horizon + 1), axis=["x", "y"])
        made["geometry_of"] = _empty(made, (*who, "truncation", "geometry"))
        made["steps"] = _empty(made, (*who, "truncation"))
        made["path"] = _empty(made, (*who, "step", "axis"), 0).astype(np.int16 if horizon < 2**15 else np.int32)
        made["start_cells"] = _empty(made, ("ensemble", "trained"))
        for ensemble, world, policies in self._ensembles():
            for name in ENVIRONMENT_NAMES:
                at = {"ensemble": ensemble, "trained": name}
                _put(made, "start_cells", len(study.plume.starts(ENVIRONMENTS[name], world)), **at)
                for agent, job in enumerate(policies(name)):
                    self._fill_recovery(made, at | {"agent": agent}, self._policy(job))
        return made

    def _ensembles(self) -> Iterable[tuple[str, Any, Callable[[str], list[Job]]]]:
        """Ensemble, the world of its training, and its policies by environment."""
        study = self.study
        if "two-Q training" in self.all_needs:
            yield names.TWO, study.world, study.two
        for ensemble, world in STARTS.items():
            if ensemble == names.SINGLE or "initial conditions" in self.needs:
                yield ensemble, world, partial(study.initial, ensemble=ensemble)

    @staticmethod
    def _fill_recovery(made: xr.Dataset, at: dict[str, Any], policy: TablePolicy) -> None:
        for mode, name in enumerate((names.MODE,) if policy.modes == 1 else (names.MINUS, names.PLUS)):
            here = at | {"mode": name}
            steps = [recovery_moves(policy, truncation, mode) for truncation in TRUNCATIONS]
            path = recovery_path(policy, mode, moves=made.sizes["step"] - 1)
            _put(made, "path", path, **here)
            _put(made, "steps", steps, **here)
            _put(made, "geometry_of", [astuple(geometry(path[: count + 1])) for count in steps], **here)

    def setting(self) -> xr.Dataset:
        """One snapshot, the environments, an example search and learning curves (fig. 1)."""
        study, plume = self.study, self.study.plume
        cells = plume.starts(ENVIRONMENTS[_SEARCH_IN], study.world)
        snapshot, (length, width) = plume.field.shape[0] // 2, plume.field.shape[1:]
        mask = np.zeros((length, width))
        mask[cells[:, 0], cells[:, 1]] = 1
        policies = study.single(_SEARCH_IN)
        policy = self._policy(policies[self._best(study.tests(policies, _SEARCH_IN))])
        start = cells[np.abs(cells - [2 * length // 3, plume.source[1]]).sum(axis=1).argmin()]
        world = plume.whiffs(ENVIRONMENTS[_SEARCH_IN]).world(study.world)
        example = trajectory(policy, PlumeWorld(world, np.array([[*start, snapshot]])), study.profile.horizon)
        curves = [
            [[self._policy(job).records["curve"] for job in ensemble(name)] for name in ENVIRONMENT_NAMES]
            for ensemble in (study.single, study.two)
        ]
        records = [plume.whiffs(threshold) for threshold in ENVIRONMENTS.values()]
        each, environments = ("environment", "x", "y"), list(ENVIRONMENT_NAMES)
        who = {"trained": environments, "kind": [names.SINGLE, names.TWO], "agent": self.agents}
        columns = {"quantity": ["x", "y", "whiff", "clock"], "column": ["episode", *CURVE]}
        example_in = {"search_environment": _SEARCH_IN, "search_arrived": int(example.arrived)}
        return xr.Dataset(
            {
                "concentration": (each[1:], np.asarray(plume.field[snapshot : snapshot + 1], dtype=np.float64)[0]),
                "whiff": (each, np.stack([record.snapshot(snapshot) for record in records]).astype(np.float64)),
                "probability": (each, np.stack([record.probability() for record in records])),
                "mask": (each[1:], mask),
                "search": (("moment", "quantity"), np.column_stack([example.position, example.whiff, example.clock])),
                "curve": (("kind", "trained", "agent", "point", "column"), np.array(curves)),
            },
            coords={"environment": environments} | who | columns,
            attrs={"snapshot": snapshot, **example_in, "start_cells": len(cells)},
        )

    def usage(self) -> xr.Dataset:
        """Where the modes of two-Q agents are used (fig. 6)."""
        study = self.study
        blank = np.stack([blank_times(study.plume.whiffs(threshold)) for threshold in ENVIRONMENTS.values()])
        who = ("environment", "agent", "mode", "bin")

        def occupancies(policies: Callable[[str], list[Job]]) -> list[np.ndarray]:
            tests = [study.tests(policies(name), name) for name in ENVIRONMENT_NAMES]
            return [np.stack([self._get(job).occupancy for job in jobs]) for jobs in tests]

        def by_blank(occupancy: list[np.ndarray]) -> np.ndarray:
            return np.stack([by_bin(counts, cells) for counts, cells in zip(occupancy, blank, strict=True)])

        occupancy = occupancies(study.two)
        control = "two modes, same path" in self.needs
        return xr.Dataset(
            {
                "blank": (("environment", "x", "y"), blank),
                "decisions": (("environment", "mode", "x", "y"), np.stack([c.sum(axis=0) for c in occupancy])),
                "by_blank": (who, by_blank(occupancy)),
            }
            | ({"same_path": (who, by_blank(occupancies(study.same_path)))} if control else {}),
            coords={"environment": list(ENVIRONMENT_NAMES), "agent": self.agents, "mode": [names.MINUS, names.PLUS]},
            attrs={"contours": list(BLANK_CONTOURS)},
        )

    def branches(self) -> xr.Dataset:
        """Forced blanks of the Bayesian agent (fig. 8)."""
        found = [self._get(self.study.branches(name)) for name in ENVIRONMENT_NAMES]
        each = ("metrics", "weight", "trial")
        metrics, weight, trial = (np.concatenate([getattr(branches, name) for branches in found]) for name in each)
        where = np.repeat(ENVIRONMENT_NAMES, [len(branches) for branches in found])
        made = xr.Dataset({"geometry_of": (("branch", "geometry"), metrics)}, {"geometry": list(GEOMETRY)})
        return made.assign(weight=("branch", weight), trial=("branch", trial), environment=("branch", where))

    def facts(self) -> dict[str, Any]:
        """Facts about the run: profile, plume, version."""
        study, profile, plume = self.study, self.study.profile, self.study.plume
        every = study.tests(study.single(ENVIRONMENT_NAMES[0]), ENVIRONMENT_NAMES[0])[0].starts(plume)
        numbers = profile.to_dict()
        return {
            "profile": numbers.pop("name"),
            "figures": list(self.figures),
            "origin": plume.origin,
            "fingerprint": plume.fingerprint,
            "shape": list(plume.field.shape),
            "source": list(plume.source),
            "highest": plume.highest,
            "radius": study.world.radius,
            **numbers,
            "epsilon_decay": profile.learning.epsilon_decay,
            "searches": len(every),
            "bayes_starts": len(sample(every, profile.bayes_starts)),
            "heuristic_tau": HEURISTIC_TAU,
            "heuristic_from": list(HEURISTIC_FROM),
            "version": __version__,
        }


def _empty(made: xr.Dataset, dims: Sequence[str], value: float = np.nan) -> xr.DataArray:
    """An array over coordinates of ``made``, filled with one value."""
    shape = [made.sizes[dim] for dim in dims]
    return xr.DataArray(np.full(shape, value), dims=dims, coords={dim: made.coords[dim] for dim in dims})


def _put(made: xr.Dataset, name: str, values: Any, **at: Any) -> None:
    """Write ``values`` into an array at a place; as xarray's ``loc`` does, but quickly."""
    variable = made.variables[name]
    where = tuple(made.indexes[dim].get_loc(at[dim]) if dim in at else slice(None) for dim in variable.dims)
    variable.values[where] = values


def blank_times(whiffs: Whiffs) -> np.ndarray:
    """Mean blank float[x, y] at every cell."""
    snapshots, length, _ = whiffs.shape
    columns = [transitions(whiffs.record(slice(x, x + 1))) for x in range(length)]
    counts = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return mean_durations(snapshots, *counts)[1]


def by_bin(occupancy: np.ndarray, blank: np.ndarray) -> np.ndarray:
    """Decisions [a, mode, x, y] by the mean blank of each cell: [a, mode, bin]; the last bin is for NaN."""
    last = len(BLANK_CONTOURS) + 1
    bins = np.where(np.isnan(blank), last, np.searchsorted(BLANK_CONTOURS, blank, side="right"))
    return np.stack([occupancy[:, :, bins == b].sum(axis=2) for b in range(last + 1)], axis=2)
