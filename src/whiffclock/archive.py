"""Files of named arrays (``.npz``): written whole or not at all, checked when read, never pickled.

A file is written under a hidden name beside its own and then renamed, so that there is the old one or the new one.

For files of every kind: what is not a regular file is not opened (:func:`require_file`), sizes are checked before
anything is unpacked (:func:`require_plausible`), and whatever goes wrong becomes one sentence (:func:`reading`).
"""

import errno
import hashlib
import io
import math
import os
import shutil
import stat
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from whiffclock.params import MOST_BYTES, InputError, T, convert, require

#: From this size on, contents may be at most this many times as large as their file.
_LARGE, _TIMES = 2**30, 1000
_LONGEST_TOML = 2**20
_LONGEST_NPY_HEADER = 10_240  # more than numpy accepts
_NPY_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_ZIP_END, _ZIP_END_BYTES, _LONGEST_LABEL = b"PK\5\6", 22, 65_535  # what a zip file ends with, before its comment
#: Seconds after which what is not finished counts as left by a writer that was killed.
_DAY = 86_400.0
_TRIES, _PAUSE = 50, 0.1
_cleaned: set[Path] = set()
#: The array with the digest of all others in its file, and the text that is the comment of the zip file.
DIGEST, LABEL = "digest", "label"
#: What the digest at the end of a file begins with, and how long it is.
_END, _END_BYTES = b"whiffclock ", 43


def require_file(path: Path, what: str = "file") -> None:
    """Refuse what is not a regular file before it is opened: a pipe may wait forever, a device may never end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        raise InputError(
            f"There is no {what} at {path}." if missing else f"{path} cannot be read: {error.strerror}."
        ) from error
    except ValueError as error:
        raise InputError(f"There is no {what} at {str(path)!r}.") from error
    require(not stat.S_ISDIR(mode), f"{path} is a folder, not a file.")
    require(stat.S_ISREG(mode), f"{path} is not a regular file.")


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Any error while reading ``path``, which should be ``what``, becomes one sentence that names it.

    Libraries raise nearly any error when a file is damaged, so use it only around reading.
    """
    try:
        yield
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path} is not {what}, or it is damaged: {first_line(error)}.") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno and error.strerror == os.strerror(error.errno):
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
        raise InputError(f"{path} is not {what}, or it is damaged{_reason(error)}.") from error


@contextmanager
def naming(path: Path, line: int | None = None) -> Iterator[None]:
    """Add the name of a file, and the line if that is known, to errors raised inside."""
    try:
        yield
    except InputError as error:
        if str(path) in str(error):
            raise
        where = path if line is None else f"{path}, line {line}"
        raise InputError(f"{where}: {first_line(error)}.") from error


def _reason(error: Exception) -> str:
    """Why a file cannot be read, after a colon; empty if the error gives no reason."""
    text = str(error)
    if isinstance(error, EOFError) or "truncated" in text:
        return ": it is cut short"
    if isinstance(error, zipfile.BadZipFile):
        return ": its checksum is wrong" if "CRC" in text else ": it is not a whole zip file"
    if isinstance(error, zlib.error):
        return ": it cannot be unpacked"
    if isinstance(error, MemoryError):
        return ": it needs more memory than there is"
    if isinstance(error, RecursionError):
        return ": it is nested too deeply"
    return ": its text is not UTF-8" if isinstance(error, UnicodeDecodeError) else ""


def require_plausible(unpacked: int, path: Path, what: str = "its contents", others: Collection[Path] = ()) -> None:
    """Refuse contents that are impossibly large for their files (or folder), before they are unpacked."""
    if unpacked < _LARGE:
        return
    files = path.rglob("*") if path.is_dir() else [path, *others]
    there = sum(file.stat().st_size for file in files if file.is_file())
    claim = f"{what} should take {unpacked / 2**30:,.1f} GiB"
    require(unpacked <= _TIMES * there, f"{claim}, and the file has {there:,} bytes.")


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


def read_header(
    arrays: dict[str, np.ndarray], path: Path, what: str, kind: type[T], form: str | None = None, name: str = "header"
) -> T:
    """The JSON text in the array ``name`` of ``path``, as a ``kind``; see :func:`whiffclock.params.convert`.

    The file should be ``what``, such as "whiffclock policy". With ``form``, the header must be of this "format".
    """
    require(name in arrays, f"{path} is not a {what}: it has no {name}.")
    try:
        header = read_json(arrays[name], f"its {name}")
        known = form in (None, header.get("format"))
        made = convert(header, kind, f"its {name} is wrong") if known else None
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


def read_toml(path: Path) -> dict[str, Any]:
    """The values in a TOML file; errors name the line."""
    import tomllib

    text = read_text(path, "TOML file", _LONGEST_TOML)
    with reading(path, "a TOML file"):
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path} is not a TOML file: {first_line(error)}.") from error


def read_text(path: Path, what: str, most: int) -> str:
    """The text of a file in UTF-8, which should be a ``what`` of at most ``most`` bytes."""
    require_file(path, what)
    require(path.stat().st_size <= most, f"{path} is not a {what}: it has more than {most:,} bytes.")
    with reading(path, f"a {what}"):
        content = path.read_bytes()
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(f"line {line} of its text is not UTF-8") from error


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


def write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write ``path`` atomically with ``write``, and wait until it is on disk.

    Only a regular file at ``path``, or a link to one, is replaced: the link, not the file it points to.
    """
    try:
        require_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_place(path) as temporary:
            with temporary.open("r+b") as file:
                write(file)
            put_in_place(temporary, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or first_line(error)}.") from error


@contextmanager
def temporary_place(path: Path, folder: bool = False) -> Iterator[Path]:
    """A new, empty file or folder with a hidden name beside ``path``; if it still exists at the end, it is removed.

    The first one in a folder also removes what killed writers left there.
    """
    if path.parent not in _cleaned:
        _cleaned.add(path.parent)
        for left in leftovers(path.parent):
            _remove(left)
    temporary = path.parent / f".{path.name[:50]}.{os.urandom(4).hex()}.partial"
    try:
        if folder:
            temporary.mkdir()
        else:
            temporary.open("xb").close()
        yield temporary
    finally:
        _remove(temporary)


def put_in_place(temporary: Path, path: Path) -> None:
    """Flush a file or a folder of files to disk, and rename it to ``path``."""
    for file in sorted(temporary.rglob("*")) if temporary.is_dir() else [temporary]:
        _flush(file)
    if path.is_dir():
        _exchange(temporary, path)
    else:
        os.replace(temporary, path)
    _flush(path.parent)


def _exchange(new: Path, old: Path) -> None:
    """Replace a folder by one in a temporary folder; until that is done, the old one is only put aside.

    If it fails, the old one comes back. If the process is killed between two lines, it keeps a name that
    :func:`leftovers` does not know.
    """
    aside = new.parent.with_suffix(".replaced")
    try:
        old.rename(aside)
        os.replace(new, old)
    except BaseException:
        if not os.path.lexists(old):
            aside.rename(old)
        raise
    aside.rename(new)  # which is removed with its folder


def leftovers(folder: Path, older_than: float = _DAY, pattern: str = ".*.????????.partial") -> list[Path]:
    """Files and folders in ``folder`` that have not been finished for more than ``older_than`` seconds."""
    found = []
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError):  # gone
            if time.time() - path.lstat().st_mtime > older_than and not path.is_symlink():
                found.append(path)
    return found


def _remove(path: Path) -> None:
    """Remove a file or a folder; other threads may still write to a folder for a moment."""
    for _ in range(_TRIES):
        if not path.is_dir() or path.is_symlink():
            break
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            time.sleep(_PAUSE)
    with suppress(OSError):
        path.unlink()


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
