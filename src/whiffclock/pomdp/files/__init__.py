"""Models (``.pomdp``, ``.pomdpx``) and policies (``.policy``) in files."""

from pathlib import Path

from whiffclock.params import InputError
from whiffclock.pomdp.files.cassandra import read_pomdp
from whiffclock.pomdp.files.pomdpx import read_pomdpx
from whiffclock.pomdp.files.source import Source
from whiffclock.pomdp.tabular import TabularModel

_READERS = {".pomdp": read_pomdp, ".pomdpx": read_pomdpx}


def read_model(path: Path) -> TabularModel:
    """The model in a ``.pomdp`` or ``.pomdpx`` file, or an :class:`InputError` that names the line at fault."""
    source = Source(Path(path))
    source.require_file()
    reader = _READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise InputError(f"{path} is not a model; its name must end in .pomdp or .pomdpx.")
    with source.bounded():
        return reader(source)
