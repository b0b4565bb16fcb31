"""Claims, and when they hold.

A claim consists of parts: numbers with their bootstrap draws, each required to lie in a range with one bound or two.
Each part has an outcome of its own, and the claim has the worst of them.

- A part **holds** if its interval lies within its range. A part with one bound is tested with a one-sided 95% bound,
  which is an end of the 90% interval; a part with a range by the two-sided 95% interval. Since all parts are needed,
  the chance to be wrong about the claim is that of a single part: no correction.
- It **does not hold** if the interval lies entirely outside its range. With k parts there are k chances for that, so
  these intervals are wider: the tails are k times smaller. n agents are all on one side of their true median with
  probability 2^-n; where that is more than such a tail, they are too few to refute anything.
- Otherwise it is **undecided** with this run. So is a part that is based on fewer than :data:`FEWEST`
  agents, and one with a reason: too few failures, no scale for its margin, trainings too short.
- A claim about fully trained agents is not refuted by agents with fewer than :data:`FULL_TRAINING` episodes: where
  they would refute it, it **needs full training**.
- A claim is **not tested** if the run does not have the figures it is based on, or the plume not the environments.

The interval that is shown is the one that decides: the wider one where a part might be refuted.

A claim is shown by its weakest part: one that refutes it, or is undecided, or holds by the least; and by a summary
of all parts.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from whiffclock.resampling import LEVEL, Draws, interval

Outcome = Literal["holds", "does not hold", "needs full training", "undecided", "not tested"]
#: The sign of each outcome.
SIGNS: dict[Outcome, str] = {
    "holds": "✓", "does not hold": "✗", "needs full training": "○", "undecided": "?", "not tested": "–",
}  # fmt: skip
#: Episodes of a full training, as the paper's Fig. 1(d) counts them.
FULL_TRAINING = 3_000_000
#: Agents (or whatever is resampled) below which no interval is taken: for n agents, the lowest is a one-sided bound of
#: the median at the level 1 - 2^-n, which is 97% for five and 94% for four.
FEWEST = 5
#: More agents than this are not counted.
_MOST_AGENTS = 1000
_WORST_FIRST: tuple[Outcome, ...] = ("does not hold", "needs full training", "undecided", "holds")
#: Labels of parts that a summary names, at most; of more it gives the number.
_NAMED = 3
#: Numbers of a claim, and ranges as arguments of :class:`Part`.
Margins = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A number that must lie between ``above`` and ``below``; a ``reason`` says why it cannot be decided.

    ``episodes`` are those of the agents behind it, if a claim about fully trained agents cannot be refuted by them.
    """

    label: str
    draws: Draws
    above: float = -np.inf
    below: float = np.inf
    reason: str = ""
    beside: Mapping[str, Draws] = field(default_factory=dict)  # the same in other terms, shown only
    episodes: int | None = None

    @property
    def required(self) -> str:
        """The range in words."""
        if np.isinf(self.below):
            return f"above {self.above:.3g}"
        if np.isinf(self.above):
            return f"below {self.below:.3g}"
        return f"between {self.above:.3g} and {self.below:.3g}"

    @property
    def tail(self) -> float:
        """The share outside the interval at each end: 5% with one bound, 2.5% with two."""
        return LEVEL if np.isinf(self.above) or np.isinf(self.below) else LEVEL / 2

    def interval(self, parts: int = 1) -> tuple[float, float]:
        """The interval of one of ``parts`` parts; NaN for fewer than :data:`FEWEST` agents."""
        return interval(self.draws, self.tail / parts) if self.draws.n >= FEWEST else (np.nan, np.nan)

    def deciding(self, parts: int) -> int:
        """For how many parts the interval that decides is corrected: all of them, where one might be refuted."""
        return parts if self.misses(1) else 1

    def misses(self, parts: int) -> bool:
        """Whether the interval of one of ``parts`` parts lies entirely outside the range."""
        low, high = self.interval(parts)
        return high <= self.above or low >= self.below

    def outcome(self, parts: int) -> Outcome:
        """The outcome of this part, one of ``parts``."""
        low, high = self.interval()
        if self.reason or np.isnan(low):
            return "undecided"
        if low > self.above and high < self.below:
            return "holds"
        refuted = self.misses(parts) and 2.0 ** -(self.draws.freedom + 1) <= self.tail / parts
        if not refuted:
            return "undecided"
        return "does not hold" if self.episodes is None else "needs full training"

    def needs(self, parts: int) -> float:
        """About how many agents would decide an undecided part, if value and scatter stay: errors fall as n^-1/2.

        Infinite at an end of the range, NaN where agents are not what is missing.
        """
        undecided = self.outcome(parts) == "undecided" and not self.reason
        if not undecided or self.draws.n < FEWEST or "agents" not in self.draws.over:
            return np.nan
        value, inside = self.draws.value, self.above < self.draws.value < self.below
        low, high = self.interval(1 if inside else parts)
        ends = [(value - low, self.above), (high - value, self.below)]
        if not inside:  # the end of the interval that faces the range
            ends = [(high - value, self.above)] if value <= self.above else [(value - low, self.below)]
        ratio = max(np.inf if value == end else width / abs(value - end) for width, end in ends)
        return float(np.ceil(self.draws.n * max(1.0, ratio) ** 2))

    def why(self, parts: int) -> str:
        """The reason of the outcome, in a few words."""
        outcome, outside = self.outcome(parts), f"outside the required range, {self.required}"
        if outcome == "holds":
            return f"the whole interval is {self.required}"
        if outcome == "does not hold":
            return f"the whole interval is {outside}"
        if outcome == "needs full training":
            short = f"agents have {self.episodes:,} episodes of training, and the claim is about {FULL_TRAINING:,}"
            return f"the whole interval is {outside}, but {short}"
        if self.reason:
            return self.reason
        if self.draws.n < FEWEST:
            return f"the smallest ensemble behind it has {self.draws.n}; an interval needs at least {FEWEST}"
        if self.misses(parts):
            return f"the interval is {outside}, but from too few agents to refute"
        if self.misses(1):
            return f"the interval is {outside}, but not the wider one for {parts} parts{self._agents(parts)}"
        return f"the interval crosses an end of the required range, {self.required}{self._agents(parts)}"

    def _agents(self, parts: int) -> str:
        """How many agents would decide, in words."""
        number = agents_in_words(self.needs(parts))
        return f"; {number} agents would decide" if number else ""

    def to_dict(self, parts: int) -> dict[str, Any]:
        """Everything about this part, one of ``parts``, in plain values."""
        corrected = self.deciding(parts)
        low, high = self.interval(corrected)
        return {
            "value": self.draws.value,
            "low": low,
            "high": high,
            "level": 1 - 2 * self.tail / corrected,
            "required": self.required,
            "outcome": self.outcome(parts),
            "why": self.why(parts),
            "n": self.draws.n,
            "needs": self.needs(parts),
            "above": self.above,
            "below": self.below,
            "beside": {name: with_interval(draws) for name, draws in self.beside.items()},
        }


def agents_in_words(needs: float) -> str:
    """About how many agents are needed; empty if that is not known."""
    if np.isnan(needs):
        return ""
    return f"about {needs:,.0f}" if needs <= _MOST_AGENTS else f"more than {_MOST_AGENTS:,}"


def surely_positive(number: Draws) -> bool:
    """Whether the one-sided 95% bound of a number is above zero."""
    return number.n >= FEWEST and interval(number, LEVEL)[0] > 0


def with_interval(number: Draws) -> dict[str, float]:
    """Value and two-sided 95% interval of a number without a criterion."""
    low, high = interval(number) if number.n >= FEWEST else (np.nan, np.nan)
    return {"value": number.value, "low": low, "high": high}


def parts(draws: Mapping[str, Draws], required: Margins) -> list[Part]:
    """Parts that are all required to lie in the same range, by label."""
    return [Part(label, one, **required) for label, one in draws.items()]


@dataclass(frozen=True)
class Evidence:
    """The parts of a claim, and numbers that are only shown; without parts, ``why`` says why."""

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
    figures: tuple[str, ...]  # on whose data it is based
    place: str  # in the paper
    resampled: str = ""  # what the intervals are over
    margins: Margins = field(default_factory=dict)
    environments: Literal["", "pair", "trend", "paper"] = ""  # needed: any, two for 2Q^h, three, the paper's four
    full_training: bool = True  # it is about fully trained agents
    data: tuple[str, ...] = ()  # variables behind it, such as searches.strata


@dataclass(frozen=True)
class Verdict:
    """The outcome of a claim on a run; ``part`` names the part that value and interval belong to."""

    claim: Claim
    part: str
    value: float
    interval: tuple[float, float]
    verdict: Outcome
    summary: str  # of all parts
    resampled: str
    details: dict[str, Any]
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON but for NaN."""
        claim = {name: getattr(self.claim, name) for name in ("id", "statement", "statistic", "quantity", "place")}
        return claim | {one.name: getattr(self, one.name) for one in fields(self) if one.name != "claim"}


def decide(
    claim: Claim, evidence: Evidence, environments: Collection[str] = (), episodes: int = FULL_TRAINING
) -> Verdict:
    """The verdict on a claim from its parts, about agents that were trained for ``episodes``.

    Parts that are named by ``environments`` are summarized as such.
    """
    if not evidence.parts:
        return without_numbers(claim, "undecided", evidence.why)
    short = claim.full_training and episodes < FULL_TRAINING
    parts = [replace(part, episodes=episodes) if short else part for part in evidence.parts]
    count, ranks = len(parts), []
    outcomes = {part.label: part.outcome(count) for part in parts}
    for part in parts:
        inside = min(part.draws.value - part.above, part.below - part.draws.value)
        ranks.append((_WORST_FIRST.index(outcomes[part.label]), -np.inf if np.isnan(inside) else inside))
    part = parts[ranks.index(min(ranks))]
    word, over = outcomes[part.label], sorted(frozenset().union(*(one.draws.over for one in parts)))
    found = {"parts": {one.label: one.to_dict(count) for one in parts}, "also": dict(evidence.also)}
    why = _why(part, word, [one.outcome(count) for one in parts])
    summary, resampled = summarize(outcomes, environments), " and ".join(over)
    shown = part.interval(part.deciding(count))
    return Verdict(claim, part.label, part.draws.value, shown, word, summary, resampled, found, why)


def without_numbers(claim: Claim, word: Outcome, why: str) -> Verdict:
    """The verdict on a claim that could not be computed."""
    nothing: dict[str, Any] = {"parts": {}, "also": {}}
    return Verdict(claim, "", np.nan, (np.nan, np.nan), word, word, "", nothing, why)


def summarize(outcomes: Mapping[str, Outcome], environments: Collection[str] = ()) -> str:
    """The outcomes of all parts: "holds in sparse and sparser; undecided in dense"."""
    count, said = len(outcomes), []
    for word in SIGNS:
        labels = [label for label, outcome in outcomes.items() if outcome == word]
        if len(labels) == count:
            return word + ("" if count == 1 else " in both parts" if count == 2 else f" in all {count} parts")
        named = " and ".join(filter(None, [", ".join(labels[:-1]), *labels[-1:]]))
        if len(labels) > _NAMED:
            said.append(f"{word} in {len(labels)} of {count} parts")
        elif labels:
            said.append(word + (" in " if {*outcomes} <= {*environments} else ": ") + named)
    return "; ".join(said)


def _why(part: Part, word: Outcome, words: Sequence[Outcome]) -> str:
    count, same = len(words), words.count(word)
    if word == "holds" and count > 1:
        return f"All {count} parts hold; the weakest is {part.label}, required: {part.required}."
    others = "" if same == 1 else f" {same} of {count} parts have this outcome."
    return f"{part.label[:1].upper()}{part.label[1:]}: {part.why(count)}.{others}"
