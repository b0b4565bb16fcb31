"""Finite-state memories: what a policy remembers between two observations.

A memory is a finite-state machine on nodes. After each observation it goes to ``next_node[node, whiff]``; a policy has
one action for each ``row[node]``; ``mode[node]`` is the mode. Training, searches and kernels use only these tables. A
*maker* is a function from plain settings to such tables: :func:`clock` (the paper's memory), :func:`window` (its
predecessor's) and :func:`controller`. To add one, write a function with the decorator :func:`maker`.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ParamSpec, get_type_hints

import numpy as np

from whiffclock.params import InputError, convert, require, require_memory
from whiffclock.world.episode import Tables

Parameters = ParamSpec("Parameters")
_LONGEST = 100_000
_WIDEST = 16
_ARRAYS = ("next_node", "row", "mode", "first", "after_whiff")


@dataclass(frozen=True, eq=False)
class Memory:
    """A finite-state memory; equal to another with the same :attr:`spec`."""

    name: str  # what an agent with this memory is called, such as "single-Q"
    next_node: np.ndarray  # int[node, whiff]: the node after a blank and after a whiff
    row: np.ndarray  # int[node]: row of the Q-matrix
    mode: np.ndarray  # int[node]
    first: np.ndarray  # int[whiff]: the node after the first observation of a search
    after_whiff: np.ndarray  # int[mode]: the node on a whiff at which the recovery path of each mode begins
    maker: str = ""  # the function that made it; none for a memory made by hand
    settings: Mapping[str, Any] | None = None  # of its maker

    def __post_init__(self) -> None:
        tables = {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        nodes, modes = tables["row"].size, tables["after_whiff"].size
        shapes = {"next_node": (nodes, 2), "row": (nodes,), "mode": (nodes,), "first": (2,), "after_whiff": (modes,)}
        require(
            bool(self.name) and nodes > 0 and modes > 0 and {k: v.shape for k, v in tables.items()} == shapes,
            f"The memory {self.name!r} needs a name, a node, a mode, and tables of matching shapes.",
        )
        for name, values in tables.items():
            end = modes if name == "mode" else nodes
            require(values.dtype.kind in "iu", f"The table {name} of a memory must hold whole numbers.")
            inside = bool(((values >= 0) & (values < end)).all())
            require(inside, f"The table {name} of the memory {self.name!r} points outside of it.")
            object.__setattr__(self, name, values.astype(np.int32))
        used = np.unique(self.row)
        require(np.array_equal(used, np.arange(len(used))), f"The rows of the memory {self.name!r} have gaps.")

    @property
    def modes(self) -> int:
        """Number of modes."""
        return len(self.after_whiff)

    @cached_property
    def rows(self) -> int:
        """Number of rows of the Q-matrix."""
        return int(self.row.max()) + 1

    @cached_property
    def tables(self) -> Tables:
        """The tables for the kernels."""
        return self.tables_with(self.next_node)

    def tables_with(self, next_node: np.ndarray) -> Tables:
        """The same with other transitions."""
        onward = next_node.astype(np.uint64) << np.uint64(32) | self.row[next_node].astype(np.uint64)
        return Tables(self.row, onward.ravel(), self.mode, self.first)

    def chosen_mode(self, mode: int | None) -> int:
        """A mode that is given, or else the last one, for sparse odor."""
        mode = self.modes - 1 if mode is None else mode
        require(0 <= mode < self.modes, f"{self.name} has the modes 0 to {self.modes - 1}; there is no mode {mode}.")
        return mode

    def blank_nodes(self, mode: int | None) -> np.ndarray:
        """Nodes int[k] of the recovery path of a mode: on the whiff, then on blanks until a node repeats."""
        return path_on_blanks(self.next_node, int(self.after_whiff[self.chosen_mode(mode)]))

    @cached_property
    def length(self) -> int:
        """Number of different nodes of the longest recovery path; the length of a clock."""
        return max(len(self.blank_nodes(mode)) for mode in range(self.modes))

    @cached_property
    def last_clock(self) -> int:
        """The reading at which the clock stays; it runs on if a recovery path ends in a loop of several nodes."""
        ends = [self.blank_nodes(mode)[-1] for mode in range(self.modes)]
        return self.length - 1 if all(self.next_node[end, 0] == end for end in ends) else _LONGEST

    @cached_property
    def spec(self) -> dict[str, Any]:
        """Plain values that determine it: maker and settings, or a digest of tables made by hand."""
        if self.maker:
            return {"maker": self.maker, **(self.settings or {})}
        tables = repr([getattr(self, name).tolist() for name in _ARRAYS])
        return {"maker": "", "name": self.name, "tables": hashlib.sha256(tables.encode()).hexdigest()[:20]}

    @property
    def changed(self) -> dict[str, Any]:
        """The :attr:`spec` without settings that have the default of their maker."""
        known = inspect.signature(MAKERS[self.maker]).parameters if self.maker else {}
        defaults = {name: [*p.default] if isinstance(p.default, tuple) else p.default for name, p in known.items()}
        return {name: value for name, value in self.spec.items() if name not in known or value != defaults[name]}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The tables by name, for a file; none for a memory that a maker can rebuild."""
        return {} if self.maker else {f"memory_{name}": getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, spec: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Memory:
        """The memory that ``spec`` describes, with its tables from a file if no maker made it."""
        if spec.get("maker"):
            return make_memory(spec)
        missing = [name for name in _ARRAYS if f"memory_{name}" not in arrays]
        require(not missing, f"The memory has no table {', '.join(missing)}.")
        tables: dict[str, Any] = {name: arrays[f"memory_{name}"] for name in _ARRAYS}
        made = cls(str(spec.get("name", "")), **tables)
        same = spec.get("tables") in (None, made.spec["tables"])
        require(same, "The tables of the memory are not those that it was written with.")
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Memory) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(repr(self.spec))

    def __repr__(self) -> str:
        return f"Memory({self.name}, {self.rows} rows, {self.spec})"


def path_on_blanks(next_node: np.ndarray, node: int) -> np.ndarray:
    """Nodes int[k] from one on, if only blanks follow, until a node repeats."""
    onward = next_node[:, 0].tolist()
    found: dict[int, None] = {}
    while node not in found:
        found[node] = None
        node = onward[node]
    return np.array(list(found))


#: Makers of memories by name.
MAKERS: dict[str, Callable[..., Memory]] = {}


def maker(build: Callable[Parameters, Memory]) -> Callable[Parameters, Memory]:
    """Register a function from plain settings to a memory, for use by name in files, jobs and the command line."""
    signature = inspect.signature(build)

    @functools.wraps(build)
    def make(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Memory:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        settings = json.loads(json.dumps(given.arguments, default=_plain))
        hints = get_type_hints(build)
        checked: dict[str, Any] = {
            key: convert(value, hints.get(key, Any), f"The setting {key} of the memory {build.__name__} is {value!r}")
            for key, value in settings.items()
        }
        return replace(build(**checked), maker=build.__name__, settings=settings)  # type: ignore[call-arg]

    MAKERS[build.__name__] = make
    return make


def _plain(value: Any) -> Any:
    """A value from NumPy as a plain one; others as text, which no setting is."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else repr(value)


def make_memory(spec: Mapping[str, Any]) -> Memory:
    """Call the maker that ``spec`` names with the settings in it; unknown names are refused."""
    name = str(spec.get("maker", ""))
    _require_maker(name)
    settings = {key: value for key, value in spec.items() if key != "maker"}
    for key in sorted(settings.keys() - inspect.signature(MAKERS[name]).parameters.keys()):
        raise InputError(f"The memory {name} has no setting called {key}.")
    return MAKERS[name](**settings)


def _require_maker(name: str) -> None:
    require(name in MAKERS, f"There is no memory called {name!r}; there are {', '.join(MAKERS)}.")


def parse_memory(text: str, **defaults: Any) -> Memory:
    """``"window:4"``: a maker, and whole numbers for its first settings; ``defaults`` for its others."""
    name, *words = text.split(":")
    _require_maker(name)
    known = list(inspect.signature(MAKERS[name]).parameters)
    try:
        given = dict(zip(known, (int(word) for word in words), strict=False))
    except ValueError as error:
        raise InputError(f"The memory is {text!r}; a name and whole numbers are needed, such as window:4.") from error
    require(len(words) <= len(known), f"The memory {text!r} has more numbers than settings: {', '.join(known)}.")
    return make_memory({"maker": name} | {key: value for key, value in defaults.items() if key in known} | given)


@maker
def clock(length: int = 500, taus: tuple[int, ...] = (), split_zero: bool = False, literal_tau: bool = False) -> Memory:
    """A clock since the last whiff, in as many modes as ``taus`` separate (paper, Methods).

    The clock ``c`` is 0 on a whiff, one more on every blank, and stays at ``length - 1`` (R3). The mode ``m`` is the
    number of thresholds ``tau_1 < ... < tau_{k-1}`` that the length of the last ended blank reaches: m = 0 is the dense
    mode (Q-), m = k-1 the sparse mode (Q+), in which a search starts. Single-Q is k = 1, two-Q is k = 2. Nodes are
    ``m length + c``. Rows: one whiff state for all modes, row 0, then ``1 .. length-1`` for m = 0 and so on (R4, R6).

    Parameters
    ----------
    length
        Number of states per mode.
    taus
        Blank thresholds between modes, in moves.
    split_zero
        Give each mode its own whiff state (R6): row = node.
    literal_tau
        Take the Methods' tau_t = s_{t-1} literally, as an index of the state (R5).

    Returns
    -------
    Memory

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.clock(500, taus=(10,)).rows
    999
    """
    _require_length(length)
    require(
        all(a < b for a, b in itertools.pairwise((0, *taus, length))),
        f"The blank thresholds tau are {list(taus)}; they must increase and lie between 1 and H-1 = {length - 1}.",
    )
    modes = len(taus) + 1
    require_memory(64 * modes * length, "A memory with this many states")
    mode, count = np.divmod(np.arange(modes * length), length)
    row = mode * length + count if split_zero else np.where(count == 0, 0, mode * (length - 1) + count)
    ended = np.where(count > 0, row, 0) if literal_tau else count
    mode_after_whiff = np.searchsorted(np.array(taus, dtype=np.int64), ended, side="right")
    on_blank = mode * length + np.minimum(count + 1, length - 1)
    start = (modes - 1) * length
    return Memory(
        name={1: "single-Q", 2: "two-Q"}.get(modes, f"{modes}-mode"),
        next_node=np.stack([on_blank, mode_after_whiff * length], axis=1),
        row=row,
        mode=mode,
        first=np.array([start + 1, start]),
        after_whiff=np.arange(modes) * length,
    )


@maker
def window(n: int = 4, length: int = 500) -> Memory:
    """The last ``n`` observations while there is a whiff among them, the clock since the last whiff otherwise.

    This is the memory of the paper's predecessor. The last n observations as bits b, the latest one lowest, have the
    row b - 1; after these rows come the clock's values n, n + 1, ... ``length - 1``, where it stays. Before a search
    starts, there are only blanks. Recovery paths begin after a single whiff.

    Parameters
    ----------
    n
        Number of observations.
    length
        Number of states of the clock.

    Returns
    -------
    Memory

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.window(3, length=100).rows
    104
    """
    require(1 <= n <= _WIDEST, f"The window holds {n} observations; it must hold 1 to {_WIDEST}.")
    _require_length(length)
    require(length > n, f"The clock's length H is {length}; with a window of {n} it must be more than that.")
    recent = np.arange(1, 2**n)
    clocks = np.arange(n, length)
    shifted = 2 * recent & (2**n - 1)  # the oldest observation is forgotten
    first_clock = len(recent)
    blank_recent = np.where(shifted > 0, shifted - 1, first_clock)
    blank_clock = first_clock + np.minimum(clocks + 1, length - 1) - n
    whiff = np.concatenate([shifted, np.zeros(len(clocks), dtype=np.int64)])  # of bits b, the node is b - 1
    nodes = first_clock + len(clocks)
    return Memory(
        name=f"window-{n}",
        next_node=np.stack([np.concatenate([blank_recent, blank_clock]), whiff], axis=1),
        row=np.arange(nodes),
        mode=np.zeros(nodes, dtype=np.int64),
        first=np.array([first_clock, 0]),
        after_whiff=np.array([0]),
    )


@maker
def controller(n: int = 8) -> Memory:
    """``n`` nodes with free transitions, for ``whiffclock optimize``, which searches them together with the actions.

    Each node has an action, and a next node for each observation. Before a search it is a clock of ``n`` states. A
    search that starts on a blank is at node 1, one on a whiff at node 0. The recovery path of a searched controller
    begins at the node that most nodes have after a whiff.

    Parameters
    ----------
    n
        Number of nodes.

    Returns
    -------
    Memory

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.controller(3).next_node.tolist()
    [[1, 0], [2, 0], [2, 0]]
    """
    require(2 <= n <= _LONGEST, f"The controller has {n} nodes; it must have 2 to {_LONGEST}.")
    return replace(clock(n), name=f"controller-{n}", maker="", settings=None)


def _require_length(length: int) -> None:
    possible = 2 <= length <= _LONGEST
    require(possible, f"The horizon H is {length}; it must lie between 2 and {_LONGEST} steps of the clock.")
