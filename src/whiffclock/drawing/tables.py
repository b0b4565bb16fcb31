"""Tables of evaluations for a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from whiffclock.escapes import escaped
from whiffclock.formatting import short, span

if TYPE_CHECKING:
    from whiffclock.drawing.recoveries import Recovery
    from whiffclock.evaluation import Evaluation
    from whiffclock.policy import TablePolicy
    from whiffclock.runs.comparison import Row

SHOWN = ("G", "T_min/T", "f+")
#: Columns of a table of recoveries, with the metrics of geometry in them.
RECOVERY_COLUMNS = {
    "surge": "surge_length",
    "cast": "cast_width",
    "upwind": "upwind_search",
    "return": "downwind_return_length",
    "starts": "downwind_return_start",
}


def ensemble_cell(row: Row, metric: str) -> str:
    """Median and range of an ensemble; mean and standard error of a single agent."""
    values = row.values(metric)
    return with_error(row.best, metric) if len(values) == 1 else median_and_range(values)


def median_and_range(values: Sequence[float] | np.ndarray) -> str:
    """``0.71 [.63 .77]``, or a single value."""
    middle = f"{np.median(values):.2f}"
    return middle if len(values) == 1 else f"{middle} {span(min(values), max(values), '.2f', terse=True)}"


def with_error(evaluation: Evaluation, metric: str) -> str:
    """Mean and standard error."""
    error = evaluation.standard_error(metric)
    return f"{evaluation.mean(metric):.3f}" + ("" if math.isnan(error) else f" ±{short(error, 3)}")


def comparison_table(
    rows: Sequence[Row], title: str = "Median (range) of an ensemble, mean ±s.e. of one", caption: str = ""
) -> Table:
    """One line per environment and agent."""
    table = plain_table(title, caption, "environment", "agent", "n", *SHOWN)
    table.columns[1].no_wrap, table.columns[2].justify = False, "right"
    for i, row in enumerate(rows):
        new = i == 0 or rows[i - 1].environment != row.environment
        if new and i:
            table.add_section()
        cells = (ensemble_cell(row, metric) for metric in SHOWN)
        add_row(table, row.environment if new else "", row.agent, str(len(row.evaluations)), *cells)
    return table


def evaluation_table(named: Sequence[tuple[str, str, Evaluation]], title: str, caption: str = "") -> Table:
    """One line per (policy, environment, evaluation)."""
    table = plain_table(title, caption, "policy", "environment", *SHOWN)
    table.columns[0].no_wrap, table.columns[0].overflow = False, "fold"
    for label, environment, evaluation in named:
        add_row(table, label, environment, *(with_error(evaluation, metric) for metric in SHOWN))
    return table


def program_table(policies: Sequence[TablePolicy], tested: Sequence[dict[str, Any]], origin: str) -> Table:
    """One line per searched program and environment; ``tested``: means in another plume, by environment."""
    columns = ("environment", "seed", "G searched", "G unseen", "f+ unseen", "gain over start")
    elsewhere = ("G test", "f+ test") if any(tested) else ()
    caption = f"{origin}. Unseen: the record after the part that programs were searched in. Gain: 95% interval."
    table = plain_table("Searched programs, mean ±s.e. over all starts", caption, *columns, *elsewhere)
    for policy, other in zip(policies, tested, strict=True):
        for name, found in policy.made_from["found"].items():
            unseen, gain = found["unseen"], found["improvement"]
            error = "" if unseen["G_error"] is None else f" ±{short(unseen['G_error'], 3)}"
            interval = "" if gain["low"] is None else " " + span(gain["low"], gain["high"], ".3f", terse=True)
            cells = f"{found['searched']['G']:.3f}", f"{unseen['G']:.3f}{error}", f"{unseen['f+']:.4f}"
            more = [f"{other[name]['G']:.3f}", f"{other[name]['f+']:.4f}"] if other else []
            add_row(table, name, str(policy.made_from["seed"]), *cells, f"{gain['mean']:.3f}{interval}", *more)
    return table


def recovery_table(recoveries: Sequence[Recovery], caption: str) -> Table:
    """One line per environment, ensemble and mode."""
    groups: dict[tuple[str, ...], list[Recovery]] = {}
    for one in recoveries:
        groups.setdefault((one.environment, one.agent, one.mode), []).append(one)
    several = len(groups) < len(recoveries)
    about = "Lengths in cells; starts: moves before the downwind return."
    about += " Below a median: range, and how many never return." * several
    table = plain_table(
        "Geometry of recovery paths", f"{about}\n{caption}", "environment", "agent", "n", "moves", *RECOVERY_COLUMNS
    )
    table.columns[0].no_wrap = table.columns[1].no_wrap = False
    before = ""
    for (environment, agent, mode), ones in groups.items():
        shapes = [one.geometry for one in ones]
        cells = (
            median_over_range([getattr(shape, metric) for shape in shapes]) for metric in RECOVERY_COLUMNS.values()
        )
        moves = median_over_range([one.moves for one in ones])
        place, before = environment if environment != before else "", environment
        add_row(table, place, " ".join(filter(None, (agent, mode))), str(len(ones)), moves, *cells)
    return table


def median_over_range(values: Sequence[float]) -> Text:
    """The median of whole numbers; in lines of their own, the range if there is one, and how many are NaN."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Text("never")
    low, high, missing = min(known), max(known), len(values) - len(known)
    lines = [f"{np.median(known):.4g}", f"{low:.0f}-{high:.0f}" if low < high else ""]
    return Text("\n".join(filter(None, [*lines, f"{missing} never" if missing else ""])))


def plain_table(title: str, caption: str, *columns: str) -> Table:
    """An empty table in the style of all tables."""
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


def add_row(table: Table, *cells: str | Text) -> None:
    """A row in which square brackets are not taken for markup."""
    table.add_row(*(Text(escaped(cell)) if isinstance(cell, str) else cell for cell in cells))
