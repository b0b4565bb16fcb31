"""Files of named arrays (``.npz``): checked when read, never pickled, with a digest."""

import hashlib
import io
import math
import os
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from whiffclock.disk import first_line, reading, require_file, require_plausible, write_whole
from whiffclock.params import MOST_BYTES, InputError, T, convert, require

_LONGEST_NPY_HEADER = 10_240  # more than numpy accepts
_NPY_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_ZIP_END, _ZIP_END_BYTES, _LONGEST_LABEL = b"PK\5\6", 22, 65_535  # what a zip file ends with, before its comment
#: The array with the digest of all others in its file, and the text that is the comment of the zip file.
DIGEST, LABEL = "digest", "label"
#: What the digest at the end of a file begins with, and how long it is.
_END, _END_BYTES = b"whiffclock ", 43


def read_npz(path: Path, what: str, only: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """All arrays of ``path``, or ``only`` some; it should be ``what`` (such as "a whiffclock policy").

    A comment of the file is the array :data:`LABEL`. If all are read and the file has a digest, they must agree with
    it. Numbers are returned in the byte order of this machine, which kernels need.
    """
    require_file(path)
    with reading(path, what), zipfile.ZipFile(path) as archive:
        names = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        require(len(set(names)) == len(names), "two of its arrays have the same name")
        chosen = {name: archive.getinfo(f"{name}.npy") for name in names if only is None or name in only}
        _require_sizes(archive, chosen, path)
        arrays = {name: npy.read_array(archive.open(m), allow_pickle=False) for name, m in chosen.items()}
        arrays |= {LABEL: np.array(archive.comment.decode())} if archive.comment else {}
        if only is None and DIGEST in arrays:
            require(str(arrays[DIGEST]) == digest_of(arrays), "its arrays do not agree with its digest")
        return {name: values.astype(values.dtype.newbyteorder("="), copy=False) for name, values in arrays.items()}


def read_label(path: Path) -> str:
    """The label of a file of :func:`write_npz`, from its end alone."""
    with reading(path, "a file of arrays"), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _ZIP_END_BYTES - _LONGEST_LABEL))
        end = file.read().rpartition(_ZIP_END)[2]
        return end[_ZIP_END_BYTES - len(_ZIP_END) :].decode("ascii")


def _require_sizes(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], path: Path) -> None:
    """Refuse, before arrays are allocated, sizes that are too large or contradict each other."""
    total = sum(member.file_size for member in members.values())
    require(total <= MOST_BYTES, f"its arrays take {total / 2**30:,.1f} GiB, and {MOST_BYTES / 2**30:g} are allowed")
    require_plausible(total, path, "its arrays")
    for name, member in members.items():
        packing = member.compress_type
        require(packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), f"the array {name} is packed in an unknown way")
        require(not member.flag_bits & 1, f"the array {name} is encrypted")
        with archive.open(member) as stream:
            require_npy(stream, member.file_size, f"the array {name}")


def require_npy(stream: Any, size: int, name: str) -> None:
    """Refuse an array of ``size`` bytes in numpy's format of Python objects, or whose shape does not fit its size."""
    head = io.BytesIO(stream.read(_LONGEST_NPY_HEADER))
    try:
        shape, _, dtype = _NPY_HEADERS[npy.read_magic(head)](head)
    except Exception as error:  # the header is Python, which numpy evaluates
        raise InputError(f"the header of {name} is damaged") from error
    require(not dtype.hasobject, f"{name} holds Python objects")
    there, count = size - head.tell(), math.prod(shape)
    agree = min(shape, default=0) >= 0 and count <= MOST_BYTES and count * dtype.itemsize == there
    require(agree, f"{name} should have the shape {shape}, which does not fit its {there} bytes")


def digest_of(arrays: dict[str, np.ndarray]) -> str:
    """32 hex digits that change with any name, type, shape or value of the arrays (but that of the digest itself)."""
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays.keys() - {DIGEST}):
        values = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {values.dtype.str} {arrays[name].shape}\n".encode())
        digest.update(values.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def append_digest(file: BinaryIO) -> None:
    """End a file, whose format allows it, with a digest of all that was written."""
    file.write(_digest_of_bytes(file, file.seek(0, os.SEEK_END)))


def ends_with_digest(path: Path) -> bool:
    """Whether a file ends with a digest of all its other bytes; a wrong one is refused."""
    with path.open("rb") as file:
        size = max(0, file.seek(0, os.SEEK_END) - _END_BYTES)
        file.seek(size)
        end = file.read()
        marked = end.startswith(_END)
        right = marked and end == _digest_of_bytes(file, size)
    require(right or not marked, f"{path} is damaged: its digest is wrong.")
    return marked


def _digest_of_bytes(file: BinaryIO, size: int) -> bytes:
    """The digest of the first ``size`` bytes, as it is written after them."""
    digest = hashlib.blake2b(digest_size=16)
    file.seek(0)
    for start in range(0, size, 2**20):
        digest.update(file.read(min(2**20, size - start)))
    return _END + digest.hexdigest().encode()


def require_digest(arrays: dict[str, np.ndarray], path: Path, what: str) -> None:
    """Refuse the contents of ``path`` without a digest; its value is checked when reading."""
    require(DIGEST in arrays, f"{path} is a damaged {what} (it has no digest).")


def array_named(
    arrays: Mapping[str, np.ndarray],
    name: str,
    kinds: str,
    shape: tuple[int | None, ...],
    least: float | None = None,
    most: float | None = None,
) -> np.ndarray:
    """The array ``name``: its type is one of ``kinds``, its shape as given (None: anything), its values in a range."""
    require(name in arrays, f"it has no {name}")
    array = arrays[name]
    alike = len(array.shape) == len(shape) and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
    require(array.dtype.kind in kinds and alike, f"its {name} are {array.dtype} of shape {array.shape}")
    for limit, compare in ((least, np.greater_equal), (most, np.less_equal)):
        inside = limit is None or bool(compare(array, limit).all())
        require(inside, f"its {name} have values out of range")
    return array


def read_header(arrays: dict[str, np.ndarray], path: Path, what: str, kind: type[T], form: str | None = None) -> T:
    """The JSON text in the array "header" of ``path``, as a ``kind``; see :func:`whiffclock.params.convert`.

    The file should be ``what``, such as "whiffclock policy". With ``form``, the header must be of this "format".
    """
    require("header" in arrays, f"{path} is not a {what}: it has no header.")
    try:
        header = read_json(arrays["header"], "its header")
        known = form in (None, header.get("format"))
        made = convert(header, kind, "its header is wrong") if known else None
    except InputError as error:
        raise InputError(f"{path} is a damaged {what} ({first_line(error)}).") from error
    if made is None:
        raise InputError(f"{path} is not a {what} that this version of whiffclock can read.")
    return made


def read_json(text: np.ndarray | str, name: str) -> dict[str, Any]:
    """The object in a JSON text, or in an array that is one."""
    import msgspec

    if isinstance(text, np.ndarray):
        require(text.shape == () and text.dtype.kind == "U", f"{name} is not a text")
    try:
        value: Any = msgspec.json.decode(str(text))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON") from error
    require(isinstance(value, dict), f"{name} is not a JSON object")
    return value


def write_npz(path: Path, arrays: dict[str, np.ndarray], *, compress: bool = True) -> None:
    """Write ``path`` atomically, with a digest of the arrays; the bytes depend on the arrays alone.

    The text :data:`LABEL` becomes the comment, where :func:`read_label` finds it.
    """
    label = str(arrays.get(LABEL, "")).encode("ascii")
    require(len(label) <= _LONGEST_LABEL, f"The label of {path} has {len(label):,} characters, which are too many.")
    content = {**arrays, DIGEST: np.array(digest_of(arrays))}
    content.pop(LABEL, None)

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
            archive.comment = label
            for name, values in content.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    npy.write_array(member, np.asanyarray(values), allow_pickle=False)

    write_whole(path, write)
