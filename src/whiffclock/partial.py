"""Partially written files and folders: hidden, locked while their writer runs, removed later if it was killed."""

import hashlib
import os
import platform
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TRIES, _PAUSE = 50, 0.1
_cleaned: set[Path] = set()
#: Ends the random part of a name: on the machine of its writer, a lock says whether the writer still runs.
_HOST = hashlib.blake2b(platform.node().encode(), digest_size=2).hexdigest()


@contextmanager
def partial_place(path: Path, folder: bool = False) -> Iterator[Path]:
    """A new, empty and locked file or folder beside ``path``; if it still exists at the end, it is removed.

    The first one in a folder also removes what killed writers left there.
    """
    with suppress(OSError):
        if path.parent not in _cleaned:
            remove_leftovers(path.parent)
            _cleaned.add(path.parent)
    partial = path.parent / f".{path.name[:50]}.{os.urandom(2).hex()}{_HOST}.partial"
    lock = None
    try:
        if folder:
            partial.mkdir()
        else:
            partial.open("xb").close()
        lock, _ = _locked(partial)
        yield partial
    finally:
        _remove(partial)
        if lock is not None:
            os.close(lock)


def leftovers(folder: Path, older_than: float = 600.0, pattern: str = ".*.????????.partial") -> list[Path]:
    """Files of interrupted writes in ``folder``, not locked, and older than ``older_than`` seconds.

    Two seconds are enough for those of this machine.
    """
    found = []
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError):  # gone, or a link to nothing
            age, (lock, free) = time.time() - path.stat().st_mtime, _locked(path)
            os.close(lock)
            needed = min(2.0, older_than) if free and f"{_HOST}." in path.name else older_than
            if age > needed and free is not False and not path.is_symlink():
                found.append(path)
    return found


def remove_leftovers(folder: Path) -> None:
    """Remove files of interrupted writes in ``folder``."""
    for path in leftovers(folder):
        _remove(path)


def _locked(path: Path) -> tuple[int, bool | None]:
    """An open file descriptor, and whether it has the lock, which ends with the process; None without any locks."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return descriptor, False
    except (ImportError, OSError):  # a system or a file system without locks: age alone decides
        return descriptor, None
    return descriptor, True


def _remove(path: Path) -> None:
    """Remove a file or a folder; other threads may still write to a folder for a moment."""
    for _ in range(_TRIES):
        if not path.is_dir():
            break
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            time.sleep(_PAUSE)
    with suppress(OSError):
        path.unlink()
