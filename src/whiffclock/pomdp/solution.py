"""What can be done with a solved tabular POMDP: ask for values and actions, simulate, draw its policy as a graph.

Beliefs are arrays over all states of the model. The policy looks one step ahead:

    a(b) = argmax over a of R(b, a) + discount * sum over o of P(o | b, a) V(child of b, a, o),

with V the best alpha vector; it earns at least V.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from whiffclock.params import require
from whiffclock.pomdp.blocks import BlockBelief, to_pieces
from whiffclock.pomdp.bounds import BlockVectors, worst_value
from whiffclock.pomdp.files.policyfile import write_policy
from whiffclock.pomdp.model import Spread
from whiffclock.pomdp.solver import Solution as Solved
from whiffclock.pomdp.tabular import TabularModel, check_initial

#: Simulations end where a reward counts this share of the first.
_NEGLIGIBLE = 1e-3


class Simulation(NamedTuple):
    """Runs of a policy: discounted ``reward``, float[run]; ``states``, int[run, step + 1]; what was done and seen."""

    reward: np.ndarray
    states: np.ndarray
    actions: np.ndarray  # int[run, step]
    observations: np.ndarray  # int[run, step]


@dataclass(frozen=True, repr=False)
class Solution(Solved):
    """A policy, and bounds on its value; made by :func:`whiffclock.pomdp.solve`.

    ``lower`` and ``upper`` bound the value of the best policy at the initial belief; that of this one is at least
    ``lower``. ``history`` has the bounds over time, ``vectors`` the alpha vectors by block of states, ``problem`` the
    model in tables. Actions and observations are numbers, or names where they are arguments.
    """

    vectors: BlockVectors

    def __repr__(self) -> str:
        bounds = f"{self.lower:.6g} to {self.upper:.6g}"
        return f"Solution({bounds}, {len(self.vectors)} vectors, {self.ended} after {self.seconds:.1f} s)"

    @property
    def problem(self) -> TabularModel:
        """The model in tables."""
        return self.model.tables

    def value(self, belief: Any) -> float:
        """What the policy earns at least from a belief on."""
        at = self._placed(belief)
        if not self._looks(at):
            return self.vectors.best(at)[1]
        spread = self.model.spread(at)
        seen = [self.vectors.best(self.model.child(spread, e))[1] for e in range(len(spread.probability))]
        return float(spread.probability @ np.array(seen))

    def action(self, belief: Any) -> int:
        """What the policy does at a belief."""
        at = self._placed(belief)
        why = "This belief mixes values of variables that are seen before the first action"
        require(not self._looks(at), f"{why}; give one with a single value of each.")
        return self._decide(at)[0]

    def update(self, belief: Any, action: int | str, observation: int | str) -> np.ndarray:
        """The belief after an action and an observation, float[state]."""
        tables = self.problem
        a = _number(action, tables.actions, "action")
        o = _number(observation, tables.observations, "observation")
        weights = check_initial(np.asarray(belief, dtype=np.float64), len(tables.states), "The belief")
        after = (weights @ tables.transition[a]) * tables.observation[a][:, [o]].toarray()[:, 0]
        what = f"Observation {tables.observations[o]} is impossible after action {tables.actions[a]} at this belief."
        require(after.sum() > 0, what)
        return after / after.sum()

    def simulate(self, runs: int = 100, steps: int | None = None, seed: int = 0) -> Simulation:
        """Follow the policy from states that are drawn from the initial belief.

        ``steps`` default to as many as make a difference of a thousandth. Rewards are the expected ones of each state
        and action.
        """
        require(runs > 0 and (steps is None or steps > 0), "There must be at least one run and one step.")
        tables, rng = self.problem, np.random.default_rng(seed)
        steps = math.ceil(math.log(_NEGLIGIBLE) / math.log(tables.discount)) if steps is None else steps
        done, seen = np.empty((2, runs, steps), dtype=np.int64)
        states = np.empty((runs, steps + 1), dtype=np.int64)
        states[:, 0] = np.searchsorted(np.cumsum(tables.initial)[:-1], rng.random(runs), side="right")
        walk = _Walk(self)
        for run in range(runs):
            state = int(states[run, 0])
            key = walk.begin(state)
            for step in range(steps):
                action = walk.decisions[key][0]
                state = _drawn(tables.transition[action], state, rng.random())
                seen[run, step] = _drawn(tables.observation[action], state, rng.random())
                done[run, step], states[run, step + 1] = action, state
                key = walk.follow(key, int(seen[run, step]))
        weight = tables.discount ** np.arange(steps)
        return Simulation(tables.reward[done, states[:, :-1]] @ weight, states, done, seen)

    def policy_graph(self) -> "PolicyGraph":
        """The policy as a graph: a node for each vector that is reached from the initial belief.

        A node stands for all beliefs at which its vector is the best; its action and successors are those of the first
        of them that was found, breadth first.
        """
        first = self.model.root()
        begin = [first] if not self._looks(first) else self._looked(first)
        graph, number, waiting = PolicyGraph(self.problem, [], []), dict[tuple[int, int], int](), list[BlockBelief]()

        def node_of(belief: BlockBelief) -> int:
            vector, value = self.vectors.best(belief)
            if (belief.block, vector) not in number:
                number[belief.block, vector] = len(graph.nodes)
                graph.nodes.append(Node(self._decide(belief)[0], value))
                waiting.append(belief)
            return number[belief.block, vector]

        for belief in begin:
            node_of(belief)
        for node, belief in enumerate(waiting):  # which grows
            action, spread, edges = graph.nodes[node].action, self.model.spread(belief), self.model.edges(belief.block)
            for e in range(int(edges.first[action]), int(edges.first[action + 1])):
                if spread.probability[e] > 0:
                    following = node_of(self.model.child(spread, e))
                    graph.edges.append(Edge(node, int(edges.observation[e]), float(spread.probability[e]), following))
        return graph

    def save(self, path: Path | str) -> None:
        """Write the policy as a ``.policy`` file, which other programs read as well."""
        pieces = to_pieces(self.model, self.vectors)
        write_policy(Path(path), self.problem, pieces, floor=worst_value(self.model))

    def _looks(self, at: BlockBelief) -> bool:
        return self.model.looks_first and at.block == self.model.root_block

    def _looked(self, root: BlockBelief) -> list[BlockBelief]:
        spread = self.model.spread(root)
        return [self.model.child(spread, e) for e in np.flatnonzero(spread.probability > 0).tolist()]

    def _placed(self, belief: Any) -> BlockBelief:
        """A belief over all states in the block that contains it."""
        model = self.model
        weights = check_initial(np.asarray(belief, dtype=np.float64), len(model.tables.states), "The belief")
        support = np.flatnonzero(weights > 0)
        for k in model.meeting(support):
            if np.isin(support, model.states[k]).all():
                return BlockBelief(k, weights[model.states[k]])
        why = "some of its states cannot be reached, or are always told apart"
        what = f"This belief cannot arise from the initial one: {why}."
        require(False, f"{what} Give it as the initial belief and solve again.")
        raise AssertionError

    def _decide(self, belief: BlockBelief) -> tuple[int, Spread]:
        """The action that is best one step ahead, and all children of the belief."""
        spread, edges = self.model.spread(belief), self.model.edges(belief.block)
        chance = spread.probability
        worth, pick = np.full(len(chance), -np.inf), np.zeros(len(chance), dtype=np.int64)
        self.vectors.improve(spread, 0, worth, pick)
        worth = np.add.reduceat(np.where(chance > 0, chance * worth, 0.0), edges.first[:-1])
        return int((spread.reward + self.model.discount * worth).argmax()), spread


class _Walk:
    """Beliefs that simulations have met, each decided once."""

    def __init__(self, solution: Solution) -> None:
        self.solution, self.model = solution, solution.model
        self.decisions: dict[bytes, tuple[int, Spread]] = {}
        self.after: dict[tuple[bytes, int], bytes] = {}

    def begin(self, state: int) -> bytes:
        tables, weights = self.model.tables, self.model.tables.initial
        if self.model.looks_first:
            weights = np.where(tables.visible == tables.visible[state], weights, 0.0)
        return self._key(self.solution._placed(weights / weights.sum()))

    def follow(self, key: bytes, observation: int) -> bytes:
        if (key, observation) not in self.after:
            action, spread = self.decisions[key]
            edges = self.model.edges(spread.belief.block)
            here = slice(int(edges.first[action]), int(edges.first[action + 1]))
            edge = here.start + int(np.searchsorted(edges.observation[here], observation))
            self.after[key, observation] = self._key(self.model.child(spread, edge))
        return self.after[key, observation]

    def _key(self, belief: BlockBelief) -> bytes:
        key: bytes = self.model.key(belief)
        if key not in self.decisions:
            self.decisions[key] = self.solution._decide(belief)
        return key


class Node(NamedTuple):
    """A node of a policy graph."""

    action: int
    value: float


class Edge(NamedTuple):
    """What follows a node after an observation, which has this probability at the node's first belief."""

    node: int
    observation: int
    probability: float
    following: int


class PolicyGraph(NamedTuple):
    """A policy as a finite-state controller; it begins in node 0."""

    problem: TabularModel
    nodes: list[Node]
    edges: list[Edge]

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        actions, seen = self.problem.actions, self.problem.observations
        lines = [f"  {i} [label={_quoted(f'{actions[n.action]}: {n.value:.4g}')}];" for i, n in enumerate(self.nodes)]
        lines += [f"  {e.node} -> {e.following} [label={_quoted(seen[e.observation])}];" for e in self.edges]
        return "\n".join(["digraph policy {", *lines, "}", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _number(given: int | str, names: tuple[str, ...], kind: str) -> int:
    """The position of a name, or a position."""
    if isinstance(given, str):
        require(given in names, f"There is no {kind} called {given!r}; there are {', '.join(names[:20])}.")
        return names.index(given)
    require(0 <= given < len(names), f"There is no {kind} {given}; they go from 0 to {len(names) - 1}.")
    return int(given)


def _drawn(matrix: Any, row: int, drawn: float) -> int:
    """A column of a sparse matrix whose row has the probabilities."""
    start, end = matrix.indptr[row], matrix.indptr[row + 1]
    share = np.cumsum(matrix.data[start:end])
    return int(matrix.indices[start + min(int(share.searchsorted(drawn * share[-1], side="right")), end - start - 1)])
