r"""How much of the recovery the history explains.

The displacement x(t) from the last whiff, averaged over the moves t of the long blank, has a mean square that is a sum:

    mean |x|^2  =  |mean of all histories|^2  +  variance between histories  +  variance within a history
    100%        =  common                     +  history                     +  chance

*History* is the variance explained that we report. Its scale is the mean square of the whole displacement, so it has a
meaning for agents without chance, too, all of whose variance lies between histories. It is 0 for a single clock, whose
recoveries are all the same, and 1 if recoveries have nothing in common and no chance. All histories have the same
weight, individuals the same within a history, and recoveries the same within an individual.

Means of n individuals scatter, which adds to the variance between histories; this is estimated and taken off, so that
history is 0 on average where it has no effect (and may be a little below). Where the same individuals had several
conditions, the scatter they have in common is not taken off twice.

Intervals are those of 95% by bootstrap: over the histories, if they are a sample drawn from a plume; over individuals
otherwise (whole, with all that they did). Agents without chance in histories that were given have none: the value is
exact. The permutation test exchanges the histories of individuals; of individuals that had several, within each.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from whiffclock.assays.playing import Sample, require_comparable
from whiffclock.formatting import nan_to_null

DRAWS, EXCHANGES, LEVEL = 1000, 999, 0.05
_TINY = 1e-12
#: Products that are gathered at the same time.
_AT_ONCE = 10**6


@dataclass(frozen=True)
class Shares:
    """Shares of the mean square displacement, with the interval of ``history``: NaN if it is exact."""

    history: float
    low: float
    high: float
    common: float
    chance: float
    p: float  # of the permutation test
    distinct: int  # recoveries that differ from each other
    recoveries: int
    deterministic: bool  # all repeats of a history gave the same recovery

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return nan_to_null(asdict(self))


@dataclass(frozen=True, eq=False)
class Cells:
    """The mean path of each individual in each condition, as one row."""

    row: np.ndarray  # float[cell, move and axis]
    moves: int
    within: np.ndarray  # float[cell]: mean square of what its recoveries have beside their mean, over the moves
    condition: np.ndarray  # int[cell]
    individual: np.ndarray  # int[cell]
    conditions: int

    @classmethod
    def of(cls, sample: Sample) -> Cells:
        """The cells of some recoveries."""
        moves = sample.paths.shape[1] - 1
        rows = sample.paths[:, 1:].reshape(len(sample), -1)
        pair = np.stack([sample.condition, sample.individual])
        (condition, individual), cell, size = np.unique(pair, axis=1, return_inverse=True, return_counts=True)
        cell = cell.ravel()
        mean = _sums(rows, cell, len(size)) / size[:, None]
        beside = ((rows - mean[cell]) ** 2).sum(axis=1) / moves
        within = np.bincount(cell, beside, len(size)) / size
        return cls(mean, moves, within, condition, individual, len(sample.conditions))

    @property
    def of_each(self) -> list[np.ndarray]:
        """The cells of each individual."""
        order, size = np.argsort(self.individual, kind="stable"), np.unique(self.individual, return_counts=True)[1]
        return np.split(order, np.cumsum(size)[:-1])

    def take(self, chosen: np.ndarray, individual: np.ndarray) -> Cells:
        """Some cells, as those of other individuals."""
        return replace(
            self,
            row=self.row[chosen],
            within=self.within[chosen],
            condition=self.condition[chosen],
            individual=individual,
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """What shares are computed from, for any weights of the conditions."""

    products: np.ndarray  # float[condition, condition]: of their means, which are seen from the first one
    scatter: np.ndarray  # float[condition, condition]: what the scatter of individuals adds to it
    total: np.ndarray  # float[condition]: mean square displacement
    chance: np.ndarray  # float[condition]: of it, what differs within the condition

    @classmethod
    def of(cls, cells: Cells) -> Parts:
        """The parts of some cells, each condition with two individuals at least."""
        count = np.bincount(cells.condition, minlength=cells.conditions)
        means = _sums(cells.row, cells.condition, cells.conditions) / count[:, None]
        beside = cells.row - means[cells.condition]
        square = (beside**2).sum(axis=1) / cells.moves
        apart = np.bincount(cells.condition, square + cells.within, cells.conditions) / count
        scatter = np.diag(np.bincount(cells.condition, square, cells.conditions) / (count * (count - 1)))
        if len(np.unique(cells.individual)) < len(cells.individual):  # some have several conditions
            each = beside * (1 / np.sqrt(count * (count - 1)))[cells.condition, None]
            same = (cells.individual[:, None] == cells.individual) * (each @ each.T) / cells.moves
            scatter = _sums(_sums(same, cells.condition, cells.conditions).T, cells.condition, cells.conditions)
        seen, total = means - means[0], (means**2).sum(axis=1) / cells.moves
        return cls(seen @ seen.T / cells.moves, scatter, total + apart, apart + np.diag(scatter))

    def shares(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Common, history and chance for weights float[..., condition], each of which sum to one."""
        both = self.products - self.scatter
        history = weights @ np.diag(both) - np.einsum("...a,ab,...b->...", weights, both, weights, optimize=True)
        total, chance = np.maximum(weights @ self.total, _TINY), weights @ self.chance
        return 1 - (history + chance) / total, history / total, chance / total


def explained(sample: Sample, seed: int = 0) -> Shares:
    """The shares of some recoveries, with their interval and their test."""
    require_comparable(sample)
    cells = Cells.of(sample)
    parts, rng = Parts.of(cells), np.random.default_rng(seed)
    common, history, chance = (float(one) for one in parts.shares(np.full(cells.conditions, 1 / cells.conditions)))
    fixed = not parts.chance.any()
    low, high = np.nan, np.nan
    if sample.drawn or not fixed:
        drawn = _over_conditions(parts, rng) if sample.drawn else _over_individuals(cells, rng)
        low, high = (float(end) for end in np.quantile(drawn, [LEVEL / 2, 1 - LEVEL / 2]))
    distinct = len(np.unique(sample.paths.reshape(len(sample), -1), axis=0))
    number = len(sample.conditions) if fixed else len(sample)
    return Shares(history, low, high, common, chance, permutation_test(cells, rng), distinct, number, fixed)


def _over_conditions(parts: Parts, rng: np.random.Generator) -> np.ndarray:
    """History in bootstrap draws of the conditions."""
    count = len(parts.total)
    return parts.shares(rng.multinomial(count, np.full(count, 1 / count), size=DRAWS) / count)[1]


def _over_individuals(cells: Cells, rng: np.random.Generator) -> np.ndarray:
    """History in bootstrap draws of the individuals, each with all its cells, among those with the same conditions."""
    alike: dict[tuple[int, ...], list[np.ndarray]] = {}
    for own in cells.of_each:
        alike.setdefault(tuple(cells.condition[own]), []).append(own)
    even, found = np.full(cells.conditions, 1 / cells.conditions), np.empty(DRAWS)
    for draw in range(DRAWS):
        chosen = [group[i] for group in alike.values() for i in rng.integers(len(group), size=len(group))]
        individual = np.repeat(np.arange(len(chosen)), [len(one) for one in chosen])
        found[draw] = Parts.of(cells.take(np.concatenate(chosen), individual)).shares(even)[1]
    return found


def permutation_test(cells: Cells, rng: np.random.Generator, exchanges: int = EXCHANGES) -> float:
    """How often exchanged histories explain as much as the true ones do."""
    count = np.bincount(cells.condition, minlength=cells.conditions)
    rows = cells.row - cells.row.mean(axis=0)
    products = rows @ rows.T
    i, j = np.nonzero(cells.condition[:, None] == cells.condition)
    weight, each = (
        1 / (count[cells.condition[i]] ** 2 * cells.conditions),
        1 / (count[cells.condition] * cells.conditions),
    )

    def between(order: np.ndarray) -> np.ndarray:
        """Variance between histories for cells in several orders, int[order, cell]; the mean of all may differ."""
        weights = np.zeros(order.shape)
        np.put_along_axis(weights, order, each[None, :], axis=1)
        return products[order[:, i], order[:, j]] @ weight - ((weights @ products) * weights).sum(axis=1)

    true = between(np.arange(len(rows))[None, :])[0]
    least, reached = true - 1e-9 * max(float(np.trace(products)), _TINY), 0
    some = max(1, _AT_ONCE // len(i))
    for first in range(0, exchanges, some):
        reached += int((between(_orders(cells, rng, min(some, exchanges - first))) >= least).sum())
    return (1 + reached) / (1 + exchanges)


def _orders(cells: Cells, rng: np.random.Generator, count: int) -> np.ndarray:
    """Cells in exchanged orders: all of them, or within individuals if some have several conditions."""
    orders = np.tile(np.arange(len(cells.row)), (count, 1))
    if len(np.unique(cells.individual)) == len(cells.individual):
        return rng.permuted(orders, axis=1)
    for own in cells.of_each:
        orders[:, own] = rng.permuted(orders[:, own], axis=1)
    return orders


def _sums(rows: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """Sums of rows by group."""
    return (np.arange(groups)[:, None] == group).astype(np.float64) @ rows
