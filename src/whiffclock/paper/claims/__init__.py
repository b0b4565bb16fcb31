"""The paper's claims C1 to C18, judged on saved results.

Each claim is a statistic over ensembles of agents, an interval for it, and a range in which it must lie; the words
"near", "weakly", "matches" have numbers, given in the claim's ``statistic``. The rule of decision is in
:mod:`~whiffclock.paper.claims.verdict`, the intervals in :mod:`~whiffclock.paper.claims.resampling`.

A claim that does not hold on a plume is a finding. A claim that few agents cannot decide is not decidable.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import whiffclock
from whiffclock.experiments.profiles import Profile
from whiffclock.paper.claims import bayes, geometry, performance, places
from whiffclock.paper.claims.verdict import Claim, NotDecidableError, Results, Verdict, decide, undecided

CLAIMS: tuple[Claim, ...] = tuple(
    sorted((*performance.CLAIMS, *bayes.CLAIMS, *geometry.CLAIMS, *places.CLAIMS), key=lambda claim: int(claim.id[1:]))
)

__all__ = ["CLAIMS", "Claim", "Verdict", "claims_json", "judge", "judge_one"]


def judge(results: Results, profile: Profile) -> list[Verdict]:
    """Every claim's verdict, in order."""
    return [judge_one(claim, results, profile) for claim in CLAIMS]


def judge_one(claim: Claim, results: Results, profile: Profile) -> Verdict:
    """The verdict on one claim; its random numbers depend on its id alone."""
    absent = [figure for figure in claim.figures if figure not in results]
    if absent:
        return undecided(claim, f"The run has no results of {' and '.join(absent)}.")
    try:
        return decide(claim, claim.evidence(results, profile, np.random.default_rng(int(claim.id[1:]))))
    except NotDecidableError as reason:
        return undecided(claim, str(reason))


def claims_json(verdicts: Sequence[Verdict], profile: Profile, plume: Mapping[str, Any]) -> str:
    """Claims with their provenance, as JSON; null where there is no finite number."""
    told = {
        "whiffclock": whiffclock.__version__,
        "profile": profile.to_dict(),
        "plume": {name: plume[name] for name in ("origin", "fingerprint", "shape", "source") if name in plume},
        "claims": [_told(verdict) for verdict in verdicts],
    }
    return json.dumps(_plain(told), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _told(verdict: Verdict) -> dict[str, Any]:
    names = ("id", "statement", "statistic", "value", "interval", "verdict", "details", "why")
    return {name: getattr(verdict, name) for name in names} | {"quantity": verdict.quantity, "part": verdict.part}


def _plain(value: Any) -> Any:
    """Plain values; numbers to ten digits, so that the last bits of a sum do not show."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
