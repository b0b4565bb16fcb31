"""Tables for a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from whiffclock.formatting import number, shared_form, short, span

if TYPE_CHECKING:
    from whiffclock.evaluate import Evaluation
    from whiffclock.paper.claims import Verdict
    from whiffclock.runs.ensembles import Row

SHOWN = ("G", "T_min/T", "f+")
_COLOURS = {"holds": "green", "does not hold": "red", "not decidable": "yellow", "not tested": "bright_black"}


def ensemble_cell(row: Row, metric: str) -> str:
    """Median and range of an ensemble; mean and standard error of a single agent."""
    values = row.values(metric)
    if len(values) == 1:
        return with_error(row.best, metric)
    return f"{np.median(values):.2f} {span(values.min(), values.max(), '.2f', terse=True)}"


def with_error(evaluation: Evaluation, metric: str) -> str:
    """Mean and standard error."""
    error = evaluation.standard_error(metric)
    return f"{evaluation.mean(metric):.3f}" + ("" if math.isnan(error) else f" ±{short(error, 3)}")


def comparison_table(rows: Sequence[Row], title: str, caption: str = "") -> Table:
    """One line per environment and agent."""
    table = _table(title, caption, "plume", "agent", "n", *SHOWN)
    table.columns[1].no_wrap, table.columns[2].justify = False, "right"
    for i, row in enumerate(rows):
        new = i == 0 or rows[i - 1].environment != row.environment
        if new and i:
            table.add_section()
        cells = (ensemble_cell(row, metric) for metric in SHOWN)
        _add(table, row.environment if new else "", row.agent, str(len(row.evaluations)), *cells)
    return table


def evaluation_table(named: Sequence[tuple[str, str, Evaluation]], title: str, caption: str = "") -> Table:
    """One line per (policy, environment, evaluation)."""
    table = _table(title, caption, "policy", "plume", *SHOWN)
    table.columns[0].no_wrap, table.columns[0].overflow = False, "fold"
    for label, environment, evaluation in named:
        _add(table, label, environment, *(with_error(evaluation, metric) for metric in SHOWN))
    return table


def claims_table(verdicts: Sequence[Verdict]) -> Group:
    """One line per claim, with the number of its parts that hold; then the weakest part of each that does not hold."""
    from whiffclock.paper.claims.verdict import SIGNS

    caption = "All parts, with their numbers and intervals, are in the report."
    table, failed = _table("Claims", caption, "", "claim", "parts", "verdict"), _failed(verdicts)
    table.columns[1].no_wrap = False
    for found in verdicts:
        outcomes = [part["outcome"] for part in found.details["parts"].values()]
        parts = f"{outcomes.count('holds')} of {len(outcomes)} hold" if outcomes else ""
        word = Text(f"{SIGNS[found.verdict]} {found.verdict}", style=_COLOURS[found.verdict])
        summary = f"\n{found.summary}" if len({*outcomes}) > 1 else ""
        _add(table, found.claim.id, found.claim.title + summary, parts, word)
    return Group(table, failed) if failed.row_count else Group(table)


def _failed(verdicts: Sequence[Verdict]) -> Table:
    """The weakest part of every claim that does not hold, with its interval."""
    table = _table("Do not hold", "", "", "weakest part", "found", "wanted")
    table.columns[1].no_wrap = table.columns[3].no_wrap = False
    for found in verdicts:
        if found.verdict == "does not hold":
            form = shared_form(found.value, *found.interval)
            numbers = number(found.value, form, nan="", terse=True), span(*found.interval, form, terse=True)
            _add(table, found.claim.id, found.part, " ".join(numbers), found.details["parts"][found.part]["wanted"])
    return table


def _table(title: str, caption: str, *columns: str) -> Table:
    table = Table(
        title=Text(title, style="table.title"),
        caption=Text(caption, style="table.caption") if caption else None,
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
    )
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def _add(table: Table, *cells: str | Text) -> None:
    """A row in which square brackets are not taken for markup."""
    table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
