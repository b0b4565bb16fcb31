"""The datasets behind figures and claims: two large ones, and three small ones for figs. 1, 6 and 8.

Everything has a name: dimensions and coordinates, never positions. NaN marks missing values.

searches
--------
Evaluation results. Kinds are named in :data:`KINDS`. One that is not trained in one environment (2Q^h,
cast-and-surge with its best angle, the Bayesian agent) is stored where ``trained`` equals ``tested``; the last two have
a single agent. Two kinds serve as controls: single-Q agents trained for twice the episodes, and single-Q agents whose
clock has two modes in name only, since both follow the same path.

- ``mean[kind, trained, tested, agent, metric]``: means over all starts
- ``strata[kind, trained, tested, agent, stratum, metric]``: the same by time stratum of the starts, which are the same
  for every policy, so that differences can be paired
- ``lost[kind, trained, tested, agent, x]``: failed searches by the x of their last whiff
- ``lost_by[kind, trained, tested, agent, stratum, sixth]``: the same by time stratum and sixth of the grid in x
- ``failures[kind, trained, tested, agent]``: all failed searches, including those without any whiff
- ``share[kind, trained, tested, agent]``: share of test decisions in the sparsest mode (Q+)
- ``tau[trained]``: tau of the two-Q agents
- ``training_share[trained, agent]``: share of the two-Q agents' training decisions in Q+
- ``sampled[kind, tested, agent, stratum, metric]``: single-Q agents and cast-and-surge, only over the starts of the
  Bayesian agent
- ``cast_angle[tested]``: best half-angle of cast-and-surge, in degrees
- ``cast_scan[tested, angle, metric]``: means at all angles
- ``bound[tested, side]``: lower and upper bound on the value of the Bayesian POMDP
- ``scan_share[trained, tau_scanned, replica]``: scan of tau, share of training decisions in Q+
- ``scan_mean[trained, tau_scanned, replica, metric]``: scan of tau, means over all starts
- ``scan_strata[trained, tau_scanned, replica, stratum, metric]``: the same by time stratum

The facts of a run (profile, plume, version, figures that were asked for) are JSON in an attribute.

recoveries
----------
Void trajectories of trained agents. Ensembles are "single-Q", "two-Q" and the other initial conditions of
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
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from whiffclock.netcdf import read_dataset, write_dataset
from whiffclock.params import ENVIRONMENTS, require
from whiffclock.path_metrics import MAIN_TRUNCATION

SINGLE, TWO, HEURISTIC = "single-Q", "two-Q", "2Q^h"
MINUS_ONLY, PLUS_ONLY, CAST, BAYES = "Q- only", "Q+ only", "cast-and-surge", "Bayesian"
LONGER, SAME_PATH = "single-Q, twice as long", "two modes, same path"
KINDS = (SINGLE, TWO, HEURISTIC, MINUS_ONLY, PLUS_ONLY, CAST, BAYES, LONGER, SAME_PATH)
ENVIRONMENT_NAMES = tuple(ENVIRONMENTS)
#: Agents of each kind and environment in the paper.
PAPER_AGENTS = 20
_ENVIRONMENTS = ("environment", "trained", "tested")
#: The ensemble of single-Q agents of each initial condition in training, in the order of the paper's columns (R10).
CONDITIONS = {
    "on a whiff, own mask": "on a whiff, own mask",
    "on a whiff, one mask": "on a whiff, one mask",
    "any time, own mask": "any time, own mask",
    "any time, one mask": SINGLE,
}
ENSEMBLES = (SINGLE, TWO, *(name for name in CONDITIONS.values() if name != SINGLE))
#: The modes of single-Q agents, and of two-Q agents.
MODE, MINUS, PLUS = "Q", "Q-", "Q+"


@dataclass(frozen=True)
class Datasets:
    """The datasets of one run; those that the figures asked for do not need are None."""

    searches: xr.Dataset
    recoveries: xr.Dataset | None = None
    setting: xr.Dataset | None = None
    usage: xr.Dataset | None = None
    branches: xr.Dataset | None = None

    def __getitem__(self, name: str) -> xr.Dataset:
        dataset = getattr(self, name)
        require(dataset is not None, f"The run has no dataset of {name}, which none of its figures needs.")
        return dataset

    @property
    def facts(self) -> dict[str, Any]:
        """Profile, plume and versions behind the run."""
        return json.loads(self.searches.attrs["facts"])

    def save(self, folder: Path) -> list[Path]:
        """Write ``<folder>/searches.nc`` and so on; returns the files."""
        found = {f"{field.name}.nc": getattr(self, field.name) for field in fields(self)}
        made = {folder / name: dataset for name, dataset in found.items() if dataset is not None}
        for path, dataset in made.items():
            write_dataset(path, dataset)
        for name in found.keys() - {path.name for path in made}:
            (folder / name).unlink(missing_ok=True)  # of an earlier run with other figures
        return list(made)

    @classmethod
    def load(cls, folder: Path) -> Datasets:
        """Inverse of :meth:`save`."""
        require((folder / "searches.nc").is_file(), f"There are no datasets of a run in {folder}.")
        found = {field.name: folder / f"{field.name}.nc" for field in fields(cls)}
        what = "a dataset of a reproduction"
        return cls(**{name: read_dataset(path, what) for name, path in found.items() if path.is_file()})


def in_order(data: Datasets) -> Datasets:
    """The same with environments from dense to sparse, and numbers (agents, strata, cells) ascending."""
    found = {field.name: getattr(data, field.name) for field in fields(data)}
    for name, dataset in found.items():
        if dataset is not None:
            numbered = [index for index in dataset.indexes if dataset[index].dtype.kind in "iuf"]
            named = {index: list(ENVIRONMENT_NAMES) for index in _ENVIRONMENTS if index in dataset.indexes}
            found[name] = dataset.sortby(numbered).sel(named)
    return Datasets(**found)


def in_each(measure: Callable[[str], float]) -> xr.DataArray:
    """``measure`` of every environment: float[environment]."""
    return xr.DataArray([measure(name) for name in ENVIRONMENT_NAMES], {"environment": list(ENVIRONMENT_NAMES)})


def where_trained(values: xr.DataArray, kind: str) -> xr.DataArray:
    """Agents of a kind in their training environment: ``trained`` and ``tested`` become ``environment``."""
    each = xr.DataArray(list(ENVIRONMENT_NAMES), {"environment": list(ENVIRONMENT_NAMES)})
    found = values.sel(kind=kind, trained=each, tested=each).drop_vars(("trained", "tested"))
    return found.transpose("environment", "agent", ..., missing_dims="ignore")


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


def recovery(data: Datasets, ensemble: str, mode: str, truncation: str = MAIN_TRUNCATION) -> xr.Dataset:
    """Void trajectories of an ensemble in one mode, by ``environment`` and ``agent``."""
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
