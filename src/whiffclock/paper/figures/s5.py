"""Fig. S5, other initial conditions in training: geometry of single-Q agents."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.panels import Group, metric, metric_grid
from whiffclock.paper.figures.style import METRICS, TWO_COLUMNS, new_figure, styled

TITLE = "Geometry of recovery after training from other starts"


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    conditions = result.facts["conditions"]
    figure = new_figure(TWO_COLUMNS, 7.0)
    rows, columns = len(METRICS), len(conditions)
    grid = np.array(
        [[figure.add_subplot(rows, columns, columns * i + j + 1) for j in range(columns)] for i in range(rows)]
    )
    metric_grid(grid, result, [[Group(values)] for values in result["geometry"]])
    for j, (axes, name) in enumerate(zip(grid[0], conditions, strict=True)):
        weight = "bold" if j == result.facts["main"] else "normal"
        axes.set_title(name, loc="left", fontsize=7, fontweight=weight)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    search = metric(result, result["geometry"], "upwind_search")
    told = "; ".join(
        f"{name}: {words.medians(result, one, '.0f')}" for name, one in zip(facts["conditions"], search, strict=True)
    )
    own = next((i for i, name in enumerate(facts["conditions"]) if "own" in name), 0)
    return words.sentences(
        "Shape of the path after a last whiff for single-Q agents whose training searches started elsewhere (columns; "
        "bold: the starts of all other figures): at a moment with a whiff or at any time, and from cells that reach "
        "the threshold of the environment of training at least once (own mask) or the highest threshold (one mask). "
        f"{facts['seeds']} agents per environment and column, trained for {facts['episodes']:,} episodes; an "
        "open dot at the top is an agent that never returns downwind. With its own mask an environment has "
        f"{words.each(facts['environments'], result['start_cells'][own], ',.0f')} start cells, with one mask "
        f"{words.number(float(result['start_cells'][-1, 0]), ',.0f')}. Median upwind search in cells: {told}.",
        "With so few agents, spreads are rough." if facts["seeds"] < 8 else "",
        words.plume(result),
    )
