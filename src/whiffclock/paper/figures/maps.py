"""Maps of the plume: cells along and across the wind, counted from the source."""

from __future__ import annotations

from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Circle

from whiffclock.paper.dataset import Datasets
from whiffclock.paper.figures.style import GREY, SOURCE


def extent(data: Datasets, cells: xr.DataArray) -> tuple[float, float, float, float]:
    """Borders of ``cells[x, y]`` seen from the source."""
    x, y = data.facts["source"]
    return -x - 0.5, cells.sizes["x"] - x - 0.5, -y - 0.5, cells.sizes["y"] - y - 0.5


def draw_map(axes: Axes, data: Datasets, cells: xr.DataArray, **looks: Any) -> AxesImage:
    """``cells[x, y]`` as a picture, with the source; NaN is left out, and all sides of the frame are drawn."""
    shown = cells.transpose("y", "x").values
    image = axes.imshow(shown, origin="lower", extent=extent(data, cells), aspect="auto", **looks)
    axes.spines[["top", "right"]].set_visible(True)
    source(axes)
    return image


def source(axes: Axes, radius: float | None = None) -> None:
    """A dot at the source, and the outline of its region."""
    axes.plot(0, 0, "o", ms=3.6, color=SOURCE, mec="white", mew=0.5, zorder=5, clip_on=False)
    if radius is not None:
        axes.add_patch(Circle((0, 0), radius, fill=False, ec=SOURCE, lw=0.7, zorder=4))


def plume_note(axes: Axes, data: Datasets) -> None:
    """Small words at the upper right, above the panel, if the plume is a simulated one."""
    if "simulated" in str(data.facts.get("origin", "")):
        axes.set_title("simulated plume", loc="right", fontsize=6, color=GREY, style="italic")
