"""Fig. 4, generalization: agents trained in one environment and tested in all four."""

import xarray as xr
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whiffclock.paper.dataset import ENVIRONMENT_NAMES, SINGLE, TWO, Datasets, in_each
from whiffclock.paper.figures import style, words
from whiffclock.paper.figures.boxes import box, key
from whiffclock.paper.figures.violins import LAST_WHIFF, draw_last_whiffs, failing, median_last_whiff

TITLE = "Agents outside the environment they were trained in"
NEEDS = ("single-Q at home", "single-Q elsewhere", "two-Q at home", "two-Q elsewhere")


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 4.7)
    above, below = figure.subplots(2, 1)
    for i, trained in enumerate(ENVIRONMENT_NAMES):
        for j, (tested, colour) in enumerate(style.COLOURS.items()):
            at = i + 0.225 * (j - 1.5)
            single, two = (data.searches.sel(kind=kind, trained=trained, tested=tested) for kind in (SINGLE, TWO))
            draw_last_whiffs(above, at - 0.008, data, single["lost"], colour, width=0.19, side="left")
            draw_last_whiffs(above, at + 0.008, data, two["lost"], colour, width=0.19, side="right", shade=0.0)
            box(below, at - 0.05, single["mean"].sel(metric="G").values, colour, "filled", 0.085)
            box(below, at + 0.05, two["mean"].sel(metric="G").values, colour, "open", 0.085)
    for axes in (above, below):
        style.environment_axis(axes, borders=True)
        axes.set_xlim(-0.5, len(ENVIRONMENT_NAMES) - 0.5)
    above.set_ylabel(LAST_WHIFF)
    style.title(above, "a", "Last whiff of searches that fail")
    below.set(xlabel="trained in", ylabel="mean return $G$")
    style.title(below, "b", "Return")
    handles = [Patch(facecolor="none", edgecolor="none", label="tested in:")]
    handles += [Patch(facecolor=colour, label=name) for name, colour in style.COLOURS.items()]
    handles += [key("single-Q", "filled"), key("two-Q", "open")]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def caption(data: Datasets) -> str:
    first, last = ENVIRONMENT_NAMES[0], ENVIRONMENT_NAMES[-1]
    single, two = (data.searches.sel(kind=kind) for kind in (SINGLE, TWO))
    to_poor, to_rich = (single.sel(trained=a, tested=b) for a, b in ((first, last), (last, first)))

    def middle(agents: xr.Dataset, trained: str, tested: str | slice = slice(None)) -> float:
        return words.middle(agents["mean"].sel(metric="G", trained=trained, tested=tested))

    pairs = ((first, first), (last, last), (first, last), (last, first))
    return words.caption("fig4", data)(
        first=first,
        last=last,
        to_poor=float(failing(data, to_poor["failures"])),
        to_rich=float(failing(data, to_rich["failures"])),
        last_whiff=median_last_whiff(data, to_poor["lost"]),
        returns=[words.number(middle(single, *pair)) for pair in pairs],
        gains=words.each(in_each(lambda name: middle(two, name) - middle(single, name)), "+.2f"),
    )
