"""Fig. 2, performance: ensembles of Q-agents beside two baselines, in four environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.paper.dataset import (
    BAYES,
    CAST,
    ENVIRONMENT_NAMES,
    HEURISTIC,
    SINGLE,
    TWO,
    Datasets,
    at_home,
    by_environment,
)
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import Fill, box, key

TITLE = "Performance of the clock agents beside two baselines"
NEEDS = ("single-Q at home", "two-Q at home", "2Q^h", "cast-and-surge", "Bayesian searches")

_KINDS: dict[str, tuple[str, Fill]] = {
    SINGLE: ("single-Q", "filled"),
    TWO: ("two-Q", "open"),
    HEURISTIC: ("2Q$^h$", "hatched"),
}
_BASELINES: dict[str, dict[str, Any]] = {CAST: {"color": "#8C6D9E", "ls": (0, (3, 1.5))}, BAYES: {"color": style.INK}}


def draw(data: Datasets) -> Figure:
    """The figure."""
    figure = style.new_figure(style.ONE_COLUMN, 5.6)
    panels = figure.subplots(3, 1)
    for letter, axes, metric in zip("abc", panels, style.PERFORMANCE, strict=True):
        _metric(axes, data, metric)
        axes.set_ylabel(style.PERFORMANCE[metric])
        style.title(axes, letter)
    handles: list = [key(label, fill) for label, fill in _KINDS.values()]
    handles += [Line2D([], [], label=kind, **looks) for kind, looks in _BASELINES.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def caption(data: Datasets) -> str:
    """What the figure shows, with its numbers."""
    arrivals = {kind: words.medians(at_home(data.searches["mean"], kind).sel(metric="f+")) for kind in _KINDS}
    returns = {kind: at_home(data.searches["mean"], kind).sel(metric="G") for kind in (SINGLE, CAST, BAYES)}
    angles = by_environment(data.searches["cast_angle"], "tested")
    return (
        "How well agents do in the environment they were trained in: mean return, speed relative to the shortest "
        "way (0 on failure), and share of searches that arrive. Boxes: quartiles over agents; points: agents, "
        "or only those beyond the whiskers where there are many. Violet dashes: cast-and-surge with its best "
        f"half-angle, {words.each(angles, '.0f')} degrees; bands: one standard error. "
        f"Black lines: the Bayesian agent, over {data.facts['bayes_starts']:,} of the starts; its returns: "
        f"{words.each(returns[BAYES].sel(agent=0))}. "
        f"Median returns of single-Q agents: {words.medians(returns[SINGLE])}; cast-and-surge: "
        f"{words.each(returns[CAST].sel(agent=0))}. Median success rates: single-Q {arrivals[SINGLE]}; "
        f"two-Q {arrivals[TWO]}; 2Qʰ, made of agents from two environments and not trained further, "
        f"{arrivals[HEURISTIC]}. {words.run(data)}"
    )


def _metric(axes: Axes, data: Datasets, metric: str) -> None:
    agents = {kind: at_home(data.searches["mean"], kind).sel(metric=metric) for kind in (*_KINDS, *_BASELINES)}
    strata = {kind: at_home(data.searches["strata"], kind).sel(metric=metric, agent=0) for kind in _BASELINES}
    for e, name in enumerate(ENVIRONMENT_NAMES):
        for kind, looks in _BASELINES.items():
            mean = float(agents[kind].sel(environment=name, agent=0))
            _baseline(axes, e, mean, strata[kind].sel(environment=name).values, looks)
        for j, (kind, (_, fill)) in enumerate(_KINDS.items()):
            box(axes, e + 0.27 * (j - 1), agents[kind].sel(environment=name).values, style.COLOURS[name], fill, 0.21)
    style.environment_axis(axes, borders=True)


def _baseline(axes: Axes, e: int, mean: float, strata: np.ndarray, looks: dict[str, Any]) -> None:
    """A line across one environment, with its standard error over time strata."""
    error = strata.std(ddof=1) / np.sqrt(len(strata)) if len(strata) > 1 else np.nan
    x = [e - 0.45, e + 0.45]
    axes.fill_between(x, mean - error, mean + error, color=looks["color"], alpha=0.2, lw=0)
    axes.plot(x, [mean, mean], lw=1.1, solid_capstyle="butt", **looks)
