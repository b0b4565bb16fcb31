"""Recovery paths of several policies in one picture, on one scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from whiffclock.drawing import style
from whiffclock.drawing.plane import RecoveryPath, limits, wind
from whiffclock.path_metrics import Geometry, geometry

#: Most paths in one picture.
MOST = 80
#: In inches: the largest picture, the largest and the smallest panel, room for its title, and for labels.
_WIDEST, _TALLEST, _LARGEST, _SMALLEST, _TITLE, _LABELS = style.TWO_COLUMNS, 9.0, 3.0, 0.7, 0.24, 0.55


@dataclass(frozen=True)
class Recovery:
    """The recovery path of one mode of a policy."""

    file: Path
    threshold: float  # of the environment; 0 for a policy made for none
    environment: str
    agent: str  # the name of its ensemble
    mode: str  # empty for a single one
    seed: int | None
    path: np.ndarray  # int[moves + 1, 2]
    trained: int  # its moves up to the longest blank of training

    @property
    def geometry(self) -> Geometry:
        """The metrics of the path."""
        return geometry(self.path)

    @property
    def moves(self) -> int:
        """The length of the path."""
        return len(self.path) - 1

    @property
    def names(self) -> tuple[str, ...]:
        """Environment, agent, mode and seed as text."""
        return self.environment, self.agent, self.mode, "" if self.seed is None else f"seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        about = {"file": str(self.file), "environment": self.environment or None, "agent": self.agent}
        return about | {"mode": self.mode or None, "seed": self.seed, "moves": self.moves, **self.geometry.to_dict()}


def recovery_figure(recoveries: Sequence[Recovery]) -> Figure:
    """A panel for each path; what all have in common is in the title of the picture."""
    parts = [RecoveryPath(one.path[: one.trained + 1], one.path[one.trained :]) for one in recoveries]
    shown = limits([part.trained for part in parts], 0.08)
    across, width, height = _arrangement(len(parts), shown)
    figure = style.new_figure(width, height)
    grid = figure.subplots(-(-len(parts) // across), across, squeeze=False)
    shades = style.colours(dict.fromkeys(one.environment for one in recoveries if one.environment))
    common = [names[0] for names in zip(*(one.names for one in recoveries), strict=True) if len({*names}) == 1]
    for i, (axes, one, part) in enumerate(zip(grid.flat, recoveries, parts, strict=False)):
        colour = shades.get(one.environment, style.GREY)
        part.draw(axes, colour, 1.6 if len(parts) <= 4 else 1.0)
        axes.set(xlim=shown.intervalx, ylim=shown.intervaly, aspect="equal", anchor="N" if len(parts) > 1 else "C")
        own = ", ".join(name for name in one.names if name and name not in common)
        style.title(axes, text=own, colour=style.dark(colour))
        left, last = i % across == 0, i + across >= len(parts)
        axes.tick_params(labelleft=left, labelbottom=last)
        axes.set(xlabel="x (cells)" if last else "", ylabel="y (cells)" if left else "")
    for axes in grid.flat[len(parts) :]:
        axes.set_axis_off()
    wind(grid[0, 0])
    figure.suptitle(", ".join(filter(None, common)), fontsize=8)
    return figure


def _arrangement(count: int, shown: Bbox) -> tuple[int, float, float]:
    """How many panels side by side make them largest, and the size of the picture in inches."""

    def scale(across: int) -> float:
        down = -(-count // across)
        wide, tall = (_WIDEST - _LABELS) / across, (_TALLEST - _LABELS) / down - _TITLE
        return min(min(wide, _LARGEST) / shown.width, min(max(tall, 0.1), _LARGEST) / shown.height)

    across = max(range(1, count + 1), key=scale)
    cell = scale(across)
    down = math.ceil(count / across)
    width = across * max(cell * shown.width + _TITLE / 2, _SMALLEST) + _LABELS
    return across, width, down * (cell * shown.height + _TITLE) + _LABELS + _TITLE
