"""Claims on how well the agents do: C1, C3, C4, C11, C15, C16 (paper, "Performance" and "Two-Q agent")."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.paper.claims.resampling import Draws, Strata, median
from whiffclock.paper.claims.verdict import Claim, Evidence, Part, Results
from whiffclock.params import LearningSettings

_G, _ARRIVALS = 0, 2
#: Success rate wanted in denser, dense, sparse, sparser.
_SUCCESS = (0.97, 0.97, 0.9, 0.9)
#: Differences of G: what counts as no gain, as a near match, as converged, as weak dependence.
_NO_GAIN, _NEAR_MATCH, _CONVERGED, _WEAK = 0.02, 0.05, 0.02, 0.1


def _beats_cast(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig2"]
    strata = Strata.of(result["cast_strata"].shape[1], rng)
    gain = result["single_strata"][..., _G] - result["cast_strata"][:, None, :, _G]
    names = result.facts["environments"]
    parts = [Part(name, median(one, rng, strata), above=0) for name, one in zip(names, gain, strict=True)]
    worse = (result["single"][..., _G] <= result["cast"][:, None, _G, 0]).sum(axis=1)
    return Evidence(parts, {"agents no better than cast-and-surge": dict(zip(names, worse.tolist(), strict=True))})


def _success(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig2"]
    rates = result["single_strata"][..., _ARRIVALS]
    strata = Strata.of(rates.shape[2], rng)
    names = result.facts["environments"]
    parts = [
        Part(name, median(rate, rng, strata), above=least)
        for name, rate, least in zip(names, rates, _SUCCESS, strict=True)
    ]
    best = result["single"][..., _ARRIVALS].max(axis=1)
    return Evidence(parts, {"highest success rate of an agent": dict(zip(names, best.tolist(), strict=True))})


def _converged(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["fig1"]
    curve = result["curve_single"][..., 1]
    points = curve.shape[2]
    settled = min(math.ceil(points * profile.learning.epsilon_decay / profile.episodes), points - 2)
    half = (settled + points) // 2
    change = _rise(curve, settled, half)
    short = profile.episodes < LearningSettings.episodes - 1
    reason = f"agents were trained for {profile.episodes:,} episodes, and the claim is about 3,000,000" if short else ""
    names = result.facts["environments"]
    parts = [
        Part(name, median(one, rng), above=-_CONVERGED, below=_CONVERGED, reason=reason)
        for name, one in zip(names, change, strict=True)
    ]
    tenth = max(1, points // 10)
    late = np.median(_rise(curve, -2 * tenth, -tenth), axis=1)
    also = {
        f"agents that changed by more than {_CONVERGED}": (np.abs(change) > _CONVERGED).sum(axis=1),
        "last tenth of all episodes minus the tenth before, in part with exploration": late,
    }
    return Evidence(parts, {label: dict(zip(names, one.tolist(), strict=True)) for label, one in also.items()})


def _rise(curve: np.ndarray, first: int, middle: int) -> np.ndarray:
    """Mean of float[e, a, p] from ``middle`` on, minus that from ``first`` to there: float[e, a]."""
    return curve[..., middle:].mean(axis=2) - curve[..., first:middle].mean(axis=2)


def _gains(results: Results, kind: str, rng: np.random.Generator) -> list[Draws]:
    """Median G of a kind of agent minus median G of single-Q, in each environment."""
    result = results["fig2"]
    strata = Strata.of(result["single_strata"].shape[2], rng)
    both = (result[f"{kind}_strata"][..., _G], result["single_strata"][..., _G])
    return [median(one, rng, strata) - median(single, rng, strata) for one, single in zip(*both, strict=True)]


def _two_gains(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    denser, dense, sparse, sparser = _gains(results, "two", rng)
    return Evidence(
        [
            Part("denser", denser, below=_NO_GAIN),
            Part("dense", dense, below=_NO_GAIN),
            Part("sparse", sparse, above=0),
            Part("sparser", sparser, above=0),
        ]
    )


def _heuristic(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    names = results["fig2"].facts["environments"]
    gains = _gains(results, "heuristic", rng)
    return Evidence([Part(name, gain, above=-_NEAR_MATCH) for name, gain in zip(names, gains, strict=True)])


def _tau(results: Results, profile: Profile, rng: np.random.Generator) -> Evidence:
    result = results["s3"]
    by_stratum = result["strata"][..., _G]
    strata = Strata.of(by_stratum.shape[3], rng)
    thirds = np.array_split(np.arange(by_stratum.shape[1]), 3)
    parts = []
    for name, values in zip(result.facts["environments"], by_stratum, strict=True):
        groups = [values[third].reshape(-1, values.shape[2]) for third in thirds if len(third)]
        levels = [median(group, rng, strata) for group in groups]
        parts += [
            Part(f"{name}, {text}", levels[j] - levels[i], above=-_WEAK, below=_WEAK)
            for (i, j), text in zip(
                combinations(range(len(levels)), 2), ("middle - low", "high - low", "high - middle"), strict=False
            )
        ]
    return Evidence(parts, {"tau": result["tau"].tolist(), "agents per tau": int(by_stratum.shape[2])})


CLAIMS = (
    Claim(
        "C1",
        "Single-Q beats cast-and-surge",
        "A clock that learned what to do earns more than the best hand-made cast-and-surge, in every plume.",
        "Median over single-Q agents of G minus the G of cast-and-surge at its best angle, on the same starts; "
        "above 0 in all four environments.",
        ("fig2",),
        "difference of G",
        _beats_cast,
    ),
    Claim(
        "C3",
        "Nine of ten searches arrive, or more",
        "The typical single-Q agent finds the source in at least nine of ten searches, and nearly always in the two "
        "denser plumes.",
        "Median over single-Q agents of the success rate f+; above 0.97 in denser and dense, above 0.9 in sparse and "
        "sparser.",
        ("fig2",),
        "success rate f+",
        _success,
    ),
    Claim(
        "C4",
        "Training has converged",
        "By three million episodes, training no longer changes the return.",
        "Of the episodes after exploration has ended (until then the return rises because fewer moves are random; from "
        "then on the learning rate is at its lowest, too): training return G in their second half minus that in their "
        "first, median over single-Q agents; within 0.02 of zero in all four environments. Shorter trainings do not "
        "decide.",
        ("fig1",),
        "change of G",
        _converged,
    ),
    Claim(
        "C11",
        "Two-Q pays only in sparse plumes",
        "A second mode raises the return in sparse plumes, and hardly in dense ones.",
        "Median G of two-Q agents minus that of single-Q agents, on the same starts; above 0 in sparse and sparser, "
        "below 0.02 in denser and dense.",
        ("fig2",),
        "difference of G",
        _two_gains,
    ),
    Claim(
        "C15",
        "2Qʰ matches single-Q or beats it",
        "A two-mode agent put together from a dense-trained and a sparse-trained clock, never trained further, does as "
        "well as clocks trained in each plume.",
        "Median G of 2Qʰ agents minus that of single-Q agents trained in the plume, on the same starts; above "
        "-0.05 in all four environments.",
        ("fig2",),
        "difference of G",
        _heuristic,
    ),
    Claim(
        "C16",
        "tau matters little",
        "How long a blank must be to count as long makes little difference to a two-Q agent's return.",
        "Median G of the agents with low, middle and high tau (thirds of the scan), compared in pairs; differences "
        "within 0.1 of zero for all pairs in all four environments.",
        ("s3",),
        "difference of G",
        _tau,
    ),
)
