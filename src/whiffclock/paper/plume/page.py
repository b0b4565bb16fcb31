"""A plume on one page, and two plumes on one page: maps and curves of their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from whiffclock.paper.figures.style import COLOURS
from whiffclock.paper.plume.curves import Curve, draw_axis, draw_correlation, draw_durations, draw_widths, power, style
from whiffclock.params import ENVIRONMENTS, InputError, WorldSettings, environment_name
from whiffclock.plume import Plume
from whiffclock.plume.statistics import PlumeStatistics

_INK, _GREY = "#222222", "#666666"
_PAIR = ("#0072B2", "#D55E00")
_MAP = "YlGnBu"


@dataclass(frozen=True)
class _Window:
    """The grid as a picture: extent in cells from the source, and its shape."""

    extent: tuple[float, float, float, float]
    aspect: float

    @classmethod
    def of(cls, plume: Plume) -> _Window:
        _, length, width = plume.field.shape
        x, y = plume.source
        return cls((-x - 0.5, length - x - 0.5, -y - 0.5, width - y - 0.5), float(np.clip(width / length, 0.15, 0.35)))


def plume_page(plume: Plume, statistics: Sequence[PlumeStatistics], path: Path) -> None:
    """Draw ``plume`` with its statistics at one or more thresholds; those of the environments get a map each."""
    window = _Window.of(plume)
    picture, small = 6.3 * window.aspect + 0.75, 3.1 * window.aspect + 0.5
    figure = Figure(figsize=(7.2, picture + 2 * small + 5.4), layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06))
    grid = figure.add_gridspec(5, 2, height_ratios=[picture, small, small, 2.4, 2.4])
    draw_snapshot(figure, figure.add_subplot(grid[0, :]), plume, window)
    maps = [figure.add_subplot(grid[1 + i // 2, i % 2]) for i in range(4)]
    draw_maps(figure, maps, plume, window)
    curves = [_environment_curve(one) for one in statistics]
    panels = [figure.add_subplot(grid[3 + i // 2, i % 2]) for i in range(4)]
    _draw_curves(panels, curves)
    figure.suptitle(plume.origin, fontsize=9, color=_INK)
    figure.supxlabel(_about(plume), fontsize=6.5, color=_GREY)
    figure.savefig(path, dpi=200)


def comparison_page(statistics: Sequence[PlumeStatistics], labels: Sequence[str], path: Path) -> None:
    """Draw the curves of one plume beside the DNS, or of two plumes beside each other and the DNS."""
    figure = Figure(figsize=(7.2, 5.6), layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06))
    curves = [Curve(label, colour, one) for label, colour, one in zip(labels, _PAIR, statistics, strict=False)]
    panels = [figure.add_subplot(2, 2, i + 1) for i in range(4)]
    _draw_curves(panels, curves, _INK)
    threshold = statistics[0].threshold
    figure.suptitle(f"Whiffs at c ≥ {power(threshold)}", fontsize=9, color=_INK)
    origins = [f"{label}: {one.origin}" for label, one in zip(labels, statistics, strict=True)]
    figure.supxlabel("\n".join(origins), fontsize=6.5, color=_GREY)
    figure.savefig(path, dpi=200)


def draw_snapshot(figure: Figure, axes: Axes, plume: Plume, window: _Window) -> None:
    """The concentration half-way through the record."""
    moment = plume.field.shape[0] // 2
    snapshot = np.asarray(plume.field[moment], dtype=float).T
    top = float(snapshot.max())
    top = top if top > 0 else float(plume.highest)
    image = axes.imshow(
        np.ma.masked_less(snapshot, 1e-3 * top),
        origin="lower",
        extent=window.extent,
        norm=LogNorm(1e-3 * top, top),
        cmap="magma_r",
        aspect="auto",
        interpolation="nearest",
    )
    _source(axes)
    style(axes, f"Snapshot {moment:,} of {plume.field.shape[0]:,}", "x downwind (cells)", "y across (cells)")
    bar = figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03)
    bar.set_label("concentration", fontsize=7.5)
    bar.ax.tick_params(labelsize=6.5, length=2)


def draw_maps(figure: Figure, panels: Sequence[Axes], plume: Plume, window: _Window) -> None:
    """Whiff probability in the four environments, with the outline of the start cells."""
    starts = _start_map(plume)
    image = None
    for i, (axes, (name, threshold)) in enumerate(zip(panels, ENVIRONMENTS.items(), strict=True)):
        shown = _probability(plume, threshold).T
        image = axes.imshow(
            np.ma.masked_equal(shown, 0), origin="lower", extent=window.extent, vmin=0, vmax=1, cmap=_MAP,
            aspect="auto", interpolation="nearest",
        )  # fmt: skip
        axes.add_collection(LineCollection(outline(starts, window.extent), colors=_INK, linewidths=0.5))
        _source(axes)
        style(axes, "", "x downwind (cells)" if i > 1 else "", "y across (cells)" if i % 2 == 0 else "")
        axes.set_title(f"{name}: c ≥ {power(threshold)}", fontsize=8, color=COLOURS[name], loc="left", pad=3)
    if image is not None:
        bar = figure.colorbar(image, ax=list(panels), pad=0.01, fraction=0.03, aspect=30)
        bar.set_label("whiff probability", fontsize=7.5)
        bar.ax.tick_params(labelsize=6.5, length=2)


def outline(cells: np.ndarray, extent: tuple[float, float, float, float]) -> list[np.ndarray]:
    """Sides that separate the cells of ``cells[x, y]`` from the others, as segments in the plane."""
    left, bottom = extent[0], extent[2]
    framed = np.pad(cells, 1)
    x, y = np.nonzero(framed[1:, 1:-1] != framed[:-1, 1:-1])
    upright = np.stack([np.stack([x, y], 1), np.stack([x, y + 1], 1)], 1)
    x, y = np.nonzero(framed[1:-1, 1:] != framed[1:-1, :-1])
    level = np.stack([np.stack([x, y], 1), np.stack([x + 1, y], 1)], 1)
    return list(np.concatenate([upright, level]) + np.array([left, bottom]))


def _draw_curves(panels: Sequence[Axes], curves: Sequence[Curve], dns_colour: str | None = None) -> None:
    draw_axis(panels[0], curves, dns_colour)
    draw_widths(panels[1], curves, dns_colour)
    draw_durations(panels[2], curves)
    draw_correlation(panels[3], curves, dns_colour)


def _environment_curve(statistics: PlumeStatistics) -> Curve:
    name = environment_name(statistics.threshold)
    return Curve(name, COLOURS.get(name, "#555555"), statistics)


def _probability(plume: Plume, threshold: float) -> np.ndarray:
    try:
        return plume.whiffs(threshold).probability()
    except InputError:
        return np.zeros(plume.field.shape[1:])


def _start_map(plume: Plume) -> np.ndarray:
    """bool[x, y]: D_init at the default start threshold; empty where nothing reaches it."""
    cells = np.zeros(plume.field.shape[1:], dtype=bool)
    settings = WorldSettings()
    try:
        found = plume.starts(ENVIRONMENTS["sparser"], settings)
    except InputError:
        return cells
    cells[found[:, 0], found[:, 1]] = True
    return cells


def _source(axes: Axes) -> None:
    axes.plot(0, 0, "o", ms=4, color="#C00000", mec="white", mew=0.6, zorder=3, clip_on=False)


def _about(plume: Plume) -> str:
    start = WorldSettings().start_threshold or 0.0
    snapshots, length, width = plume.field.shape
    return (
        f"{snapshots:,} snapshots of {length} x {width} cells, fingerprint {plume.fingerprint}. Red: source. "
        f"Outline: start cells (c ≥ {power(start)} at least once).\n"
        "Circles and squares: DNS behind the paper (Zenodo 15469831, CC-BY-4.0), read off maps and searches."
    )
