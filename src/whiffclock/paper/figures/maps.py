"""Maps of the plume: cells along and across the wind, counted from the source."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Circle

from whiffclock.experiments.results import Result
from whiffclock.paper.figures.style import GREY, SOURCE


def extent(result: Result, cells: np.ndarray) -> tuple[float, float, float, float]:
    """Borders of ``cells[x, y]`` seen from the source."""
    (x, y), (length, width) = result.facts["source"], cells.shape
    return -x - 0.5, length - x - 0.5, -y - 0.5, width - y - 0.5


def draw_map(axes: Axes, result: Result, cells: np.ndarray, **looks: Any) -> AxesImage:
    """``cells[x, y]`` as a picture, with the source; all sides of the frame are drawn."""
    image = axes.imshow(cells.T, origin="lower", extent=extent(result, cells), aspect="auto", **looks)
    axes.spines[["top", "right"]].set_visible(True)
    source(axes)
    return image


def source(axes: Axes, radius: float | None = None) -> None:
    """A dot at the source, and the outline of its region."""
    axes.plot(0, 0, "o", ms=3.6, color=SOURCE, mec="white", mew=0.5, zorder=5, clip_on=False)
    if radius is not None:
        axes.add_patch(Circle((0, 0), radius, fill=False, ec=SOURCE, lw=0.7, zorder=4))


def corner(axes: Axes, text: str) -> None:
    """A few small words at the upper right, above the panel."""
    if text:
        axes.set_title(text, loc="right", fontsize=6, color=GREY, style="italic")
