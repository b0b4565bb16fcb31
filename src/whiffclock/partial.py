"""Partially written files and folders: hidden, locked while their writer runs, removed later if it was killed."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TRIES, _PAUSE = 50, 0.1
_cleaned: set[Path] = set()


@contextmanager
def partial_place(path: Path, folder: bool = False) -> Iterator[Path]:
    """A new, empty and locked file or folder beside ``path``; if it still exists at the end, it is removed.

    The first one in a folder also removes what killed writers left there.
    """
    with suppress(OSError):
        if path.parent not in _cleaned:
            remove_leftovers(path.parent)
            _cleaned.add(path.parent)
    partial = path.parent / f".{path.name[:50]}.{os.urandom(4).hex()}.partial"
    lock = None
    try:
        if folder:
            partial.mkdir()
        else:
            partial.open("xb").close()
        lock = _locked(partial)
        yield partial
    finally:
        _remove(partial)
        if lock is not None:
            os.close(lock)


def leftovers(folder: Path, older_than: float = 600.0, pattern: str = ".*.????????.partial") -> list[Path]:
    """Files of interrupted writes in ``folder``, older than ``older_than`` seconds and not locked."""
    before, found = time.time() - older_than, []
    for path in sorted(folder.glob(pattern)):
        with suppress(OSError):  # gone, or a link to nothing
            if path.stat().st_mtime < before and not path.is_symlink():
                lock = _locked(path)
                if lock is not None:
                    os.close(lock)
                    found.append(path)
    return found


def remove_leftovers(folder: Path) -> None:
    """Remove files of interrupted writes in ``folder``."""
    for path in leftovers(folder):
        _remove(path)


def _locked(path: Path) -> int | None:
    """An open file descriptor with a lock, which ends with the process; None if another process has it."""
    lock = os.open(path, os.O_RDONLY)
    try:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except (ImportError, OSError):  # a system or a file system without locks: age alone decides
        pass
    return lock


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
