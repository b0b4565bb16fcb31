"""Plume statistics as tables for a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich import box
from rich.markup import escape
from rich.table import Table

from whiffclock.formatting import short
from whiffclock.params import ENVIRONMENTS
from whiffclock.plume import dns
from whiffclock.plume.correlation import FOLLOWING_LAGS, SEPARATIONS
from whiffclock.plume.statistics import BOX_CENTRES, X_BINS, PlumeStatistics

#: Distances downwind that are shown.
DISTANCES = (2, 4, 8, 16, 30, 48, 60, 80, 90, 115)


def statistics_tables(statistics: PlumeStatistics) -> list[Table]:
    """All statistics of one plume, in four tables."""
    return [_places(statistics), _correlations(statistics), _durations(statistics), _thresholds(statistics)]


def dns_table(rows: Sequence[dns.Row], caption: str = "") -> Table:
    """A plume beside the DNS slice, figure by figure, with targets."""
    table = _table("This plume beside the DNS slice, at 3e-6", ("DNS", "here", "diff", "target", "met"), caption)
    cells = iter(rows)
    for group in dns.GROUPS:
        for row in (next(cells) for _ in group):
            met = "" if row.met is None else "yes" if row.met else "[bold]no[/bold]"
            table.add_row(row.figure, _number(row.dns), _number(row.here), _number(row.difference), _range(row), met)
        table.add_section()
    return table


def pair_table(pair: tuple[PlumeStatistics, PlumeStatistics], caption: str = "") -> Table:
    """Two plumes side by side, with the DNS slice where it is known at their threshold."""
    known = pair[0].threshold == dns.THRESHOLD
    columns = ("A", "B", "B - A", "DNS") if known else ("A", "B", "B - A")
    table = _table("Two plumes side by side", columns, caption)
    for group in pair_figures(known):
        for figure in group:
            a, b = (figure.measure(one) for one in pair)
            cells = [_number(a), _number(b), _number(b - a)] + ([_number(figure.dns)] if known else [])
            table.add_row(figure.name, *cells)
        table.add_section()
    return table


def pair_figures(known: bool) -> list[list[dns.Figure]]:
    """Figures in which two plumes are laid side by side; errors against the DNS only where that is known."""
    return [[figure for figure in group if known or figure.measure is not dns.axis_error] for group in dns.GROUPS]


def _places(statistics: PlumeStatistics) -> Table:
    table = _table("By distance downwind of the source (cells)", [f"x={x}" for x in DISTANCES])
    x0, y0 = statistics.source
    columns = [x0 + x for x in DISTANCES]
    rows = {
        "whiffs, on axis": [statistics.at(x) for x in DISTANCES],
        "  4 cells off": [statistics.at(x, 4) for x in DISTANCES],
        "  8 cells off": [statistics.at(x, 8) for x in DISTANCES],
        "width (cells)": [statistics.width(x) for x in DISTANCES],
    }
    for name, durations in (("mean whiff", statistics.whiff_duration), ("mean blank", statistics.blank_duration)):
        rows[name] = [float(durations[x, y0]) if x < len(durations) else math.nan for x in columns]
    for name, values in rows.items():
        table.add_row(name, *map(_number, values))
    return table


def _correlations(statistics: PlumeStatistics) -> Table:
    table = _table("Correlation of whiffs near the axis", [str(n) for n in SEPARATIONS])
    for place in X_BINS:
        where = f"x = {place}" if place[0].isdigit() else f"x {place[0]} {place[1:]}"
        table.add_row(f"in time, lag in snapshots, {where}", *map(_number, statistics.autocorrelation[place]))
    table.add_section()
    table.add_row("along the wind, distance in cells", *map(_number, statistics.along))
    table.add_row("across the wind", *map(_number, statistics.across))
    table.add_section()
    table.add_row("following the flow, lag in snapshots", *map(str, FOLLOWING_LAGS), style="bold")
    table.add_row("  correlation", *map(_number, statistics.following.correlation))
    table.add_row("  displacement downwind (cells)", *map(_number, statistics.following.displacement))
    table.add_row("  structure speed (cells/snapshot)", _number(statistics.following.speed))
    return table


def _durations(statistics: PlumeStatistics) -> Table:
    low, high = statistics.whiffs.fit_range
    exponent = f"exponent, {low}-{high}"
    table = _table("Durations near the axis, x = 20-80 (snapshots)", ("count", "mean", exponent, "P(whiff) next"))
    for name, durations, following in (
        ("whiffs", statistics.whiffs, statistics.after_whiff),
        ("blanks", statistics.blanks, statistics.after_blank),
    ):
        table.add_row(
            name, f"{durations.count:,}", _number(durations.mean), _number(durations.exponent), _number(following)
        )
    return table


def _thresholds(statistics: PlumeStatistics) -> Table:
    columns = ("threshold", *(f"x={x}" for x in BOX_CENTRES), "cells of D_init")
    table = _table("Whiff probability near the axis, by threshold", columns)
    for name, threshold in ENVIRONMENTS.items():
        cells = map(_number, statistics.boxes[name])
        table.add_row(name, f"{threshold:g}".replace("e-0", "e-"), *cells, f"{statistics.start_cells[name]:,}")
    return table


def _table(title: str, columns: Sequence[str], caption: str = "") -> Table:
    table = Table(
        title=title,
        caption=escape(caption) or None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        padding=(0, 1, 0, 0),
    )
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _number(value: float) -> str:
    """Three or so digits; a dash where there is no value."""
    if not math.isfinite(value):
        return "-"
    value = round(value, 2) + 0.0  # no -.00
    return short(value) if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def _range(row: dns.Row) -> str:
    if row.target is None:
        return ""
    low, high = row.target
    if low == high:
        return f"= {_number(low)}"
    return f"<= {_number(high)}" if low in (0.0, -1.0) else f"{_number(low)} to {_number(high)}"
