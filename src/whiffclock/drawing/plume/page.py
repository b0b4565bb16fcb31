"""Pages of one plume or two: maps and curves of their statistics, with those of the DNS as points."""

from collections.abc import Sequence
from contextlib import suppress
from textwrap import fill
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from whiffclock.drawing import style
from whiffclock.drawing.plane import borders, draw_cells
from whiffclock.environments import PAPER
from whiffclock.formatting import plainly
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume import Plume, dns
from whiffclock.plume.correlation import FOLLOWING_LAGS, LAGS
from whiffclock.plume.statistics import PlumeStatistics, full_width

_PAIR = (style.COLOURS["denser"], style.COLOURS["sparser"])
#: Widths are drawn where the whiff probability reaches this.
_LEAST_PROBABILITY = 0.01
_DOWNWIND, _ACROSS = "x downwind (cells)", "y across (cells)"


class Curve(NamedTuple):
    """Statistics with the name and the colour they are drawn under."""

    label: str
    colour: str
    statistics: PlumeStatistics

    @property
    def downwind(self) -> np.ndarray:
        """int[x]: cells downwind of the source."""
        return np.arange(self.statistics.shape[1]) - self.statistics.source[0]


def plume_figure(plume: Plume, statistics: Sequence[PlumeStatistics]) -> Figure:
    """Draw ``plume`` with its statistics at one or more thresholds; those of the environments get a map each."""
    _, length, width = plume.field.shape
    aspect = float(np.clip(width / length, 0.15, 0.35))
    picture, small = 6.3 * aspect + 0.75, 3.1 * aspect + 0.5
    places = plume.environments
    rows = -(-len(places) // 2)
    figure = style.new_figure(style.TWO_COLUMNS, picture + rows * small + 5.4)
    grid = figure.add_gridspec(3 + rows, 2, height_ratios=[picture, *[small] * rows, 2.4, 2.4])
    _draw_snapshot(figure, figure.add_subplot(grid[0, :]), plume)
    if places:
        maps = [figure.add_subplot(grid[1 + i // 2, i % 2]) for i in range(len(places))]
        _draw_maps(figure, maps, plume, statistics[0].maps)
    names = [places.name_of(one.threshold) for one in statistics]
    shades = style.colours(places)
    curves = [Curve(name, shades.get(name, "#555555"), one) for name, one in zip(names, statistics, strict=True)]
    _draw_curves([figure.add_subplot(grid[1 + rows + i // 2, i % 2]) for i in range(4)], curves)
    about = (
        f"{plume.field.shape[0]:,} snapshots of {length} x {width} cells, fingerprint {plume.fingerprint}. Red: source."
        + (f" Outline: start cells (c ≥ {plainly(places.sparsest)} at least once)." if places else "")
        + "\nCircles and squares: DNS behind the paper (Zenodo 15469831, CC-BY-4.0)."
    )
    return _with_texts(figure, plume.origin, about)


def comparison_figure(statistics: Sequence[PlumeStatistics]) -> Figure:
    """Draw the curves of one plume or two, A and B, with the DNS."""
    figure = style.new_figure(style.TWO_COLUMNS, 5.6)
    curves = [Curve(label, colour, one) for label, colour, one in zip("AB", _PAIR, statistics, strict=False)]
    _draw_curves([figure.add_subplot(2, 2, i + 1) for i in range(4)], curves, style.INK)
    origins = [f"{curve.label}: {curve.statistics.origin}" for curve in curves]
    return _with_texts(figure, f"Whiffs at c ≥ {plainly(statistics[0].threshold)}", "\n".join(origins))


def _with_texts(figure: Figure, title: str, about: str) -> Figure:
    """The figure with texts above and below; dollar signs in names do not start formulas."""
    figure.suptitle(fill(title, 100), fontsize=9, parse_math=False)
    figure.supxlabel(about, fontsize=6.5, color=style.GREY, parse_math=False)
    return figure


def _draw_snapshot(figure: Figure, axes: Axes, plume: Plume) -> None:
    """The concentration half-way through the record."""
    moment = plume.field.shape[0] // 2
    snapshot = np.asarray(plume.field[moment], dtype=float)
    top = max(0.0, float(snapshot.max())) or plume.highest
    shown = np.ma.masked_less(snapshot, 1e-3 * top)
    image = draw_cells(axes, shown, plume.source, norm=LogNorm(1e-3 * top, top), cmap="magma_r")
    style.title(axes, text=f"Snapshot {moment:,} of {plume.field.shape[0]:,}")
    axes.set(xlabel=_DOWNWIND, ylabel=_ACROSS)
    figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03, label="concentration")


def _draw_maps(figure: Figure, panels: Sequence[Axes], plume: Plume, maps: dict[str, np.ndarray]) -> None:
    """Whiff probability in each environment, with the outline of the start cells, where there are any."""
    starts, extent = np.zeros(plume.field.shape[1:], dtype=bool), borders(plume.source, plume.field.shape[1:])
    shades = style.colours(maps)
    with suppress(InputError):
        starts[tuple(plume.starts(plume.environments.sparsest, WorldSettings()).T)] = True
    for i, (axes, (name, share)) in enumerate(zip(panels, maps.items(), strict=True)):
        image = draw_cells(axes, np.ma.masked_equal(share, 0), plume.source, vmin=0, vmax=1, cmap="YlGnBu")
        axes.add_collection(LineCollection(outline(starts, extent), colors=style.INK, linewidths=0.5))
        axes.set(xlabel=_DOWNWIND if i >= len(maps) - 2 else "", ylabel=_ACROSS if i % 2 == 0 else "")
        style.title(axes, text=f"{name}: c ≥ {plainly(plume.environments[name])}", colour=shades[name])
    figure.colorbar(image, ax=list(panels), pad=0.01, fraction=0.03, aspect=30, label="whiff probability")


def outline(cells: np.ndarray, extent: tuple[float, float, float, float]) -> list[np.ndarray]:
    """Sides that separate the cells of ``cells[x, y]`` from the others, as segments in the plane."""
    framed = np.pad(cells, 1)
    x, y = np.nonzero(framed[1:, 1:-1] != framed[:-1, 1:-1])
    upright = np.stack([np.stack([x, y], 1), np.stack([x, y + 1], 1)], 1)
    x, y = np.nonzero(framed[1:-1, 1:] != framed[1:-1, :-1])
    level = np.stack([np.stack([x, y], 1), np.stack([x + 1, y], 1)], 1)
    return list(np.concatenate([upright, level]) + np.array([extent[0], extent[2]]))


def _draw_curves(panels: Sequence[Axes], curves: Sequence[Curve], dns_colour: str | None = None) -> None:
    """Four panels. Points of the DNS have ``dns_colour``, or the colour of the first curve at their threshold."""
    known = next((curve for curve in curves if curve.statistics.threshold == dns.THRESHOLD), None)
    points = (dns_colour or known.colour) if known else None
    _draw_axis(panels[0], curves, dns_colour)
    _draw_widths(panels[1], curves, points, dns_colour or style.GREY)
    _draw_durations(panels[2], curves)
    _draw_correlation(panels[3], curves, points)


def _draw_axis(axes: Axes, curves: Sequence[Curve], points: str | None) -> None:
    """Whiff probability along the axis; that of the DNS is known in all environments."""
    for curve in curves:
        axes.plot(curve.downwind, curve.statistics.probability[:, curve.statistics.source[1]], color=curve.colour)
        if known := dns.AXIS.get(PAPER.name_of(curve.statistics.threshold)):
            axes.plot(dns.DISTANCES, known, "o", ms=3, color=points or curve.colour)
    style.title(axes, text="Whiff probability on the axis")
    axes.set(xlabel=_DOWNWIND, ylabel="P(whiff)", ylim=(-0.02, 1.02))


def _draw_widths(axes: Axes, curves: Sequence[Curve], points: str | None, key: str) -> None:
    """Full width at half maximum along the wind, and the key to the colours."""
    for curve in curves:
        rows = curve.statistics.probability
        widths = [full_width(row) if row.max() >= _LEAST_PROBABILITY else np.nan for row in rows]
        axes.plot(curve.downwind, widths, color=curve.colour, label=curve.label)
    handles: list[Artist] = list(axes.get_legend_handles_labels()[0])
    if points:
        known = dns.maps()[PAPER.name_of(dns.THRESHOLD)]
        axes.plot(dns.DISTANCES, [full_width(known[x]) for x in dns.DISTANCES], "o", ms=3, color=points)
        handles.append(Line2D([], [], ls="", marker="o", ms=3, color=key, label="DNS"))
    style.title(axes, text="Width across the wind")
    axes.set(xlabel=_DOWNWIND, ylabel="full width at half maximum (cells)")
    axes.set_ylim(bottom=0)
    axes.legend(handles=handles, ncols=2)


def _draw_durations(axes: Axes, curves: Sequence[Curve]) -> None:
    """Distributions of whiff and blank durations in the core."""
    for curve in curves:
        for durations, line in ((curve.statistics.whiffs, "-"), (curve.statistics.blanks, "--")):
            if durations.count:
                middle = np.sqrt(durations.edges[:-1] * (durations.edges[1:] - 1))
                seen = durations.density > 0
                axes.plot(middle[seen], durations.density[seen], line, color=curve.colour)
    style.title(axes, text="Durations near the axis, x = 20 to 80")
    axes.set(xscale="log", yscale="log", xlabel="duration (snapshots)", ylabel="probability per snapshot")
    _line_legend(axes, "whiffs", "blanks")


def _draw_correlation(axes: Axes, curves: Sequence[Curve], points: str | None) -> None:
    """Autocorrelation at a fixed cell, and correlation following the flow."""
    for curve in curves:
        axes.plot(LAGS, curve.statistics.autocorrelation["42-83"], "-", color=curve.colour)
        axes.plot(FOLLOWING_LAGS, curve.statistics.following.correlation, "--", color=curve.colour)
    if points:
        axes.plot(LAGS, dns.AUTOCORRELATION["42-83"], "o", ms=3, color=points)
        axes.plot(list(dns.FOLLOWING), list(dns.FOLLOWING.values()), "s", ms=3.2, mfc="white", color=points)
    axes.axhline(0, color=style.GREY, lw=0.5)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([1, 2, 4, 8, 16]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    style.title(axes, text="Autocorrelation of whiffs")
    axes.set(xlabel="lag (snapshots)", ylabel="correlation")
    _line_legend(axes, "at a fixed cell, x = 42 to 82", "following the flow, x = 20 to 80")


def _line_legend(axes: Axes, solid: str, dashed: str) -> None:
    handles = [Line2D([], [], color=style.GREY, ls=ls, label=text) for text, ls in ((solid, "-"), (dashed, "--"))]
    axes.legend(handles=handles)
