"""The leaderboard as a table of 80 columns, and as a picture: reward against bits of memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whiffclock.drawing.tables import add_row, plain_table
from whiffclock.formatting import short

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure
    from rich.table import Table

    from whiffclock.runs.leaderboard import Line


def board(lines: Sequence[Line], suite: int, caption: str) -> Table:
    """One line per agent."""
    others = any(not math.isnan(line.others) for line in lines)
    more = ["other"] if others else []
    columns = ("agent", "G", "away", *more, "speed", "lost", "bits", "us", "made in")
    table = plain_table(f"Leaderboard, suite {suite}", caption, *columns)
    table.columns[0].no_wrap = table.columns[-1].no_wrap = False
    table.columns[0].min_width = len("cast-and-surge")
    for line in lines:
        rewards = [f"{line.reward:.3f} ±{short(line.error, 3)}", _number(line.elsewhere, ".3f")]
        rewards += [_number(line.others, ".3f")] if others else []
        rest = [f"{line.arrival:.3f}", f"{line.failed:.1%}", _number(line.bits, ",.0f"), f"{line.microseconds:.3g}"]
        add_row(table, line.agent, *rewards, *rest, line.training)
    return table


def windy_board(data: xr.Dataset) -> Table:
    """The windy cases: moves until the source is found, and how often it is."""
    cases = data["case"].values.tolist()
    caption = (
        "Moves until the source is found, mean over the searches that found it, and their share. Independent whiffs; "
        "cases of Loisy and Heinonen, Eur. Phys. J. E 46:17 (2023), without the walls of their domain."
    )
    table = plain_table("Windy cases", caption, "agent", *(name for case in cases for name in (case, "found")))
    order = np.argsort(-np.round(data["windy_found"].mean("case").values, 2), kind="stable")
    for one in (data.isel(windy_agent=i) for i in order.tolist()):
        cells = []
        for case in cases:
            moves, error, found = (float(one[f"windy_{name}"].sel(case=case)) for name in ("moves", "error", "found"))
            cells += [f"{moves:.1f} ±{short(error, 1)}" if found else "", f"{found:.1%}"]
        add_row(table, str(one["windy_agent"].values), *cells)
    return table


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)


def picture(lines: Sequence[Line]) -> Figure:
    """Reward against bits of memory; agents whose memory is not known are left out."""
    from matplotlib.figure import Figure as Canvas

    from whiffclock.drawing.style import INK, ONE_COLUMN

    figure = Canvas(figsize=(ONE_COLUMN * 1.5, ONE_COLUMN), layout="constrained")
    ax = figure.add_subplot()
    known = sorted((line for line in lines if line.bits > 0), key=lambda line: -line.reward)
    low = min((line.reward for line in known), default=0.0)
    room = (max((line.reward for line in known), default=1.0) - low) / 14
    heights: list[tuple[float, float]] = []
    for line in known:
        height = line.reward
        while any(abs(math.log(line.bits / bits)) < 6 and other - height < room for bits, other in heights):
            height -= room / 4
        heights.append((line.bits, height))
        ax.errorbar(line.bits, line.reward, line.error, color=INK, marker="o", ms=3, capsize=0)
        right = line.bits < 1000
        ax.annotate(
            line.agent, (line.bits, line.reward), (line.bits * (1.35 if right else 0.75), height),
            va="center", ha="left" if right else "right",
            arrowprops={"arrowstyle": "-", "lw": 0.3, "shrinkA": 0, "shrinkB": 2},
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("memory (bits)")
    ax.set_ylabel("mean reward $G$")
    return figure
