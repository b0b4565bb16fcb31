"""Files of named arrays (``.npz``): written whole or not at all, read with suspicion, never pickled."""

from __future__ import annotations

import os
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import BinaryIO

import numpy as np

from whiffclock.params import InputError, require

#: What a damaged or foreign file can raise on its way through zip and numpy.
UNREADABLE = (ValueError, EOFError, OSError, KeyError, TypeError, zipfile.BadZipFile, zlib.error)


def read_npz(path: Path, what: str, only: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """All arrays of ``path``, or ``only`` some; it should be ``what`` (such as "a whiffclock policy")."""
    require(path.is_file(), f"There is no file at {path}.")
    try:
        with path.open("rb") as file:
            require(zipfile.is_zipfile(file), f"{path} is not {what}.")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive if only is None or name in only}
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{path} is not {what}, or it is damaged: {first_line(error)}.") from error


def write_npz(path: Path, arrays: dict[str, np.ndarray], *, compress: bool = True) -> None:
    """Write ``path`` atomically; the bytes depend on the arrays alone."""
    write = np.savez_compressed if compress else np.savez
    write_whole(path, lambda file: write(file, **arrays))  # type: ignore[arg-type]


def write_whole(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Put what ``write`` writes at ``path``, all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        Path(partial).unlink(missing_ok=True)


def leftovers(folder: Path, older_than: float = 600.0) -> list[Path]:
    """What interrupted calls of :func:`write_npz` left in ``folder``, untouched for ``older_than`` seconds.

    A younger one may be a write that is still going on.
    """
    before = time.time() - older_than
    return sorted(path for path in folder.glob(".*.npz.*") if path.is_file() and path.stat().st_mtime < before)


def require_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be written, before any work is done."""
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    require(nearest.is_dir(), f"{folder} cannot be written: {nearest} is not a folder.")
    require(os.access(nearest, os.W_OK | os.X_OK), f"{folder} cannot be written: no permission in {nearest}.")


def first_line(error: BaseException) -> str:
    """The first line of an error's message, without its full stop."""
    return (str(error).splitlines() or ["unknown error"])[0].rstrip(".")
