"""From the results of jobs to the datasets of :mod:`whiffclock.paper.dataset`."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from whiffclock import __version__
from whiffclock.agents.castsurge import ANGLES
from whiffclock.agents.qlearning import sparse_share
from whiffclock.evaluation import METRICS, Evaluation
from whiffclock.paper import dataset as names
from whiffclock.paper.dataset import Datasets, Need
from whiffclock.paper.ensembles import Study, share_in_tests
from whiffclock.paper.kinds import KINDS, Kind, Kinds
from whiffclock.path_metrics import GEOMETRY, TRUNCATIONS, geometry
from whiffclock.plume.doubts import doubts_of, own
from whiffclock.plume.durations import mean_durations, transitions
from whiffclock.plume.whiffs import Whiffs
from whiffclock.policy import TablePolicy
from whiffclock.recovery import recovery_moves, recovery_path
from whiffclock.runs.jobs import Job, JobStore, changed, run
from whiffclock.world.episode import CURVE
from whiffclock.world.starts import sample
from whiffclock.world.trajectory import trajectory
from whiffclock.world.worlds import PlumeWorld

#: Bounds of the bins of mean blanks in fig. 6, and its contours.
BLANK_CONTOURS = (5, 10, 25, 50, 100, 200)


class Collector:
    """Collects the results of a study in which everything in ``needs`` is finished."""

    def __init__(
        self, study: Study, store: JobStore, needs: Collection[Need], figures: Sequence[str], kinds: Kinds = KINDS
    ) -> None:
        self.study, self.store, self.needs, self.figures, self.kinds = study, store, needs, figures, kinds
        self.names = list(study.environments)
        self.trained = {need.kind for need in needs}  # a test needs training, too
        self.agents = np.arange(study.profile.seeds)
        self._summary, self._policy = cache(self._summarize), cache(self._get)

    def datasets(self) -> Datasets:
        """All datasets that the needs allow for."""
        return Datasets(
            searches=self.searches(),
            recoveries=self.recoveries() if {names.SINGLE, names.SEARCHED} & self.trained else None,
            setting=self.setting() if self._at_home(names.SINGLE) and names.TWO in self.trained else None,
            usage=self.usage() if self._at_home(names.TWO) else None,
            branches=self.branches() if Need(names.BAYES, "branched") in self.needs else None,
        )

    def _at_home(self, kind: str) -> bool:
        """Whether agents of a kind were tested in their environment."""
        return Need(kind, "at home") in self.needs

    def _get(self, job: Job) -> Any:
        """The result of a job."""
        return run(job, self.study.plume, self.store)

    def _summarize(self, job: Job) -> dict[str, Any]:
        """The part of an evaluation that the datasets need; the whole is too large to keep."""
        found: Evaluation = self._get(job)
        return {
            "mean": [found.mean(metric) for metric in METRICS],
            "strata": found.strata(),
            "lost": np.bincount(found.lost_at(), minlength=self.study.plume.field.shape[1]),
            "lost_by": self._lost_by(found),
            "failures": int((~found.arrived).sum()),
            "share": share_in_tests(found),
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
        means = [dict(zip(METRICS, self._summary(job)["mean"], strict=True)) for job in jobs]
        return int(np.argmax([mean["G"] for mean in means]))

    def searches(self) -> xr.Dataset:
        """Evaluation results."""
        study, profile = self.study, self.study.profile
        strata, length = np.arange(profile.snapshots), study.plume.field.shape[1]
        kinds = {name: kind for name, kind in self.kinds.items() if kind.tabled}
        places = {"kind": list(kinds), "trained": self.names, "tested": self.names}
        made = xr.Dataset(coords=places | {"agent": self.agents, "metric": list(METRICS), "stratum": strata})
        made = made.assign_coords(x=np.arange(length), sixth=np.arange(6), side=["lower", "upper"], angle=list(ANGLES))
        who = (*places, "agent")
        for name, rest in (("mean", ("metric",)), ("strata", ("stratum", "metric")), ("lost", ("x",)),
                           ("lost_by", ("stratum", "sixth")), ("failures", ()), ("share", ())):  # fmt: skip
            made[name] = _empty(made, (*who, *rest))
        made["label"], made["drawn"] = (("kind", [getattr(k, of) for k in kinds.values()]) for of in ("label", "drawn"))
        for kind in kinds.values():
            for trained, tested in product(self.names, repeat=2):
                if Need(kind.name, "at home" if trained == tested else "elsewhere") in self.needs:
                    self._fill(made, kind.name, trained, tested, self._tests(kind, trained, tested))
        if self._at_home(names.SINGLE):
            self._fill_map(made)
        if self._at_home(names.CAST):
            self._fill_cast(made)
        if self._at_home(names.BAYES):
            self._fill_bayes(made)
        if self._at_home(names.SCAN):
            self._fill_scan(made)
        if self._at_home(names.HEURISTIC_SCAN) and study.heuristic_scan():
            self._fill_heuristic_scan(made)
        if study.taus is not None:
            made["tau"] = ("trained", [study.taus[name] for name in self.names])
        if names.TWO in self.trained:
            shares = [[sparse_share(self._policy(job)) for job in study.two(name)] for name in self.names]
            made["training_share"] = (("trained", "agent"), np.array(shares))
        return made.assign_attrs(facts=json.dumps(self.facts()))

    def _tests(self, kind: Kind, trained: str, tested: str) -> Sequence[Job]:
        """The evaluations of a kind that are in the datasets."""
        tests = kind.tests(self.study, trained, tested)
        return [tests[self._best(tests)]] if kind.best and tests else tests

    def _fill(self, made: xr.Dataset, kind: str, trained: str, tested: str, jobs: Sequence[Job]) -> None:
        for agent, job in enumerate(jobs):
            for name, values in self._summary(job).items():
                _put(made, name, values, kind=kind, trained=trained, tested=tested, agent=agent)

    def _fill_map(self, made: xr.Dataset) -> None:
        """The share of searches from each start cell that arrive."""
        made.coords["y"] = np.arange(self.study.plume.field.shape[2])
        made["arrived_from"] = _empty(made, ("trained", "x", "y"))
        for name in self.names:
            found = map(self._get, self._tests(self.kinds[names.SINGLE], name, name))
            _put(made, "arrived_from", arrivals(found, made["arrived_from"].shape[1:]), trained=name)

    def _fill_cast(self, made: xr.Dataset) -> None:
        made["cast_angle"], made["cast_scan"] = _empty(made, ("tested",)), _empty(made, ("tested", "angle", "metric"))
        for name in self.names:
            tests = self.kinds[names.CAST].tests(self.study, name, name)
            _put(made, "cast_angle", ANGLES[self._best(tests)], tested=name)
            _put(made, "cast_scan", [self._summary(job)["mean"] for job in tests], tested=name)

    def _fill_bayes(self, made: xr.Dataset) -> None:
        made["bound"] = _empty(made, ("tested", "side"))
        made["sampled"] = _empty(made, ("kind", "tested", "agent", "stratum", "metric"))
        compared = [self.kinds[kind] for kind in (names.SINGLE, names.SEARCHED, names.CAST) if self._at_home(kind)]
        for name in self.names:
            solved = self._get(self.study.solution(name)).made_from
            _put(made, "bound", [solved["lower"], solved["upper"]], tested=name)
            for kind in compared:
                for agent, job in enumerate(self._tests(kind, name, name)):
                    found = self._get(job)
                    some = sample(found.starts, self.study.profile.bayes_starts)
                    _put(made, "sampled", found.strata(some), kind=kind.name, tested=name, agent=agent)

    def _fill_scan(self, made: xr.Dataset) -> None:
        scans = {name: self.study.scan(name) for name in self.names}
        taus, replicas = list(scans[self.names[0]]), np.arange(self.study.profile.scan_seeds)
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

    def _fill_heuristic_scan(self, made: xr.Dataset) -> None:
        scan = self.study.heuristic_scan()
        made.coords["tau_scanned"] = list(scan)
        made["heuristic_share"] = _empty(made, ("tau_scanned", "tested"))
        made["heuristic_mean"] = _empty(made, ("tau_scanned", "tested", "metric"))
        for (tau, jobs), name in product(scan.items(), self.names):
            found = [self._summary(test) for test in self.study.tests(jobs, name)]
            for of in ("share", "mean"):
                mean = np.mean([one[of] for one in found], axis=0)
                _put(made, f"heuristic_{of}", mean, tau_scanned=tau, tested=name)

    def recoveries(self) -> xr.Dataset:
        """Recovery paths of trained agents."""
        study, horizon = self.study, self.study.profile.horizon
        ensembles = {name: kind for name, kind in self.kinds.items() if kind.recovers}
        every = product(ensembles.keys() & self.trained, self.names)
        agents = {(ensemble, name): ensembles[ensemble].policies(study, name) for ensemble, name in every}
        who = {"ensemble": list(ensembles), "trained": self.names, "agent": np.arange(max(map(len, agents.values())))}
        who |= {"mode": [names.MODE, names.MINUS, names.PLUS]}
        made = xr.Dataset(coords=who | {"truncation": list(TRUNCATIONS), "geometry": list(GEOMETRY)})
        made = made.assign_coords(step=np.arange(horizon + 1), axis=["x", "y"])
        made["geometry_of"] = _empty(made, (*who, "truncation", "geometry"))
        made["steps"] = _empty(made, (*who, "truncation"))
        made["path"] = _empty(made, (*who, "step", "axis"), 0).astype(np.int16 if horizon < 2**15 else np.int32)
        made["start_cells"] = _empty(made, ("ensemble", "trained"))
        for (ensemble, name), policies in agents.items():
            at = {"ensemble": ensemble, "trained": name}
            for world in {getattr(job, "world", study.world) for job in policies}:
                _put(made, "start_cells", len(study.plume.starts(study.environments[name], world)), **at)
            for agent, job in enumerate(policies):
                self._fill_recovery(made, at | {"agent": agent}, self._policy(job))
        return made

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
        study, plume, (*_, place) = self.study, self.study.plume, self.study.environments.pair or self.names
        threshold = study.environments[place]
        cells = plume.starts(threshold, study.world)
        snapshot, (length, width) = plume.field.shape[0] // 2, plume.field.shape[1:]
        mask = np.zeros((length, width))
        mask[cells[:, 0], cells[:, 1]] = 1
        policies = study.single(place)
        policy = self._policy(policies[self._best(study.tests(policies, place))])
        start = cells[np.abs(cells - [2 * length // 3, plume.source[1]]).sum(axis=1).argmin()]
        world = plume.whiffs(threshold).world(study.world)
        example = trajectory(policy, PlumeWorld(world, np.array([[*start, snapshot]])), study.profile.horizon)
        curves = [
            [[self._policy(job).records["curve"] for job in ensemble(name)] for name in self.names]
            for ensemble in (study.single, study.two)
        ]
        records = [plume.whiffs(threshold) for threshold in study.environments.values()]
        each = ("environment", "x", "y")
        who = {"trained": self.names, "kind": [names.SINGLE, names.TWO], "agent": self.agents}
        columns = {"quantity": ["x", "y", "whiff", "clock"], "column": ["episode", *CURVE]}
        example_in = {"search_environment": place, "search_arrived": int(example.arrived)}
        return xr.Dataset(
            {
                "concentration": (each[1:], np.asarray(plume.field[snapshot : snapshot + 1], dtype=np.float64)[0]),
                "whiff": (each, np.stack([record.snapshot(snapshot) for record in records]).astype(np.float64)),
                "probability": (each, np.stack([record.probability() for record in records])),
                "mask": (each[1:], mask),
                "search": (("moment", "quantity"), np.column_stack([example.position, example.whiff, example.clock])),
                "curve": (("kind", "trained", "agent", "point", "column"), np.array(curves)),
            },
            coords={"environment": self.names} | who | columns,
            attrs={"snapshot": snapshot, **example_in, "start_cells": len(cells)},
        )

    def usage(self) -> xr.Dataset:
        """Where the modes of two-Q agents are used (fig. 6)."""
        study = self.study
        blank = np.stack([blank_times(study.plume.whiffs(threshold)) for threshold in study.environments.values()])
        who = ("environment", "agent", "mode", "bin")

        def occupancies(policies: Callable[[str], list[Job]]) -> list[np.ndarray]:
            tests = [study.tests(policies(name), name) for name in self.names]
            return [np.stack([self._get(job).occupancy for job in jobs]) for jobs in tests]

        def by_blank(occupancy: list[np.ndarray]) -> np.ndarray:
            return np.stack([by_bin(counts, cells) for counts, cells in zip(occupancy, blank, strict=True)])

        occupancy = occupancies(study.two)
        control = self._at_home(names.SAME_PATH)
        return xr.Dataset(
            {
                "blank": (("environment", "x", "y"), blank),
                "decisions": (("environment", "mode", "x", "y"), np.stack([c.sum(axis=0) for c in occupancy])),
                "by_blank": (who, by_blank(occupancy)),
            }
            | ({"same_path": (who, by_blank(occupancies(study.same_path)))} if control else {}),
            coords={"environment": self.names, "agent": self.agents, "mode": [names.MINUS, names.PLUS]},
            attrs={"contours": list(BLANK_CONTOURS)},
        )

    def branches(self) -> xr.Dataset:
        """Forced blanks of the Bayesian agent (fig. 8)."""
        found = [self._get(self.study.branches(name)) for name in self.names]
        each = ("metrics", "weight", "trial")
        metrics, weight, trial = (np.concatenate([getattr(branches, name) for branches in found]) for name in each)
        where = np.repeat(self.names, [len(branches) for branches in found])
        made = xr.Dataset({"geometry_of": (("branch", "geometry"), metrics)}, {"geometry": list(GEOMETRY)})
        return made.assign(weight=("branch", weight), trial=("branch", trial), environment=("branch", where))

    def facts(self) -> dict[str, Any]:
        """Facts about the run: profile, plume, version."""
        study, profile, plume = self.study, self.study.profile, self.study.plume
        every = study.tests(study.single(self.names[0]), self.names[0])[0].starts(plume)
        numbers = profile.to_dict()
        found = [] if own(plume) else doubts_of(plume, study.world, profile.horizon)
        return {
            "profile": numbers.pop("name"),
            "figures": list(self.figures),
            "kinds": [kind.name for kind in self.kinds.values() if kind.tabled],
            "origin": plume.origin,
            "fingerprint": plume.fingerprint,
            "shape": list(plume.field.shape),
            "source": list(plume.source),
            "highest": plume.highest,
            "radius": study.world.radius,
            **numbers,
            "programs": profile.programs or profile.seeds,
            "epsilon_decay": profile.learning.epsilon_decay,
            "searches": len(every),
            "bayes_starts": len(sample(every, profile.bayes_starts)),
            "heuristic_tau": study.heuristic_tau,
            "readings": changed(study.readings),
            "heuristic_from": list(study.environments.pair or ()),
            "environments": dict(study.environments),
            "version": __version__,
        } | ({"doubts": [str(doubt) for doubt in found]} if found else {})


def _empty(made: xr.Dataset, dims: Sequence[str], value: float = np.nan) -> xr.DataArray:
    """An array over coordinates of ``made``, filled with one value."""
    shape = [made.sizes[dim] for dim in dims]
    return xr.DataArray(np.full(shape, value), dims=dims, coords={dim: made.coords[dim] for dim in dims})


def _put(made: xr.Dataset, name: str, values: Any, **at: Any) -> None:
    """Write ``values`` into an array at a place; as xarray's ``loc`` does, but quickly."""
    variable = made.variables[name]
    where = tuple(made.indexes[dim].get_loc(at[dim]) if dim in at else slice(None) for dim in variable.dims)
    variable.values[where] = values


def arrivals(found: Iterable[Evaluation], shape: tuple[int, ...]) -> np.ndarray:
    """Share of the searches from each cell that arrive, over some evaluations: float[x, y]; NaN where none start."""
    searches, arrived = np.zeros(shape), np.zeros(shape)
    for one in found:
        cells = one.starts.points[:, 0], one.starts.points[:, 1]
        np.add.at(searches, cells, 1)
        np.add.at(arrived, cells, one.arrived)
    return np.divide(arrived, searches, out=np.full(shape, np.nan), where=searches > 0)


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
