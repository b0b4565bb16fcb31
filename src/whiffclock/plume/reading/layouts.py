"""Which array of a file holds the odor, and the order of its axes.

An array is recognised by its name, by the names of its dimensions or by its shape; :class:`ReadSettings` have
precedence.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from whiffclock.environments import MOST, Environments
from whiffclock.params import NOT_NEGATIVE, POSITIVE, Settings, Valid, require
from whiffclock.plain_values import shown

#: Words for the three axes, as dimension names use them.
AXIS_NAMES = {
    **dict.fromkeys(("t", "time", "frame", "frames", "snapshot", "snapshots", "step"), "t"),
    **dict.fromkeys(("x", "downwind", "streamwise"), "x"),
    **dict.fromkeys(("y", "crosswind", "spanwise"), "y"),
}

#: Where the wind blows in a stored frame: x grows to the right and y downwards, as columns and rows of a picture do.
#: With ``"auto"`` it is seen in the recording, before anything else is read.
Wind = Literal["right", "left", "up", "down", "auto"]

#: Shape of the paper's array, (t, y, x), in files without names.
PAPER_SHAPE = (2598, 27, 123)


@dataclass(frozen=True)
class ReadSettings(Settings):
    """How a file becomes a field ``c[t, x, y]``; the steps are taken in the order of the attributes.

    Where ``key``, ``axes`` and ``background`` are ``None``, they come from a known layout or from the file. The mask
    has the two space axes as they are stored. From the turn on x grows downwind: the crop is in turned cells, the
    source in those of the field. Negative concentrations are set to zero last, so that noise around zero does not bias
    a mean, and not by default: a threshold is positive, so negative noise is never a whiff.
    """

    key: Annotated[str | None, "Array to read, if the file has several."] = None
    axes: Annotated[str | None, "Order of the stored axes."] = None
    mask: Annotated[str | None, "Image or .npy of a stored frame: cells that are not 0 there are bad, set to 0."] = None
    wind: Annotated[Wind, "Where the wind blows in a stored frame; it is turned, so that x grows downwind."] = "right"
    first: int = 0  # snapshot
    end: int | None = None  # the first snapshot that is left out
    every: Annotated[int, "Keep every N-th snapshot.", POSITIVE] = 1
    crop: Annotated[tuple[int, int, int, int] | None, "Cells to keep; X1 and Y1 are excluded."] = None
    downsample: Annotated[int, "Merge N x N cells into one.", POSITIVE] = 1
    downsample_method: Annotated[Literal["mean", "point"], "Take the mean of each block, or its first cell."] = "mean"
    background: Annotated[
        int | Literal["median", "low"] | None,
        "Subtract the median of each cell, its level without odor (low), or the mean of the first N snapshots.",
        NOT_NEGATIVE,
    ] = None
    invert: Annotated[bool, "Odor is dark: background minus value, or the largest whole number minus value."] = False
    scale: Annotated[float, "Multiply concentrations by X.", POSITIVE] = 1.0
    clip: Annotated[bool, "Set negative concentrations to zero."] = False
    source: Annotated[tuple[int, int] | None, "Source cell; default: middle of the upwind end."] = None
    cell_mm: Annotated[float | None, "Size of a stored cell in mm.", POSITIVE] = None
    frame_s: Annotated[float | None, "Time between stored snapshots in s.", POSITIVE] = None
    environments: Annotated[
        dict[str, float] | Literal["auto"] | None,
        "Environments of the plume: whiff thresholds, with or without names, or auto.",
    ] = None
    whiff_probability: Annotated[
        tuple[float, ...] | None,
        "Environments with these whiff probabilities.",
        Valid("The whiff probability is {}", gt=0, lt=1),
    ] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "background", background_named(self.background))
        object.__setattr__(self, "mask", os.fspath(self.mask) if isinstance(self.mask, os.PathLike) else self.mask)
        super().__post_init__()
        named = self.axes is None or sorted(self.axes) == ["t", "x", "y"]
        must = "they must be the letters t, x and y in some order, such as tyx"
        require(named, f"The axes are {shown(self.axes)}; {must}.")
        some = self.first >= 0 and (self.end is None or self.end > self.first)
        require(some, f"The snapshots are {self.first}:{self.end}; they must be FIRST:END with 0 <= FIRST < END.")
        x0, x1, y0, y1 = self.crop or (0, 1, 0, 1)
        cells = 0 <= x0 < x1 and 0 <= y0 < y1
        require(cells, f"The crop {x0}:{x1},{y0}:{y1} holds no cell; in x0:x1,y0:y1, x0 < x1 and y0 < y1 must hold.")
        if isinstance(self.environments, dict):
            Environments(self.environments).required()
        if self.whiff_probability is not None:
            require(self.environments is None, "Thresholds are given twice: as numbers, and by whiff probability.")
            different = 0 < len(set(self.whiff_probability)) == len(self.whiff_probability) <= MOST
            must = f"they must be 1 to {MOST} different numbers"
            require(different, f"The whiff probabilities are {shown(self.whiff_probability)}; {must}.")


def background_named(value: Any) -> Any:
    """``"first:200"`` to 200 and ``"none"`` to 0; other values unchanged."""
    if not isinstance(value, str) or value in ("median", "low"):
        return value
    match = re.fullmatch(r"first:(\d{1,18})", value)
    number = "0" if value == "none" else match[1] if match else value
    known = number.isascii() and number.isdecimal() and len(number) < 19
    must = "it must be median, low, none, or a number of first snapshots, such as 200 or first:200"
    require(known, f"The background is {shown(value)}; {must}.")
    return int(number)


@dataclass(frozen=True)
class Layout:
    """Facts about an array that follow from its name.

    ``details`` takes an open HDF5 file and the array's name; it returns axes that the file itself gives, or ``None``,
    and an addition to the origin.
    """

    axes: str  # their order, such as "tyx"
    about: str  # begins the plume's origin
    background: int = 0  # number of first snapshots whose mean is background
    details: Callable[[Any, str], tuple[str | None, str]] = lambda file, name: (None, "")


def grid_axes(frame: tuple[int, ...], x: Any) -> str | None:
    """Axes of frames of shape ``frame`` from the array of x coordinates: one per cell, or one per cell along x."""
    if x.shape == frame and x.size > 1:
        along_first, along_last = ((x.max(axis) - x.min(axis)).max() for axis in (0, 1))
        return "tyx" if along_last > along_first else "txy"
    length = max(x.shape, default=0)
    if sum(n > 1 for n in x.shape) == 1 and frame[0] != frame[1] and length in frame:
        return "txy" if frame[0] == length else "tyx"
    return None


def plif_details(file: Any, name: str) -> tuple[str | None, str]:
    """Axes from the coordinates of the cells; for the origin, which movie it is, and its frame rate."""
    grid = file.visit(lambda item: item if item.rpartition("/")[2] == "xGrid" else None)
    axes = grid and grid_axes(file[name].shape[1:], file[grid][()])
    rate = file.get("Attributes/imagingParameters/frameRate")
    return axes, f", {name}" + (f", {rate[()].item():g} Hz" if getattr(rate, "size", 0) == 1 else "")


#: Known layouts by the name of the array, a regular expression. The first that fits is taken, and of several arrays
#: that fit it the one with the lowest number. To add a layout, add an entry.
LAYOUTS: dict[str, Layout] = {
    r"Plume Data/dataset_\d+": Layout("txy", "PLIF", details=plif_details),
    "nose": Layout("tyx", "channel flow, nose height"),
    "ground": Layout("tyx", "channel flow, ground"),
    "dataset2": Layout("txy", "PLIF"),
    "frames": Layout("txy", "smoke", background=200),
    "concentration": Layout("tyx", "concentration"),
}


def known_layout(key: str) -> Layout | None:
    """The layout of an array called ``key``."""
    return next((layout for pattern, layout in LAYOUTS.items() if re.fullmatch(pattern, key)), None)


def named_axes(dimensions: Sequence[Any]) -> str | None:
    """``["time", "y", "x"]`` to ``"tyx"``; ``None`` if the names do not say."""
    letters = "".join(AXIS_NAMES.get(str(name).lower(), "?") for name in dimensions)
    return letters if sorted(letters) == ["t", "x", "y"] else None


def shape_axes(shape: tuple[int, ...]) -> str:
    """Axes of an array about which nothing else is known."""
    return "tyx" if shape == PAPER_SHAPE else "txy"


def array_axes(key: str, shape: tuple[int, ...], dimensions: Sequence[Any] = ()) -> str:
    """Axes of an array, by the names of its dimensions, by its own name, or by its shape."""
    layout = known_layout(key)
    return named_axes(dimensions) or (layout.axes if layout else shape_axes(shape))


def choose_key(file: Path, wanted: str | None, arrays: Mapping[str, Any], most: int = 8) -> str:
    """The one of a file's arrays to read: the wanted one, that of a known layout, or the only one with three axes."""
    more = f" and {len(arrays) - most} more" if len(arrays) > most else ""
    listed = [f"{key} {array.shape}" for key, array in arrays.items()][:most]
    found = (", ".join(listed) or "no arrays at all") + more
    if wanted is not None:
        require(wanted.strip("/") in arrays, f"{file} has no array called {wanted!r}; found: {found}.")
        return wanted.strip("/")
    candidates = [key for key, array in arrays.items() if len(array.shape) == 3]
    for pattern in LAYOUTS:
        known = [key for key in candidates if re.fullmatch(pattern, key)]
        if known:
            return min(known, key=lambda key: [int(number) for number in re.findall(r"\d+", key)])
    wind = bool(candidates) and set(candidates) <= {"uu", "vv", "ww"}
    require(not wind, f"{file} holds wind velocities ({', '.join(candidates)}), not odor.")
    require(bool(candidates), f"{file} has no array with three dimensions (time, x, y); found: {found}.")
    require(len(candidates) == 1, f"{file} has several arrays with three dimensions, name one as key; found: {found}.")
    return candidates[0]


def numbered_frames(file: Path, arrays: Mapping[str, Any]) -> list[Any]:
    """The arrays of a record with one per snapshot, in the order of their numbers; empty if it is not one."""
    numbers = sorted((key for key, array in arrays.items() if key.isdecimal() and len(array.shape) == 2), key=int)
    if len(numbers) < 2 or any(len(array.shape) == 3 for array in arrays.values()):
        return []
    first, start = arrays[numbers[0]].shape, int(numbers[0])
    odd = [f"{key} {arrays[key].shape}" for key in numbers if arrays[key].shape != first]
    require(not odd, f"{file} has snapshots of different shapes; {start} is {first}, but {', '.join(odd[:3])}.")
    gap = next((start + i for i, key in enumerate(numbers) if int(key) != start + i), None)
    require(gap is None, f"{file} has {len(numbers)} numbered snapshots, but number {gap} is missing.")
    return [arrays[key] for key in numbers]
