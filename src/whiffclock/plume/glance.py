"""A glance at a field: some contiguous snapshots in blocks of cells, the background, and bad pixels.

Everything is done on samples, some snapshots at a time, so that large films take little memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from whiffclock.plume.reading.files import LOW

#: Most cells along the longer side of a glance, and most snapshots.
MOST_CELLS, MOST_SNAPSHOTS = 256, 600
#: Most stored values that are read for one glance, most values that it holds, and at a time.
MOST_READ, MOST_KEPT, _AT_A_TIME = 1_000_000_000, 40_000_000, 8_000_000
#: Fewest snapshots of a large film.
FEWEST = 24
#: Snapshots that hot pixels are sought in.
_SPREAD = 9
#: Entries along each axis that are enough to find the axis of time.
_THIN = 96
#: Difference of the background between still cells, in units of the strength of odor, from which on it is uneven.
UNEVEN = 0.1


@dataclass(frozen=True, eq=False)
class Glance:
    """Contiguous snapshots from the middle of a record, in blocks of ``factor`` x ``factor`` cells."""

    frames: np.ndarray  # float32[t, x, y]
    factor: int
    first: int  # snapshot
    values: np.ndarray  # some of the values as they are, in no order

    @cached_property
    def median(self) -> np.ndarray:
        """float[x, y]: the typical value of each block."""
        return np.median(self.frames, axis=0)

    @cached_property
    def clean(self) -> np.ndarray:
        """float[x, y]: the value of each block without odor."""
        return without_odor(self.frames, self.sign)

    @cached_property
    def deviation(self) -> np.ndarray:
        """float[x, y]: standard deviation of each block in time."""
        return self.frames.std(axis=0)

    @cached_property
    def still(self) -> np.ndarray:
        """bool[x, y]: the third of the blocks that vary least."""
        return self.deviation <= np.quantile(self.deviation, 1 / 3)

    @cached_property
    def background(self) -> float:
        """The typical value of a still cell."""
        return float(np.median(self.median[self.still]))

    @cached_property
    def noise(self) -> float:
        """The typical standard deviation of a still cell."""
        return float(np.median(self.deviation[self.still]))

    @cached_property
    def strength(self) -> float:
        """How far odor departs from the background: a high quantile, in the blocks that vary most."""
        lively = self.deviation >= np.quantile(self.deviation, 0.9)
        return float(np.quantile(np.abs(self.frames[:, lively] - self.median[lively]), 0.98))

    @cached_property
    def unevenness(self) -> float:
        """How far the background differs between still cells, in units of the strength of odor."""
        low, high = np.quantile(self.median[self.still], [0.1, 0.9])
        return float((high - low) / self.strength) if self.strength > 0 else 0.0

    @property
    def uneven(self) -> bool:
        """Whether the background is uneven."""
        return self.unevenness > UNEVEN

    @property
    def lighter(self) -> float:
        """How much the most lively blocks are above the background in the mean, in units of the strength of odor."""
        lively = self.deviation >= np.quantile(self.deviation, 0.9)
        above = float(self.frames.mean(axis=0)[lively].mean()) - self.background
        return above / self.strength if self.strength > 0 else 0.0

    @cached_property
    def sign(self) -> int:
        """1 where odor is bright, -1 where it is dark."""
        return -1 if (self.skewness if abs(self.skewness) > 0.3 else self.lighter) < 0 else 1

    def odor(self) -> Glance:
        """The same less the background, and brighter where there is more odor."""
        background = self.clean if self.uneven else np.float32(self.background)
        return replace(self, frames=np.float32(self.sign) * (self.frames - background))

    def corrected(self, dtype: np.dtype, how: Glance) -> Glance:
        """The same as it is read with the options that correct background and dark odor, if ``how`` calls for them."""
        dark, whole = how.sign < 0, dtype.kind in "iu"
        if dark and whole and not how.uneven:
            return replace(self, frames=np.float32(np.iinfo(dtype).max) - self.frames)
        if not dark and not how.uneven:
            return self
        return replace(self, frames=np.float32(how.sign) * (self.frames - without_odor(self.frames, how.sign)))

    @cached_property
    def skewness(self) -> float:
        """Of values in the most lively blocks, cut at four deviations: positive of whiffs, negative of dark ones."""
        lively = self.deviation >= np.quantile(self.deviation, 0.8)
        some = self.frames[:, lively]
        some = some - some.mean(axis=0)
        spread = some.std(axis=0)
        scaled = np.clip(some / np.where(spread > 0, spread, 1), -4, 4)
        return float((scaled**3).mean())


def glance(field: Any, factor: int | None = None, most: int = MOST_SNAPSHOTS) -> Glance:
    """At most ``most`` snapshots of ``field[t, x, y]``, in blocks so large that it is small, or of ``factor``."""
    snapshots, *size = field.shape
    factor = factor or max(1, -(-max(size) // MOST_CELLS))
    count = min(snapshots, MOST_READ // (size[0] * size[1]), MOST_KEPT * factor**2 // (size[0] * size[1]))
    count = max(min(count, most), min(snapshots, FEWEST))
    first = (snapshots - count) // 2
    frames, some = [], []
    for values in _pieces(field, first, first + count):
        frames.append(blocks(values, factor))
        flat = values.reshape(-1)
        some.append(flat[:: max(1, flat.size // 200_000) | 1].copy())
    return Glance(np.concatenate(frames), factor, first, np.concatenate(some))


def without_odor(frames: np.ndarray, sign: int) -> np.ndarray:
    """float32[x, y]: the level of each block without odor, which is bright (1) or dark (-1)."""
    return np.quantile(frames, LOW if sign > 0 else 1 - LOW, axis=0).astype(np.float32)


def blocks(values: np.ndarray, factor: int) -> np.ndarray:
    """Means of blocks of ``values[t, x, y]``, float32; incomplete blocks at the end are left out."""
    if factor == 1:
        return values.astype(np.float32)
    count, length, width = values.shape
    x, y = length // factor, width // factor
    along = values[:, : x * factor, : y * factor].reshape(count, x, factor, y * factor).sum(axis=2, dtype=np.float32)
    return along.reshape(count, x, y, factor).sum(axis=3) / np.float32(factor**2)


def hot_pixels(field: Any) -> np.ndarray:
    """int[n, 2]: cells that are far from their neighbours in all snapshots alike: fixed bright spots, dead pixels."""
    from scipy.ndimage import median_filter

    moments = np.unique(np.linspace(0, field.shape[0] - 1, _SPREAD).astype(int))
    some = np.stack([np.asarray(field[int(t)]) for t in moments])
    typical = np.sort(some, axis=0)[len(some) // 2].astype(np.float32)
    around = median_filter(typical, size=3, mode="nearest")
    departs = np.abs(typical - around)
    usual = max(float(np.median(departs)), float(np.mean(departs)) / 4)
    suspect = np.argwhere(departs > max(10 * usual, 1e-3 * float(np.ptp(typical))))
    series = some[:, suspect[:, 0], suspect[:, 1]].astype(np.float64)
    size = departs[suspect[:, 0], suspect[:, 1]]
    fixed = series.std(axis=0) < 0.2 * size
    bound = 0.05 * float(np.quantile(np.abs(some[len(some) // 2] - around), 0.999))
    return np.asarray(suspect[fixed & (size > bound)])


def thinned(values: Any) -> np.ndarray:
    """Some entries along each axis of a stored array of three dimensions, read plane by plane."""
    planes = np.unique(np.linspace(0, values.shape[0] - 1, _THIN).astype(int))
    steps = [max(1, n // _THIN) for n in values.shape[1:]]
    kept = [np.asarray(values[int(i) : int(i) + 1, :, :])[0, :: steps[0], :: steps[1]] for i in planes]
    return np.stack(kept)


def _pieces(field: Any, first: int, end: int) -> Iterator[np.ndarray]:
    size = max(1, _AT_A_TIME // (field.shape[1] * field.shape[2]))
    for start in range(first, end, size):
        yield np.asarray(field[start : min(start + size, end)])
