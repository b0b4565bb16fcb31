"""Compilation of kernels; they are cached on disk where that is possible.

If the cache is damaged, full or not accessible, kernels are compiled again; this is never an error. The cache and the
option ``_nrt`` are not public in Numba; all use of them is here, and kernels work in a version without them.
"""

import os
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config, njit

try:
    from numba.core.caching import FunctionCache
except ImportError:
    FunctionCache = object  # type: ignore[assignment,misc]  # which refuses to be the cache of a function

_printed: set[str] = set()
_turn = threading.Lock()


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
            _add_cache(made, function, calls)
        return made

    return decorate


def _add_cache(made: Any, function: Callable, calls: tuple[str, ...]) -> None:
    """Give a compiled function its cache, if there is a place for it."""
    try:
        cache = _cache(function, calls) if hasattr(made, "_cache") else None
    except (RuntimeError, OSError):
        return
    except (AttributeError, TypeError):
        cache = None
    if cache is None:
        _warn("has no cache that can be used", "every process compiles its kernels")
    else:
        made._cache = cache


def cache_place(made: Any) -> str:
    """The folder in which a compiled function is cached."""
    return getattr(getattr(made, "_cache", None), "cache_path", None) or "none"


def without_runtime() -> dict[str, Any]:
    """The option that compiles without Numba's runtime, or none where Numba does not have it.

    Without the runtime there is no reference counting, which would cost more than a step of a search; in return a
    kernel allocates nothing. An unknown option would be refused at the first call only.
    """
    with suppress(ImportError):
        from numba.core.cpu import CPUTargetOptions

        if hasattr(CPUTargetOptions, "_nrt"):
            return {"_nrt": False}
    _warn("has no option _nrt", "kernels will be slower")
    return {}


def _warn(what: str, so: str) -> None:
    warnings.warn(f"This version of Numba {what}; {so}.", RuntimeWarning, stacklevel=3)


def _cache(function: Callable, calls: tuple[str, ...]) -> _Cache:
    """The cache of a function: where numba would keep it, or in a temporary folder."""
    try:
        return _Cache(function, calls)
    except RuntimeError:  # neither beside the package nor in the home folder
        folder = str(_temporary_folder())
        _say(f"compiled functions are cached in {folder}, since package and home folder are read-only")
        with _turn:
            before = config.CACHE_DIR  # type: ignore[attr-defined]
            config.CACHE_DIR = folder  # type: ignore[attr-defined]
            try:
                return _Cache(function, calls)
            finally:  # the caches of a user's own kernels stay where they are
                config.CACHE_DIR = before  # type: ignore[attr-defined]


def _temporary_folder() -> Path:
    """A folder that only this user can write, since cached code is run; the next process uses the same one."""
    folder = Path(tempfile.gettempdir()) / f"whiffclock-kernels-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    own = stat.S_ISDIR(found.st_mode)
    if hasattr(os, "getuid"):  # Windows has neither owners nor permissions here; its temporary folder is a user's own
        own = own and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return folder if own else Path(tempfile.mkdtemp(prefix="whiffclock-kernels-"))


def _say(sentence: str) -> None:
    """Print a line on stderr, once."""
    if sentence not in _printed:
        _printed.add(sentence)
        print(f"whiffclock: {sentence}.", file=sys.stderr)
