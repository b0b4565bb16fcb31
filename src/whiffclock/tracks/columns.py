"""Tables and arrays of tracks as columns: which column is what, by its name or by ``--columns``."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.archive import require_npy
from whiffclock.disk import reading
from whiffclock.params import require, require_memory
from whiffclock.plume.guess import Guess
from whiffclock.plume.reading.tables import listed, numbers, open_rows

_WORDS = {
    "t": "t time times seconds sec timestamp frame frames frame_id frame_number frame_idx snapshot",
    "x": "x pos_x x_pos position_x x_position xpos centroid_x x_centroid downwind",
    "y": "y pos_y y_pos position_y y_position ypos centroid_y y_centroid crosswind",
    "odor": "odor odour concentration c odor_concentration odour_concentration",
    "whiff": "whiff whiffs signal encounter encounters hit hits odor_on odour_on stimulus",
    "individual": "individual individuals individual_id animal animal_id fly fly_id moth moth_id subject robot agent",
    "trial": "trial trial_id trajectory track track_id run session id",
    "condition": "condition treatment group",
    "wind": "wind wind_direction wind_angle",
}  # fmt: skip
_ROLE = {word: role for role, words in _WORDS.items() for word in words.split()}
#: A name with a unit at its end: "x_mm", "x (mm)", "time[s]".
_WITH_UNIT = re.compile(r"(.+?)[\s_]*[\s_(\[](mm|cm|m|px|pixels?|cells|s|sec|ms|deg)[\])]?")
_SAME_UNIT = {"pixel": "px", "pixels": "px", "sec": "s"}
_COUNTS = ("frame", "frames", "frame_id", "frame_number", "frame_idx", "snapshot")
#: Columns of the public arrays of walking flies.
FLY_COLUMNS = ("trajectory", "t", "x", "y", "speed", "orientation", "angular_velocity", "signal")
#: Rows of an array that are copied at a time.
_PART = 10**6
LABELS = ("individual", "trial", "condition")


@dataclass
class Raw:
    """Columns of equal length as they are stored, rows of missing values included."""

    name: str  # of the file
    values: dict[str, np.ndarray]  # t, x, y, odor or whiff, wind: floats, NaN where missing
    labels: dict[str, tuple[np.ndarray, list[str]]] = field(default_factory=dict)  # codes, and what they mean
    units: dict[str, str] = field(default_factory=dict)  # by column
    frames: bool = False  # times count frames
    fps: float | None = None
    said: dict[str, Guess] = field(default_factory=dict)


def is_array(path: Path) -> bool:
    """Whether a file is a single array of NumPy's."""
    with path.open("rb") as file:
        return file.read(6) == b"\x93NUMPY"


def table_columns(path: Path, given: Mapping[str, str]) -> Raw:
    """The columns of a CSV or Parquet table."""
    with reading(path, "a table of tracks"), ExitStack() as files:
        rows = open_rows(path, files)
        chosen = chosen_columns(path, rows.names, given)
        parts = rows.parts([at for at, _ in chosen.values()])
        return described(_collected(path, chosen, parts), chosen, given)


def chosen_columns(path: Path, names: list[str], given: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """For each role, which column it is, and its name."""
    found: dict[str, tuple[int, str]] = {}
    for i, name in enumerate(names):
        role = _role(name)
        if role and role not in given:
            again = f"{path} has several columns for {role}: {found.get(role, (0, ''))[1]!r} and {name!r}"
            require(role not in found, f"{again}; give the right one with --columns {role}=NAME.")
            found[role] = i, name
    for role, name in given.items():
        require(name in names, f"{path} has no column called {name!r}; it has {listed(names)}.")
        found[role] = names.index(name), name
    missing = [role for role in ("x", "y") if role not in found]
    need = f"{path} needs a column for {' and '.join(missing)} (--columns x=NAME,y=NAME)"
    require(not missing, f"{need}; it has {listed(names)}.")
    smell = "whiff" in found or "odor" in found
    require(smell, f"{path} needs a column of odor or whiffs (--columns odor=NAME); it has {listed(names)}.")
    if "whiff" in found and "odor" not in given:
        found.pop("odor", None)
    elif "odor" in found:
        found.pop("whiff", None)
    return found


def _role(name: str) -> str | None:
    lower = name.strip().lower()
    unit = _WITH_UNIT.fullmatch(lower)
    return _ROLE.get(lower) or (_ROLE.get(unit[1]) if unit else None)


def _unit(name: str) -> str:
    found = _WITH_UNIT.fullmatch(name.strip().lower())
    return _SAME_UNIT.get(found[2], found[2]) if found else ""


def described(raw: Raw, chosen: Mapping[str, tuple[int, str]], given: Mapping[str, str]) -> Raw:
    """Units and kinds of the columns by their names, and what is said of them."""
    raw.units = {role: unit for role, (_, name) in chosen.items() if (unit := _unit(name))}
    raw.frames = "t" in chosen and re.split(r"[\s(\[]", chosen["t"][1].strip().lower())[0] in _COUNTS
    text = ", ".join(f"{role}={name}" if role != name else role for role, (_, name) in chosen.items())
    how = ("given", "by --columns") if chosen.keys() <= given.keys() else ("likely", "by their names")
    raw.said["columns"] = Guess(text, *how, "--columns")
    return raw


def _collected(path: Path, chosen: dict[str, tuple[int, str]], parts: Iterable[Any]) -> Raw:
    """All rows of a table that comes in parts."""
    values: dict[str, list[np.ndarray]] = {role: [] for role in chosen if role not in LABELS}
    codes: dict[str, list[np.ndarray]] = {role: [] for role in chosen if role in LABELS}
    known: dict[str, dict[str, int]] = {role: {} for role in codes}
    rows = 0
    for part in parts:
        for role, (_, name) in chosen.items():
            column = next(part[own] for own in part.columns if str(own).strip().strip("\"'") == name)
            if role in LABELS:
                codes[role].append(_codes(column, known[role]))
            else:
                values[role].append(numbers(path, name, column, rows, gaps=True))
        rows += len(part)
        require_memory(rows * 8 * len(chosen), f"The table {path}")
    require(rows > 0, f"{path} is a table without rows.")
    raw = Raw(path.name, {role: np.concatenate(values.pop(role)) for role in [*values]})
    raw.labels = {role: (np.concatenate(some), list(known[role])) for role, some in codes.items()}
    return raw


def _codes(column: Any, known: dict[str, int]) -> np.ndarray:
    """Labels as numbers; new ones are added to ``known``. Missing ones are "?"."""
    import pandas as pd

    codes, labels = pd.factorize(column, use_na_sentinel=False)
    of_label = [known.setdefault(_label(one), len(known)) for one in labels.tolist()]
    return np.array(of_label, dtype=np.int32)[codes]


def _label(value: Any) -> str:
    if value is None or value != value:
        return "?"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def labelled(values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """An array of labels as codes and names."""
    import pandas as pd

    known: dict[str, int] = {}
    return _codes(pd.Series(values), known), list(known)


def array_columns(path: Path, given: Mapping[str, str]) -> Raw:
    """The columns of a ``.npy`` array: structured, or the eight columns of walking flies."""
    with reading(path, "an array of tracks"):
        array = _array(path)
        named = array.dtype.names
        chosen = chosen_columns(path, list(named or FLY_COLUMNS), given)
        made = Raw(path.name, {})
        for role, (at, _) in chosen.items():
            column = _column(path, array, at)
            if role in LABELS:
                made.labels[role] = labelled(column)
            else:
                made.values[role] = np.asarray(column, dtype=np.float64)
        columns = {**made.values, **{role: codes for role, (codes, _) in made.labels.items()}}
        lengths = sorted({len(one) for one in columns.values()})
        require(len(lengths) == 1, f"{path} has columns of different lengths: {', '.join(map(str, lengths))}.")
    made = described(made, chosen, given)
    if not named:
        why = "the eight columns of walking-fly arrays"
        made.said["columns"] = Guess(", ".join(FLY_COLUMNS), "likely", why, "")
        made.units |= {"x": "mm", "y": "mm", "t": "s"}
    return made


def _column(path: Path, array: np.ndarray, at: int) -> np.ndarray:
    """A column of a structured array, of an array of two dimensions, or of eight arrays.

    It is copied in parts, each from a new mapping of the file, so that the rest of the file takes no memory.
    """
    count = len(FLY_COLUMNS)
    if array.dtype.kind == "O" and array.shape == (count,):
        return np.asarray(array[at]).ravel()
    both = array.dtype.names is not None or (array.ndim == 2 and count in array.shape)
    must = f"an array of tracks has the columns {', '.join(FLY_COLUMNS)}, or names of its own"
    require(both, f"{path} has the shape {array.shape}; {must}.")
    if array.dtype.kind == "O":
        return _one(array, at)
    found = _one(array, at)
    made = np.empty(found.shape, dtype=found.dtype)
    for first in range(0, len(made), _PART):
        rows = slice(first, first + _PART)
        made[rows] = _one(np.load(path, mmap_mode="r", allow_pickle=False), at)[rows]
    return made


def _one(array: np.ndarray, at: int) -> np.ndarray:
    """One field, or one of eight columns or rows."""
    if array.dtype.names:
        return np.ravel(array[array.dtype.names[at]])
    return array[:, at] if array.shape[1] == len(FLY_COLUMNS) else array[at]


class _StoredType:
    """Stands for a type of NumPy's in a pickle."""

    def __init__(self, name: str, *_: Any) -> None:
        self.name, self.order = name, "="

    def __setstate__(self, state: Any) -> None:
        self.order = state[1].replace("|", "=")


class _StoredArray:
    """Stands for an array in a pickle: its state becomes one of numbers, or a list of such."""

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, content = state
        if kind.name == "O8":
            self.value = np.empty(len(content), dtype=object)
            self.value[:] = [getattr(one, "value", one) for one in content]
        else:
            require(re.fullmatch(r"[fiu][1248]|b1", kind.name) is not None, f"it has an array of {kind.name}")
            self.value = np.frombuffer(content, kind.order + kind.name)
        self.value = self.value.reshape(shape, order="F" if fortran else "C")


class _Plain(pickle.Unpickler):
    """Unpickles arrays of arrays and numbers; calls nothing but the two classes above."""

    def find_class(self, module: str, name: str) -> Any:
        known = {"_reconstruct": lambda *_: _StoredArray(), "ndarray": None, "dtype": _StoredType}
        numpys = module.split(".")[0] == "numpy" and name in known
        require(numpys, f"it holds Python objects ({module}.{name}), which are not read")
        return known[name]


def _array(path: Path) -> np.ndarray:
    """An array without Python objects, or one of arrays and numbers."""
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(file)
        require(dtype.kind == "O" or not dtype.hasobject, "it has fields of Python objects; save it with numbers only")
        if dtype.kind == "O":
            array = _Plain(file).load().value
            require(array.shape == shape, "its header does not fit its contents")
            return array
        file.seek(0)
        require_npy(file, path.stat().st_size, "the array")
        require(dtype.names is not None or dtype.kind in "fiub", f"it has values of the type {dtype}")
    return np.load(path, mmap_mode="r", allow_pickle=False)
