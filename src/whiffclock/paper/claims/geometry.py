"""Claims on the geometry of recovery: C5, C6, C7, C13, C18 (paper, "Geometry of recovery", and the supplement)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.results import Result
from whiffclock.paper.claims.resampling import Draws, average, interval, last, paired_sign, trend
from whiffclock.paper.claims.verdict import FEWEST, Claim, Evidence, NotDecidableError, Part, Results

_WORDS = {
    "surge_length": "surge length",
    "cast_width": "cast width",
    "upwind_search": "upwind search",
    "backtracking": "backtracking length",
    "backtracking_after_extreme": "backtracking after the upwind extreme",
    "backtracking_initiation": "backtracking initiation",
}
#: A trend is weak if its statistic is below this: fewer than five in six pairs of agents are in order.
_WEAK = 2 / 3
_TREND = (
    "trend over the four environments (of two agents from different ones, the probability that the one from the "
    "sparser has the larger value, minus that it has the smaller)"
)
#: Conditions of the supplement in which the paper itself sees another pattern.
_EXCEPTIONS = {("on a whiff, own mask", "backtracking_initiation")}


def measure(result: Result, values: np.ndarray, name: str) -> np.ndarray:
    """One measure of geometry float[e, a]; a return that never begins ranks after all others."""
    chosen = values[..., result.facts["geometry"].index(name)]
    return last(chosen) if name == "backtracking_initiation" else chosen


def _medians(result: Result, names: Sequence[str]) -> dict[str, dict[str, float]]:
    environments = result.facts["environments"]
    found = {name: np.median(measure(result, result["geometry"], name), axis=1).tolist() for name in names}
    return {f"median {_WORDS[name]}": dict(zip(environments, found[name], strict=True)) for name in names}


def _growing(*names: str) -> Callable[[Results, Profile, np.random.Generator], Evidence]:
    def evidence(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
        result = results["fig3"]
        parts = [Part(_WORDS[name], trend(measure(result, result["geometry"], name), rng), above=0) for name in names]
        return Evidence(parts, _medians(result, names))

    return evidence


def _weak(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig3"]
    cast, printed, drawn = (
        trend(measure(result, result["geometry"], name), rng)
        for name in ("cast_width", "backtracking", "backtracking_after_extreme")
    )
    parts = [
        Part(_WORDS["cast_width"], cast, above=0, below=_WEAK),
        Part(_WORDS["backtracking"], printed, above=-_WEAK, below=0),
    ]
    low, high = interval(drawn)
    names = ("cast_width", "backtracking", "backtracking_after_extreme")
    other = {"trend of backtracking after the upwind extreme": {"value": drawn.value, "low": low, "high": high}}
    return Evidence(parts, other | _medians(result, names))


def _modes(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig7"]
    wanted = (
        ("Q+ searches further upwind", "upwind_search", "minus", "plus"),
        ("Q- returns sooner", "backtracking_initiation", "minus", "plus"),
        ("Q- surges more", "surge_length", "plus", "minus"),
    )
    parts, also = [], {}
    for label, name, smaller, larger in wanted:
        first, second = (measure(result, result[mode], name) for mode in (smaller, larger))
        each = [paired_sign(a, b, rng) for a, b in zip(first, second, strict=True)]
        parts.append(Part(label, average(each), above=0))
        also[label] = dict(zip(result.facts["environments"], [one.value for one in each], strict=True))
    return Evidence(parts, also)


def _survives(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    main, cuts, starts = results["fig3"], results["s2"], results["s5"]
    trends = {name: trend(measure(main, main["geometry"], name), rng) for name in _GROWING}
    there = [name for name in _GROWING if _grows(trends[name])]
    if not there:
        raise NotDecidableError("None of the three trends is certain here in the first place, so none can survive.")
    parts = []
    for i, truncation in enumerate(cuts.facts["truncations"]):
        if i != cuts.facts["main"] and "upwind_search" in there:
            draws = trend(measure(cuts, cuts["single"][i], "upwind_search"), rng)
            parts.append(Part(f"upwind search, truncation: {truncation}", draws, above=0))
    for i, condition in enumerate(starts.facts["conditions"]):
        for name in there:
            if i != starts.facts["main"] and (condition, name) not in _EXCEPTIONS:
                draws = trend(measure(starts, starts["geometry"][i], name), rng)
                parts.append(Part(f"{_WORDS[name]}, start: {condition}", draws, above=0))
    also = {f"trend of {_WORDS[name]}, as in Fig. 3": trends[name].value for name in _GROWING}
    return Evidence(parts, also)


_GROWING = ("surge_length", "upwind_search", "backtracking_initiation")


def _grows(draws: Draws) -> bool:
    return draws.n >= FEWEST and interval(draws)[0] > 0


CLAIMS = (
    Claim(
        "C5",
        "Surges lengthen with sparsity",
        "The sparser the plume, the longer agents surge upwind after a whiff.",
        f"Surge length of single-Q agents: {_TREND}; above 0.",
        ("fig3",),
        "trend",
        _growing("surge_length"),
    ),
    Claim(
        "C6",
        "Upwind search and return delay grow",
        "The sparser the plume, the further upwind agents search and the longer they wait before they turn back.",
        f"Upwind search and backtracking initiation of single-Q agents: {_TREND}; both above 0. An agent that never "
        "turns back ranks after all who do.",
        ("fig3",),
        "trend",
        _growing("upwind_search", "backtracking_initiation"),
    ),
    Claim(
        "C7",
        "Casts widen, returns shorten, weakly",
        "With sparsity, casts get a little wider and returns a little shorter.",
        f"Cast width and backtracking length (largest minus smallest x, as printed) of single-Q agents: {_TREND}; "
        "between 0 and 2/3 for casts, between -2/3 and 0 for backtracking (weak: fewer than five in six pairs). The "
        "printed length contains the upwind search; the return alone, as the paper draws it, is told beside it.",
        ("fig3",),
        "trend",
        _weak,
    ),
    Claim(
        "C13",
        "Q+ goes upwind; Q- surges and returns",
        "Within a two-Q agent, the mode for long blanks searches further upwind, and the mode for short blanks turns "
        "back sooner and surges more.",
        "Share of two-Q agents in which it is so minus the share in which it is the other way round, averaged over the "
        "four environments; above 0 for each of the three. A mode that never turns back is later than any that does.",
        ("fig7",),
        "share of agents, net",
        _modes,
    ),
    Claim(
        "C18",
        "Trends survive other choices",
        "The trends of surge, upwind search and the delay of the return do not depend on how much of a path counts or "
        "on how training starts.",
        f"The {_TREND}, above 0: of upwind search under the four other truncations, and of all three under the three "
        "other initial conditions, except for the delay with own mask and a whiff at the start, as in the paper. Only "
        "trends that are certain in the main ensembles are asked to survive.",
        ("fig3", "s2", "s5"),
        "trend",
        _survives,
    ),
)
