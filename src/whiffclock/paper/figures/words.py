"""Pieces of captions: numbers by environment, what was run, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from whiffclock.experiments.results import Result

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


def middle(values: np.ndarray) -> float:
    """Median, in which NaN stands for a value beyond all others; NaN only if there are no values."""
    if values.size == 0:
        return float("nan")
    filled = np.sort(np.where(np.isnan(values), np.inf, values).ravel())
    low, high = filled[(len(filled) - 1) // 2], filled[len(filled) // 2]
    return float(high if np.isinf(high) else (low + high) / 2)


def listing(parts: Iterable[str]) -> str:
    """ "a, b and c"."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def each(names: Sequence[str], values: Iterable[float], form: str = ".2f") -> str:
    """ "0.93 (denser), 0.90 (dense), ..."."""
    return listing(f"{number(value, form)} ({name})" for name, value in zip(names, values, strict=True))


def medians(result: Result, values: np.ndarray, form: str = ".2f") -> str:
    """Medians by environment, the first axis of ``values``."""
    return each(result.facts["environments"], [middle(one) for one in values], form)


def run(result: Result) -> str:
    """What was run."""
    facts = result.facts
    return (
        f"{facts['seeds']} agents per kind and environment, trained for {facts['episodes']:,} episodes; "
        f"{facts['searches']:,} test searches per agent, of at most {facts['horizon']} moves."
    )


def missing(result: Result) -> str:
    """What the reader should miss: agents, training."""
    facts = result.facts
    if facts["seeds"] >= _PAPER_AGENTS and facts["episodes"] >= _PAPER_EPISODES:
        return ""
    return (
        f"This is less than the paper's {_PAPER_AGENTS} agents and {_PAPER_EPISODES:,} episodes, so that spreads are "
        "rough."
    )


def plume(result: Result) -> str:
    """Where the odor comes from, if the result tells."""
    origin = str(result.facts.get("origin", "")).strip().rstrip(".")
    return f"Odor: {origin}." if origin else ""


def plume_note(result: Result) -> str:
    """A word for a corner of a map."""
    return "simulated plume" if "simulated" in str(result.facts.get("origin", "")) else ""


def sentences(*parts: str) -> str:
    """Those parts of a caption that are not empty."""
    return " ".join(part for part in parts if part)
