"""Environments: the named whiff thresholds of a plume, from dense to sparse.

They belong to a plume, not to the package. :data:`PAPER` are the four of the paper, which the built-in plume has.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from whiffclock.formatting import plainly
from whiffclock.params import InputError, checked, require, require_threshold

#: Most environments of a plume.
MOST = 8
_EXAMPLE = "dense=1e-3,sparse=5e-3"
_NAME = r"[A-Za-z][A-Za-z0-9_-]{0,19}"
_NO_NAMES = ("own", "sparsest", "inf", "infinity", "nan", "none")


@dataclass(frozen=True, eq=False)
class Environments(Mapping[str, float]):
    """Thresholds by name, from dense to sparse: up to eight, or none where a plume has no environments.

    The order is that of the thresholds; two with the same threshold, or with the same name, are refused.
    """

    thresholds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mapping = isinstance(self.thresholds, Mapping)
        require(mapping, f"The environments are {self.thresholds!r}; they must be a dictionary: {{'dense': 1e-3}}.")
        found = self.thresholds.items()
        given = {str(name): checked(f"The threshold of {name}", value, float) for name, value in found}
        require(len(given) <= MOST, f"There are {len(given)} environments; a plume has at most {MOST}.")
        for name, value in given.items():
            short = re.fullmatch(_NAME, name) and name.lower() not in _NO_NAMES
            require(bool(short), f"The environment {name[:40]!r} needs another name: one short word, such as dense.")
            require_threshold(value, f"threshold of {name}")
        ordered = sorted(given, key=given.__getitem__)
        for one, other in pairwise(ordered):
            different = given[one] < given[other]
            require(different, f"The environments {one} and {other} have the same threshold, {plainly(given[one])}.")
        object.__setattr__(self, "thresholds", {name: given[name] for name in ordered})

    def __getitem__(self, name: str) -> float:
        return self.thresholds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.thresholds)

    def __len__(self) -> int:
        return len(self.thresholds)

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """All names, from dense to sparse."""
        return tuple(self.thresholds)

    @property
    def text(self) -> str:
        """``dense=0.001,sparse=0.005``, as files and the command line have them."""
        return ",".join(f"{name}={value!r}" for name, value in self.items())

    def required(self) -> "Environments":
        """These, if there are any."""
        how = f"give them with --environments {_EXAMPLE}, or in Python environments={{'dense': 1e-3}}"
        require(len(self) > 0, f"The plume has no environments (whiff thresholds with names); {how}.")
        return self

    @property
    def sparsest(self) -> float:
        """The highest threshold, whose cells are the starts of all searches by default (R10)."""
        return [*self.required().values()][-1]

    @property
    def pair(self) -> tuple[str, str] | None:
        """The two whose single-Q agents are the modes of 2Q^h, a dense and a sparse one; None of a single one.

        They are those called dense and sparse; else the second and the last but one of four or more, and the first and
        the last of two or three.
        """
        if len(self) < 2:
            return None
        inner = len(self) >= 4
        named = {"dense", "sparse"} <= {*self}
        return ("dense", "sparse") if named else (self.names[inner], self.names[-1 - inner])

    @property
    def default(self) -> float:
        """The threshold at which a plume is measured where none is named: the dense one of the :attr:`pair`."""
        return self.required()[(self.pair or self.names)[0]]

    def name_of(self, threshold: float) -> str:
        """The name of the environment at ``threshold``, or the threshold itself."""
        return next((name for name, value in self.items() if value == threshold), plainly(threshold))

    def threshold_of(self, given: str | float, what: str = "The threshold") -> float:
        """A threshold from a name or a number; ``what`` begins the sentence about others."""
        if isinstance(given, str) and given in self:
            return self[given]
        known = f"one of {', '.join(self)}, or a number"
        choices = known if self else f"a number, or be among --environments {_EXAMPLE}"
        try:
            threshold = float(given)
        except (TypeError, ValueError) as error:
            raise InputError(f"{what} is {given!r}; it must be {choices}.") from error
        require_threshold(threshold)
        return threshold


def numbered(thresholds: Sequence[float]) -> dict[str, float]:
    """Thresholds by names that follow from their number.

    One: dense. Two: dense, sparse. Three: dense, medium, sparse. Four: denser, dense, sparse, sparser. Five: denser,
    dense, medium, sparse, sparser. More: level-1 and so on.
    """
    count, middle = len(thresholds), ("dense", "medium", "sparse")
    few = {1: ("dense",), 2: ("dense", "sparse"), 3: middle, 4: ("denser", "dense", "sparse", "sparser")}
    few[5] = ("denser", *middle, "sparser")
    names = few.get(count) or [f"level-{i + 1}" for i in range(count)]
    return dict(Environments(dict(zip(names, sorted(thresholds), strict=True))))


def parse_thresholds(text: str) -> dict[str, float] | Literal["auto"]:
    """Environments on the command line: ``"auto"``, numbers alone, or with names."""
    if text == "auto":
        return "auto"
    return parse_environments(text) if "=" in text else numbered(parse_numbers(text, "--thresholds", "4,12,20,28"))


def parse_numbers(text: str, option: str, example: str) -> tuple[float, ...]:
    """``"4,12,20"`` to numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"{option} is {text[:60]!r}; it must be numbers, such as {example}.") from error


def parse_environments(text: str, what: str = "--environments") -> dict[str, float]:
    """``"dense=1e-3,sparse=5e-3"`` to thresholds by name; ``what`` begins the sentence about other texts."""
    found: dict[str, float] = {}
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        try:
            number = float(value)
        except ValueError as error:
            raise InputError(f"{what} is {shown!r}; it must be NAME=C,NAME=C, such as {_EXAMPLE}.") from error
        require(name not in found, f"{what} is {shown!r}; it has the name {name!r} twice.")
        found[name] = number
    return dict(Environments(found))


#: The paper's four.
PAPER = Environments({"denser": 1e-6, "dense": 3e-6, "sparse": 5e-6, "sparser": 7e-6})
#: Those of a plume that has none.
NONE = Environments()


def trained_in(made_from: Mapping[str, Any]) -> str:
    """The environment that a policy was made for, by what it was made from; older files have the threshold alone."""
    threshold = made_from.get("threshold")
    known = "" if threshold is None else PAPER.name_of(threshold)
    return made_from.get("environment") or known
