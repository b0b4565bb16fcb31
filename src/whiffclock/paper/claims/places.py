"""Claims on where agents fail and which mode they use there: C8, C9, C10, C12, C14 (paper, Figs. 3, 4, 6, 7)."""

from __future__ import annotations

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.results import Result
from whiffclock.paper.claims.resampling import Draws, median, trend
from whiffclock.paper.claims.verdict import Claim, Evidence, Part, Results

#: What is near the source, and what is far: shares of the way from the source to the grid's downwind end.
_NEAR, _FAR = 1 / 3, 1 / 2
#: Failures that an agent must have for its median to count.
_FAILURES = 5
_DENSE, _SPARSE = ("denser", "dense"), ("sparse", "sparser")


def last_whiff(result: Result, lost: np.ndarray) -> np.ndarray:
    """Median place float[...] of the last whiff of failures float[..., x], as a share of the way down the grid.

    NaN with fewer than five failures.
    """
    way = _way(result, lost.shape[-1])
    total = lost.sum(axis=-1)
    order = np.argsort(way, kind="stable")
    reached = np.cumsum(lost[..., order], axis=-1) >= total[..., None] / 2
    places = way[order][reached.argmax(axis=-1)]
    return np.where(total >= _FAILURES, places, np.nan)


def _way(result: Result, length: int) -> np.ndarray:
    """How far down the grid each x is: 0 at the source, 1 at the end."""
    source = result.facts["source"][0]
    return (np.arange(length) - source) / max(1, length - 1 - source)


def _rate(result: Result, lost: np.ndarray, far: bool) -> np.ndarray:
    """Share float[...] of all searches that fail with their last whiff in the far half, or in the near third."""
    way = _way(result, lost.shape[-1])
    where = way >= _FAR if far else way < _NEAR
    return lost[..., where].sum(axis=-1) / result.facts["searches"]


def _near_source(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig3"]
    places = last_whiff(result, result["lost"])
    names = result.facts["environments"]
    parts = [Part(name, median(place, rng), below=_NEAR) for name, place in zip(names, places, strict=True)]
    parts.append(Part("trend", trend(list(places), rng), above=0))
    failed = np.median(result["failures"], axis=1) / result.facts["searches"]
    return Evidence(parts, {"median failure rate": dict(zip(names, failed.tolist(), strict=True))})


def _far_abroad(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig4"]
    rates = _rate(result, result["lost_single"], far=True)
    index = result.facts["environments"].index
    parts = [
        Part(
            f"{trained} in {tested}",
            median(rates[index(trained), index(tested)], rng) - median(rates[index(tested), index(tested)], rng),
            above=0,
        )
        for tested in _SPARSE
        for trained in _DENSE
    ]
    places = last_whiff(result, result["lost_single"])
    also = {
        f"share of the way to the end, {trained} in {tested}": _typical(places[index(trained), index(tested)])
        for tested in _SPARSE
        for trained in _DENSE
    }
    return Evidence(parts, also)


def _generalizes(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig4"]
    names = result.facts["environments"]
    parts, also = [], {}
    for trained in _SPARSE:
        home = names.index(trained)
        abroad = [i for i in range(len(names)) if i != home]
        two, single = result["G_two"][home], result["G_single"][home]
        gain = median(two[abroad].mean(axis=0), rng) - median(single[abroad].mean(axis=0), rng)
        parts.append(Part(f"trained in {trained}", gain, above=0))
        for i in abroad:
            also[f"{trained} in {names[i]}"] = float(np.median(two[i]) - np.median(single[i]))
    return Evidence(parts, also)


def plus_prefers_long(by_blank: np.ndarray) -> np.ndarray:
    """Of decisions float[a, (Q-, Q+), b]: how much likelier Q+ is the one where blanks are longer, float[a].

    Of one decision in Q- and one in Q+, the probability that the second was taken in a bin of longer blanks,
    minus the probability that the first was. NaN for an agent that used one mode alone.
    """
    total = by_blank.sum(axis=2, keepdims=True)
    share = np.divide(by_blank, total, out=np.full(by_blank.shape, np.nan), where=total > 0)
    bins = np.arange(by_blank.shape[2])
    return np.einsum("ab,bc,ac->a", share[:, 0], np.sign(bins[None, :] - bins[:, None]), share[:, 1])


def _usage(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig6"]
    names = result.facts["environments"]
    parts = [
        Part(f"{name}, preference", median(plus_prefers_long(counts), rng), above=0)
        for name, counts in zip(names, result["by_blank"], strict=True)
    ]
    parts.append(Part("denser, share of Q+", median(result["share"][0], rng), below=0.5))
    shares = np.median(result["share"], axis=1).tolist()
    return Evidence(parts, {"median share of Q+": dict(zip(names, shares, strict=True))})


def _alone(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig7"]
    names = result.facts["environments"]

    def more(mode: str, far: bool) -> list[Draws]:
        rates = [_rate(result, result[f"lost_{kind}"], far) for kind in (mode, "two")]
        return [median(one, rng) for one in rates[0] - rates[1]]

    back, near = more("minus", far=True), more("plus", far=False)
    parts = [
        Part(f"Q- alone, back of {name}", draws, above=0)
        for name, draws in zip(names, back, strict=True)
        if name in _SPARSE
    ]
    parts += [
        Part(f"Q+ alone, near the source, {name}", draws, above=0) for name, draws in zip(names, near, strict=True)
    ]
    other = {
        "Q- alone, near the source": dict(zip(names, [one.value for one in more("minus", far=False)], strict=True)),
        "Q+ alone, back": dict(zip(names, [one.value for one in more("plus", far=True)], strict=True)),
    }
    return Evidence(parts, other)


def _typical(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else np.nan


CLAIMS = (
    Claim(
        "C8",
        "The lost were near the source",
        "Agents that fail smelled their last whiff near the source, but further downwind the sparser the plume.",
        "Median x of the last whiff of each single-Q agent's failures (five at least), as a share of the way down the "
        "grid: its median over agents below 1/3 in all four environments, and its trend over the environments (as "
        "in C5) above 0.",
        ("fig3",),
        "share of the way, or trend",
        _near_source,
    ),
    Claim(
        "C9",
        "Dense-trained agents get lost far back",
        "Agents trained in dense plumes fail far downwind in sparse ones.",
        "Share of searches that fail with their last whiff in the downwind half: median over single-Q agents trained "
        "in denser or dense, minus that of agents trained where the test is; above 0 in sparse and in sparser.",
        ("fig4",),
        "difference of failure rates",
        _far_abroad,
    ),
    Claim(
        "C10",
        "Two-Q from sparse generalizes better",
        "Trained in a sparse plume and tested in the others, two-Q agents do better than single-Q agents.",
        "Mean G over the three other environments: median over two-Q agents minus median over single-Q agents; above 0 "
        "for agents from sparse and for agents from sparser.",
        ("fig4",),
        "difference of G",
        _generalizes,
    ),
    Claim(
        "C12",
        "Q- in the core, Q+ at the edges",
        "The mode for short blanks serves in the core, the other at the back and the edges; in the densest plume the "
        "mode for short blanks dominates.",
        "Of one decision in Q- and one in Q+, the probability that the second is taken where the mean blank is longer, "
        "minus the probability that the first is: median over two-Q agents above 0 in all four environments; and the "
        "share of decisions in Q+ in denser below 0.5.",
        ("fig6",),
        "preference, or share",
        _usage,
    ),
    Claim(
        "C14",
        "Each mode alone fails in its own place",
        "Confined to the mode for short blanks, agents get lost at the back of sparse plumes; confined to the other, "
        "near the source.",
        "Share of searches that fail with the last whiff in a region, confined to a mode minus free, median over two-Q "
        "agents: above 0 for Q- in the downwind half of sparse and sparser, and for Q+ in the third next to the "
        "source of all four.",
        ("fig7",),
        "difference of failure rates",
        _alone,
    ),
)
