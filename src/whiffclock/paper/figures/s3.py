"""Fig. S3, the choice of tau: how evenly it divides training, and what it does to performance."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.style import (
    COLOURS,
    GREY,
    PERFORMANCE,
    PLUS,
    TWO_COLUMNS,
    dark,
    new_figure,
    styled,
    title,
)

TITLE = "The choice of τ"


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(TWO_COLUMNS, 4.2)
    panels = [figure.add_subplot(2, 2, i + 1) for i in range(4)]
    panels[0].axhline(0.5, color=GREY, lw=0.6, ls=(0, (2, 2)))
    _against_tau(panels[0], result, result["share"])
    panels[0].set_ylim(0, 1)
    panels[0].set_ylabel(f"share of training decisions in {PLUS}")
    for axes, (measure, label) in zip(panels[1:], PERFORMANCE.items(), strict=True):
        _against_tau(axes, result, result["performance"][..., result.facts["metrics"].index(measure)])
        axes.set_ylabel(label)
    for letter, axes in zip("abcd", panels, strict=True):
        title(axes, letter)
        axes.set_xlabel("τ (moves)")
    handles = [
        Line2D([], [], color=COLOURS[name], marker="o", ms=2.5, label=name) for name in result.facts["environments"]
    ]
    handles.append(Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec=GREY, label="chosen τ"))
    figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    returns = np.median(result["performance"][..., 0], axis=2)
    spans = returns.max(axis=1) - returns.min(axis=1)
    return words.sentences(
        f"Two-Q agents trained with different τ: {facts['scan_seeds']} per value and environment, for "
        f"{facts['scan_episodes']:,} episodes each; lines join medians, dots are agents. (a) Share of training "
        "decisions in Q⁺. The τ that comes closest to one half is the one of all other figures (circles): "
        f"{words.each(facts['environments'], result['chosen'], '.0f')}. "
        "(b to d) What these agents earn, how fast and how often they arrive, in the environment of training. "
        f"Between the best and the worst τ the median return differs by {words.each(facts['environments'], spans)}.",
        "These trainings are shorter than those of the other figures."
        if facts["scan_episodes"] < facts["episodes"]
        else "",
        words.plume(result),
    )


def _against_tau(axes: Axes, result: Result, values: np.ndarray) -> None:
    """``values[e, k, n]``: medians over agents as lines, agents as dots, rings at the chosen tau."""
    tau = result["tau"]
    for e, name in enumerate(result.facts["environments"]):
        middle = np.median(values[e], axis=1)
        axes.plot(tau, middle, color=COLOURS[name])
        axes.plot(tau, values[e], "o", ms=2.5, color=dark(COLOURS[name]), mec="white", mew=0.3)
        chosen = int(np.abs(tau - result["chosen"][e]).argmin())
        axes.plot(tau[chosen], middle[chosen], "o", ms=6, mfc="none", mec=dark(COLOURS[name]), mew=0.9)
    axes.set_xscale("log")
    axes.set_xticks(tau, [f"{value:g}" for value in tau])
    axes.xaxis.set_minor_locator(NullLocator())
