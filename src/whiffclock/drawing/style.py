"""Style of all figures: colours, sizes, letters, and the settings under which they are drawn."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

#: One colour per environment of the paper: lighter where the plume is sparser, distinct for colour-blind readers. Those
#: of other environments lie between them.
COLOURS = {"denser": "#1F3C88", "dense": "#0E7C86", "sparse": "#57A55A", "sparser": "#E8A317"}
#: Lines and markers of the environments, where colour alone could fail.
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (5, 1, 1, 1, 1, 1)), (0, (2, 2)), (0, (1, 3))
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
INK, GREY, FADED, PALE = "#222222", "#666666", "#A8A8A8", "#E4E4E4"
SOURCE = "#C00000"
#: Looks of the lines of cast-and-surge and of the Bayesian agent.
CAST_LINE: dict[str, Any] = {"color": "#B565C4", "ls": (0, (3, 1.5))}
BAYES_LINE: dict[str, Any] = {"color": INK}
#: No text is smaller than this, in points.
SMALLEST = 6.0

#: Widths in inches: one column of a paper, and two.
ONE_COLUMN, TWO_COLUMNS = 3.4, 7.0

#: Labels of the axes of geometry: name of the metric, then its unit. The length of the downwind return is the one that
#: the paper draws, after the upwind extreme (R13).
GEOMETRY_LABELS = {
    "surge_length": ("surge length", "cells"),
    "cast_width": ("cast width", "cells"),
    "upwind_search": ("upwind search", "cells"),
    "downwind_return_length": ("downwind return length", "cells"),
    "downwind_return_start": ("downwind return starts", "move"),
}
#: Labels of the axes of performance.
PERFORMANCE = {"G": "mean reward $G$", "T_min/T": r"mean $T_{\min}/T$", "f+": "success rate $f^+$"}
MINUS, PLUS = "Q$^-$", "Q$^+$"

_SETTINGS = Path(__file__).with_name("figures.mplstyle")
# The settings of matplotlib are global, so threads take turns.
_TURN = threading.RLock()


@contextmanager
def context(salt: str = "whiffclock") -> Iterator[None]:
    """Draw or save under these settings, not those of the user; ids in SVG depend on the ``salt``."""
    with _TURN, matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(_SETTINGS, use_default_template=False))
        matplotlib.rcParams["svg.hashsalt"] = salt
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, size in inches, without a window or global state."""
    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(h_pad=0.04, w_pad=0.04))


def given_or_new(axes: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new figure of pyplot, size in inches."""
    if axes is None:
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return axes


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each environment, from dense to sparse; names of the paper have the paper's colours."""
    names = tuple(names)
    if {*names} <= {*COLOURS}:
        return {name: COLOURS[name] for name in names}
    ramp = LinearSegmentedColormap.from_list("environments", list(COLOURS.values()))
    return {name: to_hex(colour) for name, colour in zip(names, ramp(np.linspace(0, 1, len(names))), strict=True)}


def dark(colour: str) -> str:
    """A darker shade, for lines and text on white."""
    return to_hex((*(0.72 * np.array(to_rgb(colour))),))


def tint(colour: str, share: float = 0.4) -> str:
    """A light shade for areas; ``share`` of the colour, the rest white."""
    return to_hex((*(share * np.array(to_rgb(colour)) + 1 - share),))


def clock_colours(colour: str) -> LinearSegmentedColormap:
    """From bright (clock 0) to dark (clock H) within one hue."""
    base = np.array(to_rgb(colour))
    return LinearSegmentedColormap.from_list(colour, [0.45 * base + 0.55, base, 0.3 * base])


def title(axes: Axes, letter: str = "", text: str = "", colour: str = INK, pad: float | None = None) -> None:
    """A panel's letter, in bold, and its title, ``pad`` points above the panel."""
    bold = rf"$\mathbf{{{letter}}}$" if letter else ""
    axes.set_title("  ".join(part for part in (bold, text) if part), loc="left", color=colour, pad=pad)


def environment_axis(axes: Axes, names: Sequence[str], *, rotate: bool = False, borders: bool = False) -> None:
    """Environments along x, their names in their colours, with or without lines between them."""
    shades = colours(names)
    axes.set_xticks(range(len(names)), names, rotation=40 if rotate else 0, ha="right" if rotate else "center")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="x", length=0, pad=1 if rotate else 2)
    for word, name in zip(axes.get_xticklabels(), names, strict=True):
        word.set_color(dark(shades[name]))
        word.set_rotation_mode("anchor" if rotate else "default")
    for border in range(1, len(names) if borders else 0):
        axes.axvline(border - 0.5, color="#CCCCCC", lw=0.5)


def empty(axes: Axes, reason: str, *, scales: bool = False) -> None:
    """Write why a panel is empty, with or without its scales."""
    axes.tick_params(left=scales, bottom=scales, labelleft=scales, labelbottom=scales)
    axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", va="center", color=GREY, fontsize=6.5)
