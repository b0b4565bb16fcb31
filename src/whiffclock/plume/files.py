"""Plumes from and to files: ``.npy`` with axes (t, x, y), and ``.npz`` with source and origin."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from whiffclock.archive import UNREADABLE, first_line, read_npz, write_npz
from whiffclock.params import InputError, require
from whiffclock.plume.plume import Plume


def read_plume(path: Path, source: tuple[int, int] | None = None) -> Plume:
    """Read ``path``; ``source`` overrides what the file says."""
    require(path.is_file(), f"There is no plume file at {path}.")
    if path.suffix == ".npz":
        return _read_archive(path, source)
    try:
        field = np.load(path, mmap_mode="r", allow_pickle=False)
    except UNREADABLE as error:
        raise InputError(f"{path} is not a readable .npy plume: {first_line(error)}.") from error
    require(isinstance(field, np.ndarray), f"{path} is an archive of arrays; give it the ending .npz.")
    return Plume.from_array(field, source, path.name)


def _read_archive(path: Path, source: tuple[int, int] | None) -> Plume:
    arrays = read_npz(path, "a plume file")
    require(
        "field" in arrays,
        f"{path} holds {', '.join(sorted(arrays))}; a plume file needs an array called 'field'.",
    )
    if source is None and "source" in arrays:
        stored = arrays["source"]
        require(stored.shape == (2,), f"{path} has a source of shape {stored.shape}; it needs x and y.")
        source = int(stored[0]), int(stored[1])
    return Plume.from_array(arrays["field"], source, str(arrays.get("origin", path.name)))


def write_plume(plume: Plume, path: Path) -> None:
    """Write field, source and origin to an ``.npz`` file."""
    source, origin = np.array(plume.source), np.array(plume.origin)
    write_npz(path, {"field": plume.field, "source": source, "origin": origin})
