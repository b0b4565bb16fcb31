"""Evidence from searches: how well agents do (C1 to C4, C10, C11, C15, C16), where they fail (C8, C9, C14)
and in which mode (C12).

Differences of G are measured on the scale of the environment: in units of the *gap*, which is the G of the Bayesian
agent minus that of cast-and-surge. The sign of a difference needs no scale.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import xarray as xr

from whiffclock.paper import dataset as ds
from whiffclock.paper.claims.table import evidence
from whiffclock.paper.claims.verdict import Evidence, Margins, Part, surely_positive, with_interval
from whiffclock.quantiles import weighted_quantiles
from whiffclock.resampling import (
    Draws,
    Ensemble,
    each,
    ensemble,
    over_agents,
    over_each,
    over_strata,
    positive,
    resampled,
    superiority,
    trend,
)

#: Two ensembles that are compared, the first with the second.
Pair = tuple[Ensemble, Ensemble]
_DENSE, _SPARSE = ("denser", "dense"), ("sparse", "sparser")


def own(data: ds.Datasets, kind: str, variable: str, **selected: str | int) -> xr.DataArray:
    """A variable of the searches of a kind of agent, in its training environment."""
    return ds.where_trained(data.searches[variable], kind).sel(selected, drop=True)


def _sampled(data: ds.Datasets, kind: str) -> xr.DataArray:
    """G [environment, agent, stratum] on the starts of the Bayesian agent."""
    return data.searches["sampled"].sel(kind=kind, metric="G", drop=True).rename(tested="environment")


class GapScale:
    """The gap of each environment; it and the differences that it scales use the same resampled strata."""

    def __init__(self, data: ds.Datasets, rng: np.random.Generator) -> None:
        self.strata = resampled(data.searches.sizes["stratum"], rng)
        best = own(data, ds.BAYES, "strata", metric="G", agent=0)
        gaps = each(best - _sampled(data, ds.CAST).isel(agent=0, drop=True), "stratum")
        self.gaps = {name: over_strata(one, self.strata) for name, one in gaps.items()}

    @property
    def also(self) -> dict[str, Mapping[str, Mapping[str, float]]]:
        """The gaps, to be shown."""
        return {"gap": {name: with_interval(gap) for name, gap in self.gaps.items()}}

    def compare(self, label: str, environment: str, pair: Pair, required: Margins) -> Part:
        """The difference of medians of two ensembles, with the probability of superiority beside it."""
        part = self.part(label, environment, pair[0].take() - pair[1].take(), required)
        return replace(part, beside={**part.beside, "probability of superiority": superiority(*pair)})

    def part(self, label: str, environment: str, number: Draws, required: Margins) -> Part:
        """A difference of G in units of the gap; undecided where the gap is not certain to be positive."""
        gap = self.gaps[environment]
        known = surely_positive(gap)
        value = number.value / gap.value if known else np.nan
        shares = np.divide(number.draws, gap.draws, out=np.copysign(np.inf, number.draws), where=gap.draws > 0)
        draws = shares if known else np.full_like(shares, np.nan)
        share = replace(number, value=value, draws=draws, over=number.over | gap.over)
        reason = "" if known else "the gap between the Bayesian agent and cast-and-surge is not certain to be positive"
        return Part(label, share, **required, reason=reason, beside={"difference of G": number})


def _superior(label: str, pair: Pair, required: Margins, of: str = "G", reason: str = "") -> Part:
    """The probability of superiority of the first ensemble, with the difference of medians beside it."""
    beside = {f"difference of {of}": pair[0].take() - pair[1].take()}
    return Part(label, superiority(*pair), **required, reason=reason, beside=beside)


def _with_single(data: ds.Datasets, kind: str, rng: np.random.Generator, strata: np.ndarray) -> dict[str, Pair]:
    """G of a kind of agent, and of single-Q, by environment."""
    values = (each(own(data, one, "strata", metric="G"), "agent", "stratum") for one in (kind, ds.SINGLE))
    one, single = ({name: ensemble(g, rng, strata) for name, g in rewards.items()} for rewards in values)
    return {name: (one[name], single[name]) for name in one}


@evidence("C1")
def _beats_cast(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    strata = resampled(data.searches.sizes["stratum"], rng)
    gains = own(data, ds.SINGLE, "strata", metric="G") - own(data, ds.CAST, "strata", metric="G", agent=0)
    parts = []
    for name, one in each(gains, "agent", "stratum").items():
        found = ensemble(one, rng, strata)
        better = {"share of agents that do better": found.take(positive)}
        parts.append(Part(name, found.take(), **margins["gain"], beside=better))
    return Evidence(parts)


@evidence("C2")
def _near_bayes(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    scale = GapScale(data, rng)
    single, odd = own(data, ds.SINGLE, "strata", metric="G"), data.searches["stratum"] % 2 == 1
    parts: list[Part] = []
    also: dict[str, Any] = {}

    def rival(half: xr.DataArray) -> xr.DataArray:
        """G of the agent that is best on one half of the strata."""
        best = single.where(half).mean("stratum").fillna(-np.inf).idxmax("agent").astype(np.int64)
        return _sampled(data, ds.SINGLE).sel(agent=best).drop_vars("agent")

    published = ds.PUBLISHED in data.searches["kind"] and own(data, ds.PUBLISHED, "mean").notnull().any()
    for kind, words in {ds.BAYES: "", **({ds.PUBLISHED: ", published sampling"} if published else {})}.items():
        bayes = own(data, kind, "strata", metric="G", agent=0)
        leads = each((bayes - rival(odd)).where(~odd, bayes - rival(~odd)), "stratum")
        chosen = {name: over_strata(one, scale.strata) for name, one in leads.items()}
        parts += [scale.part(f"{name}{words}", name, lead, margins["lead"]) for name, lead in chosen.items()]
        also[f"G of the Bayesian agent{words}"] = each(bayes.mean("stratum"))
    return Evidence(parts, also | scale.also)


@evidence("C3")
def _success(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    rates = over_each(own(data, ds.SINGLE, "strata", metric="f+"), rng, resampled(data.searches.sizes["stratum"], rng))
    best = each(own(data, ds.SINGLE, "mean", metric="f+").max("agent"))
    parts = [Part(name, one, **margins["dense" if name in _DENSE else "sparse"]) for name, one in rates.items()]
    return Evidence(parts, {"highest success rate of an agent": best})


@evidence("C4")
def _converged(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    scale, curve = GapScale(data, rng), data["setting"]["curve"].sel(kind=ds.SINGLE)
    changes = over_each(late_change(curve, data.facts["epsilon_decay"] / data.facts["episodes"]), rng)
    parts = [scale.part(name, name, change, margins["change"]) for name, change in changes.items()]
    if data.facts["long_seeds"]:
        pairs, beyond = _with_single(data, ds.LONGER, rng, scale.strata), "beyond the paper: twice the episodes"
        longer = [scale.part(name, name, one.take() - other.take(), {}) for name, (one, other) in pairs.items()]
        both = zip(parts, longer, strict=True)
        parts = [replace(part, beside={**part.beside, beyond: other.draws}) for part, other in both]
    return Evidence(parts, scale.also)


def late_change(curve: xr.DataArray, settled: float) -> xr.DataArray:
    """Change of G of learning curves after a share of the training, when rates are constant: [..., agent].

    It is the mean over the second half of the other episodes minus that over the first. A point is a mean over the
    episodes before it, so the first one of these does not count.
    """
    episode, rewards = curve.sel(column="episode"), curve.sel(column="G")
    last = float(episode.max())
    begin = (settled + 1 / curve.sizes["point"]) * last
    late = episode > (begin + last) / 2
    return rewards.where(late).mean("point") - rewards.where((episode > begin) & ~late).mean("point")


def distance(data: ds.Datasets) -> xr.DataArray:
    """Distance downwind of each x: 0 at the source, 1 at the end of the grid."""
    x, source = data.searches["x"], data.facts["source"][0]
    return (x - source) / max(1, int(x.max()) - source)


def last_whiff(lost: xr.DataArray, distance: xr.DataArray, fewest: int) -> xr.DataArray:
    """Median distance of the last whiffs of failures; NaN with fewer than ``fewest``."""
    known = lost.sum("x") >= fewest
    counts = lost.where(known, 1)
    median = xr.apply_ufunc(lambda one: weighted_quantiles(distance, one, 0.5), counts, input_core_dims=[["x"]])
    return median.where(known)


def too_few(fewest: int, *ensembles: xr.DataArray) -> str:
    """A reason not to decide, unless half of the agents of one ensemble have ``fewest`` failures: counts [agent]."""
    enough = any(bool((counts.dropna("agent") >= fewest).mean() >= 0.5) for counts in ensembles)
    return "" if enough else f"fewer than half of the agents have at least {fewest} such failures"


def _shares_without_whiff(data: ds.Datasets, *kinds: str) -> dict[str, dict[str, np.ndarray]]:
    """Share of failures without any whiff."""
    return {f"share of failures without any whiff, {kind}": each(ds.without_whiff(data, kind)) for kind in kinds}


@evidence("C8")
def _near_source(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    lost, fewest = own(data, ds.SINGLE, "lost"), margins["failures"]
    places, counts = last_whiff(lost, distance(data), fewest), lost.sum("x", skipna=False)
    reasons = {name: too_few(fewest, counts.sel(environment=name)) for name in data.environments}
    required, numbers = margins["last_whiff"], over_each(places, rng)
    parts = [Part(name, one, **required, reason=reasons[name]) for name, one in numbers.items()]
    order = trend(each(places, "agent").values(), rng)
    parts.append(Part("trend", order, **margins["order"], reason=max(reasons.values())))
    failed = own(data, ds.SINGLE, "failures").median("agent") / data.facts["searches"]
    return Evidence(parts, {"median failure rate": each(failed)} | _shares_without_whiff(data, ds.SINGLE))


def _lost_in(data: ds.Datasets, kind: str, trained: str, tested: str, near: float = 0, far: float = 1) -> xr.DataArray:
    """Failures [agent, stratum] with the last whiff between the distances ``near`` and ``far``."""
    lost = data.searches["lost_by"].sel(kind=kind, trained=trained, tested=tested)
    region = (lost["sixth"] / 6 >= near) & (lost["sixth"] / 6 < far)
    return lost.where(region, 0).sum("sixth", skipna=False).transpose("agent", "stratum")


@evidence("C9")
def _far_downwind(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    fewest, strata = margins["failures"], resampled(data.searches.sizes["stratum"], rng)
    searches = data.facts["searches"] / data.searches.sizes["stratum"]
    parts, also = [], {}
    without = ds.shares_without_whiff(data.searches).sel(kind=ds.SINGLE)
    for tested, trained in product(_SPARSE, _DENSE):
        lost = [_lost_in(data, ds.SINGLE, place, tested, near=margins["far"]) for place in (trained, tested)]
        dense, same = (ensemble(one / searches, rng, strata) for one in lost)
        label, reason = f"{trained} in {tested}", too_few(fewest, *(one.sum("stratum", skipna=False) for one in lost))
        parts.append(_superior(label, (dense, same), margins["more"], "median failure rates", reason))
        also[f"share of failures without any whiff, {label}"] = float(without.sel(trained=trained, tested=tested))
    return Evidence(parts, also)


@evidence("C10")
def _generalizes(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    strata, parts = resampled(data.searches.sizes["stratum"], rng), []
    also: dict[str, float] = {}
    for trained in _SPARSE:
        others = [name for name in data.environments if name != trained]
        rewards = data.searches["strata"].sel(metric="G", trained=trained, tested=others)
        means = rewards.mean("tested", skipna=False).transpose("kind", "agent", "stratum")
        two, single = (ensemble(means.sel(kind=kind), rng, strata) for kind in (ds.TWO, ds.SINGLE))
        parts.append(_superior(f"agents trained in {trained}", (two, single), margins["better"]))
        typical = rewards.mean("stratum").median("agent")
        gains = each(typical.sel(kind=ds.TWO) - typical.sel(kind=ds.SINGLE))
        also |= {f"difference of G, {trained} in {name}": float(gain) for name, gain in gains.items()}
    return Evidence(parts, also)


@evidence("C11")
def _two_gains(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    scale = GapScale(data, rng)
    pairs = _with_single(data, ds.TWO, rng, scale.strata)
    parts = [scale.compare(name, name, pairs[name], margins["dense"]) for name in _DENSE]
    parts += [_superior(name, pairs[name], margins["sparse"]) for name in _SPARSE]
    return Evidence(parts, scale.also)


@evidence("C15")
def _heuristic(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    scale = GapScale(data, rng)
    pairs = _with_single(data, ds.HEURISTIC, rng, scale.strata)
    parts = [scale.compare(name, name, pair, margins["difference"]) for name, pair in pairs.items()]
    return Evidence(parts, scale.also)


def separation_by_blank(by_blank: np.ndarray) -> np.ndarray:
    """Separation of Q+ and Q- by local blank time, float[agent], from decisions float[agent, (Q-, Q+), bin].

    Of one decision in Q- and one in Q+, the probability that the second was taken in a bin of longer blanks,
    minus the probability that the first was. NaN for an agent that used only one mode.
    """
    total = by_blank.sum(axis=2, keepdims=True)
    share = np.divide(by_blank, total, out=np.full(by_blank.shape, np.nan), where=total > 0)
    bins = np.arange(by_blank.shape[2])
    return np.einsum("ab,bc,ac->a", share[:, 0], np.sign(bins[None, :] - bins[:, None]), share[:, 1])


@evidence("C12")
def _usage(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    modes = data["usage"][["by_blank", "same_path"]].sel(mode=[ds.MINUS, ds.PLUS])
    trained, control = (each(modes[name], "agent", "mode", "bin") for name in ("by_blank", "same_path"))
    parts = []
    also: dict[str, Any] = {}
    for name in trained:
        two, same = (ensemble(separation_by_blank(one[name]), rng) for one in (trained, control))
        learned = {"beyond the paper: probability of more than the control": superiority(two, same)}
        beside = {"control": same.take()} | learned
        parts.append(Part(f"separation in {name}", two.take(), **margins["separation"], beside=beside))
    shares = {kind: own(data, kind, "share") for kind in (ds.TWO, ds.SAME_PATH)}
    share, other = (over_agents(one.sel(environment="denser"), rng) for one in shares.values())
    parts.append(Part("share of Q+ in denser", share, **margins["share"], beside={"control": other}))
    also |= {f"median share of Q+, {kind}": each(one.median("agent")) for kind, one in shares.items()}
    return Evidence(parts, also)


@evidence("C14")
def _alone(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    fewest, strata = margins["failures"], resampled(data.searches.sizes["stratum"], rng)
    searches = data.facts["searches"] / data.searches.sizes["stratum"]
    downwind, upwind = {"near": margins["far"]}, {"far": margins["near"]}

    def part(label: str, kind: str, environment: str, where: Mapping[str, float]) -> Part:
        confined, free = (_lost_in(data, one, environment, environment, **where) for one in (kind, ds.TWO))
        more = ensemble((confined - free) / searches, rng, strata)
        reason = too_few(fewest, *(one.sum("stratum", skipna=False) for one in (confined, free)))
        beside = {"median difference of failure rates": more.take()}
        return Part(f"{label} {environment}", more.take(positive), **margins["more"], reason=reason, beside=beside)

    parts = [part("Q- alone far downwind in", ds.MINUS_ONLY, name, downwind) for name in _SPARSE]
    parts += [part("Q+ alone near the source in", ds.PLUS_ONLY, name, upwind) for name in data.environments]
    others = [part("Q- alone near the source in", ds.MINUS_ONLY, name, upwind) for name in data.environments]
    others += [part("Q+ alone far downwind in", ds.PLUS_ONLY, name, downwind) for name in data.environments]
    also = {one.label: one.draws.value for one in others}
    return Evidence(parts, also | _shares_without_whiff(data, ds.TWO, ds.MINUS_ONLY, ds.PLUS_ONLY))


@evidence("C16")
def _tau(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    scale, parts = GapScale(data, rng), []
    scan = each(data.searches["scan_strata"].sel(metric="G"), "tau_scanned", "replica", "stratum")
    tau, replicas = data.searches["tau_scanned"].values, data.searches.sizes["replica"]
    thirds = zip(("low", "middle", "high"), np.array_split(np.arange(len(tau)), 3), strict=True)
    groups = {label: third for label, third in thirds if len(third)}
    for name, values in scan.items():
        flat = {label: values[third].reshape(-1, values.shape[-1]) for label, third in groups.items()}
        levels = {label: ensemble(one, rng, scale.strata) for label, one in flat.items()}
        for a, b in combinations(levels, 2):
            pair = levels[b], levels[a]
            parts.append(scale.compare(f"{b} minus {a} in {name}", name, pair, margins["difference"]))
    return Evidence(parts, {"tau": tau.tolist(), "agents per tau": replicas} | scale.also)
