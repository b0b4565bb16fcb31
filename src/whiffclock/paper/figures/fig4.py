"""Fig. 4, generalization: agents trained in one environment and tested in all four."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, SINGLE, TWO, Datasets, in_each
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import box, key
from whiffclock.paper.figures.violins import LAST_WHIFF, draw_last_whiffs, failing, median_last_whiff

TITLE = "Agents outside the environment they were trained in"
NEEDS = ("single-Q at home", "single-Q elsewhere", "two-Q at home", "two-Q elsewhere")


def draw(data: Datasets) -> Figure:
    """The figure."""
    figure = style.new_figure(style.TWO_COLUMNS, 4.7)
    above, below = figure.subplots(2, 1)
    searches = data.searches.sortby("agent")
    for i, trained in enumerate(ENVIRONMENT_NAMES):
        for j, (tested, colour) in enumerate(style.COLOURS.items()):
            at = i + 0.225 * (j - 1.5)
            single, two = (searches.sel(kind=kind, trained=trained, tested=tested) for kind in (SINGLE, TWO))
            draw_last_whiffs(above, at - 0.008, data, single["lost"], colour, width=0.19, side="left")
            draw_last_whiffs(above, at + 0.008, data, two["lost"], colour, width=0.19, side="right", shade=0.0)
            box(below, at - 0.05, single["mean"].sel(metric="G").values, colour, "filled", 0.085)
            box(below, at + 0.05, two["mean"].sel(metric="G").values, colour, "open", 0.085)
    for axes in (above, below):
        style.environment_axis(axes, borders=True)
        axes.set_xlim(-0.5, len(ENVIRONMENT_NAMES) - 0.5)
    above.set_ylabel(LAST_WHIFF)
    style.title(above, "a", "Last whiff of searches that fail")
    below.set_ylabel("mean return $G$")
    below.set_xlabel("trained in")
    style.title(below, "b", "Return")
    handles = [Patch(facecolor="none", edgecolor="none", label="tested in:")]
    handles += [Patch(facecolor=colour, label=name) for name, colour in style.COLOURS.items()]
    handles += [key("single-Q", "filled"), key("two-Q", "open")]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def caption(data: Datasets) -> str:
    """What the figure shows, with its numbers."""
    first, last = ENVIRONMENT_NAMES[0], ENVIRONMENT_NAMES[-1]
    poor, rich = f"{first} to {last}", f"{last} to {first}"
    single, two = (data.searches.sel(kind=kind) for kind in (SINGLE, TWO))
    to_poor, to_rich = (single.sel(trained=a, tested=b) for a, b in ((first, last), (last, first)))

    def median(trained: str, tested: str) -> str:
        return words.number(words.middle(single["mean"].sel(metric="G", trained=trained, tested=tested)))

    def gain(trained: str) -> float:
        both = (words.middle(agents["mean"].sel(metric="G", trained=trained)) for agents in (two, single))
        return next(both) - next(both)

    return (
        "Agents trained in one environment (along the axis) and tested in each of the four (colours); left halves and "
        "filled boxes are single-Q, right halves and open boxes two-Q. "
        "(a) How far downwind of the source failed searches smelled their last whiff, all agents together, with "
        "median and quartiles; every violin has the same width, however many failures it stands for. Single-Q agents "
        f"fail in {failing(data, to_poor['failures']):.1f} per cent of searches when taken from {poor}, with their "
        f"median last whiff at {median_last_whiff(data, to_poor['lost'])} cells, and in "
        f"{failing(data, to_rich['failures']):.1f} per cent from {rich}. "
        f"(b) Mean returns. Median single-Q returns at home are {median(first, first)} ({first}) and "
        f"{median(last, last)} ({last}); away they are {median(first, last)} ({poor}) and {median(last, first)} "
        f"({rich}). Two-Q minus single-Q, medians over all tests by environment of training: "
        f"{words.each(in_each(gain), '+.2f')}. {words.run(data)}"
    )
