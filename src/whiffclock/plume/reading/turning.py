"""Turning stored frames so that x grows downwind: by multiples of 90 degrees, never mirrored.

A stored frame has x to the right and y downwards, as a picture. Sizes and cells are (x, y).
"""

from collections.abc import Sequence

import numpy as np

from whiffclock.params import require
from whiffclock.plume.reading.layouts import Wind

#: Quarter turns, from x towards y, that a wind needs.
_QUARTERS: dict[Wind, int] = {"right": 0, "up": 1, "left": 2, "down": 3}


def turned(values: np.ndarray, wind: Wind) -> np.ndarray:
    """``values[..., x, y]`` as they are stored, as a view with x downwind."""
    require(wind in _QUARTERS, f"The wind is {wind!r}; it must be one of {', '.join(_QUARTERS)}.")
    return np.rot90(values, _QUARTERS[wind], axes=(-2, -1))


def turned_size(size: tuple[int, int], wind: Wind) -> tuple[int, int]:
    """The size of a stored frame after turning."""
    return size if wind in ("right", "left") else size[::-1]


def turned_cell(cell: Sequence[int], size: tuple[int, int], wind: Wind) -> tuple[int, int]:
    """A cell of a stored frame of ``size``, after turning."""
    (x, y), (right, bottom) = cell, (size[0] - 1, size[1] - 1)
    return {"right": (x, y), "up": (bottom - y, x), "left": (right - x, bottom - y), "down": (y, right - x)}[wind]


def stored_part(crop: tuple[int, int, int, int], size: tuple[int, int], wind: Wind) -> dict[str, slice]:
    """The stored cells ``x`` and ``y`` that become the ``crop`` (x0, x1, y0, y1) of the turned frame."""
    (x0, x1, y0, y1), (length, width) = crop, size
    x, y = {
        "right": ((x0, x1), (y0, y1)),
        "up": ((y0, y1), (width - x1, width - x0)),
        "left": ((length - x1, length - x0), (width - y1, width - y0)),
        "down": ((length - y1, length - y0), (x0, x1)),
    }[wind]
    return {"x": slice(*x), "y": slice(*y)}
