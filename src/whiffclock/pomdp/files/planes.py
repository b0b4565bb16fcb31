"""The older policy files of the solver APPL: planes in a notation of braces and arrows.

::

    { policyType => "MaxPlanesLowerBoundWithObservedState", numPlanes => 1, planes => [
        { action => 0, observed state val => 0, numEntries => 2, entries => [ 0, 24.7, 1, 3.01 ] } ] }

A plane has a value only in the states its entries list. ``#`` begins a comment.
"""

import re
from typing import NamedTuple

import numpy as np

from whiffclock.pomdp.files.source import Source, Words
from whiffclock.pomdp.files.xmltree import Element

_WORD = re.compile(r'"[^"]*"|=>|[{}\[\],]|[^\s{}\[\],="]+|\S')
_TOO_SOON = "before the policy does"
_TYPES = ("MaxPlanesLowerBound", "MaxPlanesLowerBoundWithObservedState")


class Plane(NamedTuple):
    """A vector as files hold it: an action, the value of what is visible, and values of some hidden states."""

    line: int
    action: str
    visible: str
    where: np.ndarray
    values: np.ndarray


def read_planes(source: Source, length: int) -> list[Plane]:
    """The planes in ``source``, over ``length`` hidden states."""
    words = Words(source, _WORD.findall)
    policy = _element(words, "policy")
    if words.peek():
        words.refuse("the policy ends before this.")
    kind, stated, planes = policy.one("policyType"), policy.one("numPlanes"), policy.one("planes").children
    known = kind.text.strip('"') in _TYPES
    policy.require(known, f"the policy type is {kind.text}; it must be {' or '.join(_TYPES)}.")
    stated.require(stated.text == str(len(planes)), f"there are {len(planes)} planes, not {stated.text}.")
    return [_plane(element, length) for element in planes]


def _plane(plane: Element, length: int) -> Plane:
    entries, stated = plane.one("entries").children, plane.one("numEntries")
    n, numbers = len(entries) // 2, entries[1::2]
    whole = stated.text == str(n) and len(entries) % 2 == 0
    stated.require(whole, f"there are {n} entries, not {stated.text}.")
    where = [state.source.index(state.text, state.line, length, "state") for state in entries[::2]]
    plane.require(len(set(where)) == n, "a plane lists a state twice.")
    visible = plane.maybe("observed state val")
    values = plane.source.numbers([number.text for number in numbers], [number.line for number in numbers])
    shown = "0" if visible is None else visible.text
    return Plane(plane.line, plane.one("action").text, shown, np.array(where, dtype=np.int64), values)


def _element(words: Words, name: str = "") -> Element:
    """A word, or all that stands between braces or brackets: elements with and without names."""
    word = words.next(_TOO_SOON)
    element = Element(words.source, words.lines[words.at - 1], name, {}, word)
    if word in ("}", "]", ",", "=>", "="):
        words.at -= 1
        words.refuse(f"{word!r} stands where a value should.")
    if word in ("{", "["):
        end = "}" if word == "{" else "]"
        while words.next(_TOO_SOON) != end:
            words.at -= 1
            element.children.append(_element(words, _name(words) if word == "{" else ""))
            if words.peek() not in ("", ",", end):
                words.refuse(f"{words.peek()!r} stands where a comma or {end!r} should.")
            words.at += words.peek() == ","
    return element


def _name(words: Words) -> str:
    parts = []
    while (word := words.next(_TOO_SOON)) != "=>":
        if word in "{}[],=":
            words.at -= 1
            words.refuse(f"{word!r} stands where a name and '=>' should.")
        parts.append(word)
    return " ".join(parts)
