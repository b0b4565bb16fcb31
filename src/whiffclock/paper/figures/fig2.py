"""Fig. 2, performance: ensembles of Q-agents and two baselines, in four environments."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.drawing import style
from whiffclock.drawing.boxes import Fill, box, key
from whiffclock.paper.dataset import BAYES, CAST, HEURISTIC, SINGLE, TWO, Datasets, where_trained
from whiffclock.paper.figures import captions

TITLE = "Performance of the clock agents and two baselines"
NEEDS = ("single-Q tests", "two-Q tests", "2Q^h", "cast-and-surge", "Bayesian searches", "single-Q, twice as long")

_KINDS: dict[str, Fill] = {SINGLE: "filled", TWO: "open", HEURISTIC: "hatched"}
#: Where both lie at 1, the dashes are drawn above the line.
_BASELINES: dict[str, dict[str, Any]] = {BAYES: {"color": style.INK}, CAST: {"color": "#B48CC8", "ls": (0, (3, 1.5))}}
_ALL = (*_KINDS, *_BASELINES)


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.ONE_COLUMN, 5.6)
    for letter, axes, (metric, label) in zip("abc", figure.subplots(3, 1), style.PERFORMANCE.items(), strict=True):
        _metric(axes, data, metric)
        axes.set_ylabel(label)
        style.title(axes, letter)
    count = f", n = {data.facts['seeds']}"
    handles: list = [key(kind.replace("^h", "$^h$") + count, fill) for kind, fill in _KINDS.items()]
    handles += [Line2D([], [], label=kind, **looks) for kind, looks in _BASELINES.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("fig2", data)()


def table(data: Datasets) -> captions.Table:
    columns: dict[str, Any] = {}
    for kind in _ALL:
        found = [_agents(data, kind, metric) for metric in style.PERFORMANCE]
        columns[kind.replace("^h", "ʰ")] = found, ".2f"
    return captions.table(columns | {"half-angle (°)": (data.searches["cast_angle"], ".0f")})


def alt(data: Datasets) -> str:
    single, cast, bayes = (captions.medians(_agents(data, kind, "G")) for kind in (SINGLE, CAST, BAYES))
    return captions.caption("fig2_alt", data)(
        single=captions.ends(single),
        above=captions.places(single > cast),
        below=captions.places(single < bayes),
        arrivals=captions.ends(_agents(data, SINGLE, "f+")),
    )


def _agents(data: Datasets, kind: str, metric: str) -> xr.DataArray:
    """Of a baseline, its one agent."""
    found = where_trained(data.searches["mean"], kind).sel(metric=metric)
    return found.sel(agent=[0]) if kind in _BASELINES else found


def _metric(axes: Axes, data: Datasets, metric: str) -> None:
    agents = {kind: _agents(data, kind, metric) for kind in _ALL}
    strata = {kind: where_trained(data.searches["strata"], kind).sel(metric=metric, agent=0) for kind in _BASELINES}
    for e, (name, colour) in enumerate(style.COLOURS.items()):
        for kind, looks in _BASELINES.items():
            mean = float(agents[kind].sel(environment=name, agent=0))
            _baseline(axes, e, mean, strata[kind].sel(environment=name).values, looks)
        for j, (kind, fill) in enumerate(_KINDS.items()):
            box(axes, e + 0.27 * (j - 1), agents[kind].sel(environment=name).values, colour, fill, 0.21)
    style.environment_axis(axes, borders=True)
    if metric == "f+":  # lines at 1 must not lie on the border
        axes.set_ylim(top=1 + 0.04 * (1 - axes.get_ylim()[0]))


def _baseline(axes: Axes, e: int, mean: float, strata: np.ndarray, looks: dict[str, Any]) -> None:
    """A line across one environment, with its standard error over time strata."""
    error = strata.std(ddof=1) / np.sqrt(len(strata)) if len(strata) > 1 else np.nan
    x = [e - 0.45, e + 0.45]
    axes.fill_between(x, mean - error, mean + error, color=looks["color"], alpha=0.2, lw=0)
    axes.plot(x, [mean, mean], lw=1.1, solid_capstyle="butt", zorder=3.5, **looks)
