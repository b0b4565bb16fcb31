"""Fig. 5, the states of the two-Q agent, and how evenly training used them."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.boxes import box
from whiffclock.paper.figures.chains import Point, arrow, blanks, halves, state, whiff_mark
from whiffclock.paper.figures.style import (
    COLOURS,
    GREY,
    INK,
    MINUS,
    PLUS,
    TWO_COLUMNS,
    bare,
    environment_axis,
    new_figure,
    styled,
    title,
)

TITLE = "The memory of the two-Q agent"

_MINUS_FACE, _PLUS_FACE = "#E3D0E8", "#CFE8C8"
#: Places along the chains: 1, 2, tau - 1, tau, H - 1; dots stand between the others.
_XS = (2.3, 3.6, 5.3, 6.9, 8.9)
_ZERO = 0.55
_CHAIN, _EDGE, _RAIL = 0.95, 1.45, 1.95


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(TWO_COLUMNS, 2.35)
    grid = figure.add_gridspec(1, 2, width_ratios=[3, 1])
    diagram, shares = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    bare(diagram)
    _diagram(diagram, result)
    title(diagram, "a", "Two clocks; the blank before the last whiff decides which one runs")
    _shares(shares, result)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    zero = "The two chains share state 0" if facts["shared_whiff_state"] else "Each chain has a state 0 of its own"
    return words.sentences(
        "(a) A two-Q agent has a clock and one bit more. A blank (open dot) moves the clock up by one in its chain. "
        "A whiff (black dot) sets it to 0 and chooses the chain: Q⁺ if the blank that it ends lasted τ moves or more, "
        f"Q⁻ if less, as between two whiffs in a row. {zero}, so that with H = {facts['horizon']} there are "
        f"{facts['states']:,} states; a search begins in Q⁺, in "
        "state 0 on a whiff and in state 1 on a blank. "
        "(b) Share of training decisions taken in Q⁺, with the τ that divides them most evenly: "
        f"{words.each(facts['environments'], result['tau'], '.0f')}. Median shares: "
        f"{words.medians(result, result['share'])}. The 2Qʰ agents use τ = {facts['heuristic_tau']} everywhere.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _diagram(axes: Axes, result: Result) -> None:
    labels = ["1", "2", "τ−1", "τ", str(result.facts["horizon"] - 1)]
    _block(axes, _XS[0], _XS[2], _MINUS_FACE)
    _block(axes, _XS[3], _XS[4], _PLUS_FACE)
    for y, face in ((_CHAIN, _PLUS_FACE), (-_CHAIN, _MINUS_FACE)):
        for x, label in zip(_XS, labels, strict=True):
            state(axes, (x, y), label, face=face, size=6.5 if len(label) < 3 else 5.6)
        blanks(axes, _XS, y, gaps=(1, 3))
    _zero(axes, result.facts["shared_whiff_state"])
    end = 0.5 if result.facts["shared_whiff_state"] else _CHAIN + 0.35
    _rail(axes, (_XS[3] + _XS[4]) / 2, 1, end, "whiff after a long blank, $s$ ≥ τ")
    _rail(axes, (_XS[0] + _XS[2]) / 2, -1, end, "whiff after a short blank, $s$ < τ")
    for y, mode, word in ((_CHAIN, PLUS, "sparse mode"), (-_CHAIN, MINUS, "dense mode")):
        axes.text(9.55, y, f"{mode}\n{word}", va="center", ha="left", fontsize=7, linespacing=1.3)
    axes.text((_XS[0] + _XS[2]) / 2, 0, "$s$ < τ", ha="center", va="center", color=GREY)
    axes.text((_XS[3] + _XS[4]) / 2, 0, "$s$ ≥ τ", ha="center", va="center", color=GREY)
    axes.set_xlim(-1.25, 11.3)
    axes.set_ylim(-2.45, 2.45)
    axes.set_aspect("equal")


def _zero(axes: Axes, shared: bool) -> None:
    """State 0: one for both chains, or one for each; and the ways out of it and into it."""
    if shared:
        halves(axes, (_ZERO, 0), _PLUS_FACE, _MINUS_FACE)
        ways: list[tuple[Point, float]] = [((_ZERO + 0.4, 0.27), _CHAIN), ((_ZERO + 0.4, -0.27), -_CHAIN)]
        loop = (_ZERO - 0.46, 0.1), (_ZERO - 0.36, -0.34)
    else:
        for y, face in ((_CHAIN, _PLUS_FACE), (-_CHAIN, _MINUS_FACE)):
            state(axes, (_ZERO, y), "0", face=face)
        ways = [((_ZERO + 0.33, _CHAIN), _CHAIN), ((_ZERO + 0.33, -_CHAIN), -_CHAIN)]
        loop = (_ZERO - 0.3, -_CHAIN + 0.15), (_ZERO - 0.3, -_CHAIN - 0.15)
        arrow(axes, (_ZERO, _CHAIN - 0.33), (_ZERO, -_CHAIN + 0.33))
        whiff_mark(axes, (_ZERO, 0))
    for start, y in ways:
        arrow(axes, start, (_XS[0] - 0.34, y))
        axes.plot(
            (start[0] + _XS[0] - 0.34) / 2,
            (start[1] + y) / 2 + 0.22 * (1 if y > 0 else -1),
            "o",
            ms=2.8,
            mfc="white",
            mec=INK,
            mew=0.6,
        )
    top = 0.3 if shared else _CHAIN + 0.15
    axes.text(-1.2, top + 0.75, "start", ha="left", va="center", fontsize=6.5)
    arrow(axes, (-0.55, top + 0.6), (_ZERO - 0.42, top + 0.08), colour=GREY)
    arrow(axes, *loop, bend=1.3)
    whiff_mark(axes, (loop[0][0] - 0.36, (loop[0][1] + loop[1][1]) / 2 - 0.02))


def _block(axes: Axes, first: float, last: float, face: str) -> None:
    """The states, of both chains, from which whiffs lead the same way."""
    looks: dict[str, Any] = {
        "facecolor": face,
        "alpha": 0.3,
        "edgecolor": GREY,
        "lw": 0.5,
        "ls": (0, (2, 2)),
        "zorder": 0,
    }
    corner, width, shape = (first - 0.5, -_EDGE), last - first + 1, "round,pad=0,rounding_size=0.25"
    axes.add_patch(FancyBboxPatch(corner, width, 2 * _EDGE, boxstyle=shape, **looks))


def _rail(axes: Axes, x: float, side: int, end: float, label: str) -> None:
    """The way of whiffs from a block back to state 0, above (1) or below (-1) the chains."""
    line = Path([(x, side * _EDGE), (x, side * _RAIL), (_ZERO, side * _RAIL), (_ZERO, side * (_RAIL - 0.3))])
    axes.add_patch(PathPatch(line, fill=False, lw=0.8, edgecolor=INK, joinstyle="round", zorder=1))
    arrow(axes, (_ZERO, side * (_RAIL - 0.3)), (_ZERO, side * end))
    whiff_mark(axes, ((x + _ZERO) / 2 - 1.2, side * _RAIL))
    axes.text(
        (x + _ZERO) / 2 - 1.0, side * (_RAIL + 0.08), label, ha="left", va="bottom" if side > 0 else "top", fontsize=6.5
    )


def _shares(axes: Axes, result: Result) -> None:
    names = result.facts["environments"]
    for e, name in enumerate(names):
        box(axes, e, result["share"][e], COLOURS[name])
    axes.axhline(0.5, color=GREY, lw=0.6, ls=(0, (2, 2)), zorder=0)
    environment_axis(axes, names)
    labels = [f"{name}\nτ = {tau:.0f}" for name, tau in zip(names, result["tau"], strict=True)]
    axes.set_xticklabels(labels, fontsize=5.8)
    axes.set_ylim(0, 1)
    axes.set_ylabel(f"share of decisions in {PLUS}")
    title(axes, "b", "Use in training")
