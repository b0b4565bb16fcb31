"""POMDPs given by tables, which are stored as sparse matrices.

In state s the agent takes action a, gets the reward R(a, s) on average, moves to s' with probability T_a(s, s') and
observes o with probability O_a(s', o).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from whiffclock.params import require, require_memory

#: Allowed deviation of a sum of probabilities from one, since files print few digits; readers then rescale them.
SUM_TOLERANCE = 1e-4
#: The condition on a discount, as the end of a sentence.
DISCOUNT = "it must lie between 0 and 1; for a task without discounting choose one close to 1, such as 0.999."
_LARGEST_REWARD = 1e100


@dataclass(frozen=True)
class TabularModel:
    """A POMDP in tables; names are numbers where a model has none.

    ``visible``, the joint value of the fully observed variables in each state, is for policies of other solvers.
    """

    transition: tuple[sp.csr_array, ...]  # by action, [state, next state]; rows sum to one
    observation: tuple[sp.csr_array, ...]  # by action, [next state, observation]; rows sum to one
    reward: np.ndarray  # expected, float64[action, state]
    initial: np.ndarray  # belief, float64[state]
    discount: float
    states: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()
    visible: np.ndarray | None = field(default=None, repr=False)  # int64[state]

    def __post_init__(self) -> None:
        n_actions, n_states = self.reward.shape
        n_observations = self.observation[0].shape[1]
        require(0 < self.discount < 1, f"The discount is {self.discount:g}; {DISCOUNT}")
        moved, seen = len(self.transition), len(self.observation)
        counts = f"rewards for {n_actions} actions, transitions for {moved} and observations for {seen}"
        require(moved == seen == n_actions, f"There are {counts}; each action needs all three.")
        for a in range(n_actions):
            _require_stochastic(self.transition[a], (n_states, n_states), f"transition of action {a}")
            _require_stochastic(self.observation[a], (n_states, n_observations), f"observation of action {a}")
        largest = float(np.abs(self.reward).max())
        allowed = largest <= _LARGEST_REWARD
        require(allowed, f"A reward has the size {largest:g}; it must be at most {_LARGEST_REWARD:g}.")
        check_initial(self.initial, n_states)
        for names, n in (("states", n_states), ("actions", n_actions), ("observations", n_observations)):
            if not getattr(self, names):
                object.__setattr__(self, names, tuple(str(i) for i in range(n)))
            require(len(getattr(self, names)) == n, f"There are {n} {names}, but {len(getattr(self, names))} names.")


def check_initial(belief: np.ndarray, n: int, what: str = "The initial belief") -> np.ndarray:
    """``belief``, rescaled, if it is ``n`` probabilities that sum to one."""
    proper = belief.shape == (n,) and (belief >= 0).all() and abs(belief.sum() - 1) < SUM_TOLERANCE
    require(bool(proper), f"{what} must be {n} probabilities that sum to one.")
    return belief / belief.sum()


def _require_stochastic(matrix: sp.csr_array, shape: tuple[int, int], what: str) -> None:
    require(matrix.shape == shape, f"The {what} is {matrix.shape[0]} x {matrix.shape[1]}, not {shape[0]} x {shape[1]}.")
    require(bool((matrix.data >= 0).all()), f"The {what} has a negative probability.")
    sums = matrix.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax())
    proper = bool(abs(sums[worst] - 1) < SUM_TOLERANCE)
    require(proper, f"The {what} sums to {sums[worst]:g} in state {worst}; it must sum to one.")


class PartialVector(NamedTuple):
    """A vector that is defined on some states only, and its action."""

    states: np.ndarray
    values: np.ndarray
    action: int


def outcomes(transition: sp.csr_array, observation: sp.csr_array) -> tuple[np.ndarray, ...]:
    """All outcomes of an action: state, next state, observation and probability, sorted by the first two."""
    following = transition.indices
    count = int(np.diff(observation.indptr)[following].sum())
    require_memory(100 * count, f"A model with {count:,} ways to move and observe after one action")
    which, at = entries_of_rows(observation.indptr, following)
    state = np.repeat(np.arange(transition.shape[0]), np.diff(transition.indptr))
    return state[which], following[which], observation.indices[at], transition.data[which] * observation.data[at]


def entries_of_rows(start: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stored entries of each of ``rows``, one after the other: position in ``rows``, and position in the data.

    ``start[row]`` is where those of a row start, ``indptr`` in scipy.
    """
    count = np.diff(start)[rows]
    return np.repeat(np.arange(len(rows)), count), ranges(start[rows], count)


def ranges(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """``count[i]`` numbers from ``first[i]`` on, for each i, one after the other."""
    return np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count)
