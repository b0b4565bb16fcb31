"""Files of every kind: read with care, written whole or not at all.

What is not a regular file is not opened (:func:`require_file`), sizes are checked before anything is unpacked
(:func:`require_plausible`), and whatever goes wrong becomes one sentence (:func:`reading`).

A file is written under a hidden name beside its own and then renamed, so that there is the old one or the new one.
"""

import errno
import os
import shutil
import stat
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from whiffclock.params import InputError, require

#: From this size on, contents may be at most this many times as large as their file.
_LARGE, _TIMES = 2**30, 1000
_LONGEST_TOML = 2**20
#: Seconds after which what is not finished counts as left by a writer that was killed.
_DAY = 86_400.0
_TRIES, _PAUSE = 50, 0.1
_WINDOWS = os.name == "nt"
_cleaned: set[Path] = set()


def require_file(path: Path, what: str = "file") -> None:
    """Refuse what is not a regular file before it is opened: a pipe may wait forever, a device may never end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        sentence = f"There is no {what} at {path}." if missing else f"{path} cannot be read: {error.strerror}."
        raise InputError(sentence) from error
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
        _move("replace", temporary, path)
    _flush(path.parent)


def _move(how: str, old: Path, new: Path) -> None:
    """``os.rename`` or ``os.replace`` a file or folder.

    On Windows this fails while anybody has one of them open, such as a virus scanner, for a moment; so it is repeated.
    """
    for rest in reversed(range(_TRIES if _WINDOWS else 1)):
        try:
            getattr(os, how)(old, new)
            return
        except PermissionError:
            if not rest:
                raise
            time.sleep(_PAUSE)


def _exchange(new: Path, old: Path) -> None:
    """Replace a folder by one in a temporary folder; until that is done, the old one is only put aside.

    If it fails, the old one comes back. If the process is killed between two lines, it keeps a name that
    :func:`leftovers` does not know.
    """
    aside = new.parent.with_suffix(".replaced")
    try:
        _move("rename", old, aside)
        _move("replace", new, old)
    except BaseException:
        if not os.path.lexists(old):
            _move("rename", aside, old)
        raise
    _move("rename", aside, new)  # which is removed with its folder


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
    try:
        tempfile.TemporaryFile(dir=nearest).close()
    except OSError as error:
        raise InputError(f"{folder} cannot be written: no file can be made in {nearest}.") from error


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).splitlines() or ["unknown error"])[0].rstrip(".")
