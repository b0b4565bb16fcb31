"""Numbers over ensembles with their bootstrap draws.

An ensemble is a small sample of trained agents, some of which may have failed to learn, so numbers are medians and
ranks rather than means. What is resampled: agents, with replacement, within each ensemble; and, where results come
by time stratum, the strata, the same ones for everybody, because their starts are the same. Seeds are fixed, so
that the same results give the same bytes.

Intervals are percentile intervals at an expanded level: percentiles of small samples are too narrow, by the factor
sqrt((n - 1) / n) and by taking the normal for Student's distribution, and the level makes up for both (Hesterberg,
*What Teachers Should Know About the Bootstrap*, 2015). A median of five agents gets their whole range. Where there is
no effect, 0.3 to 4% of such intervals lie above zero, for 5 to 20 agents and distributions with and without outliers.

Trends over the four environments are told by Jonckheere's statistic, scaled: of two agents from different
environments, the probability that the one from the sparser has the larger value, minus the probability that it has
the smaller, averaged over the six pairs of environments. It lies between -1 and 1, and asks for order alone, so a
return that never begins can rank after all those that do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr, stdtrit

#: Bootstrap draws.
DRAWS = 4000
LEVEL = 0.05


@dataclass(frozen=True)
class Draws:
    """A number and its bootstrap draws.

    Attributes
    ----------
    n
        Agents of the smallest ensemble behind it.
    freedom
        Agents of all these ensembles together, one less for each ensemble.
    """

    value: float
    draws: np.ndarray
    n: int
    freedom: int

    def __sub__(self, other: Draws) -> Draws:
        n, freedom = min(self.n, other.n), self.freedom + other.freedom
        return Draws(self.value - other.value, self.draws - other.draws, n, freedom)


@dataclass(frozen=True)
class Strata:
    """One resampling of time strata, float[draw, stratum] weights, to be shared by all who had the same starts."""

    weights: np.ndarray

    @classmethod
    def of(cls, count: int, rng: np.random.Generator) -> Strata:
        """A resampling of so many strata."""
        return cls(rng.multinomial(count, np.full(count, 1 / count), size=DRAWS) / count)

    def means(self, values: np.ndarray) -> np.ndarray:
        """float[draw, ...] of float[..., stratum]."""
        return np.moveaxis(np.asarray(values) @ self.weights.T, -1, 0)


def interval(number: Draws, comparisons: int = 1) -> tuple[float, float]:
    """The expanded percentile interval, 95% for each of so many ``comparisons`` together."""
    n = max(number.n, 2)
    quantile = stdtrit(max(number.freedom, 1), LEVEL / comparisons / 2) * np.sqrt(n / (n - 1))
    tail = float(ndtr(quantile))
    low, high = np.quantile(number.draws, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def median(values: np.ndarray, rng: np.random.Generator, strata: Strata | None = None) -> Draws:
    """Median over agents of float[a], or of the means of float[a, t] over ``strata``; agents with NaN do not count."""
    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values).reshape(len(values), -1).any(axis=1)]
    n = len(values)
    if n == 0:
        return nothing()
    chosen = rng.integers(n, size=(DRAWS, n))
    if strata is None:
        return Draws(float(np.median(values)), np.median(values[chosen], axis=1), n, n - 1)
    drawn = np.take_along_axis(strata.means(values), chosen, axis=1)
    return Draws(float(np.median(values.mean(axis=1))), np.median(drawn, axis=1), n, n - 1)


def mean(values: np.ndarray, rng: np.random.Generator) -> Draws:
    """Mean over agents of float[a]; agents with NaN do not count."""
    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values)]
    n = len(values)
    if n == 0:
        return nothing()
    chosen = rng.integers(n, size=(DRAWS, n))
    return Draws(float(values.mean()), values[chosen].mean(axis=1), n, n - 1)


def average(numbers: Sequence[Draws]) -> Draws:
    """Mean of several numbers, each with an ensemble of its own."""
    return Draws(
        float(np.mean([number.value for number in numbers])),
        np.mean([number.draws for number in numbers], axis=0),
        min(number.n for number in numbers),
        sum(number.freedom for number in numbers),
    )


def nothing() -> Draws:
    """No number at all."""
    return Draws(np.nan, np.full(DRAWS, np.nan), 0, 0)


def last(values: np.ndarray) -> np.ndarray:
    """The values with NaN, a return that never begins, after all others."""
    return np.where(np.isnan(values), np.inf, values)


def trend(groups: Sequence[np.ndarray] | np.ndarray, rng: np.random.Generator) -> Draws:
    """Jonckheere's statistic, scaled, of float[a] in ordered environments; agents with NaN do not count."""
    groups = [np.asarray(group, dtype=np.float64) for group in groups]
    groups = [group[~np.isnan(group)] for group in groups]
    sizes = [len(group) for group in groups]
    if min(sizes) == 0:
        return nothing()
    weights = [rng.multinomial(len(g), np.full(len(g), 1 / len(g)), size=DRAWS) / len(g) for g in groups]
    values, draws = [], []
    for i, j in combinations(range(len(groups)), 2):
        larger = _sign(groups[i][:, None], groups[j][None, :])
        values.append(larger.mean())
        draws.append(np.einsum("da,ab,db->d", weights[i], larger, weights[j], optimize=True))
    return Draws(float(np.mean(values)), np.mean(draws, axis=0), min(sizes), sum(sizes) - len(sizes))


def paired_sign(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> Draws:
    """Share of agents whose ``second`` is larger than ``first``, minus the share of those where it is smaller."""
    return mean(_sign(first, second), rng)


def _sign(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sign of ``second`` - ``first``, for infinite values as well."""
    return (second > first).astype(np.float64) - (second < first)
