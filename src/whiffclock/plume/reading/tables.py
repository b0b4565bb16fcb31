"""Tables with a row per cell and snapshot: columns t, x, y and the concentration, in any order.

Coordinates are on a regular grid, which may be in any units. Cells that the table leaves out are zeros, as many
programs write only where odor is; the origin says how many they are.
"""

import gzip
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Rows:
    """The names of the columns of a table, and a function from some of them, by number, to its rows in parts."""

    names: list[str]
    parts: Callable[[list[int]], Iterable[Any]]


def open_rows(path: Path, files: ExitStack) -> Rows:
    """CSV, with commas, semicolons or tabs, packed with gzip or not; or Parquet, if pyarrow is installed."""
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return _parquet_rows(path, files)
    import pandas as pd

    first = _first_line(path)
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    how: dict[str, Any] = {"sep": separator, "skipinitialspace": True, "chunksize": _ROWS, "encoding": "utf-8-sig"}
    how |= {"compression": "gzip" if _packed(path) else None, "low_memory": False}
    return Rows(_header(first), lambda some: files.enter_context(pd.read_csv(path, usecols=some, **how)))


def _parquet_rows(path: Path, files: ExitStack) -> Rows:
    with needing("parquet", f"{path} is a Parquet table; pyarrow reads it"):
        from pyarrow import parquet
    file = files.enter_context(parquet.ParquetFile(path))
    names = list(file.schema_arrow.names)
    return Rows(
        names,
        lambda some: (part.to_pandas() for part in file.iter_batches(_ROWS, columns=[names[at] for at in some])),
    )


def open_table(path: Path, key: str | None, files: ExitStack) -> Found:
    """A table as a field."""
    rows = open_rows(path, files)
    chosen = _chosen(path, key, rows.names)
    return _field(path, chosen, rows.parts([at for at, _ in chosen.values()]))


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
        require(key in header, f"{path} has no column called {key!r}; it has {listed(header)}.")
        found["c"] = header.index(key), key
    trace = not {"x", "y"} & found.keys() and "t" in found and (len(header) == 2 or "c" in found)
    require(not trace, f"{path} is a trace at one place, not a field; a plume needs the columns t, x, y and c.")
    complete = {"t", "x", "y", "c"} <= found.keys()
    require(complete, f"{path} needs the columns t, x, y and c (or --key for the last); it has {listed(header)}.")
    letters = [_WORDS.get(name.lower()) for name in header]
    repeated = [name for name, letter in zip(header, letters, strict=True) if letter and letters.count(letter) > 1]
    require(not repeated or key in repeated, f"{path} has several columns for the same: {listed(repeated)}.")
    return {letter: found[letter] for letter in "txyc"}


def listed(names: list[str], most: int = 8) -> str:
    """Names of columns for a sentence."""
    return ", ".join(repr(name[:30]) for name in names[:most]) + (" and more" if len(names) > most else "")


def _field(path: Path, chosen: dict[str, tuple[int, str]], parts: Iterable[Any]) -> Found:
    """The field of a table that comes in ``parts``."""
    read: dict[str, list[np.ndarray]] = {letter: [] for letter in chosen}
    rows = 0
    for part in parts:
        for letter, (_, name) in chosen.items():
            column = next(part[own] for own in part.columns if str(own).strip().strip("\"'") == name)
            read[letter].append(numbers(path, name, column, rows))
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


def numbers(path: Path, name: str, column: Any, before: int, gaps: bool = False) -> np.ndarray:
    """A column as numbers; ``before`` rows were read already. With ``gaps``, empty ones and infinity are NaN."""
    import pandas as pd

    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(values))
    if gaps and len(wrong):
        missing = column.iloc[wrong]
        values = np.where(np.isfinite(values), values, np.nan)
        wrong = wrong[~(missing.isna() | pd.to_numeric(missing, errors="coerce").notna()).to_numpy()]
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
