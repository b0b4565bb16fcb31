"""Claims on the Bayesian agent: C2, C17 (paper, "Performance" and "A quasi-optimal agent")."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.results import Result
from whiffclock.paper.claims.resampling import DRAWS, Draws, Strata, average, last
from whiffclock.paper.claims.verdict import Claim, Evidence, NotDecidableError, Part, Results

_G = 0
#: The Bayesian agent may fall behind the best single-Q by this much, and must not be ahead by more than that.
_BEHIND, _AHEAD = 0.02, 0.1
#: Broad: the 90% quantile is at least twice the 10% quantile.
_BROAD = 1 / 3
#: Effective number of histories that quantiles need.
_HISTORIES = 10
_TAILS = ("surge_length", "upwind_search", "backtracking_initiation")
_SPREAD = ("surge_length", "cast_width", "upwind_search", "backtracking", "backtracking_initiation")


def _near_bayes(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig2"]
    bayes = result["bayes_strata"][..., _G]
    strata = Strata.of(bayes.shape[1], rng)
    best = result["single"][..., _G].argmax(axis=1)
    names = result.facts["environments"]
    parts = []
    for e, name in enumerate(names):
        lead = bayes[e] - result["single_on_bayes_starts"][e, best[e], :, _G]
        draws = Draws(float(lead.mean()), strata.means(lead), len(lead), len(lead) - 1)
        parts.append(Part(name, draws, above=-_BEHIND, below=_AHEAD))
    return Evidence(parts, {"G of the Bayesian agent": dict(zip(names, bayes.mean(axis=1).tolist(), strict=True))})


def _histories(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig8"]
    names = result.facts["environments"]
    if any(len(result[f"weight_{name}"]) == 0 for name in names):
        raise NotDecidableError("The Bayesian agent met no whiff to branch from.")
    ensembles = {name: _Histories.of(result, name, rng) for name in names}
    words = {name: name.replace("_", " ") for name in _SPREAD}
    parts = [
        Part(f"breadth of {words[name]}", average([_breadth(one, name) for one in ensembles.values()]), above=_BROAD)
        for name in _SPREAD
    ]
    parts += [
        Part(f"tail of {words[name]}", _ordered([one.quantile(name, 0.9) for one in ensembles.values()]), above=0)
        for name in _TAILS
    ]
    also = {
        f"90% quantile of {words[name]}": {key: one.quantile(name, 0.9).value for key, one in ensembles.items()}
        for name in _TAILS
    }
    return Evidence(parts, also)


class _Histories:
    """Weighted branches of one environment, resampled by the search they were split off from."""

    def __init__(self, values: dict[str, np.ndarray], weight: np.ndarray, drawn: np.ndarray) -> None:
        self.values, self.weight, self.drawn = values, weight, drawn
        self.n = int(weight.sum() ** 2 / (weight**2).sum()) if weight.any() else 0

    @classmethod
    def of(cls, result: Result, environment: str, rng: np.random.Generator) -> _Histories:
        """Branches of the same search are resampled together if the result says which those are."""
        geometry, weight = result[f"geometry_{environment}"], result[f"weight_{environment}"]
        columns = {name: last(geometry[:, result.facts["geometry"].index(name)]) for name in _SPREAD}
        trial = result.arrays.get(f"trial_{environment}", np.arange(len(weight)))
        _, group = np.unique(trial, return_inverse=True)
        groups = int(group.max()) + 1
        counts = rng.multinomial(groups, np.full(groups, 1 / groups), size=DRAWS)
        return cls(columns, weight, counts[:, group] * weight)

    def quantile(self, name: str, level: float) -> Draws:
        """A weighted quantile with its draws; too few effective histories count as none."""
        values = self.values[name]
        order = np.argsort(values, kind="stable")

        def find(weights: np.ndarray) -> np.ndarray:
            reached = np.cumsum(weights[:, order], axis=1)
            return values[order][(reached >= level * reached[:, -1:]).argmax(axis=1)]

        n = self.n if self.n >= _HISTORIES else 0
        return Draws(float(find(self.weight[None])[0]), find(self.drawn), n, n - 1)


def _breadth(histories: _Histories, name: str) -> Draws:
    """(q90 - q10) / (q90 + q10): 0 if all histories are the same, 1/3 if q90 is twice q10."""
    low, high = histories.quantile(name, 0.1), histories.quantile(name, 0.9)
    return Draws(float(_relative(low.value, high.value)), _relative(low.draws, high.draws), low.n, low.freedom)


def _relative(low: float | np.ndarray, high: float | np.ndarray) -> np.ndarray:
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    endless = np.isinf(high)
    top, bottom = np.where(endless, 0.0, high), np.where(endless, 0.0, low)
    ratio = np.divide(top - bottom, top + bottom, out=np.zeros(low.shape), where=top + bottom > 0)
    return np.where(endless & np.isfinite(low), 1.0, ratio)


def _ordered(quantiles: list[Draws]) -> Draws:
    """Share of the pairs of environments in which the sparser has the larger quantile, minus the opposite."""

    def order(first: float | np.ndarray, second: float | np.ndarray) -> np.ndarray:
        return np.greater(second, first).astype(np.float64) - np.less(second, first)

    pairs = list(combinations(quantiles, 2))
    value = float(np.mean([order(a.value, b.value) for a, b in pairs]))
    draws = np.mean([order(a.draws, b.draws) for a, b in pairs], axis=0)
    return Draws(value, draws, min(one.n for one in quantiles), sum(one.freedom for one in quantiles))


CLAIMS = (
    Claim(
        "C2",
        "The best single-Q comes near Bayes",
        "The Bayesian agent is at least as good as the best single-Q agent, which comes near it.",
        "G of the Bayesian agent minus that of the single-Q agent with the highest G, on the same starts; between "
        "-0.02 and 0.1 in all four environments. The interval is over time strata.",
        ("fig2",),
        "difference of G",
        _near_bayes,
    ),
    Claim(
        "C17",
        "Bayesian recovery depends on history",
        "What the Bayesian agent does in a blank varies widely with what it smelled before, and its longest surges, "
        "upwind searches and delays grow with sparsity.",
        "Weighted quantiles over forced blanks. Breadth, (q90 - q10) / (q90 + q10) averaged over environments, above "
        "1/3 for each of the five measures (so that q90 is twice q10). Tails: share of the pairs of environments in "
        "which the sparser has the larger q90, minus the share of the opposite, above 0 for surge, upwind search and "
        "backtracking initiation. At least 10 effective histories in each environment.",
        ("fig8",),
        "breadth or order of tails",
        _histories,
    ),
)
