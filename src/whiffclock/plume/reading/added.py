"""Readers of further kinds of plume files, which other packages add with the entry point ``whiffclock.plumes``.

The name of an entry point is the ending of the files, such as ``tdms``. It is a function from a path to an array
``c[t, x, y]``, or to a :class:`Found`, which also has the order of the axes, the source, the origin and environments.
"""

from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from whiffclock.params import require
from whiffclock.plume.reading.containers import Found

#: Entry points of readers in other packages.
GROUP = "whiffclock.plumes"
_OWN = {"", ".npy", ".npz", ".h5", ".hdf5", ".mat", ".nc", ".zarr"}


def added_opener(path: Path) -> Callable[[Path, str | None, ExitStack], Found] | None:
    """The reader that another package adds for the ending of a file, if there is one."""
    if path.suffix in _OWN:
        return None
    return next((_opener(reader) for reader in entry_points(group=GROUP, name=path.suffix.removeprefix("."))), None)


def _opener(reader: EntryPoint) -> Callable[[Path, str | None, ExitStack], Found]:
    read = reader.load()

    def opener(path: Path, key: str | None, files: ExitStack) -> Found:
        require(key is None, f"{path} is read by {reader.value}, which takes no key; leave out {key!r}.")
        found = read(path)
        if isinstance(found, Found):
            return found
        array = hasattr(found, "shape") and hasattr(found, "dtype")
        require(array, f"The reader {reader.value} returned a {type(found).__name__}; it must return an array.")
        return Found(str(path), found, "txy")

    return opener
