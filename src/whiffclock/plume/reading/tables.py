"""Tables with a row per cell and snapshot: columns t, x, y and the concentration, in any order.

Coordinates are on a regular grid, which may be in any units. Cells that the table leaves out are zeros, as many
programs write only where odor is; the origin says how many they are.
"""

import gzip
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.formatting import plainly
from whiffclock.params import InputError, needing, require, require_memory
from whiffclock.plume.reading.containers import Found
from whiffclock.plume.reading.layouts import AXIS_NAMES

_VALUES = dict.fromkeys(("c", "concentration", "odor", "odour", "value", "signal"), "c")
_WORDS = {name: letter for name, letter in AXIS_NAMES.items() if name != "frames"} | _VALUES
_SEPARATORS = "\t;,"
#: Rows that are read at a time, and how far a coordinate may be off the grid, in cells.
_ROWS, _OFF = 10**6, 0.02


def is_table(path: Path) -> bool:
    """Whether a text file, packed or not, has the columns of a table in its first line, or a table's name."""
    first = _first_line(path)
    named = bool({".csv", ".tsv"} & {ending.lower() for ending in path.suffixes})
    return bool(first) and first.replace("\t", " ").isprintable() and (named or len(_columns(_header(first))) > 1)


def open_table(path: Path, key: str | None, files: ExitStack) -> Found:
    """CSV, with commas, semicolons or tabs, packed with gzip or not."""
    import pandas as pd

    first = _first_line(path)
    chosen = _chosen(path, key, _header(first))
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    how: dict[str, Any] = {"sep": separator, "usecols": [at for at, _ in chosen.values()], "skipinitialspace": True}
    how["compression"] = "gzip" if _packed(path) else None
    with pd.read_csv(path, chunksize=_ROWS, encoding="utf-8-sig", low_memory=False, **how) as parts:
        return _field(path, chosen, parts)


def open_parquet(path: Path, key: str | None, files: ExitStack) -> Found:
    """Parquet, if pyarrow is installed."""
    with needing("parquet", f"{path} is a Parquet table; pyarrow reads it"):
        from pyarrow import parquet
    file = files.enter_context(parquet.ParquetFile(path))
    chosen = _chosen(path, key, file.schema_arrow.names)
    names = [name for _, name in chosen.values()]
    return _field(path, chosen, (part.to_pandas() for part in file.iter_batches(_ROWS, columns=names)))


def _packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _first_line(path: Path) -> str:
    """The first line of a text file, packed or not; empty if it is no text."""
    try:
        with gzip.open(path) if _packed(path) else path.open("rb") as file:
            return file.readline(2**12).decode("utf-8-sig").strip()
    except (OSError, EOFError, UnicodeDecodeError):
        return ""


def _header(line: str) -> list[str]:
    separator = next((mark for mark in _SEPARATORS if mark in line), ",")
    return [name.strip().strip("\"'") for name in line.split(separator)]


def _columns(header: list[str]) -> dict[str, tuple[int, str]]:
    """The columns that are understood: for t, x, y and c, which one it is, and its name."""
    found: dict[str, tuple[int, str]] = {}
    for i, name in enumerate(header):
        if letter := _WORDS.get(name.lower()):
            found.setdefault(letter, (i, name))
    return found


def _chosen(path: Path, key: str | None, header: list[str]) -> dict[str, tuple[int, str]]:
    """The four columns, of which ``key`` may name that of the values."""
    found = _columns(header)
    if key is not None:
        require(key in header, f"{path} has no column called {key!r}; it has {_listed(header)}.")
        found["c"] = header.index(key), key
    trace = not {"x", "y"} & found.keys() and "t" in found and (len(header) == 2 or "c" in found)
    require(not trace, f"{path} is a trace at one place, not a field; a plume needs the columns t, x, y and c.")
    complete = {"t", "x", "y", "c"} <= found.keys()
    require(complete, f"{path} needs the columns t, x, y and c (or --key for the last); it has {_listed(header)}.")
    letters = [_WORDS.get(name.lower()) for name in header]
    repeated = [name for name, letter in zip(header, letters, strict=True) if letter and letters.count(letter) > 1]
    require(not repeated or key in repeated, f"{path} has several columns for the same: {_listed(repeated)}.")
    return {letter: found[letter] for letter in "txyc"}


def _listed(names: list[str], most: int = 8) -> str:
    return ", ".join(repr(name[:30]) for name in names[:most]) + (" and more" if len(names) > most else "")


def _field(path: Path, chosen: dict[str, tuple[int, str]], parts: Iterable[Any]) -> Found:
    """The field of a table that comes in ``parts``."""
    read: dict[str, list[np.ndarray]] = {letter: [] for letter in chosen}
    rows = 0
    for part in parts:
        for letter, (_, name) in chosen.items():
            column = next(part[own] for own in part.columns if str(own).strip().strip("\"'") == name)
            read[letter].append(_numbers(path, name, column, rows))
        rows += len(part)
        require_memory(rows * 4 * 8, f"The table {path}")
    require(rows > 0, f"{path} is a table without rows.")
    columns = {letter: np.concatenate(values) for letter, values in read.items()}
    grid = {letter: _steps(path, chosen[letter][1], columns.pop(letter)) for letter in "txy"}
    shape = tuple(int(grid[letter].max()) + 1 for letter in "txy")
    cells = shape[0] * shape[1] * shape[2]
    require_memory(cells * 8, f"The grid {' x '.join(map(str, shape))} (t, x, y) of {path}")
    where = np.ravel_multi_index(tuple(grid[letter] for letter in "txy"), shape)
    order = np.argsort(where, kind="stable")
    again = np.flatnonzero(np.diff(where[order]) == 0)
    if len(again):
        first, second = (int(order[again[0] + i]) + 2 for i in (0, 1))
        raise InputError(f"{path} has the same cell twice: in lines {first} and {second}.")
    values = np.zeros(cells)
    values[where] = columns["c"]
    share = plainly(round(100 * (1 - rows / cells), 1))
    missing = f", {share} % of the cells not in the table, and taken as 0" if rows < cells else ""
    return Found(str(path), values.reshape(shape), "txy", origin=f"{path.name}{missing}")


def _numbers(path: Path, name: str, column: Any, before: int) -> np.ndarray:
    """A column as numbers; ``before`` rows were read already."""
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        text = column.iloc[wrong[0]]
        found = "empty" if pd.isna(text) else repr(str(text)[:30])
        raise InputError(f"{path}, line {before + wrong[0] + 2}: {name} is {found}; it must be a finite number.")
    return values


def _steps(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    """Coordinates as whole numbers of steps from the smallest."""
    places = np.unique(values)
    gaps = np.diff(places)
    large = gaps[gaps > 1e-6 * np.ptp(places)] if len(gaps) else gaps
    if not len(large):
        return np.zeros(len(values), dtype=np.int64)
    step = float(large.min())
    count = (values - places[0]) / step
    steps = np.round(count)
    # Rounding of the step adds up over the grid, so the last place says it best.
    step = float(np.ptp(places)) / float(steps.max())
    steps = np.round((values - places[0]) / step)
    off = np.abs((values - places[0]) / step - steps).max()
    regular = f"{path}: the column {name} is not on a regular grid: its smallest step is {plainly(step)}"
    require(off < _OFF, f"{regular}, and not all others are multiples of it.")
    return steps.astype(np.int64)
