"""Hand-made datasets in which every claim holds, and what to change so that one does not."""

import functools
import json
from copy import deepcopy
from dataclasses import replace

import numpy as np
import xarray as xr

from whiffclock.paper.dataset import (
    BAYES,
    CAST,
    CONDITIONS,
    HEURISTIC,
    LONGER,
    MINUS,
    MINUS_ONLY,
    PLUS,
    PLUS_ONLY,
    PUBLISHED,
    SINGLE,
    TWO,
    Datasets,
)
from whiffclock.paper.kinds import KINDS as ALL_KINDS
from whiffclock.path_metrics import GEOMETRY, MAIN_TRUNCATION, TRUNCATIONS

ENVIRONMENT_NAMES = ("denser", "dense", "sparse", "sparser")
#: Without the second Bayesian agent, which runs need not have.
KINDS = {name: kind for name, kind in ALL_KINDS.items() if kind.tabled and name != PUBLISHED}
ENSEMBLES = (SINGLE, TWO, *(name for name in CONDITIONS.values() if name != SINGLE))
FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "s1", "s2", "s3", "s4", "s5", "s6")
METRICS = ("G", "T_min/T", "f+", "G_sum")
LENGTH, WIDTH, SEARCHES = 40, 9, 1000
#: Typical geometry in each environment: what must grow grows for sure, what is weak overlaps.
GROWING = {
    "surge_length": (4, 8, 12, 16),
    "upwind_search": (20, 30, 40, 50),
    "downwind_return_start": (60, 90, 120, 150),
}
PLUME = {"origin": "an odor", "fingerprint": "f00d"}
PLUME |= {"environments": dict(zip(ENVIRONMENT_NAMES, (1e-6, 3e-6, 5e-6, 7e-6), strict=True))}
PLUME |= {"kinds": list(KINDS)}
PLUME |= {"shape": [10, LENGTH, WIDTH], "source": [0, WIDTH // 2]}
PAPER = {
    "profile": "paper", "seeds": 20, "episodes": 3_000_001, "epsilon_decay": 2.5e6, "snapshots": 8, "horizon": 500,
    "searches": SEARCHES, "radius": 2.0, "heuristic_tau": 10, "heuristic_from": ["dense", "sparse"], "scan_seeds": 3,
    "scan_episodes": 1_000_000, "bayes_starts": 20_000, "bayes_backups": 20_000, "bayes_trials": 300, "long_seeds": 5,
    "version": "0.1.0",
}  # fmt: skip
QUICK = {"profile": "quick", "seeds": 5, "episodes": 250_000, "epsilon_decay": 250_000 / 1.2, "long_seeds": 0}
_EACH = {"trained": list(ENVIRONMENT_NAMES), "tested": list(ENVIRONMENT_NAMES)}


def as_in_the_paper(n=12, strata=8, branches=60, figures=FIGURES, **facts):
    """All datasets, with ``n`` agents per ensemble; all claims hold if n is not small."""
    made = deepcopy(_made(n, strata, branches))
    made.searches.attrs["facts"] = json.dumps(PAPER | PLUME | {"figures": list(figures)} | facts)
    return made


@functools.cache
def _made(n, strata, branches):
    """Datasets without facts; they take a second to make and some milliseconds to copy."""
    rng = np.random.default_rng(5)
    return Datasets(_searches(n, strata, rng), _recoveries(n, rng), _setting(n), _usage(n), _branches(branches, rng))


def with_facts(data, **facts):
    """The same datasets with other facts."""
    searches = data.searches.copy(deep=True)
    searches.attrs["facts"] = json.dumps(data.facts | facts)
    return replace(data, searches=searches)


def _searches(n, strata, rng):
    agents = ("kind", "trained", "tested", "agent")
    shape = (len(KINDS), 4, 4, n)
    replicas = 1 if n < 5 else -(-n // 3)
    made = xr.Dataset(
        {
            "strata": ((*agents, "stratum", "metric"), np.zeros((*shape, strata, len(METRICS)))),
            "lost": ((*agents, "x"), np.zeros((*shape, LENGTH))),
            "share": (agents, np.full(shape, 0.4)),
            "label": ("kind", [kind.label for kind in KINDS.values()]),
            "drawn": ("kind", [kind.drawn for kind in KINDS.values()]),
            "scan_strata": (
                ("trained", "tau_scanned", "replica", "stratum", "metric"),
                0.7 + rng.normal(0, 0.01, (4, 9, replicas, strata, len(METRICS))),
            ),
        },
        coords=_EACH | {"kind": list(KINDS), "agent": np.arange(n), "stratum": np.arange(strata)}
        | {"metric": list(METRICS), "x": np.arange(LENGTH), "tau_scanned": np.arange(1, 10)}
        | {"replica": np.arange(replicas)},
    )  # fmt: skip

    def level(kind, *levels):
        for name, value in zip(ENVIRONMENT_NAMES, levels, strict=True):
            noise = rng.normal(0, 0.004, (n, 1)) + rng.normal(0, 0.004, strata)
            made["strata"].loc[{"kind": kind, "trained": name, "metric": "G"}] = value + noise

    level(SINGLE, 0.6, 0.6, 0.6, 0.6)  # where they were not trained; where they were, see below
    level(TWO, 0.7, 0.7, 0.7, 0.7)
    for name in ENVIRONMENT_NAMES:
        here = {"trained": name, "tested": name, "metric": "G"}
        noise = rng.normal(0, 0.004, (5, n, 1)) + rng.normal(0, 0.004, strata)
        made["strata"].loc[{"kind": SINGLE} | here] = 0.7 + noise[0]
        made["strata"].loc[{"kind": TWO} | here] = (0.75 if name.startswith("sparse") else 0.69) + noise[1]
        made["strata"].loc[{"kind": HEURISTIC} | here] = 0.69 + noise[2]
        made["strata"].loc[{"kind": LONGER} | here] = 0.702 + noise[4]
        made["strata"].loc[{"kind": CAST} | here] = 0.5
        made["strata"].loc[{"kind": BAYES} | here] = 0.75 + noise[3, 0]
    made["strata"].loc[{"metric": "f+"}] = 0.99
    made["mean"] = made["strata"].mean("stratum")
    home = {"trained": xr.DataArray(list(ENVIRONMENT_NAMES), dims="tested")}
    made["sampled"] = made["strata"].sel(home).drop_vars("trained")
    _lose(made["lost"], rng)
    made["failures"] = made["lost"].sum("x") + 10  # these without any whiff
    sixth = (6 * made["x"] // (LENGTH - 1)).clip(max=5)
    parts = [made["lost"].where(sixth == i, 0).sum("x") / strata for i in range(6)]
    made["lost_by"] = xr.concat(parts, "sixth").expand_dims(stratum=made["stratum"]).assign_coords(sixth=np.arange(6))
    made["lost_by"] = made["lost_by"].transpose(*agents, "stratum", "sixth").copy()
    return made


def _lose(lost, rng):
    """Forty failures of each agent around a place in each environment, and those of other agents elsewhere."""
    lost.loc[{"kind": SINGLE, "x": 3}] = 20
    for tested in ENVIRONMENT_NAMES[2:]:
        for trained in ENVIRONMENT_NAMES[:2]:
            many = 50 + rng.integers(0, 9, lost.sizes["agent"])
            lost.loc[{"kind": SINGLE, "trained": trained, "tested": tested, "x": 30}] = many
    for name, place in zip(ENVIRONMENT_NAMES, (3, 5, 7, 9), strict=True):
        here = {"kind": SINGLE, "trained": name, "tested": name}
        lost.loc[here] = 0
        lost.loc[here | {"x": slice(place - 1, place + 1)}] = [10, 20, 10]
    for kind in (TWO, MINUS_ONLY, PLUS_ONLY):
        lost.loc[{"kind": kind, "x": [5, 30]}] = 10
    lost.loc[{"kind": MINUS_ONLY, "x": 30}] = 70
    lost.loc[{"kind": PLUS_ONLY, "x": 5}] = 70


def _recoveries(n, rng):
    dims = ("ensemble", "trained", "agent", "mode", "truncation", "geometry")
    modes = ("Q", MINUS, PLUS)
    made = np.zeros((len(ENSEMBLES), 4, n, len(modes), len(TRUNCATIONS), len(GEOMETRY)))
    values = xr.DataArray(
        made,
        dims=dims,
        coords={
            "ensemble": list(ENSEMBLES),
            "trained": list(ENVIRONMENT_NAMES),
            "agent": np.arange(n),
            "mode": list(modes),
            "truncation": list(TRUNCATIONS),
            "geometry": list(GEOMETRY),
        },
    )
    for ensemble in ENSEMBLES:
        for mode in modes:
            for truncation in TRUNCATIONS:
                where = {"ensemble": ensemble, "mode": mode, "truncation": truncation}
                _clear_and_weak_trends(values, where, n, rng)
    for name, change in (("upwind_search", -10), ("downwind_return_start", -30), ("surge_length", 10)):
        values.loc[{"ensemble": TWO, "mode": MINUS, "geometry": name}] += change
    steps = xr.full_like(values.isel(geometry=0, drop=True), 40.0)
    return xr.Dataset({"geometry_of": values, "steps": steps})


def _clear_and_weak_trends(values, where, n, rng):
    ranks = np.arange(n) / n
    for e, name in enumerate(ENVIRONMENT_NAMES):
        here = where | {"trained": name}
        for metric, typical in GROWING.items():
            values.loc[here | {"geometry": metric}] = typical[e] + rng.integers(-2, 3, n)
        values.loc[here | {"geometry": "cast_width"}] = 50 + 40 * ranks + 4.5 * e
        for metric in ("downwind_return_printed", "downwind_return_length"):
            values.loc[here | {"geometry": metric}] = 90 - 40 * ranks - 4.5 * e
    never = {"trained": "sparser", "agent": [0, 1], "geometry": "downwind_return_start"}
    values.loc[where | never] = np.nan


def _setting(n):
    probability = np.full((4, LENGTH, WIDTH), 0.25) / np.arange(1, 5)[:, None, None]
    return xr.Dataset(
        {
            "probability": (("environment", "x", "y"), probability),
            "mask": (("x", "y"), np.ones((LENGTH, WIDTH))),
            "curve": (("kind", "trained", "agent", "point", "column"), _curves(n)),
        },
        coords={"environment": list(ENVIRONMENT_NAMES), "x": np.arange(LENGTH), "y": np.arange(WIDTH)}
        | {"kind": [SINGLE, TWO], "trained": list(ENVIRONMENT_NAMES), "agent": np.arange(n)}
        | {"column": ["episode", "G", "f+", "steps"]},
    )


def _curves(n):
    """Learning curves that rise for half of the training, then stay."""
    made = np.zeros((2, 4, n, 40, 4))
    made[..., 0] = 75_000 * np.arange(1, 41)
    made[..., 1] = np.minimum(np.arange(40) / 20, 1) * 0.7 + 0.001 * np.arange(n)[:, None]
    return made


def _usage(n):
    by_blank = np.zeros((4, n, 2, 8))
    by_blank[:, :, 0] = [80, 40, 20, 5, 0, 0, 0, 0]
    by_blank[:, :, 1] = [5, 5, 10, 20, 20, 10, 5, 5]
    same_path = by_blank + 40 + 3 * np.arange(n)[:, None, None]  # more alike, but Q+ still where blanks are long
    return xr.Dataset(
        {
            "by_blank": (("environment", "agent", "mode", "bin"), by_blank),
            "same_path": (("environment", "agent", "mode", "bin"), same_path),
            "blank": (("environment", "x", "y"), np.full((4, LENGTH, WIDTH), 12.0)),
        },
        coords={"environment": list(ENVIRONMENT_NAMES), "agent": np.arange(n), "mode": [MINUS, PLUS]}
        | {"x": np.arange(LENGTH), "y": np.arange(WIDTH)},
    )  # fmt: skip


def _branches(branches, rng):
    geometry = [rng.integers(2, 40 + 60 * e, (branches, len(GEOMETRY))).astype(float) for e in range(4)]
    made = xr.Dataset(
        {
            "geometry_of": (("branch", "geometry"), np.concatenate(geometry)),
            "weight": ("branch", np.ones(4 * branches)),
            "trial": ("branch", np.tile(np.arange(float(branches)), 4)),
            "environment": ("branch", np.repeat(ENVIRONMENT_NAMES, branches)),
        },
        coords={"geometry": list(GEOMETRY)},
    )
    made["geometry_of"].loc[{"branch": np.arange(4) * branches, "geometry": "downwind_return_start"}] = np.nan
    return made


def home(kind, environment, **where):
    """Where agents of a kind are tested in the environment that they belong to."""
    return {"kind": kind, "trained": environment, "tested": environment, **where}


def _set(dataset, variable, where, value):
    def change(data):
        getattr(data, dataset)[variable].loc[where] = value

    return change


def _reverse(metric, where):
    """Environments in the opposite order, in one metric of geometry."""

    def change(data):
        values, at = data.recoveries["geometry_of"], where | {"geometry": metric}
        values.loc[at] = values.sel(at).isel(trained=slice(None, None, -1)).values.copy()

    return change


def _strong(metric):
    """A trend that nobody would call weak."""

    def change(data):
        for e, name in enumerate(ENVIRONMENT_NAMES):
            data.recoveries["geometry_of"].loc[{"geometry": metric, "trained": name}] = e

    return change


def _swap(dataset, variable, first, second):
    def change(data):
        values = getattr(data, dataset)[variable]
        one, other = values.sel(first).values.copy(), values.sel(second).values.copy()
        values.loc[first], values.loc[second] = other, one

    return change


def _all_alike(data):
    """The same path after every history."""
    data.branches["geometry_of"][(data.branches["environment"] == "sparser").values] = 5


def _swap_branches(data):
    """The densest plume's forced blanks for the sparsest's, and the other way round."""
    names = data.branches["environment"].values
    denser, sparser = names == "denser", names == "sparser"
    names[denser], names[sparser] = "sparser", "denser"


_CUTS = [name for name in TRUNCATIONS if name != MAIN_TRUNCATION]
_MAIN = {"ensemble": SINGLE, "mode": "Q", "truncation": MAIN_TRUNCATION}
_STARTS = _MAIN | {"ensemble": [name for name in ENSEMBLES if name not in (SINGLE, TWO)]}

#: For each claim, changes of the data each of which makes it not hold.
BROKEN = {
    "C1": [_set("searches", "strata", home(CAST, "sparse", metric="G"), 0.9)],
    "C2": [_set("searches", "strata", home(BAYES, "denser", metric="G"), 0.6),
           _set("searches", "strata", home(BAYES, "denser", metric="G"), 0.95),
           _set("searches", "sampled", {"kind": SINGLE, "tested": "sparse", "metric": "G"}, 0.5)],
    "C3": [_set("searches", "strata", home(SINGLE, "denser", metric="f+"), 0.95),
           _set("searches", "strata", home(SINGLE, "sparser", metric="f+"), 0.85)],
    "C4": [_set("setting", "curve", {"trained": "dense", "point": slice(36, None), "column": "G"}, 0.8),
           _set("setting", "curve", {"trained": "sparser", "point": slice(36, None), "column": "G"}, 0.5)],
    "C5": [_reverse("surge_length", _MAIN), _set("recoveries", "geometry_of", {"geometry": "surge_length"}, 7)],
    "C6": [_reverse("upwind_search", _MAIN), _reverse("downwind_return_start", _MAIN),
           _set("recoveries", "geometry_of",
                {"trained": ["denser", "dense"], "geometry": "downwind_return_start"}, np.nan)],
    "C7": [_reverse("cast_width", _MAIN), _reverse("downwind_return_printed", _MAIN), _strong("cast_width"),
           _reverse("downwind_return_length", _MAIN)],
    "C8": [_set("searches", "lost", {"kind": SINGLE}, 1.0)],
    "C9": [_set("searches", "lost_by", home(SINGLE, "sparse", sixth=4), 30)],
    "C10": [_set("searches", "strata", {"kind": TWO, "trained": "sparser", "metric": "G"}, 0.3)],
    "C11": [_set("searches", "strata", home(TWO, "sparser", metric="G"), 0.5),
            _set("searches", "strata", home(TWO, "denser", metric="G"), 0.8)],
    "C12": [_set("searches", "share", home(TWO, "denser"), 0.7),
            _set("usage", "by_blank", {"environment": "dense"}, 5.0)],
    "C13": [_swap("recoveries", "geometry_of", {"mode": MINUS}, {"mode": PLUS})],
    "C14": [_swap("searches", "lost_by", {"kind": MINUS_ONLY}, {"kind": TWO}),
            _swap("searches", "lost_by", {"kind": PLUS_ONLY}, {"kind": TWO})],
    "C15": [_set("searches", "strata", home(HEURISTIC, "dense", metric="G"), 0.6)],
    "C16": [_set("searches", "scan_strata", {"trained": "denser", "tau_scanned": slice(7, None), "metric": "G"}, 0.4)],
    "C17": [_all_alike, _swap_branches],
    "C18": [_reverse("upwind_search", _MAIN | {"truncation": _CUTS}), _reverse("surge_length", _STARTS)],
}  # fmt: skip
