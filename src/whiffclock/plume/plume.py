"""A plume: the odor field, where its source is, and where it came from."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whiffclock.params import WorldSettings, require
from whiffclock.plume.whiffs import Whiffs, start_cells, threshold_field, time_chunks


@dataclass(frozen=True)
class Plume:
    """Concentrations ``field[t, x, y]``; x grows downwind, y crosswind.

    Attributes
    ----------
    field
        At least two snapshots of a grid of at least one cell; finite, and positive somewhere.
    source
        Cell (x, y) of the source. Default: upwind end, middle of the width.
    origin
        One line that says what this field is; shown wherever results appear.
    """

    field: np.ndarray
    source: tuple[int, int]
    origin: str = "unnamed"
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
        require(
            np.issubdtype(self.field.dtype, np.floating) or np.issubdtype(self.field.dtype, np.integer),
            f"{self.origin}: the field holds values of type {self.field.dtype}; it needs real numbers.",
        )
        x, y = self.source
        require(
            0 <= x < shape[1] and 0 <= y < shape[2],
            f"{self.origin}: the source ({x}, {y}) lies outside the grid of {shape[1]} x {shape[2]} cells.",
        )
        highest = -np.inf
        for part in time_chunks(self.field):
            peak = float(np.max(self.field[part]))
            trough = float(np.min(self.field[part]))
            require(
                np.isfinite(peak) and np.isfinite(trough),
                f"{self.origin}: NaN or infinite concentrations between snapshots {part.start} and "
                f"{part.stop - 1}; the field must be finite.",
            )
            highest = max(highest, peak)
        require(
            highest > 0,
            f"{self.origin}: the highest concentration is {highest:g}; some of the field must be positive.",
        )

    @classmethod
    def from_array(cls, values: np.ndarray, source: tuple[int, int] | None = None, origin: str = "array") -> Plume:
        """A plume from ``values[t, x, y]``."""
        values = np.asanyarray(values)
        if source is None:
            source = (0, values.shape[2] // 2 if values.ndim == 3 else 0)
        return cls(values, (int(source[0]), int(source[1])), origin)

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that change with any value of the field or with the source."""
        digest = hashlib.blake2b(repr((self.field.shape, self.source)).encode(), digest_size=8)
        for part in time_chunks(self.field):
            digest.update(np.ascontiguousarray(self.field[part], dtype="<f4").data)
        return digest.hexdigest()

    def whiffs(self, threshold: float) -> Whiffs:
        """The packed whiff record at ``threshold``, made once."""
        if threshold not in self._whiffs:
            made = threshold_field(self.field, threshold, self.source, self.fingerprint)
            require(
                bool(made.words.any()),
                f"{self.origin}: nothing reaches the threshold {threshold:g}, the highest concentration is "
                f"{float(np.max(self.field)):g}; choose a lower threshold.",
            )
            self._whiffs[threshold] = made
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
