"""Fig. S1, generalization in every measure: agents trained in one environment and tested in all four."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, SINGLE, TWO, Datasets
from whiffclock.paper.figures import style, words

TITLE = "Generalization in return, speed and success"
NEEDS = ("single-Q at home", "single-Q elsewhere", "two-Q at home", "two-Q elsewhere")

_BAR: dict[str, Any] = {"location": "right", "fraction": 0.05, "pad": 0.015}


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 6.6)
    grid = figure.subplots(3, 3)
    for j, metric in enumerate(style.PERFORMANCE):
        single, two = (_medians(data, kind, metric).values for kind in (SINGLE, TWO))
        low, high = min(single.min(), two.min()), max(single.max(), two.max())
        for axes, values in zip(grid[:2, j], (single, two), strict=True):
            image = _matrix(axes, values, low, max(high, low + 1e-6), "viridis", ".2f")
        figure.colorbar(image, ax=list(grid[:2, j]), aspect=68, **_BAR)
        most = max(float(np.abs(two - single).max()), 1e-6)
        image = _matrix(grid[2, j], two - single, -most, most, "PRGn", "+.2f")
        figure.colorbar(image, ax=grid[2, j], aspect=34, **_BAR)
    headings = [f"{row}: {label}" for row in (SINGLE, TWO, "difference") for label in style.PERFORMANCE.values()]
    for letter, axes, text in zip("abcdefghi", grid.flat, headings, strict=True):
        style.title(axes, letter, text)
        axes.tick_params(labelleft=axes in grid[:, 0], labelbottom=axes in grid[-1])
        axes.set(xlabel="tested in" if axes in grid[-1] else "", ylabel="trained in" if axes in grid[:, 0] else "")
    return figure


def caption(data: Datasets) -> str:
    def worst(kind: str) -> str:
        values = _medians(data, kind, "f+")
        away = values.where(values["trained"] != values["tested"]).to_series()
        trained, tested = away.idxmin()
        return f"{words.number(away.min())} (from {trained} to {tested})"

    gains = _medians(data, TWO, "G") - _medians(data, SINGLE, "G")
    return words.caption("s1", data)(
        single=worst(SINGLE),
        two=worst(TWO),
        higher=int((gains > 0).sum()),
        pairs=gains.size,
        gains=words.each(gains.mean("tested"), "+.2f"),
    )


def _medians(data: Datasets, kind: str, metric: str) -> xr.DataArray:
    """float[trained, tested]."""
    return data.searches["mean"].sel(kind=kind, metric=metric).median("agent").transpose("trained", "tested")


def _matrix(axes: Axes, values: np.ndarray, low: float, high: float, cmap: str, form: str) -> AxesImage:
    image = axes.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    for (trained, tested), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        ink = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"
        weight, text = "bold" if trained == tested else "normal", words.number(value, form)
        axes.text(tested, trained, text, ha="center", va="center", fontsize=6.5, color=ink, fontweight=weight)
    axes.set_xticks(range(len(values)), ENVIRONMENT_NAMES)
    axes.set_yticks(range(len(values)), ENVIRONMENT_NAMES, rotation=90, va="center")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        for word, colour in zip(labels, style.COLOURS.values(), strict=True):
            word.set_color(style.dark(colour))
    return image
