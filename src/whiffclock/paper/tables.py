"""Tables for a terminal of 80 columns, and the same as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from whiffclock.evaluate import Evaluation
from whiffclock.experiments.performance import Row

if TYPE_CHECKING:
    from whiffclock.paper.claims import Verdict

SHOWN = ("G", "T_min/T", "f+")
_VERDICTS = {"holds": ("✓", "green"), "does not hold": ("✗", "red"), "not decidable": ("?", "yellow")}


def ensemble_cell(row: Row, metric: str) -> str:
    """Median and range of an ensemble; mean and standard error of a single agent."""
    values = row.values(metric)
    if len(values) == 1:
        return with_error(row.best, metric)
    return f"{np.median(values):.2f} [{short(values.min())} {short(values.max())}]"


def with_error(evaluation: Evaluation, metric: str) -> str:
    """Mean and standard error."""
    error = evaluation.standard_error(metric)
    return f"{evaluation.mean(metric):.3f}" + ("" if math.isnan(error) else f" ±{short(error, 3)}")


def short(value: float, digits: int = 2) -> str:
    """A number without the zero before its point: .47, -.03, 1.00."""
    text = f"{round(value, digits) + 0.0:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-").startswith("0.") else text


def comparison_table(rows: Sequence[Row], title: str, caption: str = "") -> Table:
    """One line per environment and agent."""
    table = _table(title, caption)
    table.add_column("plume", no_wrap=True)
    table.add_column("agent", no_wrap=True)
    table.add_column("n", justify="right")
    for metric in SHOWN:
        table.add_column(metric, no_wrap=True)
    for i, row in enumerate(rows):
        new = i == 0 or rows[i - 1].environment != row.environment
        if new and i:
            table.add_section()
        table.add_row(
            row.environment if new else "",
            row.agent,
            str(len(row.evaluations)),
            *(ensemble_cell(row, metric) for metric in SHOWN),
        )
    return table


def evaluation_table(named: Sequence[tuple[str, str, Evaluation]], title: str, caption: str = "") -> Table:
    """One line per (policy, environment, evaluation)."""
    table = _table(title, caption)
    table.add_column("policy", overflow="fold")
    table.add_column("plume", no_wrap=True)
    for metric in SHOWN:
        table.add_column(metric, no_wrap=True)
    for label, environment, evaluation in named:
        table.add_row(Text(label), environment, *(with_error(evaluation, metric) for metric in SHOWN))
    return table


def claims_table(verdicts: Sequence[Verdict]) -> Table:
    """One line per claim: its weakest number with the interval, and the verdict in word and colour."""
    table = _table("Claims", "Numbers are those of each claim's weakest part, with 95% intervals; see the report.")
    for column in ("", "claim", "found", "verdict"):
        table.add_column(column, no_wrap=column != "claim")
    for verdict in verdicts:
        sign, colour = _VERDICTS[verdict.verdict]
        digits = _digits((verdict.value, *verdict.interval))
        found = "" if math.isnan(verdict.value) else short(verdict.value, digits)
        if not math.isnan(verdict.interval[0]):
            found += " [" + " ".join(short(end, digits) for end in verdict.interval) + "]"
        word = Text(f"{sign} {verdict.verdict}", style=colour)
        table.add_row(verdict.id, Text(verdict.title), Text(found), word)
    return table


def _digits(numbers: Sequence[float]) -> int:
    """Digits behind the point, the same for all, that the largest has two to tell of; at most four."""
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0) or 1.0
    return 2 + (largest < 0.1) + (largest < 0.01)


def _table(title: str, caption: str) -> Table:
    return Table(
        title=title,
        caption=Text(caption) if caption else None,
        box=box.SIMPLE_HEAD,
        caption_justify="left",
        padding=(0, 1, 0, 0),
    )
