"""Models in several variables, multiplied out into one flat table of states.

A variable's distribution given its parents is a factor. A state is one value of every state variable; those that
are fully observed vary slowest, so that states which look alike stand together. A fully observed variable is seen
after each move, so an observation is one value of every observation variable and of every fully observed one.

The initial belief is the joint distribution of all variables. The solver lets the agent see the fully observed ones
before the first move, as the reference solver does.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from whiffclock.params import InputError, require, require_memory
from whiffclock.pomdp.files.source import LARGEST
from whiffclock.pomdp.tabular import TabularModel, entries_of_rows


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
class _Cases:
    """Assignments of values to variables, each with its probability and its row in the result."""

    row: np.ndarray
    weight: np.ndarray
    value: dict[str, np.ndarray]
    sizes: dict[str, int]

    def extended(self, factors: Sequence[Factor]) -> "_Cases":
        """The same with the variables of ``factors`` added: a case for every value that can occur."""
        cases, waiting = self, list(factors)
        while waiting:
            factor = next((factor for factor in waiting if cases.value.keys() >= set(factor.axes[:-1])), None)
            if factor is None:
                names = ", ".join(factor.axes[-1] for factor in waiting)
                raise InputError(f"The distribution of {names} depends on itself, or on a later variable.")
            waiting.remove(factor)
            table = factor.table
            rows = cases.joint(factor.axes[:-1])
            values = np.diff(table.indptr)[rows]
            count = int(values.sum())
            require_memory(24 * count * (len(cases.value) + 5), f"A model with {count:,} ways to move or observe")
            case, cell = entries_of_rows(table.indptr, rows)
            if (values != 1).any():  # a case has no or several values
                value = {name: values[case] for name, values in cases.value.items()}
                cases = _Cases(cases.row[case], cases.weight[case], value, self.sizes)
            value = cases.value | {factor.axes[-1]: table.indices[cell].astype(np.int64)}
            cases = _Cases(cases.row, cases.weight * table.data[cell], value, self.sizes)
        return cases

    def joint(self, names: Sequence[str]) -> np.ndarray:
        """Joint value of the variables ``names`` in each case, the last varying fastest."""
        index = np.zeros(len(self.row), dtype=np.int64)
        for name in names:
            index = index * self.sizes[name] + self.value[name]
        return index


@dataclass
class FactoredModel:
    """A POMDP in variables with their distributions, and rewards that add up; fully observed states come first."""

    states: Sequence[Variable]
    actions: Sequence[Variable]
    observations: Sequence[Variable]
    initial: Sequence[Factor]
    transition: Sequence[Factor]
    observation: Sequence[Factor]
    rewards: Sequence[Factor]
    discount: float

    def __post_init__(self) -> None:
        self.seen = [v for v in self.states if v.observed]
        self.before, self.after = [v.previous for v in self.states], [v.name for v in self.states]
        everything = [*self.states, *self.actions, *self.observations]
        self.sizes = {name: len(v.values) for v in everything for name in (v.name, v.previous)}
        self.n_states = math.prod(len(v.values) for v in self.states)
        self.n_actions = math.prod(len(v.values) for v in self.actions)

    @cached_property
    def values(self) -> tuple[np.ndarray, ...]:
        """Value of each state variable in each state."""
        return np.unravel_index(np.arange(self.n_states), [len(v.values) for v in self.states])

    def tables(self) -> TabularModel:
        """The same model with one state, action and observation variable."""
        states, pairs = self.n_states, self.n_states * self.n_actions
        require(states <= LARGEST, f"There are {states} joint states; at most {LARGEST} can be read.")
        require(pairs <= LARGEST, f"Joint states times joint actions are {pairs}; at most {LARGEST} can be read.")
        values = itertools.product(*(range(len(v.values)) for v in self.actions))
        actions = [{v.name: value for v, value in zip(self.actions, chosen, strict=True)} for chosen in values]
        shown = [*self.observations, *self.seen]
        n_shown = math.prod(len(v.values) for v in shown)
        require(n_shown < 2**62, f"There are {n_shown:.1g} joint observations; fewer than 4e18 can be read.")
        parts = [self._of_action(action, [v.name for v in shown]) for action in actions]
        transitions, shows, rewards = zip(*parts, strict=True)
        occurring = np.unique(np.concatenate([np.unique(joint) for _, _, joint in shows]))
        shape = self.n_states, len(occurring)
        observations = [
            sp.csr_array((weight, (row, np.searchsorted(occurring, joint))), shape=shape)
            for weight, row, joint in shows
        ]
        first = _Cases(np.zeros(1, dtype=np.int64), np.ones(1), {}, self.sizes).extended(self.initial)
        n_hidden = self.n_states // math.prod(len(v.values) for v in self.seen)
        return TabularModel(
            transition=transitions,
            observation=tuple(observations),
            reward=np.array(rewards),
            initial=np.bincount(first.joint(self.before), first.weight, minlength=self.n_states),
            discount=self.discount,
            states=joint_names(self.states),
            actions=joint_names(self.actions),
            observations=joint_names(shown, occurring),
            visible=np.arange(self.n_states) // n_hidden if self.seen else None,
        )

    def _of_action(
        self, action: dict[str, int], shown: list[str]
    ) -> tuple[sp.csr_array, tuple[np.ndarray, ...], np.ndarray]:
        """Of an action: transition; weight, state and joint value of each observation; reward."""
        moves = self._given(self.before, action).extended(self.transition)
        after = self._given(self.after, action).extended(self.observation)
        shape = self.n_states, self.n_states
        transition = sp.csr_array((moves.weight, (moves.row, moves.joint(self.after))), shape=shape)
        return transition, (after.weight, after.row, after.joint(shown)), self._reward(action, moves)

    def _given(self, names: Sequence[str], action: dict[str, int]) -> _Cases:
        """One case for every joint value of the state variables, under their ``names`` before or after the move."""
        value = {name: np.full(self.n_states, chosen) for name, chosen in action.items()}
        value |= dict(zip(names, self.values, strict=True))
        return _Cases(np.arange(self.n_states), np.ones(self.n_states), value, self.sizes)

    def _reward(self, action: dict[str, int], moves: _Cases) -> np.ndarray:
        """Expected reward of ``action``, float64[state]."""
        total = np.zeros(self.n_states)
        for factor in self.rewards:
            cases = moves
            if {v.name for v in self.observations}.intersection(factor.axes):
                cases = moves.extended(self.observation)
            elif not set(self.after).intersection(factor.axes):
                cases = self._given(self.before, action)
            paid = cases.weight * _lookup(factor.table, cases.joint(factor.axes))
            total += np.bincount(cases.row, paid, minlength=self.n_states)
        return total


def _lookup(table: sp.csr_array, cell: np.ndarray) -> np.ndarray:
    """Values of ``table`` at row-major positions ``cell``."""
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    stored = rows * table.shape[1] + table.indices
    at = np.searchsorted(stored, cell)
    return np.where(np.append(stored, -1)[at] == cell, np.append(table.data, 0.0)[at], 0.0)


def joint_names(variables: Sequence[Variable], which: np.ndarray | None = None) -> tuple[str, ...]:
    """Names of the joint values of ``variables``, or of ``which`` of them: those of each, separated by commas."""
    if not variables:
        return ("nothing",)
    sizes = [len(v.values) for v in variables]
    joint = np.arange(math.prod(sizes)) if which is None else which
    columns = zip(variables, np.unravel_index(joint, sizes), strict=True)
    return tuple(map(",".join, zip(*([v.values[i] for i in index.tolist()] for v, index in columns), strict=True)))
