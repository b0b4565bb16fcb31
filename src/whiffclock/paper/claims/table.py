"""The table of claims, ``claims.toml``, and the functions that compute their evidence.

A claim is added, here or from outside, by an entry in such a table (:func:`add_claims`) and a function that is
registered under its name (:func:`evidence`).
"""

import tomllib
from collections.abc import Callable
from fractions import Fraction
from importlib import resources
from typing import Any

import numpy as np

from whiffclock.paper.claims.verdict import Claim, Evidence, Margins
from whiffclock.paper.dataset import Datasets

#: Computes the evidence from the datasets, the margins of the claim, and a generator with the claim's own seed.
Compute = Callable[[Datasets, Margins, np.random.Generator], Evidence]

#: All claims by id, in order, and the functions that compute their evidence.
CLAIMS: dict[str, Claim] = {}
EVIDENCE: dict[str, Compute] = {}


def add_claims(text: str) -> None:
    """Add the claims of a table in TOML, written as ``claims.toml`` is."""
    entries = tomllib.loads(text)
    shared = entries.pop("shared", {})
    for name, entry in entries.items():
        statistic = entry["statistic"].format(**shared, **entry["margins"])
        changed = {"statistic": statistic, "margins": _numbers(entry["margins"])}
        changed |= {words: tuple(entry.get(words, ())) for words in ("figures", "data")}
        CLAIMS[name] = Claim(id=name, **entry | changed)


def evidence(name: str) -> Callable[[Compute], Compute]:
    """Register the function that computes the evidence of a claim."""

    def register(function: Compute) -> Compute:
        EVIDENCE[name] = function
        return function

    return register


def markdown() -> str:
    """The table of all claims for the documentation."""
    rows = [("", "claim, and where in the paper", "statistic, and where it must lie", "resampled; needs"), ("---",) * 4]
    for c in CLAIMS.values():
        rows.append((c.id, f"{c.statement} ({c.place})", c.statistic, f"{c.resampled}; {', '.join(c.figures)}"))
    return "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


def _numbers(margin: Any) -> Any:
    """Margins with fractions as numbers."""
    if isinstance(margin, dict):
        return {name: _numbers(one) for name, one in margin.items()}
    return float(Fraction(margin)) if isinstance(margin, str) else margin


add_claims(resources.files(__package__).joinpath("claims.toml").read_text(encoding="utf-8"))
