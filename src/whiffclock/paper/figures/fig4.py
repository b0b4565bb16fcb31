"""Fig. 4, generalization: agents trained in one environment and tested in all."""

from itertools import product

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from whiffclock.drawing import style
from whiffclock.drawing.boxes import box, key
from whiffclock.paper.dataset import SINGLE, TWO, Datasets, at_home, elsewhere
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.last_whiffs import LAST_WHIFF, LastWhiffs

TITLE = "Agents outside the environment they were trained in"
NEEDS = (*at_home(SINGLE, TWO), *elsewhere(SINGLE, TWO))


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 4.9)
    above, below = figure.subplots(2, 1)
    pairs, names, colours = _pairs(data), data.environments.names, style.colours(data.environments)
    room = 0.94 / max(2, len(names))
    most = max(lost.shown for kinds in pairs.values() for lost in kinds) or 1.0
    for (trained, tested), (single, two) in pairs.items():
        at = names.index(trained) + room * (names.index(tested) - (len(names) - 1) / 2)
        colour = colours[tested]
        single.violin(above, at - 0.008, colour, most, 0.85 * room, side="left")
        two.violin(above, at + 0.008, colour, most, 0.85 * room, side="right", shade=0.0)
        for lost, shift, side in ((single, -0.006, "right"), (two, 0.006, "left")):
            looks = {"fontsize": min(5.3, 85 / len(names) ** 2), "color": style.dark(colour), "ha": side}
            text, place = f"{lost.failing:.{int(lost.failing < 9.95)}f}", ("data", "axes fraction")
            above.annotate(text, (at + shift, 1.0), xycoords=place, va="bottom", **looks)
        agents = data.searches["mean"].sel(metric="G", trained=trained, tested=tested)
        box(below, at - 0.21 * room, agents.sel(kind=SINGLE).values, colour, "filled", 0.36 * room)
        box(below, at + 0.21 * room, agents.sel(kind=TWO).values, colour, "open", 0.36 * room)
    for axes in (above, below):
        style.environment_axis(axes, names, borders=True)
        axes.set_xlim(-0.5, len(names) - 0.5)
    above.set_ylabel(LAST_WHIFF)
    style.title(above, "a", "Last whiff of searches that fail, and their share in per cent: single-Q, two-Q", pad=12)
    below.set(xlabel="trained in", ylabel="mean reward $G$")
    style.title(below, "b", "Reward")
    handles = [Patch(facecolor="none", edgecolor="none", label="tested in:")]
    handles += [Patch(facecolor=colour, label=name) for name, colour in colours.items()]
    handles += [key("single-Q", "filled"), key("two-Q", "open")]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(8, len(handles)))
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("fig4", data)()


def table(data: Datasets) -> captions.Table:
    rows = []
    for (trained, tested), lost in _pairs(data).items():
        rewards = (captions.cell(_median(data, kind, trained, tested)) for kind in (SINGLE, TWO))
        columns = (rewards, *([captions.cell(getattr(one, name), form) for one in lost] for name, form in _COLUMNS))
        rows.append((f"{trained}\u00a0→\u00a0{tested}", [" · ".join(column) for column in columns]))
    return captions.Table(["reward G", "fail (%)", "no whiff (%)", "agents in a"], rows)


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


_COLUMNS = (("failing", ".1f"), ("silent", ".0f"), ("agents", ".0f"))


def _pairs(data: Datasets) -> dict[tuple[str, str], tuple[LastWhiffs, LastWhiffs]]:
    """Last whiffs of single-Q and two-Q agents by the environments of training and test."""

    def lost(kind: str, trained: str, tested: str) -> LastWhiffs:
        return LastWhiffs.of(data, data.searches.sel(kind=kind, trained=trained, tested=tested))

    every = product(data.environments, data.environments)
    return {pair: (lost(SINGLE, *pair), lost(TWO, *pair)) for pair in every}


def _median(data: Datasets, kind: str, trained: str, tested: str) -> float:
    return captions.middle(data.searches["mean"].sel(metric="G", kind=kind, trained=trained, tested=tested))
