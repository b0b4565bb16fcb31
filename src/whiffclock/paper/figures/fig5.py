"""Fig. 5, the states of the two-Q agent, and how evenly training used them."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from whiffclock.drawing import style
from whiffclock.drawing.boxes import box
from whiffclock.drawing.style import GREY, INK
from whiffclock.paper.dataset import TWO, Datasets, trained
from whiffclock.paper.figures import captions
from whiffclock.paper.figures.chains import Point, arrow, blank_mark, blanks, halves, state, whiff_mark

TITLE = "The memory of the two-Q agent"
NEEDS = trained(TWO)

_MINUS_FACE, _PLUS_FACE = "#E3D0E8", "#CFE8C8"
#: Places along the chains: 1, 2, tau - 1, tau, H - 1; dots stand between the others.
_XS = (2.3, 3.6, 5.3, 6.9, 8.9)
#: In the middle of the states before tau, and of those from tau on.
_SHORT, _LONG = (_XS[0] + _XS[2]) / 2, (_XS[3] + _XS[4]) / 2
_ZERO = 0.55
_CHAIN, _EDGE, _RAIL = 0.95, 1.45, 1.95
_CHAINS = ((_CHAIN, _PLUS_FACE), (-_CHAIN, _MINUS_FACE))


def draw(data: Datasets) -> Figure:
    figure = style.new_figure(style.TWO_COLUMNS, 2.35)
    diagram, shares = figure.subplots(1, 2, width_ratios=[2.7, 1])
    _diagram(diagram, data.facts["horizon"], shared=not data.facts.get("split_zero", False))
    style.title(diagram, "a", "Two clocks; the blank before the last whiff decides which one runs")
    _shares(shares, data)
    return figure


def caption(data: Datasets) -> str:
    shared = not data.facts.get("split_zero", False)
    return captions.caption("fig5", data)(
        zero="Both chains share state 0" if shared else "Each chain has its state 0",
        states=2 * data.facts["horizon"] - shared,
    )


def table(data: Datasets) -> captions.Table:
    shares = data.searches["training_share"]
    return captions.table({"τ (moves)": (data.searches["tau"], ".0f"), "share of decisions in Q⁺": (shares, ".2f")})


def alt(data: Datasets) -> str:
    return captions.caption("fig5_alt", data)(shares=captions.ends(data.searches["training_share"]))


def _diagram(axes: Axes, horizon: int, shared: bool) -> None:
    _block(axes, _XS[0], _XS[2], _MINUS_FACE)
    _block(axes, _XS[3], _XS[4], _PLUS_FACE)
    for y, face in _CHAINS:
        for x, label in zip(_XS, ["1", "2", "τ−1", "τ", str(horizon - 1)], strict=True):
            state(axes, (x, y), label, face)
        blanks(axes, _XS, y, gaps=(1, 3))
    _zero(axes, shared)
    end = 0.5 if shared else _CHAIN + 0.35
    _rail(axes, _LONG, 1, end, "whiff after a long blank, $s$ ≥ τ")
    _rail(axes, _SHORT, -1, end, "whiff after a short blank, $s$ < τ")
    for y, mode, word in ((_CHAIN, style.PLUS, "sparse mode"), (-_CHAIN, style.MINUS, "dense mode")):
        axes.text(9.55, y, f"{mode}\n{word}", va="center", ha="left", fontsize=7, linespacing=1.3)
    axes.text(_SHORT, 0, "$s$ < τ", ha="center", va="center", color=GREY)
    axes.text(_LONG, 0, "$s$ ≥ τ", ha="center", va="center", color=GREY)
    axes.set(xlim=(-1.25, 11.3), ylim=(-2.45, 2.45), aspect="equal")
    axes.set_axis_off()


def _zero(axes: Axes, shared: bool) -> None:
    """State 0, one for both chains or one for each, and its transitions."""
    if shared:
        halves(axes, (_ZERO, 0), _PLUS_FACE, _MINUS_FACE)
        out: Point = (_ZERO + 0.4, 0.27)
        loop = (_ZERO - 0.46, 0.1), (_ZERO - 0.36, -0.34)
    else:
        for y, face in _CHAINS:
            state(axes, (_ZERO, y), "0", face)
        out = (_ZERO + 0.33, _CHAIN)
        loop = (_ZERO - 0.3, -_CHAIN + 0.15), (_ZERO - 0.3, -_CHAIN - 0.15)
        arrow(axes, (_ZERO, _CHAIN - 0.33), (_ZERO, -_CHAIN + 0.33))
        whiff_mark(axes, (_ZERO, 0))
    for side in (1, -1):
        arrow(axes, (out[0], side * out[1]), (_XS[0] - 0.34, side * _CHAIN))
        blank_mark(axes, ((out[0] + _XS[0] - 0.34) / 2, side * ((out[1] + _CHAIN) / 2 + 0.22)))
    top = 0.3 if shared else _CHAIN + 0.15
    axes.text(-1.2, top + 0.75, "start", ha="left", va="center", fontsize=6.5)
    arrow(axes, (-0.55, top + 0.6), (_ZERO - 0.42, top + 0.08), colour=GREY)
    arrow(axes, *loop, bend=1.3)
    whiff_mark(axes, (loop[0][0] - 0.36, (loop[0][1] + loop[1][1]) / 2 - 0.02))


def _block(axes: Axes, first: float, last: float, face: str) -> None:
    """The states of both chains from which a whiff leads to the same mode."""
    looks: dict[str, Any] = {"alpha": 0.3, "edgecolor": GREY, "lw": 0.5, "ls": (0, (2, 2)), "zorder": 0}
    corner, width, shape = (first - 0.5, -_EDGE), last - first + 1, "round,pad=0,rounding_size=0.25"
    axes.add_patch(FancyBboxPatch(corner, width, 2 * _EDGE, boxstyle=shape, facecolor=face, **looks))


def _rail(axes: Axes, x: float, side: int, end: float, label: str) -> None:
    """The transition on a whiff from a block to state 0, above (1) or below (-1) the chains."""
    line = Path([(x, side * _EDGE), (x, side * _RAIL), (_ZERO, side * _RAIL), (_ZERO, side * (_RAIL - 0.3))])
    axes.add_patch(PathPatch(line, fill=False, lw=0.8, edgecolor=INK, joinstyle="round", zorder=1))
    arrow(axes, (_ZERO, side * (_RAIL - 0.3)), (_ZERO, side * end))
    middle = (x + _ZERO) / 2
    whiff_mark(axes, (middle - 1.2, side * _RAIL))
    above = "bottom" if side > 0 else "top"
    axes.text(middle - 1.0, side * (_RAIL + 0.08), label, ha="left", va=above, fontsize=6.5)


def _shares(axes: Axes, data: Datasets) -> None:
    shares, tau = data.searches["training_share"], data.searches["tau"]
    names = data.environments.names
    for e, (name, colour) in enumerate(style.colours(names).items()):
        box(axes, e, shares.sel(trained=name).values, colour)
    axes.axhline(0.5, color=GREY, lw=0.6, ls=(0, (2, 2)), zorder=0)
    style.environment_axis(axes, names)
    labels = [f"{name}\nτ = {float(tau.sel(trained=name)):.0f}" for name in names]
    axes.set_xticklabels(labels, fontsize=style.SMALLEST, rotation=0 if len(names) <= 4 else 90)
    axes.set(ylim=(0, 1), ylabel=f"share of decisions in {style.PLUS}")
    style.title(axes, "b", "Use in training")
