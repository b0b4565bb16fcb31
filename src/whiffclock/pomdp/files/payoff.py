"""Rewards R(a, s, s', o), given piece by piece, averaged to what an action pays in a state.

    R(a, s) = sum over s' of T_a(s, s') sum over o of O_a(s', o) R(a, s, s', o)

Only the moves that can happen are looked at: the work grows with the non-zeros of T, times the observations
where an entry names them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Payoff:
    """An entry: positions of action, state, and maybe next state and observation; values over the axes left."""

    box: Sequence[np.ndarray]
    values: np.ndarray

    def depends(self, n_states: int, n_observations: int) -> int:
        """0: the action and the state settle it; 1: the next state matters too; 2: so does the observation."""
        if len(self.box) < 4 or len(self.box[3]) < n_observations:
            return 2
        return 1 if len(self.box[2]) < n_states else 0


def expected_payoff(
    payoffs: Sequence[Payoff], transition: Sequence[sp.csr_array], observation: Sequence[sp.csr_array]
) -> np.ndarray:
    """Expected reward, float64[action, state]; later entries override earlier ones, and nothing pays nothing."""
    n_states, n_observations = observation[0].shape
    reward = np.zeros((len(transition), n_states))
    for a in range(len(transition)):
        entries = [entry for entry in payoffs if a in entry.box[0]]
        depth = max((entry.depends(n_states, n_observations) for entry in entries), default=0)
        if depth == 0:
            for entry in entries:
                reward[a, entry.box[1]] = entry.values
        else:
            paid = _paid(entries, transition[a], n_observations if depth == 2 else 1)
            if depth == 2:
                paid = (paid * observation[a].toarray()[transition[a].indices]).sum(axis=1, keepdims=True)
            moves = sp.csr_array((transition[a].data * paid[:, 0], transition[a].indices, transition[a].indptr))
            reward[a] = moves.sum(axis=1)
    return reward


def _paid(entries: Sequence[Payoff], transition: sp.csr_array, n_observations: int) -> np.ndarray:
    """What each move that can happen pays, [non-zero of the transition, observation]."""
    paid = np.zeros((transition.nnz, n_observations))
    by_next = np.argsort(transition.indices, kind="stable")
    begin = np.searchsorted(transition.indices[by_next], np.arange(transition.shape[1] + 1))
    for entry in entries:
        moves = _moves(entry, transition, by_next, begin)
        following = transition.indices[moves]
        if len(entry.box) == 2:
            paid[moves] = entry.values[following]
        elif len(entry.box) == 3 or n_observations == 1:
            paid[moves] = entry.values
        else:
            paid[np.ix_(moves, entry.box[3])] = entry.values
    return paid


def _moves(entry: Payoff, transition: sp.csr_array, by_next: np.ndarray, begin: np.ndarray) -> np.ndarray:
    """The non-zeros of the transition that ``entry`` speaks of."""
    states, following = entry.box[1], entry.box[2] if len(entry.box) > 2 else np.empty(0, dtype=np.int64)
    if len(states) < transition.shape[0]:
        moves = np.arange(transition.indptr[states[0]], transition.indptr[states[0] + 1])
        only = 0 < len(following) < transition.shape[1]
        return moves[transition.indices[moves] == following[0]] if only else moves
    if 0 < len(following) < transition.shape[1]:
        return by_next[begin[following[0]] : begin[following[0] + 1]]
    return np.arange(transition.nnz)
