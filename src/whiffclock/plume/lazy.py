"""A field that stays in its file: read some snapshots at a time, brought to ``c[t, x, y]`` on the way.

The steps are linear up to the last one: axis order, crop, downsampling, minus the background, times the scale, and
clipping if asked for. So the background is subtracted after downsampling, where it is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whiffclock.archive import UNREADABLE, first_line
from whiffclock.params import InputError, ReadSettings, require

#: What one read aims at, and what it may take to keep whole the blocks a file is stored in.
READ_BYTES = 16 * 2**20
BLOCK_BYTES = 128 * 2**20


@dataclass(frozen=True)
class Stored:
    """An array as a file stores it, in any order of its axes.

    Attributes
    ----------
    name
        The file, and where in it, for messages.
    read
        Takes one slice per axis, returns an array.
    blocks
        Extent of the blocks it is stored in, per axis, where it is stored in blocks.
    close
        Lets go of the file.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[tuple[slice, ...]], np.ndarray]
    blocks: tuple[int, ...] | None = None
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class LazyField:
    """Concentrations ``c[t, x, y]`` of ``stored``, after the steps of ``settings``, read when asked for.

    Index it with snapshots first, as an array: ``field[7]``, ``field[10:20]``, ``field[:100, x, y]``.
    """

    stored: Stored
    axes: str
    settings: ReadSettings = field(default_factory=ReadSettings)
    _background: list[np.ndarray] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        name, shape = self.stored.name, self.stored.shape
        require(len(shape) == 3, f"{name} has {len(shape)} dimensions {shape}; it needs three: time, x, y.")
        require(
            self.stored.dtype.kind in "iuf",
            f"{name} holds values of type {self.stored.dtype}; a field needs real numbers.",
        )
        t, x, y = self._grid()
        how = self.settings
        require(
            how.first < t and (how.end is None or how.end <= t),
            f"{name} has {t} snapshots; {how.first}:{how.end or ''} is not among them.",
        )
        if how.crop is not None:
            require(
                how.crop[1] <= x and how.crop[3] <= y,
                f"{name} has {x} x {y} cells with axes {self.axes}; the crop {how.crop} reaches beyond them.",
            )
        require(
            (how.background or 0) <= t,
            f"{name} has {t} snapshots; a background of the first {how.background} cannot be taken from them.",
        )
        require(min(self.shape) >= 1, f"{name} has {x} x {y} cells; downsampling by {how.downsample} leaves none.")

    def _grid(self) -> tuple[int, int, int]:
        t, x, y = (self.stored.shape[self.axes.index(letter)] for letter in "txy")
        return t, x, y

    @property
    def shape(self) -> tuple[int, int, int]:
        """(snapshots, cells along the wind, cells across)."""
        t, x, y = self._grid()
        x0, x1, y0, y1 = self.settings.crop or (0, x, 0, y)
        factor = self.settings.downsample
        spare = 0 if self.settings.downsample_method == "mean" else factor - 1
        return (self.settings.end or t) - self.settings.first, (x1 - x0 + spare) // factor, (y1 - y0 + spare) // factor

    @property
    def dtype(self) -> np.dtype:
        """Type of the values: as stored, unless they are calculated with."""
        how = self.settings
        averaged = how.downsample > 1 and how.downsample_method == "mean"
        if averaged or how.background or how.scale != 1:
            return np.result_type(self.stored.dtype.newbyteorder("="), np.float32)
        return self.stored.dtype.newbyteorder("=")

    @property
    def ndim(self) -> int:
        """Always 3."""
        return 3

    @property
    def itemsize(self) -> int:
        """Bytes per value."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the whole field, if it were in memory."""
        return math.prod(self.shape) * self.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def snapshots_at_once(self) -> int:
        """How many snapshots to read in one go: whole storage blocks, if they fit."""
        _, x, y = self._grid()
        per_snapshot = x * y * max(self.itemsize, self.stored.dtype.itemsize)
        block = self.stored.blocks[self.axes.index("t")] if self.stored.blocks else 1
        aim = max(1, READ_BYTES // per_snapshot)
        if block * per_snapshot > BLOCK_BYTES:
            return max(1, BLOCK_BYTES // per_snapshot)
        return max(block, aim // block * block)

    def chunks(self, first: int = 0, end: int | None = None) -> Iterator[slice]:
        """Slices of time that cover ``first`` to ``end``, each one read, on the borders of storage blocks."""
        end = self.shape[0] if end is None else end
        size, offset = self.snapshots_at_once, self.settings.first
        while first < end:
            stop = min(end, (first + offset) // size * size + size - offset)
            yield slice(first, stop)
            first = stop

    def between(self, first: int, end: int) -> LazyField:
        """The same field, snapshots ``first`` up to but not including ``end``."""
        offset = self.settings.first
        settings = replace(self.settings, first=offset + first, end=offset + end)
        return replace(self, settings=settings)

    def __getitem__(self, index: Any) -> np.ndarray:
        when, *where = index if isinstance(index, tuple) else (index,)
        if not isinstance(when, slice):
            moment = range(len(self))[when]
            return self._calculate(slice(moment, moment + 1))[(0, *where)]
        times = range(len(self))[when]
        if times.step != 1:
            return np.stack([self[t][(..., *where)] for t in times])
        parts = [self._calculate(part)[(slice(None), *where)] for part in self.chunks(times.start, times.stop)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty((0, *self.shape[1:]), self.dtype)[(slice(None), *where)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("A field in a file cannot become an array without a copy.")
        whole = np.empty(self.shape, self.dtype if dtype is None else dtype)
        for part in self.chunks():
            whole[part] = self._calculate(part)
        return whole

    def _calculate(self, part: slice) -> np.ndarray:
        """Snapshots of the field; ``part`` counts from the field's first."""
        offset, how = self.settings.first, self.settings
        values = self._reduce(slice(part.start + offset, part.stop + offset))
        if how.background:
            values = values - self._mean_background(how.background)
        if how.scale != 1:
            values = values * values.dtype.type(how.scale)
        return np.maximum(values, 0) if how.clip else values

    def _reduce(self, when: slice) -> np.ndarray:
        """Snapshots of the file in the order (t, x, y), cropped and downsampled."""
        factor, n = self.settings.downsample, when.stop - when.start
        values = self._read(when)
        if factor > 1 and self.settings.downsample_method == "point":
            values = values[:, ::factor, ::factor]
        elif factor > 1:
            _, x, y = self.shape
            blocks = values[:, : x * factor, : y * factor].reshape(n, x, factor, y, factor)
            return blocks.mean(axis=(2, 4), dtype=self.dtype)
        return values.astype(self.dtype, copy=False)

    def _read(self, when: slice) -> np.ndarray:
        _, x, y = self._grid()
        x0, x1, y0, y1 = self.settings.crop or (0, x, 0, y)
        wanted = {"t": when, "x": slice(x0, x1), "y": slice(y0, y1)}
        try:
            values = np.asarray(self.stored.read(tuple(wanted[letter] for letter in self.axes)))
        except (*UNREADABLE, RuntimeError) as error:
            raise InputError(
                f"{self.stored.name} is damaged or cut short at snapshots {when.start} to {when.stop - 1}: "
                f"{first_line(error)}."
            ) from error
        return values.transpose([self.axes.index(letter) for letter in "txy"])

    def _mean_background(self, snapshots: int) -> np.ndarray:
        if not self._background:
            total = np.zeros(self.shape[1:])
            size = self.snapshots_at_once
            for t in range(0, snapshots, size):
                total += self._reduce(slice(t, min(t + size, snapshots))).sum(axis=0, dtype=np.float64)
            self._background.append((total / snapshots).astype(self.dtype))
        return self._background[0]


#: What a plume may hold: an array in memory or a field in a file.
Field = np.ndarray | LazyField
