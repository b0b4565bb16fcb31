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

TITLE = "All policies"
NEEDS = at_home(SINGLE, TWO)

#: Ensemble and mode of each column.
_COLUMNS = {"single-Q": (SINGLE, MODE), f"two-Q: {style.MINUS}": (TWO, MINUS), f"two-Q: {style.PLUS}": (TWO, PLUS)}
#: Agents side by side in a panel, at least, and its height in inches, at most.
_FEWEST, _TALLEST = 5, 2.05
_BAR = 50


def draw(data: Datasets) -> Figure:
    paths = [[_paths(data, *column, name) for column in _COLUMNS.values()] for name in data.environments]
    spans = [np.ptp(path.trained, axis=0) for row in paths for panel in row for path in panel]
    cell = 1.12 * np.max([*spans, (10, 10)], axis=0)
    across, tall = _across(len(paths[0][0]), cell)
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
    rewards = where_trained(data.searches["mean"], SINGLE).sel(metric="G")
    return captions.caption("s4", data)(
        trained=TRAINED,
        agents=rewards.sizes["agent"],
        highest=captions.number(float(rewards.max())),
        lowest=captions.number(float(rewards.min())),
    )


def table(data: Datasets) -> captions.Table:
    names = ("single-Q", "Q⁻", "Q⁺")
    moves = {name: (_moves(data, *column), ".0f") for name, column in zip(names, _COLUMNS.values(), strict=True)}
    return captions.table(moves)


def alt(data: Datasets) -> str:
    moves = captions.ends(_moves(data, SINGLE, MODE), ".0f", "moves")
    return captions.caption("s4_alt", data)(agents=data.searches.sizes["agent"], moves=moves)


def _moves(data: Datasets, ensemble: str, mode: str) -> xr.DataArray:
    return recovery(data, ensemble, mode, TRAINED)["steps"]


def _paths(data: Datasets, ensemble: str, mode: str, environment: str) -> list[RecoveryPath]:
    """Paths of the agents of an environment; the best agent comes first."""
    rewards = where_trained(data.searches["mean"], ensemble).sel(metric="G", environment=environment)
    ordered = rewards["agent"].values[np.argsort(-rewards.values, kind="stable")]
    found = recovery_paths(data, ensemble, mode, environment)
    return [found[agent] for agent in ordered.tolist()]


def _across(agents: int, cell: np.ndarray) -> tuple[int, float]:
    """Fewest agents side by side in a panel for which all fit on the page, and its height in inches."""
    for across in range(min(agents, _FEWEST), agents + 1):
        tall = (style.TWO_COLUMNS - 0.4) / 3 * math.ceil(agents / across) * cell[1] / (across * cell[0])
        if tall <= _TALLEST:
            return across, tall
    return agents, _TALLEST


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
    axes.plot([right - _BAR, right], [-0.06] * 2, color=style.INK, lw=1.2, transform=below, clip_on=False)
    axes.annotate(f"wind →        {_BAR} cells", (right - _BAR - 4, -0.06), xycoords=below,
                  ha="right", va="center", fontsize=6, color=style.GREY, annotation_clip=False)  # fmt: skip
