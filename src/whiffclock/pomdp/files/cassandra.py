"""Cassandra's POMDP files (``.pomdp``).

A preamble in any order, then the start, then entries, of which later ones override earlier ones; ``#`` begins a
comment, and line breaks mean nothing::

    discount: 0.95
    values: reward                   (or cost, which counts against)
    states: left right               (names, or how many)
    actions: listen open
    observations: 2
    start: 0.5 0.5                   (or uniform, or one state, or "start include: ..", "start exclude: ..")
    T: listen identity               (a matrix [state, next state], or uniform)
    T: open : * uniform              (a row, or "reset" for the start)
    T: open : left : right 0.5       (one entry)
    O: listen  0.85 0.15 0.15 0.85   (likewise, [next state, observation])
    R: open : left : * : * -100      (action, state, next state, observation; without the last a row over
                                      observations, without the last two a matrix)

States, actions and observations go by name or number, and ``*`` is all of them. Without a start every state is
equally likely; without an R an entry pays nothing.

References
----------
A. R. Cassandra, "POMDP file format", pomdp.org/code/pomdp-file-spec.html.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from pathlib import Path
from typing import NoReturn

import numpy as np
import scipy.sparse as sp

from whiffclock.pomdp.files.payoff import Payoff, expected_payoff
from whiffclock.pomdp.files.source import LARGEST, Source
from whiffclock.pomdp.files.tables import SUM_TOLERANCE, Table, require_probabilities
from whiffclock.pomdp.tabular import TabularModel

_KINDS = ("states", "actions", "observations")
_PREAMBLE = ("discount", "values", *_KINDS)
_AXES = {
    "T": ("actions", "states", "states"),
    "O": ("actions", "states", "observations"),
    "R": ("actions", "states", "states", "observations"),
}
_SINGULAR = {"states": "state", "actions": "action", "observations": "observation"}


def read_pomdp(path: Path) -> TabularModel:
    """Read the model in ``path``.

    Raises
    ------
    InputError
        Where the file is not such a model: the line, and what would be right.
    """
    return _Reader(Source(Path(path))).read()


class _Reader:
    """One pass over the words of a file, a colon being a word."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.words: list[str] = []
        self.lines: list[int] = []
        for number, line in enumerate(source.read_text().splitlines(), start=1):
            words = line.partition("#")[0].replace(":", " : ").split()
            self.words += words
            self.lines += [number] * len(words)
        self.at = 0
        self.keywords = [*_keywords(self.words), len(self.words)]
        self.given: dict[str, int] = {}  # line of each part of the preamble
        self.names: dict[str, dict[str, int]] = {}
        self.payoffs: list[Payoff] = []

    def read(self) -> TabularModel:
        """The model of the whole file."""
        self._read_preamble()
        self.start = self._read_start()
        n_states, n_actions, n_observations = (len(self.names[kind]) for kind in _KINDS)
        self.tables = {
            "T": Table((n_actions, n_states, n_states)),
            "O": Table((n_actions, n_states, n_observations)),
        }
        while self.at < len(self.words):
            self._read_entry()
        transition, observation = (self._by_action(kind) for kind in "TO")
        reward = expected_payoff(self.payoffs, transition, observation)
        with self.source.named():
            return TabularModel(
                transition,
                observation,
                self.sign * reward,
                self.start,
                self.discount,
                states=tuple(self.names["states"]),
                actions=tuple(self.names["actions"]),
                observations=tuple(self.names["observations"]),
            )

    # Words

    def _peek(self, ahead: int = 0) -> str:
        return self.words[self.at + ahead] if self.at + ahead < len(self.words) else ""

    @property
    def _line(self) -> int:
        return self.lines[min(self.at, len(self.lines) - 1)] if self.lines else 1

    def _refuse(self, reason: str) -> NoReturn:
        self.source.refuse(self._line, reason)

    def _next(self, expected: str) -> str:
        if self.at == len(self.words):
            self._refuse(f"the file ends where {expected} should come.")
        self.at += 1
        return self.words[self.at - 1]

    def _colon(self, after: str) -> None:
        if self._next(f"a colon after {after!r}") != ":":
            self.at -= 1
            self._refuse(f"{self._peek()!r} stands where a colon should follow {after!r}.")

    def _run(self) -> int:
        """Where the run of words that begins here ends: before the next keyword, or at the end."""
        return self.keywords[bisect_left(self.keywords, self.at)]

    def _numbers(self, n: int, what: str, *, probabilities: bool = True) -> np.ndarray:
        """The run of ``n`` numbers that begins here."""
        begin, end = self.at, self._run()
        values = self.source.numbers(self.words[begin:end], self.lines[begin:end])
        if end - begin != n:
            self.source.refuse(self.lines[begin - 1], f"{what} has {end - begin} numbers; it must have {n}.")
        if probabilities:
            require_probabilities(self.source, values, self.lines[begin:end])
        self.at = end
        return values

    # Preamble and start

    def _read_preamble(self) -> None:
        self.discount, self.sign = 0.0, 1
        while self._peek() in _PREAMBLE:
            word, line = self._next("a keyword"), self.lines[self.at - 1]
            self.source.require(word not in self.given, line, f"{word!r} was given in line {self.given.get(word)}.")
            self.given[word] = line
            self._colon(word)
            if word == "discount":
                self._read_discount()
            elif word == "values":
                self._read_values()
            else:
                self._read_names(word)
        missing = [word for word in _PREAMBLE if word not in self.given]
        if missing:
            found = f"{self._peek()!r} comes" if self.at < len(self.words) else "the file ends"
            self._refuse(f"{found} before '{missing[0]}:' is given.")

    def _read_discount(self) -> None:
        word = self._next("the discount")
        self.discount = float(self.source.numbers([word], self.lines[self.at - 1])[0])
        line = self.lines[self.at - 1]
        self.source.require(0 < self.discount < 1, line, f"the discount is {word}; it must lie between 0 and 1.")

    def _read_values(self) -> None:
        word = self._next("'reward' or 'cost'")
        line = self.lines[self.at - 1]
        self.source.require(word in ("reward", "cost"), line, f"the values are {word!r}, not 'reward' or 'cost'.")
        self.sign = 1 if word == "reward" else -1

    def _read_names(self, kind: str) -> None:
        end = self._run()
        names = self.words[self.at : end]
        if not names:
            self.source.refuse(self.lines[self.at - 1], f"there are no {kind}; give their names, or how many.")
        if len(names) == 1 and names[0].isascii() and names[0].isdigit():
            if not 0 < int(names[0][:12]) <= LARGEST:
                self._refuse(f"there are {names[0]} {kind}; there must be at least one, and at most {LARGEST}.")
            names = [str(i) for i in range(int(names[0]))]
        self.names[kind] = {name: i for i, name in reversed(list(enumerate(names)))}
        for i, name in enumerate(names):
            if self.names[kind][name] != i or name in (":", "*"):
                self.at += i
                self._refuse(f"the {_SINGULAR[kind]} {name!r} is listed twice, or is no name.")
        self.names[kind] = {name: i for i, name in enumerate(names)}
        self.at = end

    def _read_start(self) -> np.ndarray:
        n = len(self.names["states"])
        if self._peek() != "start":
            return np.full(n, 1 / n)
        self.at += 1
        how = self._next("'include', 'exclude' or a colon") if self._peek() in ("include", "exclude") else ""
        self._colon("start")
        end = self._run()
        if how or (end - self.at == 1 and n > 1 and self._peek() != "uniform"):
            return self._start_among(end, exclude=how == "exclude")
        if self._peek() == "uniform" and end - self.at == 1:
            self.at = end
            return np.full(n, 1 / n)
        line = self._line
        start = self._numbers(n, "the start")
        total = start.sum()
        self.source.require(abs(total - 1) < SUM_TOLERANCE, line, f"the start sums to {total:g}; it must sum to one.")
        return start / total

    def _start_among(self, end: int, *, exclude: bool) -> np.ndarray:
        chosen = np.full(len(self.names["states"]), exclude)
        if self.at == end:
            self.source.refuse(self.lines[end - 1], "the start names no state.")
        while self.at < end:
            chosen[self._position("states")] = not exclude
        if not chosen.any():
            self.source.refuse(self.lines[end - 1], "the start excludes every state.")
        return chosen / chosen.sum()

    # Entries

    def _position(self, kind: str) -> np.ndarray:
        """Position of the name that comes next; of all, for an asterisk."""
        word, names = self._next(f"a name among the {kind}"), self.names[kind]
        if word == "*":
            return np.arange(len(names))
        return np.array([self.source.position(word, self.lines[self.at - 1], names, _SINGULAR[kind])])

    def _read_entry(self) -> None:
        letter, line = self._peek(), self._line
        if letter not in ("T", "O", "R") or self._peek(1) != ":":
            self._refuse(f"{letter!r} stands where an entry, 'T:', 'O:' or 'R:', should begin.")
        self.at += 1
        kinds = _AXES[letter]
        box: list[np.ndarray] = []
        while len(box) < len(kinds) and self._peek() == ":":
            self.at += 1
            box.append(self._position(kinds[len(box)]))
        rest = [len(self.names[kind]) for kind in kinds[len(box) :]]
        if letter == "R":
            self._read_payoff(box, rest, line)
        else:
            values = self._probabilities(letter, rest)
            everything = [np.arange(n) for n in rest]
            self.tables[letter].set([*box, *everything], values, line)

    def _read_payoff(self, box: list[np.ndarray], rest: list[int], line: int) -> None:
        self.source.require(len(box) > 1, line, "'R:' must name an action and a state.")
        values = self._numbers(math.prod(rest), "the entry 'R:'", probabilities=False).reshape(rest)
        self.payoffs.append(Payoff(box, values))

    def _probabilities(self, letter: str, sizes: list[int]) -> np.ndarray:
        """What follows the names of an entry: values over the axes not named."""
        word = self._peek()
        if sizes and word == "uniform":
            self.at += 1
            return np.full(sizes, 1 / sizes[-1])
        if word == "identity" and letter == "T" and len(sizes) == 2:
            self.at += 1
            return np.eye(sizes[0])
        if word == "reset" and letter == "T" and sizes:
            self.at += 1
            return self.start
        what = ("the entry", "the row", "the matrix")[len(sizes)]
        return self._numbers(math.prod(sizes), f"{what} '{letter}:'").reshape(sizes)

    def _by_action(self, letter: str) -> tuple[sp.csr_array, ...]:
        n, actions, states = len(self.names["states"]), list(self.names["actions"]), list(self.names["states"])
        what = {"T": "moving from", "O": "observing in"}[letter]
        rows = self.tables[letter].distributions(
            self.source, lambda row: f"{what} state {states[row % n]} under action {actions[row // n]}"
        )
        return tuple(rows[a * n : (a + 1) * n] for a in range(len(actions)))


def _keywords(words: list[str]) -> list[int]:
    """Positions of the words that begin a part of the file."""
    colons = [i - 1 for i, word in enumerate(words) if word == ":" and i > 0]
    starts = [i - 1 for i in colons if words[i] in ("include", "exclude") and i > 0 and words[i - 1] == "start"]
    return sorted(starts + [i for i in colons if words[i] in (*_PREAMBLE, "start", "T", "O", "R")])
