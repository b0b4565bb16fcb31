"""Policies as alpha vectors, in the files of the solver APPL (``.policy``).

::

    <Policy version="0.1" type="value" model="Tiger.pomdp">
      <AlphaVector vectorLength="2" numObsValue="1" numVectors="2">
        <Vector action="0" obsValue="0">24.7 3.01 </Vector>
        <SparseVector action="1" obsValue="0"><Entry>1 28.4</Entry></SparseVector>
      </AlphaVector>
    </Policy>

Where the model has visible variables, a vector belongs to one joint value of them, ``obsValue``, and has a number
for each joint value of the hidden ones; here such a vector is -inf in all other states. What a sparse vector leaves
out is zero. The older files of the same solver are read as well: planes in a notation of braces and arrows, in which
``#`` begins a comment. What a plane leaves out is -inf::

    { policyType => "MaxPlanesLowerBoundWithObservedState", numPlanes => 1, planes => [
        { action => 0, observed state val => 0, numEntries => 2, entries => [ 0, 24.7, 1, 3.01 ] } ] }
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from whiffclock.disk import write_whole
from whiffclock.params import require, require_memory
from whiffclock.pomdp.files.source import Source, Words
from whiffclock.pomdp.files.xmltree import Element, read_xml
from whiffclock.pomdp.tabular import PartialVector, TabularModel

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


def read_policy(path: Path, model: TabularModel) -> list[PartialVector]:
    """Vectors of a policy for ``model``."""
    source, blocks = Source(Path(path)), _blocks(model)
    with source.bounded():
        xml = source.read_bytes().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
        planes = _read_alpha(source, blocks) if xml else _read_planes(source, blocks.shape[1])
    require(bool(planes), f"{path} has no vectors.")
    pieces = []
    for line, action, visible, where, values in planes:
        block = blocks[source.index(visible, line, len(blocks), "value of the visible variables")]
        pieces.append(PartialVector(block[where], values, source.index(action, line, len(model.actions), "action")))
    return pieces


def write_policy(
    path: Path, model: TabularModel, pieces: Sequence[PartialVector], *, floor: float | None = None, name: str = ""
) -> None:
    """Write a policy for ``model``, the file ``name``.

    A vector is written once for each visible value in all states of which it is defined. Where it is defined in some,
    the others get ``floor``, which must be a lower bound on the value of every policy.
    """
    blocks = _blocks(model)
    partly = floor is not None and bool(np.isfinite(floor))
    for piece in pieces:
        _require_fit(model, piece)
        whole = partly or model.visible is not None or len(piece.states) == blocks.size
        require(whole, "A vector has no value in some states; give a finite floor for them.")
    parts = list(_parts(pieces, blocks, partly=partly))
    require(bool(parts), f"No vector has values in all states of a visible value; {path} would be empty.")
    sizes = f'vectorLength="{blocks.shape[1]}" numObsValue="{len(blocks)}" numVectors="{len(parts)}"'
    policy = f'<Policy version="0.1" type="value" model={quoteattr(name)} {_SCHEMA}>\n<AlphaVector {sizes}>\n'
    head, lines = '<?xml version="1.0" encoding="ISO-8859-1"?>\n', _vector_lines(parts, blocks.shape[1], floor)
    text = chain([head, policy], lines, ["</AlphaVector> </Policy>\n"])
    encoded = (line.encode("iso-8859-1", "xmlcharrefreplace") for line in text)
    write_whole(Path(path), lambda file: file.writelines(encoded))


def _blocks(model: TabularModel) -> np.ndarray:
    """States by what is visible, int64[visible value, hidden value]."""
    if model.visible is None:
        return np.arange(len(model.states))[None]
    counts = np.bincount(model.visible)
    reason = "The visible values of the model differ in their number of states; no .policy file can hold its policies."
    require(bool((counts == counts[0]).all()), reason)
    return np.argsort(model.visible, kind="stable").reshape(len(counts), -1)


def _require_fit(model: TabularModel, piece: PartialVector) -> None:
    n_actions, n_states = model.reward.shape
    states = piece.states
    known = bool(((states >= 0) & (states < n_states)).all()) and len(np.unique(states)) == len(states)
    fit = known and piece.values.shape == states.shape
    require(fit, f"A vector for this model needs states among its {n_states}, each once, and a value for each.")
    require(0 <= piece.action < n_actions, f"Actions must lie between 0 and {n_actions - 1}.")
    require(bool(np.isfinite(piece.values).all()), "A vector has a value that is not finite.")


def _parts(
    pieces: Sequence[PartialVector], blocks: np.ndarray, *, partly: bool
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Each piece for each visible value: action, visible value, hidden values where it is defined, its values there."""
    n_hidden, place = blocks.shape[1], np.empty(blocks.size, dtype=np.int64)
    place[blocks.ravel()] = np.arange(blocks.size)
    for piece in pieces:
        visible, hidden = np.divmod(place[piece.states], n_hidden)
        for shown in np.unique(visible):
            here = visible == shown
            if partly or here.sum() == n_hidden:
                yield piece.action, int(shown), hidden[here], piece.values[here]


def _vector_lines(
    parts: Sequence[tuple[int, int, np.ndarray, np.ndarray]], n_hidden: int, floor: float | None
) -> Iterator[str]:
    for action, visible, hidden, values in parts:
        vector = np.full(n_hidden, floor, dtype=np.float64)
        vector[hidden] = values
        numbers = " ".join(map(repr, vector.tolist()))
        if "e" in numbers:  # not every reader knows exponents
            numbers = " ".join(np.format_float_positional(value, trim="0") for value in vector)
        # the space: APPL's reader takes the last number together with whatever touches it
        yield f'<Vector action="{action}" obsValue="{visible}">{numbers} </Vector>\n'


def _read_alpha(source: Source, blocks: np.ndarray) -> list[Plane]:
    alpha = read_xml(source, "Policy", "a policy").one("AlphaVector")
    vectors = alpha.only("Vector", "SparseVector")
    n_visible, length = blocks.shape
    stated = {
        "vectorLength": (length, "hidden states of the model"),
        "numObsValue": (n_visible, "visible values of the model"),
        "numVectors": (len(vectors), "vectors that follow"),
    }
    for name, (n, what) in stated.items():
        given = alpha.attribute(name)
        alpha.require(given == str(n), f"{name} is {given}; it must be {n}, the number of {what}.")
    require_memory(8 * len(vectors) * length, f"{source.path}: the {len(vectors):,} vectors")
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
            entry.require(len(words) == 2, "an <Entry> must have a state and a value.")
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
    """A word, or everything between braces or brackets: elements with and without names."""
    word = words.next(_TOO_SOON)
    element = Element(words.source, words.lines[words.at - 1], name, {}, word)
    if word in ("{", "["):
        end = "}" if word == "{" else "]"
        while words.next(_TOO_SOON) != end:
            words.at -= 1
            named = " ".join(iter(lambda: words.next(_TOO_SOON), "=>") if word == "{" else ())
            if re.search(r"[{}\[\],=]", named) or words.peek() in ("}", "]", ",", "=>", "="):
                words.refuse(f"{named} {words.peek()} stands where a name, '=>' and a value should be.")
            element.children.append(_element(words, named))
            if words.peek() not in ("", ",", end):
                words.refuse(f"{words.peek()!r} stands where a comma or {end!r} should be.")
            words.at += words.peek() == ","
    return element
