"""The data behind every figure as tidy tables: one row per observation, only rows with values.

:data:`TABLES` has a table for each figure, and more for panels that show something else (``fig3d``). Any variable of a
dataset is a table, too (``searches.strata``). All columns are explained in :data:`COLUMNS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from whiffclock.paper import dataset as ds
from whiffclock.paper.figures import data_of, figures_of, known
from whiffclock.params import require
from whiffclock.path_metrics import MAIN_TRUNCATION

if TYPE_CHECKING:
    from pandas import DataFrame

_METRICS = ("G", "T_min/T", "f+")
#: What the columns mean.
COLUMNS = {
    "kind": "kind of agent",
    "ensemble": "kind of agent, or how the training of single-Q agents starts",
    "environment": "environment of training and test",
    "trained": "environment of training",
    "tested": "environment of the test",
    "agent": "number of the agent in its ensemble (its seed)",
    "mode": "Q: single-Q; Q-, Q+: two-Q after a short or a long blank",
    "episode": "training episodes played",
    "point": "number of the point of the learning curve",
    "G": "mean reward per search, discounted",
    "T_min/T": "shortest possible time over time needed, 0 for failures, mean",
    "f+": "share of searches that arrive",
    "G_sum": "mean reward per search, not discounted",
    "failures": "failed searches",
    "lost": "failed searches with the last whiff at this x",
    "share": "share of decisions in Q+",
    "training_share": "share of training decisions in Q+",
    "tau": "moves from which a blank counts as long",
    "replica": "number of the agent, at this tau or memory",
    "x": "cells downwind, from the upwind end of the grid (paths: from the last whiff)",
    "y": "cells across the wind (paths: from the last whiff)",
    "step": "moves since the last whiff",
    "steps": "moves before the truncation",
    "truncation": "how much of a recovery path counts",
    "blank": "mean blank at a cell, in snapshots",
    "Q-": "decisions of all two-Q agents in Q-",
    "Q+": "decisions of all two-Q agents in Q+",
    "trial": "search that the forced blank was split off from",
    "weight": "probability of the forced blank",
    "surge_length": "initial moves upwind, in cells",
    "cast_width": "largest minus smallest y of the path",
    "upwind_search": "how far upwind the path reaches, in cells",
    "downwind_return_printed": "largest minus smallest x of the path",
    "downwind_return_length": "way back from the upwind extreme, in cells",
    "downwind_return_start": "moves before three downwind moves in a row; empty: never",
    "how": "how the program was found",
    "memory": "memory of the agent",
    "family": "kind of memory",
    "states": "number of states of the memory",
    "metric": "what was measured: G, T_min/T, f+ or G_sum",
    "geometry": "what was measured on the path",
    "stratum": "time block of the starts",
    "sixth": "sixth of the grid, from the source downwind",
    "value": "the value",
    "angle": "half-angle of cast-and-surge, in degrees",
    "axis": "x or y",
    "bin": "bin of mean blanks, between 0, the contours of Fig. 6 and infinity; the last: no blank ends",
    "branch": "number of the forced blank",
    "column": "what was measured in training: episode, G, f+ or steps",
    "moment": "moves since the start of the example search",
    "quantity": "what was recorded in the example search",
    "side": "lower or upper bound",
    "tau_scanned": "moves from which a blank counts as long",
}

#: Variables of the same dimensions, which become columns.
Variables = Mapping[str, xr.DataArray]


@dataclass(frozen=True)
class Table:
    """What the rows of a table are, and the function that selects its variables."""

    rows: str
    variables: Callable[[ds.Datasets], Variables]


def table(data: ds.Datasets, name: str) -> DataFrame:
    """The tidy table of a figure ("fig2"), of a panel ("fig3d") or of a variable ("searches.strata").

    Parameters
    ----------
    data
        The datasets of a run, as from :func:`whiffclock.paper.reference.load_run`.
    name
        A name of :data:`TABLES`; or dataset and variable, with "beyond." in front for those beyond the paper.

    Returns
    -------
    DataFrame
        One row per observation; :data:`COLUMNS` explains the columns.
    """
    if name in TABLES:
        figure = name if name in known() else name[:-1]  # of a panel
        require(figure in figures_of(data), f"The run has no data of {figure}.")
        return _rows(TABLES[name].variables(data_of(figure, data))).drop(columns=["branch", "point"], errors="ignore")
    found = datasets(data)
    choices = f"{', '.join(TABLES)}, or a dataset ({', '.join(found)}) with a variable, such as searches.strata"
    place, _, variable = name.rpartition(".")
    require(place in found or name in found, f"There is no table {name}; choose from {choices}.")
    dataset = found[place or name]
    named = ", ".join(f"{place or name}.{one}" for one in dataset.data_vars)
    require(
        bool(place) and variable in dataset.data_vars, f"{name} is not a variable of a dataset; choose from {named}."
    )
    values = dataset[variable]
    if variable == "path":  # which is 0 where there is no agent
        values = values.where(dataset["steps"].notnull().any("truncation"))
    return _rows({"value": values})


def datasets(data: ds.Datasets) -> dict[str, xr.Dataset]:
    """The datasets of a run by name; those beyond the paper are called beyond.searches and so on."""
    beyond = {} if data.beyond is None else data.beyond.parts
    return data.parts | {f"beyond.{name}": dataset for name, dataset in beyond.items()}


def _rows(variables: Variables) -> DataFrame:
    """One row for every place where a variable has a value; the coordinates are the first columns.

    Variables with fewer dimensions than others are repeated.
    """
    import pandas

    every = dict(zip(variables, xr.broadcast(*variables.values()), strict=True))
    first = next(iter(every.values()))
    whole = [every[name].transpose(*first.dims) for name, one in variables.items() if {*one.dims} == {*first.dims}]
    there = np.logical_or.reduce([one.values != "" if one.dtype.kind == "U" else one.notnull().values for one in whole])
    at = np.nonzero(there)
    places = {dim: first[dim].values[index] for dim, index in zip(first.dims, at, strict=True)}
    return pandas.DataFrame(places | {name: one.transpose(*first.dims).values[at] for name, one in every.items()})


def _columns(values: xr.DataArray, dim: str, names: Sequence[str]) -> dict[str, xr.DataArray]:
    """Values along a dimension as columns."""
    return {name: values.sel({dim: name}, drop=True) for name in names}


def _where_trained(data: ds.Datasets, kinds: Sequence[str], variable: str) -> xr.DataArray:
    """A variable of searches in the environment of training: [kind, environment, agent, ...]."""
    return xr.concat([ds.where_trained(data.searches[variable], kind) for kind in kinds], "kind")


def _performance(data: ds.Datasets) -> Variables:
    kinds = ds.drawn_kinds(data, "box", "line")
    return _columns(_where_trained(data, kinds, "mean"), "metric", _METRICS)


def _everywhere(data: ds.Datasets) -> Variables:
    """Reward and failures of kinds that were tested outside their environment."""
    found = data.searches[["mean", "failures"]]
    apart = found["trained"] != found["tested"]
    kinds = found["failures"].where(apart).notnull().any(("trained", "tested", "agent"))
    found = found.sel(kind=kinds)
    return _columns(found["mean"], "metric", _METRICS) | {"failures": found["failures"]}


def _last_whiffs(*kinds: str) -> Callable[[ds.Datasets], Variables]:
    def variables(data: ds.Datasets) -> Variables:
        found = _where_trained(data, kinds, "lost")
        return {"lost": found.where(found > 0)}

    return variables


def _last_whiffs_everywhere(data: ds.Datasets) -> Variables:
    found = data.searches["lost"].sel(kind=[ds.SINGLE, ds.TWO])
    return {"lost": found.where(found > 0)}


def _truncation(data: ds.Datasets) -> str:
    """The truncation of recovery paths in figures."""
    return data.facts.get("readings", {}).get("truncation", MAIN_TRUNCATION)


def _geometry(
    ensembles: Collection[str] | None = None, every: bool = False, **selected: str
) -> Callable[[ds.Datasets], Variables]:
    """Geometry of recovery paths under the truncation of figures, or under every one."""

    def variables(data: ds.Datasets) -> Variables:
        found = data["recoveries"][["geometry_of", "steps"]].sel(selected).rename(trained="environment")
        found = found if every else found.sel(truncation=_truncation(data), drop=True)
        found = found if ensembles is None else found.sel(ensemble=list(ensembles))
        names = found["geometry"].values.tolist()
        return {"steps": found["steps"]} | _columns(found["geometry_of"], "geometry", names)

    return variables


def _paths(data: ds.Datasets) -> Variables:
    found = data["recoveries"].sel(ensemble=[ds.SINGLE, ds.TWO]).rename(trained="environment")
    last = found["steps"].sel(truncation=_truncation(data), drop=True)
    return _columns(found["path"].where(found["step"] <= last), "axis", ("x", "y"))


def _usage(data: ds.Datasets) -> Variables:
    found = data["usage"]
    return {"blank": found["blank"]} | _columns(found["decisions"], "mode", (ds.MINUS, ds.PLUS))


def _branches(data: ds.Datasets) -> Variables:
    found = data["branches"]
    each = _columns(found["geometry_of"], "geometry", found["geometry"].values.tolist())
    return {name: found[name] for name in ("environment", "trial", "weight")} | each


def _scan(data: ds.Datasets) -> Variables:
    found = data.searches[["scan_share", "scan_mean"]].rename(trained="environment", tau_scanned="tau")
    return {"share": found["scan_share"]} | _columns(found["scan_mean"], "metric", _METRICS)


def _memories(data: ds.Datasets) -> Variables:
    found = data["memories"].rename(trained="environment")
    return _columns(found["mean"], "metric", _METRICS) | {"family": found["family"], "states": found["states"]}


def _arrivals(data: ds.Datasets) -> Variables:
    return {"f+": data.searches["arrived_from"].rename(trained="environment")}


def _curves(data: ds.Datasets) -> Variables:
    return _columns(data["setting"]["curve"].rename(trained="environment"), "column", ("episode", "G"))


def _modes(data: ds.Datasets) -> Variables:
    found = data.searches[["training_share", "tau"]].rename(trained="environment")
    return {"training_share": found["training_share"], "tau": found["tau"].astype(np.float64)}


#: The tables by name: figures, and panels of figures that show something else.
TABLES = {
    "fig1": Table("learning curves: one row per agent and point of its curve", _curves),
    "fig2": Table("one row per agent, in the environment of its training", _performance),
    "fig3": Table("one row per single-Q agent", _geometry([ds.SINGLE], mode=ds.MODE)),
    "fig3d": Table("failed searches of each single-Q agent by their last whiff", _last_whiffs(ds.SINGLE)),
    "fig4": Table("one row per agent and environment of the test", _everywhere),
    "fig4a": Table("failed searches of each agent by their last whiff", _last_whiffs_everywhere),
    "fig5": Table("one row per two-Q agent", _modes),
    "fig6": Table("one row per environment and cell", _usage),
    "fig7": Table("one row per agent and mode", _geometry([ds.SINGLE, ds.TWO])),
    "fig7d": Table(
        "failed searches of each agent by their last whiff", _last_whiffs(ds.TWO, ds.MINUS_ONLY, ds.PLUS_ONLY)
    ),
    "fig8": Table("one row per forced blank of the Bayesian agent", _branches),
    "s1": Table("one row per agent and environment of the test", _everywhere),
    "s2": Table("one row per agent, mode and truncation", _geometry([ds.SINGLE, ds.TWO], every=True)),
    "s3": Table("one row per agent of the scan of tau", _scan),
    "s4": Table("recovery paths: one row per agent, mode and step", _paths),
    "s5": Table("one row per single-Q agent and start of training", _geometry([*ds.CONDITIONS.values()], mode=ds.MODE)),
    "s6": Table("single-Q agents: one row per environment and start cell", _arrivals),
    "b1": Table("one row per agent, in the environment of its training", _performance),
    "b2": Table("one row per program", _memories),
    "b3": Table("one row per agent and mode", _geometry()),
    "b4": Table("one row per agent and environment of the test", _everywhere),
}  # fmt: skip
