"""What a claim is, and when it holds.

A claim consists of parts. A part is one number with its bootstrap draws, and the range in which the claim wants
it: above something, below something, or between. With all parts needed,

- the claim **holds** if the 95% interval of every part lies within its range. Since all are needed, the chance to
  be wrong is that of a single part: no correction.
- it **does not hold** if the interval of some part lies outside its range altogether. With k parts there are k
  occasions for that, so these intervals are wider: 1 - 5%/k. Draws do not reach beyond the agents there are: n agents
  are all on one side of their true median with probability 2^-n, and where that is more than 2.5%/k they are too few
  to refute anything.
- otherwise it is **not decidable** with the run at hand. So is a claim with a part that rests on fewer than
  :data:`FEWEST` agents, if no other part refutes it.

A claim is shown by its weakest part: one that refutes it, or is not decidable, or holds by the least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.experiments.results import Result
from whiffclock.paper.claims.resampling import LEVEL, Draws, interval

Word = Literal["holds", "does not hold", "not decidable"]
Results = Mapping[str, Result]

#: Agents (or whatever is resampled) below which no interval is taken.
FEWEST = 5
_WORST_FIRST: tuple[Word, ...] = ("does not hold", "not decidable", "holds")


class NotDecidableError(Exception):
    """A claim cannot be looked at; the message says why, as a sentence."""


@dataclass(frozen=True)
class Part:
    """One number that a claim wants within a range.

    Attributes
    ----------
    label
        What it is about, such as an environment.
    draws
        Its value and bootstrap draws.
    above, below
        The range, without its ends.
    reason
        Why it cannot be decided whatever its value; empty if it can.
    """

    label: str
    draws: Draws
    above: float = -np.inf
    below: float = np.inf
    reason: str = ""

    @property
    def value(self) -> float:
        """The number itself."""
        return self.draws.value

    @property
    def wanted(self) -> str:
        """The range in words."""
        if np.isinf(self.below):
            return f"above {self.above:.3g}"
        if np.isinf(self.above):
            return f"below {self.below:.3g}"
        return f"between {self.above:.3g} and {self.below:.3g}"

    @property
    def margin(self) -> float:
        """How far the number is inside its range; negative outside."""
        return min(self.value - self.above, self.below - self.value)

    @property
    def obstacle(self) -> str:
        """Why it cannot be decided whatever its value; empty if it can."""
        if self.draws.n < FEWEST:
            return f"the smallest ensemble behind it has {self.draws.n}, and fewer than {FEWEST} give no interval"
        return self.reason

    def outcome(self, parts: int) -> Word:
        """The word on this part, as one of so many."""
        if self.obstacle or np.isnan(self.value):
            return "not decidable"
        low, high = interval(self.draws)
        if low > self.above and high < self.below:
            return "holds"
        refuted = self.misses(parts) and 2.0 ** -(self.draws.freedom + 1) <= LEVEL / 2 / parts
        return "does not hold" if refuted else "not decidable"

    def misses(self, parts: int = 1) -> bool:
        """Whether the interval, as one of so many, lies outside the range altogether."""
        low, high = interval(self.draws, parts)
        return high <= self.above or low >= self.below


@dataclass(frozen=True)
class Evidence:
    """The parts of a claim, and numbers that are told but not judged."""

    parts: Sequence[Part]
    also: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """A statement of the paper as an executable check.

    Attributes
    ----------
    id
        C1 to C18.
    title
        The statement in a few words.
    statement
        The statement, in ours.
    statistic
        What is computed, and what is needed for it to hold.
    figures
        The results that it reads.
    quantity
        What its numbers are, in a few words.
    evidence
        The computation.
    """

    id: str
    title: str
    statement: str
    statistic: str
    figures: tuple[str, ...]
    quantity: str
    evidence: Callable[[Results, Profile, np.random.Generator], Evidence]


@dataclass(frozen=True)
class Verdict:
    """What a run says of a claim; ``part`` names the part that value and interval belong to."""

    id: str
    title: str
    statement: str
    statistic: str
    quantity: str
    part: str
    value: float
    interval: tuple[float, float]
    verdict: Word
    details: dict[str, Any]
    why: str


def decide(claim: Claim, evidence: Evidence) -> Verdict:
    """Put parts together."""
    parts, count = evidence.parts, len(evidence.parts)
    outcomes = [part.outcome(count) for part in parts]
    ranks = [(_WORST_FIRST.index(outcome), part.margin) for outcome, part in zip(outcomes, parts, strict=True)]
    worst = min(range(count), key=lambda i: (ranks[i][0], np.nan_to_num(ranks[i][1], nan=-np.inf)))
    details = {part.label: _told(part, outcome) for part, outcome in zip(parts, outcomes, strict=True)}
    return Verdict(
        id=claim.id,
        title=claim.title,
        statement=claim.statement,
        statistic=claim.statistic,
        quantity=claim.quantity,
        part=parts[worst].label,
        value=parts[worst].value,
        interval=_shown_interval(parts[worst]),
        verdict=outcomes[worst],
        details={"parts": details, "also": dict(evidence.also)},
        why=_why(parts, outcomes, worst),
    )


def undecided(claim: Claim, why: str) -> Verdict:
    """A claim that could not be looked at."""
    nothing: dict[str, Any] = {"parts": {}, "also": {}}
    said = (claim.id, claim.title, claim.statement, claim.statistic, claim.quantity, "")
    return Verdict(*said, np.nan, (np.nan, np.nan), "not decidable", nothing, why)


def _told(part: Part, outcome: Word) -> dict[str, Any]:
    low, high = _shown_interval(part)
    told = {"value": part.value, "low": low, "high": high, "wanted": part.wanted, "outcome": outcome, "n": part.draws.n}
    return told | {"above": part.above, "below": part.below}


def _shown_interval(part: Part) -> tuple[float, float]:
    return (np.nan, np.nan) if part.draws.n < FEWEST else interval(part.draws)


def _why(parts: Sequence[Part], outcomes: Sequence[Word], worst: int) -> str:
    part, word, count = parts[worst], outcomes[worst], len(parts)
    subject = part.label[:1].upper() + part.label[1:]
    if word == "holds":
        if count == 1:
            return f"{subject}: the whole interval is {part.wanted}."
        return f"All {count} parts hold; the closest call is {part.label}, wanted {part.wanted}."
    same = outcomes.count(word)
    others = "" if same == 1 else f" So it is with {same} of {count} parts."
    if word == "does not hold":
        return f"{subject}: the whole interval misses what is wanted, {part.wanted}.{others}"
    if part.obstacle:
        return f"{subject}: {part.obstacle}.{others}"
    if np.isnan(part.value):
        return f"{subject}: there is nothing to take the number from.{others}"
    if part.misses(count):
        return f"{subject}: the interval misses what is wanted, {part.wanted}, but of too few agents to refute.{others}"
    return f"{subject}: the interval reaches across the edge of what is wanted, {part.wanted}.{others}"
