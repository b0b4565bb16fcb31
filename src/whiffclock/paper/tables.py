"""Tables of claims for a terminal of 80 columns."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from whiffclock.drawing.tables import add_row, plain_table
from whiffclock.formatting import number, shared_form, span
from whiffclock.paper.claims.verdict import SIGNS, Verdict

_COLOURS = {"holds": "green", "does not hold": "red", "undecided": "yellow", "not tested": "bright_black"}


def claims_table(verdicts: Sequence[Verdict]) -> Group:
    """One line per claim, with the number of its parts that hold; then the weakest part of each that does not hold."""
    caption = "All parts, with their numbers and intervals, are in the report."
    table, failed = plain_table("Claims", caption, "", "claim", "parts", "verdict"), _failed(verdicts)
    table.columns[1].no_wrap = False
    for found in verdicts:
        outcomes = [part["outcome"] for part in found.details["parts"].values()]
        parts = f"{outcomes.count('holds')} of {len(outcomes)} hold" if outcomes else ""
        word = Text(f"{SIGNS[found.verdict]} {found.verdict}", style=_COLOURS[found.verdict])
        summary = f"\n{found.summary}" if len({*outcomes}) > 1 else ""
        add_row(table, found.claim.id, found.claim.title + summary, parts, word)
    return Group(table, failed) if failed.row_count else Group(table)


def _failed(verdicts: Sequence[Verdict]) -> Table:
    """The weakest part of every claim that does not hold, with its interval."""
    table = plain_table("Do not hold", "", "", "weakest part", "estimate", "required")
    table.columns[1].no_wrap = table.columns[3].no_wrap = False
    for found in verdicts:
        if found.verdict == "does not hold":
            form = shared_form(found.value, *found.interval)
            numbers = number(found.value, form, nan="", terse=True), span(*found.interval, form, terse=True)
            required = found.details["parts"][found.part]["required"]
            add_row(table, found.claim.id, found.part, " ".join(numbers), required)
    return table
