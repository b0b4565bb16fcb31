"""Tables and figure of an assay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.table import Table

from whiffclock.drawing import style
from whiffclock.drawing.plane import limits, wind
from whiffclock.drawing.tables import RECOVERY_COLUMNS, add_row, median_over_range, plain_table
from whiffclock.formatting import short, span
from whiffclock.path_metrics import GEOMETRY

if TYPE_CHECKING:
    from whiffclock.assays.result import Assay, Tested

#: Most agents in one picture, panels side by side, and most histories with lines of their own.
MOST, _ACROSS, FEW = 12, 4, 8
_PARTS = {"common": style.PALE, "history": style.COLOURS["sparse"], "chance": style.FADED}
#: Colours of histories, from few whiffs to many.
_RAMP = [style.COLOURS[name] for name in ("sparser", "sparse", "dense", "denser")]


def shares_table(assay: Assay) -> Table:
    """One line per agent: what the history explains of the mean square displacement."""
    about = "Shares of the mean square displacement after the last whiff: common to all histories, explained by the "
    about += "history [95% interval; none: exact], chance. p: permutation test. Distinct: different recoveries."
    notes = "\n".join(f"{one.name}: {note}" for one in assay.tested for note in one.sample.notes)
    table = plain_table(title_of(assay), "\n".join(filter(None, (about, notes))), "agent", "distinct", *_COLUMNS)
    table.columns[0].no_wrap = False
    for one in assay.tested:
        shares = one.shares
        interval = span(shares.low, shares.high, ".2f", terse=True)
        number = f"{shares.distinct} of {shares.recoveries}"
        cells = f"{short(shares.history)} {interval}".strip(), short(shares.common), short(shares.chance)
        add_row(table, one.name, number, *cells, short(shares.p, 3))
    return table


_COLUMNS = ("history", "common", "chance", "p")


def title_of(assay: Assay) -> str:
    """What was done, in one line."""
    found = assay.tested[0].sample
    after = f"{len(found.conditions)} {'drawn histories' if found.drawn else 'histories'}"
    if assay.protocol is None:
        after = f"{len(found.conditions)} conditions"
    noise = assay.protocol.settings.noise if assay.protocol else 0
    return f"Recovery after {after}, {found.paths.shape[1] - 1} moves" + f", {noise:.0%} of them random" * (noise > 0)


def metrics_table(assay: Assay) -> Table:
    """One line per agent, and for each history if there are few: medians and ranges of the metrics."""
    several = not assay.tested[0].sample.drawn and len(assay.tested[0].sample.conditions) <= FEW
    names = ("agent", "history") if several else ("agent",)
    caption = "Medians, ranges, and how many never return. Lengths in cells; starts: moves before the downwind return."
    table = plain_table("Geometry of the recoveries", caption, *names, *RECOVERY_COLUMNS)
    for column in table.columns[: len(names)]:
        column.no_wrap = False
    for one in assay.tested:
        found, columns = one.sample, [GEOMETRY.index(metric) for metric in RECOVERY_COLUMNS.values()]
        groups = range(len(found.conditions)) if several else [None]
        for i in groups:
            chosen = one.metrics if i is None else one.metrics[found.condition == i]
            if i is None and one.shares.deterministic:  # repeats are the same
                chosen = one.metrics[np.unique(found.condition, return_index=True)[1]]
            own = (one.name,) if i is None else ("" if i else one.name, found.conditions[i])
            add_row(table, *own, *(median_over_range(chosen[:, column].tolist()) for column in columns))
    return table


def power_table(assay: Assay) -> Table:
    """One line per agent and number of trials: power against the number of animals in each condition."""
    first = assay.power[0]
    caption = (
        f"Shares of simulated experiments with {first.conditions} conditions that find it at p = .05, by animals in "
    )
    caption += "each condition, and trials of each animal; more animals are not tried where 80% find it."
    title = f"Power, if the history explains {first.share:.2g} of the recovery"
    sizes, tried = (sorted({pair[i] for one in assay.power for pair in one.found}) for i in (1, 0))
    table = plain_table(title, caption, "agent", "trials", *map(str, sizes))
    table.columns[0].no_wrap = False
    for one in assay.power:
        for i, trials in enumerate(tried):
            powers = (one.found.get((trials, animals)) for animals in sizes)
            add_row(table, "" if i else one.name, str(trials), *("" if it is None else short(it) for it in powers))
    return table


def assay_figure(assay: Assay, figure: Figure | None = None) -> Figure:
    """A panel for each agent with its recoveries, and one with what the history explains."""
    count = len(assay.tested)
    across, down = min(count, _ACROSS), -(-count // _ACROSS)
    shown = limits([one.sample.paths.reshape(-1, 2) for one in assay.tested], 0.03)
    cell = (style.TWO_COLUMNS - 0.6) / max(across, 2)
    tall = min(max(cell * shown.height / shown.width, 1.2), 3.2)
    bars = 0.55 + 0.24 * count
    figure = figure or style.new_figure(style.TWO_COLUMNS, 0)
    figure.set_size_inches(style.TWO_COLUMNS, down * (tall + 0.35) + bars + 0.8)
    colours = _colours(assay)
    grid = figure.add_gridspec(down + 1, across, height_ratios=[tall] * down + [bars])
    for i, one in enumerate(assay.tested):
        axes = figure.add_subplot(grid[i // _ACROSS, i % _ACROSS])
        draw_recoveries(axes, one, colours)
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel="x (cells)")
        axes.set_ylabel("y (cells)" if i % _ACROSS == 0 else "")
        axes.tick_params(labelleft=i % _ACROSS == 0)
        number = one.shares.distinct
        style.title(axes, text=f"{one.name}: {number} {'recovery' if number == 1 else 'recoveries'}")
    wind(figure.axes[0])
    draw_shares(figure.add_subplot(grid[down, :]), assay)
    _legend(figure, assay, colours)
    figure.suptitle(title_of(assay), fontsize=8)
    return figure


def draw_recoveries(axes: Axes, one: Tested, colours: np.ndarray) -> None:
    """Every different recovery once, in the mean colour of its histories, a few ones wider; a dot at the last whiff."""
    found, shares = one.sample, one.shares
    flat = found.paths.reshape(len(found), -1)
    different, which, count = np.unique(flat, axis=0, return_inverse=True, return_counts=True)
    own = np.stack([np.bincount(which.ravel(), part) / count for part in colours[found.condition].T], axis=1)
    order = np.random.default_rng(0).permutation(len(different))
    paths, few = different.reshape(-1, *found.paths.shape[1:]).astype(np.float64), len(different) <= FEW
    lines = LineCollection(list(paths[order]), colors=own[order], linewidths=1.3 if few else 0.5, alpha=0.8)
    axes.add_collection(lines, autolim=False)
    if shares.chance and len(found.conditions) <= FEW:  # what chance leaves of each history
        for i, colour in enumerate(colours):
            mean = found.paths[found.condition == i].mean(axis=0)
            axes.plot(*mean.T, color="white", lw=2.4, zorder=4)
            axes.plot(*mean.T, color=style.dark(colour), lw=1.4, zorder=4)
    elif not few:
        axes.plot(*found.paths.mean(axis=0).T, color=style.INK, lw=1.2, zorder=4)
    axes.plot(0, 0, "o", ms=4, color=style.SOURCE, mec="white", mew=0.5, zorder=5)


def _colours(assay: Assay) -> np.ndarray:
    """A colour for each history, by the rank of its share of whiffs; conditions of animals are in their own order."""
    ramp = LinearSegmentedColormap.from_list("whiffs", _RAMP)
    count = len(assay.tested[0].sample.conditions)
    rank = np.arange(count)
    if assay.protocol is not None:
        rank = np.argsort(np.argsort([history.mean() for history in assay.protocol.histories.values()], kind="stable"))
    return ramp(rank / (count - 1))


def _legend(figure: Figure, assay: Assay, colours: np.ndarray) -> None:
    """The histories, or the ends of the scale of their shares of whiffs."""
    names, order = assay.tested[0].sample.conditions, np.arange(len(colours))
    if len(names) > FEW:
        rates = [history.mean() for history in assay.protocol.histories.values()] if assay.protocol else []
        order = np.argsort(rates)[[0, len(rates) // 2, -1]] if rates else order[:0]
        named = [f"{rates[i]:.0%} whiffs in the history" for i in order]
    else:
        named = list(names)
    handles = [Line2D([], [], color=colours[i], lw=2) for i in order]
    figure.legend(handles, named, loc="outside lower center", ncols=4, frameon=False)


def draw_shares(axes: Axes, assay: Assay) -> None:
    """A bar for each agent: common, history with its interval, chance."""
    for row, one in enumerate(assay.tested):
        shares, left = one.shares, 0.0
        for part, colour in (
            ("history", _PARTS["history"]),
            ("chance", _PARTS["chance"]),
            ("common", _PARTS["common"]),
        ):
            value = max(getattr(shares, part), 0.0)
            axes.barh(row, value, left=left, color=colour, height=0.62, label=part if row == 0 else None)
            left += value
        if not math.isnan(shares.low):
            axes.plot([max(shares.low, 0), shares.high], [row, row], color=style.INK, lw=1.0, solid_capstyle="butt")
    axes.set_yticks(range(len(assay.tested)), [one.name for one in assay.tested])
    axes.set(xlim=(0, 1), ylim=(len(assay.tested) - 0.5, -0.5), xlabel="share of the mean square displacement")
    axes.tick_params(axis="y", length=0)
    axes.legend(ncols=3, loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderpad=0)
