"""Fig. S2, how much of a recovery path counts: geometry under the five truncations."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.drawing import style
from whiffclock.drawing.boxes import key, metric_panels
from whiffclock.paper.dataset import MINUS, MODE, PLUS, SINGLE, TWO, Datasets, recovery, trained
from whiffclock.paper.figures import captions
from whiffclock.path_metrics import MAIN_TRUNCATION, TRUNCATIONS

TITLE = "Geometry of recovery under five truncations of the path"
NEEDS = trained(SINGLE, TWO)

_NUMERALS = ("i", "ii", "iii", "iv", "v")
_WORDS = {name: "all moves" if name == "none" else name for name in TRUNCATIONS}
#: How the medians of each mode are marked: the marker, its place beside the boxes, the label.
_MARKERS = {MINUS: ("v", -0.36, style.MINUS), PLUS: ("^", 0.36, style.PLUS)}


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 7.4)
    grid = figure.subplots(len(style.GEOMETRY_LABELS), len(TRUNCATIONS))
    metric_panels(grid, [{"filled": recovery(data, SINGLE, MODE, name)["geometry_of"]} for name in TRUNCATIONS])
    for column, truncation, numeral in zip(grid.T, TRUNCATIONS, _NUMERALS, strict=True):
        _modes(column, data, truncation)
        weight = "bold" if truncation == MAIN_TRUNCATION else "normal"
        column[0].set_title(f"({numeral}) {_WORDS[truncation]}", loc="left", fontsize=6.5, fontweight=weight)
    keys: list = [key("single-Q", "filled")]
    for marker, _, label in _MARKERS.values():
        keys.append(Line2D([], [], ls="", marker=marker, ms=3.5, color=style.GREY, label=f"{label}, median"))
    figure.legend(handles=keys, loc="outside upper center", ncols=3)
    return figure


def caption(data: Datasets) -> str:
    return captions.caption("s2", data)(**_growing(data))


def table(data: Datasets) -> captions.Table:
    return captions.table({word: (recovery(data, SINGLE, MODE, name)["steps"], ".0f") for name, word in _WORDS.items()})


def alt(data: Datasets) -> str:
    lengths = {word: captions.middle(recovery(data, SINGLE, MODE, name)["steps"]) for name, word in _WORDS.items()}
    shortest = min(lengths, key=lambda word: lengths[word])
    moves = captions.number(lengths[shortest], ".0f")
    return captions.caption("s2_alt", data)(**_growing(data), shortest=moves, name=shortest)


def _growing(data: Datasets) -> dict[str, Any]:
    """Under how many truncations the upwind search is longer in the last environment than in the first."""
    first, last = captions.ends_of(data.environments)
    found = [recovery(data, SINGLE, MODE, name)["geometry_of"].sel(geometry="upwind_search") for name in TRUNCATIONS]
    medians = [captions.medians(one) for one in found]
    growing = sum(bool(one.sel(environment=last) > one.sel(environment=first)) for one in medians)
    return {"first": first, "last": last, "growing": growing, "truncations": len(TRUNCATIONS)}


def _modes(column: np.ndarray, data: Datasets, truncation: str) -> None:
    """Medians of Q- and Q+ beside the boxes."""
    for mode, (marker, shift, _) in _MARKERS.items():
        geometry = recovery(data, TWO, mode, truncation)["geometry_of"]
        for axes, metric in zip(column, style.GEOMETRY_LABELS, strict=True):
            for e, (name, colour) in enumerate(style.colours(data.environments).items()):
                middle = captions.middle(geometry.sel(geometry=metric, environment=name))
                if np.isfinite(middle):
                    axes.plot(e + shift, middle, marker, ms=2.6, color=style.dark(colour), mew=0, clip_on=True)
