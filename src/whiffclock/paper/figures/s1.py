"""Fig. S1, generalization in every measure: agents trained in one environment and tested in all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from whiffclock.drawing import style
from whiffclock.paper.dataset import SINGLE, TWO, Datasets, at_home, elsewhere
from whiffclock.paper.figures import captions

TITLE = "Generalization in reward, speed and success"
NEEDS = (*at_home(SINGLE, TWO), *elsewhere(SINGLE, TWO))

#: In more environments, there is no room for notes.
_NOTED = 4
_BAR: dict[str, Any] = {"location": "right", "fraction": 0.05, "pad": 0.015}


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 6.6)
    grid, names = figure.subplots(3, 3), data.environments.names
    for j, metric in enumerate(style.PERFORMANCE):
        single, two = (_agents(data, kind, metric) for kind in (SINGLE, TWO))
        middles = [np.median(agents, axis=0) for agents in (single, two)]
        low, high = np.min(middles), max(np.max(middles), np.min(middles) + 1e-6)
        for axes, agents, middle in zip(grid[:2, j], (single, two), middles, strict=True):
            quartiles = np.quantile(agents, [0.25, 0.75], axis=0).transpose(1, 2, 0)
            notes = [["–".join(_short(end) for end in pair) for pair in row] for row in quartiles]
            image = matrix(axes, names, middle, ".2f", notes, vmin=low, vmax=high, cmap="viridis")
        figure.colorbar(image, ax=list(grid[:2, j]), aspect=68, **_BAR)
        difference = middles[1] - middles[0]
        most = max(float(np.abs(difference).max()), 1e-6)
        better = (two[:, None] > single).mean(axis=(0, 1))
        notes = [[f"{share:.0%}" for share in row] for row in better]
        image = matrix(grid[2, j], names, difference, "+.2f", notes, vmin=-most, vmax=most, cmap="PRGn")
        figure.colorbar(image, ax=grid[2, j], aspect=34, **_BAR)
    headings = [f"{row}: {label}" for row in (SINGLE, TWO, "difference") for label in style.PERFORMANCE.values()]
    for letter, axes, text in zip("abcdefghi", grid.flat, headings, strict=True):
        style.title(axes, letter, text)
        axes.tick_params(labelleft=axes in grid[:, 0], labelbottom=axes in grid[-1])
        axes.set(xlabel="tested in" if axes in grid[-1] else "", ylabel="trained in" if axes in grid[:, 0] else "")
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("s1", data)()


def table(data: Datasets) -> captions.Table:
    gains = {metric: _gains(data, metric).mean("tested") for metric in style.PERFORMANCE}
    names = {"G": "G", "T_min/T": "Tₘᵢₙ/T", "f+": "f⁺"}
    return captions.table({f"two-Q minus single-Q, {names[m]}": (gain, "+.3f") for m, gain in gains.items()})


def alt(data: Datasets) -> str:
    gains, single = _gains(data, "G"), _medians(data, SINGLE, "G")
    return captions.caption("s1_alt", data)(
        lowest=captions.number(float(single.min())),
        highest=captions.number(float(single.max())),
        higher=int((gains > 0).sum()),
        pairs=gains.size,
    )


def _short(value: float) -> str:
    """Without the zero before the point."""
    return captions.number(value).replace("0.", ".", 1)


def _gains(data: Datasets, metric: str) -> xr.DataArray:
    return _medians(data, TWO, metric) - _medians(data, SINGLE, metric)


def _medians(data: Datasets, kind: str, metric: str) -> xr.DataArray:
    """float[trained, tested]."""
    return data.searches["mean"].sel(kind=kind, metric=metric).median("agent").transpose("trained", "tested")


def _agents(data: Datasets, kind: str, metric: str) -> np.ndarray:
    """float[agent, trained, tested]."""
    return data.searches["mean"].sel(kind=kind, metric=metric).transpose("agent", "trained", "tested").values


def matrix(
    axes: Axes,
    names: Sequence[str],
    values: np.ndarray,
    form: str,
    notes: list[list[str]],
    more: Sequence[str] = (),
    **looks: Any,
) -> AxesImage:
    """Numbers [trained, tested] as colours, with a note below each if there is room; ``more`` names further rows."""
    image, crowded = axes.imshow(values, aspect="auto", **looks), len(names) > _NOTED
    for (trained, tested), value in np.ndenumerate(values):
        red, green, blue, _ = image.cmap(image.norm(value))
        ink: dict[str, Any] = {"color": "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"}
        weight, text = "bold" if trained == tested else "normal", captions.number(value, form)
        ink |= {"ha": "center", "fontsize": style.SMALLEST}
        if crowded:
            axes.text(tested, trained, text.replace("0.", ".", 1), va="center", fontweight=weight, **ink)
            continue
        axes.text(tested, trained - 0.02, text, va="bottom", fontweight=weight, **ink)
        axes.text(tested, trained + 0.1, notes[trained][tested], va="top", **ink)
    axes.set_xticks(range(len(names)), names, rotation=40 if crowded else 0)
    axes.set_yticks(range(len(values)), [*names, *more], rotation=0 if crowded else 90, va="center")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()[: len(names)]):
        for word, colour in zip(labels, style.colours(names).values(), strict=True):
            word.set_color(style.dark(colour))
    return image
