"""Fig. 8, the Bayesian agent's recovery: the geometry of its paths after many different histories."""

from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whiffclock.drawing import style
from whiffclock.drawing.violins import nothing, violin
from whiffclock.paper.dataset import BAYES, Datasets, Need, branches_in, effective_searches, in_each
from whiffclock.paper.figures import captions
from whiffclock.quantiles import weighted_quantiles

TITLE = "How the Bayesian agent searches for a lost plume"
NEEDS = (Need(BAYES, "branched"),)

#: Share of the weight in the long upper tails that is not drawn.
_TAIL = 0.005
#: Quantiles with a line across.
_ENDS = [0.1, 0.9]


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 2.3)
    panels = figure.subplots(1, len(style.GEOMETRY_LABELS))
    for letter, axes, (metric, (label, unit)) in zip("abcde", panels, style.GEOMETRY_LABELS.items(), strict=True):
        style.environment_axis(axes, data.environments.names, rotate=True)
        axes.set_ylabel(f"{label} ({unit})")
        style.title(axes, letter)
        if data["branches"]["weight"].any():
            _violins(axes, data, metric)
        else:
            style.empty(axes, "no whiff\nto branch\nfrom")
            axes.tick_params(labelbottom=True)
    shares = {name: _never(data, name) for name in data.environments}
    if any(shares.values()):
        for e, (name, share) in enumerate(shares.items()):
            panels[-1].annotate(
                f"{100 * share:.0f}%", (e, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                fontsize=style.SMALLEST, color=style.dark(style.colours(shares)[name]),
            )  # fmt: skip
        style.title(panels[-1], "e", "never:", pad=10)
    return figure


def caption(data: Datasets) -> str:
    if not data["branches"]["weight"].any():
        return captions.caption("fig8_empty", data)()
    counts = (effective_searches(branches_in(data, name)) for name in data.environments)
    effective = captions.listing(captions.number(count, ".0f" if count >= 10 else ".1f") for count in counts)
    return captions.caption("fig8", data)(effective=effective, end=100 * (1 - _TAIL))


def table(data: Datasets) -> captions.Table | None:
    if not data["branches"]["weight"].any():
        return None
    each, columns = partial(in_each, data.environments), {}
    for metric, (label, _) in style.GEOMETRY_LABELS.items():
        columns[label] = each(partial(_median, data, metric)), ".0f"
    columns["never returns downwind (%)"] = each(lambda name: 100 * _never(data, name)), ".0f"
    columns["histories"] = each(lambda name: branches_in(data, name).sizes["branch"]), ",.0f"
    columns["effective sample size"] = each(lambda name: effective_searches(branches_in(data, name))), ".1f"
    return captions.table(columns)


def alt(data: Datasets) -> str:
    if not data["branches"]["weight"].any():
        return captions.caption("fig8_none", data)()
    metrics = ("upwind_search", "downwind_return_start")
    search, begins = (in_each(data.environments, partial(_median, data, metric)) for metric in metrics)
    ends = {"search": captions.ends(search, ".0f", "cells"), "begins": captions.ends(begins, ".0f", "moves")}
    return captions.caption("fig8_alt", data)(**ends)


def _violins(axes: Axes, data: Datasets, metric: str) -> None:
    top = 1.0
    for e, (name, colour) in enumerate(style.colours(data.environments).items()):
        values, weights = _branches(data, metric, name)
        counting = np.isfinite(values) & (weights > 0)
        if not counting.any():
            nothing(axes, e, 0.5, "never" if weights.any() else "no history")
            continue
        violin(axes, e, values, weights, colour, width=0.9, tail=_TAIL)
        for level in weighted_quantiles(np.where(np.isnan(values), np.inf, values), weights, _ENDS):
            if np.isfinite(level):
                axes.plot([e - 0.28, e + 0.28], [level] * 2, color=style.dark(colour), lw=1.0, zorder=3)
        top = max(top, float(weighted_quantiles(values[counting], weights[counting], 1 - _TAIL)))
    axes.set_ylim(0, 1.05 * top)
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def _branches(data: Datasets, metric: str, environment: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of one metric, and weights."""
    branches = branches_in(data, environment)
    return branches["geometry_of"].sel(geometry=metric).values, branches["weight"].values


def _median(data: Datasets, metric: str, environment: str) -> float:
    values, weights = _branches(data, metric, environment)
    values = np.where(np.isnan(values), np.inf, values)
    return float(weighted_quantiles(values, weights, 0.5)) if weights.any() else float("nan")


def _never(data: Datasets, environment: str) -> float:
    """The share of the weight in histories without a downwind return."""
    values, weights = _branches(data, "downwind_return_start", environment)
    return float(weights[np.isnan(values)].sum() / weights.sum()) if weights.any() else 0.0
