"""Models (``.pomdp``, ``.pomdpx``) and policies (``.policy``) in files."""

from pathlib import Path

from whiffclock.disk import require_file
from whiffclock.params import require
from whiffclock.pomdp.files.cassandra import read_pomdp
from whiffclock.pomdp.files.pomdpx import read_pomdpx
from whiffclock.pomdp.files.source import Source
from whiffclock.pomdp.files.writing import write_pomdp
from whiffclock.pomdp.tabular import TabularModel

_READERS = {".pomdp": read_pomdp, ".pomdpx": read_pomdpx}


def read_model(path: Path) -> TabularModel:
    """The model in a ``.pomdp`` or ``.pomdpx`` file, or an :class:`InputError` that names the line at fault."""
    path = Path(path)
    require_file(path)
    known = path.suffix.lower() in _READERS
    require(known, f"{path} is not a model; its name must end in .pomdp or .pomdpx.")
    source = Source(path)
    with source.bounded():
        return _READERS[path.suffix.lower()](source)


def read(path: Path | str) -> TabularModel:
    """The model in a ``.pomdp`` or ``.pomdpx`` file.

    Raises
    ------
    InputError
        If something is wrong with the file; the message names the line.
    """
    return read_model(Path(path))


def write(model: TabularModel, path: Path | str) -> None:
    """Write a model as a ``.pomdp`` file, with the expected reward of each state and action."""
    path = Path(path)
    require(path.suffix.lower() == ".pomdp", f"{path} must end in .pomdp.")
    write_pomdp(model, path)
