"""The run store: cached results.

A result is kept in a file of arrays, ``<folder>/<kind>/<key>.npz``. Its *kind* says what it is ("policy", ...), its
*description* everything that determines it, in plain values: settings, seed, the plume's fingerprint. Kind, description
and the number of the format make the key. Each file ends with a label that repeats all this, so that the store needs no
index, and files can be copied from one to another.
"""

import hashlib
import json
import math
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypedDict

import numpy as np

from whiffclock import __version__
from whiffclock.archive import DIGEST, LABEL, read_json, read_label, read_npz, require_digest, write_npz
from whiffclock.disk import first_line, leftovers, require_replaceable
from whiffclock.params import InputError, convert, require

#: Increased when the result of a description, or its layout, changes.
FORMAT = 3
_KIND, _KEY = re.compile(r"[a-z][a-z0-9-]*"), re.compile(r"[0-9a-f]{20}")
_PLAIN = (str, int, bool, type(None))
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
#: Seconds after which a record that is not finished counts as interrupted.
_INTERRUPTED = 600.0


@dataclass(frozen=True)
class Label:
    """Identity of a record; everything but ``version``, that of the package that made it, determines the key."""

    kind: str
    description: dict[str, Any]
    format: int = FORMAT
    version: str = __version__

    def __post_init__(self) -> None:
        word = _KIND.fullmatch(self.kind) is not None
        require(word, f"The kind of a record is {self.kind!r}; it must be a word in small letters, such as policy.")
        object.__setattr__(self, "description", plain(self.description))

    @cached_property
    def identity(self) -> str:
        """Kind, format and description as one line of JSON, the same for the same values."""
        return _ENCODER.encode({"kind": self.kind, "format": self.format, "description": self.description})

    @cached_property
    def key(self) -> str:
        """Twenty hex digits that change with the kind, the format and any value of the description."""
        return hashlib.sha256(self.identity.encode()).hexdigest()[:20]

    def to_text(self) -> str:
        """The label in a record's file: two lines."""
        return f"{self.identity}\n{_ENCODER.encode({'version': self.version})}"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Inverse of :meth:`to_text`; the description is plain already, which would take long to find out."""
        identity, _, more = text.partition("\n")
        written = read_json(identity, "its label") | read_json(more, "its label")
        label = object.__new__(cls)
        label.__dict__.update(convert(written, _Written, "its label is wrong"), identity=identity)
        return label


class _Written(TypedDict):
    kind: str
    description: dict[str, Any]
    format: int
    version: str


@dataclass(frozen=True)
class Record:
    """A result: what it is, and its arrays."""

    label: Label
    arrays: dict[str, np.ndarray]


@dataclass(frozen=True)
class Entry:
    """A record's file: kind and key by its place, bytes, when it was written, and its label if it has one."""

    path: Path
    kind: str
    key: str
    size: int
    written: float  # seconds since 1970
    label: Label | None

    @classmethod
    def of(cls, path: Path) -> Self:
        """The entry of a file, of which only the label is read; of a broken link, the link."""
        try:
            found = path.stat()
        except OSError:
            found = path.lstat()
        label = _or_none(label_of, path)
        return cls(path, path.parent.name, path.stem, found.st_size, found.st_mtime, label)

    @property
    def age(self) -> float:
        """Seconds since it was written."""
        return time.time() - self.written

    @property
    def damaged(self) -> bool:
        """Whether the record cannot be read, to its last byte."""
        return _or_none(read_record, self.path) is None


class Store:
    """Results in a folder, by kind and description; the folder is made when the first is saved."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, kind: str, description: dict[str, Any]) -> Path:
        """The file of the record of this description, whether it exists or not."""
        return self.folder / kind / f"{Label(kind, description).key}.npz"

    def has(self, kind: str, description: dict[str, Any]) -> bool:
        """Whether there is a record of this description."""
        return self.has_key(kind, Label(kind, description).key)

    def has_key(self, kind: str, key: str) -> bool:
        """Whether there is a record under this key; a place where none can be written is refused."""
        path = f"{self.folder}/{kind}/{key}.npz"
        if os.path.isfile(path):
            return True
        require_replaceable(Path(path))
        return False

    def load(self, kind: str, description: dict[str, Any]) -> Record:
        """The record of this description; a damaged one, or another in its place, is refused."""
        path = self.path(kind, description)
        require(path.is_file(), f"There is no {kind} of this description in {self.folder}.")
        record = read_record(path)
        _require_same(path, record.label, Label(kind, description))
        return record

    def save(self, kind: str, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> Path:
        """Write a record, or replace that of the same description; the bytes depend on contents and version alone."""
        label, path = Label(kind, description), self.path(kind, description)
        for name, values in arrays.items():
            require(name not in (LABEL, DIGEST), f"A record cannot have an array called {name}; choose another name.")
            require(not np.asarray(values).dtype.hasobject, f"The array {name} holds Python objects, not numbers.")
        if path.is_file():
            _require_same(path, label_of(path), label)
        ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
        write_npz(path, ordered | {LABEL: np.array(label.to_text())})
        return path

    def entries(self, kind: str | None = None) -> list[Entry]:
        """All records, or those of one kind, in order of kind and key; other files are left out."""
        require(self.folder.is_dir(), f"There is no folder of cached results at {self.folder}.")
        found: list[Entry] = []
        for folder in sorted(path for path in self.folder.iterdir() if path.is_dir() and kind in (None, path.name)):
            names = sorted(name for name in os.listdir(folder) if name.endswith(".npz") and _KEY.fullmatch(name[:-4]))
            found += [Entry.of(folder / name) for name in names]
        return found

    def find(self, prefix: str) -> Entry:
        """The one record whose key begins with ``prefix``."""
        found = [entry for entry in self.entries() if entry.key.startswith(prefix)]
        require(bool(found), f"There is no record in {self.folder} whose key begins with {prefix!r}.")
        count = len(found)
        require(count == 1, f"The keys of {count} records in {self.folder} begin with {prefix!r}; give more digits.")
        return found[0]

    def leftovers(self) -> list[Path]:
        """Files of interrupted writes."""
        folders = (folder for folder in sorted(self.folder.glob("*/")) if folder.is_dir())
        files = (path for folder in folders for path in leftovers(folder, _INTERRUPTED, ".*.npz.*"))
        return [path for path in files if _KEY.fullmatch(path.name.split(".")[1])]


def read_record(path: Path) -> Record:
    """A whole record; other files and damaged ones are refused."""
    label = label_of(path)
    with damaged_record(path):
        arrays = read_npz(path, "a record of whiffclock")
        require_digest(arrays, path, "record")
    return Record(label, {name: values for name, values in arrays.items() if name not in (LABEL, DIGEST)})


def label_of(path: Path) -> Label:
    """The label of a record, without reading its arrays; it must be that of a file in this place."""
    require(path.is_file(), f"There is no record at {path}.")
    with damaged_record(path):
        text = read_label(path)
        require(bool(text), f"{path} has no label: it is not a record of this version of whiffclock, or it is damaged")
        label = Label.from_text(text)
    other = f"{path} holds another record than its name says, {label.kind}/{label.key}"
    require((label.kind, label.key) == (path.parent.name, path.stem), f"{other}; move it there, or delete it.")
    return label


@contextmanager
def damaged_record(path: Path) -> Iterator[None]:
    """Add the name of the record to errors about its arrays."""
    try:
        yield
    except InputError as error:
        found = first_line(error)
        found = found if str(path) in found else f"{path} is a damaged record ({found})"
        raise InputError(f"{found}; delete it to have it computed again.") from error


def plain(value: Any) -> Any:
    """``value`` in the types of JSON, with one way to write each number: 2.0 is 2."""
    if type(value) in _PLAIN:  # most are
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        texts = all(issubclass(kind, str) for kind in set(map(type, value)))
        require(texts, "A description has a name that is not a string.")
        return {name: item if type(item) in _PLAIN else plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        require(math.isfinite(value), f"A description has the value {value}; it needs finite numbers.")
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    simple = isinstance(value, bool | int | str)
    require(simple, f"A description has a value of type {type(value).__name__}; it needs plain values.")
    return value


def _or_none(read: Any, path: Path) -> Any:
    """The result of ``read``; None if the file is damaged."""
    try:
        return read(path)
    except InputError:
        return None


def _require_same(path: Path, found: Label, wanted: Label) -> None:
    """Refuse a record that has the wanted key by accident."""
    same = found.description == wanted.description
    require(same, f"{path} holds a {wanted.kind} of another description with the same key; keep one of them elsewhere.")
