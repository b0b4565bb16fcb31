"""Fig. S5, other initial conditions in training: geometry of single-Q agents."""

from matplotlib.figure import Figure

from whiffclock.paper.dataset import CONDITIONS, MODE, SINGLE, Datasets, recovery
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import metric_panels

TITLE = "Geometry of recovery after training from other starts"
NEEDS = ("single-Q training", "initial conditions")


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 7.0)
    grid = figure.subplots(len(style.METRICS), len(CONDITIONS))
    metric_panels(grid, [{"filled": recovery(data, name, MODE)["geometry_of"]} for name in CONDITIONS.values()])
    for axes, (condition, ensemble) in zip(grid[0], CONDITIONS.items(), strict=True):
        axes.set_title(condition, loc="left", fontsize=7, fontweight="bold" if ensemble == SINGLE else "normal")
    return figure


def caption(data: Datasets) -> str:
    found = {condition: recovery(data, ensemble, MODE) for condition, ensemble in CONDITIONS.items()}
    search = {condition: one["geometry_of"].sel(geometry="upwind_search") for condition, one in found.items()}
    return words.caption("s5", data)(
        own=words.each(found["any time, own mask"]["start_cells"], ",.0f"),
        one=words.number(float(found["any time, one mask"]["start_cells"].max()), ",.0f"),
        search="; ".join(f"{condition}: {words.medians(one, '.0f')}" for condition, one in search.items()),
        few=" With so few agents, spreads are rough." if data.facts["seeds"] < 8 else "",
    )
