"""Fig. 7, what the two modes learn: their geometry, their paths, and how each fails alone."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import lastwhiff, words
from whiffclock.paper.figures.boxes import Fill, key
from whiffclock.paper.figures.panels import Group, metric, metric_row
from whiffclock.paper.figures.style import (
    COLOURS,
    METRICS,
    MINUS,
    PLUS,
    TWO_COLUMNS,
    dark,
    environment_axis,
    environment_title,
    new_figure,
    styled,
    title,
)
from whiffclock.paper.figures.trails import Limits, frame, limits, trail, wind

TITLE = "What the two modes of the two-Q agent learn"

_FILLS: dict[str, Fill] = {"minus": "open", "single": "filled", "plus": "solid"}
_LABELS = {"minus": MINUS, "single": "single-Q", "plus": PLUS}
_SHADES = {"minus": 0.0, "two": 0.45, "plus": 0.85}
_ALONE = {"minus": f"{MINUS} only", "two": "two-Q", "plus": f"{PLUS} only"}


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    shown = limits([*result["path"].reshape(-1, *result["path"].shape[2:]), *result["path_heuristic"]])
    height = 2 * (TWO_COLUMNS / 5.2 * float(np.clip(shown.aspect, 0.3, 1.15)) + 0.12) + 0.4
    figure = new_figure(TWO_COLUMNS, height + 4.4)
    rows = figure.add_gridspec(3, 1, height_ratios=[2.25, height, 2.0])
    top = rows[0].subgridspec(1, len(METRICS))
    panels = [figure.add_subplot(top[i]) for i in range(len(METRICS))]
    metric_row(panels, result, [Group(result[kind], fill) for kind, fill in _FILLS.items()])
    title(panels[0], "a")
    figure.legend(
        handles=[key(_LABELS[kind], fill) for kind, fill in _FILLS.items()], loc="outside upper center", ncols=3
    )
    middle = rows[1].subgridspec(2, 5)
    grid = np.array([[figure.add_subplot(middle[i, j]) for j in range(5)] for i in range(2)])
    _paths(grid, result, shown)
    _alone(figure.add_subplot(rows[2]), result)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts

    def told(name: str) -> str:
        return "; ".join(
            f"{word} {words.medians(result, metric(result, result[kind], name), '.0f')}"
            for kind, word in (("minus", "Q⁻"), ("plus", "Q⁺"))
        )

    def fail(kind: str) -> str:
        shares = [lastwhiff.failing(result, one) for one in result[f"failures_{kind}"]]
        return words.each(facts["environments"], shares, ".1f")

    return words.sentences(
        "(a) Shape of the path after a last whiff, for both modes of the two-Q agents and for single-Q agents; an open "
        f"dot at the top is an agent that never returns downwind. Medians of upwind search in cells: "
        f"{told('upwind_search')}. Medians of the moves before the return: {told('backtracking_initiation')}. "
        "(b) Both modes of the two-Q agent with the highest return, from bright to dark as the clock runs. "
        f"(c) A 2Qʰ agent: Q⁻ comes from an agent trained in the {facts['heuristic_from'][0]} environment, Q⁺ from one "
        f"trained in the {facts['heuristic_from'][1]} one, τ = {facts['heuristic_tau']}. "
        "(d) How far downwind failed searches smelled their last whiff, for two-Q agents, and for the same agents "
        f"confined to one mode; percentages are of searches that fail. Q⁻ only: {fail('minus')}; two-Q: {fail('two')}; "
        f"Q⁺ only: {fail('plus')} per cent.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _paths(grid: np.ndarray, result: Result, shown: Limits) -> None:
    names, origins = result.facts["environments"], result.facts["heuristic_from"]
    for (i, j), axes in np.ndenumerate(grid):
        if j < len(names):
            trail(axes, result["path"][j, i], COLOURS[names[j]])
        else:
            trail(axes, result["path_heuristic"][i], COLOURS[origins[i]])
        frame(axes, shown)
        axes.tick_params(labelleft=j == 0, labelbottom=i == 1)
    for j, name in enumerate(names):
        environment_title(grid[0, j], name, "b" if j == 0 else "")
        grid[1, j].set_xlabel("x (cells)")
    title(grid[0, -1], "c", "2Q$^h$")
    grid[1, -1].set_xlabel("x (cells)")
    for axes, name in zip(grid[:, -1], origins, strict=True):
        axes.text(
            0.97, 0.04, f"from {name}", transform=axes.transAxes, ha="right", fontsize=5.8, color=dark(COLOURS[name])
        )
    for axes, mode in zip(grid[:, 0], (MINUS, PLUS), strict=True):
        axes.set_ylabel(f"{mode}\ny (cells)")
    wind(grid[0, 0])


def _alone(axes: Axes, result: Result) -> None:
    names = result.facts["environments"]
    heads = []
    for e, name in enumerate(names):
        for j, (kind, label) in enumerate(_ALONE.items()):
            at = e + 0.3 * (j - 1)
            lost = result[f"lost_{kind}"][e]
            lastwhiff.draw_lost(axes, at, result, lost, COLOURS[name], width=0.27, shade=_SHADES[kind])
            heads.append((at, f"{label}\n{lastwhiff.failing(result, result[f'failures_{kind}'][e]):.1f}%"))
    environment_axis(axes, names)
    lastwhiff.downwind(axes, result, result["lost_two"])
    axes.set_xlim(-0.5, len(names) - 0.5)
    for at, text in heads:
        axes.annotate(text, (at, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=5.8)
    for border in range(1, len(names)):
        axes.axvline(border - 0.5, color="#CCCCCC", lw=0.5)
    axes.set_ylabel(lastwhiff.LABEL)
    axes.set_title(r"$\mathbf{d}$  Last whiff of searches that fail, and their share", loc="left", pad=20)
