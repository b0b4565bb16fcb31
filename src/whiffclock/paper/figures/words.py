"""Pieces of captions: numbers by environment, and what was run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, Datasets, in_each

#: Agents per ensemble and training episodes in the paper.
_PAPER_AGENTS, _PAPER_EPISODES = 20, 3_000_001


def number(value: float, form: str = ".2f") -> str:
    """A number as it stands in a sentence; what never happens is infinite."""
    if np.isnan(value):
        return "unknown"
    if np.isinf(value):
        return "never"
    text = format(value, form)
    if text.strip("+-0.") == "":
        text = format(0.0, form)  # no sign for what rounds to nothing below it
    return text.replace("-", "−")


def middle(values: ArrayLike) -> float:
    """Median, in which NaN stands for a value beyond all others; NaN only if there are no values."""
    values = np.asarray(values)
    if values.size == 0:
        return float("nan")
    filled = np.sort(np.where(np.isnan(values), np.inf, values).ravel())
    low, high = filled[(len(filled) - 1) // 2], filled[len(filled) // 2]
    return float(high if np.isinf(high) else (low + high) / 2)


def listing(parts: Iterable[str]) -> str:
    """ "a, b and c"."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def each(values: xr.DataArray, form: str = ".2f") -> str:
    """ "0.93 (denser), 0.90 (dense), ..." of float[environment]."""
    return listing(f"{number(float(values.sel(environment=name)), form)} ({name})" for name in ENVIRONMENT_NAMES)


def medians(values: xr.DataArray, form: str = ".2f") -> str:
    """Medians by environment, over all other dimensions."""
    return each(in_each(lambda name: middle(values.sel(environment=name))), form)


def run(data: Datasets) -> str:
    """What was run, and how much less that is than in the paper."""
    facts = data.facts
    text = (
        f"{facts['seeds']} agents per kind and environment, trained for {facts['episodes']:,} episodes; "
        f"{facts['searches']:,} test searches per agent, of at most {facts['horizon']} moves."
    )
    if facts["seeds"] >= _PAPER_AGENTS and facts["episodes"] >= _PAPER_EPISODES:
        return text
    return (
        f"{text} This is less than the paper's {_PAPER_AGENTS} agents and {_PAPER_EPISODES:,} episodes, so that "
        "spreads are rough."
    )


def odor(data: Datasets) -> str:
    """Where the odor comes from, if the run says so."""
    origin = str(data.facts.get("origin", "")).strip().rstrip(".")
    return f"Odor: {origin}." if origin else ""
