"""Fig. 3, the geometry of recovery: void trajectories of single-Q agents, and where those that fail were last."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.geometry import MAIN_TRUNCATION
from whiffclock.paper.dataset import MODE, SINGLE, Datasets, at_home, best_agents, recovery, void_path
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import metric_panels
from whiffclock.paper.figures.plane import legibility, limits, metrics_on_path, trail, wind
from whiffclock.paper.figures.violins import LAST_WHIFF, density, failing, last_whiffs, median_last_whiff

TITLE = "How agents search for a lost plume, and how that depends on sparsity"
NEEDS = ("single-Q at home",)


def draw(data: Datasets) -> Figure:
    best = best_agents(data, SINGLE)
    paths = {e: void_path(data, SINGLE, MODE, e, int(best.sel(environment=e))) for e in style.COLOURS}
    shown = limits(paths.values())
    height = style.TWO_COLUMNS / 4 * float(np.clip(shown.height / shown.width, 0.3, 1.3)) + 0.45
    figure = style.new_figure(style.TWO_COLUMNS, height + 3.7)
    rows = figure.add_gridspec(2, 1, height_ratios=[height, 3.7])
    top = np.asarray(rows[0].subgridspec(1, 4).subplots())
    for axes, (name, path) in zip(top, paths.items(), strict=True):
        trail(axes, path, style.COLOURS[name])
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", xlabel="x (cells)")
        style.environment_title(axes, name, "a" if axes is top[0] else "")
        axes.tick_params(labelleft=axes is top[0])
    top[0].set_ylabel("y (cells)")
    wind(top[0])
    below = rows[1].subgridspec(2, 4, width_ratios=[1.75, 1, 1, 1])
    _example(figure.add_subplot(below[:, 0], anchor="N"), paths)
    cells = [figure.add_subplot(below[i, j]) for i in range(2) for j in range(1, 4)]
    metric_panels(np.array(cells[:-1])[:, None], [{"filled": recovery(data, SINGLE, MODE)["geometry_of"]}])
    style.title(cells[0], "c")
    _lost(cells[-1], data)
    return figure


def caption(data: Datasets) -> str:
    geometry, lost = recovery(data, SINGLE, MODE)["geometry_of"], at_home(data.searches["lost"], SINGLE)
    medians = (
        f"{label} {words.medians(geometry.sel(geometry=metric), '.0f')} {unit}"
        for metric, (label, unit) in style.METRICS.items()
    )
    return words.caption("fig3", data)(
        truncation=MAIN_TRUNCATION,
        medians="; ".join(medians),
        failing=words.each(failing(data, at_home(data.searches["failures"], SINGLE)), ".1f"),
        last=words.listing(f"{median_last_whiff(data, lost.sel(environment=e))} ({e})" for e in style.COLOURS),
    )


def _example(axes: Axes, paths: dict[str, np.ndarray]) -> None:
    chosen = max(paths, key=lambda name: legibility(paths[name]))
    style.title(axes, "b", "Five measures of a path")
    if legibility(paths[chosen]) > 0:
        metrics_on_path(axes, paths[chosen], style.COLOURS[chosen])
    else:
        style.empty(axes, "no moves in any path")


def _lost(axes: Axes, data: Datasets) -> None:
    lost = at_home(data.searches["lost"], SINGLE)
    style.title(axes, "d", "Last whiff if lost")
    axes.set(xlabel=LAST_WHIFF, ylabel="density (per cell)")
    if not lost.any():
        style.empty(axes, "no failures")
        return
    for name, colour in style.COLOURS.items():
        x, counts = last_whiffs(data, lost.sel(environment=name))
        grid = np.linspace(x[0], x[-1], 300)
        shape = density(x, counts, grid, float(x[0])) if counts.any() else np.full(len(grid), np.nan)
        axes.fill_between(grid, shape, color=style.tint(colour, 0.6), alpha=0.25, lw=0)
        axes.plot(grid, shape, color=style.dark(colour), lw=1.0, label=name if counts.any() else f"{name}: none")
    axes.set(xlim=(x[0], x[-1]), ylim=(0, 1.3 * axes.get_ylim()[1]))
    axes.legend(loc="upper right", fontsize=5.8, handlelength=1, borderpad=0, labelspacing=0.3)
