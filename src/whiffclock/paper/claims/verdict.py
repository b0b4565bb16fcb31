"""What a claim is, and when it holds.

A claim consists of parts: numbers with their bootstrap draws, each wanted above something, below something, or between.

- A claim **holds** if the 95% interval of every part lies within its range. Since all are needed, the chance to be
  wrong is that of a single part: no correction.
- It **does not hold** if the interval of some part lies outside its range altogether. With k parts there are k
  occasions for that, so these intervals are wider: 1 - 5%/k. n agents are all on one side of their true median with
  probability 2^-n; where that is more than 2.5%/k, they are too few to refute anything.
- Otherwise it is **not decidable** with the run at hand. So is a claim with a part that rests on fewer than
  :data:`FEWEST` agents, if no other part refutes it.
- It is **not tested** if the run does not have the figures it rests on.

A claim is shown by its weakest part: one that refutes it, or is not decidable, or holds by the least.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np

from whiffclock.paper.claims.resampling import LEVEL, Draws, interval

Word = Literal["holds", "does not hold", "not decidable", "not tested"]
#: Each word has a sign.
SIGNS: dict[Word, str] = {"holds": "✓", "does not hold": "✗", "not decidable": "?", "not tested": "–"}
#: Agents (or whatever is resampled) below which no interval is taken.
FEWEST = 5
_WORST_FIRST: tuple[Word, ...] = ("does not hold", "not decidable", "holds")
#: Numbers of a claim, and ranges as arguments of :class:`Part`.
Margins = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A number that a claim wants ``above`` and ``below`` something; a ``reason`` says why it cannot be decided."""

    label: str
    draws: Draws
    above: float = -np.inf
    below: float = np.inf
    reason: str = ""

    @property
    def wanted(self) -> str:
        """The range in words."""
        if np.isinf(self.below):
            return f"above {self.above:.3g}"
        if np.isinf(self.above):
            return f"below {self.below:.3g}"
        return f"between {self.above:.3g} and {self.below:.3g}"

    def interval(self, parts: int = 1) -> tuple[float, float]:
        """The interval, as one of so many; NaN for fewer than :data:`FEWEST` agents."""
        return interval(self.draws, parts) if self.draws.n >= FEWEST else (np.nan, np.nan)

    def misses(self, parts: int) -> bool:
        """Whether the interval, as one of so many, lies outside the range altogether."""
        low, high = self.interval(parts)
        return high <= self.above or low >= self.below

    def outcome(self, parts: int) -> Word:
        """The word on this part, as one of so many."""
        low, high = self.interval()
        if self.reason or np.isnan(low):
            return "not decidable"
        if low > self.above and high < self.below:
            return "holds"
        refuted = self.misses(parts) and 2.0 ** -(self.draws.freedom + 1) <= LEVEL / 2 / parts
        return "does not hold" if refuted else "not decidable"


def parts(draws: Mapping[str, Draws], wanted: Margins) -> list[Part]:
    """Parts that are all wanted in the same range, by label."""
    return [Part(label, one, **wanted) for label, one in draws.items()]


@dataclass(frozen=True)
class Evidence:
    """The parts of a claim, and numbers that are shown but not judged; without parts, ``why`` says why."""

    parts: Sequence[Part]
    also: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper as an executable check."""

    id: str
    title: str  # the statement in a few words
    statement: str  # in full (ours, not the paper's)
    statistic: str  # what is computed, and where it must lie
    quantity: str  # what such a number is, in a few words
    figures: tuple[str, ...]  # whose data it rests on
    place: str  # in the paper
    margins: Margins = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim on a run; ``part`` names the part that value and interval belong to."""

    claim: Claim
    part: str
    value: float
    interval: tuple[float, float]
    verdict: Word
    details: dict[str, Any]
    why: str
    summary: str = ""
    resampled: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON but for NaN."""
        claim = {name: getattr(self.claim, name) for name in ("id", "statement", "statistic", "quantity", "place")}
        return claim | {one.name: getattr(self, one.name) for one in fields(self) if one.name != "claim"}


def decide(claim: Claim, evidence: Evidence) -> Verdict:
    """Put parts together."""
    if not evidence.parts:
        return without_numbers(claim, "not decidable", evidence.why)
    parts, details, ranks = evidence.parts, {}, []
    outcomes = [part.outcome(len(parts)) for part in parts]
    for part, outcome in zip(parts, outcomes, strict=True):
        value, (low, high) = part.draws.value, part.interval()
        inside = min(value - part.above, part.below - value)
        ranks.append((_WORST_FIRST.index(outcome), -np.inf if np.isnan(inside) else inside))
        details[part.label] = {"value": value, "low": low, "high": high, "wanted": part.wanted, "outcome": outcome}
        details[part.label] |= {"n": part.draws.n, "above": part.above, "below": part.below, "level": "95%"}
    worst = ranks.index(min(ranks))
    part, why = parts[worst], _why(parts, outcomes, worst)
    found = {"parts": details, "also": dict(evidence.also)}
    return Verdict(claim, part.label, part.draws.value, part.interval(), outcomes[worst], found, why)


def without_numbers(claim: Claim, word: Word, why: str) -> Verdict:
    """A claim that could not be looked at."""
    return Verdict(claim, "", np.nan, (np.nan, np.nan), word, {"parts": {}, "also": {}}, why)


def _why(parts: Sequence[Part], outcomes: Sequence[Word], worst: int) -> str:
    part, word, count, same = parts[worst], outcomes[worst], len(parts), outcomes.count(outcomes[worst])
    if word == "holds" and count > 1:
        return f"All {count} parts hold; the closest call is {part.label}, wanted {part.wanted}."
    if word == "holds":
        said = f"the whole interval is {part.wanted}"
    elif word == "does not hold":
        said = f"the whole interval misses what is wanted, {part.wanted}"
    elif part.draws.n < FEWEST:
        said = f"the smallest ensemble behind it has {part.draws.n}, and fewer than {FEWEST} give no interval"
    elif part.reason:
        said = part.reason
    elif part.misses(count):
        said = f"the interval misses what is wanted, {part.wanted}, but of too few agents to refute"
    else:
        said = f"the interval reaches across the edge of what is wanted, {part.wanted}"
    others = "" if same == 1 else f" So it is with {same} of {count} parts."
    return f"{part.label[:1].upper()}{part.label[1:]}: {said}.{others}"
