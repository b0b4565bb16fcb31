"""The older policy files of the solver APPL: planes in a notation of braces and arrows.

::

    { policyType => "MaxPlanesLowerBoundWithObservedState", numPlanes => 1, planes => [
        { action => 0, observed state val => 0, numEntries => 2, entries => [ 0, 24.7, 1, 3.01 ] } ] }

A plane has a value only in the states its entries list. ``#`` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from whiffclock.pomdp.files.source import Source, Words

_WORD = re.compile(r'"[^"]*"|=>|[{}\[\],]|[^\s{}\[\],="]+|\S')
_TOO_SOON = "before the policy does"


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
    words = Words(source, _WORD.findall)
    root = _node(words)
    if words.peek():
        words.refuse("the policy ends before this.")
    kind = _field(source, root, "policyType").word.strip('"')
    known = ("MaxPlanesLowerBound", "MaxPlanesLowerBoundWithObservedState")
    source.require(kind in known, root.line, f"the policy type is {kind!r}; it must be {' or '.join(known)}.")
    planes = [_plane(source, node, length) for node in _field(source, root, "planes").items]
    stated = _field(source, root, "numPlanes")
    source.require(stated.word == str(len(planes)), stated.line, f"there are {len(planes)} planes, not {stated.word}.")
    return planes


def _plane(source: Source, node: _Node, length: int) -> Plane:
    entries = [(entry.word, entry.line) for entry in _field(source, node, "entries").items]
    n, stated = len(entries) // 2, _field(source, node, "numEntries")
    whole = stated.word == str(n) and len(entries) % 2 == 0
    source.require(whole, stated.line, f"there are {n} entries, not {stated.word}.")
    where = [source.index(word, line, length, "state") for word, line in entries[::2]]
    source.require(len(set(where)) == n, node.line, "a plane lists a state twice.")
    visible = node.fields["observed state val"].word if "observed state val" in node.fields else "0"
    values = source.numbers([word for word, _ in entries[1::2]], [line for _, line in entries[1::2]])
    return Plane(node.line, _field(source, node, "action").word, visible, np.array(where, dtype=np.int64), values)


def _field(source: Source, node: _Node, name: str) -> _Node:
    source.require(name in node.fields, node.line, f"'{name} =>' is missing.")
    return node.fields[name]


def _node(words: Words) -> _Node:
    """A word, or all that stands between braces or brackets."""
    word = words.next(_TOO_SOON)
    node = _Node(words.lines[words.at - 1], word)
    if word == "{":
        for _ in _parts(words, "}"):
            name = _name(words)
            node.fields[name] = _node(words)
    elif word == "[":
        for _ in _parts(words, "]"):
            node.items.append(_node(words))
    elif word in ("}", "]", ",", "=>", "="):
        words.at -= 1
        words.refuse(f"{word!r} stands where a value should.")
    return node


def _parts(words: Words, end: str) -> Iterator[None]:
    """Once for each of the parts up to ``end``, which have commas between them."""
    while words.next(_TOO_SOON) != end:
        words.at -= 1
        yield
        if words.peek() not in ("", ",", end):
            words.refuse(f"{words.peek()!r} stands where a comma or {end!r} should.")
        words.at += words.peek() == ","


def _name(words: Words) -> str:
    parts = []
    while (word := words.next(_TOO_SOON)) != "=>":
        if word in "{}[],=":
            words.at -= 1
            words.refuse(f"{word!r} stands where a name and '=>' should.")
        parts.append(word)
    return " ".join(parts)
