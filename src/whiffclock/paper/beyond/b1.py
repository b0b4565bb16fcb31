"""Fig. B1, performance of searched clocks beside the agents of Fig. 2."""

from whiffclock.paper.dataset import BAYES, CAST, ROBUST, SEARCHED, SEARCHED_TWO, SINGLE, Datasets, at_home, drawn_kinds
from whiffclock.paper.figures import captions, fig2

TITLE = "Performance of searched clocks"
NEEDS = at_home(SINGLE, SEARCHED, SEARCHED_TWO, ROBUST, CAST, BAYES)

draw, table = fig2.draw, fig2.table


def caption(data: Datasets) -> str:
    return captions.caption("b1", data)()


def alt(data: Datasets) -> str:
    learned, searched = (captions.medians(fig2.agents_of(data, kind, "G")) for kind in (SINGLE, SEARCHED))
    return captions.caption("b1_alt", data)(
        kinds=captions.count(len(drawn_kinds(data, "box"))),
        searched=captions.ends(searched),
        learned=captions.ends(learned),
        above=captions.places(searched > learned),
    )
