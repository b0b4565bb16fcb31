"""Maps and recovery paths of the datasets, in the plane of a plume."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from whiffclock.drawing.plane import TRAINED, RecoveryPath, borders, draw_cells
from whiffclock.drawing.style import GREY
from whiffclock.paper.dataset import Datasets
from whiffclock.path_metrics import MAIN_TRUNCATION


def extent(data: Datasets, cells: xr.DataArray) -> tuple[float, float, float, float]:
    """Borders of ``cells[x, y]`` seen from the source."""
    return borders(data.facts["source"], (cells.sizes["x"], cells.sizes["y"]))


def draw_map(axes: Axes, data: Datasets, cells: xr.DataArray, **looks: Any) -> AxesImage:
    """``cells[x, y]`` as a picture, with the source; NaN is left out, and all sides of the frame are drawn."""
    return draw_cells(axes, cells.transpose("x", "y").values, data.facts["source"], **looks)


def plume_note(axes: Axes, data: Datasets) -> None:
    """A note at the upper right, above a map of the plume, if it is synthetic."""
    if data.synthetic:
        axes.set_title("synthetic", loc="right", fontsize=6, color=GREY, style="italic")


def recovery_paths(data: Datasets, ensemble: str, mode: str, environment: str) -> dict[int, RecoveryPath]:
    """Recovery paths of an ensemble in one mode, by agent."""
    found = data["recoveries"].sel(ensemble=ensemble, mode=mode, trained=environment)
    found = found.sel(agent=found["steps"].notnull().any("truncation"))  # ensembles may differ in size
    paths = found["path"].sel(axis=["x", "y"]).transpose("agent", "step", "axis").values.astype(np.int64)
    steps = found["steps"].sel(truncation=[TRAINED, MAIN_TRUNCATION]).transpose("agent", "truncation").values
    parts = zip(found["agent"].values.tolist(), paths, steps.astype(int), strict=True)
    return {agent: RecoveryPath(path[: first + 1], path[first : last + 1]) for agent, path, (first, last) in parts}
