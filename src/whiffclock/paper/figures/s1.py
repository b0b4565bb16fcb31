"""Fig. S1, generalization in every measure: agents trained in one environment and tested in all four."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.style import COLOURS, PERFORMANCE, TWO_COLUMNS, dark, new_figure, styled, title

TITLE = "Generalization in return, speed and success"

_ROWS = ("single-Q", "two-Q", "difference")


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(TWO_COLUMNS, 6.6)
    grid = np.array([[figure.add_subplot(3, 3, 3 * i + j + 1) for j in range(3)] for i in range(3)])
    for j, measure in enumerate(PERFORMANCE):
        single, two = (_medians(result, kind, measure) for kind in ("single", "two"))
        low, high = min(single.min(), two.min()), max(single.max(), two.max())
        for axes, values in zip(grid[:2, j], (single, two), strict=True):
            image = _matrix(axes, result, values, low, max(high, low + 1e-6), "viridis", ".2f")
        _bar(figure, image, list(grid[:2, j]))
        most = max(float(np.abs(two - single).max()), 1e-6)
        image = _matrix(grid[2, j], result, two - single, -most, most, "PRGn", "+.2f")
        _bar(figure, image, [grid[2, j]])
    for (i, j), axes in np.ndenumerate(grid):
        title(axes, "abcdefghi"[3 * int(i) + int(j)], f"{_ROWS[int(i)]}: {list(PERFORMANCE.values())[int(j)]}")
        if j == 0:
            axes.set_ylabel("trained in")
        if i == 2:
            axes.set_xlabel("tested in")
        axes.tick_params(labelleft=j == 0, labelbottom=i == 2)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    names = result.facts["environments"]
    away = ~np.eye(len(names), dtype=bool)

    def worst(kind: str) -> str:
        values = np.where(away, _medians(result, kind, "f+"), np.inf)
        trained, tested = np.unravel_index(values.argmin(), values.shape)
        return f"{words.number(values.min())} (from {names[trained]} to {names[tested]})"

    gains = _medians(result, "two", "G") - _medians(result, "single", "G")
    return words.sentences(
        "Agents trained in one environment (rows) and tested in each (columns): medians over agents of return, speed "
        "relative to the shortest way, and success rate, for single-Q, for two-Q, and the differences between these "
        f"medians. Lowest success rates away from home: single-Q {worst('single')}, two-Q {worst('two')}. Two-Q has "
        f"the higher median return in {int((gains > 0).sum())} of {gains.size} pairs; the mean difference by "
        f"environment of training is {words.each(names, gains.mean(axis=1), '+.2f')}.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _medians(result: Result, kind: str, measure: str) -> np.ndarray:
    """float[trained e, tested e]."""
    return np.asarray(np.median(result[kind][..., result.facts["metrics"].index(measure)], axis=2))


def _matrix(axes: Axes, result: Result, values: np.ndarray, low: float, high: float, cmap: str, form: str) -> AxesImage:
    names = result.facts["environments"]
    image = axes.imshow(values, cmap=cmap, vmin=low, vmax=high, aspect="auto")
    for (trained, tested), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        ink = "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"
        weight = "bold" if trained == tested else "normal"
        text = words.number(value, form)
        axes.text(tested, trained, text, ha="center", va="center", fontsize=6.5, color=ink, fontweight=weight)
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names, rotation=90, va="center")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        for word, name in zip(labels, names, strict=True):
            word.set_color(dark(COLOURS[name]))
    return image


def _bar(figure: Figure, image: AxesImage, panels: list[Axes]) -> None:
    figure.colorbar(image, ax=panels, location="right", fraction=0.05, pad=0.015, aspect=34 * len(panels))
