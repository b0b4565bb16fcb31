"""Files of named arrays (``.npz``): written whole or not at all, checked when read, never pickled."""

import io
import math
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.lib import format as npy

from whiffclock.params import InputError, T, convert, require
from whiffclock.partial import partial_place

if TYPE_CHECKING:
    import xarray as xr

#: What a damaged or foreign file can raise on its way through zip and numpy.
UNREADABLE = (
    ValueError, EOFError, OSError, KeyError, TypeError, RuntimeError, SyntaxError, MemoryError, OverflowError,
    struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
#: Bytes that the arrays of one file may take in memory.
MOST_BYTES = 4 * 2**30
_LONGEST_NPY_HEADER = 10_240  # more than numpy accepts
_NPY_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npz(path: Path, what: str, only: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """All arrays of ``path``, or ``only`` some; it should be ``what`` (such as "a whiffclock policy")."""
    require(path.is_file(), f"There is no file at {path}.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = {m.filename[:-4]: m for m in archive.infolist() if m.filename.endswith(".npy")}
            chosen = {name: m for name, m in members.items() if only is None or name in only}
            _require_sizes(archive, chosen)
            return {name: npy.read_array(archive.open(m), allow_pickle=False) for name, m in chosen.items()}
    except UNREADABLE as error:
        raise InputError(f"{path} is not {what}, or it is damaged: {first_line(error)}.") from error


def _require_sizes(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
    """Refuse, before arrays are allocated, sizes that are too large or contradict each other."""
    total = sum(member.file_size for member in members.values())
    require(total <= MOST_BYTES, f"its arrays take {total / 2**30:,.1f} GiB, and {MOST_BYTES / 2**30:g} are allowed")
    for name, member in members.items():
        packing = member.compress_type
        require(packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), f"the array {name} is packed in an unknown way")
        with archive.open(member) as stream:
            head = io.BytesIO(stream.read(_LONGEST_NPY_HEADER))
        shape, _, dtype = _NPY_HEADERS[npy.read_magic(head)](head)
        require(not dtype.hasobject, f"the array {name} holds objects")
        there, count = member.file_size - head.tell(), math.prod(shape)
        agree = min(shape, default=0) >= 0 and count <= MOST_BYTES and count * dtype.itemsize == there
        require(agree, f"the array {name} should have the shape {shape}, which does not fit its {there} bytes")


def read_header(
    arrays: dict[str, np.ndarray], path: Path, what: str, kind: type[T], form: str | None = None, name: str = "header"
) -> T:
    """The JSON text in the array ``name`` of ``path``, as a ``kind``; see :func:`whiffclock.params.convert`.

    The file should be ``what``, such as "whiffclock policy". With ``form``, the header must be of this "format".
    """
    import msgspec

    require(name in arrays, f"{path} is not a {what}: it has no {name}.")
    array = arrays[name]
    try:
        require(array.shape == () and array.dtype.kind == "U", f"its {name} is not a text")
        header: Any = msgspec.json.decode(str(array))
        require(isinstance(header, dict), f"its {name} is not a JSON object")
        known = form in (None, header.get("format"))
        made = convert(header, kind, f"its {name} is wrong") if known else None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is a damaged {what} ({first_line(error)}).") from error
    if made is None:
        raise InputError(f"{path} is not a {what} that this version of whiffclock can read.")
    return made


def write_npz(path: Path, arrays: dict[str, np.ndarray], *, compress: bool = True) -> None:
    """Write ``path`` atomically; the bytes depend on the arrays alone."""
    write = np.savez_compressed if compress else np.savez
    write_whole(path, lambda file: write(file, **arrays))  # type: ignore[arg-type]


def write_dataset(path: Path, dataset: "xr.Dataset") -> None:
    """Write a dataset as NetCDF, atomically."""
    packed: Any = {name: {"zlib": True} for name, values in dataset.data_vars.items() if values.size > 1}
    write_whole(path, lambda file: dataset.to_netcdf(cast(Any, file), engine="h5netcdf", encoding=packed))


def write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Put what ``write`` writes at ``path``, all of it or nothing, and wait until it is on disk.

    Of what may be at ``path``, only a regular file or a link to one is replaced: the link, not the file behind it.
    """
    try:
        require_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_place(path) as partial:
            with partial.open("r+b") as file:
                write(file)
            put_in_place(partial, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or first_line(error)}.") from error


def put_in_place(partial: Path, path: Path) -> None:
    """Flush a file or a folder of files to disk, and let it take the place of ``path`` at once."""
    for file in sorted(partial.rglob("*")) if partial.is_dir() else [partial]:
        _flush(file)
    os.replace(partial, path)
    _flush(path.parent)


def _flush(path: Path) -> None:
    """Wait until a file is on disk, or the list of files of a folder, which some systems cannot do."""
    with suppress(OSError) if path.is_dir() else nullcontext():
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows asks for write access
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def require_replaceable(path: Path) -> None:
    """Refuse to replace devices, pipes, folders and links to them."""
    with suppress(OSError):  # nothing is there, or a link to nothing
        regular = stat.S_ISREG(path.stat().st_mode)
        require(regular, f"{path} cannot be written: it exists and is not a regular file.")


def require_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be written, before any work is done."""
    nearest = folder
    while not nearest.exists() and not nearest.is_symlink() and nearest != nearest.parent:
        nearest = nearest.parent
    require(nearest.is_dir(), f"{folder} cannot be written: {nearest} is not a folder.")
    require(os.access(nearest, os.W_OK | os.X_OK), f"{folder} cannot be written: no permission in {nearest}.")


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).splitlines() or ["unknown error"])[0].rstrip(".")
