"""The policy of an agent, and its file.

:class:`Policy` is the base of all: what searches, evaluation, recovery paths and figures use, for many searches at
once.
:class:`TablePolicy` is one with a finite-state memory (:mod:`whiffclock.memory`): one action per row, of any agent
(Q-learning, cast-and-surge, a composition of two others).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import msgspec
import numpy as np

from whiffclock import __version__
from whiffclock.archive import read_header, read_npz, require_digest, write_npz
from whiffclock.disk import first_line
from whiffclock.environments import trained_in
from whiffclock.memory import Memory
from whiffclock.params import InputError, WorldSettings, convert, require
from whiffclock.world.episode import CLOCK_RECORD, CURVE
from whiffclock.world.moves import ACTIONS, N_ACTIONS

if TYPE_CHECKING:
    import pandas as pd

#: The format of version 0.1.
_FIRST_FORMAT = "whiffclock policy 1"
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
    optimize: Learned | None = None
    world: WorldSettings | None = None
    dense: Origin | None = None
    sparse: Origin | None = None


class Format(msgspec.Struct):
    """The part of every header that gives its format."""

    format: str = ""


class _Header(msgspec.Struct):
    version: str
    name: Name
    made_from: dict[str, Any]
    memory: dict[str, Any] = {}
    clock: dict[str, Any] = {}  # instead of a memory in the first format


class Policy:
    """The base of all policies, for n searches at the same time. Who writes :meth:`act` has a policy.

    Without :meth:`begin` and :meth:`observe` it remembers the last observation alone. With a memory of another kind
    than an array, or a tuple of arrays, with one row per search, :meth:`select` is needed, too.

    Examples
    --------
    >>> import numpy as np
    >>> import whiffclock as wc
    >>> class Dither(wc.Policy):
    ...     rng = np.random.default_rng(0)
    ...     def act(self, memory):  # bool[n]: whether there is a whiff
    ...         return np.where(memory, 0, self.rng.integers(1, 3, size=len(memory)))
    >>> wc.search(Dither(), wc.builtin_plume(), (60, 13), "dense", horizon=20)
    Trajectory(20 moves from (60, 13), ... whiffs, source not found)
    """

    @cached_property
    def name(self) -> str:
        """Kind of agent."""
        return type(self).__name__

    @cached_property
    def modes(self) -> int:
        """Number of modes; 1 for a policy that has none."""
        return 1

    @cached_property
    def made_from(self) -> dict[str, Any]:
        """Everything that determined it, in plain values."""
        return {}

    @cached_property
    def threshold(self) -> float | None:
        """Threshold of the environment it was made for; None if it was made for no environment."""
        return self.made_from.get("threshold")

    def begin(self, whiff: np.ndarray) -> Any:
        """Memory after the first observation, ``whiff`` (bool[n])."""
        return whiff

    def act(self, memory: Any) -> np.ndarray:
        """Actions int[n], in the order of :data:`ACTIONS`."""
        raise NotImplementedError  # require_policy refuses it before

    def observe(self, memory: Any, action: np.ndarray, whiff: np.ndarray) -> Any:
        """Memory after ``action`` and the observation that followed it."""
        return whiff

    def mode(self, memory: Any) -> np.ndarray:
        """Mode int[n] of each search, 0 .. modes-1; a single one stands for all."""
        return np.zeros(1, dtype=np.int64)

    def select(self, memory: Any, rows: np.ndarray) -> Any:
        """The memory of the searches ``rows`` (int[m]), when the others have ended."""
        if isinstance(memory, tuple):
            return tuple(self.select(part, rows) for part in memory)
        return None if memory is None else memory[rows]


def require_policy(policy: Any) -> None:
    """Refuse what is not a policy, and say what it lacks."""
    own = "derive a class from whiffclock.Policy and write its method act"
    if isinstance(policy, type):
        raise InputError(f"{policy.__name__} is a class, not a policy; a policy is made by calling it.")
    if isinstance(policy, Policy):
        written = getattr(policy.act, "__func__", None) is not Policy.act
        require(written, f"The policy {policy.name} has no method act, which chooses the moves.")
        return
    members = [name for name in vars(Policy) if not name.startswith("_")]
    missing = [name for name in ("act", *members) if not hasattr(policy, name)]
    if "act" in missing:
        function = "; a function from clock to action becomes a policy by whiffclock.from_function" * callable(policy)
        file = "; whiffclock.load_policy reads one from a file" * isinstance(policy, str | Path)
        raise InputError(
            f"A {type(policy).__name__} is not a policy, since it has no method act: {own}{function}{file}."
        )
    require(not missing, f"The policy of type {type(policy).__name__} has no {', '.join(missing)}: {own}.")


class SavedPolicy(Policy):
    """A policy with a file: named arrays, and a header in JSON."""

    #: The current format, and those that are still read, which have no digest.
    FORMAT: ClassVar[str]
    OLD_FORMATS: ClassVar[tuple[str, ...]]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The whole policy as named arrays, which is what its file holds."""
        raise NotImplementedError

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], path: Path) -> Self:
        """Inverse of :meth:`to_arrays`, for the contents of ``path``; arrays of other names are left alone."""
        raise NotImplementedError

    def save(self, path: Path | str) -> None:
        """Write one ``.npz`` file, whole or not at all."""
        write_npz(Path(path), self.to_arrays())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a policy; other files and damaged ones are refused."""
        arrays = read_npz(path, "a whiffclock policy")
        policy = cls.from_arrays(arrays, path)
        if format_of(arrays, path) == cls.FORMAT:
            require_digest(arrays, path, "whiffclock policy")
        return policy

    def _header(self, **more: Any) -> np.ndarray:
        common = {"format": self.FORMAT, "version": __version__, "name": self.name, "made_from": self.made_from}
        return np.array(json.dumps(common | more))


def format_of(arrays: dict[str, np.ndarray], path: Path) -> str:
    """The format that the header of a policy names."""
    return read_header(arrays, path, "whiffclock policy", Format).format


@contextmanager
def damaged_policy(path: Path) -> Iterator[None]:
    """An :class:`InputError` while arrays become a policy says which file is damaged."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path} is a damaged whiffclock policy ({first_line(error)}).") from error


@dataclass(frozen=True, eq=False, repr=False)
class TablePolicy(SavedPolicy):
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
        Arrays kept from training: learning curve, usage of the modes, record of clock and blanks.
    """

    FORMAT = "whiffclock policy 3"
    OLD_FORMATS = (_FIRST_FORMAT, "whiffclock policy 2")

    name: str = field()  # without a default, though its base class has one
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
        object.__setattr__(self, "actions", np.ascontiguousarray(actions, dtype=np.int8))
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
        return hash((self.name, self.memory, self.actions.tobytes()))

    def __repr__(self) -> str:
        made = [f"{name} {self.made_from[name]:g}" for name in ("angle", "seed") if name in self.made_from]
        place = [] if self.threshold is None else [trained_in(self.made_from)]
        return f"TablePolicy({', '.join([self.name, *place, *made, f'{len(self.actions)} actions'])})"

    @cached_property
    def modes(self) -> int:
        return self.memory.modes

    def curve(self) -> dict[str, np.ndarray]:
        """The learning curve by column: ``episode``, and means of G, f+ and steps since the point before."""
        return dict(zip(("episode", *CURVE), self.records["curve"].T, strict=True))

    def clock_record(self, mode: int) -> dict[str, int]:
        """Clock readings and blanks of the last training episodes in a mode; empty for an untrained policy."""
        found = self.records.get("clock")
        return {} if found is None else dict(zip(CLOCK_RECORD, found[mode].tolist(), strict=True))

    def program(self, mode: int | None = None) -> list[tuple[str, int]]:
        """Its moves after a whiff if only blanks follow, as runs of equal moves: action and length of each.

        ``mode`` is that of a policy with several; default: the last one, for sparse odor.
        """
        moves = self.actions[self.memory.row[self.memory.blank_nodes(mode)]]
        return [(ACTIONS[action], length) for action, length in runs(moves)]

    def to_pandas(self) -> pd.DataFrame:
        """One row per state of the memory: its mode, its move, the states that follow it, and which is the first."""
        import pandas as pd

        memory = self.memory
        first = np.full(len(memory.row), "", dtype=object)
        for name, state in zip(("blank", "whiff"), memory.first.tolist(), strict=True):
            first[state] = "both" if first[state] else name
        after = {"after_blank": memory.next_node[:, 0], "after_whiff": memory.next_node[:, 1]}
        moves = {"mode": memory.mode, "action": np.array(ACTIONS)[self.actions[memory.row]]}
        return pd.DataFrame({"state": np.arange(len(memory.row)), **moves, **after, "first": first})

    def begin(self, whiff: np.ndarray) -> np.ndarray:
        return self.memory.first[whiff.astype(np.int8)]

    def act(self, memory: np.ndarray) -> np.ndarray:
        return self.actions[self.memory.row[memory]]

    def observe(self, memory: np.ndarray, action: np.ndarray, whiff: np.ndarray) -> np.ndarray:
        return self.memory.next_node[memory, whiff.astype(np.int8)]

    def mode(self, memory: np.ndarray) -> np.ndarray:
        return self.memory.mode[memory]

    def to_arrays(self) -> dict[str, np.ndarray]:
        arrays = {"header": self._header(memory=self.memory.spec), "actions": self.actions} | self.memory.to_arrays()
        arrays |= {f"record_{key}": value for key, value in self.records.items()}
        return arrays if self.q is None else arrays | {"q": self.q}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], path: Path) -> TablePolicy:
        form = format_of(arrays, path)
        known = form if form in cls.OLD_FORMATS else cls.FORMAT
        header = read_header(arrays, path, "whiffclock policy", _Header, known)
        if form == _FIRST_FORMAT:
            header = _converted(header)
        records = {key.removeprefix("record_"): value for key, value in arrays.items() if key.startswith("record_")}
        if "void" in records:  # its name in older files
            records["clock"] = records.pop("void")
        with damaged_policy(path):
            convert(header.made_from, Origin, "its origin is wrong")
            require("actions" in arrays, "it has no actions")
            memory = Memory.from_arrays(header.memory, arrays)
            _require_records(records, memory.modes)
            if "clock" in records:
                records["clock"] = np.broadcast_to(records["clock"], (memory.modes, len(CLOCK_RECORD))).copy()
            return cls(header.name, memory, arrays["actions"], header.made_from, arrays.get("q"), records)


def runs(moves: np.ndarray) -> list[tuple[int, int]]:
    """Runs of equal moves: action and length of each."""
    return [(action, len(list(same))) for action, same in groupby(moves.tolist())]


def _require_records(records: dict[str, np.ndarray], modes: int) -> None:
    """Refuse impossible records of a training."""
    if "curve" in records:
        curve = records["curve"]
        fits = curve.ndim == 2 and curve.shape[1] == 1 + len(CURVE) and len(curve) > 0 and curve.dtype.kind == "f"
        require(fits and bool(np.isfinite(curve).all()), "its curve record is wrong")
    columns = len(CLOCK_RECORD)
    shapes: dict[str, list[tuple[int, ...]]] = {"usage": [(modes,)], "clock": [(columns,), (modes, columns)]}
    for name, possible in shapes.items():
        if name in records:
            counts = records[name]
            fits = counts.shape in possible and counts.dtype.kind in "iu"
            require(fits and bool((counts >= 0).all()), f"its {name} record is wrong")
    require("usage" not in records or bool(records["usage"].any()), "its usage record is empty")


def _converted(first: _Header) -> _Header:
    """The header of version 0.1, converted; its only memory was a clock as long as a search."""
    clock, made_from = dict(first.clock), dict(first.made_from)
    length = clock.pop("horizon", None)
    if isinstance(learning := made_from.get("learning") or {}, dict):
        made_from["learning"] = {"horizon": length, **learning}
    return _Header(first.version, first.name, made_from, {"maker": "clock", "length": length, **clock})
