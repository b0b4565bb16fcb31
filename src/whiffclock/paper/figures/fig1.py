"""Fig. 1, the setting: odor, clock, environments, learning, starts."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.drawing import style
from whiffclock.drawing.plane import draw_search, source, wind
from whiffclock.paper.dataset import SINGLE, TWO, Datasets, at_home, trained
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.chains import draw_clock
from whiffclock.paper.figures.maps import draw_map, extent, plume_note

TITLE = "The setting: an odor plume, an agent with a clock, environments"
NEEDS = (*at_home(SINGLE), *trained(TWO))

#: The last intervals of a learning curve that the caption averages, and the number of points that are drawn.
_LAST, _POINTS = 10, 60
_DASHES = (0, (3, 1.5))


def draw(data: Datasets) -> Figure:
    setting = data["setting"]
    places = len(data.environments)
    tall = 4.7 * max(1, (places + 1) / 5)
    figure = style.new_figure(style.TWO_COLUMNS, 1.8 + tall)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.75, tall], width_ratios=[1, 1.12])
    _search(figure, figure.add_subplot(grid[0, :]), data)
    maps = np.asarray(grid[1, 1].subgridspec(places + 1, 1).subplots())
    for axes, name in zip(maps, data.environments, strict=False):
        _environment(axes, data, name)
    clock, saw, curves = np.asarray(grid[1, 0].subgridspec(3, 1, height_ratios=[1.15, 1.1, 2.2]).subplots())
    draw_clock(clock, data.facts["horizon"])
    style.title(clock, "b", "The clock: moves since the last whiff")
    _sawtooth(saw, data)
    _curves(curves, data)
    _shares(maps[-1], data, setting["mask"], style.tint(style.GREY, 0.55))
    style.title(maps[-1], "e", f"Where searches start: {setting.attrs['start_cells']:,} cells")
    maps[-1].set_xlabel("x downwind of the source (cells)")
    return figure


def caption(data: Datasets) -> str:
    whiffs = int(data["setting"]["search"].sel(quantity="whiff").sum())
    return captions.caption("fig1", data)(**data["setting"].attrs, **_example(data), whiffs=whiffs, points=_LAST)


def table(data: Datasets) -> captions.Table:
    rewards = {f"{kind}, reward G at the end of training": (_last(data, kind), ".2f") for kind in (SINGLE, TWO)}
    return captions.table({"cells with a whiff (%)": (_filled(data), ".1f")} | rewards)


def alt(data: Datasets) -> str:
    filled, last = captions.ends(_filled(data), ".1f", "per cent"), captions.ends(_last(data, SINGLE))
    return captions.caption("fig1_alt", data)(**_example(data), filled=filled, last=last)


def _example(data: Datasets) -> dict[str, Any]:
    setting = data["setting"]
    outcome = "reaches the source region" if setting.attrs["search_arrived"] else "does not arrive"
    return {"outcome": outcome, "moves": setting["search"].sizes["moment"] - 1}


def _filled(data: Datasets) -> xr.DataArray:
    """Share of cells with a whiff, in per cent."""
    return 100 * data["setting"]["whiff"].mean(["x", "y"])


def _last(data: Datasets, kind: str) -> xr.DataArray:
    """Mean reward over the last points of the learning curves."""
    rewards = data["setting"]["curve"].sel(kind=kind, column="G")
    return rewards.isel(point=slice(-_LAST, None)).mean("point")


def _search(figure: Figure, axes: Axes, data: Datasets) -> None:
    setting, radius = data["setting"], data.facts["radius"]
    field, environment = setting["concentration"], setting.attrs["search_environment"]
    highest = float(field.max()) or 1.0
    norm = LogNorm(1e-3 * highest, highest)
    image = draw_map(axes, data, field.where(field >= 1e-3 * highest), norm=norm, cmap="Greys")
    bar = figure.colorbar(image, cax=axes.inset_axes((1.01, 0, 0.012, 1)))
    bar.set_label("concentration")
    x, y, whiff = (setting["search"].sel(quantity=name).values for name in ("x", "y", "whiff"))
    x, y = x - data.facts["source"][0], y - data.facts["source"][1]
    draw_search(axes, x, y, whiff > 0, style.colours(data.environments)[environment])
    axes.annotate("agent", (x[0], y[0]), xytext=(6, 5), textcoords="offset points", fontsize=7, color=style.INK,
                  bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8})  # fmt: skip
    source(axes, radius)
    wind(axes, 0.985, 0.9)
    left, right, bottom, top = extent(data, field)
    axes.set(xlim=(min(left, -1.5 * radius), right), ylim=(bottom, top), aspect="equal")
    axes.set(xlabel="x downwind of the source (cells)", ylabel="y across (cells)")
    style.title(axes, "a", f"A search in the {environment} environment")
    plume_note(axes, data)


def _environment(axes: Axes, data: Datasets, name: str) -> None:
    here, colour = data["setting"].sel(environment=name), style.colours(data.environments)[name]
    _shares(axes, data, here["probability"], style.tint(colour, 0.45))
    whiffs = here["whiff"].where(here["whiff"] > 0)
    draw_map(axes, data, whiffs, cmap=LinearSegmentedColormap.from_list(name, [style.dark(colour)] * 2))
    limit = f"{data.environments[name]:g}".replace("e-0", "e−")
    letter = "c" if name == data.environments.names[0] else ""
    style.title(axes, letter, f"{name}: whiff if c ≥ {limit}", style.dark(colour))
    axes.tick_params(labelbottom=False)


def _shares(axes: Axes, data: Datasets, cells: xr.DataArray, colour: str) -> None:
    """Cells from white (0) to a colour (1)."""
    shades = LinearSegmentedColormap.from_list(colour, ["white", colour])
    draw_map(axes, data, cells, cmap=shades, vmin=0, vmax=1)
    plume_note(axes, data)
    axes.set_ylabel("y (cells)")


def _sawtooth(axes: Axes, data: Datasets) -> None:
    setting = data["setting"]
    colour = style.colours(data.environments)[setting.attrs["search_environment"]]
    clock, whiff = (setting["search"].sel(quantity=name).values for name in ("clock", "whiff"))
    step = np.arange(len(clock))
    axes.fill_between(step, clock, color=style.PALE, lw=0, step="mid")
    axes.step(step, clock, color=style.dark(colour), lw=0.9, where="mid")
    axes.plot(step[whiff > 0], np.zeros(int((whiff > 0).sum())), "o", ms=2.2, color=style.INK, clip_on=False, zorder=4)
    axes.set(xlim=(0, max(len(clock) - 1, 1)), ylim=(0, max(float(clock.max()) * 1.12, 1)))
    axes.set(xlabel="moves since the start of the search in (a)", ylabel="clock $s$ (moves)")


def _curves(axes: Axes, data: Datasets) -> None:
    curve, looks, colours = data["setting"]["curve"], {SINGLE: "-", TWO: _DASHES}, style.colours(data.environments)
    for name, colour in colours.items():
        for kind, dashes in looks.items():
            here = curve.sel(trained=name, kind=kind).transpose("column", "agent", "point")
            episodes = _coarse(here.sel(column="episode").max("agent").values) / 1e3
            rewards = _coarse(here.sel(column="G").values)
            axes.plot(episodes, np.median(rewards, axis=0), color=colour, ls=dashes, lw=0.9)
            if kind == SINGLE:
                axes.fill_between(episodes, rewards.min(0), rewards.max(0), color=colour, alpha=0.18, lw=0)
    axes.set_xlim(0, float(curve.sel(column="episode", kind=SINGLE).max()) / 1e3)
    axes.set(xlabel="training episodes (thousands)", ylabel="mean reward $G$ per episode")
    style.title(axes, "d", "Learning", pad=8)
    handles = [Line2D([], [], color=colour, label=name) for name, colour in colours.items()]
    handles += [Line2D([], [], color=style.GREY, ls=dashes, label=kind) for kind, dashes in looks.items()]
    axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, columnspacing=1.2)


def _coarse(values: np.ndarray) -> np.ndarray:
    """Means over neighbouring intervals, along the last axis, so that few points remain."""
    points = values.shape[-1]
    return np.stack([part.mean(axis=-1) for part in np.array_split(values, min(points, _POINTS), axis=-1)], axis=-1)
