"""Fig. 8, the Bayesian agent's recovery: the geometry of its paths after many different histories."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.panels import metric
from whiffclock.paper.figures.style import (
    COLOURS,
    GREY,
    METRICS,
    TWO_COLUMNS,
    dark,
    empty,
    environment_axis,
    new_figure,
    styled,
)
from whiffclock.paper.figures.violins import nothing, violin
from whiffclock.paper.quantiles import weighted_quantiles

#: Share of the weight in the long upper tails that is not drawn.
_TAIL = 0.005

TITLE = "How the Bayesian agent searches for a lost plume"


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(TWO_COLUMNS, 2.3)
    panels = [figure.add_subplot(1, len(METRICS), i + 1) for i in range(len(METRICS))]
    for axes, (name, (label, unit)) in zip(panels, METRICS.items(), strict=True):
        _metric(axes, result, name)
        axes.set_ylabel(f"{label} ({unit})")
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    names = facts["environments"]
    intro = (
        "What the Bayesian agent does when it smells nothing more depends on what it smelled before. Violins: "
        "distributions of five measures of its path over many histories, each weighted by how likely its blanks are; "
        "dots and bars: weighted medians and quartiles; the uppermost "
        f"{100 * _TAIL:g} per cent of the weight is not drawn."
    )
    if not _there(result):
        return words.sentences(
            intro, f"The searches met no whiff to branch from, so that all {len(METRICS)} panels are empty."
        )
    counts = [len(result[f"weight_{name}"]) for name in names]
    counting = [_counting(result[f"weight_{name}"]) for name in names]
    told = "; ".join(
        f"{label} {words.each(names, [_median(result, name, e) for e in names], '.0f')} {unit}"
        for name, (label, unit) in METRICS.items()
    )
    never = [100 * _never(result, name) for name in names]
    return words.sentences(
        intro,
        f"Histories come from the whiffs of {facts['trials']} searches per environment: "
        f"{words.each(names, counts, ',.0f')}; with their uneven weights they count as much as "
        f"{words.each(names, counting, ',.0f')} equal ones. Weighted medians: {told}. A return that never begins has "
        f"no place in the last panel; such histories have {words.each(names, never, '.0f')} per cent of the weight. "
        f"The agent's policy comes from {facts['backups']:,} backups.",
        words.plume(result),
    )


def _there(result: Result) -> bool:
    return any(result[f"weight_{name}"].sum() > 0 for name in result.facts["environments"])


def _metric(axes: Axes, result: Result, name: str) -> None:
    names = result.facts["environments"]
    environment_axis(axes, names, rotate=True)
    if not _there(result):
        empty(axes, "no whiff\nto branch\nfrom")
        axes.tick_params(labelbottom=True)
        return
    tops = [0.0]
    for e, environment in enumerate(names):
        values, weights = metric(result, result[f"geometry_{environment}"], name), result[f"weight_{environment}"]
        counting = np.isfinite(values) & (weights > 0)
        if not counting.any():
            nothing(axes, e, 0.5, "never" if weights.any() else "no history")
            continue
        violin(axes, e, values, weights, COLOURS[environment], width=0.9, tail=_TAIL)
        tops.append(float(weighted_quantiles(values[counting], weights[counting], 1 - _TAIL)))
    axes.set_ylim(0, 1.05 * max(*tops, 1.0))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    if name == "backtracking_initiation":
        _never_words(axes, result)


def _never_words(axes: Axes, result: Result) -> None:
    """The weight of returns that never begin, above the violins."""
    shares = [_never(result, name) for name in result.facts["environments"]]
    if not any(share > 0 for share in shares):
        return
    for e, (name, share) in enumerate(zip(result.facts["environments"], shares, strict=True)):
        axes.annotate(f"{100 * share:.0f}%", (e, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom",
                      fontsize=5.5, color=dark(COLOURS[name]))  # fmt: skip
    axes.set_title("never returns:", fontsize=5.5, color=GREY, pad=8, loc="left")


def _counting(weights: np.ndarray) -> float:
    """How many equal weights would be as good."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if weights.any() else 0.0


def _median(result: Result, name: str, environment: str) -> float:
    weights = result[f"weight_{environment}"]
    if not weights.any():
        return float("nan")
    found = float(weighted_quantiles(metric(result, result[f"geometry_{environment}"], name), weights, 0.5))
    return np.inf if np.isnan(found) else found


def _never(result: Result, environment: str) -> float:
    weights = result[f"weight_{environment}"]
    lasting = np.isnan(metric(result, result[f"geometry_{environment}"], "backtracking_initiation"))
    return float(weights[lasting].sum() / weights.sum()) if weights.any() else 0.0
