"""The older policy files of the solver APPL: planes in a notation of braces and arrows.

::

    { policyType => "MaxPlanesLowerBoundWithObservedState", numPlanes => 1, planes => [
        { action => 0, observed state val => 0, numEntries => 2, entries => [ 0, 24.7, 1, 3.01 ] } ] }

A plane has a value only in the states its entries list. ``#`` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from whiffclock.pomdp.files.source import Source

_WORD = re.compile(r'"[^"]*"|=>|[{}\[\],]|[^\s{}\[\],="]+|.')


@dataclass(frozen=True)
class Plane:
    """A vector as files hold it: an action, the value of what is visible, and values of some hidden states."""

    line: int
    action: str
    visible: str
    where: np.ndarray
    values: np.ndarray


@dataclass
class _Node:
    """A word, a list or a collection of named nodes, and its line."""

    line: int
    word: str = ""
    items: list[_Node] = field(default_factory=list)
    fields: dict[str, _Node] = field(default_factory=dict)


def read_planes(source: Source, length: int) -> list[Plane]:
    """The planes in ``source``, over ``length`` hidden states."""
    root = _Parser(source).parse()
    kind = _field(source, root, "policyType").word.strip('"')
    known = ("MaxPlanesLowerBound", "MaxPlanesLowerBoundWithObservedState")
    source.require(kind in known, root.line, f"the policy type is {kind!r}; it must be {' or '.join(known)}.")
    planes = [_plane(source, node, length) for node in _field(source, root, "planes").items]
    stated = _field(source, root, "numPlanes")
    source.require(stated.word == str(len(planes)), stated.line, f"there are {len(planes)} planes, not {stated.word}.")
    return planes


def _plane(source: Source, node: _Node, length: int) -> Plane:
    entries = [entry.word for entry in _field(source, node, "entries").items]
    lines = [entry.line for entry in _field(source, node, "entries").items]
    n, stated = len(entries) // 2, _field(source, node, "numEntries")
    source.require(
        stated.word == str(n) and len(entries) % 2 == 0, stated.line, f"there are {n} entries, not {stated.word}."
    )
    where = [source.index(word, line, length, "state") for word, line in zip(entries[::2], lines[::2], strict=True)]
    source.require(len(set(where)) == n, node.line, "a plane lists a state twice.")
    visible = node.fields["observed state val"].word if "observed state val" in node.fields else "0"
    values = source.numbers(entries[1::2], lines[1::2])
    return Plane(node.line, _field(source, node, "action").word, visible, np.array(where, dtype=np.int64), values)


def _field(source: Source, node: _Node, name: str) -> _Node:
    source.require(name in node.fields, node.line, f"'{name} =>' is missing.")
    return node.fields[name]


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.words = [
            (word, number)
            for number, line in enumerate(source.read_text().splitlines(), start=1)
            for word in _WORD.findall(line.partition("#")[0])
            if not word.isspace()
        ]
        self.at = 0

    def parse(self) -> _Node:
        """The whole file, one collection."""
        node = self._node()
        if self.at < len(self.words):
            self._refuse("the policy ends before this.")
        return node

    def _refuse(self, reason: str) -> NoReturn:
        line = self.words[min(self.at, len(self.words) - 1)][1] if self.words else 1
        self.source.refuse(line, reason)

    def _peek(self) -> str:
        if self.at == len(self.words):
            self._refuse("the file ends before the policy does.")
        return self.words[self.at][0]

    def _next(self) -> tuple[str, int]:
        self._peek()
        self.at += 1
        return self.words[self.at - 1]

    def _node(self) -> _Node:
        word, line = self._next()
        node = _Node(line, word)
        if word == "{":
            self._until("}", lambda: node.fields.update([self._named()]))
        elif word == "[":
            self._until("]", lambda: node.items.append(self._node()))
        elif word in ("}", "]", ",", "=>", "="):
            self.at -= 1
            self._refuse(f"{word!r} stands where a value should.")
        return node

    def _until(self, end: str, read: Callable[[], None]) -> None:
        """Read parts with commas between them up to ``end``."""
        while self._peek() != end:
            read()
            if self._peek() not in (",", end):
                self._refuse(f"{self._peek()!r} stands where a comma or {end!r} should.")
            if self._peek() == ",":
                self.at += 1
        self.at += 1

    def _named(self) -> tuple[str, _Node]:
        words = []
        while (word := self._next()[0]) != "=>":
            if word in "{}[],=":
                self.at -= 1
                self._refuse(f"{word!r} stands where a name and '=>' should.")
            words.append(word)
        return " ".join(words), self._node()
