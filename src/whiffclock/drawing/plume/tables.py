"""Plume statistics as tables for a terminal of 80 columns."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from whiffclock.drawing.tables import plain_table
from whiffclock.formatting import plainly, short
from whiffclock.plume import dns
from whiffclock.plume.check import PlumeCheck
from whiffclock.plume.correlation import FOLLOWING_LAGS, SEPARATIONS
from whiffclock.plume.statistics import BOX_CENTRES, X_BINS, PlumeStatistics
from whiffclock.plume.suggest import Suggestion

#: Distances downwind that are shown.
DISTANCES = (2, 4, 8, 16, 30, 48, 60, 80, 90, 115)
#: A line of a table: what it shows, and its cells.
Line = tuple[str, Sequence[float | str]]


def statistics_tables(statistics: PlumeStatistics) -> list[Table]:
    """All statistics of one plume, in four tables."""
    return [_places(statistics), _correlations(statistics), _durations(statistics), _thresholds(statistics)]


def dns_table(rows: Sequence[dns.Row], caption: str = "") -> Table:
    """A plume and the DNS slice, quantity by quantity, with targets."""
    lines = map(_dns_line, rows)
    groups = [list(islice(lines, len(group))) for group in dns.GROUPS]
    return _table("This plume and the DNS slice, at 3e-6", ("DNS", "here", "diff", "target", "met"), groups, caption)


def _dns_line(row: dns.Row) -> Line:
    met = "" if row.met is None else "yes" if row.met else "[bold]no[/bold]"
    low, high = map(_number, row.target) if row.target else ("", "")
    near = "" if row.target is None else f"<= {high}" if row.target[0] == 0 else f"{low} to {high}"
    if row.figure.endswith("RMSE"):  # two digits would not show whether the target is met
        return row.figure, ("", short(row.here, 3), "", near, met)
    return row.figure, (row.dns, row.here, row.difference, near, met)


def pair_table(pair: tuple[PlumeStatistics, PlumeStatistics], caption: str = "") -> Table:
    """Two plumes side by side, with the DNS slice where it is known at their threshold."""
    shown = 4 if pair[0].threshold == dns.THRESHOLD else 3

    def line(quantity: dns.Quantity) -> Line:
        a, b = (quantity.measure(one) for one in pair)
        return quantity.name, (a, b, b - a, quantity.dns)[:shown]

    groups = [[line(one) for one in group] for group in (dns.GROUPS if shown == 4 else dns.GROUPS[1:])]
    return _table("Two plumes side by side", ("A", "B", "B - A", "DNS")[:shown], groups, caption)


def calibration_table(rows: Iterable[Mapping[str, float]], caption: str = "") -> Table:
    """Whiff maps and start cells before and after a calibration, by threshold."""
    lines: list[Line] = []
    for row in rows:
        cells = (f"{row['start_cells_before']:,}", f"{row['start_cells_after']:,}")
        lines.append((f"c >= {plainly(row['threshold'])}", (short(row["before"], 3), short(row["after"], 3), *cells)))
    columns = ("RMSE before", "after", "start cells before", "after")
    return _table("Whiff probability against the target, x >= 3", columns, [lines], caption)


def _places(statistics: PlumeStatistics) -> Table:
    x0, y0 = statistics.source

    def on_axis(durations: np.ndarray) -> list[float]:
        return [float(durations[x0 + x, y0]) if x0 + x < len(durations) else math.nan for x in DISTANCES]

    lines = [
        ("whiffs, on axis", [statistics.at(x) for x in DISTANCES]),
        ("  4 cells off", [statistics.at(x, 4) for x in DISTANCES]),
        ("  8 cells off", [statistics.at(x, 8) for x in DISTANCES]),
        ("width (cells)", [statistics.width(x) for x in DISTANCES]),
        ("mean whiff", on_axis(statistics.whiff_duration)),
        ("mean blank", on_axis(statistics.blank_duration)),
    ]
    return _table("By distance downwind of the source (cells)", [f"x={x}" for x in DISTANCES], [lines])


def _correlations(statistics: PlumeStatistics) -> Table:
    following = statistics.following
    groups: list[list[Line]] = [
        [(f"in time, lag in snapshots, x = {place}", statistics.autocorrelation[place]) for place in X_BINS],
        [("along the wind, distance in cells", statistics.along), ("across the wind", statistics.across)],
        [
            ("[bold]following the flow, lag in snapshots", [f"[bold]{lag}" for lag in FOLLOWING_LAGS]),
            ("  correlation", following.correlation),
            ("  displacement downwind (cells)", following.displacement),
            ("  structure speed (cells/snapshot)", [following.speed]),
        ],
    ]
    return _table("Correlation of whiffs near the axis", [*map(str, SEPARATIONS), ""], groups)


def _durations(statistics: PlumeStatistics) -> Table:
    columns = ("count", "mean", "exponent, {}-{}".format(*statistics.whiffs.fit_range), "P(whiff) next")
    measured = {
        "whiffs": (statistics.whiffs, statistics.after_whiff),
        "blanks": (statistics.blanks, statistics.after_blank),
    }
    lines = [(name, (f"{d.count:,}", d.mean, d.exponent, after)) for name, (d, after) in measured.items()]
    caption = "All blanks, all cells: mean {:.2f}, standard deviation {:.2f}".format(*statistics.all_blanks)
    return _table("Durations near the axis, x = 20-80 (snapshots)", columns, [lines], caption)


def _thresholds(statistics: PlumeStatistics) -> Table:
    columns = ("threshold", *(f"x={x}" for x in BOX_CENTRES), "start cells")
    lines: list[Line] = [
        (name, (plainly(value), *statistics.boxes[name], f"{statistics.start_cells[name]:,}"))
        for name, value in statistics.environments.items()
    ]
    return _table("Whiff probability near the axis, by threshold", columns, [lines])


def _table(title: str, columns: Sequence[str], groups: Iterable[Iterable[Line]], caption: str = "") -> Table:
    table = plain_table(title, caption, "", *columns)
    table.title_justify = "left"
    for column in table.columns[1:]:
        column.justify = "right"
    for group in groups:
        for name, cells in group:
            words = (name, *(cell if isinstance(cell, str) else _number(cell) for cell in cells))
            table.add_row(*(Text.from_markup(word) for word in words))  # none of them is a user's text
        table.add_section()
    return table


def _number(value: float) -> str:
    """About three digits; a dash where there is no value."""
    if not math.isfinite(value):
        return "-"
    value = round(value, 2) + 0.0  # no -.00
    return short(value) if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def check_tables(seen: PlumeCheck) -> list[Table]:
    """What was seen of a recording, guess by guess, and its suggested environments."""
    looked = len(seen.view.frames)
    some = "" if looked == seen.snapshots else f", {looked} looked at from {seen.view.first}"
    about = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    about.add_column(style="bold", min_width=10)
    about.add_column(overflow="fold")
    about.add_row("file", f"{seen.name}: {seen.kind}, {seen.dtype}, {' x '.join(map(str, seen.stored))}")
    about.add_row(
        "grid", f"{seen.snapshots:,} snapshots{some}, {seen.grid[0]} x {seen.grid[1]} cells (x downwind, y across)"
    )
    about.add_row("values", f"{plainly(seen.lowest, 4)} to {plainly(seen.highest, 4)}, noise {plainly(seen.noise, 2)}")
    guesses = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    guesses.add_column(style="bold", no_wrap=True, min_width=10)
    guesses.add_column(overflow="fold")
    guesses.add_column(no_wrap=True)
    guesses.add_column(no_wrap=True)
    for name, one in seen.guesses.items():
        guesses.add_row(name.replace("_", " "), _told(name, one.value, one.because), one.confidence, one.option)
    return [about, guesses, *([_suggested(seen.suggestion)] if seen.suggestion else [])]


def _suggested(found: Suggestion) -> Table:
    rows = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("threshold", "c >=", "whiffs", "mean blank", ""):
        rows.add_column(head, justify="left" if head in ("", "threshold") else "right")
    numbers = zip(found.environments.items(), found.found, found.blanks, strict=True)
    for i, ((name, c), p, blank) in enumerate(numbers):
        about = f"averages over {found.start_cells:,} start cells" if i == 0 else ""
        rows.add_row(name, plainly(c, 4), short(p), short(blank, 1), about)
    return rows


def _told(name: str, value: Any, why: str) -> str:
    """The value of a guess in words, and why it is that."""
    if name == "axes":
        words = {"t": "time", "x": "x (columns)", "y": "y (rows)"}
        value = f"{value} = {', '.join(words[letter] for letter in value)}"
    elif name == "moves":
        value = f"{value['downsample']} x {value['downsample']} cells in one, {value['every']} snapshots in one"
    elif name == "saturated":
        value = f"{value:.2%}" if value else "none"
    elif name == "speed":
        value = f"{value:.3g} cells per snapshot" if value else "none"
    return f"{value}: {why}"
