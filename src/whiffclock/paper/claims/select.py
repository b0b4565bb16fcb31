"""Selections from the datasets, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from whiffclock.paper.claims.resampling import Draws, over_agents
from whiffclock.paper.dataset import ENVIRONMENT_NAMES, Datasets, at_home

_ENVIRONMENTS = ("environment", "trained", "tested")


def home(data: Datasets, kind: str, variable: str, **selected: str | int) -> xr.DataArray:
    """A variable of the searches of a kind of agent, each in the environment that it belongs to."""
    return at_home(data.searches[variable], kind).sel(selected, drop=True)


def each(values: xr.DataArray, *dims: str) -> dict[str, np.ndarray]:
    """Arrays with the given dimensions, by environment."""
    along = next(name for name in _ENVIRONMENTS if name in values.dims)
    names = [name for name in ENVIRONMENT_NAMES if name in values[along]]
    return {name: np.array(values.sel({along: name}).transpose(*dims), order="C") for name in names}


def over_each(
    values: xr.DataArray, rng: np.random.Generator, strata: np.ndarray | None = None, take: Any = np.median
) -> dict[str, Draws]:
    """Median over agents, with its draws, in each environment."""
    dims = ("agent",) if strata is None else ("agent", "stratum")
    return {name: over_agents(one, rng, strata, take) for name, one in each(values, *dims).items()}
