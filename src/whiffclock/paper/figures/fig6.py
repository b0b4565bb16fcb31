"""Fig. 6, where the modes are used: mean blank at each cell, and the share of Q+ there."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.maps import corner, draw_map, extent
from whiffclock.paper.figures.style import GREY, PALE, PLUS, TWO_COLUMNS, environment_title, new_figure, styled

TITLE = "Where the plume is sparse, and where the two-Q agent uses which mode"

#: Cells nearer to the axis than this are its core, in the caption.
_CORE = 3


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    names = result.facts["environments"]
    figure = new_figure(TWO_COLUMNS, 4.9)
    grid = np.array([[figure.add_subplot(len(names), 2, 2 * e + j + 1) for j in range(2)] for e in range(len(names))])
    blanks = [_blank(axes, result, e) for e, axes in enumerate(grid[:, 0])]
    uses = [_usage(axes, result, e) for e, axes in enumerate(grid[:, 1])]
    bar = figure.colorbar(blanks[0], ax=list(grid[:, 0]), location="top", shrink=0.75, aspect=38, pad=0.012)
    bar.set_ticks(result.facts["contours"], labels=[str(level) for level in result.facts["contours"]])
    bar.ax.minorticks_off()
    bar.set_label("mean blank at a fixed cell (snapshots)")
    bar = figure.colorbar(uses[0], ax=list(grid[:, 1]), location="top", shrink=0.75, aspect=38, pad=0.012)
    bar.set_label(f"share of decisions in {PLUS}")
    for (e, j), axes in np.ndenumerate(grid):
        _dress(axes, result, int(e), int(j))
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    core, edge = _core_and_edge(result)
    contours = words.listing(str(level) for level in facts["contours"])
    return words.sentences(
        f"(a) Mean time between the whiffs that a fixed cell gets, with contours at {contours} snapshots "
        "(of means over 3 x 3 cells); grey: no "
        "blank is seen to end. (b) Of all decisions that two-Q agents took in a cell during tests, the share taken in "
        "Q⁺, the mode that follows a long blank; grey: nobody went there. Over all decisions it is, for the median "
        f"agent, {words.medians(result, result['share'])}; within {_CORE} cells of the axis of the plume "
        f"{words.each(facts['environments'], core)}, further out {words.each(facts['environments'], edge)}. "
        f"A blank is long from τ = {words.each(facts['environments'], facts['tau'], '.0f')} moves on.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _core_and_edge(result: Result) -> tuple[list[float], list[float]]:
    """Share of Q+ near the axis and away from it, by environment."""
    decisions = result["decisions"]
    near = np.abs(np.arange(decisions.shape[-1]) - result.facts["source"][1]) <= _CORE

    def share(counts: np.ndarray) -> float:
        return float(counts[1].sum() / counts.sum()) if counts.sum() else float("nan")

    return [share(one[:, :, near]) for one in decisions], [share(one[:, :, ~near]) for one in decisions]


def _blank(axes: Axes, result: Result, e: int) -> Any:
    contours, blank = result.facts["contours"], result["blank"]
    axes.set_facecolor(PALE)
    norm = LogNorm(contours[0] / 2.5, contours[-1] * 2.5)
    image = draw_map(axes, result, np.ma.masked_invalid(blank[e]), cmap="YlGnBu_r", norm=norm)
    levels = [level for level in contours if np.nanmin(blank[e], initial=np.inf) < level]
    if not np.isfinite(blank[e]).any():
        _nothing(axes, "no blank ends anywhere")
    elif levels and min(blank[e].shape) > 1:
        left, right, bottom, top = extent(result, blank[e])
        x, y = np.arange(left + 0.5, right), np.arange(bottom + 0.5, top)
        lines = axes.contour(x, y, _smooth(blank[e]).T, levels=contours, colors="#222222", linewidths=0.5)
        axes.clabel(lines, fontsize=5, fmt="%g", inline_spacing=1)
    return image


def _smooth(cells: np.ndarray) -> np.ndarray:
    """Geometric means over 3 x 3 cells, for contours that can be read."""
    padded = np.pad(np.log(np.maximum(cells, 1e-9)), 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).reshape(*cells.shape, 9)
    known = np.isfinite(windows)
    total = np.where(known, windows, 0).sum(axis=-1)
    mean = total / np.maximum(known.sum(axis=-1), 1)
    return np.where(np.isfinite(cells), np.exp(mean), np.nan)


def _usage(axes: Axes, result: Result, e: int) -> Any:
    axes.set_facecolor(PALE)
    usage = result["usage"][e]
    if not np.isfinite(usage).any():
        _nothing(axes, "nobody went anywhere")
    return draw_map(axes, result, np.ma.masked_invalid(usage), cmap="PRGn", vmin=0, vmax=1)


def _nothing(axes: Axes, reason: str) -> None:
    axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", va="center", color=GREY)


def _dress(axes: Axes, result: Result, e: int, j: int) -> None:
    names = result.facts["environments"]
    tau = f", τ = {result.facts['tau'][e]}" if j else ""
    environment_title(axes, names[e], "ab"[j] if e == 0 else "", tau)
    axes.tick_params(labelbottom=e == len(names) - 1, labelleft=j == 0)
    if j == 0:
        axes.set_ylabel("y (cells)")
    if e == len(names) - 1:
        axes.set_xlabel("x downwind of the source (cells)")
    if e == j == 0:
        corner(axes, words.plume_note(result))
