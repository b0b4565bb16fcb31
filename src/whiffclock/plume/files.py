"""Plumes from and to files of every kind; what a file is, its content says.

A field that is small after cropping and downsampling is loaded; a larger one stays in its file and is read some
snapshots at a time, so that gigabytes are thresholded in little memory.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from whiffclock.archive import UNREADABLE, first_line
from whiffclock.params import InputError, require
from whiffclock.plume.containers import Found, open_hdf5, open_netcdf, open_npy, open_npz, open_zarr
from whiffclock.plume.layouts import ReadSettings
from whiffclock.plume.plume import Plume
from whiffclock.plume.reading import Reader
from whiffclock.plume.writing import write_plume

__all__ = ["ReadSettings", "read_plume", "write_plume"]

KINDS = ".npy, .npz, HDF5, MATLAB v7.3, NetCDF or Zarr"


def read_plume(path: Path, settings: ReadSettings | None = None) -> Plume:
    """Read ``path``; ``settings`` say what the file does not, and come before what it does.

    A file that was written with a fingerprint is read as a whole and refused if the fingerprint of its values differs.
    """
    settings = settings or ReadSettings()
    require(path.exists(), f"There is no plume file at {path}.")
    try:
        found = _opener(path)(path, settings.key)
        plume = _plume(path, found, settings)
        if found.fingerprint:
            as_stored = ReadSettings(key=settings.key)
            stored = plume if settings == as_stored else _plume(path, found, as_stored)
            require(
                stored.fingerprint == found.fingerprint,
                f"{path} is damaged, or was changed after it was written: its values have the fingerprint "
                f"{stored.fingerprint}, not {found.fingerprint}; export it again.",
            )
    except InputError as error:
        raise error if path.name in str(error) else InputError(f"{path}: {error}") from error
    except PermissionError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    except (*UNREADABLE, RuntimeError) as error:
        raise InputError(f"{path} is not a readable plume file, or it is damaged: {first_line(error)}.") from error
    if isinstance(plume.field, np.ndarray):
        found.close()
    return plume


def _plume(path: Path, found: Found, settings: ReadSettings) -> Plume:
    reader = Reader(found, settings)
    source = settings.source or _moved_source(path, found, reader)
    return Plume(reader.field(), source, (found.origin or path.name) + _what_was_done(reader))


def _opener(path: Path) -> Callable[[Path, str | None], Found]:
    """Which kind of file it is, by its first bytes."""
    if path.is_dir():
        marks = ("zarr.json", ".zgroup", ".zarray")
        require(any((path / mark).exists() for mark in marks), f"{path} is a folder, and not a Zarr store.")
        return open_zarr
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"\x93NUMPY"):
        return open_npy
    if start.startswith(b"PK"):
        return open_npz
    if start.startswith(b"CDF"):
        return open_netcdf
    require(
        not start.startswith(b"MATLAB 5.0"),
        f"{path} is a MATLAB file of an old version; save it in MATLAB with '-v7.3'.",
    )
    import h5py

    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            named = "_NCProperties" in file.attrs
        return open_netcdf if named or path.suffix == ".nc" else open_hdf5
    raise InputError(f"{path} is not a readable plume file ({KINDS}): {_first_impression(start)}.")


def _first_impression(start: bytes) -> str:
    if not start:
        return "it is empty"
    text = start.splitlines()[0] if start.splitlines() else b""
    if text.isascii() and text.decode("ascii").isprintable():
        return f"it is text and begins with {text.decode('ascii')[:40]!r}"
    return f"it begins with the bytes {start[:8].hex(' ')}"


def _moved_source(path: Path, found: Found, reader: Reader) -> tuple[int, int]:
    """The source in the cells of the field: what the file says, or the upwind end in the middle of the width."""
    x, y = found.source or (0, found.values.shape[reader.axes.index("y")] // 2)
    moved = (x - reader.crop[0]) // reader.settings.downsample, (y - reader.crop[2]) // reader.settings.downsample
    require(
        0 <= moved[0] < reader.shape[1] and 0 <= moved[1] < reader.shape[2],
        f"{path}: the source ({x}, {y}) lies outside the cells that are kept; name a source among them.",
    )
    return moved


def _what_was_done(reader: Reader) -> str:
    """The steps that changed the field, for its origin."""
    how = reader.settings
    steps = [
        f"snapshots {how.first}:{'' if how.end is None else how.end}" if how.first or how.end is not None else "",
        "cells {}:{},{}:{}".format(*how.crop) if how.crop else "",
        f"every {how.downsample} cells ({how.downsample_method})" if how.downsample > 1 else "",
        f"minus the mean of the first {reader.background}" if reader.background else "",
        f"times {how.scale:g}" if how.scale != 1 else "",
        "clipped at 0" if how.clip else "",
    ]
    return "".join(f", {step}" for step in steps if step)
