"""Reading a text file, with errors that name the line."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from whiffclock.disk import reading, require_file
from whiffclock.params import InputError, require
from whiffclock.pomdp.tabular import DISCOUNT

#: Most values of one kind that a file may have without naming them.
MOST_NAMES = 1_000_000
#: Most states, or rows of a table, that a file may have: a typing error must not fill the memory.
LARGEST = 10_000_000
#: Most bytes of a text file: as words, they take up to twenty times as many.
LONGEST = 128 * 2**20


@dataclass(frozen=True)
class Source:
    """The file at ``path``; errors name it, and the line."""

    path: Path

    def read_bytes(self) -> bytes:
        """The whole file, which must be a regular one, not too long and not empty."""
        require_file(self.path)
        size = self.path.stat().st_size
        why = f"it has {size / 2**20:,.0f} MiB, and {LONGEST // 2**20} are allowed"
        require(size <= LONGEST, f"{self.path} is too long: {why}.")
        with reading(self.path, "a text file"):
            content = self.path.read_bytes()
        require(bool(content.strip()), f"{self.path} is empty.")
        return content

    def read_text(self) -> str:
        """The whole file as text: UTF-8, or else Latin-1, as older files are."""
        content = self.read_bytes()
        require(b"\0" not in content, f"{self.path} is not a text file.")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("latin-1")

    def refuse(self, line: int, reason: str) -> NoReturn:
        """Raise :class:`InputError`: ``reason``, and where."""
        raise InputError(f"{self.path}, line {line}: {reason}")

    def require(self, condition: bool, line: int, reason: str) -> None:
        """Refuse the file unless ``condition`` holds."""
        if not condition:
            self.refuse(line, reason)

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Refuse what is too deep or too large for this computer."""
        try:
            yield
        except RecursionError:
            raise InputError(f"{self.path} is nested too deeply.") from None
        except MemoryError:
            raise InputError(f"{self.path} needs more memory than there is.") from None

    def numbers(self, words: Sequence[str], lines: Sequence[int] | int) -> np.ndarray:
        """``words`` as finite numbers, float64[word]; ``lines`` has the line of each, or of all."""
        values = np.array([_number(word) for word in words])
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            line = lines if isinstance(lines, int) else lines[bad[0]]
            self.refuse(line, f"{words[bad[0]]!r} is not a finite number.")
        return values

    def discount(self, words: Sequence[str], line: int) -> float:
        """``words`` as a discount."""
        self.require(len(words) == 1, line, "the discount must be one number.")
        discount = float(self.numbers(words, line)[0])
        self.require(0 < discount < 1, line, f"the discount is {discount:g}; {DISCOUNT}")
        return discount

    def index(self, word: str, line: int, n: int, what: str) -> int:
        """``word`` as one of the integers 0 to n - 1 that number ``what``."""
        if not (is_count(word) and int(word) < n):
            self.refuse(line, f"the {what} is {word!r}; it must be a whole number from 0 to {n - 1}.")
        return int(word)

    def position(self, word: str, line: int, names: dict[str, int], what: str) -> int:
        """Position of ``word``, a name or a number, among ``names``."""
        place = names[word] if word in names else int(word) if is_count(word) else len(names)
        if place >= len(names):
            listed = list(names)
            choice = ", ".join(listed) if len(listed) <= 6 else f"the {len(listed)} from {listed[0]} to {listed[-1]}"
            self.refuse(line, f"{word!r} is not a known {what}; it must be one of {choice}.")
        return place

    def count(self, word: str, line: int, what: str) -> int:
        """``word`` as a number of ``what``."""
        possible = is_count(word) and 0 < int(word) <= MOST_NAMES
        self.require(possible, line, f"{word!r} is not a possible number of {what}; it must be 1 to {MOST_NAMES}.")
        return int(word)


class Words:
    """The words of a text file one by one; ``#`` begins a comment."""

    def __init__(self, source: Source, split: Callable[[str], list[str]]) -> None:
        self.source, self.at = source, 0
        self.words: list[str] = []
        self.lines: list[int] = []
        for number, line in enumerate(source.read_text().splitlines(), start=1):
            words = split(line.partition("#")[0])
            self.words += words
            self.lines += [number] * len(words)

    @property
    def line(self) -> int:
        """Line of the next word; of the last one, at the end."""
        return self.lines[min(self.at, len(self.lines) - 1)] if self.lines else 1

    def peek(self, ahead: int = 0) -> str:
        """The next word, or one after it; empty at the end."""
        return self.words[self.at + ahead] if self.at + ahead < len(self.words) else ""

    def next(self, otherwise: str) -> str:
        """The next word; at the end of the file, an error that ends with ``otherwise``."""
        if self.at == len(self.words):
            self.refuse(f"the file ends {otherwise}.")
        self.at += 1
        return self.words[self.at - 1]

    def refuse(self, reason: str) -> NoReturn:
        """Refuse the file because of the next word."""
        self.source.refuse(self.line, reason)


def is_count(word: str) -> bool:
    """Whether ``word`` is a whole number of a sensible size."""
    return word.isascii() and word.isdigit() and len(word) < 12


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
