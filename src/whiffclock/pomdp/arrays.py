"""POMDPs from arrays: NumPy's, SciPy's sparse ones, or nested lists."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from whiffclock.params import InputError, require, require_memory
from whiffclock.pomdp.tabular import SUM_TOLERANCE, TabularModel, check_initial

_LAYOUTS = {2: "(A, S)", 3: "(A, S, S)", 4: "(A, S, S, Z)"}


def from_arrays(
    T: Any,
    O: Any,
    R: Any,
    discount: float,
    b0: Any = None,
    *,
    states: Sequence[str] = (),
    actions: Sequence[str] = (),
    observations: Sequence[str] = (),
) -> TabularModel:
    """A POMDP with A actions, S states and Z observations.

    Parameters
    ----------
    T : (A, S, S) array_like, or a sequence of A sparse (S, S) arrays
        ``T[a, s, t]`` is the probability that action ``a`` leads from state ``s`` to ``t``.
    O : (A, S, Z) or (S, Z) array_like, or a sequence of A sparse (S, Z) arrays, or one
        ``O[a, t, z]`` is the probability of observation ``z`` after action ``a`` has led to ``t``; without the first
        axis it is the same after all actions.
    R : (A, S), (A, S, S) or (A, S, S, Z) array_like, or a sequence of A sparse (S, S) arrays
        Reward of action ``a`` in state ``s``, or of the step to state ``t``, perhaps with observation ``z``.
    discount
        Between 0 and 1, both excluded.
    b0 : (S,) array_like, optional
        Initial belief; default: uniform.
    states, actions, observations
        Names, for files and graphs; default: numbers.

    Returns
    -------
    TabularModel
        Rows that sum to one within 1e-4 are rescaled.

    Raises
    ------
    InputError
        If a shape does not fit, or probabilities are negative or do not sum to one.

    Examples
    --------
    >>> from whiffclock import pomdp
    >>> heard, unknown = [[0.85, 0.15], [0.15, 0.85]], [[0.5, 0.5], [0.5, 0.5]]
    >>> T = [[[1, 0], [0, 1]], unknown, unknown]
    >>> tiger = pomdp.from_arrays(T, [heard, unknown, unknown], [[-1, -1], [-100, 10], [10, -100]], 0.95)
    >>> tiger.reward.shape
    (3, 2)
    """
    moves = _matrices("T", T, "(A, S, S)")
    n_actions, n = len(moves), moves[0].shape[0]
    seen = [_matrix("O", O)] * n_actions if _depth(O) == 2 else _matrices("O", O, "(A, S, Z) or (S, Z)")
    require(len(seen) == n_actions, f"O has {len(seen)} actions and T {n_actions}; both must have the same.")
    for a, (move, see) in enumerate(zip(moves, seen, strict=True)):
        require(move.shape == (n, n), f"T[{a}] has the shape {move.shape}; it must be ({n}, {n}), state by next state.")
        shape = (n, seen[0].shape[1])
        require(see.shape == shape, f"O[{a}] has the shape {see.shape}; it must be {shape}, next state by observation.")
    initial = np.full(n, 1 / n) if b0 is None else check_initial(_numbers("b0", b0), n)
    names = tuple(states), tuple(actions), tuple(observations)
    transition, observation = tuple(map(_rescaled, moves)), tuple(map(_rescaled, seen))
    reward = _expected(R, transition, observation)
    return TabularModel(transition, observation, reward, initial, _discount(discount), *names)


def _discount(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"The discount is {value!r}; it must be a number between 0 and 1.") from None


def _depth(values: Any) -> int:
    """Number of axes; of a sequence, one more than that of its first part."""
    depth = getattr(values, "ndim", None)
    if depth is None:
        depth = 1 + _depth(values[0]) if isinstance(values, Sequence) and len(values) else 0
    return int(depth)


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is not an array of numbers; its rows must be equally long.") from None
    require(bool(np.isfinite(array).all()), f"{name} has a value that is not finite.")
    return array


def _matrix(name: str, values: Any) -> sp.csr_array:
    if not sp.issparse(values):
        values = _numbers(name, values)
        require(values.ndim == 2, f"{name} has {values.ndim} axes; it must have 2.")
    require(values.shape[0] > 0 and values.shape[1] > 0, f"{name} is empty.")
    matrix = sp.csr_array(values, dtype=np.float64, copy=True)
    require(bool(np.isfinite(matrix.data).all()), f"{name} has a value that is not finite.")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _matrices(name: str, values: Any, shape: str) -> list[sp.csr_array]:
    stacked = not sp.issparse(values) and _depth(values) == 3 and len(values) > 0
    require(stacked, f"{name} must have the shape {shape}, or be a sequence with a matrix for each action.")
    return [_matrix(f"{name}[{a}]", matrix) for a, matrix in enumerate(values)]


def _rescaled(matrix: sp.csr_array) -> sp.csr_array:
    """Rows that nearly sum to one sum to one; the others stay, to be refused."""
    sums = matrix.sum(axis=1)
    near = (np.abs(sums - 1) < SUM_TOLERANCE) & (sums > 0)
    matrix.data /= np.repeat(np.where(near, sums, 1.0), np.diff(matrix.indptr))
    return matrix


def _expected(R: Any, transition: Sequence[sp.csr_array], observation: Sequence[sp.csr_array]) -> np.ndarray:
    """Expected reward, float64[action, state]."""
    n_actions, (n, n_seen) = len(transition), observation[0].shape
    if isinstance(R, Sequence) and any(map(sp.issparse, R)):
        parts: list[Any] = [_matrix(f"R[{a}]", part) for a, part in enumerate(R)]
        shape: tuple[int, ...] = (len(parts), *parts[0].shape)
        require(all(part.shape == (n, n) for part in parts), f"Each matrix in R must have the shape ({n}, {n}).")
    else:
        parts = list(array := _numbers("R", R)) if _depth(R) in _LAYOUTS else []
        shape = array.shape if parts else ()
    wanted = (n_actions, n, n, n_seen)[: len(shape)]
    allowed = " or ".join(f"{text} = {(n_actions, n, n, n_seen)[:k]}" for k, text in _LAYOUTS.items())
    require(bool(parts) and shape == wanted, f"R has the shape {shape or np.shape(R)}; it must be {allowed}.")
    if len(shape) == 2:
        return np.array(parts)
    if len(shape) == 4:
        require_memory(8 * n * n * n_seen, "Rewards of every step and observation")
        parts = [np.einsum("to,sto->st", seen.toarray(), part) for seen, part in zip(observation, parts, strict=True)]
    paid = [(move * sp.csr_array(part)).sum(axis=1) for move, part in zip(transition, parts, strict=True)]
    return np.array(paid, dtype=np.float64)
