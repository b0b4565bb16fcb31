"""Small made-up datasets, in the schema of ``whiffclock.paper.dataset``."""

import functools
import json
from copy import deepcopy

import numpy as np
import xarray as xr

from whiffclock.environments import PAPER, Environments
from whiffclock.evaluation import METRICS
from whiffclock.paper import dataset as names
from whiffclock.paper.beyond.memories import MEMORIES, family
from whiffclock.paper.beyond.study import KINDS as BEYOND_KINDS
from whiffclock.paper.dataset import CONDITIONS, Datasets
from whiffclock.paper.kinds import KINDS
from whiffclock.path_metrics import GEOMETRY, TRUNCATIONS

E, A, T, H, X, Y = len(PAPER), 5, 3, 40, 30, 9
TABLED = {name: kind for name, kind in KINDS.items() if kind.tabled}
ENSEMBLES = (names.SINGLE, names.TWO, *(name for name in CONDITIONS.values() if name != names.SINGLE))
MOVES = np.array([(-1, 0), (1, 0), (0, 1), (0, -1)])
ANGLES, TAUS, CONTOURS = (15, 30, 45, 60), (1, 3, 8, 20), (5, 10, 25, 50, 100, 200)
FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "s1", "s2", "s3", "s4", "s5", "s6")
AGENTS = ("kind", "trained", "tested", "agent")
WALKERS = ("ensemble", "trained", "agent", "mode")
#: Ensembles with two modes.
TWO_MODES = (names.TWO, names.SEARCHED_TWO)
BEYOND = ("b1", "b2", "b3", "b4")
BEYOND_TABLED = {name: kind for name, kind in BEYOND_KINDS.items() if kind.tabled}

FACTS = {
    "profile": "quick",
    "figures": list(FIGURES),
    "kinds": list(TABLED),
    "origin": "a plume made up for tests",
    "fingerprint": "f00d",
    "environments": dict(PAPER),
    "shape": [60, X, Y],
    "source": [0, 4],
    "radius": 2.0,
    "horizon": H,
    "seeds": A,
    "episodes": 1000,
    "epsilon_decay": 800.0,
    "snapshots": T,
    "searches": 120,
    "heuristic_tau": 10,
    "heuristic_from": ["dense", "sparse"],
    "scan_seeds": 2,
    "scan_episodes": 500,
    "bayes_starts": 30,
    "bayes_backups": 300,
    "bayes_trials": 10,
    "long_seeds": 5,
    "programs": A,
    "candidates": 700,
    "memory_seeds": 2,
    "version": "0.0.0",
}


def datasets(*, branches=True, failures=True, returns=True, walks=True, **facts):
    """A run with or without branches of the Bayesian agent, failed searches, returns, and paths of any length.

    ``facts`` replace those of :data:`FACTS`.
    """
    made = deepcopy(_made(branches, failures, returns, walks))
    made.searches.attrs["facts"] = json.dumps(FACTS | facts)
    return made


@functools.cache
def _made(*there):
    """Datasets without facts; to copy them takes a hundredth of the time."""
    case = Case(*there)
    return Datasets(case.searches(), case.recoveries(), case.setting(), case.usage(), case.branches())


def beyond(*, failures=True, returns=True, walks=True, **facts):
    """The datasets beyond the paper of such a run."""
    made = deepcopy(_made_beyond(failures, returns, walks))
    own = {"figures": list(BEYOND), "kinds": list(BEYOND_TABLED)}
    made.searches.attrs["facts"] = json.dumps(FACTS | own | facts)
    return made


@functools.cache
def _made_beyond(*there):
    ensembles = (names.SINGLE, names.SEARCHED, names.SEARCHED_TWO, names.ROBUST)
    case = Case(False, *there, tabled=BEYOND_TABLED, ensembles=ensembles)
    return Datasets(case.searches(), case.recoveries(), memories=case.memories())


def in_environments(data, thresholds):
    """The same run in other environments, one to eight; each has the values of one of the four."""
    chosen = [list(PAPER)[i % E] for i in range(len(thresholds))]

    def changed(dataset):
        for dim in ("trained", "tested", "environment"):
            if dim in dataset.indexes:
                dataset = dataset.sel({dim: chosen}).assign_coords({dim: list(thresholds)})
        if "search_environment" in dataset.attrs:
            dataset = dataset.assign_attrs(search_environment=[*thresholds][-1])
        if "branch" in dataset.dims:
            parts = [dataset.isel(branch=(dataset["environment"] == name).values) for name in chosen]
            parts = [part.assign(environment=("branch", [name] * part.sizes["branch"]))
                     for part, name in zip(parts, thresholds, strict=True)]  # fmt: skip
            dataset = xr.concat(parts, "branch")
        return dataset

    made = {name: changed(dataset) for name, dataset in data.parts.items()}
    pair = list(Environments(thresholds).pair or ())
    facts = data.facts | {"environments": thresholds, "heuristic_from": pair}
    made["searches"] = made["searches"].assign_attrs(facts=json.dumps(facts))
    if not pair:
        there = made["searches"]["kind"] != names.HEURISTIC
        for name in ("mean", "strata", "failures", "share", "lost", "lost_by"):
            made["searches"][name] = made["searches"][name].where(there)
    return Datasets(**made)


class Case:
    """Random values; what is not there is NaN, zero or empty."""

    def __init__(self, branches, failures, returns, walks, tabled=TABLED, ensembles=ENSEMBLES):
        self.tabled, self.ensembles = tabled, ensembles
        self.n_branches, self.failures, self.returns, self.walks = 50 * branches, failures, returns, walks
        self.rng = np.random.default_rng(5)

    def searches(self):
        strata = self.performance(len(self.tabled), E, E, A, T)
        lost = self.rng.integers(0, 4, (len(self.tabled), E, E, A, X)) * float(self.failures)
        scan = self.performance(E, len(TAUS), FACTS["scan_seeds"], T)
        cast = self.performance(E, len(ANGLES))
        made = xr.Dataset(
            {
                "strata": ((*AGENTS, "stratum", "metric"), strata),
                "lost": ((*AGENTS, "x"), lost),
                "lost_by": ((*AGENTS, "stratum", "sixth"), self.by_sixth(lost)),
                "share": (AGENTS, self.rng.random(lost.shape[:4])),
            },
            {"kind": list(self.tabled), "agent": np.arange(A), **_environments("trained", "tested")},
        )
        made = made.where(_there(made))
        made["mean"] = made.strata.mean("stratum")
        made["failures"] = made["lost"].sum("x", min_count=1) + (1.0 if self.failures else 0.0)
        made["share"] = made.share.where(made.kind.isin([names.TWO, names.HEURISTIC, names.SAME_PATH]))
        made["label"] = "kind", [kind.label for kind in self.tabled.values()]
        made["drawn"] = "kind", [kind.drawn for kind in self.tabled.values()]
        made["tau"] = "trained", [1, 2, 3, 8]
        made["arrived_from"] = ("trained", "x", "y"), np.random.default_rng(6).random((E, X, Y))
        made["arrived_from"][:, :, -1] = np.nan
        made["training_share"] = ("trained", "agent"), self.rng.random((E, A))
        made["sampled"] = ("kind", "tested", "agent", "stratum", "metric"), self.performance(len(self.tabled), E, A, T)
        made["cast_angle"] = "tested", np.array(ANGLES)[cast[..., 0].argmax(axis=1)].astype(float)
        made["cast_scan"] = ("tested", "angle", "metric"), cast
        made["bound"] = ("tested", "side"), np.sort(self.rng.random((E, 2)))
        made["scan_share"] = ("trained", "tau_scanned", "replica"), self.rng.random(scan.shape[:3])
        made["scan_strata"] = ("trained", "tau_scanned", "replica", "stratum", "metric"), scan
        made["scan_mean"] = made.scan_strata.mean("stratum")
        numbered = {
            "stratum": np.arange(T),
            "sixth": np.arange(6),
            "x": np.arange(X),
            "y": np.arange(Y),
            "replica": np.arange(FACTS["scan_seeds"]),
        }
        named = {"metric": list(METRICS), "side": ["lower", "upper"], "angle": list(ANGLES), "tau_scanned": list(TAUS)}
        return made.assign_coords({**numbered, **named})

    def recoveries(self):
        shape = (len(self.ensembles), E, A, 3)
        moves = MOVES[self.rng.choice(4, (*shape, H), p=[0.4, 0.25, 0.2, 0.15])]
        path = np.concatenate([np.zeros((*shape, 1, 2)), moves.cumsum(axis=-2)], axis=-2)
        steps = self.rng.integers(10, H, (*shape, len(TRUNCATIONS))) * float(self.walks)
        steps[..., TRUNCATIONS.index("none")] = H
        made = xr.Dataset(
            {
                "geometry_of": ((*WALKERS, "truncation", "geometry"), self.geometry(*shape, len(TRUNCATIONS))),
                "steps": ((*WALKERS, "truncation"), steps),
                "start_cells": (("ensemble", "trained"), np.full(shape[:2], 40.0)),
            },
            {"ensemble": list(self.ensembles), "mode": [names.MODE, names.MINUS, names.PLUS], "agent": np.arange(A)}
            | {"truncation": list(TRUNCATIONS), "geometry": list(GEOMETRY)}
            | {"step": np.arange(H + 1), "axis": ["x", "y"], **_environments("trained")},
        )
        modes = xr.DataArray(
            [[(mode == names.MODE) != (name in TWO_MODES) for mode in made["mode"].values] for name in self.ensembles],
            dims=("ensemble", "mode"),
        )
        made["geometry_of"], made["steps"] = made.geometry_of.where(modes), made.steps.where(modes)
        made["path"] = (*WALKERS, "step", "axis"), path
        made["path"] = made.path.where(modes, 0).astype(np.int16)
        return made

    def setting(self):
        curve = self.rng.random((2, E, A, 20, 4))
        curve[..., 0] = np.arange(1, 21) * 50.0
        x = np.arange(20, 1, -1)
        clock = np.arange(len(x)) % 4
        field = self.rng.random((X, Y)) * 1e-5
        return xr.Dataset(
            {
                "concentration": (("x", "y"), field),
                "whiff": (("environment", "x", "y"), [1.0 * (field >= limit) for limit in PAPER.values()]),
                "probability": (("environment", "x", "y"), self.rng.random((E, X, Y))),
                "mask": (("x", "y"), np.ones((X, Y))),
                "search": (("moment", "quantity"), np.stack([x, np.full(len(x), 4), clock == 0, clock], axis=1) * 1.0),
                "curve": (("kind", "trained", "agent", "point", "column"), curve),
            },
            {"x": np.arange(X), "y": np.arange(Y), "quantity": ["x", "y", "whiff", "clock"]}
            | {"kind": [names.SINGLE, names.TWO], "agent": np.arange(A), "column": ["episode", "G", "f+", "steps"]}
            | _environments("environment", "trained"),
            {"snapshot": 7, "search_environment": "sparse", "search_arrived": 1, "start_cells": 40},
        )

    def usage(self):
        blank = np.exp(self.rng.random((E, X, Y)) * 6) if self.walks else np.full((E, X, Y), np.nan)
        decisions = self.rng.integers(0, 9, (E, 2, X, Y)) * float(self.walks)
        by_blank = self.rng.integers(0, 99, (2, E, A, 2, len(CONTOURS) + 2)) * float(self.walks)
        return xr.Dataset(
            {
                "blank": (("environment", "x", "y"), blank),
                "decisions": (("environment", "mode", "x", "y"), decisions),
                "by_blank": (("environment", "agent", "mode", "bin"), by_blank[0]),
                "same_path": (("environment", "agent", "mode", "bin"), by_blank[1]),
            },
            {"mode": [names.MINUS, names.PLUS], "x": np.arange(X), "y": np.arange(Y), "agent": np.arange(A)}
            | _environments("environment"),
            {"contours": list(CONTOURS)},
        )

    def branches(self):
        count = E * self.n_branches
        return xr.Dataset(
            {
                "geometry_of": (("branch", "geometry"), self.geometry(count)),
                "weight": ("branch", np.exp(3 * self.rng.normal(size=count))),
                "trial": ("branch", self.rng.integers(0, FACTS["bayes_trials"], count).astype(float)),
                "environment": ("branch", np.repeat(PAPER.names, self.n_branches)),
            },
            {"geometry": list(GEOMETRY)},
        )

    def memories(self):
        some = ["clock 10", "clock 35", "clock 500", "2 modes", "window 2", "controller 8"]
        made = xr.Dataset(
            {
                "mean": (("how", "memory", "trained", "replica", "metric"), self.performance(2, len(some), E, 2)),
                "family": ("memory", [family(name) for name in some]),
                "states": ("memory", [len(MEMORIES[name].row) for name in some]),
            },
            {"how": [names.BY_SEARCH, names.BY_LEARNING], "memory": some, "replica": np.arange(2)}
            | {"metric": list(METRICS), **_environments("trained")},
        )
        made["mean"].loc[{"how": names.BY_LEARNING, "memory": "controller 8"}] = np.nan
        return made

    @staticmethod
    def by_sixth(lost):
        """The same failures by sixth of the way, all in the first stratum."""
        found = np.zeros((*lost.shape[:-1], T, 6))
        np.add.at(found, (..., 0, np.minimum(6 * np.arange(X) // (X - 1), 5)), lost)
        return found

    def performance(self, *shape):
        return 0.5 + 0.4 * self.rng.random((*shape, len(METRICS)))

    def geometry(self, *shape):
        values = self.rng.integers(1, 20, (*shape, len(GEOMETRY))).astype(float)
        absent = self.rng.random(shape) < 0.3 if self.returns else np.ones(shape, dtype=bool)
        values[..., GEOMETRY.index("downwind_return_start")][absent] = np.nan
        return values


def _environments(*dims):
    return {dim: list(PAPER) for dim in dims}


def _there(made):
    """Which agents are tested where: two kinds everywhere, others where trained; two kinds have a single agent."""
    everywhere = made.kind.isin([names.SINGLE, names.TWO, names.SEARCHED, names.SEARCHED_TWO])
    alone = made.kind.isin([names.CAST, names.BAYES, names.PUBLISHED])
    return (everywhere | (made.trained == made.tested)) & (~alone | (made.agent == 0))
