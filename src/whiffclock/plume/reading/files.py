"""Plumes from files; the format of a file is found from its content.

The steps from a stored array to ``c[t, x, y]`` are linear up to the last one: axis order, crop, downsampling, minus
the background, times the scale, and clipping if asked for. So the background is subtracted after downsampling, where
it is small.

A field that is small after these steps is loaded. A larger one stays in its file, as a dask array with one block per
read, so that gigabytes are thresholded in little memory.
"""

import math
import os
import uuid
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.disk import naming, reading, require_file, require_plausible
from whiffclock.environments import Environments
from whiffclock.formatting import plainly
from whiffclock.params import InputError, require
from whiffclock.plume.plume import Plume
from whiffclock.plume.reading.added import added_opener
from whiffclock.plume.reading.containers import Found, is_zarr, open_hdf5, open_netcdf, open_npy, open_npz, open_zarr
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.reading.writing import write_plume
from whiffclock.plume.whiffs import Field

__all__ = ["ReadSettings", "read_plume", "write_plume"]

#: Fields below this are loaded into memory.
LOAD_BYTES = 256 * 2**20
#: Size of one read, and its limit if whole storage blocks of a file are read.
READ_BYTES = 16 * 2**20
BLOCK_BYTES = 128 * 2**20
KINDS = ".npy, .npz, HDF5, MATLAB v7.3, NetCDF or Zarr"


def read_plume(path: Path, settings: ReadSettings | None = None) -> Plume:
    """Read ``path``; ``settings`` give what the file does not, and have precedence over what it does.

    A file that was written with a fingerprint is read as a whole and refused if the fingerprint of its values differs.
    """
    settings = settings or ReadSettings()
    if not os.path.isdir(path):
        require_file(path, "plume file")
    with reading(path, "a readable plume file"), naming(path), ExitStack() as files:
        with warnings.catch_warnings(action="ignore"):  # such as files in a Zarr store that are no part of it
            found = _opener(path)(path, settings.key, files)
        plume = _plume(path, found, settings)
        as_stored = ReadSettings(key=settings.key, environments=settings.environments)
        if found.fingerprint:
            here = (plume if settings == as_stored else _plume(path, found, as_stored)).fingerprint
            changed = f"{path} is damaged, or was changed after it was written"
            why = f"its values have the fingerprint {here}, not {found.fingerprint}"
            require(here == found.fingerprint, f"{changed}: {why}; export it again.")
        if not isinstance(plume.field, np.ndarray):
            files.pop_all()  # it stays in its file
        return plume


def _plume(path: Path, found: Found, settings: ReadSettings) -> Plume:
    reader = Reader(found, settings)
    item = found.values.dtype.itemsize
    require_plausible(math.prod(found.values.shape) * item, path, found.name, found.others)
    require_plausible(math.prod(found.blocks or ()) * item, path, f"a block of {found.name}", found.others)
    x, y = settings.source or _moved_source(path, found, reader)
    origin = (found.origin or path.name) + _what_was_done(reader)
    stored = found.environments if settings.scale == 1 and not reader.background else {}
    given = stored if settings.environments is None else settings.environments
    return Plume(reader.field(), (int(x), int(y)), origin, environments=Environments(given))


def _opener(path: Path) -> Callable[[Path, str | None, ExitStack], Found]:
    """Which kind of file it is, by the ending that another package reads, or by its first bytes."""
    if added := added_opener(path):
        return added
    if path.is_dir():
        require(is_zarr(path), f"{path} is a folder, and not a Zarr store.")
        return open_zarr
    with path.open("rb") as file:
        start = file.read(64)
    for magic, opener in ((b"\x93NUMPY", open_npy), (b"PK", open_npz), (b"CDF", open_netcdf)):
        if start.startswith(magic):
            return opener
    old = start.startswith(b"MATLAB 5.0")
    require(not old, f"{path} is a MATLAB file of an old version; save it in MATLAB with '-v7.3'.")
    import h5py

    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            named = "_NCProperties" in file.attrs
        return open_netcdf if named or path.suffix == ".nc" else open_hdf5
    text = start.splitlines()[0].decode("latin-1") if start else ""
    readable = text.isascii() and text.isprintable()
    begin = f"is text and begins with {text[:40]!r}" if readable else f"begins with the bytes {start[:8].hex(' ')}"
    raise InputError(f"{path} is not a readable plume file ({KINDS}): it {begin if start else 'is empty'}.")


def _moved_source(path: Path, found: Found, reader: "Reader") -> tuple[int, int]:
    """The source in the cells of the field: what the file says, or the upwind end in the middle of the width."""
    x, y = found.source or (0, found.values.shape[reader.axes.index("y")] // 2)
    moved = (x - reader.crop[0]) // reader.settings.downsample, (y - reader.crop[2]) // reader.settings.downsample
    kept = 0 <= moved[0] < reader.shape[1] and 0 <= moved[1] < reader.shape[2]
    require(kept, f"{path}: the source ({x}, {y}) lies outside the cells that are kept; name a source among them.")
    return moved


def _what_was_done(reader: "Reader") -> str:
    """The steps that changed the field, for its origin."""
    how = reader.settings
    steps = [
        f"snapshots {how.first}:{'' if how.end is None else how.end}" if how.first or how.end is not None else "",
        "cells {}:{},{}:{}".format(*how.crop) if how.crop else "",
        f"every {how.downsample} cells ({how.downsample_method})" if how.downsample > 1 else "",
        f"minus the mean of the first {reader.background}" if reader.background else "",
        f"times {plainly(how.scale)}" if how.scale != 1 else "",
        "clipped at 0" if how.clip else "",
    ]
    return "".join(f", {step}" for step in steps if step)


class Reader:
    """Reads the array ``found`` and takes the steps of ``settings``; ``shape`` and ``dtype`` are those of the field."""

    def __init__(self, found: Found, settings: ReadSettings) -> None:
        self.found, self.settings = found, settings
        self.axes = settings.axes or found.axes
        self.background = found.background if settings.background is None else settings.background
        name, stored, dtype, how = found.name, found.values.shape, found.values.dtype, settings
        require(len(stored) == 3, f"{name} has {len(stored)} dimensions {stored}; it needs three: time, x, y.")
        require(dtype.kind in "iuf", f"{name} holds values of type {dtype}; a field needs real numbers.")
        t, x, y = (stored[self.axes.index(letter)] for letter in "txy")
        among = how.first < t and (how.end or 0) <= t
        require(among, f"{name} has {t} snapshots; {how.first}:{how.end or ''} is not among them.")
        self.crop = x0, x1, y0, y1 = how.crop or (0, x, 0, y)
        inside = x1 <= x and y1 <= y
        require(inside, f"{name} has {x} x {y} cells with axes {self.axes}; the crop {how.crop} reaches beyond them.")
        background = f"a background of the first {self.background} cannot be taken from them"
        require(self.background <= t, f"{name} has {t} snapshots; {background}.")
        spare = 0 if how.downsample_method == "mean" else how.downsample - 1
        cells = (x1 - x0 + spare) // how.downsample, (y1 - y0 + spare) // how.downsample
        require(min(cells) >= 1, f"{name} has {x} x {y} cells; downsampling by {how.downsample} leaves none.")
        self.shape = (how.end or t) - how.first, *cells
        averaged = how.downsample > 1 and how.downsample_method == "mean"
        calculated = averaged or self.background or how.scale != 1
        self.dtype: np.dtype = np.result_type(dtype, np.float32) if calculated else dtype.newbyteorder("=")
        self._snapshot_bytes = x * y * max(self.dtype.itemsize, dtype.itemsize)

    def field(self) -> Field:
        """The field, in memory if it is small, in its file otherwise."""
        first, (snapshots, x, y) = self.settings.first, self.shape
        parts = self._parts(first, first + snapshots)
        if math.prod(self.shape) * self.dtype.itemsize < LOAD_BYTES:
            whole = np.empty(self.shape, self.dtype)
            for start, end in parts:
                whole[start - first : end - first] = self._calculate(start, end)
            return whole
        import dask.array

        def block(block_info: Any = None) -> np.ndarray:
            start, end = block_info[None]["array-location"][0]
            return self._calculate(first + start, first + end)

        chunks = tuple(end - start for start, end in parts), (x,), (y,)
        name, like = f"plume-{uuid.uuid4().hex}", np.empty((0, 0, 0), self.dtype)
        return dask.array.map_blocks(block, name=name, chunks=chunks, meta=like)  # type: ignore[no-untyped-call]

    def _parts(self, start: int, end: int) -> list[tuple[int, int]]:
        """Parts of the snapshots from ``start`` to ``end`` to read at a time: whole storage blocks, if they fit."""
        block = self.found.blocks[self.axes.index("t")] if self.found.blocks else 1
        whole = block * self._snapshot_bytes <= BLOCK_BYTES
        size = max(1, (READ_BYTES if whole else BLOCK_BYTES) // self._snapshot_bytes)
        size = max(block, size // block * block) if whole else size
        return list(pairwise([start, *range((start // size + 1) * size, end, size), end]))

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
        except Exception as error:  # whatever a library raises where a file is damaged
            name = f"{self.found.name} is damaged or cut short"
            raise InputError(f"{name} at snapshots {start} to {end - 1}.") from error
        # A library may give fewer values than it announced.
        whole = values.shape == tuple(wanted[letter].stop - wanted[letter].start for letter in self.axes)
        require(whole, f"{self.found.name} is cut short at snapshots {start} to {end - 1}.")
        return values.transpose([self.axes.index(letter) for letter in "txy"])

    @cached_property
    def _mean_background(self) -> np.ndarray:
        total = np.zeros(self.shape[1:])
        for start, end in self._parts(0, self.background):
            total += self._reduce(start, end).sum(axis=0, dtype=np.float64)
        return (total / self.background).astype(self.dtype)
