"""A plume: the odor field, where its source is, and where it came from."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whiffclock.params import WorldSettings, require, require_threshold
from whiffclock.plume.whiffs import Whiffs, single, start_cells, threshold_field, time_chunks

if TYPE_CHECKING:
    from whiffclock.plume.whiffs import Field


@dataclass(frozen=True)
class Plume:
    """Concentrations ``field[t, x, y]``; x grows downwind, y crosswind.

    Attributes
    ----------
    field
        At least two snapshots of a grid of at least one cell; finite, and positive somewhere. An array, or a dask
        array that stays in its file.
    source
        Cell (x, y) of the source. Default: upwind end, middle of the width.
    origin
        One line that says what this field is; shown wherever results appear.
    held_out_from
        Fingerprint of the training part, where this is the test part of a split.
    highest
        The highest concentration.
    fingerprint
        Sixteen hex digits that change with any value of the field or with the source.
    """

    field: Field
    source: tuple[int, int]
    origin: str = "unnamed"
    held_out_from: str = ""
    highest: float = dataclasses.field(init=False, compare=False)
    fingerprint: str = dataclasses.field(init=False, compare=False)
    _whiffs: dict[float, Whiffs] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        shape = self.field.shape
        require(
            len(shape) == 3,
            f"{self.origin}: the field has {len(shape)} dimensions {shape}; it needs three: time, x, y.",
        )
        require(
            min(shape) >= 1 and shape[0] >= 2,
            f"{self.origin}: the field has shape {shape}; it needs two snapshots and one cell at least.",
        )
        kind = self.field.dtype
        require(kind.kind in "iuf", f"{self.origin}: the field holds values of type {kind}; it needs real numbers.")
        x, y = self.source
        require(
            0 <= x < shape[1] and 0 <= y < shape[2],
            f"{self.origin}: the source ({x}, {y}) lies outside the grid of {shape[1]} x {shape[2]} cells.",
        )
        highest, fingerprint = self._survey()
        object.__setattr__(self, "highest", highest)
        object.__setattr__(self, "fingerprint", fingerprint)

    def _survey(self) -> tuple[float, str]:
        """Highest concentration and fingerprint, in one pass that also checks every value."""
        highest = -np.inf
        digest = hashlib.blake2b(repr((self.field.shape, self.source)).encode(), digest_size=8)
        for part in time_chunks(self.field):
            values = single(self.field[part])
            peak, trough = float(np.max(values)), float(np.min(values))
            require(
                np.isfinite(peak) and np.isfinite(trough),
                f"{self.origin}: NaN or infinite concentrations between snapshots {part.start} and "
                f"{part.stop - 1}; the field must be finite.",
            )
            highest = max(highest, peak)
            digest.update(values.data)
        require(
            highest > 0,
            f"{self.origin}: the highest concentration is {highest:g}; some of the field must be positive.",
        )
        return highest, digest.hexdigest()

    @classmethod
    def from_array(cls, values: np.ndarray, source: tuple[int, int] | None = None, origin: str = "array") -> Plume:
        """A plume from ``values[t, x, y]``."""
        values = np.asanyarray(values)
        if source is None:
            source = (0, values.shape[2] // 2 if values.ndim == 3 else 0)
        return cls(values, (int(source[0]), int(source[1])), origin)

    def split(self, train_fraction: float = 0.5) -> tuple[Plume, Plume]:
        """A part to train on and a later part to test on, contiguous in time, each a plume of its own.

        The first ``train_fraction`` of the snapshots are for training.
        """
        require(
            0 < train_fraction < 1,
            f"The share of the record to train on is {train_fraction:g}; it must lie between 0 and 1.",
        )
        snapshots = self.field.shape[0]
        cut = round(snapshots * train_fraction)
        require(
            2 <= cut <= snapshots - 2,
            f"{self.origin}: a share of {train_fraction:g} cuts {snapshots} snapshots at {cut}; both parts need two "
            "snapshots at least.",
        )
        train = self._between(0, cut, "training")
        return train, self._between(cut, snapshots, "test", train.fingerprint)

    def _between(self, first: int, end: int, role: str, held_out_from: str = "") -> Plume:
        origin = f"{self.origin}, {role} part: snapshots {first}:{end} of {self.field.shape[0]}"
        return Plume(self.field[first:end], self.source, origin, held_out_from)

    def reaches(self, threshold: float) -> bool:
        """Whether there is any whiff at ``threshold``."""
        return bool(single(threshold) <= self.highest)

    def whiffs(self, threshold: float) -> Whiffs:
        """The packed whiff record at ``threshold``, made once."""
        if threshold not in self._whiffs:
            require_threshold(threshold)
            require(bool(single(threshold) > 0), f"The threshold is {threshold:g}; in single precision, it is zero.")
            require(
                self.reaches(threshold),
                f"{self.origin}: nothing reaches the threshold {threshold:g}, the highest concentration is "
                f"{self.highest:g}; choose a lower threshold.",
            )
            self._whiffs[threshold] = threshold_field(self.field, threshold, self.source)
        return self._whiffs[threshold]

    def starts(self, threshold: float, settings: WorldSettings) -> np.ndarray:
        """D_init, int32[n, 2], for a search in the environment at ``threshold`` (R10)."""
        own = settings.start_threshold is None
        start = self.whiffs(threshold if own else settings.start_threshold)  # type: ignore[arg-type]
        cells = start_cells(start, settings)
        if settings.start_on_whiff:
            smelled = self.whiffs(threshold).ever()[cells[:, 0], cells[:, 1]]
            require(
                bool(smelled.all()),
                f"{self.origin}: {int((~smelled).sum())} of {len(cells)} start cells never whiff at "
                f"{threshold:g}, so a search cannot start on a whiff there; raise the start threshold.",
            )
        return cells
