"""The datasets behind figures and claims: two large ones, and four small ones for figs. 1, 6, 8 and B2.

What goes beyond the paper (:mod:`whiffclock.paper.beyond`) has datasets of its own, in ``beyond``: searches and
recoveries of other kinds of agents, tested after the half of the record in which programs were searched, and memories.

Everything has a name: dimensions and coordinates, never positions. NaN marks missing values.

searches
--------
Evaluation results, by kind of agent (:data:`whiffclock.paper.kinds.KINDS`). One that is not trained in one environment
(2Q^h, cast-and-surge with its best angle, the Bayesian agent) is stored where ``trained`` equals ``tested``; the last
two have a single agent. Two kinds serve as controls: single-Q agents trained for twice the episodes, and single-Q
agents whose clock has two modes in name only, since both follow the same path.

- ``label[kind]``: its name in tables
- ``drawn[kind]``: how Fig. 2 draws it: "box", "line" (a kind of one agent), or "" (not at all)
- ``mean[kind, trained, tested, agent, metric]``: means over all starts
- ``strata[kind, trained, tested, agent, stratum, metric]``: the same by time stratum of the starts, which are the same
  for every policy, so that differences can be paired
- ``lost[kind, trained, tested, agent, x]``: failed searches by the x of their last whiff
- ``lost_by[kind, trained, tested, agent, stratum, sixth]``: the same by time stratum and sixth of the grid in x
- ``failures[kind, trained, tested, agent]``: all failed searches, including those without any whiff
- ``share[kind, trained, tested, agent]``: share of test decisions in the sparsest mode (Q+)
- ``arrived_from[trained, x, y]``: share of the searches from a start cell that arrive, over all single-Q agents in
  their training environment; NaN elsewhere
- ``tau[trained]``: tau of the two-Q agents
- ``training_share[trained, agent]``: share of the two-Q agents' training decisions in Q+
- ``sampled[kind, tested, agent, stratum, metric]``: single-Q agents, searched clocks and cast-and-surge, only over the
  starts of the Bayesian agent
- ``cast_angle[tested]``: best half-angle of cast-and-surge, in degrees
- ``cast_scan[tested, angle, metric]``: means at all angles
- ``bound[tested, side]``: lower and upper bound on the value of the Bayesian POMDP
- ``scan_share[trained, tau_scanned, replica]``: scan of tau, share of training decisions in Q+
- ``scan_mean[trained, tau_scanned, replica, metric]``: scan of tau, means over all starts
- ``scan_strata[trained, tau_scanned, replica, stratum, metric]``: the same by time stratum
- ``heuristic_share[tau_scanned, tested]``: scan of tau of 2Q^h, share of test decisions in Q+, mean over agents
- ``heuristic_mean[tau_scanned, tested, metric]``: the same, mean over agents and starts

The facts of a run (profile, plume, environments and their thresholds, version, figures that were asked for, readings of
the paper that differ from ours) are JSON in an attribute of every dataset, beside its name.

recoveries
----------
Recovery paths of trained agents. Ensembles are "single-Q", "two-Q" and the other initial conditions of
:data:`CONDITIONS`, in which single-Q agents are trained; the mode of single-Q agents is "Q".

- ``geometry_of[ensemble, trained, agent, mode, truncation, geometry]``: the metrics
- ``steps[ensemble, trained, agent, mode, truncation]``: moves before the truncation
- ``path[ensemble, trained, agent, mode, step, axis]``: positions after 0 .. H moves; 0 where there is no agent, and
  ``steps`` is NaN
- ``start_cells[ensemble, trained]``: cells in which training starts

setting
-------
For fig. 1. Attributes: snapshot, search_environment, search_arrived, start_cells.

- ``concentration[x, y]``: at one snapshot
- ``whiff[environment, x, y]``: at the same snapshot
- ``probability[environment, x, y]``: share of all snapshots with a whiff
- ``mask[x, y]``: start cells
- ``search[moment, quantity]``: an example search
- ``curve[kind, trained, agent, point, column]``: learning curves

usage
-----
For fig. 6. Attribute: contours.

- ``blank[environment, x, y]``: mean duration of a blank at a cell, in snapshots
- ``decisions[environment, mode, x, y]``: of all two-Q agents, in tests
- ``by_blank[environment, agent, mode, bin]``: decisions by the mean blank of the cell, in bins between 0, the contours
  and infinity, and a last one for cells in which no blank ends
- ``same_path[environment, agent, mode, bin]``: the same of the agents whose modes follow the same path

branches
--------
For fig. 8: forced blanks of the Bayesian agent.

- ``geometry_of[branch, geometry]``: the metrics of a branch
- ``weight[branch]``: probability of its blanks
- ``trial[branch]``: search that it was split off from
- ``environment[branch]``: environment of that search

memories
--------
For fig. B2: agents with memories of different sizes; ``how`` is "searched" or "Q-learned".

- ``mean[how, memory, trained, replica, metric]``: means over all starts, in the environment of training
- ``family[memory]``: clock, modes (a clock with several), window or controller
- ``states[memory]``: number of states
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import xarray as xr

from whiffclock.environments import Environments
from whiffclock.netcdf import read_dataset, write_dataset
from whiffclock.params import convert, require
from whiffclock.path_metrics import MAIN_TRUNCATION

SINGLE, TWO, HEURISTIC = "single-Q", "two-Q", "2Q^h"
MINUS_ONLY, PLUS_ONLY, CAST, BAYES = "Q- only", "Q+ only", "cast-and-surge", "Bayesian"
LONGER, SAME_PATH, SCAN = "single-Q, twice as long", "two modes, same path", "tau scan"
PUBLISHED, HEURISTIC_SCAN = "Bayesian, published sampling", "2Q^h tau scan"
SEARCHED, SEARCHED_TWO, ROBUST = "searched clock", "searched clock, 2 modes", "searched clock, robust"
#: How a program was found, in the dataset of memories.
BY_SEARCH, BY_LEARNING = "searched", "Q-learned"
#: Agents of each kind and environment in the paper.
PAPER_AGENTS = 20
_ENVIRONMENTS = ("environment", "trained", "tested")
#: The ensemble of single-Q agents of each initial condition in training, in the order of the paper's columns (R10).
_WHIFF_OWN, _WHIFF_COMMON = "on a whiff, start region from own threshold", "on a whiff, common start region"
_ANY_OWN, _ANY_COMMON = "any time, start region from own threshold", "any time, common start region"
CONDITIONS = {name: name for name in (_WHIFF_OWN, _WHIFF_COMMON, _ANY_OWN)} | {_ANY_COMMON: SINGLE}
#: The modes of single-Q agents, and of two-Q agents.
MODE, MINUS, PLUS = "Q", "Q-", "Q+"
#: Facts that the datasets of the paper and those beyond it share.
_OF_RUN = ("profile", "fingerprint", "environments", "version")
#: What the origin of a synthetic plume says.
_SYNTHETIC = ("simulated by whiffclock", "synthetic")
#: Dimensions of the variables that a dataset always has.
_AGENTS = ("kind", "trained", "tested", "agent")
_PATHS = ("ensemble", "trained", "agent", "mode")
_MAP = ("environment", "x", "y")
VARIABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "searches": {
        "label": ("kind",), "drawn": ("kind",), "mean": (*_AGENTS, "metric"), "strata": (*_AGENTS, "stratum", "metric"),
        "lost": (*_AGENTS, "x"), "lost_by": (*_AGENTS, "stratum", "sixth"), "failures": _AGENTS, "share": _AGENTS,
    },
    "recoveries": {
        "geometry_of": (*_PATHS, "truncation", "geometry"), "steps": (*_PATHS, "truncation"),
        "path": (*_PATHS, "step", "axis"), "start_cells": ("ensemble", "trained"),
    },
    "setting": {
        "concentration": ("x", "y"), "whiff": _MAP, "probability": _MAP, "mask": ("x", "y"),
        "search": ("moment", "quantity"), "curve": ("kind", "trained", "agent", "point", "column"),
    },
    "usage": {
        "blank": _MAP, "decisions": ("environment", "mode", "x", "y"),
        "by_blank": ("environment", "agent", "mode", "bin"),
    },
    "branches": {
        "geometry_of": ("branch", "geometry"), "weight": ("branch",), "trial": ("branch",), "environment": ("branch",),
    },
    "memories": {
        "mean": ("how", "memory", "trained", "replica", "metric"), "family": ("memory",), "states": ("memory",),
    },
}  # fmt: skip


class Need(NamedTuple):
    """What a figure needs of a kind of agent: trained, tested where it was trained or elsewhere, forced blanks."""

    kind: str
    how: Literal["trained", "at home", "elsewhere", "branched"]


def trained(*kinds: str) -> tuple[Need, ...]:
    """Agents of some kinds, trained in every environment."""
    return tuple(Need(kind, "trained") for kind in kinds)


def at_home(*kinds: str) -> tuple[Need, ...]:
    """Agents of some kinds, tested in the environment of their training."""
    return tuple(Need(kind, "at home") for kind in kinds)


def elsewhere(*kinds: str) -> tuple[Need, ...]:
    """Agents of some kinds, tested in all other environments."""
    return tuple(Need(kind, "elsewhere") for kind in kinds)


class Facts(msgspec.Struct):
    """The facts of a run that figures, claims and page read."""

    profile: str
    figures: list[str]
    kinds: list[str]
    origin: str
    fingerprint: str
    environments: dict[str, float]
    heuristic_from: list[str]
    heuristic_tau: int
    shape: tuple[int, int, int]
    source: tuple[int, int]
    radius: float
    seeds: int
    episodes: int
    long_seeds: int
    scan_seeds: int
    scan_episodes: int
    horizon: int
    searches: int
    bayes_starts: int
    bayes_trials: int
    bayes_backups: int
    version: str


@dataclass(frozen=True)
class Datasets:
    """The datasets of one run; those that the figures asked for do not need are None."""

    searches: xr.Dataset
    recoveries: xr.Dataset | None = None
    setting: xr.Dataset | None = None
    usage: xr.Dataset | None = None
    branches: xr.Dataset | None = None
    memories: xr.Dataset | None = None
    beyond: Datasets | None = None

    @property
    def parts(self) -> dict[str, xr.Dataset]:
        """The datasets that there are, by name, without those beyond the paper."""
        found = {name: getattr(self, name) for name in VARIABLES}
        return {name: dataset for name, dataset in found.items() if dataset is not None}

    def __getitem__(self, name: str) -> xr.Dataset:
        dataset = getattr(self, name)
        require(dataset is not None, f"The run has no dataset of {name}, which none of its figures needs.")
        return dataset

    @property
    def facts(self) -> dict[str, Any]:
        """Profile, plume and versions behind the run."""
        return json.loads(self.searches.attrs["facts"])

    @property
    def synthetic(self) -> bool:
        """Whether the plume was simulated by whiffclock, or is synthetic in another way."""
        return any(word in self.facts["origin"] for word in _SYNTHETIC)

    @property
    def environments(self) -> Environments:
        """The environments of the plume."""
        return Environments(self.facts["environments"])

    def save(self, folder: Path, level: int = 4) -> list[Path]:
        """Write ``<folder>/searches.nc`` and so on, and ``<folder>/beyond/``, compressed; returns the files."""
        made, inner = {folder / f"{name}.nc": dataset for name, dataset in self.parts.items()}, folder / "beyond"
        for path, dataset in made.items():
            write_dataset(path, dataset.assign_attrs(dataset=path.stem, facts=self.searches.attrs["facts"]), level)
        more = [] if self.beyond is None else self.beyond.save(inner, level)
        for place in (folder, *([inner] if self.beyond is None else [])):
            for path in {place / f"{name}.nc" for name in VARIABLES} - made.keys():
                path.unlink(missing_ok=True)  # of an earlier run with other figures
        return [*made, *more]

    @classmethod
    def load(cls, folder: Path) -> Datasets:
        """Inverse of :meth:`save`."""
        require((folder / "searches.nc").is_file(), f"There are no datasets of a run in {folder}.")
        files = {name: folder / f"{name}.nc" for name in VARIABLES}
        found = {name: _read(path) for name, path in files.items() if path.is_file()}
        facts = found["searches"].attrs["facts"]
        for name, dataset in found.items():
            same = dataset.attrs["facts"] == facts
            require(same, f"{files[name]} and searches.nc beside it are of different runs; reproduce or export again.")
        inner = folder / "beyond"
        made = cls(**found, beyond=cls.load(inner) if (inner / "searches.nc").is_file() else None)
        if made.beyond is not None:
            told = made.beyond.facts
            same = SEARCHED in told["kinds"] and all(told[name] == made.facts[name] for name in _OF_RUN)
            require(same, f"The datasets in {folder} and {inner} are of different runs; reproduce or export again.")
        return made


def _read(path: Path) -> xr.Dataset:
    """A dataset of a reproduction: that of the file's name, with all its facts and variables."""
    dataset = read_dataset(path, "a dataset of a reproduction")
    name, facts = dataset.attrs.get("dataset"), dataset.attrs.get("facts")
    known = name == path.stem and isinstance(facts, str)
    require(known, f"{path} is no dataset of {path.stem} of a reproduction by this version; reproduce or export again.")
    problem = f"{path} has no facts of a reproduction that this version knows"
    try:
        told = convert(msgspec.json.decode(str(facts)), Facts, problem)
    except msgspec.DecodeError:
        told = convert(None, Facts, problem)
    Environments(told.environments).required()
    for variable, dims in VARIABLES[path.stem].items():
        whole = variable in dataset.variables and {*dataset[variable].dims} == {*dims}
        require(whole, f"{path} has no variable {variable} with the dimensions {', '.join(dims)}.")
    for dim in ("trained", "tested"):
        named = dim not in dataset.indexes or {*dataset[dim].values.tolist()} == {*told.environments}
        require(named, f"{path} has other environments along {dim} than {', '.join(told.environments)}.")
    return dataset


def in_order(data: Datasets) -> Datasets:
    """The same with environments from dense to sparse, and numbers (agents, strata, cells) ascending."""
    found, names = data.parts, list(data.environments)
    for name, dataset in found.items():
        numbered = [index for index in dataset.indexes if dataset[index].dtype.kind in "iuf"]
        named = {index: names for index in _ENVIRONMENTS if index in dataset.indexes}
        found[name] = dataset.sortby(numbered).sel(named)
    return Datasets(**found, beyond=None if data.beyond is None else in_order(data.beyond))


def in_each(names: Iterable[str], measure: Callable[[str], float]) -> xr.DataArray:
    """``measure`` of every environment: float[environment]."""
    places = list(names)
    return xr.DataArray([measure(name) for name in places], {"environment": places})


def where_trained(values: xr.DataArray, kind: str) -> xr.DataArray:
    """Agents of a kind in their training environment: ``trained`` and ``tested`` become ``environment``."""
    names = values["trained"].values.tolist()
    each = xr.DataArray(names, {"environment": names})
    found = values.sel(kind=kind, trained=each, tested=each).drop_vars(("trained", "tested"))
    return found.transpose("environment", "agent", ..., missing_dims="ignore")


def drawn_kinds(data: Datasets, *how: str) -> list[str]:
    """The kinds of agents that Fig. 2 draws in one of these ways, as far as they were tested."""
    drawn, tested = data.searches["drawn"], data.searches["failures"].notnull().any(("trained", "tested", "agent"))
    return [kind for kind in data.facts["kinds"] if drawn.sel(kind=kind).item() in how and bool(tested.sel(kind=kind))]


def shares_without_whiff(searches: xr.Dataset) -> xr.DataArray:
    """Share of failures without any whiff, over all agents together: float[kind, trained, tested]."""
    failures = searches["failures"].sum("agent")
    return 1 - searches["lost"].sum(("agent", "x")) / failures.where(failures > 0)


def without_whiff(data: Datasets, kind: str) -> xr.DataArray:
    """The same for one kind in its training environments: float[environment]."""
    return where_trained(shares_without_whiff(data.searches), kind)


def best_agents(data: Datasets, kind: str) -> xr.DataArray:
    """The agent of a kind with the highest mean G in each environment: int[environment]."""
    return where_trained(data.searches["mean"], kind).sel(metric="G").fillna(-np.inf).idxmax("agent").astype(np.int64)


def recovery(data: Datasets, ensemble: str, mode: str, truncation: str | None = None) -> xr.Dataset:
    """Recovery paths of an ensemble in one mode, by ``environment`` and ``agent``; by default, as the run reads it."""
    truncation = truncation or data.facts.get("readings", {}).get("truncation", MAIN_TRUNCATION)
    found = data["recoveries"].sel(ensemble=ensemble, mode=mode, truncation=truncation)
    found = found.sel(agent=found["steps"].notnull().any("trained"))  # ensembles may differ in size
    return found.rename(trained="environment").transpose("environment", "agent", ...)


def branches_in(data: Datasets, environment: str) -> xr.Dataset:
    """Forced blanks of the Bayesian agent in one environment."""
    branches = data["branches"]
    return branches.isel(branch=(branches["environment"] == environment).values)


def effective_searches(branches: xr.Dataset) -> float:
    """Effective number of searches behind some forced blanks.

    Branches of one search are correlated, so searches are counted: with weights w (each summed over its branches),
    their effective number is (sum of w)^2 / (sum of w^2).
    """
    _, search = np.unique(branches["trial"], return_inverse=True)
    each = np.bincount(search, branches["weight"])
    return float(each.sum() ** 2 / (each**2).sum()) if each.any() else 0.0
