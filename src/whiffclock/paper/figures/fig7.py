"""Fig. 7, what the two modes learn: their geometry, their paths, and how each fails alone."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.paper import dataset
from whiffclock.paper.dataset import ENVIRONMENT_NAMES, MINUS, MODE, PLUS, SINGLE, TWO, Datasets, at_home, recovery
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import Fill, key, metric_panels
from whiffclock.paper.figures.plane import limits, trail, wind
from whiffclock.paper.figures.violins import LAST_WHIFF, draw_last_whiffs, failing

TITLE = "What the two modes of the two-Q agent learn"
NEEDS = ("single-Q training", "two-Q at home", "one mode", "2Q^h")

#: Ensemble, mode and label by the fill of the boxes.
_BOXES: dict[Fill, tuple[str, str, str]] = {
    "open": (TWO, MINUS, style.MINUS),
    "filled": (SINGLE, MODE, "single-Q"),
    "solid": (TWO, PLUS, style.PLUS),
}
#: Kinds of agents that fail, with their label and shade.
_ALONE = {
    dataset.MINUS_ONLY: (f"{style.MINUS} only", 0.0),
    TWO: ("two-Q", 0.45),
    dataset.PLUS_ONLY: (f"{style.PLUS} only", 0.85),
}


def draw(data: Datasets) -> Figure:
    paths, colours = _paths(data)
    shown = limits(path for row in paths for path in row)
    height = 2 * (style.TWO_COLUMNS / 5.2 * float(np.clip(shown.height / shown.width, 0.3, 1.15)) + 0.12) + 0.4
    figure = style.new_figure(style.TWO_COLUMNS, height + 4.4)
    rows = figure.add_gridspec(3, 1, height_ratios=[2.25, height, 2.0])
    panels = np.asarray(rows[0].subgridspec(1, len(style.METRICS)).subplots())
    found = {fill: recovery(data, name, mode)["geometry_of"] for fill, (name, mode, _) in _BOXES.items()}
    metric_panels(panels[:, None], [found])
    style.title(panels[0], "a")
    keys = [key(label, fill) for fill, (_, _, label) in _BOXES.items()]
    figure.legend(handles=keys, loc="outside upper center", ncols=3)
    grid = np.asarray(rows[1].subgridspec(2, 5).subplots())
    for (i, j), axes in np.ndenumerate(grid):
        trail(axes, paths[i][j], colours[i][j])
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel="x (cells)" if i == 1 else "")
        axes.tick_params(labelleft=j == 0, labelbottom=i == 1)
    _label_paths(grid, data.facts["heuristic_from"])
    _alone(figure.add_subplot(rows[2]), data)
    return figure


def caption(data: Datasets) -> str:
    both = {word: recovery(data, TWO, mode)["geometry_of"] for mode, word in ((MINUS, "Q⁻"), (PLUS, "Q⁺"))}

    def medians(metric: str) -> str:
        return "; ".join(f"{word} {words.medians(one.sel(geometry=metric), '.0f')}" for word, one in both.items())

    shares = [failing(data, at_home(data.searches["failures"], kind)) for kind in _ALONE]
    return words.caption("fig7", data)(
        search=medians("upwind_search"),
        initiation=medians("backtracking_initiation"),
        failing=[words.each(share, ".1f") for share in shares],
    )


def _paths(data: Datasets) -> tuple[list[list[np.ndarray]], list[list[str]]]:
    """Paths and colours [mode][column]: the best two-Q agent of each environment, then the best 2Q^h agent."""
    best = dataset.best_agents(data, TWO)
    returns = at_home(data.searches["mean"], dataset.HEURISTIC).sel(metric="G").mean("environment")
    composed = int(returns.fillna(-np.inf).idxmax("agent"))
    paths, colours = [], []
    for mode, origin in zip((MINUS, PLUS), data.facts["heuristic_from"], strict=True):
        of_best = [dataset.void_path(data, TWO, mode, e, int(best.sel(environment=e))) for e in ENVIRONMENT_NAMES]
        paths.append([*of_best, dataset.void_path(data, SINGLE, MODE, origin, composed)])
        colours.append([*style.COLOURS.values(), style.COLOURS[origin]])
    return paths, colours


def _label_paths(grid: np.ndarray, origins: list[str]) -> None:
    for j, name in enumerate(ENVIRONMENT_NAMES):
        style.environment_title(grid[0, j], name, "b" if j == 0 else "")
    style.title(grid[0, -1], "c", "2Q$^h$")
    for axes, name in zip(grid[:, -1], origins, strict=True):
        looks = {"ha": "right", "fontsize": 5.8, "color": style.dark(style.COLOURS[name])}
        axes.text(0.97, 0.04, f"from {name}", transform=axes.transAxes, **looks)
    for axes, mode in zip(grid[:, 0], (style.MINUS, style.PLUS), strict=True):
        axes.set_ylabel(f"{mode}\ny (cells)")
    wind(grid[0, 0])


def _alone(axes: Axes, data: Datasets) -> None:
    for j, (kind, (label, shade)) in enumerate(_ALONE.items()):
        lost = at_home(data.searches["lost"], kind)
        shares = failing(data, at_home(data.searches["failures"], kind))
        for e, (name, colour) in enumerate(style.COLOURS.items()):
            at = e + 0.3 * (j - 1)
            draw_last_whiffs(axes, at, data, lost.sel(environment=name), colour, width=0.27, shade=shade)
            text, place = f"{label}\n{float(shares.sel(environment=name)):.1f}%", ("data", "axes fraction")
            axes.annotate(text, (at, 1.0), xycoords=place, ha="center", va="bottom", fontsize=5.8)
    style.environment_axis(axes, borders=True)
    axes.set_xlim(-0.5, len(ENVIRONMENT_NAMES) - 0.5)
    axes.set_ylabel(LAST_WHIFF)
    axes.set_title(r"$\mathbf{d}$  Last whiff of searches that fail, and their share", loc="left", pad=20)
