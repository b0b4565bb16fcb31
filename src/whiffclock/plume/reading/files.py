"""Plumes from files; the format of a file is found from its content.

The steps from a stored array to ``c[t, x, y]``: axis order; bad cells to zero; turning, so that x grows downwind; some
of the snapshots; crop; downsampling; minus the background, or the background minus the values if odor is dark; times
the scale; clipping if asked for. Dark odor without a background is the largest whole number minus the values, before
bad cells are zero. The background is subtracted after downsampling, where it is small; a mean comes out the same.

A field that is small after these steps is loaded. A larger one stays in its file, as a dask array with one block per
read, so that gigabytes are thresholded in little memory.
"""

import math
import os
import uuid
import warnings
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.disk import naming, reading, require_file, require_plausible
from whiffclock.environments import Environments
from whiffclock.formatting import plainly
from whiffclock.params import InputError, needing, require
from whiffclock.plume.plume import Plume
from whiffclock.plume.reading.containers import Found
from whiffclock.plume.reading.kinds import opener_of
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.reading.pictures import read_mask
from whiffclock.plume.reading.settings_file import with_settings_files
from whiffclock.plume.reading.turning import stored_part, turned, turned_cell, turned_size
from whiffclock.plume.reading.writing import write_plume
from whiffclock.plume.whiffs import Field
from whiffclock.progress import Bar

__all__ = ["ReadSettings", "read_plume", "write_plume"]

#: Fields below this are loaded into memory.
LOAD_BYTES = 256 * 2**20
#: Size of one read, and its limit if whole storage blocks of a file are read.
READ_BYTES = 16 * 2**20
BLOCK_BYTES = 128 * 2**20
#: Snapshots that a background level is found in: at most so many, and fewer if they are larger than this together.
LEVEL_SNAPSHOTS, LEVEL_BYTES, FEWEST = 200, 128 * 2**20, 9
#: The quantile of a cell that is its level without odor, if odor is there for less than nine tenths of the time.
LOW = 0.1


def read_plume(
    path: Path, settings: ReadSettings | None = None, given: Collection[str] | None = None, bar: Bar | None = None
) -> Plume:
    """Read ``path``, a recording or a settings file; ``settings`` have precedence over what files say.

    They do so where they differ from the defaults, or where ``given`` names them. A file that was written with a
    fingerprint is read as a whole and refused if the fingerprint of its values differs.
    """
    path, settings, used = with_settings_files(path, settings or ReadSettings(), given)
    settings = _oriented(path, settings)
    with reading(path, "a readable plume file"), naming(path), ExitStack() as files:
        found = found_in(path, settings.key, files)
        plume = _plume(path, found, settings, used, bar)
        as_stored = ReadSettings(key=settings.key)
        if found.fingerprint:
            here = plume.fingerprint
            if settings != as_stored:
                here = _plume(path, found, as_stored, "", bar).fingerprint
            changed = f"{path} is damaged, or was changed after it was written"
            why = f"its values have the fingerprint {here}, not {found.fingerprint}"
            require(here == found.fingerprint, f"{changed}: {why}; export it again.")
        if not isinstance(plume.field, np.ndarray):
            files.pop_all()  # it stays in its file
        return in_environments(plume, settings)


def _oriented(path: Path, settings: ReadSettings) -> ReadSettings:
    """The settings with axes and wind as they are seen in the recording, where the wind is ``"auto"``."""
    if settings.wind != "auto":
        return settings
    from whiffclock.plume.check import check_recording

    seen = check_recording(path, replace(settings, crop=None, source=None))
    seen.require_oriented()
    return replace(settings, axes=seen.settings.get("axes"), wind=seen.guesses["wind"].value)


def in_environments(plume: Plume, settings: ReadSettings) -> Plume:
    """The plume with the environments that ``settings`` give: by threshold, by whiff probability or ``"auto"``."""
    if settings.environments == "auto" or settings.whiff_probability:
        from whiffclock.plume.suggest import suggested

        return plume.with_environments(suggested(plume, settings.whiff_probability))
    return plume if settings.environments is None else plume.with_environments(settings.environments)


def found_in(path: Path, key: str | None, files: ExitStack) -> Found:
    """The odor in the file ``path``; what must be closed after reading is entered in ``files``."""
    if not os.path.isdir(path):
        require_file(path, "plume file")
    with (
        reading(path, "a readable plume file"),
        naming(path),
        warnings.catch_warnings(action="ignore"),  # such as files in a Zarr store that are no part of it
    ):
        return opener_of(path)(path, key, files)


def _plume(path: Path, found: Found, settings: ReadSettings, used: str, bar: Bar | None) -> Plume:
    reader = Reader(found, settings, bar)
    if not found.streamed:
        item = found.values.dtype.itemsize
        require_plausible(math.prod(found.values.shape) * item, path, found.name, found.others)
        require_plausible(math.prod(found.blocks or ()) * item, path, f"a block of {found.name}", found.others)
    x, y = settings.source or _moved_source(path, found, reader)
    origin = (found.origin or path.name) + _what_was_done(reader) + used
    stored = found.environments if settings.scale == 1 and not reader.background and not settings.invert else {}
    cell, frame = settings.cell_mm or found.cell_mm, settings.frame_s or found.frame_s
    plume = Plume(
        reader.field(),
        (int(x), int(y)),
        origin,
        environments=Environments(stored if settings.environments is None else {}),
        cell_mm=cell and cell * settings.downsample,
        frame_s=frame and frame * settings.every,
    )
    reader.bar = None
    return plume


def _moved_source(path: Path, found: Found, reader: "Reader") -> tuple[int, int]:
    """The source in the cells of the field: what the file says, or the upwind end in the middle of the width."""
    turned = found.source and turned_cell(found.source, reader.stored_size, reader.settings.wind)
    x, y = turned or (0, turned_size(reader.stored_size, reader.settings.wind)[1] // 2)
    moved = (x - reader.crop[0]) // reader.settings.downsample, (y - reader.crop[2]) // reader.settings.downsample
    kept = 0 <= moved[0] < reader.shape[1] and 0 <= moved[1] < reader.shape[2]
    require(kept, f"{path}: the source ({x}, {y}) lies outside the cells that are kept; name a source among them.")
    return moved


def _what_was_done(reader: "Reader") -> str:
    """The steps that changed the field, for its origin."""
    how = reader.settings
    level = f"the mean of the first {reader.background}"
    if reader.background_level:
        level = f"the {reader.background_level} of {len(reader.sampled)} snapshots"
    steps = [
        f"bad cells by {Path(how.mask).name}" if how.mask else "",
        f"turned (wind {how.wind})" if how.wind != "right" else "",
        f"snapshots {how.first}:{'' if how.end is None else how.end}" if how.first or how.end is not None else "",
        f"one snapshot of {how.every}" if how.every > 1 else "",
        "cells {}:{},{}:{}".format(*how.crop) if how.crop else "",
        f"every {how.downsample} cells ({how.downsample_method})" if how.downsample > 1 else "",
        f"minus {level}" if reader.background else "",
        "inverted" if how.invert else "",
        f"times {plainly(how.scale)}" if how.scale != 1 else "",
        "clipped at 0" if how.clip else "",
        f"stored cells of {plainly(how.cell_mm)} mm" if how.cell_mm else "",
        f"{plainly(how.frame_s)} s between stored snapshots" if how.frame_s else "",
    ]
    return "".join(f", {step}" for step in steps if step)


class Reader:
    """Reads the array ``found`` and takes the steps of ``settings``; ``shape`` and ``dtype`` are those of the field."""

    def __init__(self, found: Found, settings: ReadSettings, bar: Bar | None = None) -> None:
        self.found, self.settings, self.bar = found, settings, bar
        self.axes = settings.axes or found.axes
        self.background = found.background if settings.background is None else settings.background
        name, stored, dtype, how = found.name, found.values.shape, found.values.dtype, settings
        require(len(stored) != 1, f"{name} is a trace at one place, not a field; a plume needs three axes: time, x, y.")
        require(len(stored) == 3, f"{name} has {len(stored)} dimensions {stored}; it needs three: time, x, y.")
        require(dtype.kind in "iuf", f"{name} holds values of type {dtype}; a field needs real numbers.")
        t, *size = (stored[self.axes.index(letter)] for letter in "txy")
        self.stored_size = size[0], size[1]
        x, y = turned_size(self.stored_size, how.wind)
        among = how.first < t and (how.end or 0) <= t
        require(among, f"{name} has {t} snapshots; {how.first}:{how.end or ''} is not among them.")
        self.crop = x0, x1, y0, y1 = how.crop or (0, x, 0, y)
        inside = x1 <= x and y1 <= y
        turning = f"axes {self.axes}" + f" and the wind {how.wind}" * (how.wind != "right")
        require(inside, f"{name} has {x} x {y} cells with {turning}; the crop {how.crop} reaches beyond them.")
        first = self.background if isinstance(self.background, int) else 0
        require(first <= t, f"{name} has {t} snapshots; a background of the first {first} cannot be taken from them.")
        spare = 0 if how.downsample_method == "mean" else how.downsample - 1
        cells = (x1 - x0 + spare) // how.downsample, (y1 - y0 + spare) // how.downsample
        require(min(cells) >= 1, f"{name} has {x} x {y} cells; downsampling by {how.downsample} leaves none.")
        self.kept = range(how.first, how.end or t, how.every)
        self.shape = len(self.kept), *cells
        averaged = how.downsample > 1 and how.downsample_method == "mean"
        dark = how.invert and not self.background
        no_largest = f"{name} holds fractions, of which none is the largest; to invert them, give a background"
        require(not dark or dtype.kind in "iu", f"{no_largest}, such as median.")
        calculated = averaged or self.background or how.scale != 1 or (dark and dtype.kind == "i")
        self.dtype: np.dtype = np.result_type(dtype, np.float32) if calculated else dtype.newbyteorder("=")
        self._snapshot_bytes = x * y * max(self.dtype.itemsize, dtype.itemsize)
        frame = tuple(stored[i] for i in range(3) if self.axes[i] != "t")
        self._bad = read_mask(Path(how.mask), frame) if how.mask else None

    def field(self) -> Field:
        """The field, in memory if it is small, in its file otherwise."""
        snapshots, x, y = self.shape
        parts = self._parts(self.kept)
        if self.bar:
            before = self.background if isinstance(self.background, int) else len(self.sampled)
            self.bar.begin("reading", snapshots + before)
        if math.prod(self.shape) * self.dtype.itemsize < LOAD_BYTES:
            whole, done = np.empty(self.shape, self.dtype), 0
            for part in parts:
                whole[done : done + len(part)] = self._calculate(part)
                done += len(part)
            return whole
        size = math.prod(self.shape) * self.dtype.itemsize
        with needing("large", f"{self.found.name} has {size / 2**30:.1f} GiB; dask reads it in parts"):
            import dask.array

        def block(block_info: Any = None) -> np.ndarray:
            start, end = block_info[None]["array-location"][0]
            return self._calculate(self.kept[start:end])

        chunks = tuple(map(len, parts)), (x,), (y,)
        name, like = f"plume-{uuid.uuid4().hex}", np.empty((0, 0, 0), self.dtype)
        return dask.array.map_blocks(block, name=name, chunks=chunks, meta=like)  # type: ignore[no-untyped-call]

    def _parts(self, wanted: range) -> list[range]:
        """Parts of the ``wanted`` snapshots to read at a time: whole storage blocks, if they fit."""
        block = self.found.blocks[self.axes.index("t")] if self.found.blocks else 1
        whole = block * self._snapshot_bytes <= BLOCK_BYTES
        size = max(1, (READ_BYTES if whole else BLOCK_BYTES) // self._snapshot_bytes)
        size = max(block, size // block * block) if whole else size
        start, end = wanted.start, wanted.stop
        size *= wanted.step
        borders = pairwise([start, *range((start // size + 1) * size, end, size), end])
        parts = (wanted[-(-(a - start) // wanted.step) : -(-(b - start) // wanted.step)] for a, b in borders)
        return [part for part in parts if part]

    def _calculate(self, snapshots: range) -> np.ndarray:
        """Some ``snapshots`` of the file as part of the field."""
        background = self._background if self.background else None  # first, so that a film is read in order
        values = self._reduce(snapshots)
        if background is not None:
            values = background - values if self.settings.invert else values - background
        if self.settings.scale != 1:
            values = values * values.dtype.type(self.settings.scale)
        return np.maximum(values, 0) if self.settings.clip else values

    def _reduce(self, snapshots: range) -> np.ndarray:
        """Some ``snapshots`` of the file in the order (t, x, y), turned, cropped and downsampled."""
        factor, (_, x, y), values = self.settings.downsample, self.shape, self._read(snapshots)
        if self.bar:
            self.bar.advance(len(snapshots))
        if factor > 1 and self.settings.downsample_method == "mean":
            blocks = values[:, : x * factor, : y * factor].reshape(len(snapshots), x, factor, y, factor)
            return blocks.mean(axis=(2, 4), dtype=self.dtype)
        return values[:, ::factor, ::factor].astype(self.dtype, copy=False)

    def _read(self, snapshots: range) -> np.ndarray:
        start, end, wind = snapshots.start, snapshots[-1] + 1, self.settings.wind
        wanted = {"t": slice(start, end, snapshots.step)} | stored_part(self.crop, self.stored_size, wind)
        try:
            values = np.asarray(self.found.values[tuple(wanted[letter] for letter in self.axes)])
        except InputError:
            raise
        except Exception as error:  # whatever a library raises where a file is damaged
            name = f"{self.found.name} is damaged or cut short"
            raise InputError(f"{name} at snapshots {start} to {end - 1}.") from error
        # A library may give fewer values than it announced.
        sizes = len(snapshots), *(wanted[letter].stop - wanted[letter].start for letter in "xy")
        whole = values.shape == tuple(sizes["txy".index(letter)] for letter in self.axes)
        require(whole, f"{self.found.name} is cut short at snapshots {start} to {end - 1}.")
        return turned(self._without_bad(values.transpose([self.axes.index(letter) for letter in "txy"]), wanted), wind)

    def _without_bad(self, values: np.ndarray, part: dict[str, slice]) -> np.ndarray:
        """Dark odor made bright, where no background does this, and zeros in bad cells."""
        if self.settings.invert and not self.background:
            values = np.iinfo(self.found.values.dtype).max - values.astype(self.dtype, copy=False)
        if self._bad is None:
            return values
        x_first = self.axes.index("x") < self.axes.index("y")
        return np.where((self._bad if x_first else self._bad.T)[part["x"], part["y"]], values.dtype.type(0), values)

    @property
    def background_level(self) -> str:
        """In words, the level of each cell that is background; empty if it is a mean, or if there is none."""
        low = "90% quantile" if self.settings.invert else "10% quantile"
        return {"median": "median", "low": low}.get(str(self.background), "")

    @cached_property
    def sampled(self) -> range | list[int]:
        """The snapshots that a background level is found in, spread over those that are kept."""
        fits = LEVEL_BYTES // (math.prod(self.shape[1:]) * self.dtype.itemsize)
        count = min(len(self.kept), LEVEL_SNAPSHOTS, max(fits, FEWEST))
        return [self.kept[i] for i in np.linspace(0, len(self.kept) - 1, count).round().astype(int)]

    @cached_property
    def _background(self) -> np.ndarray:
        if not isinstance(self.background, int):
            share = LOW if self.background == "low" else 0.5
            return self._quantile(1 - share if self.settings.invert else share)
        total = np.zeros(self.shape[1:])
        for part in self._parts(range(self.background)):
            total += self._reduce(part).sum(axis=0, dtype=np.float64)
        return (total / self.background).astype(self.dtype)

    def _quantile(self, share: float) -> np.ndarray:
        """A quantile of each cell; of a file in blocks of snapshots, whole blocks are read."""
        chosen, one_by_one = set(self.sampled), not self.found.blocks or self.found.blocks[self.axes.index("t")] == 1
        frames: list[np.ndarray] = []
        for part in self._parts(self.kept):
            wanted = [t for t in part if t in chosen]
            if one_by_one:
                frames.extend(self._reduce(range(t, t + 1))[0] for t in wanted)
            elif wanted:
                values = self._reduce(part)
                frames.extend(values[part.index(t)].copy() for t in wanted)
        return np.quantile(np.stack(frames), share, axis=0, overwrite_input=True).astype(self.dtype)
