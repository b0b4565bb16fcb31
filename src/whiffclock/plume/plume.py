"""A plume: the odor field, where its source is, and where it came from."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.environments import NONE, PAPER, Environments
from whiffclock.formatting import plainly
from whiffclock.params import InputError, WorldSettings, cut_at, require, require_memory, require_threshold
from whiffclock.plume.reading.layouts import named_axes
from whiffclock.plume.whiffs import Field, Whiffs, single, start_cells, threshold_field, time_chunks

#: Longest origin of a plume.
MOST_CHARACTERS = 2000


@dataclass(frozen=True)
class Absent:
    """Stands for the field of a plume whose concentrations are in another process."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def __getitem__(self, index: object) -> np.ndarray:
        raise InputError("The concentrations of this plume are in another process; here it has only whiffs.")


@dataclass(frozen=True, eq=False, repr=False)
class Plume:
    """Concentrations ``field[t, x, y]``; x grows downwind, y crosswind.

    There are at least two snapshots of a grid of at least one cell. Values are finite, and positive somewhere. Two
    plumes are equal if their values and sources are.

    Its environments are those that are given. Without any, a field that looks like the simulation behind the paper
    (:func:`looks_like_dns`) has the paper's four, and others have none.
    """

    field: Field  # an array, or a dask array that stays in its file
    source: tuple[int, int]  # its cell (x, y)
    origin: str = "unnamed"  # one line that describes the field, shown with all results
    held_out_from: str = ""  # fingerprint of the training part, where this is the test part of a split
    environments: Environments = NONE  # whiff thresholds with names; not part of the fingerprint
    part_of: str = ""  # fingerprint of the whole record, where this is a part of it
    cell_mm: float | None = None  # size of a cell, if it is known; like the next not part of the fingerprint
    frame_s: float | None = None  # time between snapshots
    highest: float = dataclasses.field(init=False)  # concentration
    fingerprint: str = dataclasses.field(init=False)  # changes with any value, and with the source
    records: dict[float, Whiffs] = dataclasses.field(default_factory=dict)  # whiffs by threshold, each made once

    def __post_init__(self) -> None:
        shape, kind = self.field.shape, self.field.dtype
        self._require(len(shape) == 3, f"the field has {len(shape)} dimensions {shape}; it needs three: time, x, y.")
        enough = min(shape) >= 1 and shape[0] >= 2
        self._require(enough, f"the field has shape {shape}; it needs two snapshots and one cell at least.")
        self._require(kind.kind in "iuf", f"the field holds values of type {kind}; it needs real numbers.")
        (x, y), (_, length, width) = self.source, shape
        inside = 0 <= x < length and 0 <= y < width
        self._require(inside, f"the source ({x}, {y}) lies outside the grid of {length} x {width} cells.")
        object.__setattr__(self, "origin", self.origin.encode("utf-8", "replace").decode())  # as all files can hold it
        count, allowed = len(self.origin), f"{MOST_CHARACTERS:,} are allowed"
        require(count <= MOST_CHARACTERS, f"The origin of a plume has {count:,} characters, and {allowed}.")
        highest, fingerprint, whiffs = self._survey()
        object.__setattr__(self, "highest", highest)
        object.__setattr__(self, "fingerprint", fingerprint)
        if not self.environments and looks_like_dns(whiffs):
            object.__setattr__(self, "environments", PAPER)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plume) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        snapshots, length, width = self.field.shape
        return f"Plume({snapshots} snapshots of {length} x {width} cells, source {self.source}, {self.origin})"

    def _require(self, condition: bool, sentence: str) -> None:
        require(condition, f"{self.origin}: {sentence}")

    def _survey(self) -> tuple[float, str, list[int]]:
        """Highest concentration, fingerprint, whiffs at :data:`PAPER`, in one pass that also checks every value."""
        highest, levels = -np.inf, [single(value) for value in PAPER.values()]
        whiffs = [0] * len(levels)
        digest = hashlib.blake2b(repr((self.field.shape, self.source)).encode(), digest_size=8)
        for part in time_chunks(self.field):
            values = single(self.field[part])
            peak, where = float(np.max(values)), f"between snapshots {part.start} and {part.stop - 1}"
            finite = np.isfinite(peak) and bool(np.isfinite(np.min(values)))
            self._require(finite, f"NaN or infinite concentrations {where}; the field must be finite.")
            highest = max(highest, peak)
            digest.update(values.data)
            if not self.environments:
                whiffs = [n + int(np.count_nonzero(values >= c)) for n, c in zip(whiffs, levels, strict=True)]
        self._require(highest > 0, f"the highest concentration is {highest:g}; some of the field must be positive.")
        return highest, digest.hexdigest(), whiffs

    @classmethod
    def from_array(
        cls,
        values: np.ndarray,
        source: tuple[int, int] | None = None,
        origin: str = "array",
        environments: Mapping[str, float] = NONE,
    ) -> Plume:
        """A plume from a copy of ``values[t, x, y]``, or of a DataArray with these dimensions in any order.

        The default source is the middle of the upwind end. ``environments`` are its whiff thresholds by name, such as
        ``{"dense": 1e-3, "sparse": 5e-3}``.
        """
        values = _own_array(values)
        if source is None:
            source = (0, values.shape[2] // 2 if values.ndim == 3 else 0)
        return cls(values, _cell(source), origin, environments=Environments(environments))

    def split(self, train_fraction: float = 0.5) -> tuple[Plume, Plume]:
        """A part to train on and a later part to test on, contiguous in time, each a plume of its own.

        The first ``train_fraction`` of the snapshots are for training.
        """
        share, snapshots = train_fraction, self.field.shape[0]
        require(0 < share < 1, f"The share of the record to train on is {share:g}; it must lie between 0 and 1.")
        cut = round(snapshots * share)
        long = 2 <= cut <= snapshots - 2
        self._require(long, f"a share of {share:g} cuts {snapshots} snapshots at {cut}; both parts need at least two.")
        train = self._between(0, cut, "training")
        return train, self._between(cut, snapshots, "test", train.fingerprint)

    def _between(self, first: int, end: int, role: str, held_out_from: str = "") -> Plume:
        origin = f"{self.origin}, {role} part: snapshots {first}:{end} of {self.field.shape[0]}"
        whole = self.environments, self.fingerprint, self.cell_mm, self.frame_s
        return Plume(self.field[first:end], self.source, origin, held_out_from, *whole)

    def without_field(self) -> Plume:
        """The same plume without concentrations and whiffs, for another process, which adds to its ``records``."""
        return self._with(field=Absent(self.field.shape, self.field.dtype), records={})

    def with_environments(self, environments: Mapping[str, float]) -> Plume:
        """The same plume with other environments; whiff records are shared."""
        return self._with(environments=Environments(environments).required())

    def _with(self, **changes: Any) -> Plume:
        """The same plume, whose concentrations need no second check, with some attributes changed."""
        other = object.__new__(Plume)
        vars(other).update(vars(self) | changes)
        return other

    def settle(self, world: WorldSettings | None = None) -> WorldSettings:
        """``world`` (default: the paper's) with the number of the sparsest environment where it says so."""
        world = world or WorldSettings()
        return world if world.settled else dataclasses.replace(world, start_threshold=self.environments.sparsest)

    def reaches(self, threshold: float) -> bool:
        """Whether there is any whiff at ``threshold``."""
        return bool(single(threshold) <= self.highest)

    def whiffs(self, threshold: float | str) -> Whiffs:
        """The packed whiff record at ``threshold``, a concentration or the name of an environment; made once."""
        if isinstance(threshold, str):
            threshold = self.environments.threshold_of(threshold)
        if threshold not in self.records:
            require_threshold(threshold)
            at, most = plainly(threshold), plainly(self.highest)
            require(bool(single(threshold) > 0), f"The threshold is {at}; in single precision, it is zero.")
            too_high = f"nothing reaches the threshold {at}, the highest concentration is {most}"
            self._require(self.reaches(threshold), f"{too_high}; choose a lower threshold.")
            self.records[threshold] = threshold_field(self.field, threshold, self.source)
        return self.records[threshold]

    def starts(self, threshold: float, settings: WorldSettings) -> np.ndarray:
        """D_init, int32[n, 2], for a search in the environment at ``threshold`` (R10)."""
        start = self.whiffs(self.settle(settings).start_at(threshold))
        cells = start_cells(start, settings)
        if settings.start_on_whiff:
            silent = int((~self.whiffs(threshold).ever()[cells[:, 0], cells[:, 1]]).sum())
            never = f"{silent} of {len(cells)} start cells never have a whiff at {plainly(threshold)}"
            self._require(not silent, f"{never}, so no search can start on one there; raise the start threshold.")
        return cells


def joined(plumes: Sequence[Plume], train_share: float) -> tuple[Plume, float]:
    """Several plumes as one record, first all train parts and then all others; and the exact share of the former.

    They need the same grid and source; longer ones are cut. Environments are those of the first.
    """
    first, snapshots = plumes[0], min(plume.field.shape[0] for plume in plumes)
    for other in plumes[1:]:
        same = (other.field.shape[1:], other.source) == (first.field.shape[1:], first.source)
        require(same, f"{other.origin} and {first.origin} have different grids or sources, and cannot be joined.")
    cut = cut_at(train_share, snapshots)
    parts = [plume.field[part] for part in (slice(0, cut), slice(cut, snapshots)) for plume in plumes]
    origin = f"{len(plumes)} joined: " + "; ".join(plume.origin for plume in plumes)
    return Plume(np.concatenate(parts), first.source, origin, environments=first.environments), cut / snapshots


def _own_array(values: Any) -> np.ndarray:
    """A copy of ``values`` in the order (t, x, y), which nobody else can change; of a file, the file."""
    require(not np.ma.is_masked(values), "The field has masked values; fill them first, such as with 0.")
    if isinstance(values, np.memmap) and values.mode == "r":
        return values
    require_memory(getattr(values, "nbytes", 0), "A copy of the field")
    names = [str(name) for name in getattr(values, "dims", ())]
    copy = np.array(values, order="C")
    if names in ([], [f"dim_{i}" for i in range(copy.ndim)]):  # xarray's own names say nothing
        return copy
    axes = named_axes(names) or ""
    require(bool(axes), f"The dimensions of the field are {', '.join(names)}; they must be t, x and y.")
    return np.ascontiguousarray(copy.transpose([axes.index(letter) for letter in "txy"]))


def _cell(source: Any) -> tuple[int, int]:
    """A cell as two whole numbers."""
    try:
        x, y = source
        cell = int(x), int(y)
    except (TypeError, ValueError, OverflowError):
        cell = None
    if cell is None or cell != (x, y):
        raise InputError(f"The source is {source!r}; it must be a cell: two whole numbers x and y.")
    return cell


def looks_like_dns(whiffs: list[int]) -> bool:
    """Whether a field with so many whiffs at the paper's four thresholds can be searched as that of the paper.

    The rule: there are whiffs at all four, and those at the highest are at most half of those at the lowest. In a field
    in other units, or a smooth one, all thresholds that low give nearly the same whiffs.
    """
    return 0 < 2 * whiffs[-1] <= whiffs[0]
