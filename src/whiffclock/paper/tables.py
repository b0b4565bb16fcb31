"""Tables of claims for a terminal of 80 columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from whiffclock.drawing.tables import add_row, plain_table
from whiffclock.formatting import number, shared_form, span
from whiffclock.paper.claims.verdict import SIGNS, Outcome, Verdict

_COLOURS: dict[Outcome, str] = {
    "holds": "green", "does not hold": "red", "needs full training": "cyan", "undecided": "yellow",
    "not tested": "bright_black",
}  # fmt: skip


def claims_table(
    verdicts: Sequence[Verdict], reference: Mapping[str, Verdict] | None = None, differences: Sequence[str] = ()
) -> Group:
    """One line per claim, with the number of its parts that hold; then the weakest part of each that is refuted.

    Beside it the sign of its verdict in ``reference``, the full run, if there are any; ``differences`` from that run.
    """
    caption, other = "whiffclock claims DIR C1 shows all parts of a claim, with their numbers.", reference or {}
    if other:
        caption += f" Last column: the full run that comes with whiffclock. {this_run(differences)}"
    columns = ("hold", "this run", "full run") if other else ("parts", "verdict")
    table, refuted = plain_table("Claims", caption, "", "claim", *columns), _refuted(verdicts)
    table.columns[1].no_wrap = False
    if other:
        table.columns[4].width = 4
        table.columns[4].no_wrap = False
    for found in verdicts:
        outcomes = [part["outcome"] for part in found.details["parts"].values()]
        parts = f"{outcomes.count('holds')} of {len(outcomes)}{'' if other else ' hold'}" if outcomes else ""
        summary = f"\n{found.summary}" if len({*outcomes}) > 1 else ""
        beside = [_sign(other[found.claim.id].verdict) if found.claim.id in other else ""] if other else []
        add_row(table, found.claim.id, found.claim.title + summary, parts, styled(found.verdict), *beside)
    return Group(table, refuted) if refuted.row_count else Group(table)


def this_run(differences: Sequence[str]) -> str:
    """What differs from the full run, in a sentence; empty if nothing does."""
    return f"This run: {', '.join(differences)}." if differences else ""


def styled(word: Outcome) -> Text:
    """An outcome with its sign, in its colour."""
    return Text(f"{SIGNS[word]} {word}", style=_COLOURS[word])


def _sign(word: Outcome) -> Text:
    return Text(SIGNS[word], style=_COLOURS[word])


def estimate(value: float, low: float, high: float) -> str:
    """A number and its interval, with the same digits."""
    form = shared_form(value, low, high)
    return f"{number(value, form, nan='', terse=True)} {span(low, high, form, terse=True)}".strip()


def in_words(value: Any) -> str:
    """A number, with its interval if it has one, a list of them, or numbers with their names."""
    value = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, Mapping) and value.keys() == {"value", "low", "high"}:
        return estimate(**value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(one)}" for name, one in value.items())
    return ", ".join(map(in_words, value)) if isinstance(value, list) else number(value, terse=True)


def _refuted(verdicts: Sequence[Verdict]) -> Table:
    """The weakest part of every claim that does not hold, or needs full training, with its interval."""
    table = plain_table("Outside the required range", "", "", "weakest part", "estimate", "required")
    table.columns[1].no_wrap = table.columns[3].no_wrap = False
    for found in verdicts:
        if found.verdict in ("does not hold", "needs full training"):
            required = found.details["parts"][found.part]["required"]
            add_row(table, found.claim.id, found.part, estimate(found.value, *found.interval), required)
    return table
