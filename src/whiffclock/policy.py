"""The policy of an agent, and its file.

:class:`Policy` is the interface that searches, evaluation, void paths and figures use, for many searches at once.
:class:`TablePolicy` is one with a finite-state memory (:mod:`whiffclock.memory`): one action per row, of any agent
(Q-learning, cast-and-surge, a composition of two others).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
import numpy as np

from whiffclock import __version__
from whiffclock.archive import first_line, read_header, read_npz, require_digest, write_npz
from whiffclock.environments import trained_in
from whiffclock.memory import Memory
from whiffclock.params import InputError, WorldSettings, convert, require
from whiffclock.world.moves import N_ACTIONS

FORMAT = "whiffclock policy 3"
#: Formats without a digest: that of version 0.1, and one that is otherwise the current one.
_FIRST_FORMAT, _SECOND_FORMAT = "whiffclock policy 1", "whiffclock policy 2"
#: Longest name in a header.
_LONGEST_NAME = 1000
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=_LONGEST_NAME)]


class Learned(msgspec.Struct):
    """The part of the settings of a training that other modules read."""

    horizon: Annotated[int, msgspec.Meta(ge=1, le=10**6)] | None = None


class Origin(msgspec.Struct):
    """The parts of ``made_from`` that other modules read; each may be missing."""

    threshold: Annotated[float, msgspec.Meta(gt=0, le=1e300)] | None = None
    environment: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    seed: Annotated[int, msgspec.Meta(ge=0)] | None = None
    angle: Annotated[float, msgspec.Meta(ge=-360, le=360)] | None = None
    tau: Annotated[int, msgspec.Meta(ge=1)] | None = None
    episodes_played: Annotated[int, msgspec.Meta(ge=0)] | None = None
    plume: str | None = None
    plume_origin: str | None = None
    learning: Learned | None = None
    world: WorldSettings | None = None
    dense: Origin | None = None
    sparse: Origin | None = None


class Format(msgspec.Struct):
    """The part of every header that gives its format."""

    format: str = ""


class _AnyHeader(msgspec.Struct):
    version: str
    name: Name
    made_from: dict[str, Any]


class _Header(_AnyHeader):
    memory: dict[str, Any]


class _FirstHeader(_AnyHeader):
    clock: dict[str, Any]


class Policy(Protocol):
    """The interface of all policies, for n searches at the same time."""

    @property
    def name(self) -> str:
        """Kind of agent."""

    @property
    def modes(self) -> int:
        """Number of modes; 1 for a policy that has none."""

    @property
    def threshold(self) -> float | None:
        """Threshold of the environment it was made for; None if it was made for no environment."""

    @property
    def made_from(self) -> dict[str, Any]:
        """Everything that determined it, in plain values."""

    def begin(self, whiff: np.ndarray) -> Any:
        """Memory after the first observation, ``whiff`` (bool[n])."""

    def act(self, memory: Any) -> np.ndarray:
        """Actions int8[n], in the order of :data:`ACTIONS`."""

    def observe(self, memory: Any, action: np.ndarray, whiff: np.ndarray) -> Any:
        """Memory after ``action`` and the observation that followed it."""

    def mode(self, memory: Any) -> np.ndarray:
        """Mode int[n] of each search, 0 .. modes-1."""

    def select(self, memory: Any, rows: np.ndarray) -> Any:
        """The memory of the searches ``rows`` (int[m]), when the others have ended."""


@dataclass(frozen=True, eq=False, repr=False)
class TablePolicy:
    """A fixed action for every row of a finite-state memory; what searches remember are its nodes, int[n].

    Two policies are equal if their names, memories and actions are.

    Attributes
    ----------
    name
        Kind of agent: "single-Q", "two-Q", "2Q^h", "cast-and-surge", ...
    memory
        The finite-state memory.
    actions
        int8[row], in the order of :data:`ACTIONS`.
    made_from
        Everything that determined it, in plain values: settings, seed, threshold, plume, package version.
    q
        The Q-matrix, where there is one: float64[row, action].
    records
        Arrays kept from training: learning curve, usage of the modes, void-state and blank records.
    """

    name: str
    memory: Memory
    actions: np.ndarray
    made_from: dict[str, Any] = field(default_factory=dict)
    q: np.ndarray | None = None
    records: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows, actions = self.memory.rows, self.actions
        known = actions.dtype.kind in "iu" and bool(((actions >= 0) & (actions < N_ACTIONS)).all())
        require(
            known and actions.shape == (rows,),
            f"A policy with this memory needs {rows} actions, whole numbers between 0 and {N_ACTIONS - 1}.",
        )
        require(
            self.q is None
            or (self.q.shape == (rows, N_ACTIONS) and self.q.dtype.kind == "f" and bool(np.isfinite(self.q).all())),
            f"A policy with this memory needs a Q-matrix of {rows} x {N_ACTIONS} finite values.",
        )
        require(bool(self.name), "A policy needs a name.")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TablePolicy) or (self.name, self.memory) != (other.name, other.memory):
            return False
        return np.array_equal(self.actions, other.actions)

    def __hash__(self) -> int:
        return hash((self.name, self.memory, self.actions.astype(np.int8).tobytes()))

    def __repr__(self) -> str:
        made = [f"{name} {self.made_from[name]:g}" for name in ("angle", "seed") if name in self.made_from]
        place = [] if self.threshold is None else [trained_in(self.made_from)]
        return f"TablePolicy({', '.join([self.name, *place, *made, f'{len(self.actions)} actions'])})"

    @property
    def modes(self) -> int:
        return self.memory.modes

    @property
    def threshold(self) -> float | None:
        return self.made_from.get("threshold")

    def begin(self, whiff: np.ndarray) -> np.ndarray:
        return self.memory.first[whiff.astype(np.int8)]

    def act(self, memory: np.ndarray) -> np.ndarray:
        return self.actions[self.memory.row[memory]]

    def observe(self, memory: np.ndarray, action: np.ndarray, whiff: np.ndarray) -> np.ndarray:
        return self.memory.next_node[memory, whiff.astype(np.int8)]

    def mode(self, memory: np.ndarray) -> np.ndarray:
        return self.memory.mode[memory]

    def select(self, memory: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return memory[rows]

    def save(self, path: Path | str) -> None:
        """Write one ``.npz`` file, whole or not at all."""
        write_npz(Path(path), self.to_arrays())

    @classmethod
    def load(cls, path: Path) -> TablePolicy:
        """Read a policy; other files and damaged ones are refused."""
        arrays = read_npz(path, "a whiffclock policy")
        policy = cls.from_arrays(arrays, path)
        if read_header(arrays, path, "whiffclock policy", Format).format == FORMAT:
            require_digest(arrays, path, "whiffclock policy")
        return policy

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The whole policy as named arrays, which is what its file holds."""
        made = {"memory": self.memory.spec, "made_from": self.made_from}
        header = {"format": FORMAT, "version": __version__, "name": self.name, **made}
        arrays = {"header": np.array(json.dumps(header)), "actions": self.actions} | self.memory.to_arrays()
        arrays |= {f"record_{key}": value for key, value in self.records.items()}
        if self.q is not None:
            arrays["q"] = self.q
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], path: Path) -> TablePolicy:
        """Inverse of :meth:`to_arrays`, for the contents of ``path``; arrays of other names are left alone."""
        form = read_header(arrays, path, "whiffclock policy", Format).format
        if form == _FIRST_FORMAT:
            header = _converted(read_header(arrays, path, "whiffclock policy", _FirstHeader))
        else:
            known = form if form == _SECOND_FORMAT else FORMAT
            header = read_header(arrays, path, "whiffclock policy", _Header, known)
        records = {key.removeprefix("record_"): value for key, value in arrays.items() if key.startswith("record_")}
        try:
            convert(header.made_from, Origin, "its origin is wrong")
            require("actions" in arrays, "it has no actions")
            memory = Memory.from_arrays(header.memory, arrays)
            _require_records(records, memory.modes)
            if "void" in records:
                records["void"] = np.broadcast_to(records["void"], (memory.modes, 6)).copy()
            return cls(header.name, memory, arrays["actions"], header.made_from, arrays.get("q"), records)
        except InputError as error:
            raise InputError(f"{path} is a damaged whiffclock policy ({first_line(error)}).") from error


def _require_records(records: dict[str, np.ndarray], modes: int) -> None:
    """Refuse impossible records of a training."""
    if "curve" in records:
        curve = records["curve"]
        fits = curve.ndim == 2 and curve.shape[1] == 4 and len(curve) > 0 and curve.dtype.kind == "f"
        require(fits and bool(np.isfinite(curve).all()), "its curve record is wrong")
    shapes: dict[str, list[tuple[int, ...]]] = {"usage": [(modes,)], "void": [(6,), (modes, 6)]}
    for name, possible in shapes.items():
        if name in records:
            counts = records[name]
            fits = counts.shape in possible and counts.dtype.kind in "iu"
            require(fits and bool((counts >= 0).all()), f"its {name} record is wrong")
    require("usage" not in records or bool(records["usage"].any()), "its usage record is empty")


def _converted(first: _FirstHeader) -> _Header:
    """The header of version 0.1, converted; its only memory was a clock as long as a search."""
    clock, made_from = dict(first.clock), dict(first.made_from)
    length = clock.pop("horizon", None)
    if isinstance(learning := made_from.get("learning") or {}, dict):
        made_from["learning"] = {"horizon": length, **learning}
    return _Header(first.version, first.name, made_from, {"maker": "clock", "length": length, **clock})
