"""Plots of a sweep: metrics against a setting with all agents, and maps of two settings.

Both need only the dataset of a sweep; see :mod:`whiffclock.runs.sweep`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from whiffclock.disk import reading
from whiffclock.drawing import style
from whiffclock.environments import PAPER, Environments, parse_environments
from whiffclock.formatting import number, plainly
from whiffclock.netcdf import read_dataset
from whiffclock.params import InputError, require

#: Metrics drawn by default.
METRICS = ("G", "T_min/T", "f+")
#: Labels of settings in plots, where they differ from the description.
LABELS = {
    "threshold": "whiff threshold (concentration)",
    "length": "length of the clock (moves)",
    "horizon": "horizon $H$ (moves)",
    "gamma": r"discount $\gamma$ in training",
    "episodes": "training episodes",
    "tau": r"blank threshold $\tau$ (moves)",
    "memory": "memory",
    "n": "observations in the window",
    "radius": "radius of the source (cells)",
    "start_threshold": "start threshold (concentration)",
    "start_on_whiff": "starts on a whiff",
    "evaluation_gamma": r"discount $\gamma$ in $G$",
    "evaluation_horizon": "longest search (moves)",
}
#: Values over more than this ratio have a logarithmic axis; the paper's four thresholds have a linear one.
_LESS_WIDE, _WIDE = 5, 10
#: More values than these do not each have a tick, or a name at a map.
_MOST_TICKS, _MOST_NAMES = 9, 12
#: Letters that have room side by side; points between the dots of two values of a setting.
_LETTERS, _APART = 24, 3.0
_GAMMAS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999)
#: Cells of a map that still have room for a number, along x and y.
_ROOM = (10, 14)


def plot_sweep(data: xr.Dataset, metric: str = "G", x: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw a metric of a sweep against a setting: a dot for every agent, and lines through their medians.

    Parameters
    ----------
    data
        What :func:`whiffclock.sweep` returned, or a part of it with one or two swept settings.
    metric
        "G", "T_min/T", "f+" or "G_sum".
    x
        The setting along x; default: the one with most values.
    ax
        Axes to draw into; default: new ones.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import whiffclock as wc
    >>> few = {"threshold": "dense", "length": [5, 50], "episodes": 500, "seeds": 2, "evaluation": {"snapshots": 1}}
    >>> ax = wc.plot_sweep(wc.sweep(few), "f+")
    >>> ax.get_xscale(), ax.get_xlabel()
    ('log', 'length of the clock (moves)')
    """
    ax = style.given_or_new(ax, 4.5, 3)
    axis, other = _axes_of(choose(data, {}), x)
    lines(ax, _metric(data, metric), axis, other)
    ax.set_ylabel(style.PERFORMANCE.get(metric) or plain(metric))
    if other is not None:
        ax.legend(title=label(data[other]), frameon=False)
    return ax


def load_sweep(path: Path) -> xr.Dataset:
    """The dataset of a sweep from its file."""
    data = read_dataset(path, "the result of a sweep")
    with reading(path, "the result of a sweep"):
        labelled = "sweep" in data.attrs and "seed" in data.dims and set(data.dims) <= set(data.coords)
        labelled = labelled and all(data.sizes.values())
        whole = all({*one.dims} == {*data.dims} and one.dtype.kind == "f" for one in measured(data).values())
        sound = labelled and whole and bool(measured(data))
    require(sound, f"{path} is not the result of a sweep; name a file that whiffclock sweep wrote.")
    return data


def measured(data: xr.Dataset) -> dict[str, xr.DataArray]:
    """The values of each metric."""
    return {one.attrs["metric"]: one for one in data.data_vars.values() if "metric" in one.attrs}


def choose(data: xr.Dataset, at: Mapping[str, Any]) -> xr.Dataset:
    """The part of a sweep where some settings have the given values; at most two others may be left."""
    for name, value in at.items():
        swept = [dim for dim in data.dims if dim != "seed"]
        require(name in swept, f"{name} is not swept in this result; swept settings: {_listed(swept)}.")
        values = data[name].values.tolist()
        found = [one for one in values if value == one or _same(value, one, data[name])]
        require(bool(found), f"{name} has no value {value} in this sweep; there are {_listed(map(text, values))}.")
        data = data.sel({name: found[0]})
    left = [dim for dim in data.dims if dim != "seed"]
    sentence = f"The sweep is over {_listed(left)}; a plot shows 2 of them: give one value of the others."
    require(len(left) <= 2, sentence)
    return data


def draw_lines(
    data: xr.Dataset, metrics: Sequence[str] = METRICS, x: str | None = None, title: str = "", level: str | None = None
) -> Figure:
    """Metrics against one setting: a dot per agent, lines through medians; a colour per value of a second setting.

    With ``level``, a value of the setting along x, the medians there are drawn as dotted lines across.
    """
    axis, other = _axes_of(data, x)
    reference = None if level is None else choose(data, {axis: level})
    figure = style.new_figure(_width(len(metrics)), 2.6 if len(metrics) == 1 else 2.2)
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        lines(panel, _metric(data, metric), axis, other)
        if reference is not None:
            levels(panel, _metric(reference, metric), other)
        panel.set_ylabel(style.PERFORMANCE.get(metric) or plain(metric))
    if title:
        figure.suptitle(plain(title), x=0.01, ha="left", fontsize=8)
    marked = [] if reference is None else [f"median at {text(reference[axis].item())}"]
    _legend(figure, data.sizes["seed"], marked, None if other is None else label(data[other]), below=bool(title))
    return figure


def _legend(figure: Figure, agents: int, marked: Sequence[str], heading: str | None, below: bool) -> None:
    """A legend of all panels: the second setting, dots and lines, and a level; a title takes the place above them."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    if agents > 1:
        handles += [
            Line2D([], [], ls="", marker="o", ms=2.2, mfc=style.GREY, mec="none"),
            Line2D([], [], color=style.GREY, marker="o", ms=2.4),
        ]
        names += ["agents", f"median of {agents}"]
    handles += [Line2D([], [], color=style.GREY, ls=":", lw=1) for _ in marked]
    names += marked
    if names:
        columns = min(len(names), 8 if len(figure.axes) > 1 else 3)
        place: Any = f"outside {'lower' if below else 'upper'} center"
        figure.legend(handles, names, title=heading, loc=place, ncols=columns)


def levels(panel: Axes, values: xr.DataArray, other: str | None) -> None:
    """The medians at one value of the setting along x, as lines across the panel."""
    medians = np.atleast_1d(ordered(values).median("seed").values)
    for median, colour in zip(medians, colours(ordered(values), other), strict=True):
        panel.axhline(median, color=colour, ls=":", lw=1, zorder=1)


def draw_map(data: xr.Dataset, metrics: Sequence[str] = METRICS, x: str | None = None) -> Figure:
    """Maps of metrics over two settings: the median over the agents, as colour and number."""
    axis, other = _axes_of(data, x)
    if other is None:
        raise InputError("A map needs two swept settings; this sweep has one.")
    columns, rows = data.sizes[axis], data.sizes[other]
    figure = style.new_figure(_width(len(metrics)), min(max(1.9, 1.1 + 0.28 * rows), 6.0))
    panels = figure.subplots(1, len(metrics), squeeze=False, sharey=True)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        cells(panel, _metric(data, metric), axis, other, numbers=columns <= _ROOM[0] and rows <= _ROOM[1])
        style.title(panel, text=style.PERFORMANCE.get(metric) or plain(metric))
    panels[0].set_ylabel(label(data[other]))
    agents = data.sizes["seed"]
    if agents > 1:
        figure.supxlabel(f"medians of {agents} agents", fontsize=6.5, color=style.GREY)
    return figure


def lines(panel: Axes, values: xr.DataArray, axis: str, other: str | None) -> None:
    """One panel of :func:`draw_lines`."""
    values = ordered(values)
    at = np.array(placed(panel, values[axis]))
    series = [values] if other is None else [values.isel({other: i}) for i in range(values.sizes[other])]
    names = [None] if other is None else texts(values[other])
    joined = 1.2 if values[axis].dtype.kind in "iuf" else 0.0  # there is nothing between two names
    beside = (np.arange(len(series)) - (len(series) - 1) / 2) * min(_APART, 8 / len(series)) / 72  # inches
    for one, name, colour, shift in zip(series, names, colours(values, other), beside, strict=True):
        by_agent = one.transpose(axis, "seed")
        moved = panel.transData + ScaledTranslation(shift, 0, panel.figure.dpi_scale_trans)
        line: dict[str, Any] = {"color": colour, "lw": joined, "marker": "o", "ms": 2.4, "zorder": 3, "label": name}
        dots: dict[str, Any] = {"ms": 2.2, "mfc": colour, "mec": "none", "alpha": 0.4, "zorder": 2}
        drawn = panel.plot(at, by_agent.median("seed"), **line)
        drawn += panel.plot(np.repeat(at, by_agent.sizes["seed"]), by_agent.values.ravel(), "o", **dots)
        for artist in drawn:  # moved once the limits are known
            artist.set_transform(moved)
    panel.set_xlabel(label(values[axis]))
    panel.margins(y=0.08)


def placed(panel: Axes, setting: xr.DataArray) -> list[float]:
    """Places of the values of a setting along x, on the axis that suits them: logarithmic for a wide range."""
    values, numeric, name = setting.values, setting.dtype.kind in "iuf", str(setting.name)
    if not numeric:
        values = np.arange(len(values))
    elif name.endswith("gamma") and (values < 1).all():
        panel.set_xscale("function", functions=(_from_gamma, _to_gamma))
        panel.xaxis.set_major_locator(FixedLocator(_GAMMAS))
    elif values.min() > 0 and values.max() / values.min() >= (_WIDE if named_environments(setting) else _LESS_WIDE):
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(float(value))))
    if len(values) <= _MOST_TICKS or not numeric:
        name_ticks(panel, values.tolist(), texts(setting))
    return [float(value) for value in values]


def _from_gamma(gamma: np.ndarray) -> np.ndarray:
    """Discounts by the logarithm of the time that they look ahead, 1 / (1 - gamma)."""
    return -np.log10(1 - np.minimum(gamma, 1 - 1e-12))


def _to_gamma(place: np.ndarray) -> np.ndarray:
    return 1 - 10**-place


def name_ticks(panel: Axes, at: Sequence[float], names: Sequence[str]) -> None:
    """Ticks along x, slanting where their names would touch, and only some of them where there are many."""
    every = -(-len(names) // _MOST_NAMES)
    crowded = sum(map(len, names[::every])) > _LETTERS
    how: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    panel.set_xticks(at[::every], names[::every], **how)


def cells(panel: Axes, values: xr.DataArray, axis: str, other: str, numbers: bool) -> None:
    """One panel of :func:`draw_map`."""
    values = ordered(values)
    medians = values.median("seed").transpose(other, axis).values
    rows, columns = medians.shape
    image = panel.imshow(medians, origin="lower", aspect="auto", cmap="cividis")
    name_ticks(panel, range(columns), texts(values[axis]))
    every = -(-rows // (2 * _MOST_NAMES))
    panel.set_yticks(range(0, rows, every), texts(values[other])[::every])
    panel.spines[:].set_visible(False)
    panel.set_xlabel(label(values[axis]))
    panel.tick_params(length=0)
    if not numbers:
        panel.figure.colorbar(image, ax=panel, pad=0.02, ticks=MaxNLocator(5))
        return
    for border in range(1, max(rows, columns)):
        for draw in [panel.axvline] * (border < columns) + [panel.axhline] * (border < rows):
            draw(border - 0.5, color="white", lw=0.8)
    for (row, column), median in np.ndenumerate(medians):
        light = sum(image.cmap(image.norm(median))[:3]) / 3 > 0.5
        ink = style.INK if light else "white"
        panel.text(column, row, number(median, ".2f", terse=True), ha="center", va="center", color=ink, fontsize=6)


def label(setting: xr.DataArray) -> str:
    """The label of a setting in a plot."""
    name = str(setting.name)
    about = str(setting.attrs.get("long_name") or name.replace("_", " "))
    return "environment" if named_environments(setting) else LABELS.get(name) or plain(about[:1].lower() + about[1:])


def texts(setting: xr.DataArray) -> list[str]:
    """The values of a setting as tick labels."""
    values = setting.values.tolist()
    if named_environments(setting):
        return [environments(setting).name_of(value) for value in values]
    return [plain(Path(value).stem if setting.name == "plume" else text(value)) for value in values]


def plain(text: str) -> str:
    """A text from a file for matplotlib, which would take what is between two dollars for mathematics."""
    return text.replace("$", r"\$")


def text(value: Any) -> str:
    """A value as a tick label: yes, 0.998, 500, 2e5."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) or (isinstance(value, int) and abs(value) < 10_000):
        return str(value)
    return plainly(value, digits=4)


def named_environments(setting: xr.DataArray) -> bool:
    """Whether these are thresholds of the plume's environments."""
    return setting.name == "threshold" and set(setting.values.tolist()) <= set(environments(setting).values())


def environments(setting: xr.DataArray) -> Environments:
    """The environments of a swept threshold; older files have the paper's."""
    text = str(setting.attrs.get("environments", ""))
    return Environments(parse_environments(text, "The text of the environments")) if text else PAPER


def ordered(values: xr.DataArray) -> xr.DataArray:
    """The same with numbers ascending along each setting; others stay as they are."""
    return values.sortby([dim for dim in values.dims if values[dim].dtype.kind in "iuf"])


def colours(values: xr.DataArray, name: str | None) -> list[str]:
    """A colour for each value of a setting: those of the environments, or shades in order."""
    if name is None:
        return [style.dark(style.COLOURS["denser"])]
    if named_environments(values[name]):
        shades = style.colours(environments(values[name]))
        return [style.dark(shades[one]) for one in texts(values[name])]
    return [to_hex(shade) for shade in matplotlib.colormaps["viridis"](np.linspace(0, 0.85, values.sizes[name]))]


def _axes_of(data: xr.Dataset, x: str | None) -> tuple[str, str | None]:
    """The setting along x, and the other one, if there is one."""
    swept = [str(dim) for dim in data.dims if dim != "seed"]
    require(bool(swept), "This sweep has no swept setting, so there is nothing to draw.")
    require(x is None or x in swept, f"{x} is not swept in this result; swept settings: {_listed(swept)}.")
    numeric = [name for name in swept if data[name].dtype.kind in "iuf"] or swept
    along = x or max(numeric, key=lambda name: data.sizes[name])
    return along, next((name for name in swept if name != along), None)


def _metric(data: xr.Dataset, metric: str) -> xr.DataArray:
    known = measured(data)
    require(metric in known, f"There is no metric called {metric}; there are {_listed(known)}.")
    return known[metric]


def _width(panels: int) -> float:
    return style.ONE_COLUMN if panels == 1 else style.TWO_COLUMNS


def _listed(names: Any) -> str:
    return ", ".join(map(str, names))


def _same(given: Any, value: Any, setting: xr.DataArray) -> bool:
    """Whether a text names a value of a setting: the name of an environment, or the same number."""
    if str(given) == text(value) or (setting.name == "threshold" and environments(setting).get(str(given)) == value):
        return True
    try:
        return not isinstance(value, bool | str) and float(given) == value
    except ValueError:
        return False
