"""From an array in a file to ``c[t, x, y]``, some snapshots at a time.

The steps are linear up to the last one: axis order, crop, downsampling, minus the background, times the scale, and
clipping if asked for. So the background is subtracted after downsampling, where it is small.

A small field is loaded; a larger one stays in its file as a dask array whose blocks are what one read takes.
"""

from __future__ import annotations

import math
import uuid
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.archive import UNREADABLE, first_line
from whiffclock.params import InputError, require
from whiffclock.plume.containers import Found
from whiffclock.plume.layouts import ReadSettings

if TYPE_CHECKING:
    from whiffclock.plume.whiffs import Field

#: Fields below this are loaded into memory.
LOAD_BYTES = 256 * 2**20
#: What one read aims at, and what it may take to keep whole the blocks a file is stored in.
READ_BYTES = 16 * 2**20
BLOCK_BYTES = 128 * 2**20


class Reader:
    """Reads the array ``found`` and takes the steps of ``settings``.

    Attributes
    ----------
    shape
        (snapshots, cells along the wind, cells across) of the field.
    dtype
        Type of the values: as stored, unless they are calculated with.
    """

    def __init__(self, found: Found, settings: ReadSettings) -> None:
        self.found, self.settings = found, settings
        self.axes = settings.axes or found.axes
        self.background = found.background if settings.background is None else settings.background
        name, stored, dtype, how = found.name, found.values.shape, found.values.dtype, settings
        require(len(stored) == 3, f"{name} has {len(stored)} dimensions {stored}; it needs three: time, x, y.")
        require(dtype.kind in "iuf", f"{name} holds values of type {dtype}; a field needs real numbers.")
        t, x, y = (stored[self.axes.index(letter)] for letter in "txy")
        require(
            how.first < t and (how.end is None or how.end <= t),
            f"{name} has {t} snapshots; {how.first}:{how.end or ''} is not among them.",
        )
        self.crop = x0, x1, y0, y1 = how.crop or (0, x, 0, y)
        require(
            x1 <= x and y1 <= y,
            f"{name} has {x} x {y} cells with axes {self.axes}; the crop {how.crop} reaches beyond them.",
        )
        require(
            self.background <= t,
            f"{name} has {t} snapshots; a background of the first {self.background} cannot be taken from them.",
        )
        spare = 0 if how.downsample_method == "mean" else how.downsample - 1
        cells = (x1 - x0 + spare) // how.downsample, (y1 - y0 + spare) // how.downsample
        require(min(cells) >= 1, f"{name} has {x} x {y} cells; downsampling by {how.downsample} leaves none.")
        self.shape = (how.end or t) - how.first, *cells
        averaged = how.downsample > 1 and how.downsample_method == "mean"
        calculated = averaged or self.background or how.scale != 1
        self.dtype: np.dtype = dtype.newbyteorder("=")
        self.dtype = np.result_type(self.dtype, np.float32) if calculated else self.dtype
        self._at_once = self._snapshots_at_once(x * y * max(self.dtype.itemsize, dtype.itemsize))

    def _snapshots_at_once(self, per_snapshot: int) -> int:
        """How many snapshots to read in one go: whole storage blocks, if they fit."""
        block = self.found.blocks[self.axes.index("t")] if self.found.blocks else 1
        if block * per_snapshot > BLOCK_BYTES:
            return max(1, BLOCK_BYTES // per_snapshot)
        return max(block, max(1, READ_BYTES // per_snapshot) // block * block)

    def field(self) -> Field:
        """The field, in memory if it is small, in its file otherwise."""
        first, (snapshots, x, y) = self.settings.first, self.shape
        borders = self._borders(first, first + snapshots)
        if math.prod(self.shape) * self.dtype.itemsize < LOAD_BYTES:
            whole = np.empty(self.shape, self.dtype)
            for start, end in pairwise(borders):
                whole[start - first : end - first] = self._calculate(start, end)
            return whole
        import dask.array

        def block(block_info: Any = None) -> np.ndarray:
            start, end = block_info[None]["array-location"][0]
            return self._calculate(first + start, first + end)

        sizes = tuple(end - start for start, end in pairwise(borders))
        like = np.empty((0, 0, 0), self.dtype)
        name = f"plume-{uuid.uuid4().hex}"
        return dask.array.map_blocks(  # type: ignore[no-untyped-call]
            block, name=name, chunks=(sizes, (x,), (y,)), dtype=self.dtype, meta=like
        )

    def _borders(self, start: int, end: int) -> list[int]:
        """Where reads from ``start`` to ``end`` begin and end: on the borders of storage blocks."""
        size = self._at_once
        return [start, *range((start // size + 1) * size, end, size), end]

    def _calculate(self, start: int, end: int) -> np.ndarray:
        """Snapshots ``start`` to ``end`` of the file as part of the field."""
        values = self._reduce(start, end)
        if self.background:
            values = values - self._mean_background
        if self.settings.scale != 1:
            values = values * values.dtype.type(self.settings.scale)
        return np.maximum(values, 0) if self.settings.clip else values

    def _reduce(self, start: int, end: int) -> np.ndarray:
        """Snapshots of the file in the order (t, x, y), cropped and downsampled."""
        factor, (_, x, y), values = self.settings.downsample, self.shape, self._read(start, end)
        if factor > 1 and self.settings.downsample_method == "mean":
            blocks = values[:, : x * factor, : y * factor].reshape(end - start, x, factor, y, factor)
            return blocks.mean(axis=(2, 4), dtype=self.dtype)
        return values[:, ::factor, ::factor].astype(self.dtype, copy=False)

    def _read(self, start: int, end: int) -> np.ndarray:
        x0, x1, y0, y1 = self.crop
        wanted = {"t": slice(start, end), "x": slice(x0, x1), "y": slice(y0, y1)}
        try:
            values = np.asarray(self.found.values[tuple(wanted[letter] for letter in self.axes)])
        except (*UNREADABLE, RuntimeError) as error:
            raise InputError(
                f"{self.found.name} is damaged or cut short at snapshots {start} to {end - 1}: {first_line(error)}."
            ) from error
        return values.transpose([self.axes.index(letter) for letter in "txy"])

    @cached_property
    def _mean_background(self) -> np.ndarray:
        total = np.zeros(self.shape[1:])
        for start, end in pairwise(self._borders(0, self.background)):
            total += self._reduce(start, end).sum(axis=0, dtype=np.float64)
        return (total / self.background).astype(self.dtype)
