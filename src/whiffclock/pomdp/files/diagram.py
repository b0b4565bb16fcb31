"""Decision diagrams: the other way in which a PomdpX file may give a table.

::

    <Parameter type="DD">
      <DAG> <Node var="a"> <Edge val="stay"> <SubDAG type="persistent" var="x_1"/> </Edge>
                           <Edge val="jump"> <SubDAG type="uniform" var="x_1"/> </Edge> </Node> </DAG>
      <SubDAGTemplate id="t"> .. </SubDAGTemplate>
    </Parameter>

Each path from the root fixes the variables of its nodes; at its end stands a ``<Terminal>`` number or a
``<SubDAG>``: the named variable takes the value ``val`` (``deterministic``), keeps the value it had before the move
(``persistent``), takes any (``uniform``), or a ``template`` says. Paths that are not drawn are zero.
"""

from dataclasses import dataclass

import numpy as np

from whiffclock.pomdp.files.tables import Table, require_probabilities
from whiffclock.pomdp.files.xmltree import Element


@dataclass(frozen=True)
class Diagram:
    """A table to fill, whose axes are the variables ``values``.

    ``previous`` names each state variable before the move; ``probabilities`` must lie between 0 and 1.
    """

    table: Table
    values: dict[str, dict[str, int]]
    previous: dict[str, str]
    templates: dict[str, Element]
    probabilities: bool

    def walk(self, element: Element, fixed: dict[str, int], within: tuple[str, ...] = ()) -> None:
        """Go through what ``element`` holds, the variables ``fixed`` having their values on this path."""
        held = element.only("Node", "SubDAG", "Terminal")
        element.require(len(held) == 1, f"<{element.name}> must hold one <Node>, <SubDAG> or <Terminal>.")
        child = held[0]
        if child.name == "Node":
            self._node(child, fixed, within)
        elif child.name == "SubDAG":
            self._subdag(child, fixed, within)
        else:
            self._set(child, fixed, float(child.source.numbers([child.text.strip()], child.line)[0]))

    def _node(self, node: Element, fixed: dict[str, int], within: tuple[str, ...]) -> None:
        name = self._name(node)
        node.require(name not in fixed, f"{name!r} is decided twice on one path.")
        for edge in node.only("Edge"):
            self.walk(edge, {**fixed, name: self._value(edge, name)}, within)

    def _subdag(self, element: Element, fixed: dict[str, int], within: tuple[str, ...]) -> None:
        kind = element.attribute("type")
        if kind == "template":
            name = element.attribute("idref")
            element.require(name in self.templates, f"there is no <SubDAGTemplate> called {name!r}.")
            element.require(name not in within, f"the template {name!r} contains itself.")
            self.walk(self.templates[name], fixed, (*within, name))
            return
        name = self._name(element)
        if kind == "deterministic":
            self._set(element, {**fixed, name: self._value(element, name)}, 1.0)
        elif kind == "uniform":
            self._set(element, fixed, 1 / len(self.values[name]))
        elif kind == "persistent":
            before = self.previous.get(name, "")
            element.require(before in self.values, f"{name!r} cannot persist: its value before the move is no parent.")
            for value in [fixed[before]] if before in fixed else range(len(self.values[name])):
                self._set(element, {**fixed, before: value, name: value}, 1.0)
        else:
            element.refuse(f"the type {kind!r} is not 'deterministic', 'persistent', 'uniform' or 'template'.")

    def _set(self, element: Element, fixed: dict[str, int], value: float) -> None:
        if self.probabilities:
            require_probabilities(element.source, np.array([value]), element.line)
        box = [np.array([fixed[n]]) if n in fixed else np.arange(len(self.values[n])) for n in self.values]
        self.table.set(box, value, element.line)

    def _name(self, element: Element) -> str:
        name = element.attribute("var")
        element.require(name in self.values, f"{name!r} cannot stand here; {', '.join(self.values)} can.")
        return name

    def _value(self, element: Element, name: str) -> int:
        word = element.attribute("val")
        return element.source.position(word, element.line, self.values[name], f"value of {name}")
