"""Fig. S5, other initial conditions in training: geometry of single-Q agents."""

from __future__ import annotations

from matplotlib.figure import Figure

from whiffclock.paper.dataset import CONDITIONS, MODE, SINGLE, Datasets, recovery
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import metric_grid

TITLE = "Geometry of recovery after training from other starts"
NEEDS = ("single-Q training", "initial conditions")


def draw(data: Datasets) -> Figure:
    """The figure."""
    figure = style.new_figure(style.TWO_COLUMNS, 7.0)
    grid = figure.subplots(len(style.METRICS), len(CONDITIONS))
    metric_grid(grid, [recovery(data, ensemble, MODE)["geometry_of"] for ensemble in CONDITIONS.values()])
    for axes, (condition, ensemble) in zip(grid[0], CONDITIONS.items(), strict=True):
        axes.set_title(condition, loc="left", fontsize=7, fontweight="bold" if ensemble == SINGLE else "normal")
    return figure


def caption(data: Datasets) -> str:
    """What the figure shows, with its numbers."""
    facts = data.facts
    found = {condition: recovery(data, ensemble, MODE) for condition, ensemble in CONDITIONS.items()}
    search = {condition: one["geometry_of"].sel(geometry="upwind_search") for condition, one in found.items()}
    told = "; ".join(f"{condition}: {words.medians(one, '.0f')}" for condition, one in search.items())
    own, shared = (found[condition]["start_cells"] for condition in ("any time, own mask", "any time, one mask"))
    text = (
        "Shape of the path after a last whiff for single-Q agents whose training searches started elsewhere (columns; "
        "bold: the starts of all other figures): at a moment with a whiff or at any time, and from cells that reach "
        "the threshold of the environment of training at least once (own mask) or the highest threshold (one mask). "
        f"{facts['seeds']} agents per environment and column, trained for {facts['episodes']:,} episodes; an "
        "open dot at the top is an agent that never returns downwind. With its own mask an environment has "
        f"{words.each(own, ',.0f')} start cells, with one mask "
        f"{words.number(float(shared.max()), ',.0f')}. "
        f"Median upwind search in cells: {told}."
    )
    return f"{text} With so few agents, spreads are rough." if facts["seeds"] < 8 else text
