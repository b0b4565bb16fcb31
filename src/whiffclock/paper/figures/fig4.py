"""Fig. 4, generalization: agents trained in one environment and tested in all four."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import lastwhiff, words
from whiffclock.paper.figures.boxes import box, key
from whiffclock.paper.figures.style import (
    COLOURS,
    TWO_COLUMNS,
    environment_axis,
    environment_patches,
    new_figure,
    styled,
    title,
)

#: Draws the agents of (trained, tested) at a place in a colour.
DrawPair = Callable[[Axes, Result, int, int, float, str], None]

TITLE = "Agents outside the environment they were trained in"


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(TWO_COLUMNS, 4.7)
    above, below = (figure.add_subplot(2, 1, i + 1) for i in range(2))
    _each_pair(above, result, _violins)
    lastwhiff.downwind(above, result, result["lost_single"])
    above.set_ylabel(lastwhiff.LABEL)
    title(above, "a", "Last whiff of searches that fail")
    _each_pair(below, result, _boxes)
    below.set_ylabel("mean return $G$")
    below.set_xlabel("trained in")
    title(below, "b", "Return")
    kinds = [key("single-Q", "filled"), key("two-Q", "open")]
    word = Patch(facecolor="none", edgecolor="none", label="tested in:")
    handles = [word, *environment_patches(result.facts["environments"]), *kinds]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    names, single, two = result.facts["environments"], result["G_single"], result["G_two"]
    poor, rich = f"{names[0]} to {names[-1]}", f"{names[-1]} to {names[0]}"
    gain = [words.middle(two[e]) - words.middle(single[e]) for e in range(len(names))]
    failing = [lastwhiff.failing(result, result["failures_single"][pair]) for pair in ((0, -1), (-1, 0))]
    last = lastwhiff.median(result, result["lost_single"][0, -1])
    home, out = (
        [words.number(words.middle(single[pair])) for pair in pairs]
        for pairs in (((0, 0), (-1, -1)), ((0, -1), (-1, 0)))
    )
    return words.sentences(
        "Agents trained in one environment (along the axis) and tested in each of the four (colours); left halves and "
        "filled boxes are single-Q, right halves and open boxes two-Q. "
        "(a) How far downwind of the source failed searches smelled their last whiff, all agents together, with "
        "median and quartiles; every violin has the same width, however many failures it stands for. Single-Q agents "
        f"fail in {failing[0]:.1f} per cent of searches when taken from {poor}, with their median last whiff at {last} "
        f"cells, and in {failing[1]:.1f} per cent from {rich}. "
        f"(b) Mean returns. Median single-Q returns at home are {home[0]} ({names[0]}) and {home[1]} ({names[-1]}); "
        f"away they are {out[0]} ({poor}) and {out[1]} ({rich}). "
        f"Two-Q minus single-Q, medians over all tests by environment of training: {words.each(names, gain, '+.2f')}.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _each_pair(axes: Axes, result: Result, draw_pair: DrawPair) -> None:
    names = result.facts["environments"]
    for trained in range(len(names)):
        for tested, name in enumerate(names):
            draw_pair(axes, result, trained, tested, trained + 0.225 * (tested - 1.5), COLOURS[name])
    environment_axis(axes, names)
    for border in range(1, len(names)):
        axes.axvline(border - 0.5, color="#CCCCCC", lw=0.5)
    axes.set_xlim(-0.5, len(names) - 0.5)


def _violins(axes: Axes, result: Result, trained: int, tested: int, at: float, colour: str) -> None:
    single, two = result["lost_single"][trained, tested], result["lost_two"][trained, tested]
    lastwhiff.draw_lost(axes, at - 0.008, result, single, colour, width=0.19, side="left")
    lastwhiff.draw_lost(axes, at + 0.008, result, two, colour, width=0.19, side="right", shade=0.0)


def _boxes(axes: Axes, result: Result, trained: int, tested: int, at: float, colour: str) -> None:
    box(axes, at - 0.05, result["G_single"][trained, tested], colour, "filled", 0.085)
    box(axes, at + 0.05, result["G_two"][trained, tested], colour, "open", 0.085)
