"""Fig. 2, performance: ensembles of Q-agents beside two baselines, in four environments."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.paper.dataset import BAYES, CAST, HEURISTIC, SINGLE, TWO, Datasets, at_home
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import Fill, box, key

TITLE = "Performance of the clock agents beside two baselines"
NEEDS = ("single-Q at home", "two-Q at home", "2Q^h", "cast-and-surge", "Bayesian searches", "single-Q, twice as long")

_KINDS: dict[str, Fill] = {SINGLE: "filled", TWO: "open", HEURISTIC: "hatched"}
_BASELINES: dict[str, dict[str, Any]] = {CAST: {"color": "#8C6D9E", "ls": (0, (3, 1.5))}, BAYES: {"color": style.INK}}
_ALL = (*_KINDS, *_BASELINES)


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.ONE_COLUMN, 5.6)
    for letter, axes, (metric, label) in zip("abc", figure.subplots(3, 1), style.PERFORMANCE.items(), strict=True):
        _metric(axes, data, metric)
        axes.set_ylabel(label)
        style.title(axes, letter)
    handles: list = [key(kind.replace("^h", "$^h$"), fill) for kind, fill in _KINDS.items()]
    handles += [Line2D([], [], label=kind, **looks) for kind, looks in _BASELINES.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def caption(data: Datasets) -> str:
    returns, arrivals = ({kind: _agents(data, kind, metric) for kind in _ALL} for metric in ("G", "f+"))
    return words.caption("fig2", data)(
        angles=words.each(data.searches["cast_angle"], ".0f"),
        bayes_returns=words.each(returns[BAYES].sel(agent=0)),
        cast_returns=words.each(returns[CAST].sel(agent=0)),
        single_returns=words.medians(returns[SINGLE]),
        arrivals=[words.medians(arrivals[kind]) for kind in _KINDS],
    )


def _agents(data: Datasets, kind: str, metric: str) -> xr.DataArray:
    return at_home(data.searches["mean"], kind).sel(metric=metric)


def _metric(axes: Axes, data: Datasets, metric: str) -> None:
    agents = {kind: _agents(data, kind, metric) for kind in _ALL}
    strata = {kind: at_home(data.searches["strata"], kind).sel(metric=metric, agent=0) for kind in _BASELINES}
    for e, (name, colour) in enumerate(style.COLOURS.items()):
        for kind, looks in _BASELINES.items():
            mean = float(agents[kind].sel(environment=name, agent=0))
            _baseline(axes, e, mean, strata[kind].sel(environment=name).values, looks)
        for j, (kind, fill) in enumerate(_KINDS.items()):
            box(axes, e + 0.27 * (j - 1), agents[kind].sel(environment=name).values, colour, fill, 0.21)
    style.environment_axis(axes, borders=True)


def _baseline(axes: Axes, e: int, mean: float, strata: np.ndarray, looks: dict[str, Any]) -> None:
    """A line across one environment, with its standard error over time strata."""
    error = strata.std(ddof=1) / np.sqrt(len(strata)) if len(strata) > 1 else np.nan
    x = [e - 0.45, e + 0.45]
    axes.fill_between(x, mean - error, mean + error, color=looks["color"], alpha=0.2, lw=0)
    axes.plot(x, [mean, mean], lw=1.1, solid_capstyle="butt", **looks)
