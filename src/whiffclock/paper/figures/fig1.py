"""Fig. 1, the setting: odor, clock, environments, learning, starts."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.chains import draw_clock
from whiffclock.paper.figures.maps import corner, draw_map, extent, source
from whiffclock.paper.figures.style import (
    COLOURS,
    GREY,
    INK,
    PALE,
    TWO_COLUMNS,
    bare,
    dark,
    environment_title,
    new_figure,
    styled,
    tint,
    title,
)
from whiffclock.paper.figures.trails import wind

TITLE = "The setting: an odor plume, an agent with a clock, four environments"

#: The last intervals of a learning curve that the caption averages.
_LAST = 10
#: Points of a learning curve that are drawn.
_POINTS = 60
_DASHES = (0, (3, 1.5))


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(TWO_COLUMNS, 6.5)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.75, 4.7], width_ratios=[1, 1.12])
    _search(figure, figure.add_subplot(grid[0, :]), result)
    column = grid[1, 1].subgridspec(5, 1)
    maps = [figure.add_subplot(column[i, 0]) for i in range(5)]
    for e, axes in enumerate(maps[:4]):
        _environment(axes, result, e)
    _mask(maps[4], result)
    column = grid[1, 0].subgridspec(3, 1, height_ratios=[1.15, 1.1, 2.2])
    clock, saw, curves = (figure.add_subplot(column[i, 0]) for i in range(3))
    bare(clock)
    draw_clock(clock, result.facts["horizon"])
    title(clock, "b", "The clock: moves since the last whiff")
    _sawtooth(saw, result)
    _curves(curves, result)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts, search = result.facts, result["search"]
    outcome = "reaches the source region" if facts["search_arrived"] else "does not arrive"
    last = result["curve_single"][:, :, -_LAST:, 1].mean(axis=2)
    share = [float(one.mean()) for one in result["whiffs"]]
    return words.sentences(
        f"(a) Odor at snapshot {facts['snapshot']:,}, and the path of an agent trained in the "
        f"{facts['search_environment']} environment that starts there and {outcome} after {len(search) - 1} moves; "
        f"on the way it smells {int(search[:, 2].sum())} whiffs (dots; the odor moves on while it walks). "
        f"Red: the source and its region of radius {facts['radius']:g} cells. "
        f"(b) All the agent knows is its clock, which a whiff sets to 0; below, the clock along the path in (a). "
        "(c) Four environments are the same odor under four thresholds: whiffs in that snapshot (dark), and how often "
        f"there is one (light). Whiffs fill {words.each(facts['environments'], [100 * s for s in share], '.1f')} per "
        "cent of the cells. "
        "(d) Mean return per training episode: median over agents, single-Q (lines, with their range) and "
        "two-Q (dashes). "
        f"Over the last {_LAST} points the median single-Q agent earns {words.medians(result, last)}. "
        f"(e) Searches start in any of {facts['start_cells']:,} cells, at any time, in all environments.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _search(figure: Figure, axes: Axes, result: Result) -> None:
    field, search = result["snapshot"], result["search"]
    highest = float(field.max()) or 1.0
    image = draw_map(
        axes, result, np.ma.masked_less(field, 1e-3 * highest), norm=LogNorm(1e-3 * highest, highest), cmap="Greys"
    )
    bar = figure.colorbar(image, cax=axes.inset_axes((1.01, 0, 0.012, 1)))
    bar.set_label("concentration")
    environment = result.facts["search_environment"]
    x, y = (search[:, :2] - result.facts["source"]).T
    colour, whiff = COLOURS[environment], search[:, 2] > 0
    axes.plot(x, y, color="white", lw=2.6, solid_joinstyle="round")
    axes.plot(x, y, color=dark(colour), lw=1.3, solid_joinstyle="round")
    axes.plot(x[whiff], y[whiff], "o", ms=2.6, mfc=INK, mec="white", mew=0.3)
    axes.plot(x[0], y[0], "D", ms=5.5, mfc=colour, mec="white", mew=0.8, zorder=5)
    axes.annotate("agent", (x[0], y[0]), xytext=(6, 5), textcoords="offset points", fontsize=7, color=INK,
                  bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8})  # fmt: skip
    source(axes, result.facts["radius"])
    wind(axes, 0.985, 0.9)
    left, right, bottom, top = extent(result, field)
    axes.set_xlim(min(left, -1.5 * result.facts["radius"]), right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
    axes.set_xlabel("x downwind of the source (cells)")
    axes.set_ylabel("y across (cells)")
    title(axes, "a", f"A search through the plume, smelling as in the {environment} environment")
    corner(axes, words.plume_note(result))


def _environment(axes: Axes, result: Result, e: int) -> None:
    name, threshold = result.facts["environments"][e], result.facts["thresholds"][e]
    colour = COLOURS[name]
    shades = LinearSegmentedColormap.from_list(name, ["white", tint(colour, 0.45)])
    draw_map(axes, result, result["probability"][e], cmap=shades, vmin=0, vmax=1)
    whiffs = np.ma.masked_equal(result["whiffs"][e], 0)
    draw_map(axes, result, whiffs, cmap=LinearSegmentedColormap.from_list(name, [dark(colour)] * 2))
    limit = f"{threshold:g}".replace("e-0", "e−")
    environment_title(axes, name, "c" if e == 0 else "", f": whiff if c ≥ {limit}")
    axes.tick_params(labelbottom=False)
    axes.set_ylabel("y (cells)")


def _mask(axes: Axes, result: Result) -> None:
    shades = LinearSegmentedColormap.from_list("mask", ["white", tint(GREY, 0.55)])
    draw_map(axes, result, result["mask"], cmap=shades, vmin=0, vmax=1)
    axes.set_xlabel("x downwind of the source (cells)")
    axes.set_ylabel("y (cells)")
    title(axes, "e", "Where searches start")


def _sawtooth(axes: Axes, result: Result) -> None:
    search = result["search"]
    step, clock, whiff = np.arange(len(search)), search[:, 3], search[:, 2] > 0
    colour = dark(COLOURS[result.facts["search_environment"]])
    axes.fill_between(step, clock, color=PALE, lw=0, step="mid")
    axes.step(step, clock, color=colour, lw=0.9, where="mid")
    axes.plot(step[whiff], np.zeros(whiff.sum()), "o", ms=2.2, color=INK, clip_on=False, zorder=4)
    axes.set_xlim(0, max(len(search) - 1, 1))
    axes.set_ylim(0, max(float(clock.max()) * 1.12, 1))
    axes.set_xlabel("moves since the start of the search in a")
    axes.set_ylabel("clock $s$ (moves)")


def _curves(axes: Axes, result: Result) -> None:
    for e, name in enumerate(result.facts["environments"]):
        for array, dashes in (("curve_single", "-"), ("curve_two", _DASHES)):
            episodes, returns = _coarse(result[array][e, 0, :, 0]) / 1e3, _coarse(result[array][e, :, :, 1])
            axes.plot(episodes, np.median(returns, axis=0), color=COLOURS[name], ls=dashes, lw=0.9)
            if array == "curve_single":
                axes.fill_between(episodes, returns.min(0), returns.max(0), color=COLOURS[name], alpha=0.18, lw=0)
    axes.set_xlim(0, float(result["curve_single"][0, 0, -1, 0]) / 1e3)
    axes.set_xlabel("training episodes (thousands)")
    axes.set_ylabel("mean return $G$ per episode")
    title(axes, "d", "Learning")
    handles = [Line2D([], [], color=COLOURS[name], label=name) for name in result.facts["environments"]]
    handles += [Line2D([], [], color=GREY, ls=ls, label=label) for label, ls in (("single-Q", "-"), ("two-Q", _DASHES))]
    axes.legend(handles=handles, loc="upper left")


def _coarse(values: np.ndarray) -> np.ndarray:
    """Means over neighbouring intervals, along the last axis, so that few points remain."""
    points = values.shape[-1]
    return np.stack([part.mean(axis=-1) for part in np.array_split(values, min(points, _POINTS), axis=-1)], axis=-1)
