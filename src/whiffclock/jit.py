"""Compilation of kernels; they are cached on disk where that is possible.

If the cache is damaged, full or not accessible, kernels are compiled again; this is never an error.
"""

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache

_printed: set[str] = set()


class _Cache(FunctionCache):
    """The cache of a kernel; if anything is wrong with its files, the kernel is compiled again.

    Numba compares the file of the kernel with that of the cached code; here also those of what it ``calls``.
    """

    def __init__(self, function: Callable, calls: tuple[str, ...]) -> None:
        super().__init__(function)
        if calls:
            stamps = [(found.st_mtime, found.st_size) for found in map(os.stat, calls)]
            self._cache_file._source_stamp = (self._cache_file._source_stamp, *stamps)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle can raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with suppress(RuntimeError):  # numba has lost the machine code; the function itself is fine
                super().save_overload(sig, data)
        except OSError as error:
            _say(f"compiled functions cannot be cached in {self.cache_path} ({error.strerror})")


def kernel(calls: tuple[str, ...] = (), **options: Any) -> Callable[[Callable], Any]:
    """Decorator: compile a function that uses only arrays and numbers, without the interpreter's lock.

    ``calls`` are other files with functions that it calls.
    """
    compiled = njit(nogil=True, error_model="numpy", **options)

    def decorate(function: Callable) -> Any:
        made = compiled(function)
        if hasattr(made, "py_func"):  # else numba is switched off
            with suppress(RuntimeError, OSError):
                made._cache = _cache(function, calls)
        return made

    return decorate


def _cache(function: Callable, calls: tuple[str, ...]) -> _Cache:
    """The cache of a function: where numba would keep it, or in a temporary folder."""
    try:
        return _Cache(function, calls)
    except RuntimeError:  # neither beside the package nor in the home folder
        folder = str(_temporary_folder())
        config.CACHE_DIR = folder  # type: ignore[attr-defined]
        _say(f"compiled functions are cached in {folder}, since package and home folder are read-only")
        return _Cache(function, calls)


def _temporary_folder() -> Path:
    """A folder that only this user can write, since cached code is run; the next process uses the same one."""
    folder = Path(tempfile.gettempdir()) / f"whiffclock-kernels-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    own = stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
    return folder if own and not found.st_mode & 0o022 else Path(tempfile.mkdtemp(prefix="whiffclock-kernels-"))


def _say(sentence: str) -> None:
    """Print a line on stderr, once."""
    if sentence not in _printed:
        _printed.add(sentence)
        print(f"whiffclock: {sentence}.", file=sys.stderr)
