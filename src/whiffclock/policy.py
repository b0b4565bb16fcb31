"""The policy every agent yields, and its file.

A policy remembers something of what it smelled and turns that into a move. :class:`Policy` is the face
that evaluation, void paths and figures take, for many searchers at once. :class:`ClockPolicy` is the kind
whose memory is the clock of :mod:`whiffclock.memory`: one action per row, whoever chose it: Q-learning,
cast-and-surge, or a composition of two others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
import numpy as np

from whiffclock import __version__
from whiffclock.archive import first_line, read_header, read_npz, write_npz
from whiffclock.episode import N_ACTIONS, Clock
from whiffclock.memory import clock_tables
from whiffclock.params import ClockSettings, InputError, WorldSettings, convert, require

ACTIONS = ("upwind", "+y", "-y", "downwind")
#: Displacement (x, y) of each action.
MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0))
_FORMAT = "whiffclock policy 1"


class Origin(msgspec.Struct):
    """Of what a policy was made from, the parts that others read; each may be missing."""

    threshold: Annotated[float, msgspec.Meta(gt=0)] | None = None
    seed: int | None = None
    plume: str | None = None
    world: WorldSettings | None = None
    dense: Origin | None = None
    sparse: Origin | None = None


class _Header(msgspec.Struct):
    format: str
    version: str
    name: Annotated[str, msgspec.Meta(min_length=1)]
    clock: ClockSettings
    made_from: dict[str, Any]


class Policy(Protocol):
    """What any searcher must be able to do, for n searches side by side."""

    @property
    def name(self) -> str:
        """Kind of agent."""

    @property
    def modes(self) -> int:
        """Number of modes; 1 for a policy that has none."""

    @property
    def threshold(self) -> float | None:
        """Threshold of the environment it was made for; None for a policy that belongs to none."""

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


@dataclass(frozen=True)
class ClockPolicy:
    """A fixed action for every state of a clock memory.

    Attributes
    ----------
    name
        Kind of agent: "single-Q", "two-Q", "2Q^h", "cast-and-surge", ...
    clock
        The memory.
    actions
        int8[row], in the order of :data:`ACTIONS`.
    made_from
        Everything that determined it, in plain values: settings, seed, threshold, plume fingerprint and
        origin, package version.
    q
        The Q-matrix, where there is one: float64[row, action].
    records
        Arrays kept from training: learning curve, usage of the modes, void-state and blank records.
    """

    name: str
    clock: ClockSettings
    actions: np.ndarray
    made_from: dict[str, Any] = field(default_factory=dict)
    q: np.ndarray | None = None
    records: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        whole = self.actions.shape == (self.clock.rows,) and self.actions.dtype.kind in "iu"
        require(
            whole and bool(((self.actions >= 0) & (self.actions < N_ACTIONS)).all()),
            f"A policy with this memory needs {self.clock.rows} actions between 0 and {N_ACTIONS - 1}.",
        )
        q = self.q
        require(
            q is None or (q.shape == (self.clock.rows, N_ACTIONS) and q.dtype.kind == "f" and np.isfinite(q).all()),
            f"A policy with this memory needs a Q-matrix of {self.clock.rows} x {N_ACTIONS} finite values.",
        )

    @property
    def modes(self) -> int:
        """Number of modes."""
        return self.clock.modes

    @property
    def threshold(self) -> float | None:
        """Threshold of the environment it was trained in; None for a policy that belongs to none."""
        return self.made_from.get("threshold")

    @cached_property
    def tables(self) -> Clock:
        """The memory as tables for the kernels."""
        return clock_tables(self.clock)

    def begin(self, whiff: np.ndarray) -> np.ndarray:
        """Nodes of the memory after the first observation."""
        return self.tables.first[whiff.astype(np.int8)]

    def act(self, memory: np.ndarray) -> np.ndarray:
        """The action of each node's row."""
        return self.actions[self.tables.row[memory]]

    def observe(self, memory: np.ndarray, action: np.ndarray, whiff: np.ndarray) -> np.ndarray:
        """Nodes after one more observation; the action does not matter to a clock."""
        return self.tables.next_node[memory, whiff.astype(np.int8)]

    def mode(self, memory: np.ndarray) -> np.ndarray:
        """Mode of each node."""
        return self.tables.mode[memory]

    def select(self, memory: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Nodes of some of the searches."""
        return memory[rows]

    def save(self, path: Path) -> None:
        """Write one ``.npz`` file, whole or not at all."""
        write_npz(path, self.to_arrays())

    @classmethod
    def load(cls, path: Path) -> ClockPolicy:
        """Read a policy; foreign and damaged files are refused."""
        return cls.from_arrays(read_npz(path, "a whiffclock policy"), path)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The whole policy as named arrays, which is what its file holds."""
        header = {
            "format": _FORMAT,
            "version": __version__,
            "name": self.name,
            "clock": self.clock.to_dict(),
            "made_from": self.made_from,
        }
        arrays = {"header": np.array(json.dumps(header)), "actions": self.actions}
        arrays |= {f"record_{key}": value for key, value in self.records.items()}
        if self.q is not None:
            arrays["q"] = self.q
        return arrays

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], path: Path) -> ClockPolicy:
        """Inverse of :meth:`to_arrays`, for the contents of ``path``; arrays of other names are left alone."""
        header = read_header(arrays, path, "whiffclock policy", _Header, form=_FORMAT)
        records = {key.removeprefix("record_"): value for key, value in arrays.items() if key.startswith("record_")}
        try:
            convert(header.made_from, Origin, "its origin is wrong")
            require("actions" in arrays, "it has no actions")
            return cls(header.name, header.clock, arrays["actions"], header.made_from, arrays.get("q"), records)
        except InputError as error:
            raise InputError(f"{path} is a damaged whiffclock policy ({first_line(error)}).") from error
