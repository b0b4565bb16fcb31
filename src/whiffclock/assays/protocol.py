"""Protocols: histories of whiffs and blanks, named or drawn from a plume, and the long blank after them.

A history is text, ``"W3 B12 W"``: three whiffs, twelve blanks, one whiff. A number before brackets repeats what is in
them: ``"10(W B4) W"``. It may also be a list of 0 and 1. It ends with a whiff, at which the recovery begins.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from whiffclock.arguments import path_of
from whiffclock.disk import naming, read_toml
from whiffclock.params import NOT_NEGATIVE, InputError, Settings, Valid, checked, require
from whiffclock.plain_values import plain, shown
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.reading.files import read_plume

BUILTIN = "builtin"
#: Most observations of a history, and most recoveries of an agent.
_LONGEST, MOST = 10_000, 5_000
_TRAIN, _REPEATED = re.compile(r"([WB])(\d{0,6})"), re.compile(r"(\d{1,6})\(([^()]*)\)")
_TABLES = ("histories", "draw")


@dataclass(frozen=True)
class ProtocolSettings(Settings):
    """The long blank, and how agents are played."""

    blank: Annotated[int, Valid("The long blank has {} moves", ge=1, le=_LONGEST, must=f"have 1 to {_LONGEST}")] = 150
    repeats: Annotated[
        int,
        Valid("The number of repeats is {}", ge=2, must="be 2 or more, which show whether an agent moves by chance"),
    ] = 10
    noise: Annotated[float, Valid("The noise is {}", ge=0, le=1, must="be a share of random moves, 0 to 1")] = 0.0
    seed: Annotated[int, NOT_NEGATIVE] = 0


@dataclass(frozen=True)
class DrawSettings(Settings):
    """Histories drawn from a plume: what is smelled at a fixed place, up to a whiff.

    Places are drawn from the start cells, then a whiff there from all that have ``length - 1`` snapshots before them.
    """

    environment: float | str
    histories: Annotated[int, Valid("The number of histories is {}", ge=2, le=MOST)] = 100
    length: Annotated[int, Valid("The length of histories is {}", ge=1, le=_LONGEST)] = 100
    seed: Annotated[int, NOT_NEGATIVE] = 0
    plume: str = BUILTIN


@dataclass(frozen=True, eq=False)
class Protocol:
    """Histories bool[observation], each with a name, and settings; ``drawn`` says how they were drawn, if they were."""

    histories: dict[str, np.ndarray]
    settings: ProtocolSettings
    drawn: DrawSettings | None = None

    def __post_init__(self) -> None:
        count, repeats = len(self.histories), self.settings.repeats
        require(count >= 2, f"The number of histories is {count}; recoveries can be compared from 2 on.")
        many = f"The protocol has {count} histories with {repeats} repeats each; {MOST:,} plays in all are possible."
        require(count * repeats <= MOST, many)

    @property
    def script(self) -> np.ndarray:
        """All histories, bool[observation, history], with blanks after the ends."""
        made = np.zeros((max(map(len, self.histories.values())), len(self.histories)), dtype=bool)
        for i, history in enumerate(self.histories.values()):
            made[: len(history), i] = history
        return made

    @property
    def last_whiff(self) -> np.ndarray:
        """When each history ends, int[history]."""
        return np.array([len(history) - 1 for history in self.histories.values()])


def read_protocol(source: Path | str | Mapping[str, Any]) -> Protocol:
    """A protocol from a TOML file, or from a dictionary of the same contents."""
    if isinstance(source, Mapping):
        return _protocol(dict(source), Path())
    path = path_of(source, "protocol")
    values = read_toml(path)
    with naming(path):
        return _protocol(values, path.parent)


def _protocol(values: dict[str, Any], folder: Path) -> Protocol:
    tables = {name: values.pop(name) for name in _TABLES if name in values}
    for name, table in tables.items():
        require(isinstance(table, Mapping), f"{name} is {shown(table)}; it must be a table, [{name}].")
    both = " and ".join(tables) or "neither histories nor draw"
    require(len(tables) == 1, f"The protocol has {both}; it must have one of the tables [histories] and [draw].")
    settings = ProtocolSettings(**values)
    if "histories" in tables:
        given = tables["histories"].items()
        return Protocol({str(name): read_history(str(name), one) for name, one in given}, settings)
    require("environment" in tables["draw"], "draw has no environment; give a name or a concentration.")
    drawn = DrawSettings(**tables["draw"])
    plume = builtin_plume() if drawn.plume == BUILTIN else read_plume(folder / drawn.plume)
    return Protocol(draw_histories(plume, drawn), settings, drawn)


def read_history(name: str, given: Any) -> np.ndarray:
    """A history bool[observation] from text such as ``"W3 B12 W"``, or from 0 and 1.

    Examples
    --------
    >>> read_history("short gaps", "2(W B2) W").astype(int).tolist()
    [1, 0, 0, 1, 0, 0, 1]
    """
    what, given = f"The history {name!r}", plain(given)
    if isinstance(given, str):
        made = _spelled(given, what)
    else:
        right = Valid(f"{what} is {{}}", must="be text such as 'W3 B12 W', or a list of 0 and 1")
        bits = checked(name, given, Annotated[tuple[int, ...], right])
        require(set(bits) <= {0, 1}, f"{what} is {shown(given)}; its observations must be 0 and 1.")
        made = np.array(bits, dtype=bool)
    require(0 < len(made) <= _LONGEST, f"{what} has {len(made):,} observations; it must have 1 to {_LONGEST:,}.")
    require(bool(made[-1]), f"{what} ends with a blank; it must end with a whiff, after which the long blank begins.")
    return made


def _spelled(text: str, what: str) -> np.ndarray:
    """Whiffs and blanks from text."""
    spread = text
    while found := _REPEATED.search(spread):
        times, inside = int(found[1]), f" {found[2]} "
        require(times * len(inside) <= 20 * _LONGEST, f"{what} is too long; it may have {_LONGEST:,} observations.")
        spread = f"{spread[: found.start()]} {inside * times} {spread[found.end() :]}"
    runs = []
    for word in spread.split():
        run = _TRAIN.fullmatch(word)
        if run is None:
            right = "it must be runs such as W3 or B12, with a number before brackets to repeat them, as in 10(W B4)"
            raise InputError(f"{what} has {shown(word)}; {right}.")
        runs.append(np.full(min(int(run[2] or 1), _LONGEST + 1), run[1] == "W"))
    return np.concatenate(runs) if runs else np.zeros(0, dtype=bool)


def draw_histories(plume: Plume, settings: DrawSettings) -> dict[str, np.ndarray]:
    """Histories of a plume, by number."""
    threshold = plume.environments.threshold_of(settings.environment, "environment")
    record, before = plume.whiffs(threshold), settings.length - 1
    snapshots = plume.field.shape[0]
    long = f"A history of {settings.length} observations does not fit into a record of {snapshots} snapshots."
    require(before < snapshots, long)
    cells = plume.starts(threshold, plume.settle(None))
    cells = cells[record.between(before).ever()[tuple(cells.T)]]
    require(len(cells) > 0, f"No start cell has a whiff after the first {before} snapshots of the record.")
    rng = np.random.default_rng(settings.seed)
    made = {}
    for i, (x, y) in enumerate(cells[rng.integers(len(cells), size=settings.histories)]):
        series = record.series(x, y).astype(bool)
        end = before + rng.choice(np.flatnonzero(series[before:]))
        made[str(i + 1)] = series[end - before : end + 1]
    return made
