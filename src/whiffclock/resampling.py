"""Numbers over ensembles with their bootstrap draws.

An ensemble is a small sample of trained agents, some of which may have failed to learn, so numbers are medians and
ranks rather than means. What is resampled: agents, with replacement, within each ensemble; and, where results come
by time stratum, the strata, the same ones for all agents, because their starts are the same. Seeds are fixed, and
every number says what was resampled for it.

Intervals are percentile intervals at an expanded level: percentiles of small samples are too narrow, by the factor
sqrt((n - 1) / n) and by taking the normal for Student's distribution, and the level makes up for both (Hesterberg,
*What Teachers Should Know About the Bootstrap*, 2015). A median of five agents gets their whole range.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit
from scipy.stats import rankdata

#: Bootstrap draws.
DRAWS = 4000
LEVEL = 0.05


@dataclass(frozen=True)
class Draws:
    """A number and its bootstrap draws."""

    value: float
    draws: np.ndarray
    n: int  # agents of the smallest ensemble behind it
    freedom: int  # agents of all these ensembles together, one less for each ensemble
    over: frozenset[str] = frozenset({"agents"})  # what was resampled

    def __sub__(self, other: "Draws") -> "Draws":
        return combined(np.subtract, self, other)


def interval(number: Draws, tail: float = LEVEL / 2) -> tuple[float, float]:
    """The expanded percentile interval that leaves out the share ``tail`` at each end."""
    n = max(number.n, 2)
    quantile = stdtrit(max(number.freedom, 1), tail) * np.sqrt(n / (n - 1))
    tail = float(ndtr(quantile))
    low, high = np.quantile(number.draws, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def resampled(count: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of ``count`` things is drawn, as weights float[draw, count]."""
    return rng.multinomial(count, np.full(count, 1 / count), size=DRAWS) / count


@dataclass(frozen=True)
class Ensemble:
    """One value per agent float[agent], and the values of the agents in each draw float[draw, agent]."""

    values: np.ndarray
    drawn: np.ndarray
    over: frozenset[str]

    def take(self, statistic: Any = np.median) -> Draws:
        """A statistic of the agents; without any agent, NaN."""
        n = len(self.values)
        if n == 0:
            return Draws(np.nan, np.full(DRAWS, np.nan), 0, 0, self.over)
        return Draws(float(statistic(self.values)), statistic(self.drawn, axis=1), n, n - 1, self.over)


def ensemble(values: ArrayLike, rng: np.random.Generator, strata: np.ndarray | None = None) -> Ensemble:
    """Resample float[agent], or the means of float[agent, stratum] with weights; agents with NaN do not count."""
    every = np.asarray(values, dtype=np.float64)
    known = every[~np.isnan(every).reshape(len(every), -1).any(axis=1)]
    n = len(known)
    chosen = rng.integers(max(n, 1), size=(DRAWS, n))
    if strata is None:
        return Ensemble(known, known[chosen], frozenset({"agents"}))
    drawn = np.take_along_axis((known @ strata.T).T, chosen, axis=1)
    return Ensemble(known.mean(axis=1), drawn, frozenset({"agents", "time blocks"}))


def over_agents(
    values: ArrayLike, rng: np.random.Generator, strata: np.ndarray | None = None, take: Any = np.median
) -> Draws:
    """A statistic of an :func:`ensemble`, the median by default."""
    return ensemble(values, rng, strata).take(take)


def over_strata(values: np.ndarray, strata: np.ndarray) -> Draws:
    """Mean of float[stratum], with weights of the strata."""
    n = len(values)
    return Draws(float(values.mean()), values @ strata.T, n, n - 1, frozenset({"time blocks"}))


def superiority(first: Ensemble, second: Ensemble) -> Draws:
    """Of one agent of each ensemble, the probability that the first has the larger value; ties count half."""
    n, m = len(first.values), len(second.values)
    over = first.over | second.over
    if min(n, m) == 0:
        return Draws(np.nan, np.full(DRAWS, np.nan), 0, 0, over)

    def larger(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        ranks = rankdata(np.concatenate([one, other], axis=-1), axis=-1)  # Mann and Whitney's statistic
        return (ranks[..., :n].mean(axis=-1) - (n + 1) / 2) / m

    value = float(larger(first.values, second.values))
    return Draws(value, larger(first.drawn, second.drawn), min(n, m), n + m - 2, over)


def positive(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Share of values above zero; zeros count half."""
    return np.mean((1 + np.sign(values)) / 2, axis=axis)


def each(values: xr.DataArray, *dims: str) -> dict[str, np.ndarray]:
    """Arrays with the given dimensions, by environment."""
    along = next(name for name in ("environment", "trained", "tested") if name in values.dims)
    found = {name: values.sel({along: name}).transpose(*dims) for name in values[along].values.tolist()}
    return {name: np.array(one, order="C") for name, one in found.items()}


def over_each(
    values: xr.DataArray, rng: np.random.Generator, strata: np.ndarray | None = None, take: Any = np.median
) -> dict[str, Draws]:
    """:func:`over_agents` in each environment."""
    dims = ("agent",) if strata is None else ("agent", "stratum")
    return {name: over_agents(one, rng, strata, take) for name, one in each(values, *dims).items()}


def trend(groups: Iterable[ArrayLike], rng: np.random.Generator) -> Draws:
    """Jonckheere's statistic, scaled, of float[agent] in ordered environments; agents with NaN do not count.

    Of two agents from different environments, the probability that the one from the sparser has the larger value,
    minus the probability that it has the smaller, averaged over the pairs of environments. It lies between -1 and 1,
    and needs order alone, so a return that never begins (infinity) can rank after all those that do.
    """
    ensembles = [np.asarray(group, dtype=np.float64) for group in groups]
    ensembles = [ensemble[~np.isnan(ensemble)] for ensemble in ensembles]
    sizes = [len(ensemble) for ensemble in ensembles]
    if min(sizes) == 0:
        return Draws(np.nan, np.full(DRAWS, np.nan), 0, 0)
    weights = [resampled(size, rng) for size in sizes]
    values, draws = [], []
    for i, j in combinations(range(len(sizes)), 2):
        larger = sign(ensembles[i][:, None], ensembles[j][None, :])
        values.append(larger.mean())
        draws.append(np.einsum("da,ab,db->d", weights[i], larger, weights[j], optimize=True))
    return Draws(float(np.mean(values)), np.mean(draws, axis=0), min(sizes), sum(sizes) - len(sizes))


def combined(function: Callable[..., Any], *numbers: Draws) -> Draws:
    """A function of several numbers, each with an ensemble of its own."""
    value, draws = float(function(*(one.value for one in numbers))), function(*(one.draws for one in numbers))
    over = frozenset().union(*(one.over for one in numbers))
    return Draws(value, draws, min(one.n for one in numbers), sum(one.freedom for one in numbers), over)


def average(numbers: Iterable[Draws]) -> Draws:
    """Mean of several numbers."""
    return combined(lambda *values: np.mean(values, axis=0), *numbers)


def sign(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Sign of ``second`` - ``first``, for infinite values as well."""
    return np.greater(second, first).astype(np.float64) - np.less(second, first)
