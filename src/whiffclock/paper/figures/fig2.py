"""Fig. 2, performance: ensembles of Q-agents beside two baselines, in four environments."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from whiffclock.experiments.results import Result
from whiffclock.paper.figures import words
from whiffclock.paper.figures.boxes import Fill, box, key
from whiffclock.paper.figures.style import (
    COLOURS,
    INK,
    ONE_COLUMN,
    PERFORMANCE,
    environment_axis,
    new_figure,
    styled,
    title,
)

TITLE = "Performance of the clock agents beside two baselines"

_KINDS: dict[str, tuple[str, Fill]] = {
    "single": ("single-Q", "filled"),
    "two": ("two-Q", "open"),
    "heuristic": ("2Q$^h$", "hatched"),
}
_CAST, _BAYES = "#8C6D9E", INK


@styled
def draw(result: Result) -> Figure:
    """The figure."""
    figure = new_figure(ONE_COLUMN, 5.6)
    panels = [figure.add_subplot(3, 1, i + 1) for i in range(3)]
    for letter, axes, measure in zip("abc", panels, PERFORMANCE, strict=True):
        _measure(axes, result, measure)
        axes.set_ylabel(PERFORMANCE[measure])
        title(axes, letter)
    figure.legend(handles=_keys(), loc="outside upper center", ncols=3, columnspacing=1.2)
    return figure


def caption(result: Result) -> str:
    """What the figure shows, with its numbers."""
    facts = result.facts
    arrivals = [words.medians(result, result[kind][:, :, facts["metrics"].index("f+")]) for kind in _KINDS]
    returns = result["single"][:, :, 0]
    return words.sentences(
        "How well agents do in the environment they were trained in: mean return, speed relative to the shortest "
        "way (0 on failure), and share of searches that arrive. Boxes: quartiles over agents; points: agents, "
        "or only those beyond the whiskers where there are many. Violet dashes: cast-and-surge with its best "
        f"half-angle, {words.each(facts['environments'], result['cast_angle'], '.0f')} degrees; "
        "bands: one standard error.",
        _bayes_sentence(result),
        f"Median returns of single-Q agents: {words.medians(result, returns)}; cast-and-surge: "
        f"{words.each(facts['environments'], result['cast'][:, 0, 0])}. Median success rates: single-Q {arrivals[0]}; "
        f"two-Q {arrivals[1]}; 2Qʰ, made of agents from two environments and not trained further, {arrivals[2]}.",
        words.run(result),
        words.missing(result),
        words.plume(result),
    )


def _bayes_sentence(result: Result) -> str:
    returns = words.each(result.facts["environments"], result["bayes"][:, 0, 0])
    return (
        f"Black lines: the Bayesian agent, over {result.facts['bayes_starts']:,} of the starts; its returns: {returns}."
    )


def _measure(axes: Axes, result: Result, measure: str) -> None:
    m, names = result.facts["metrics"].index(measure), result.facts["environments"]
    for e, name in enumerate(names):
        _line(axes, e, result["cast"][e, m], _CAST, (0, (3, 1.5)))
        _line(axes, e, result["bayes"][e, m], _BAYES, "-")
        for j, (kind, (_, fill)) in enumerate(_KINDS.items()):
            box(axes, e + 0.27 * (j - 1), result[kind][e, :, m], COLOURS[name], fill, 0.21)
    environment_axis(axes, names)
    for border in range(1, len(names)):
        axes.axvline(border - 0.5, color="#CCCCCC", lw=0.5)


def _line(axes: Axes, e: int, baseline: np.ndarray, colour: str, dashes: str | tuple[int, tuple[float, float]]) -> None:
    """A baseline across one environment, with its standard error."""
    mean, error = baseline
    axes.fill_between([e - 0.45, e + 0.45], mean - error, mean + error, color=colour, alpha=0.2, lw=0)
    axes.plot([e - 0.45, e + 0.45], [mean, mean], color=colour, ls=dashes, lw=1.1, solid_capstyle="butt")


def _keys() -> list:
    keys: list = [key(label, fill) for label, fill in _KINDS.values()]
    keys.append(Line2D([], [], color=_CAST, ls=(0, (3, 1.5)), label="cast-and-surge"))
    keys.append(Line2D([], [], color=_BAYES, label="Bayesian"))
    return keys
