"""Sweeps as files: settings, each with one value or with a list of values to sweep over.

Names are those of the settings of training (:class:`~whiffclock.params.LearningSettings`,
:class:`~whiffclock.params.WorldSettings` and those of the memories), with ``plume``, ``threshold``, ``memory`` and
``seeds`` beside them; settings of tests are in the table ``evaluation``. Everything is checked before anything runs,
and what is wrong is reported with its name and its line.
"""

import itertools
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_type_hints

from whiffclock.disk import first_line, read_text
from whiffclock.memory import MAKERS, parse_memory
from whiffclock.params import (
    EvaluationSettings,
    InputError,
    LearningSettings,
    Valid,
    WorldSettings,
    checked,
    require,
    require_threshold,
)
from whiffclock.plain_values import plain, shown

#: Names of the built-in plume, of no blank threshold, and of a value that is taken from another setting.
BUILTIN, NO_TAU, OWN = "builtin", "none", "own"
#: Settings that have the name of their class.
CLASSES = {"": (LearningSettings, WorldSettings), "evaluation.": (EvaluationSettings,)}
_ALWAYS = {"plume": BUILTIN, "memory": "clock", "seeds": 1}
_ALSO_CALLED = {"environment": "threshold", "taus": "tau", "clock": "length", "agents": "seeds"}
_NAMES = {"taus": "tau"}  # of settings of memories, where they differ
_ENVIRONMENTS = "a concentration, or the name of an environment of the plume"
_AGENTS = Annotated[int, Valid(ge=1, must="be a number of agents from 1 on, or a list of seeds")]
_SPECIAL: dict[str, Any] = {
    "threshold": Annotated[float, Valid(must=f"be {_ENVIRONMENTS}")],
    "tau": Annotated[tuple[int, ...], Valid(must=f"be a whole number, '{NO_TAU}', or a list of whole numbers")],
    "seeds": Annotated[int, Valid("the seed is {}", ge=0)],
}
_LONGEST_FILE, _MOST_TRAININGS = 2**16, 100_000
#: Possible ends of a statement over several lines, and how many such lines are tried.
_ENDS, _MOST_TRIES = ("]", '"""', "'''"), 200


@dataclass(frozen=True)
class Place:
    """The origin of a sweep: path and text of its file; neither for a dictionary."""

    path: Path | None = None
    text: str = ""

    @cached_property
    def lines(self) -> dict[str, int]:
        """The line of every key and table, by its full name."""
        return key_lines(self.text)

    def line(self, name: str) -> int | None:
        """The line of a setting, or of its table."""
        return self.lines.get(name) or (self.line(name.rpartition(".")[0]) if "." in name else None)

    def refusal(self, sentence: str, name: str = "", line: int | None = None) -> InputError:
        """The error to raise about a setting, a line, or the file."""
        line = self.line(name) if name else line
        where = [self.path.name if self.path else "", f"line {line}" if line else ""]
        return InputError(": ".join(filter(None, (", ".join(filter(None, where)), sentence))))


@dataclass(frozen=True)
class Grid:
    """A sweep that was read: the values of all settings that were given, and the names of those that are swept."""

    values: dict[str, Sequence[Any]]
    swept: tuple[str, ...]
    place: Place

    def __post_init__(self) -> None:
        trainings, most = math.prod(map(len, self.values.values())), _MOST_TRAININGS
        if trainings > most:
            raise self.place.refusal(f"the sweep has {trainings:,} trainings; at most {most:,} are possible.")


def read_sweep(source: Path | str | Mapping[str, Any]) -> Grid:
    """A sweep from a TOML file, or from a dictionary of the same contents."""
    if isinstance(source, Mapping):
        return _grid(source, Place())
    place = Place(Path(source), read_text(Path(source), "sweep file", _LONGEST_FILE))
    try:
        content = tomllib.loads(place.text)
    except (ValueError, RecursionError) as error:
        raise _syntax_error(place, first_line(error)) from error
    try:
        return _grid(content, place)
    except RecursionError as error:
        raise place.refusal("tables are nested too deeply; the one table of a sweep is evaluation.") from error


def _syntax_error(place: Place, message: str) -> InputError:
    """The message of tomllib as one sentence, with the line in front."""
    found = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    line = int(found[1] or place.text.rstrip().count("\n") + 1) if found else None
    what = message[: found.start()] if found else message
    return place.refusal(f"this is not valid TOML: {what[:1].lower()}{what[1:]}.", line=line)


def key_lines(text: str) -> dict[str, int]:
    """The line on which each key and each table of a valid TOML text begins.

    A statement ends at the end of a line: the shortest run of lines that is valid by itself is one statement.
    """
    found: dict[str, int] = {}
    lines, table, first = text.replace("\r\n", "\n").split("\n"), "", 0
    while first < len(lines):
        end, content = _statement(lines, first)
        header = lines[first].lstrip().startswith("[")
        names = [name if header else table + name for name in _names(content)]
        table = f"{names[-1]}." if header and names else table
        for name in names:
            found.setdefault(name, first + 1)
        first = end
    return found


def _statement(lines: list[str], first: int) -> tuple[int, dict[str, Any]]:
    """The line after the statement that begins at ``first``, and its content; the end of the file if it is too long."""
    further = (at + 1 for at in range(first + 1, len(lines)) if any(mark in lines[at] for mark in _ENDS))
    for end in itertools.islice(itertools.chain([first + 1], further), _MOST_TRIES):
        try:
            return end, tomllib.loads("\n".join(lines[first:end]))
        except (ValueError, RecursionError):
            continue
    return len(lines), {}


def _names(content: Any) -> Iterator[str]:
    """All keys and tables in some content, by full name; outer ones come first."""
    for name, inner in content.items() if isinstance(content, Mapping) else ():
        yield name
        yield from (f"{name}.{deeper}" for deeper in _names(inner))


def known_settings() -> dict[str, Any]:
    """The type of every setting that a sweep can have, by name."""
    known: dict[str, Any] = {"plume": str, "threshold": float, "seeds": int, "memory": str}
    for make in MAKERS.values():
        own = {_NAMES.get(name, name): kind for name, kind in get_type_hints(make).items() if name != "return"}
        known |= {name: kind for name, kind in own.items() if name not in known}
    for table, classes in CLASSES.items():
        known |= {table + name: kind for one in classes for name, kind in get_type_hints(one).items()}
    return known


def memory_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a memory among some settings, under the memory's names for them."""
    names = {_NAMES.get(name, name): name for make in MAKERS.values() for name in get_type_hints(make)}
    own = {name for classes in CLASSES.values() for one in classes for name in get_type_hints(one)}
    return {names[name]: value for name, value in values.items() if name in names and name not in own}


def _grid(content: Mapping[str, Any], place: Place) -> Grid:
    known, given = known_settings(), dict[str, Any]()
    for name, value in _settings(content):
        if name not in known:
            raise place.refusal(_unknown(name, list(known)), name)
        if name in given:
            raise place.refusal(f"{name} is given twice.", name)
        given[name] = value
    if "threshold" not in given:
        raise place.refusal(f"threshold is missing; it must be {_ENVIRONMENTS}, or a list of them.")
    values = {name: _values(name, value, known[name], place) for name, value in (_ALWAYS | given).items()}
    swept = tuple(name for name, value in given.items() if isinstance(value, list) and name != "seeds")
    _require_use(values, swept, place)
    return Grid(values, swept, place)


def _settings(content: Mapping[str, Any], table: str = "") -> Iterator[tuple[str, Any]]:
    """Settings by full name; a sequence of NumPy's or Python's is a list, as in TOML."""
    for key, value in ((str(key), value) for key, value in content.items()):
        if isinstance(value, Mapping) and (value or table + key != "evaluation"):
            yield from _settings(value, f"{table}{key}.") if value else [(table + key, value)]
        elif not isinstance(value, Mapping):
            value = plain(value)
            yield table + key, [*value] if isinstance(value, tuple | range) else value


def _unknown(name: str, known: list[str]) -> str:
    """A sentence about an unknown setting, with the most similar known one."""
    last = name.rpartition(".")[2].lower()
    meant = [_ALSO_CALLED[last]] if last in _ALSO_CALLED else [one for one in known if one.endswith(f".{last}")]
    meant = [last] if last in known else meant or get_close_matches(name.lower(), known, 1)
    meant = meant or get_close_matches(last, known, 1)
    hint = f"did you mean {meant[0]}?" if meant else f"the settings are {', '.join(known)}."
    return f"there is no setting called {name}; {hint}"


def _values(name: str, value: Any, kind: Any, place: Place) -> Sequence[Any]:
    """The values of a setting, one or more, each of the right type and possible by itself."""
    try:
        if name == "seeds" and not isinstance(value, list):
            _refuse_fractions(name, value, kind)
            return range(min(checked(name, value, _AGENTS), _MOST_TRAININGS + 1))
        listed = value if isinstance(value, list) else [value]
        require(bool(listed), f"the list of {name} is empty; it needs one value at least.")
        made = [_value(name, one, kind) for one in listed]
    except InputError as error:
        raise place.refusal(str(error), name) from error
    if len(set(made)) < len(made):
        twice = next(given for i, (given, one) in enumerate(zip(listed, made, strict=True)) if one in made[:i])
        raise place.refusal(f"{name} has the value {shown(twice)} twice.", name)
    return made


def _value(name: str, value: Any, kind: Any) -> Any:
    value = plain(value)
    if name == "threshold" and isinstance(value, str):
        return value  # a name, which only the plume knows
    if name == "tau":
        require(value != "auto", "tau is 'auto', but a sweep has no choice of tau; give numbers, and compare.")
        value = [] if value == NO_TAU else value if isinstance(value, list) else [value]
    if value == OWN and NoneType in get_args(kind):
        value = None
    _refuse_fractions(name, value, kind)
    table, _, own = name.rpartition(".")
    for settings in CLASSES[f"{table}." if table else ""]:
        if own in settings.__dataclass_fields__:
            return getattr(settings(**{own: value}), own)
    made = checked(name, value, _SPECIAL.get(name, kind))
    if name == "threshold":
        require_threshold(made)
    if name == "memory":
        parse_memory(made)
    return made


def _refuse_fractions(name: str, value: Any, kind: Any) -> None:
    """Refuse 50.0 for a whole number, which settings made in Python accept."""
    floats = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, float)]
    if floats and int in (kind, *get_args(kind)):
        raise InputError(f"{name} is {floats[0]}; it must be a whole number.")


def _require_use(values: Mapping[str, Sequence[Any]], swept: Sequence[str], place: Place) -> None:
    """Refuse a setting of memories that none of the swept memories has, or a swept one that only some have."""
    makers = {text: get_type_hints(MAKERS[text.partition(":")[0]]) for text in values["memory"]}
    for name in values:
        for own in memory_settings({name: None}):
            without = [text for text, settings in makers.items() if own not in settings]
            if without and (name in swept or len(without) == len(makers)):
                raise place.refusal(f"{name} is not a setting of the memory {without[0]}.", name)
