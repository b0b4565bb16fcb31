"""Evidence from searches: how well agents do (C1 to C4, C10, C11, C15, C16), where they fail and in which mode."""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import xarray as xr

from whiffclock.paper import dataset as ds
from whiffclock.paper.claims.resampling import Draws, each, over_agents, over_each, resampled, trend
from whiffclock.paper.claims.table import evidence
from whiffclock.paper.claims.verdict import Evidence, Margins, Part, parts
from whiffclock.paper.quantiles import weighted_quantiles

_DENSE, _SPARSE = ("denser", "dense"), ("sparse", "sparser")


def home(data: ds.Datasets, kind: str, variable: str, **selected: str | int) -> xr.DataArray:
    """A variable of the searches of a kind of agent, each in the environment that it belongs to."""
    return ds.at_home(data.searches[variable], kind).sel(selected, drop=True)


def _by_density(draws: Mapping[str, Draws], margins: Margins) -> list[Part]:
    """Parts with one margin in the two dense environments and another in the two sparse ones."""
    return [Part(name, one, **margins["dense" if name in _DENSE else "sparse"]) for name, one in draws.items()]


@evidence("C1")
def _beats_cast(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    strata = resampled(data.searches.sizes["stratum"], rng)
    gain = home(data, ds.SINGLE, "strata", metric="G") - home(data, ds.CAST, "strata", metric="G", agent=0)
    worse = home(data, ds.SINGLE, "mean", metric="G") <= home(data, ds.CAST, "mean", metric="G", agent=0)
    also = {"agents no better than cast-and-surge": each(worse.sum("agent"))}
    return Evidence(parts(over_each(gain, rng, strata), margins["gain"]), also)


@evidence("C2")
def _near_bayes(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    bayes = home(data, ds.BAYES, "strata", metric="G", agent=0)
    sampled = data.searches["sampled"].sel(metric="G", drop=True).rename(tested="environment")
    leads = each(bayes - sampled.sel(agent=ds.best_agents(data, ds.SINGLE)).drop_vars("agent"), "stratum")
    strata = resampled(data.searches.sizes["stratum"], rng)
    draws = {name: Draws(float(one.mean()), one @ strata.T, len(one), len(one) - 1) for name, one in leads.items()}
    return Evidence(parts(draws, margins["lead"]), {"G of the Bayesian agent": each(bayes.mean("stratum"))})


@evidence("C3")
def _success(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    rates = over_each(home(data, ds.SINGLE, "strata", metric="f+"), rng, resampled(data.searches.sizes["stratum"], rng))
    best = each(home(data, ds.SINGLE, "mean", metric="f+").max("agent"))
    return Evidence(_by_density(rates, margins), {"highest success rate of an agent": best})


@evidence("C4")
def _converged(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    curve = data["setting"]["curve"].sel(kind=ds.SINGLE, column="G", drop=True)
    facts, fewest, most = data.facts, margins["episodes"], margins["change"]["below"]
    points = curve.sizes["point"]
    settled = min(math.ceil(points * facts["epsilon_decay"] / facts["episodes"]), points - 2)
    change = _rise(curve, settled, (settled + points) // 2)
    tenth = max(1, points // 10)
    late = _rise(curve, -2 * tenth, -tenth)
    wanted = dict(margins["change"])
    if facts["episodes"] < fewest:
        wanted["reason"] = f"agents were trained for {facts['episodes']:,} episodes, and the claim is about {fewest:,}"
    also = {
        f"agents that changed by more than {most}": each((abs(change) > most).sum("agent")),
        "last tenth of all episodes minus the tenth before, in part with exploration": each(late.median("agent")),
    }
    return Evidence(parts(over_each(change, rng), wanted), also)


def _rise(curve: xr.DataArray, first: int, middle: int) -> xr.DataArray:
    """Mean over points from ``middle`` on, minus that from ``first`` to there."""
    before, after = (curve.isel(point=slice(*ends)) for ends in ((first, middle), (middle, None)))
    return after.mean("point") - before.mean("point")


def way(data: ds.Datasets) -> xr.DataArray:
    """How far down the grid each x is: 0 at the source, 1 at the end."""
    x, source = data.searches["x"], data.facts["source"][0]
    return (x - source) / max(1, int(x.max()) - source)


def last_whiff(lost: xr.DataArray, way: xr.DataArray, fewest: int) -> xr.DataArray:
    """Median place of the last whiffs of failures; NaN with fewer than ``fewest``."""
    known = lost.sum("x") >= fewest
    counts = lost.where(known, 1)
    return xr.apply_ufunc(lambda one: weighted_quantiles(way, one, 0.5), counts, input_core_dims=[["x"]]).where(known)


def _rate(data: ds.Datasets, lost: xr.DataArray, where: xr.DataArray) -> xr.DataArray:
    """Share of all searches that fail with their last whiff at such an x."""
    return lost.where(where, 0).sum("x", skipna=False) / data.facts["searches"]


@evidence("C8")
def _near_source(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    places = last_whiff(home(data, ds.SINGLE, "lost"), way(data), margins["failures"])
    judged = parts(over_each(places, rng), margins["last_whiff"])
    judged.append(Part("trend", trend(each(places, "agent").values(), rng), **margins["order"]))
    failed = home(data, ds.SINGLE, "failures").median("agent") / data.facts["searches"]
    return Evidence(judged, {"median failure rate": each(failed)})


@evidence("C9")
def _far_back(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    lost = data.searches["lost"].sel(kind=ds.SINGLE)
    rates = _rate(data, lost, way(data) >= margins["far"])
    places = last_whiff(lost, way(data), margins["failures"]).median("agent")
    draws, also = {}, {}
    for tested in _SPARSE:
        for trained in _DENSE:
            rate, own = (over_agents(rates.sel(trained=where, tested=tested), rng) for where in (trained, tested))
            draws[f"{trained} in {tested}"] = rate - own
            typical = float(places.sel(trained=trained, tested=tested))
            also[f"share of the way to the end, {trained} in {tested}"] = typical
    return Evidence(parts(draws, margins["difference"]), also)


@evidence("C10")
def _generalizes(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    draws: dict[str, Draws] = {}
    also: dict[str, float] = {}
    for trained in _SPARSE:
        others = [name for name in ds.ENVIRONMENT_NAMES if name != trained]
        returns = data.searches["mean"].sel(metric="G", trained=trained, tested=others)
        two, single = returns.sel(kind=ds.TWO), returns.sel(kind=ds.SINGLE)
        draws[f"trained in {trained}"] = over_agents(two.mean("tested"), rng) - over_agents(single.mean("tested"), rng)
        gains = each(two.median("agent") - single.median("agent"))
        also |= {f"{trained} in {name}": float(gain) for name, gain in gains.items()}
    return Evidence(parts(draws, margins["gain"]), also)


def _gains(data: ds.Datasets, kind: str, rng: np.random.Generator) -> dict[str, Draws]:
    """Median G of a kind of agent minus median G of single-Q, by environment."""
    strata = resampled(data.searches.sizes["stratum"], rng)
    one, single = (each(home(data, k, "strata", metric="G"), "agent", "stratum") for k in (kind, ds.SINGLE))
    return {name: over_agents(one[name], rng, strata) - over_agents(single[name], rng, strata) for name in one}


@evidence("C11")
def _two_gains(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    return Evidence(_by_density(_gains(data, ds.TWO, rng), margins))


@evidence("C15")
def _heuristic(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    return Evidence(parts(_gains(data, ds.HEURISTIC, rng), margins["difference"]))


def plus_prefers_long(by_blank: np.ndarray) -> np.ndarray:
    """Of decisions float[agent, (Q-, Q+), bin]: how much likelier Q+ is the one where blanks are longer, float[agent].

    Of one decision in Q- and one in Q+, the probability that the second was taken in a bin of longer blanks,
    minus the probability that the first was. NaN for an agent that used one mode alone.
    """
    total = by_blank.sum(axis=2, keepdims=True)
    share = np.divide(by_blank, total, out=np.full(by_blank.shape, np.nan), where=total > 0)
    bins = np.arange(by_blank.shape[2])
    return np.einsum("ab,bc,ac->a", share[:, 0], np.sign(bins[None, :] - bins[:, None]), share[:, 1])


@evidence("C12")
def _usage(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    counts = each(data["usage"]["by_blank"].sel(mode=[ds.MINUS, ds.PLUS]), "agent", "mode", "bin")
    draws = {f"{name}, preference": over_agents(plus_prefers_long(one), rng) for name, one in counts.items()}
    shares = home(data, ds.TWO, "share")
    dominates = {"denser, share of Q+": over_agents(shares.sel(environment="denser"), rng)}
    judged = parts(draws, margins["preference"]) + parts(dominates, margins["share"])
    return Evidence(judged, {"median share of Q+": each(shares.median("agent"))})


@evidence("C14")
def _alone(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    near, far = way(data) < margins["near"], way(data) >= margins["far"]

    def more(kind: str, where: xr.DataArray) -> dict[str, Draws]:
        rate, free = (_rate(data, home(data, one, "lost"), where) for one in (kind, ds.TWO))
        return over_each(rate - free, rng)

    back, front = more(ds.MINUS_ONLY, far), more(ds.PLUS_ONLY, near)
    judged = {f"Q- alone, back of {name}": back[name] for name in _SPARSE}
    judged |= {f"Q+ alone, near the source, {name}": draws for name, draws in front.items()}
    others = {"Q- alone, near the source": more(ds.MINUS_ONLY, near), "Q+ alone, back": more(ds.PLUS_ONLY, far)}
    also = {label: {name: one.value for name, one in draws.items()} for label, draws in others.items()}
    return Evidence(parts(judged, margins["difference"]), also)


@evidence("C16")
def _tau(data: ds.Datasets, margins: Margins, rng: np.random.Generator) -> Evidence:
    strata = resampled(data.searches.sizes["stratum"], rng)
    scan = each(data.searches["scan_strata"].sel(metric="G"), "tau_scanned", "replica", "stratum")
    tau, replicas = data.searches["tau_scanned"].values, data.searches.sizes["replica"]
    thirds = zip(("low", "middle", "high"), np.array_split(np.arange(len(tau)), 3), strict=True)
    groups = {label: third for label, third in thirds if len(third)}
    draws: dict[str, Draws] = {}
    for name, values in scan.items():
        flat = {label: values[third].reshape(-1, values.shape[-1]) for label, third in groups.items()}
        levels = {label: over_agents(one, rng, strata) for label, one in flat.items()}
        draws |= {f"{name}, {b} - {a}": levels[b] - levels[a] for a, b in combinations(levels, 2)}
    return Evidence(parts(draws, margins["difference"]), {"tau": tau.tolist(), "agents per tau": replicas})
