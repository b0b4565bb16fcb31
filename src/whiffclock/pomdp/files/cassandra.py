"""Cassandra's POMDP files (``.pomdp``).

A preamble in any order, then the start, then entries, of which later ones override earlier ones; ``#`` begins a
comment, and line breaks are ignored::

    discount: 0.95
    values: reward                   (or cost: counted as negative)
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
equally likely; without an R the reward is 0.

References
----------
A. R. Cassandra, "POMDP file format", pomdp.org/code/pomdp-file-spec.html.
"""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from whiffclock.disk import naming
from whiffclock.pomdp.files.source import LARGEST, Source, Words
from whiffclock.pomdp.files.tables import Diagonal, Table, require_probabilities
from whiffclock.pomdp.tabular import SUM_TOLERANCE, TabularModel, outcomes

_KINDS = {"states": "state", "actions": "action", "observations": "observation"}
_PREAMBLE = ("discount", "values", *_KINDS)
_AXES = {
    "T": ("actions", "states", "states"),
    "O": ("actions", "states", "observations"),
    "R": ("actions", "states", "states", "observations"),
}


def read_pomdp(source: Source) -> TabularModel:
    """The model in ``source``."""
    return _Reader(source).read()


class _Reader(Words):
    """One pass over the words of a file, a colon being a word."""

    def __init__(self, source: Source) -> None:
        super().__init__(source, lambda line: line.replace(":", " : ").split())
        self.keywords = [*_keywords(self.words), len(self.words)]
        self.given: dict[str, int] = {}  # line of each part of the preamble
        self.names: dict[str, dict[str, int]] = {}
        self.payoffs: dict[int, list[_Payoff]] = {}  # by action

    def read(self) -> TabularModel:
        self._read_preamble()
        pairs = len(self.names["actions"]) * len(self.names["states"])
        why = f"states times actions are {pairs:,}; at most {LARGEST:,} can be read."
        self.source.require(pairs <= LARGEST, self.given["states"], why)
        self.all = {kind: np.arange(len(names)) for kind, names in self.names.items()}
        self.start = self._read_start()
        self.tables = {letter: Table([len(self.names[kind]) for kind in _AXES[letter]]) for letter in "TO"}
        while self.at < len(self.words):
            with naming(self.source.path, self.line):
                if not self._read_cells():
                    self._read_entry()
        transition, observation = (self._by_action(letter) for letter in "TO")
        states, actions, observations = (tuple(self.names[kind]) for kind in _KINDS)
        with naming(self.source.path):
            rewards = [self._reward(*tables) for tables in enumerate(zip(transition, observation, strict=True))]
            tables = transition, observation, self.sign * np.array(rewards), self.start
            return TabularModel(*tables, self.discount, states, actions, observations)

    def _was(self) -> int:
        """Line of the word that was read last."""
        return self.lines[self.at - 1]

    def _colon(self, after: str) -> None:
        if self.next(f"where a colon after {after!r} should come") != ":":
            self.at -= 1
            self.refuse(f"{self.peek()!r} stands where a colon should follow {after!r}.")

    def _run(self) -> int:
        """End of the run of words that begins here: the next keyword, or the end of the file."""
        return self.keywords[bisect_left(self.keywords, self.at)]

    def _numbers(self, n: int, what: str, *, probabilities: bool = True) -> np.ndarray:
        """The run of ``n`` numbers that begins here."""
        begin, end = self.at, self._run()
        values = self.source.numbers(self.words[begin:end], self.lines[begin:end])
        if end - begin != n:
            self.source.refuse(self._was(), f"{what} has {end - begin} numbers; it must have {n}.")
        if probabilities:
            require_probabilities(self.source, values, self.lines[begin:end])
        self.at = end
        return values

    def _read_preamble(self) -> None:
        self.discount, self.sign = 0.0, 1
        while self.peek() in _PREAMBLE:
            word, line = self.next("where a keyword should come"), self._was()
            self.source.require(word not in self.given, line, f"{word!r} was given in line {self.given.get(word)}.")
            self.given[word] = line
            self._colon(word)
            if word == "discount":
                self.discount = self.source.discount([self.next("where the discount should come")], self._was())
            elif word == "values":
                kind = self.next("where 'reward' or 'cost' should come")
                known = kind in ("reward", "cost")
                self.source.require(known, self._was(), f"the values are {kind!r}, not 'reward' or 'cost'.")
                self.sign = 1 if kind == "reward" else -1
            else:
                self._read_names(word)
        missing = [word for word in _PREAMBLE if word not in self.given]
        if missing:
            found = f"{self.peek()!r} comes" if self.at < len(self.words) else "the file ends"
            self.refuse(f"{found} before '{missing[0]}:' is given.")

    def _read_names(self, kind: str) -> None:
        end = self._run()
        names = self.words[self.at : end]
        self.source.require(bool(names), self._was(), f"there are no {kind}; give their names, or how many.")
        if len(names) == 1 and names[0].isascii() and names[0].isdigit():
            names = [str(i) for i in range(self.source.count(names[0], self.line, kind))]
        listed: dict[str, int] = {}
        for i, name in enumerate(names):
            if name in listed or name in (":", "*"):
                self.at += i
                self.refuse(f"the {_KINDS[kind]} {name!r} is listed twice, or is not a name.")
            listed[name] = i
        self.names[kind] = listed
        self.at = end

    def _read_start(self) -> np.ndarray:
        n = len(self.names["states"])
        if self.peek() != "start":
            return np.full(n, 1 / n)
        self.at += 1
        how = self.next("here") if self.peek() in ("include", "exclude") else ""
        self._colon("start")
        end, line = self._run(), self._was()
        if how or (end - self.at == 1 and n > 1 and self.peek() != "uniform"):
            start = np.full(n, float(how == "exclude"))
            while self.at < end:
                start[self._position("states")] = how != "exclude"
            self.source.require(bool(start.any()), line, "the start names no state, or excludes every state.")
            return start / start.sum()
        if self.peek() == "uniform" and end - self.at == 1:
            self.at = end
            return np.full(n, 1 / n)
        start = self._numbers(n, "the start")
        total = start.sum()
        self.source.require(abs(total - 1) < SUM_TOLERANCE, line, f"the start sums to {total:g}; it must sum to one.")
        return start / total

    def _position(self, kind: str) -> np.ndarray:
        """Position of the name that comes next; of all, for an asterisk."""
        word, names = self.next(f"where a name among the {kind} should come"), self.names[kind]
        if word == "*":
            return self.all[kind]
        return np.array([self.source.position(word, self._was(), names, _KINDS[kind])])

    def _read_cells(self) -> bool:
        """Read consecutive single cells of T or O, the bulk of large files; returns whether there are any."""
        letter, words, found = self.peek(), self.words, len(_AXES["T"]) * 2 + 2
        if letter not in self.tables or self.tables[letter].sizes[-1] == 1:
            return False
        k = begin = bisect_left(self.keywords, self.at)
        if self.keywords[k] != self.at:
            return False
        names = [(self.names[kind], _KINDS[kind]) for kind in _AXES[letter]]
        cells: list[list[int]] = [[], [], []]
        while k + 1 < len(self.keywords) and self.keywords[k + 1] - (i := self.keywords[k]) == found:
            place = words[i + 2 : i + 7 : 2]
            if words[i] != letter or "*" in place or words[i + 3] != ":" or words[i + 5] != ":":
                break
            for axis, word, (known, what) in zip(cells, place, names, strict=True):
                number = known.get(word)
                axis.append(self.source.position(word, self.lines[i], known, what) if number is None else number)
            k += 1
        if k == begin:
            return False
        at = [i + found - 1 for i in self.keywords[begin:k]]
        lines = [self.lines[i] for i in at]
        values = self.source.numbers([words[i] for i in at], lines)
        require_probabilities(self.source, values, lines)
        self.tables[letter].set_cells([np.array(axis) for axis in cells], values, np.array(lines))
        self.at = self.keywords[k]
        return True

    def _read_entry(self) -> None:
        letter, line = self.peek(), self.line
        if letter not in ("T", "O", "R") or self.peek(1) != ":":
            self.refuse(f"{letter!r} stands where an entry, 'T:', 'O:' or 'R:', should begin.")
        self.at += 1
        kinds = _AXES[letter]
        box: list[np.ndarray] = []
        while len(box) < len(kinds) and self.peek() == ":":
            self.at += 1
            box.append(self._position(kinds[len(box)]))
        rest = [len(self.names[kind]) for kind in kinds[len(box) :]]
        whole = [*box, *(self.all[kind] for kind in kinds[len(box) :])]
        if letter == "R":
            self.source.require(len(box) > 1, line, "'R:' must name an action and a state.")
            values = self._numbers(math.prod(rest), "the entry 'R:'", probabilities=False)
            payoff = _Payoff(whole[1], whole[2], whole[3], values.reshape([1] * (len(box) - 2) + rest))
            for action in whole[0]:
                self.payoffs.setdefault(int(action), []).append(payoff)
        else:
            self.tables[letter].set(whole, self._probabilities(letter, rest), line)

    def _probabilities(self, letter: str, sizes: list[int]) -> np.ndarray | float | Diagonal:
        """The values after the names of an entry, over the axes not named."""
        word = self.peek()
        if sizes and word == "uniform":
            self.at += 1
            return 1 / sizes[-1]
        if word == "identity" and letter == "T" and len(sizes) == 2:
            self.at += 1
            return Diagonal(axis=1)
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

    def _reward(self, a: int, tables: tuple[sp.csr_array, sp.csr_array]) -> np.ndarray:
        """Expected reward of an action, float64[state]; only possible moves are considered.

        R(a, s) = sum over s' of T_a(s, s') sum over o of O_a(s', o) R(a, s, s', o).
        """
        moves, observation = tables
        n, n_seen = observation.shape
        reward, payoffs = np.zeros(n), self.payoffs.get(a, [])
        if all(len(one.following) == n and len(one.seen) == n_seen and one.values.size == 1 for one in payoffs):
            for payoff in payoffs:
                reward[payoff.states] = payoff.values
            return reward
        state, following, seen, chance = outcomes(moves, observation)
        start, paid = np.searchsorted(state, np.arange(n + 1)), np.zeros(len(state))
        for payoff in payoffs:
            which = np.arange(start[payoff.states[0]], start[payoff.states[-1] + 1])
            if len(payoff.following) < n:
                which = which[following[which] == payoff.following]
            if len(payoff.seen) < n_seen:
                which = which[seen[which] == payoff.seen]
            values = np.broadcast_to(payoff.values, (n, n_seen))
            paid[which] = values[following[which], seen[which]]
        return np.bincount(state, chance * paid, minlength=n)


class _Payoff(NamedTuple):
    """States, next states and observations, each one or all, and their reward, broadcast [next state, observation]."""

    states: np.ndarray
    following: np.ndarray
    seen: np.ndarray
    values: np.ndarray


def _keywords(words: list[str]) -> list[int]:
    """Positions of the words that begin a part of the file."""
    colons = [i - 1 for i, word in enumerate(words) if word == ":" and i > 0]
    starts = [i - 1 for i in colons if words[i] in ("include", "exclude") and i > 0 and words[i - 1] == "start"]
    return sorted(starts + [i for i in colons if words[i] in (*_PREAMBLE, "start", "T", "O", "R")])
