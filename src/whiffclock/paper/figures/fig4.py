"""Fig. 4, generalization: agents trained in one environment and tested in all."""

from itertools import product

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whiffclock.drawing import style
from whiffclock.drawing.boxes import box, key
from whiffclock.paper.dataset import SINGLE, TWO, Datasets, at_home, elsewhere
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.last_whiffs import LastWhiffs, add_legend, failure_axis

TITLE = "Agents outside the environment they were trained in"
NEEDS = (*at_home(SINGLE, TWO), *elsewhere(SINGLE, TWO))

#: In more environments, there is no room for numbers above the bars.
_NUMBERED = 4


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 5.2)
    above, below = figure.subplots(2, 1)
    pairs, names, colours = _pairs(data), data.environments.names, style.colours(data.environments)
    room = 0.94 / max(2, len(names))
    for (trained, tested), (single, two) in pairs.items():
        at = names.index(trained) + room * (names.index(tested) - (len(names) - 1) / 2)
        colour = colours[tested]
        for lost, shift in ((single, -0.21), (two, 0.21)):
            lost.bar(above, at + shift * room, colour, 0.38 * room, number=len(names) <= _NUMBERED)
        agents = data.searches["mean"].sel(metric="G", trained=trained, tested=tested)
        box(below, at - 0.21 * room, agents.sel(kind=SINGLE).values, colour, "filled", 0.36 * room)
        box(below, at + 0.21 * room, agents.sel(kind=TWO).values, colour, "open", 0.36 * room)
    for axes in (above, below):
        style.environment_axis(axes, names, borders=True)
        axes.set_xlim(-0.5, len(names) - 0.5)
    failure_axis(above, (lost for both in pairs.values() for lost in both))
    style.title(above, "a", "Searches that fail: left bars single-Q, right bars two-Q")
    below.set(xlabel="trained in", ylabel="mean reward $G$")
    style.title(below, "b", "Reward")
    handles = [Patch(facecolor="none", edgecolor="none", label="tested in:")]
    handles += [Patch(facecolor=colour, label=name) for name, colour in colours.items()]
    handles += [key("single-Q (b)", "filled"), key("two-Q (b)", "open")]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(7, len(handles)))
    add_legend(figure, "a")
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("fig4", data)()


def table(data: Datasets) -> captions.Table:
    rows = []
    for (trained, tested), lost in _pairs(data).items():
        rewards = (captions.cell(_median(data, kind, trained, tested)) for kind in (SINGLE, TWO))
        columns = (rewards, *([captions.cell(getattr(one, name), form) for one in lost] for name, form in _COLUMNS))
        rows.append((f"{trained}\u00a0→\u00a0{tested}", [" · ".join(column) for column in columns]))
    return captions.Table(["reward G", "fail (%)", "never met odor (% of these)", "median last whiff"], rows)


def alt(data: Datasets) -> str:
    pairs, (first, last) = _pairs(data), captions.ends_of(data.environments)
    return captions.caption("fig4_alt", data)(
        pairs=len(pairs),
        first=first,
        last=last,
        first_in_first=pairs[first, first][0].failing,
        first_in_last=pairs[first, last][0].failing,
        last_in_last=pairs[last, last][0].failing,
        last_in_first=pairs[last, first][0].failing,
        higher=sum(_median(data, TWO, *pair) > _median(data, SINGLE, *pair) for pair in pairs),
    )


_COLUMNS = (("failing", ".1f"), ("silent", ".0f"), ("median", ".0f"))


def _pairs(data: Datasets) -> dict[tuple[str, str], tuple[LastWhiffs, LastWhiffs]]:
    """Last whiffs of single-Q and two-Q agents by the environments of training and test."""

    def lost(kind: str, trained: str, tested: str) -> LastWhiffs:
        return LastWhiffs.of(data, data.searches.sel(kind=kind, trained=trained, tested=tested))

    every = product(data.environments, data.environments)
    return {pair: (lost(SINGLE, *pair), lost(TWO, *pair)) for pair in every}


def _median(data: Datasets, kind: str, trained: str, tested: str) -> float:
    return captions.middle(data.searches["mean"].sel(metric="G", kind=kind, trained=trained, tested=tested))
