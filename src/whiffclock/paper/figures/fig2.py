"""Fig. 2, performance: ensembles of agents as boxes, and kinds of one agent as lines."""

from itertools import cycle
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.drawing import style
from whiffclock.drawing.boxes import Fill, box, key
from whiffclock.paper import dataset as ds
from whiffclock.paper.dataset import Datasets, drawn_kinds, where_trained
from whiffclock.paper.figures import captions

TITLE = "Performance of the clock agents and two baselines"
NEEDS = ds.at_home(ds.SINGLE, ds.TWO, ds.HEURISTIC, ds.CAST, ds.BAYES, ds.LONGER)

#: Fills of the boxes, and looks of the lines, in the order of the kinds in the datasets; then they begin again.
_FILLS: tuple[Fill, ...] = ("filled", "open", "hatched", "solid")
_LINES: tuple[dict[str, Any], ...] = (
    style.CAST_LINE,
    style.BAYES_LINE,
    {"color": style.SOURCE, "ls": (0, (1, 1))},
)


#: From this length on, labels leave room for two columns of the legend only.
_LONG = 20


def _boxes(data: Datasets) -> dict[str, Fill]:
    return dict(zip(drawn_kinds(data, "box"), cycle(_FILLS), strict=False))


def _lines(data: Datasets) -> dict[str, dict[str, Any]]:
    """Where two lie at 1, dashes are drawn above the line, so the first kind comes last."""
    return dict(reversed([*zip(drawn_kinds(data, "line"), cycle(_LINES), strict=False)]))


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.ONE_COLUMN, 5.6)
    for letter, axes, (metric, label) in zip("abc", figure.subplots(3, 1), style.PERFORMANCE.items(), strict=True):
        _metric(axes, data, metric)
        axes.set_ylabel(label)
        style.title(axes, letter)
    counts = {kind: agents_of(data, kind, "G").sizes["agent"] for kind in _boxes(data)}
    labels = {kind: f"{kind.replace('^h', '$^h$')}, n = {count}" for kind, count in counts.items()}
    handles: list = [key(labels[kind], fill) for kind, fill in _boxes(data).items()]
    handles += [Line2D([], [], label=kind, **looks) for kind, looks in _lines(data).items()]
    wide = max(map(len, labels.values()), default=0) >= _LONG
    figure.legend(handles=handles, loc="outside upper center", ncols=3 - wide, columnspacing=1.2 - 0.6 * wide)
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("fig2", data)()


def table(data: Datasets) -> captions.Table:
    columns: dict[str, Any] = {}
    for kind in (*_boxes(data), *_lines(data)):
        found = [agents_of(data, kind, metric) for metric in style.PERFORMANCE]
        columns[kind.replace("^h", "ʰ")] = found, ".2f"
    return captions.table(columns | {"half-angle (°)": (data.searches["cast_angle"], ".0f")})


def alt(data: Datasets) -> str:
    single, cast, bayes = (captions.medians(agents_of(data, kind, "G")) for kind in (ds.SINGLE, ds.CAST, ds.BAYES))
    return captions.caption("fig2_alt", data)(
        kinds=captions.count(len(_boxes(data))),
        single=captions.ends(single),
        above=captions.places(single > cast),
        below=captions.places(single < bayes),
        arrivals=captions.ends(agents_of(data, ds.SINGLE, "f+")),
    )


def agents_of(data: Datasets, kind: str, metric: str) -> xr.DataArray:
    """The agents that there are of a kind; of one that is a line, its one agent."""
    found = where_trained(data.searches["mean"], kind).sel(metric=metric)
    return found.sel(agent=[0]) if kind in drawn_kinds(data, "line") else found.dropna("agent", how="all")


def _metric(axes: Axes, data: Datasets, metric: str) -> None:
    boxes, lines = _boxes(data), _lines(data)
    agents = {kind: agents_of(data, kind, metric) for kind in (*boxes, *lines)}
    strata = {kind: where_trained(data.searches["strata"], kind).sel(metric=metric, agent=0) for kind in lines}
    room = 0.81 / max(1, len(boxes))
    for e, (name, colour) in enumerate(style.colours(data.environments).items()):
        for kind, looks in lines.items():
            mean = float(agents[kind].sel(environment=name, agent=0))
            _baseline(axes, e, mean, strata[kind].sel(environment=name).values, looks)
        for j, (kind, fill) in enumerate(boxes.items()):
            at, values = e + room * (j - (len(boxes) - 1) / 2), agents[kind].sel(environment=name).values
            box(axes, at, values, colour, fill, 0.78 * room)
    style.environment_axis(axes, data.environments.names, rotate=len(data.environments) > 5, borders=True)
    if metric == "f+":  # lines at 1 must not lie on the border
        axes.set_ylim(top=1 + 0.04 * (1 - axes.get_ylim()[0]))


def _baseline(axes: Axes, e: int, mean: float, strata: np.ndarray, looks: dict[str, Any]) -> None:
    """A line across one environment, with its standard error over time strata."""
    error = strata.std(ddof=1) / np.sqrt(len(strata)) if len(strata) > 1 else np.nan
    x = [e - 0.45, e + 0.45]
    axes.fill_between(x, mean - error, mean + error, color=looks["color"], alpha=0.2, lw=0)
    axes.plot(x, [mean, mean], lw=1.1, solid_capstyle="butt", zorder=3.5, **looks)
