"""Fig. 8, the Bayesian agent's recovery: the geometry of its paths after many different histories."""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, Datasets, branches_in, in_each
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.violins import nothing, violin
from whiffclock.paper.quantiles import weighted_quantiles

TITLE = "How the Bayesian agent searches for a lost plume"
NEEDS = ("Bayesian branches",)

#: Share of the weight in the long upper tails that is not drawn.
_TAIL = 0.005


def draw(data: Datasets) -> Figure:
    """The figure."""
    figure = style.new_figure(style.TWO_COLUMNS, 2.3)
    panels = figure.subplots(1, len(style.METRICS))
    for axes, (metric, (label, unit)) in zip(panels, style.METRICS.items(), strict=True):
        _metric(axes, data, metric)
        axes.set_ylabel(f"{label} ({unit})")
    return figure


def caption(data: Datasets) -> str:
    """What the figure shows, with its numbers."""
    intro = (
        "What the Bayesian agent does when it smells nothing more depends on what it smelled before. Violins: "
        "distributions of five measures of its path over many histories, each weighted by how likely its blanks are; "
        "dots and bars: weighted medians and quartiles; the uppermost "
        f"{100 * _TAIL:g} per cent of the weight is not drawn."
    )
    if not data["branches"]["weight"].any():
        return f"{intro} The searches met no whiff to branch from, so that all {len(style.METRICS)} panels are empty."
    weights = {name: branches_in(data, name)["weight"].values for name in ENVIRONMENT_NAMES}
    medians = "; ".join(
        f"{label} {words.each(in_each(partial(_median, data, metric)), '.0f')} {unit}"
        for metric, (label, unit) in style.METRICS.items()
    )
    return (
        f"{intro} Histories come from the whiffs of {data.facts['bayes_trials']} searches per environment: "
        f"{words.each(in_each(lambda name: len(weights[name])), ',.0f')}; with their uneven weights they count as much "
        f"as {words.each(in_each(lambda name: _counting(weights[name])), ',.0f')} equal ones. Weighted medians: "
        f"{medians}. A return that never begins has no place in the last panel; such histories have "
        f"{words.each(in_each(lambda name: 100 * _never(data, name)), '.0f')} per cent of the weight. "
        f"The agent's policy comes from {data.facts['bayes_backups']:,} backups."
    )


def _metric(axes: Axes, data: Datasets, metric: str) -> None:
    style.environment_axis(axes, rotate=True)
    if not data["branches"]["weight"].any():
        style.empty(axes, "no whiff\nto branch\nfrom")
        axes.tick_params(labelbottom=True)
        return
    tops = [0.0]
    for e, (name, colour) in enumerate(style.COLOURS.items()):
        values, weights = _branches(data, metric, name)
        counting = np.isfinite(values) & (weights > 0)
        if not counting.any():
            nothing(axes, e, 0.5, "never" if weights.any() else "no history")
            continue
        violin(axes, e, values, weights, colour, width=0.9, tail=_TAIL)
        tops.append(float(weighted_quantiles(values[counting], weights[counting], 1 - _TAIL)))
    axes.set_ylim(0, 1.05 * max(*tops, 1.0))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    if metric == "backtracking_initiation":
        _never_words(axes, data)


def _never_words(axes: Axes, data: Datasets) -> None:
    """The weight of returns that never begin, above the violins."""
    shares = [_never(data, name) for name in ENVIRONMENT_NAMES]
    if not any(share > 0 for share in shares):
        return
    for e, (share, colour) in enumerate(zip(shares, style.COLOURS.values(), strict=True)):
        axes.annotate(f"{100 * share:.0f}%", (e, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                      fontsize=5.5, color=style.dark(colour))  # fmt: skip
    axes.set_title("never returns:", fontsize=5.5, color=style.GREY, pad=8, loc="left")


def _branches(data: Datasets, metric: str, environment: str) -> tuple[np.ndarray, np.ndarray]:
    """Values and weights of one metric."""
    branches = branches_in(data, environment)
    return branches["geometry_of"].sel(geometry=metric).values, branches["weight"].values


def _counting(weights: np.ndarray) -> float:
    """How many equal weights would be as good."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else 0.0


def _median(data: Datasets, metric: str, environment: str) -> float:
    values, weights = _branches(data, metric, environment)
    if not weights.any():
        return float("nan")
    found = float(weighted_quantiles(values, weights, 0.5))
    return np.inf if np.isnan(found) else found


def _never(data: Datasets, environment: str) -> float:
    """The share of the weight in histories without a return."""
    values, weights = _branches(data, "backtracking_initiation", environment)
    return float(weights[np.isnan(values)].sum() / weights.sum()) if weights.any() else 0.0
