"""PomdpX files (``.pomdpx``), the factored XML format of the solver APPL.

::

    <pomdpx version="1.0" id="..">
      <Description>..</Description>  <Discount>0.95</Discount>
      <Variable>
        <StateVar vnamePrev="x_0" vnameCurr="x_1" fullyObs="true"> <ValueEnum>near far</ValueEnum> </StateVar>
        <ObsVar vname="o"> <NumValues>3</NumValues> </ObsVar>      (called o0 o1 o2; states s0 .., actions a0 ..)
        <ActionVar vname="a"> .. </ActionVar>  <RewardVar vname="r"/>
      </Variable>
      <InitialStateBelief> .. </InitialStateBelief>  <StateTransitionFunction> .. </StateTransitionFunction>
      <ObsFunction> .. </ObsFunction>  <RewardFunction> .. </RewardFunction>
    </pomdpx>

The last four hold one ``<CondProb>``, or for rewards ``<Func>``, for each variable: ``<Var>``, ``<Parent>`` (names,
or ``null``) and ``<Parameter type="TBL">``, a list of entries of which later ones override earlier ones::

    <Entry> <Instance>north * - -</Instance> <ProbTable>1 0 0 1</ProbTable> </Entry>

An instance has a word for each parent and then one for the variable (a reward has none): a value, ``*`` for each
value alike, or ``-`` for all values in turn, the last dash running fastest through the table. A table may also be
``uniform`` or ``identity``. What no entry sets is zero. Instead of a table there may be a decision diagram::

    <Parameter type="DD">
      <DAG> <Node var="a"> <Edge val="stay"> <SubDAG type="persistent" var="x_1"/> </Edge>
                           <Edge val="jump"> <SubDAG type="uniform" var="x_1"/> </Edge> </Node> </DAG>
      <SubDAGTemplate id="t"> .. </SubDAGTemplate>
    </Parameter>

Each path from the root fixes the variables of its nodes; at its end stands a ``<Terminal>`` number or a
``<SubDAG>``: the named variable takes the value ``val`` (``deterministic``), keeps the value it had before the move
(``persistent``), takes any (``uniform``), or follows a ``template``. Paths that are left out are zero.

References
----------
"PomdpX file format (version 1.0)", AdaComp, National University of Singapore.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from whiffclock.disk import naming
from whiffclock.pomdp.files.factored import Factor, FactoredModel, Variable
from whiffclock.pomdp.files.source import LARGEST, Source
from whiffclock.pomdp.files.tables import Diagonal, Table, require_probabilities
from whiffclock.pomdp.files.xmltree import Element, read_xml
from whiffclock.pomdp.tabular import TabularModel

_FUNCTIONS = ("InitialStateBelief", "StateTransitionFunction", "ObsFunction", "RewardFunction")
#: Paths of a decision diagram.
_MOST_PATHS = 300_000
_LETTERS = {"StateVar": "s", "ActionVar": "a", "ObsVar": "o"}


def read_pomdpx(source: Source) -> TabularModel:
    """The model in ``source``, its variables multiplied out (see :mod:`whiffclock.pomdp.files.factored`)."""
    root = read_xml(source, "pomdpx", "a PomdpX file")
    root.only("Description", "Discount", "Variable", *_FUNCTIONS)
    model = _Reader(root).model()
    with naming(source.path):
        return model.tables()


class _Reader:
    def __init__(self, root: Element) -> None:
        self.root = root
        section = root.one("Variable")
        section.only(*_LETTERS, "RewardVar")
        self.variables = {kind: [_variable(e) for e in section.all(kind)] for kind in _LETTERS}
        self.rewards = [element.attribute("vname") for element in section.all("RewardVar")]
        for kind in ("StateVar", "ActionVar"):
            section.require(bool(self.variables[kind]), f"<Variable> has no <{kind}>; it must have one or more.")
        self.values: dict[str, dict[str, int]] = {}
        for variable in itertools.chain(*self.variables.values()):
            for name in filter(None, (variable.name, variable.previous)):
                section.require(name not in self.values, f"there are two variables called {name!r}.")
                self.values[name] = {value: i for i, value in enumerate(variable.values)}

    def model(self) -> FactoredModel:
        states = sorted(self.variables["StateVar"], key=lambda variable: not variable.observed)
        actions, observations = self.variables["ActionVar"], self.variables["ObsVar"]
        before, after = [v.previous for v in states], [v.name for v in states]
        chosen, observed = [v.name for v in actions], [v.name for v in observations]
        discount = self.root.one("Discount")
        return FactoredModel(
            states=states,
            actions=actions,
            observations=observations,
            initial=self._distributions("InitialStateBelief", before, before),
            transition=self._distributions("StateTransitionFunction", after, [*chosen, *before, *after]),
            observation=self._distributions("ObsFunction", observed, [*chosen, *after, *observed]),
            rewards=self._payoffs([*chosen, *before, *after, *observed]),
            discount=discount.source.discount(discount.text.split(), discount.line),
        )

    def _distributions(self, section: str, variables: list[str], parents: list[str]) -> list[Factor]:
        """A distribution for each of ``variables``."""
        if not variables and self.root.maybe(section) is None:
            return []
        element = self.root.one(section)
        found: dict[str, Factor] = {}
        for child in element.only("CondProb"):
            name = _var(child, variables)
            child.require(name not in found, f"{name!r} has a second <CondProb>; it may have one.")
            axes = (*self._parents(child, [parent for parent in parents if parent != name]), name)
            table = self._table(child, axes, "ProbTable")
            found[name] = Factor(axes, table.distributions(element.source, partial(self._row_name, axes)))
        for name in variables:
            element.require(name in found, f"<{section}> has no <CondProb> of {name!r}.")
        return list(found.values())

    def _payoffs(self, parents: list[str]) -> list[Factor]:
        payoffs = []
        for child in self.root.one("RewardFunction").only("Func"):
            _var(child, self.rewards)
            axes = self._parents(child, parents)
            child.require(bool(axes), "a reward needs a parent, such as the action.")
            payoffs.append(Factor(axes, self._table(child, axes, "ValueTable").matrix()))
        return payoffs

    def _parents(self, element: Element, allowed: list[str]) -> tuple[str, ...]:
        parent = element.one("Parent")
        names = [] if parent.text.split() == ["null"] else parent.text.split()
        for name in names:
            parent.require(name in allowed, f"{name!r} cannot be a parent here; {', '.join(allowed) or 'none'} can.")
        parent.require(len(set(names)) == len(names), "a parent is named twice.")
        return tuple(names)

    def _row_name(self, axes: tuple[str, ...], row: int) -> str:
        *parents, name = axes
        combinations = itertools.product(*(self.values[parent] for parent in parents))
        values = next(itertools.islice(combinations, row, None))
        given = ", ".join(f"{parent} = {value}" for parent, value in zip(parents, values, strict=True))
        return f"{name} given {given}" if given else name

    def _table(self, element: Element, axes: tuple[str, ...], kind: str) -> Table:
        element.only("Var", "Parent", "Parameter")
        parameter = element.one("Parameter")
        sizes = [len(self.values[name]) for name in axes]
        element.require(math.prod(sizes[:-1]) <= LARGEST, f"the table over {' '.join(axes)} has too many rows.")
        table = Table(sizes)
        how = parameter.attributes.get("type", "TBL")
        parameter.require(how in ("TBL", "DD"), f"the parameter type is {how!r}; it must be 'TBL' or 'DD'.")
        if how == "DD":
            parameter.only("DAG", "SubDAGTemplate")
            pairs = {v.name: v.previous for v in self.variables["StateVar"]}
            templates = {template.attribute("id"): template for template in parameter.all("SubDAGTemplate")}
            diagram = _Diagram(table, {n: self.values[n] for n in axes}, pairs, templates, kind == "ProbTable")
            diagram.walk(parameter.one("DAG"), {})
            return table
        for entry in parameter.only("Entry"):
            entry.only("Instance", kind)
            self._fill(table, axes, entry.one("Instance"), entry.one(kind))
        return table

    def _fill(self, table: Table, axes: tuple[str, ...], instance: Element, given: Element) -> None:
        words = instance.text.split()
        n, m = len(words), len(axes)
        instance.require(n == m, f"the instance has {n} words; it must have {m}, for {' '.join(axes)}.")
        box = [
            np.arange(size)
            if word in ("*", "-")
            else np.array([instance.source.position(word, instance.line, self.values[name], f"value of {name}")])
            for word, name, size in zip(words, axes, table.sizes, strict=True)
        ]
        dashes = [size if word == "-" else 1 for word, size in zip(words, table.sizes, strict=True)]
        values = _values(given, dashes, table.sizes[-1])
        with naming(given.source.path, given.line):
            table.set(box, values, given.line)


@dataclass(frozen=True)
class _Diagram:
    """A table to fill, whose axes are the variables ``values``.

    ``previous`` names each state variable before the move; ``probabilities`` must lie between 0 and 1.
    """

    table: Table
    values: dict[str, dict[str, int]]
    previous: dict[str, str]
    templates: dict[str, Element]
    probabilities: bool
    paths: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def walk(self, element: Element, fixed: dict[str, int], within: tuple[str, ...] = ()) -> None:
        """Go through the content of ``element``; the variables ``fixed`` have their values on this path."""
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
        node.require(name not in fixed, f"{name!r} occurs twice on one path.")
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
            known = before in self.values
            element.require(known, f"{name!r} cannot persist: its value before the move is not a parent.")
            axes = list(self.values)
            if before in fixed:
                self._set(element, {**fixed, name: fixed[before]}, 1.0)
            elif name == axes[-1] and name not in fixed:
                self._set(element, fixed, Diagonal(axes.index(before)))
            else:
                for value in range(len(self.values[name])):
                    self._set(element, {**fixed, before: value, name: value}, 1.0)
        else:
            element.refuse(f"the type {kind!r} is not 'deterministic', 'persistent', 'uniform' or 'template'.")

    def _set(self, element: Element, fixed: dict[str, int], value: float | Diagonal) -> None:
        if self.probabilities and not isinstance(value, Diagonal):
            require_probabilities(element.source, np.array([value]), element.line)
        box = [np.array([fixed[n]]) if n in fixed else np.arange(len(self.values[n])) for n in self.values]
        element.require(next(self.paths) <= _MOST_PATHS, f"a diagram has more than {_MOST_PATHS:,} paths.")
        with naming(element.source.path, element.line):
            self.table.set(box, value, element.line)

    def _name(self, element: Element) -> str:
        name = element.attribute("var")
        element.require(name in self.values, f"{name!r} is not allowed here; {', '.join(self.values)} can be used.")
        return name

    def _value(self, element: Element, name: str) -> int:
        word = element.attribute("val")
        return element.source.position(word, element.line, self.values[name], f"value of {name}")


def _values(given: Element, dashes: list[int], n_values: int) -> np.ndarray | Diagonal:
    """The values of a table, over the axes of an instance; ``dashes`` has the size of each axis with a dash, else 1."""
    words = given.text.split()
    if given.name == "ProbTable" and words == ["uniform"]:
        return np.full([1] * len(dashes), 1 / n_values)
    if given.name == "ProbTable" and words == ["identity"]:
        sizes = [size for size in dashes if size > 1]
        given.require(len(sizes) == 2 and sizes[0] == sizes[1], "'identity' needs two dashes of equally many values.")
        return Diagonal(dashes.index(sizes[0])) if dashes[-1] > 1 else np.eye(sizes[0]).reshape(dashes)
    values, needed = given.source.numbers(words, given.line), math.prod(dashes)
    given.require(len(values) == needed, f"the table has {len(values)} numbers; its instance needs {needed}.")
    if given.name == "ProbTable":
        require_probabilities(given.source, values, given.line)
    return values.reshape(dashes)


def _var(element: Element, allowed: list[str]) -> str:
    var = element.one("Var")
    name = var.text.strip()
    var.require(name in allowed, f"{name!r} is not allowed here; {', '.join(allowed) or 'nothing'} can be used.")
    return name


def _variable(element: Element) -> Variable:
    values = _value_names(element)
    if element.name != "StateVar":
        return Variable(element.attribute("vname"), values)
    seen = element.attributes.get("fullyObs", "false").strip().lower()
    element.require(seen in ("true", "false"), f"fullyObs is {seen!r}; it must be 'true' or 'false'.")
    return Variable(element.attribute("vnameCurr"), values, element.attribute("vnamePrev"), seen == "true")


def _value_names(element: Element) -> tuple[str, ...]:
    given = element.only("ValueEnum", "NumValues")
    element.require(len(given) == 1, f"<{element.name}> needs one <ValueEnum> or <NumValues>.")
    if given[0].name == "NumValues":
        n = element.source.count(given[0].text.strip(), given[0].line, "values")
        return tuple(f"{_LETTERS[element.name]}{i}" for i in range(n))
    names = given[0].text.split()
    element.require(bool(names), f"<{element.name}> has no values.")
    element.require(len(set(names)) == len(names), f"<{element.name}> names a value twice.")
    return tuple(names)
