"""Layouts of odor files that are around: which array holds the odor, and what its axes are.

A layout is recognised by the name of an array, by the names of its dimensions or by its shape; what a user says
(:class:`~whiffclock.params.ReadSettings`) comes before all of these.
"""

from __future__ import annotations

from dataclasses import dataclass

from whiffclock.params import InputError, require

#: Words for the three axes, as dimension names use them.
AXIS_NAMES = {
    **dict.fromkeys(("t", "time", "frame", "frames", "snapshot", "snapshots", "step"), "t"),
    **dict.fromkeys(("x", "downwind", "streamwise"), "x"),
    **dict.fromkeys(("y", "crosswind", "spanwise"), "y"),
}

#: The array of the paper, (t, y, x), as it is passed around without names.
PAPER_SHAPE = (2598, 27, 123)

#: Arrays of wind velocity that lie beside odor in the same data set.
VELOCITIES = ("uu", "vv", "ww")


@dataclass(frozen=True)
class Layout:
    """What is known of an array called ``key``: its axes, and how many first snapshots are background."""

    key: str
    axes: str
    about: str
    background: int = 0


LAYOUTS = (
    Layout("nose", "tyx", "channel flow, nose height"),
    Layout("ground", "tyx", "channel flow, ground"),
    Layout("dataset2", "txy", "PLIF"),
    Layout("frames", "txy", "smoke", background=200),
    Layout("concentration", "tyx", "concentration"),
)


def known_layout(keys: list[str]) -> Layout | None:
    """The layout that one of ``keys`` belongs to."""
    return next((layout for layout in LAYOUTS if layout.key in keys), None)


def named_axes(dimensions: list[str]) -> str | None:
    """``["time", "y", "x"]`` to ``"tyx"``; ``None`` if the names do not say."""
    letters = "".join(AXIS_NAMES.get(name.lower(), "?") for name in dimensions)
    return letters if sorted(letters) == ["t", "x", "y"] else None


def shape_axes(shape: tuple[int, ...]) -> str:
    """Axes of an array that nothing else is known of."""
    return "tyx" if shape == PAPER_SHAPE else "txy"


def choose_key(file: str, wanted: str | None, shapes: dict[str, tuple[int, ...]]) -> str:
    """The array to read: the wanted one, that of a known layout, or the only one with three dimensions.

    ``shapes`` are the shapes of all arrays of ``file``.
    """
    found = _listing(shapes)
    if wanted is not None:
        key = wanted.strip("/")
        if key not in shapes:
            raise InputError(f"{file} has no array called {wanted!r}; found: {found}.")
        return key
    solid = [key for key, shape in shapes.items() if len(shape) == 3]
    layout = known_layout(solid)
    if layout is not None:
        return layout.key
    if solid and set(solid) <= set(VELOCITIES):
        raise InputError(f"{file} holds wind velocities ({', '.join(solid)}), not odor.")
    if not solid:
        raise InputError(f"{file} has no array with three dimensions (time, x, y); found: {found}.")
    if len(solid) > 1:
        raise InputError(f"{file} has several arrays with three dimensions, name one as key; found: {found}.")
    return solid[0]


def _listing(shapes: dict[str, tuple[int, ...]], most: int = 8) -> str:
    parts = [f"{key} {shape}" for key, shape in list(shapes.items())[:most]]
    more = len(shapes) - len(parts)
    return (", ".join(parts) or "no arrays at all") + (f" and {more} more" if more else "")


def numbered_frames(file: str, shapes: dict[str, tuple[int, ...]]) -> list[str]:
    """Keys of a record with one array per snapshot, in the order of their numbers; empty if it is not one."""
    flat = [key for key, shape in shapes.items() if key.isdecimal() and len(shape) == 2]
    if len(flat) < 2 or any(len(shape) == 3 for shape in shapes.values()):
        return []
    frames = sorted(flat, key=int)
    odd = [f"{key} {shapes[key]}" for key in frames if shapes[key] != shapes[frames[0]]]
    require(
        not odd,
        f"{file} has snapshots of different shapes; {frames[0]} is {shapes[frames[0]]}, but {', '.join(odd[:3])}.",
    )
    start = int(frames[0])
    gap = next((start + i for i, key in enumerate(frames) if int(key) != start + i), None)
    require(gap is None, f"{file} has {len(frames)} numbered snapshots, but number {gap} is missing.")
    return frames


def grid_axes(frame: tuple[int, int], x_grid: tuple[int, ...], varies_along: int | None) -> str | None:
    """Axes of frames from the coordinates of their cells.

    ``x_grid`` is the shape of the array of x coordinates: one number per cell, which changes along axis
    ``varies_along`` of a frame, or one per cell along x.
    """
    if x_grid == frame and varies_along is not None:
        return "txy" if varies_along == 0 else "tyx"
    length = max(x_grid, default=0)
    if sum(n > 1 for n in x_grid) == 1 and frame[0] != frame[1] and length in frame:
        return "txy" if frame[0] == length else "tyx"
    return None
