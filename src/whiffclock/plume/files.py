"""Plumes from and to files: ``.npy`` with axes (t, x, y), and ``.npz`` with source and origin."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from whiffclock.params import InputError, require
from whiffclock.plume.plume import Plume


def read_plume(path: Path, source: tuple[int, int] | None = None) -> Plume:
    """Read ``path``; ``source`` overrides what the file says."""
    require(path.exists(), f"There is no plume file at {path}.")
    require(path.is_file(), f"{path} is not a file.")
    origin = path.name
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} is not a readable .npy or .npz plume: {_first_line(error)}.") from error
    if isinstance(loaded, np.ndarray):
        return Plume.from_array(loaded, source, origin)
    with loaded:
        require(
            "field" in loaded,
            f"{path} holds {sorted(loaded)}; a plume file needs an array called 'field'.",
        )
        try:
            field = loaded["field"]
            if source is None and "source" in loaded:
                source = tuple(int(v) for v in loaded["source"])  # type: ignore[assignment]
            if "origin" in loaded:
                origin = str(loaded["origin"])
        except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise InputError(f"{path} is damaged: {_first_line(error)}.") from error
    return Plume.from_array(field, source, origin)


def write_plume(plume: Plume, path: Path) -> None:
    """Write field, source and origin to an ``.npz`` file."""
    np.savez_compressed(path, field=plume.field, source=np.array(plume.source), origin=np.array(plume.origin))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or ["unknown error"])[0].rstrip(".")
