"""Tracks: recoveries of animals and agents on one scale, and their metrics by animal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from rich.table import Table
from rich.text import Text

from whiffclock.drawing import style
from whiffclock.drawing.boxes import box, never
from whiffclock.drawing.plane import limits, wind
from whiffclock.drawing.tables import add_row, plain_table
from whiffclock.formatting import number, span
from whiffclock.params import require
from whiffclock.path_metrics import GEOMETRY
from whiffclock.tracks.beside import SHOWN, Group, mean_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whiffclock.plume.guess import Guess

#: Most groups in a picture; most paths in a panel, and points of each.
MOST, _PATHS, _POINTS = 12, 400, 300
#: Share of the paths of animals that may leave the picture on each side.
_FAR = 0.03
_SHORT = {
    "surge_length": "surge",
    "cast_width": "cast",
    "upwind_search": "upwind",
    "downwind_return_length": "return",
    "downwind_return_start": "starts",
}


def said_table(said: Mapping[str, Guess]) -> Table:
    """One line for each assumption: what and why, how sure, and the option that says otherwise."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for name, one in said.items():
        why = f" ({one.because})" if one.because and one.confidence != "given" else ""
        add_row(table, name, f"{one.value}{why}", one.confidence, one.option)
    return table


def tracks_table(groups: Sequence[Group], unit: str, caption: str = "") -> Table:
    """A line for each group: medians, 95% intervals by animal in brackets, quartiles of recoveries in parentheses."""
    about = f"Lengths in {unit}; starts: steps before the downwind return. [95% interval by animal], (quartiles)."
    table = plain_table("Recoveries", "\n".join(filter(None, (about, caption))), "", "n", *_SHORT.values())
    table.columns[0].no_wrap = False
    for group in groups:
        cells = (_cell(group, metric) for metric in SHOWN)
        add_row(table, group.name, f"{len(group.values):,}\nof {len(group.medians)}", *cells)
    return table


def _cell(group: Group, metric: str) -> Text:
    found = group.summary(metric)
    if found.never == 1:
        return Text("never")
    form = ",.0f" if found.quartiles[1] >= 30 else ".1f"
    low, high = (number(value, form, terse=True) for value in found.quartiles)
    interval = "" if group.agents else span(found.low, found.high, form, terse=True)
    lines = [number(found.median, form, terse=True), interval, f"({low}-{high})" if low != high else ""]
    lines += [f"{found.never:.0%} never"] if found.never else []
    return Text("\n".join(filter(None, lines)))


def tracks_figure(groups: Sequence[Group], unit: str) -> Figure:
    """Above, a panel for the paths of each group of animals, and one for those of the agents; below, their metrics."""
    require(len(groups) <= MOST, f"There are {len(groups)} groups, and a picture has at most {MOST}; name fewer.")
    shades = _shades(groups)
    animals, agents = [one for one in groups if not one.agents], [one for one in groups if one.agents]
    panels = len(animals) + bool(agents)
    figure = style.new_figure(style.TWO_COLUMNS, 2.2 + 2.4 * -(-panels // 3))
    parts: Any = figure.subfigures(2, 1, height_ratios=[-(-panels // 3), 1])
    above, below = parts
    grid = above.subplots(-(-panels // 3), min(panels, 3), squeeze=False)
    shown = _limits(groups)
    for axes, group in zip(grid.flat, animals, strict=False):
        paths_panel(axes, group, shades[group.name])
    if agents:
        agents_panel(grid.flat[len(animals)], agents, shades)
    for i, axes in enumerate(grid.flat):
        if i >= panels:
            axes.set_axis_off()
            continue
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel=f"x ({unit})")
        axes.set_ylabel(f"y ({unit})" if i % 3 == 0 else "")
    wind(grid[0, 0])
    for axes, metric in zip(below.subplots(1, len(SHOWN)), SHOWN, strict=True):
        metric_panel(axes, groups, metric, unit, shades)
    return figure


def paths_panel(axes: Axes, group: Group, colour: str) -> None:
    """All paths of a group, and their mean as long as half of them go on."""
    some = _some(group)
    axes.add_collection(LineCollection(some, colors=style.FADED, linewidths=0.4, alpha=0.6, zorder=1))
    mean = mean_path(group.paths)
    axes.plot(*mean.T, color="white", lw=2.6, zorder=2)
    axes.plot(*mean.T, color=style.dark(colour), lw=1.4, zorder=3)
    axes.plot(0, 0, "o", ms=3, color=style.SOURCE, mec="white", mew=0.4, zorder=4)
    few = f"{len(some)} of " if len(some) < len(group.paths) else ""
    style.title(axes, text=f"{group.name}: {few}{len(group.paths):,} recoveries", colour=style.dark(colour))


def agents_panel(axes: Axes, groups: Sequence[Group], shades: dict[str, str]) -> None:
    """The recovery paths of agents."""
    for group in groups:
        for i, path in enumerate(group.paths):
            axes.plot(*path.T, color=shades[group.name], lw=1.0, label=group.name if i == 0 else None)
    axes.plot(0, 0, "o", ms=3, color=style.SOURCE, mec="white", mew=0.4, zorder=4)
    axes.legend(frameon=False, fontsize=6, loc="best")
    style.title(axes, text="agents, on blanks only")


def draw_recoveries(axes: Axes, groups: Sequence[Group], unit: str) -> None:
    """All in one panel: paths of animals in grey, their means, and agents."""
    shades = _shades(groups)
    for group in groups:
        if not group.agents:
            axes.add_collection(LineCollection(_some(group), colors=style.PALE, linewidths=0.5, zorder=1))
            axes.plot(
                *mean_path(group.paths).T, color=style.dark(shades[group.name]), lw=2, label=f"mean, {group.name}"
            )
        for i, path in enumerate(group.paths if group.agents else ()):
            axes.plot(*path.T, color=shades[group.name], lw=1.2, label=group.name if i == 0 else None)
    axes.plot(0, 0, "o", ms=4, color=style.SOURCE, mec="white", mew=0.5, zorder=4)
    shown = _limits(groups)
    axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel=f"x ({unit})", ylabel=f"y ({unit})")
    axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    wind(axes)
    count = sum(len(group.paths) for group in groups if not group.agents)
    axes.set_title(f"{count:,} recoveries", loc="left")


def metric_panel(axes: Axes, groups: Sequence[Group], metric: str, unit: str, shades: dict[str, str]) -> None:
    """The medians of individuals, with the median of each group and its interval."""
    at = GEOMETRY.index(metric)
    for place, group in enumerate(groups):
        box(axes, place, group.medians[:, at], shades[group.name], width=0.6)
        found = group.summary(metric)
        if not group.agents and np.isfinite(found.low):
            span_of = [[found.median - found.low], [found.high - found.median]]
            axes.errorbar(place + 0.4, found.median, span_of, color=style.INK, lw=0.9, capsize=1.5, fmt="none")
    never(axes, np.concatenate([group.medians[:, at] for group in groups]))
    label, count = style.GEOMETRY_LABELS[metric]
    words = label.replace("downwind return", "downwind\nreturn")
    axes.set_title(f"{words} ({unit if count == 'cells' else 'step'})", fontsize=7)
    axes.set_xlim(-0.6, len(groups) - 0.3)
    axes.set_xticks([])  # the panels above name the colours


def _shades(groups: Sequence[Group]) -> dict[str, str]:
    """A colour for each group: greys for animals of one kind, others from dense to sparse."""
    names = [group.name for group in groups]
    one = [group.name for group in groups if not group.agents]
    colours = style.colours(names[1:] if len(one) == 1 else names)
    return {names[0]: style.GREY} | colours if len(one) == 1 else colours


def _limits(groups: Sequence[Group]) -> Bbox:
    """The part of the plane with all agents and nearly all animals: one that goes far does not set the scale."""
    paths = [path for group in groups if not group.agents for path in _some(group)]
    low = np.quantile([path.min(axis=0) for path in paths], _FAR, axis=0, method="lower")
    high = np.quantile([path.max(axis=0) for path in paths], 1 - _FAR, axis=0, method="higher")
    return limits([[low, high], *(path for group in groups if group.agents for path in group.paths)], 0.1)


def _some(group: Group) -> list[np.ndarray]:
    """Paths to draw: not too many, nor with too many points."""
    paths = group.paths[:: len(group.paths) // _PATHS + 1]
    return [path[:: len(path) // _POINTS + 1] for path in paths]
