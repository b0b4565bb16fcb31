"""Models in files: which reader reads what."""

from __future__ import annotations

from pathlib import Path

from whiffclock.params import InputError, require
from whiffclock.pomdp.files.cassandra import read_pomdp
from whiffclock.pomdp.files.pomdpx import read_pomdpx
from whiffclock.pomdp.tabular import TabularModel

_READERS = {".pomdp": read_pomdp, ".pomdpx": read_pomdpx}


def read_model(path: Path) -> TabularModel:
    """The model in ``path``, a ``.pomdp`` or a ``.pomdpx`` file."""
    path = Path(path)
    require(not path.is_dir(), f"{path} is a folder, not a file.")
    require(path.exists(), f"There is no file at {path}.")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path} is no model; the name of one ends in .pomdp or .pomdpx.")
    return reader(path)
