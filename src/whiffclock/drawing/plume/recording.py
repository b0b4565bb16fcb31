"""The picture of a checked recording: what is where, which values it has, and how it moves."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from whiffclock.drawing import style
from whiffclock.drawing.plume.page import outline
from whiffclock.formatting import plainly, short
from whiffclock.plume.check import PlumeCheck

_DOWNWIND, _ACROSS = "x downwind (cells)", "y across (cells)"


def check_figure(seen: PlumeCheck) -> Figure:
    """Mean and a snapshot, whiff maps at the suggested thresholds, values, and the correlation of motion."""
    length, width = seen.view.frames.shape[1:]
    aspect = float(np.clip(width / length, 0.18, 0.6))
    picture = 2.9 * aspect + 0.55
    rows = -(-len(seen.maps) // 2)
    figure = style.new_figure(style.TWO_COLUMNS, (1 + rows) * picture + 3.1)
    grid = figure.add_gridspec(2 + rows, 2, height_ratios=[*[picture] * (1 + rows), 2.3])
    panels = [figure.add_subplot(grid[i // 2, i % 2]) for i in range(2 + len(seen.maps))]
    _draw_mean(figure, panels[0], seen)
    _draw_snapshot(figure, panels[1], seen)
    if seen.maps:
        _draw_maps(figure, panels[2:], seen)
    _draw_values(figure.add_subplot(grid[-1, 0]), seen)
    _draw_motion(figure, figure.add_subplot(grid[-1, 1]), seen)
    axes, wind = seen.guesses["axes"], seen.guesses["wind"]
    how = f"read as {axes.value} ({axes.confidence}), wind {wind.value} ({wind.confidence})"
    grid_size = f"{seen.snapshots:,} snapshots of {seen.grid[0]} x {seen.grid[1]} cells"
    figure.suptitle(fill(f"{seen.name}: {how}", 100), fontsize=9, parse_math=False)
    figure.supxlabel(f"{grid_size}; turned so that x grows downwind.", fontsize=6.5, color=style.GREY, parse_math=False)
    return figure


def _draw(axes: Axes, values: np.ndarray, seen: PlumeCheck, merged: int, **looks: Any) -> AxesImage:
    """Cells of ``merged`` x ``merged`` stored ones, in stored cells, with the source."""
    extent = (-0.5, values.shape[0] * merged - 0.5, -0.5, values.shape[1] * merged - 0.5)
    image = axes.imshow(values.T, origin="lower", extent=extent, aspect="auto", **looks)
    x, y = seen.guesses["source"].value
    axes.plot(x, y, "o", ms=4.5, mfc="none", mec=style.SOURCE, mew=1.1, clip_on=False)
    axes.set(xlim=extent[:2], ylim=extent[2:])
    return image


def _draw_mean(figure: Figure, axes: Axes, seen: PlumeCheck) -> None:
    """The mean over time less the background, source, wind, and the outline of the start region."""
    mean = np.maximum(seen.view.frames.mean(axis=0), 0)
    image = _draw(axes, mean, seen, seen.view.factor, cmap="magma_r", norm=PowerNorm(0.5, 0, _top(mean)))
    if seen.maps:
        starts = [*seen.maps.values()][-1] > 0
        corner = np.array([-0.5, -0.5])
        sides = [corner + seen.merged * side for side in outline(starts, (0.0, 0.0, 0.0, 0.0))]
        axes.add_collection(LineCollection(sides, colors=style.COLOURS["dense"], linewidths=0.7))
    if seen.motion.moves:
        where: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "axes fraction"}
        arrow = {"arrowstyle": "-|>", "color": style.INK, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (0.2, 0.9), (0.04, 0.9), arrowprops=arrow, **where)
        axes.text(0.22, 0.9, "wind", transform=axes.transAxes, va="center", fontsize=6.5)
    style.title(axes, "a", "Mean, source (red), start region (outline)")
    axes.set(ylabel=_ACROSS)
    figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03, aspect=25)


def _draw_snapshot(figure: Figure, axes: Axes, seen: PlumeCheck) -> None:
    """The snapshot in the middle, less the background."""
    middle = len(seen.view.frames) // 2
    snapshot = np.maximum(seen.view.frames[middle], 0)
    image = _draw(axes, snapshot, seen, seen.view.factor, cmap="magma_r", norm=PowerNorm(0.5, 0, _top(snapshot)))
    style.title(axes, "b", f"Snapshot {seen.view.first + middle:,}")
    figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03, aspect=25)


def _draw_maps(figure: Figure, panels: Sequence[Axes], seen: PlumeCheck) -> None:
    """Whiff probability at each suggested threshold."""
    assert seen.suggestion is not None
    shades, top = style.colours(seen.maps), max(float(share.max()) for share in seen.maps.values())
    for i, (axes, (name, share)) in enumerate(zip(panels, seen.maps.items(), strict=True)):
        shown = np.ma.masked_equal(share, 0)
        image = _draw(axes, shown, seen, seen.merged, vmin=0, vmax=top, cmap="YlGnBu")
        axes.set(xlabel=_DOWNWIND if i >= len(panels) - 2 else "", ylabel=_ACROSS if i % 2 == 0 else "")
        text = f"{name}: c ≥ {plainly(seen.suggestion.environments[name], 4)}"
        style.title(axes, "cdefghij"[i], text, colour=style.dark(shades[name]))
    figure.colorbar(image, ax=list(panels), pad=0.01, fraction=0.015, aspect=40, label="whiff probability")


def _draw_values(axes: Axes, seen: PlumeCheck) -> None:
    """Histogram of the values that the next command reads, with the thresholds."""
    counts, edges = np.histogram(seen.values.astype(float), bins=80)
    axes.stairs(counts / counts.sum(), edges, color=style.GREY, fill=True, alpha=0.5)
    axes.set_yscale("log")
    top = axes.get_ylim()[1]
    if seen.suggestion:
        for name, shade in style.colours(seen.maps).items():
            axes.axvline(seen.suggestion.environments[name], color=shade, lw=1.2, label=name)
    if seen.guesses["saturated"].value:
        axes.axvline(edges[-1], color=style.SOURCE, lw=1, ls=(0, (2, 1.5)), label="saturated")
    axes.set(xlabel="value", ylabel="share of values", ylim=(None, 2 * top))
    axes.legend(loc="upper right", frameon=True, framealpha=0.9, edgecolor="none", fancybox=False)
    style.title(axes, "cdefghij"[len(seen.maps)], "Values and thresholds")


def _draw_motion(figure: Figure, axes: Axes, seen: PlumeCheck) -> None:
    """Correlation by displacement, with its maximum, about as far as structures went."""
    rho, lag, factor = seen.motion.rho, seen.motion.lag, seen.view.factor
    middle = [n // 2 for n in rho.shape]
    far = seen.motion.speed * lag
    reach = [min(m, max(6, round(2.5 * far))) for m in middle]
    part = rho[tuple(slice(m - r, m + r + 1) for m, r in zip(middle, reach, strict=True))]
    half = [(r + 0.5) * factor for r in reach]
    image = axes.imshow(
        part.T, origin="lower", extent=(-half[0], half[0], -half[1], half[1]), cmap="RdBu_r", aspect="auto",
        vmin=-np.abs(part).max(), vmax=np.abs(part).max(),
    )  # fmt: skip
    axes.axhline(0, color=style.GREY, lw=0.4)
    axes.axvline(0, color=style.GREY, lw=0.4)
    over = "1 snapshot" if lag == 1 else f"{lag} snapshots"
    text = "Nothing moves"
    if seen.motion.moves:
        x, y = (one * lag * factor for one in seen.motion.velocity)
        axes.plot(x, y, "+", color=style.INK, ms=7, mew=1)
        text = f"{short(seen.guesses['speed'].value)} cells per snapshot"
    style.title(axes, "cdefghij"[len(seen.maps) + 1], f"Motion: {text}")
    axes.set(xlabel=f"displacement downwind after {over} (cells)", ylabel="across (cells)")
    figure.colorbar(image, ax=axes, pad=0.01, fraction=0.03, aspect=25, label="correlation")


def _top(values: np.ndarray) -> float:
    return float(np.quantile(values, 0.999)) or float(values.max()) or 1.0
