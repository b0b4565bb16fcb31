"""Policies as alpha vectors, in the files of the solver APPL (``.policy``).

::

    <Policy version="0.1" type="value" model="Tiger.pomdp">
      <AlphaVector vectorLength="2" numObsValue="1" numVectors="2">
        <Vector action="0" obsValue="0">24.7 3.01</Vector>
        <SparseVector action="1" obsValue="0"><Entry>1 28.4</Entry></SparseVector>
      </AlphaVector>
    </Policy>

Where the model has visible variables, a vector belongs to one joint value of them, ``obsValue``, and has a number
for each joint value of the hidden ones; here such a vector is -inf in all other states. What a sparse vector leaves
out is zero. The older files of the same solver are read as well: planes in a notation of braces and arrows, in which
``#`` begins a comment. What a plane leaves out is -inf, since it says nothing there::

    { policyType => "MaxPlanesLowerBoundWithObservedState", numPlanes => 1, planes => [
        { action => 0, observed state val => 0, numEntries => 2, entries => [ 0, 24.7, 1, 3.01 ] } ] }
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from whiffclock.archive import write_whole
from whiffclock.params import InputError, require
from whiffclock.pomdp.files.source import Source, Words
from whiffclock.pomdp.files.xmltree import Element, read_xml
from whiffclock.pomdp.tabular import TabularModel

_SCHEMA = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="policyx.xsd"'
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


def read_policy(path: Path, model: TabularModel) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of a policy for ``model``, float64[vector, state], -inf where they say nothing; action of each."""
    source, blocks = Source(Path(path)), _blocks(model)
    xml = source.read_bytes().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    planes = _read_alpha(source, blocks) if xml else _read_planes(source, blocks.shape[1])
    require(bool(planes), f"{path} holds no vectors.")
    vectors = np.full((len(planes), len(model.states)), -np.inf)
    actions = np.empty(len(planes), dtype=np.int64)
    for i, (line, action, visible, where, values) in enumerate(planes):
        actions[i] = source.index(action, line, len(model.actions), "action")
        block = blocks[source.index(visible, line, len(blocks), "value of the visible variables")]
        vectors[i, block[where]] = values
    return vectors, actions


def write_policy(
    path: Path,
    model: TabularModel,
    vectors: np.ndarray,
    actions: np.ndarray,
    *,
    floor: float | None = None,
    name: str = "",
) -> None:
    """Write a policy for ``model``, the file ``name``: vectors and actions as :func:`read_policy` returns them.

    A vector is written once for each visible value on which it is finite. Where the model has no visible
    variables, ``floor`` stands in for -inf: no policy must be worth less than this.
    """
    blocks = _blocks(model)
    vectors = _checked(model, np.asarray(vectors, dtype=np.float64), np.asarray(actions), floor)
    lines = list(_vector_lines(vectors, np.asarray(actions), blocks))
    require(bool(lines), f"No vector is finite on a whole visible value; {path} would be empty.")
    sizes = f'vectorLength="{blocks.shape[1]}" numObsValue="{len(blocks)}" numVectors="{len(lines)}"'
    policy = f'<Policy version="0.1" type="value" model={quoteattr(name)} {_SCHEMA}>\n<AlphaVector {sizes}>\n'
    text = ['<?xml version="1.0" encoding="ISO-8859-1"?>\n', policy, *lines, "</AlphaVector> </Policy>\n"]
    encoded = (line.encode("iso-8859-1", "xmlcharrefreplace") for line in text)
    write_whole(Path(path), lambda file: file.writelines(encoded))


def _blocks(model: TabularModel) -> np.ndarray:
    """The states that look alike, int64[visible value, hidden value]."""
    if model.visible is None:
        return np.arange(len(model.states))[None]
    counts = np.bincount(model.visible)
    reason = "The visible values of the model have unequally many states; its policies cannot be kept in such a file."
    require(bool((counts == counts[0]).all()), reason)
    return np.argsort(model.visible, kind="stable").reshape(len(counts), -1)


def _checked(model: TabularModel, vectors: np.ndarray, actions: np.ndarray, floor: float | None) -> np.ndarray:
    """``vectors``, -inf replaced by ``floor`` in a model without visible variables."""
    n_actions, n_states = model.reward.shape
    fit = vectors.ndim == 2 and vectors.shape[1] == n_states and actions.shape == (len(vectors),)
    require(fit, f"A policy for this model needs vectors of {n_states} values, and an action for each.")
    require(bool(((actions >= 0) & (actions < n_actions)).all()), f"Actions must lie between 0 and {n_actions - 1}.")
    require(not bool((np.isnan(vectors) | (vectors == np.inf)).any()), "A vector has a value that is NaN or +inf.")
    if model.visible is not None or bool(np.isfinite(vectors).all()):
        return vectors
    if floor is None or not np.isfinite(floor):
        raise InputError("A vector is -inf somewhere; give a finite floor in its place.")
    return np.where(np.isfinite(vectors), vectors, floor)


def _vector_lines(vectors: np.ndarray, actions: np.ndarray, blocks: np.ndarray) -> Iterator[str]:
    for vector, action in zip(vectors, actions, strict=True):
        parts = vector[blocks]
        for visible in np.flatnonzero(np.isfinite(parts).all(axis=1)):
            numbers = " ".join(_decimal(value) for value in parts[visible].tolist())
            yield f'<Vector action="{action}" obsValue="{visible}">{numbers}</Vector>\n'


def _decimal(value: float) -> str:
    """The shortest decimal that reads back as ``value``, without an exponent: not every reader knows those."""
    text = repr(value)
    return np.format_float_positional(value, trim="0") if "e" in text else text


def _read_alpha(source: Source, blocks: np.ndarray) -> list[Plane]:
    alpha = read_xml(source, "Policy", "a policy").one("AlphaVector")
    vectors = alpha.only("Vector", "SparseVector")
    n_visible, length = blocks.shape
    stated = {
        "vectorLength": (length, "the model's hidden states"),
        "numObsValue": (n_visible, "the model's visible values"),
        "numVectors": (len(vectors), "the vectors that follow"),
    }
    for name, (n, what) in stated.items():
        given = alpha.attribute(name)
        alpha.require(given == str(n), f"{name} is {given}, but {what} number {n}.")
    return [_read_vector(element, length) for element in vectors]


def _read_vector(element: Element, length: int) -> Plane:
    action, visible = element.attribute("action"), element.attribute("obsValue")
    if element.name == "Vector":
        values = element.source.numbers(element.text.split(), element.line)
        element.require(len(values) == length, f"the vector has {len(values)} numbers; it must have {length}.")
    else:
        values = np.zeros(length)
        for entry in element.only("Entry"):
            words = entry.text.split()
            entry.require(len(words) == 2, "an <Entry> must hold a state and a value.")
            state = entry.source.index(words[0], entry.line, length, "state")
            values[state] = entry.source.numbers(words[1:], entry.line)[0]
    return Plane(element.line, action, visible, np.arange(length), values)


def _read_planes(source: Source, length: int) -> list[Plane]:
    words = Words(source, _WORD.findall)
    policy = _element(words, "policy")
    if words.peek():
        words.refuse("the policy ends before this.")
    kind, stated, planes = policy.one("policyType"), policy.one("numPlanes"), policy.one("planes").children
    policy.require(kind.text.strip('"') in _TYPES, f"the policy type is {kind.text}; it must be {' or '.join(_TYPES)}.")
    stated.require(stated.text == str(len(planes)), f"there are {len(planes)} planes, not {stated.text}.")
    return [_plane(element, length) for element in planes]


def _plane(plane: Element, length: int) -> Plane:
    entries, stated = plane.one("entries").children, plane.one("numEntries")
    n, numbers = len(entries) // 2, entries[1::2]
    stated.require(stated.text == str(n) and len(entries) % 2 == 0, f"there are {n} entries, not {stated.text}.")
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
    if word in ("{", "["):
        end = "}" if word == "{" else "]"
        while words.next(_TOO_SOON) != end:
            words.at -= 1
            named = " ".join(iter(lambda: words.next(_TOO_SOON), "=>") if word == "{" else ())
            if re.search(r"[{}\[\],=]", named) or words.peek() in ("}", "]", ",", "=>", "="):
                words.refuse(f"{named} {words.peek()} stands where a name, '=>' and a value should.")
            element.children.append(_element(words, named))
            if words.peek() not in ("", ",", end):
                words.refuse(f"{words.peek()!r} stands where a comma or {end!r} should.")
            words.at += words.peek() == ","
    return element
