"""Models in several variables, multiplied out into one flat table of states.

A variable's distribution given its parents is a factor. A state is one value of every state variable; those that
are fully observed vary slowest, so that states which look alike stand together. A fully observed variable is seen
after each move, so an observation is one value of every observation variable and of every fully observed one.

The initial belief stays the joint distribution of all variables. Where a fully observed variable is uncertain at
first, the reference solver lets the agent see it before the first move; here it is seen after the first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from whiffclock.params import InputError, require
from whiffclock.pomdp.files.source import LARGEST
from whiffclock.pomdp.tabular import TabularModel


@dataclass(frozen=True)
class Variable:
    """A variable and its values. A state variable also has a name for its value before the move."""

    name: str
    values: tuple[str, ...]
    previous: str = ""
    observed: bool = False


@dataclass(frozen=True)
class Factor:
    """Numbers over the variables ``axes``: [all but the last, the last].

    For a distribution the last axis is the variable, the others are its parents, and rows sum to one.
    """

    axes: tuple[str, ...]
    table: sp.csr_array


@dataclass(frozen=True)
class FactoredModel:
    """A POMDP in variables: what each depends on, and rewards that add up."""

    states: Sequence[Variable]
    actions: Sequence[Variable]
    observations: Sequence[Variable]
    initial: Sequence[Factor]
    transition: Sequence[Factor]
    observation: Sequence[Factor]
    rewards: Sequence[Factor]
    discount: float


@dataclass(frozen=True)
class _Cases:
    """Assignments of values to variables, each with its probability, each belonging to a row of the result."""

    row: np.ndarray
    weight: np.ndarray
    value: dict[str, np.ndarray]

    def extended(self, factors: Sequence[Factor], sizes: dict[str, int]) -> _Cases:
        """The same with the variables of ``factors`` added: a case for every value that can occur."""
        cases = self
        for factor in in_order(factors, set(self.value)):
            table = factor.table
            config = flat_value(cases.value, factor.axes[:-1], sizes, len(cases.row))
            count = np.diff(table.indptr)[config]
            source = np.repeat(np.arange(len(config)), count)
            within = np.arange(len(source)) - np.repeat(np.cumsum(count) - count, count)
            cell = table.indptr[config][source] + within
            value = {name: values[source] for name, values in cases.value.items()}
            value[factor.axes[-1]] = table.indices[cell].astype(np.int64)
            cases = _Cases(cases.row[source], cases.weight[source] * table.data[cell], value)
        return cases


def in_order(factors: Sequence[Factor], known: set[str]) -> list[Factor]:
    """``factors`` such that each comes after those it depends on, given the variables ``known``."""
    ordered: list[Factor] = []
    waiting, known = list(factors), set(known)
    while waiting:
        ready = next((factor for factor in waiting if known.issuperset(factor.axes[:-1])), None)
        if ready is None:
            names = ", ".join(factor.axes[-1] for factor in waiting)
            raise InputError(f"The distribution of {names} depends on itself, or on what comes later.")
        waiting.remove(ready)
        ordered.append(ready)
        known.add(ready.axes[-1])
    return ordered


def flat_value(value: dict[str, np.ndarray], names: Sequence[str], sizes: dict[str, int], n: int) -> np.ndarray:
    """Joint value of the variables ``names`` in each of ``n`` cases, the last varying fastest."""
    index = np.zeros(n, dtype=np.int64)
    for name in names:
        index = index * sizes[name] + value[name]
    return index


def flatten(model: FactoredModel) -> TabularModel:
    """The same model with one state, action and observation variable."""
    return _Flattening(model).result()


class _Flattening:
    def __init__(self, model: FactoredModel) -> None:
        self.model = model
        self.seen = [variable for variable in model.states if variable.observed]
        self.states = [*self.seen, *(variable for variable in model.states if not variable.observed)]
        self.sizes = {v.name: len(v.values) for v in [*self.states, *model.actions, *model.observations]}
        self.sizes |= {v.previous: len(v.values) for v in self.states}
        self.n_states = math.prod(len(v.values) for v in self.states)
        require(self.n_states <= LARGEST, f"There are {self.n_states} joint states; at most {LARGEST} can be read.")
        self.n_seen = math.prod(len(v.values) for v in self.seen)
        self.names = [v.name for v in self.states]

    def result(self) -> TabularModel:
        actions = [dict(zip(self._names(self.model.actions), values, strict=True)) for values in self._actions()]
        moves = [self._moves(action) for action in actions]
        observations = [self._observations(action) for action in actions]
        occurring = np.unique(np.concatenate([matrix.indices for matrix in observations]))
        names = joint_names([*self.model.observations, *self.seen])
        return TabularModel(
            transition=tuple(self._matrix(cases) for cases in moves),
            observation=tuple(sp.csr_array(matrix[:, occurring]) for matrix in observations),
            reward=np.array([self._reward(*pair) for pair in zip(actions, moves, strict=True)]),
            initial=self._initial(),
            discount=self.model.discount,
            states=joint_names(self.states),
            actions=joint_names(self.model.actions),
            observations=tuple(names[i] for i in occurring),
            visible=np.arange(self.n_states) // (self.n_states // self.n_seen) if self.seen else None,
        )

    def _names(self, variables: Sequence[Variable]) -> list[str]:
        return [variable.name for variable in variables]

    def _actions(self) -> itertools.product[tuple[int, ...]]:
        return itertools.product(*(range(len(v.values)) for v in self.model.actions))

    def _given(self, names: Sequence[str], action: dict[str, int]) -> _Cases:
        """One case for every joint value of the state variables, under their ``names`` before or after the move."""
        values = np.unravel_index(np.arange(self.n_states), [len(v.values) for v in self.states])
        value = {name: np.full(self.n_states, chosen) for name, chosen in action.items()}
        value |= dict(zip(names, values, strict=True))
        return _Cases(np.arange(self.n_states), np.ones(self.n_states), value)

    def _moves(self, action: dict[str, int]) -> _Cases:
        before = self._given([v.previous for v in self.states], action)
        return before.extended(self.model.transition, self.sizes)

    def _matrix(self, moves: _Cases) -> sp.csr_array:
        following = flat_value(moves.value, self.names, self.sizes, len(moves.row))
        return sp.csr_array((moves.weight, (moves.row, following)), shape=(self.n_states, self.n_states))

    def _observations(self, action: dict[str, int]) -> sp.csr_array:
        """Joint observations, possible or not: [next state, observation]."""
        cases = self._given(self.names, action).extended(self.model.observation, self.sizes)
        names = [*self._names(self.model.observations), *self._names(self.seen)]
        seen = flat_value(cases.value, names, self.sizes, len(cases.row))
        n = math.prod(self.sizes[name] for name in names)
        return sp.csr_array((cases.weight, (cases.row, seen)), shape=(self.n_states, n))

    def _reward(self, action: dict[str, int], moves: _Cases) -> np.ndarray:
        """Expected reward of ``action``, float64[state]."""
        total = np.zeros(self.n_states)
        observed = set(self._names(self.model.observations))
        for factor in self.model.rewards:
            cases = moves
            if observed.intersection(factor.axes):
                cases = moves.extended(self.model.observation, self.sizes)
            elif not set(self.names).intersection(factor.axes):
                cases = self._given([v.previous for v in self.states], action)
            cell = flat_value(cases.value, factor.axes, self.sizes, len(cases.row))
            total += np.bincount(cases.row, cases.weight * _lookup(factor.table, cell), minlength=self.n_states)
        return total

    def _initial(self) -> np.ndarray:
        nothing = _Cases(np.zeros(1, dtype=np.int64), np.ones(1), {})
        cases = nothing.extended(self.model.initial, self.sizes)
        state = flat_value(cases.value, [v.previous for v in self.states], self.sizes, len(cases.row))
        return np.bincount(state, cases.weight, minlength=self.n_states)


def _lookup(table: sp.csr_array, cell: np.ndarray) -> np.ndarray:
    """Values of ``table`` at row-major positions ``cell``."""
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    stored = rows * table.shape[1] + table.indices
    if not len(stored):
        return np.zeros(len(cell))
    at = np.minimum(np.searchsorted(stored, cell), len(stored) - 1)
    return np.where(stored[at] == cell, table.data[at], 0.0)


def joint_names(variables: Sequence[Variable]) -> tuple[str, ...]:
    """Names of the joint values of ``variables``: those of each, with commas between."""
    if not variables:
        return ("nothing",)
    return tuple(",".join(values) for values in itertools.product(*(v.values for v in variables)))
