"""Evidence from recovery paths: of trained agents (C5 to C7, C13, C18) and of the Bayesian agent (C17)."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from whiffclock.paper import dataset as ds
from whiffclock.paper.claims.table import evidence
from whiffclock.paper.claims.verdict import Evidence, Margins, Part, parts, surely_positive
from whiffclock.path_metrics import GEOMETRY, MAIN_TRUNCATION, TRUNCATIONS
from whiffclock.quantiles import weighted_quantiles
from whiffclock.resampling import Draws, average, combined, each, over_each, resampled, sign, trend

_WORDS = {name: name.replace("_", " ") for name in GEOMETRY} | {
    "downwind_return_printed": "downwind return length as printed",
    "downwind_return_length": "downwind return length as drawn",
}
_GROWING = ("surge_length", "upwind_search", "downwind_return_start")
#: Conditions of the supplement in which the paper itself sees another pattern.
_EXCEPTIONS = {("on a whiff, start region from own threshold", "downwind_return_start")}


def measure(
    data: ds.Datasets, name: str, ensemble: str = ds.SINGLE, mode: str = ds.MODE, **selected: str
) -> xr.DataArray:
    """A metric of recovery paths [environment, agent]; a downwind return that never starts is infinitely late."""
    chosen = ds.recovery(data, ensemble, mode, **selected)
    values = chosen["geometry_of"].sel(geometry=name, drop=True)
    late = name == "downwind_return_start"
    return values.fillna(np.inf).where(chosen["steps"].notnull()) if late else values


def _trend(rng: np.random.Generator, data: ds.Datasets, name: str, **selected: str) -> Draws:
    return trend(each(measure(data, name, **selected), "agent").values(), rng)


@evidence("C5")
@evidence("C6")
@evidence("C7")
def _trends(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    """Trends of the metrics that have a margin."""
    tested = [Part(_WORDS[name], _trend(rng, data, name), **required) for name, required in margins.items()]
    return Evidence(tested, {f"median {_WORDS[name]}": each(measure(data, name).median("agent")) for name in margins})


@evidence("C13")
def _modes(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    required = {
        "Q+ searches further upwind": ("upwind_search", ds.MINUS, ds.PLUS),
        "Q- returns downwind sooner": ("downwind_return_start", ds.MINUS, ds.PLUS),
        "Q- surges more": ("surge_length", ds.PLUS, ds.MINUS),
    }
    draws, also = {}, {}
    for label, (name, smaller, larger) in required.items():
        pair = [measure(data, name, ds.TWO, mode) for mode in (smaller, larger)]
        known = pair[0].notnull() & pair[1].notnull()  # a missing agent is no tie
        signs = over_each(xr.apply_ufunc(sign, *pair).where(known), rng, take=np.mean)
        draws[label] = average(signs.values())
        also[label] = {environment: one.value for environment, one in signs.items()}
    return Evidence(parts(draws, margins["net"]), also)


@evidence("C18")
def _survives(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    trends = {name: _trend(rng, data, name) for name in _GROWING}
    certain = [name for name in _GROWING if surely_positive(trends[name])]
    if not certain:
        return Evidence([], why="None of the three trends is certain in the main ensembles, so none can be tested.")
    cuts = [name for name in TRUNCATIONS if name != MAIN_TRUNCATION and "upwind_search" in certain]
    draws = {f"upwind search (truncation: {cut})": _trend(rng, data, "upwind_search", truncation=cut) for cut in cuts}
    for condition, ensemble in ds.CONDITIONS.items():
        for name in certain:
            if ensemble != ds.SINGLE and (condition, name) not in _EXCEPTIONS:
                draws[f"{_WORDS[name]} (start: {condition})"] = _trend(rng, data, name, ensemble=ensemble)
    also = {f"trend of {_WORDS[name]}, as in Fig. 3": one.value for name, one in trends.items()}
    return Evidence(parts(draws, margins["order"]), also)


@evidence("C17")
def _histories(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    chosen = [ds.branches_in(data, name) for name in data.environments]
    if any(one.sizes["branch"] == 0 for one in chosen):
        return Evidence([], why="The Bayesian agent met no whiff to branch from.")
    ensembles = [Histories.of(one, margins["searches"], rng) for one in chosen]
    spreads, tails = {}, {}
    counts = [one.effective for one in ensembles]
    also: dict[str, Any] = {"effective sample size": dict(zip(data.environments, counts, strict=True))}
    for name in GEOMETRY:
        words = _WORDS[name]
        if name != "downwind_return_length":
            relative = [_relative_spread(*one.quantiles(name, 0.1, 0.9)) for one in ensembles]
            spreads[f"relative spread of {words}"] = average(relative)
        if name in _GROWING:
            longest = [one.quantiles(name, 0.9)[0] for one in ensembles]
            tails[f"90th percentile of {words} grows"] = combined(_ordered, *longest)
            values = [one.value for one in longest]
            also[f"90th percentile of {words}"] = dict(zip(data.environments, values, strict=True))
    return Evidence(parts(spreads, margins["spread"]) + parts(tails, margins["tail"]), also)


@dataclass(frozen=True)
class Histories:
    """Weighted branches of one environment, their searches, and how often each draw has each search.

    Branches of one search are correlated, so searches are resampled and counted.
    """

    values: xr.DataArray  # [branch, geometry]
    weight: np.ndarray  # float[branch]
    search: np.ndarray  # int[branch]
    drawn: np.ndarray  # float[draw, search]
    effective: float  # number of searches
    fewest: int  # effective searches needed for an interval

    @classmethod
    def of(cls, branches: xr.Dataset, fewest: int, rng: np.random.Generator) -> Self:
        """Resample searches."""
        names, search = np.unique(branches["trial"], return_inverse=True)
        values = branches["geometry_of"].fillna(np.inf)
        drawn = resampled(len(names), rng)
        return cls(values, branches["weight"].values, search, drawn, ds.effective_searches(branches), fewest)

    def quantiles(self, name: str, *levels: float) -> list[Draws]:
        """Weighted quantiles with their draws."""
        values, place = np.unique(self.values.sel(geometry=name), return_inverse=True)
        by_search = np.zeros((self.drawn.shape[1], len(values)))
        np.add.at(by_search, (self.search, place), self.weight)
        weights = np.vstack([by_search.sum(axis=0), self.drawn @ by_search])
        weights[~weights.any(axis=1)] = 1  # where no branch has any weight, all count the same
        n = int(self.effective) if self.effective >= self.fewest else 0
        value, *draws = weighted_quantiles(values, weights, levels)
        pairs = zip(value, np.array(draws).T, strict=True)
        return [Draws(float(one), draw, n, n - 1, frozenset({"searches"})) for one, draw in pairs]


def _relative_spread(low: Draws, high: Draws) -> Draws:
    """(q90 - q10) / (q90 + q10): 0 if all histories are the same, 1/3 if q90 is twice q10."""

    def relative(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            ratio = np.nan_to_num((high - low) / (high + low))
        return np.where(np.isinf(high) & np.isfinite(low), 1.0, ratio)

    value = float(relative(np.array(low.value), np.array(high.value)))
    return replace(low, value=value, draws=relative(low.draws, high.draws))


def _ordered(*quantiles: ArrayLike) -> np.ndarray:
    """Share of the pairs of environments in which the sparser has the larger quantile, minus the opposite."""
    return np.mean([sign(a, b) for a, b in combinations(quantiles, 2)], axis=0)
