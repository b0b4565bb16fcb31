"""XML as a tree that knows the line of each element."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from whiffclock.disk import first_line
from whiffclock.params import InputError
from whiffclock.pomdp.files.source import Source

#: Elements of a file, and how deep they may be nested.
_MOST, _DEEPEST = 4_000_000, 200


@dataclass(slots=True)
class Element:
    """An element: its name, attributes, the text directly in it, and its children."""

    source: Source
    line: int
    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, *names: str) -> list[Element]:
        """The children with one of ``names``."""
        return [child for child in self.children if child.name in names]

    def maybe(self, name: str) -> Element | None:
        """The only child called ``name``, if there is one."""
        found = self.all(name)
        if len(found) > 1:
            found[1].refuse(f"<{self.name}> has a second <{name}>; it may have one.")
        return found[0] if found else None

    def one(self, name: str) -> Element:
        """The only child called ``name``, which must be there."""
        found = self.maybe(name)
        if found is None:
            self.refuse(f"<{self.name}> has no <{name}>; it must have one.")
        return found

    def only(self, *names: str) -> list[Element]:
        """All children, which must have one of ``names``."""
        for child in self.children:
            child.require(child.name in names, f"<{child.name}> is not allowed in <{self.name}>.")
        return self.children

    def attribute(self, name: str) -> str:
        """The attribute ``name``, which must be there and not empty."""
        value = self.attributes.get(name, "").strip()
        self.require(bool(value), f"<{self.name}> lacks the attribute {name!r}.")
        return value

    def require(self, condition: bool, reason: str) -> None:
        """Refuse the file unless ``condition`` holds."""
        self.source.require(condition, self.line, reason)

    def refuse(self, reason: str) -> NoReturn:
        """Refuse the file because of this element."""
        self.source.refuse(self.line, reason)


def read_xml(source: Source, root: str, what: str) -> Element:
    """The tree in ``source``, whose outermost element must be ``root`` for it to be ``what``."""
    top = Element(source, 1, "", {})
    open_elements = [top]
    texts: list[list[str]] = [[]]
    parser, count = expat.ParserCreate(), itertools.count(1)
    parser.buffer_text, parser.buffer_size = True, 2**20

    def begin(name: str, attributes: dict[str, str]) -> None:
        element = Element(source, parser.CurrentLineNumber, name, attributes)
        element.require(len(open_elements) <= _DEEPEST, f"elements are nested more than {_DEEPEST} deep.")
        element.require(next(count) <= _MOST, f"there are more than {_MOST:,} elements.")
        open_elements[-1].children.append(element)
        open_elements.append(element)
        texts.append([])

    def end(_: str) -> None:
        open_elements.pop().text = "".join(texts.pop())

    def entity(*_: object) -> None:
        source.refuse(parser.CurrentLineNumber, f"an entity is declared; {what} must not declare any.")

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda content: texts[-1].append(content)
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(source.read_bytes(), True)
    except expat.ExpatError as error:
        source.refuse(error.lineno, f"this is not well-formed XML ({expat.ErrorString(error.code)}).")
    except (LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        source.refuse(1, f"the XML cannot be read ({first_line(error)}).")
    element = top.children[0]
    element.require(element.name == root, f"the outermost element is <{element.name}>; {what} begins with <{root}>.")
    return element
