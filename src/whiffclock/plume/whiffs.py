"""From concentration to whiffs: a field is thresholded once, into a packed record.

Concentrations and thresholds are compared in single precision, as in a plume's fingerprint.
The record holds one bit per cell and snapshot, ``words[x, w, t]`` with bit ``y - 32 w``: 1.3 MB for the
paper's field, which stays in a core's cache while agents learn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from whiffclock.formatting import plainly
from whiffclock.params import WorldSettings, require
from whiffclock.world.episode import SourceRegion, World

if TYPE_CHECKING:
    import dask.array

#: The field of a plume: an array in memory, or one that stays in its file.
Field: TypeAlias = "np.ndarray | dask.array.Array"
_WORD = 32
_CHUNK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Whiffs:
    """All whiffs of a plume at one threshold."""

    words: np.ndarray  # uint32[x, w, t]; bit b of word w is the whiff at y = 32 w + b
    width: int  # number of cells across the wind
    threshold: float  # a whiff is a concentration of at least this
    source: tuple[int, int]  # its cell (x, y)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(snapshots, cells along the wind, cells across)."""
        length, _, snapshots = self.words.shape
        return snapshots, length, self.width

    def world(self, settings: WorldSettings) -> World:
        """The record and geometry for the kernels."""
        (x, y), radius_squared = self.source, int(settings.radius**2)
        return World(self.words, SourceRegion(self.width, x, y, radius_squared, x + math.isqrt(radius_squared)))

    def between(self, first: int, end: int | None = None) -> Whiffs:
        """Some of the snapshots, as a record of their own."""
        return replace(self, words=np.ascontiguousarray(self.words[:, :, first:end]))

    def ever(self, before: int | None = None) -> np.ndarray:
        """bool[x, y]: cells with at least one whiff in the record, or in its snapshots before ``before``."""
        return _unpack(np.bitwise_or.reduce(self.words[:, :, :before], axis=2), self.width)

    def record(self, cells: slice) -> np.ndarray:
        """bool[x, t, y]: the whiffs of some of the cells along the wind, unpacked."""
        return _unpack(np.moveaxis(self.words[cells], 1, 2), self.width)

    def series(self, x: int, y: int) -> np.ndarray:
        """bool[t]: the whiffs of one cell."""
        return (self.words[x, y // _WORD] >> np.uint32(y % _WORD) & np.uint32(1)).astype(bool)

    def snapshot(self, t: int) -> np.ndarray:
        """bool[x, y]: the whiffs of one snapshot."""
        return _unpack(self.words[:, :, t], self.width)

    def probability(self) -> np.ndarray:
        """float[x, y]: share of snapshots with a whiff."""
        counts = np.zeros((self.words.shape[0], self.width), dtype=np.int64)
        for t in range(self.words.shape[2]):
            counts += self.snapshot(t)
        return counts / self.words.shape[2]

    def conditional(self, moves: Sequence[tuple[int, int]], prior: float) -> np.ndarray:
        """float[move, previous, x, y]: probability of a whiff, given a blank (0) or a whiff (1) one snapshot before.

        The observation before was made at the cell without the move, ``(x - dx, y - dy)``; off the grid it is a blank.
        To the counts of each, ``prior`` snapshots are added in which the cell has whiffs as often as in all the record.
        """
        snapshots, length, width = self.shape
        now, (before, both) = np.zeros((length, width)), np.zeros((2, len(moves), length, width))
        for t in range(1, snapshots):
            there, here = np.pad(self.snapshot(t - 1), 1), self.snapshot(t)
            now += here
            for i, (dx, dy) in enumerate(moves):
                was = there[1 - dx : 1 - dx + length, 1 - dy : 1 - dy + width]
                before[i] += was
                both[i] += was & here
        whiffs = np.stack([now - both, both], axis=1)
        times = np.stack([snapshots - 1 - before, before], axis=1)
        return (whiffs + prior * self.probability()) / (times + prior)


def threshold_field(field: Field, threshold: float, source: tuple[int, int]) -> Whiffs:
    """Threshold ``field[t, x, y]``, some snapshots at a time."""
    lowest = single(threshold)
    snapshots, length, width = field.shape
    words = np.empty((length, -(-width // _WORD), snapshots), dtype=np.uint32)
    for part in time_chunks(field):
        words[:, :, part] = np.moveaxis(_pack(single(field[part]) >= lowest), 0, 2)
    return Whiffs(words, width, threshold, source)


def single(values: Field | float) -> np.ndarray:
    """Concentrations in single precision, in which they are compared and fingerprinted."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype="<f4")


def time_chunks(field: Field) -> Iterator[slice]:
    """Slices of the first axis, small enough to work on in memory."""
    size = max(1, _CHUNK_BYTES // max(1, math.prod(field.shape[1:]) * field.dtype.itemsize))
    ends = [*range(size, field.shape[0], size), field.shape[0]]
    if hasattr(field, "chunks"):
        ends = np.cumsum(field.chunks[0]).tolist()
    for first, end in pairwise([0, *ends]):
        yield slice(first, end)


def start_cells(start: Whiffs, settings: WorldSettings) -> np.ndarray:
    """D_init as int32[n, 2]: cells with at least one whiff in ``start``, outside the source disc."""
    x, y = np.nonzero(start.ever())
    outside = (x - start.source[0]) ** 2 + (y - start.source[1]) ** 2 > settings.radius**2
    cells = np.stack([x[outside], y[outside]], axis=1).astype(np.int32)
    none = f"No cell outside the source region ever reaches the start threshold {plainly(start.threshold)}"
    require(len(cells) > 0, f"{none}, so no search can start; lower the start threshold.")
    return cells


def _pack(whiffs: np.ndarray) -> np.ndarray:
    """bool[..., y] to uint32[..., w]."""
    padding = [(0, 0)] * (whiffs.ndim - 1) + [(0, -whiffs.shape[-1] % _WORD)]
    octets = np.packbits(np.pad(whiffs, padding), axis=-1, bitorder="little")
    return np.ascontiguousarray(octets).view("<u4")


def _unpack(words: np.ndarray, width: int) -> np.ndarray:
    """uint32[..., w] to bool[..., y]."""
    octets = np.ascontiguousarray(words).astype("<u4").view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=width, bitorder="little").astype(bool)
