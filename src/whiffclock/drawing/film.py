"""A search as an animation: plume, path and clock, with the phases of recovery as they happen."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, LogNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Circle, Wedge

from whiffclock.drawing import style
from whiffclock.drawing.plane import borders, draw_cells
from whiffclock.path_metrics import RETURN_BEGINS, SURGE_ENDS
from whiffclock.plume import Plume
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.trajectory import Trajectory

#: Phases of recovery, by their number.
PHASES = ("surge", "cast", "return")
SURGE, CAST, RETURN = range(3)
#: Concentrations below this share of the highest are left white.
FAINT = 1e-3
DOWNWIND, ACROSS = "x downwind of the source (cells)", "y across (cells)"
#: Shades of odor, and shades of each colour of a GIF: few of them make a small file.
_ODOR, _SHADES = ("#E9E9E9", "#CCCCCC", "#A6A6A6", "#7C7C7C"), 6
_INCHES, _DPI = (10.0, 4.4), 100
_VEIL = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75}


def phases(path: np.ndarray) -> np.ndarray:
    """The phase of every move of a path [moves + 1, (x, y)] that begins on a whiff and meets blanks only.

    It surges until two moves in a row are not upwind, and returns in runs of moves that begin with three downwind
    ones and end before two that are not; the rules are those of :func:`whiffclock.geometry`. All else is a cast.
    """
    moves = np.diff(path[:, 0])
    found = np.full(len(moves), CAST)
    found[: _first(moves != -1, SURGE_ENDS)] = SURGE
    at = 0
    while (begin := at + _first(moves[at:] == 1, RETURN_BEGINS)) < len(moves):
        at = begin + _first(moves[begin:] != 1, SURGE_ENDS)
        found[begin:at] = RETURN
    return found


def phases_of(trajectory: Trajectory) -> np.ndarray:
    """The phase of every move of a search; its clock starts again at every whiff."""
    cuts = np.unique([0, *np.flatnonzero(trajectory.whiff), trajectory.moves])
    path = np.append([[0, 0]], DISPLACEMENT[trajectory.action[:-1]].cumsum(axis=0), axis=0)  # robots move otherwise
    parts = [phases(path[a : b + 1]) for a, b in pairwise(cuts)]
    return np.concatenate([np.zeros(0, int), *parts])


def _first(hits: np.ndarray, length: int) -> int:
    """Start of the first ``length`` hits in a row, or the number of hits if there are none."""
    rows = np.lib.stride_tricks.sliding_window_view(hits, length).all(axis=1) if len(hits) >= length else hits[:0]
    return int(rows.argmax()) if rows.any() else len(hits)


def concentrations(plume: Plume, snapshot: int) -> np.ndarray:
    """Concentrations [x, y] of a snapshot; NaN where there is hardly any odor."""
    cells = np.asarray(plume.field[snapshot], dtype=np.float64)
    return np.where(cells >= FAINT * plume.highest, cells, np.nan)


class Film:
    """The frames of a search: its figure, drawn again for every move."""

    def __init__(self, trajectory: Trajectory, plume: Plume, title: str) -> None:
        self.search, self.plume = trajectory, plume
        self._x, self._y = (trajectory.position - plume.source).T
        self._phase = phases_of(trajectory)
        self._colours = np.array([*map(style.dark, style.colours(PHASES).values())])
        self._turn = 100 * max(1, -(-int(trajectory.clock.max()) // 100))  # moves of a full turn of the dial
        self.figure = Figure(figsize=_INCHES, dpi=_DPI, layout=ConstrainedLayoutEngine(h_pad=0.06, w_pad=0.06))
        panels = self.figure.subplot_mosaic(
            [["plane", "plane"], ["dial", "time"]], height_ratios=[2.1, 1], width_ratios=[1, 6]
        )
        self._artists: dict[str, Any] = {}
        self._draw_plane(panels["plane"])
        self._draw_dial(panels["dial"])
        self._draw_time(panels["time"])
        panels["plane"].set_title(title.replace("$", r"\$"), loc="left", fontsize=11)  # not mathematics
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")  # the same for all frames

    def draw(self, now: int) -> None:
        """Draw what is known after ``now`` moves."""
        search, drawn, phase = self.search, self._artists, self._phase[max(now - 1, 0) : max(now, 1)]
        drawn["image"].set_data(concentrations(self.plume, int(search.snapshot[now])).T)
        seen = np.flatnonzero(search.whiff[: now + 1])
        drawn["whiffs"].set_data(self._x[seen], self._y[seen])
        drawn["agent"].set_data(self._x[now : now + 1], self._y[now : now + 1])
        for name, ends in (("path", (self._x, self._y)), ("clock", (np.arange(now + 1), search.clock))):
            points = np.column_stack([one[: now + 1] for one in ends])
            drawn[name].set_segments(np.stack([points[:-1], points[1:]], axis=1))
            drawn[name].set_color(self._colours[self._phase[:now]])
        clock, smells = int(search.clock[now]), bool(search.whiff[now])
        colour = style.INK if smells or not len(phase) else self._colours[phase[0]]
        drawn["hand"].set(theta1=90 - 360 * clock / self._turn, facecolor=colour)
        drawn["count"].set_text(str(clock))
        for word, lit in zip(drawn["words"], [smells, *(not smells and one in phase for one in range(3))], strict=True):
            word.set_color("white" if lit else style.FADED)
            word.get_bbox_patch().set(
                facecolor=word.get_gid() if lit else "white", edgecolor=word.get_gid() if lit else style.PALE
            )

    def _draw_plane(self, axes: Axes) -> None:
        """The plume, the source, the start; the path and the agent are added by every frame."""
        plume, x, y = self.plume, self._x, self._y
        norm, first = LogNorm(FAINT * plume.highest, plume.highest), concentrations(plume, int(self.search.snapshot[0]))
        image = draw_cells(axes, first, plume.source, norm=norm, cmap=ListedColormap(_ODOR))
        path = axes.add_collection(LineCollection([], lw=2, capstyle="round"))
        (whiffs,) = axes.plot([], [], "o", ms=4.5, mfc=style.INK, mec="white", mew=0.5, zorder=5)
        (agent,) = axes.plot([], [], "o", ms=9, mfc="white", mec=style.INK, mew=2, zorder=6)
        axes.plot(x[0], y[0], "D", ms=6, mfc="white", mec=style.INK, mew=1.2, zorder=4)
        axes.plot(0, 0, "o", ms=8, color=style.SOURCE, mec="white", zorder=5)
        words: dict[str, Any] = {"textcoords": "offset points", "fontsize": 10, "bbox": _VEIL, "zorder": 4}
        axes.annotate("source", (0, 0), (4, -18), color=style.SOURCE, **words)
        axes.annotate("start", (x[0], y[0]), (6, -17), **words)
        show_all(axes, plume, x, y)
        _draw_wind(axes)
        axes.tick_params(labelsize=9)
        axes.set(xlabel="", ylabel="cells")
        self._artists |= {"image": image, "path": path, "whiffs": whiffs, "agent": agent}

    def _draw_dial(self, axes: Axes) -> None:
        """A clock whose hand starts again at every whiff."""
        axes.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
        axes.set_axis_off()
        hand = axes.add_patch(Wedge((0, 0), 1, 90, 90))
        axes.add_patch(Circle((0, 0), 1, fill=False, ec=style.INK, lw=1.5))
        axes.add_patch(Circle((0, 0), 0.55, fc="white", ec="none"))
        for quarter, (x, y) in enumerate([(0, 1.2), (1.25, 0), (0, -1.2), (-1.25, 0)]):
            axes.text(x, y, str(quarter * self._turn // 4), ha="center", va="center", fontsize=8, color=style.GREY)
        count = axes.text(0, -0.03, "", ha="center", va="center", fontsize=14, weight="bold")
        self._artists |= {"hand": hand, "count": count}

    def _draw_time(self, axes: Axes) -> None:
        """The clock against the moves, and the names of the phases, of which the present one is lit."""
        clock = axes.add_collection(LineCollection([], lw=2))
        axes.set(xlim=(0, max(self.search.moves, 1)), ylim=(0, max(1, 1.1 * self.search.clock.max())))
        axes.set_xlabel("moves", fontsize=10)
        axes.set_ylabel("clock: moves\nsince last whiff", fontsize=10)
        axes.tick_params(labelsize=9)
        axes.spines[["top", "right"]].set_visible(False)
        looks: dict[str, Any] = {"transform": axes.transAxes, "fontsize": 11, "weight": "bold", "va": "bottom"}
        named = zip(
            ("whiff", "surge: upwind", "cast: across the wind", "return: downwind"),
            (style.INK, *self._colours),
            strict=True,
        )
        places = (0.02, 0.13, 0.33, 0.60)
        words = [
            axes.text(at, 1.08, name, gid=colour, bbox={"boxstyle": "round,pad=0.3"}, **looks)
            for at, (name, colour) in zip(places, named, strict=True)
        ]
        self._artists |= {"clock": clock, "words": words}

    def frame(self, now: int) -> np.ndarray:
        """The picture uint8[height, width, 3] after ``now`` moves."""
        self.draw(now)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()

    @cached_property
    def _canvas(self) -> Any:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        return FigureCanvasAgg(self.figure)

    def save(self, path: Path, frames: Sequence[int], fps: int) -> None:
        """Write the frames as a GIF."""
        from PIL import Image

        pictures, known = [], Image.new("P", (1, 1))
        known.putpalette(self._palette())
        for now in frames:
            picture = Image.fromarray(self.frame(now))
            pictures.append(picture.quantize(palette=known, dither=Image.Dither.NONE))
        held = [1000 // fps] * (len(frames) - 1) + [2000]  # two seconds to look at the end
        pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=held, loop=0, optimize=True)

    def _palette(self) -> bytes:
        """Few colours for all frames, which make a small file: shades of those that are drawn."""
        drawn = [style.INK, style.SOURCE, style.FADED, *self._colours]
        mixed = [to_rgb(style.tint(one, share)) for one in drawn for share in np.linspace(0, 1, _SHADES)]
        return bytes(round(255 * part) for one in [*mixed, *map(to_rgb, _ODOR)] for part in one)


def _draw_wind(axes: Axes) -> None:
    arrow = {"arrowstyle": "-|>", "color": style.INK, "lw": 1.5, "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0}
    axes.annotate(
        "wind", (0.99, 0.90), (-42, 0), xycoords="axes fraction", textcoords="offset points", fontsize=11,
        ha="right", va="center", arrowprops=arrow, bbox=_VEIL, zorder=7,
    )  # fmt: skip


def show_all(axes: Axes, plume: Plume, x: np.ndarray, y: np.ndarray) -> None:
    """Limits that hold the grid and a path, and the names of the axes."""
    left, right, bottom, top = borders(plume.source, plume.field.shape[1:])
    axes.set(xlim=(min(left, x.min() - 1), max(right, x.max() + 1)), xlabel=DOWNWIND, ylabel=ACROSS)
    axes.set(ylim=(min(bottom, y.min() - 1), max(top, y.max() + 1)), aspect="equal")
