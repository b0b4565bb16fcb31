"""Fig. S4, every policy: the recovery paths of all single-Q agents, and of both modes of all two-Q agents."""

import math

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whiffclock.drawing import style
from whiffclock.drawing.plane import TRAINED, RecoveryPath, limits
from whiffclock.paper.dataset import MINUS, MODE, PLUS, SINGLE, TWO, Datasets, at_home, recovery, where_trained
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.maps import recovery_paths

TITLE = "Recovery paths from the best agent to the worst"
NEEDS = at_home(SINGLE, TWO)

#: Ensemble and mode of each column.
_COLUMNS = {"single-Q": (SINGLE, MODE), f"two-Q: {style.MINUS}": (TWO, MINUS), f"two-Q: {style.PLUS}": (TWO, PLUS)}
#: Agents in a panel, its width in inches, and its height, at most.
_MOST, _WIDE, _TALLEST = 20, (style.TWO_COLUMNS - 0.4) / 3, 2.05
#: Lengths of the scale bar, in cells, and how much of a panel it may take.
_BARS, _SHARE = (50, 20, 10, 5, 2), 0.3


def draw(data: Datasets) -> Figure:
    paths = [[paths_shown(data, *column, name) for column in _COLUMNS.values()] for name in data.environments]
    spans = [np.ptp(path.trained, axis=0) for row in paths for panel in row for path in panel]
    cell = 1.12 * np.max([*spans, (10, 10)], axis=0)
    across, tall = _across(len(paths[0][0]), cell)
    cell[0] = math.ceil(len(paths[0][0]) / across) * cell[1] * _WIDE / (tall * across)  # to the borders of the panel
    figure = style.new_figure(style.TWO_COLUMNS, len(paths) * (tall + 0.08) + 0.45)
    grid = figure.subplots(len(paths), len(_COLUMNS), squeeze=False)
    for row, panels, (name, colour) in zip(paths, grid, style.colours(data.environments).items(), strict=True):
        for panel, axes in zip(row, panels, strict=True):
            _thumbnails(axes, panel, colour, cell, across)
        panels[0].set_ylabel(name, color=style.dark(colour), fontsize=7.5)
    for axes, letter, label in zip(grid[0], "abc", _COLUMNS, strict=True):
        style.title(axes, letter, label)
    _scale(grid[-1, -1])
    return figure


def caption(data: Datasets) -> str:
    agents = where_trained(data.searches["mean"], SINGLE).sizes["agent"]
    return captions.caption("s4", data)(shown=agents if agents <= _MOST else f"{_MOST} of {agents}")


def table(data: Datasets) -> captions.Table:
    names = ("single-Q", "Q⁻", "Q⁺")
    moves = {name: (_moves(data, *column), ".0f") for name, column in zip(names, _COLUMNS.values(), strict=True)}
    return captions.table(moves)


def alt(data: Datasets) -> str:
    moves = captions.ends(_moves(data, SINGLE, MODE), ".0f", "moves")
    return captions.caption("s4_alt", data)(agents=data.searches.sizes["agent"], moves=moves)


def _moves(data: Datasets, ensemble: str, mode: str) -> xr.DataArray:
    return recovery(data, ensemble, mode, TRAINED)["steps"]


def paths_shown(data: Datasets, ensemble: str, mode: str, environment: str) -> list[RecoveryPath]:
    """Paths of the agents of an environment, the best first; of many, those at even ranks from best to worst."""
    rewards = where_trained(data.searches["mean"], ensemble).sel(metric="G", environment=environment)
    ordered = rewards["agent"].values[np.argsort(-rewards.values, kind="stable")]
    found = recovery_paths(data, ensemble, mode, environment)
    shown = np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST)).round().astype(int)
    return [found[agent] for agent in ordered[shown].tolist()]


def _across(agents: int, cell: np.ndarray) -> tuple[int, float]:
    """How many agents side by side in a panel give large pictures and few empty places, and its height in inches."""
    best = (0.0, 1, _TALLEST)
    for across in range(1, agents + 1):
        down = math.ceil(agents / across)
        scale = min(_WIDE / (across * cell[0]), _TALLEST / (down * cell[1]))
        filled = agents / (across * down)
        best = max(best, (scale * filled, across, scale * down * cell[1]))
    return best[1], best[2]


def _thumbnails(axes: Axes, paths: list[RecoveryPath], colour: str, cell: np.ndarray, across: int) -> None:
    down = math.ceil(len(paths) / across)
    for place, path in enumerate(paths):
        box = limits([path.trained], 0)
        middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2
        inside = (np.abs(path.beyond - middle) <= 0.5 * cell).all(axis=1)
        within = path.beyond if inside.all() else path.beyond[: inside.argmin()]
        offset = cell * (place % across + 0.5, -(place // across + 0.5)) - middle
        RecoveryPath(path.trained, within).draw(axes, colour, min(0.6, 3.5 / across), offset)
    axes.set(xlim=(0, across * cell[0]), ylim=(-down * cell[1], 0), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("#CCCCCC")


def _scale(axes: Axes) -> None:
    """A scale bar under the last panel."""
    right, below = axes.get_xlim()[1], axes.get_xaxis_transform()
    bar = next((length for length in _BARS if length <= _SHARE * right), 1)
    axes.plot([right - bar, right], [-0.06] * 2, color=style.INK, lw=1.2, transform=below, clip_on=False)
    axes.annotate(f"wind →        {bar} cells", (right - bar - 4, -0.06), xycoords=below,
                  ha="right", va="center", fontsize=6, color=style.GREY, annotation_clip=False)  # fmt: skip
