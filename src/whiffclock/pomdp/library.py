"""The solver for programs: arrays or a file in, a :class:`Solution` with its policy out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whiffclock.params import require
from whiffclock.pomdp.arrays import from_arrays
from whiffclock.pomdp.blocks import BlockModel, from_pieces
from whiffclock.pomdp.files.policyfile import read_policy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solution import Solution
from whiffclock.pomdp.solver import Report
from whiffclock.pomdp.solver import solve as solve_model
from whiffclock.pomdp.tabular import TabularModel


def solve(
    T: Any,
    O: Any = None,
    R: Any = None,
    discount: float | None = None,
    b0: Any = None,
    *,
    seconds: float | None = None,
    cpu_seconds: float | None = None,
    backups: int | None = None,
    start: Path | str | None = None,
    progress: Report | None = None,
    states: Sequence[str] = (),
    actions: Sequence[str] = (),
    observations: Sequence[str] = (),
    **settings: Any,
) -> Solution:
    """Solve a POMDP by SARSOP: a policy, and bounds on the value of the initial belief.

    Parameters
    ----------
    T : (A, S, S) array_like, a sequence of A sparse (S, S) arrays, or a TabularModel
        Transitions. A model, from :func:`read` or :func:`from_arrays`, takes the place of ``T`` to ``b0``.
    O : (A, S, Z) or (S, Z) array_like, or a sequence of A sparse (S, Z) arrays
        Observations.
    R : (A, S), (A, S, S) or (A, S, S, Z) array_like, or a sequence of A sparse (S, S) arrays
        Rewards.
    discount
        Between 0 and 1, both excluded.
    b0 : (S,) array_like, optional
        Initial belief; default: uniform.
    seconds, cpu_seconds, backups
        When to stop: wall time, CPU time, number of backups. Default: after 60 seconds of wall time. Only a number of
        backups gives the same result every time.
    start
        A ``.policy`` file to continue from.
    progress
        A function that is called with the state of the solver, about ten times a second.
    states, actions, observations
        Names; default: numbers.
    **settings
        ``gap`` (stop when the bounds are this close; default 1e-3), ``megabytes``, ``sampling`` (``"mixed"``,
        ``"published"``, ``"policy"``) and ``seed``.

    Returns
    -------
    Solution

    Examples
    --------
    A tiger behind one of two doors; listening is right in 85% of the cases:

    >>> from whiffclock import pomdp
    >>> heard, unknown = [[0.85, 0.15], [0.15, 0.85]], [[0.5, 0.5], [0.5, 0.5]]
    >>> T = [[[1, 0], [0, 1]], unknown, unknown]
    >>> solution = pomdp.solve(T, [heard, unknown, unknown], [[-1, -1], [-100, 10], [10, -100]], 0.95, backups=1000)
    >>> f"{solution.lower:.2f} to {solution.upper:.2f}"
    '19.37 to 19.37'
    >>> solution.action([0.5, 0.5])
    0
    >>> solution.update([0.5, 0.5], action=0, observation=0)
    array([0.85, 0.15])
    """
    names = {"states": states, "actions": actions, "observations": observations}
    if isinstance(T, TabularModel):
        alone = all(given is None for given in (O, R, discount, b0)) and not any(map(len, names.values()))
        require(alone, "A model has its own observations, rewards, discount, initial belief and names; leave them out.")
        tables = T
    else:
        for name, given in (("O", O), ("R", R), ("discount", discount)):
            require(given is not None, f"{name} is missing; give T, O, R and discount, or a model.")
        tables = from_arrays(T, O, R, discount, b0, **names)  # type: ignore[arg-type]
    chosen = SolverSettings.limited(seconds=seconds, cpu_seconds=cpu_seconds, backups=backups, **settings)
    model = BlockModel(tables)
    before = [] if start is None else from_pieces(model, read_policy(Path(start), tables))
    return Solution(**vars(solve_model(model, chosen, before, progress)))
