"""Recovery: what a policy does after its last whiff (paper, "Characterization of trajectories in the void").

A policy with a finite-state memory has one recovery path per mode: the path from (0, 0) on a whiff, with only blanks
after it (:func:`recovery_path`). A policy with more memory has many: it searches in the plume, and at every whiff a
branch with only blanks is split off, until its downwind return is complete (R16'). The weight of a branch is the
product of Pr(blank | x_t) along it (:func:`forced_blanks`). :mod:`whiffclock.path_metrics` measures the paths.
"""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Annotated, Any

import numpy as np

from whiffclock.params import NOT_NEGATIVE, Count, LearningSettings, Settings, WorldSettings, require
from whiffclock.path_metrics import GEOMETRY, MAIN_TRUNCATION, RETURN_BEGINS, SURGE_ENDS, Truncation, geometry
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy, require_policy
from whiffclock.world.loop import search
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.starts import draw_starts
from whiffclock.world.worlds import PlumeWorld, ScriptWorld


def recovery_path(
    policy: Policy, mode: int | None = None, truncation: Truncation = MAIN_TRUNCATION, moves: int | None = None
) -> np.ndarray:
    """The path of a policy after a whiff if only blanks follow.

    Parameters
    ----------
    policy
        Any policy. One with chance moves has a path for every call.
    mode
        For a policy with several modes on a finite-state memory, which one; default: the last, for sparse odor.
    truncation
        Where the path of a trained policy ends; one of :data:`whiffclock.path_metrics.TRUNCATIONS`.
    moves
        Where it ends instead; without a training, the default is the number of states of the memory, or 500 moves.

    Returns
    -------
    numpy.ndarray
        Positions int[moves + 1, 2] from (0, 0); x grows downwind.

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.recovery_path(wc.cast_and_surge(45, length=4)).tolist()
    [[0, 0], [-1, 0], [-1, 1], [-2, 1], [-2, 0]]
    """
    require_policy(policy)
    if moves is None:
        moves = recovery_moves(policy, truncation, mode)
    require(moves >= 0, f"The number of moves is {moves}; it must be 0 or more.")
    if isinstance(policy, TablePolicy):
        return _path_of_table(policy, mode, moves)
    follows = mode is None or policy.modes == 1
    require(follows, f"The mode of a {policy.name} policy follows from what it remembers; it cannot be given.")
    return np.stack([moment.position[0] for moment in search(policy, ScriptWorld(1), moves)])


def _path_of_table(policy: TablePolicy, mode: int | None, moves: int) -> np.ndarray:
    """The path of a mode from the table, as :func:`search` would walk it."""
    nodes, onward = policy.memory.blank_nodes(mode).tolist(), policy.memory.next_node[:, 0]
    while len(nodes) < moves:
        nodes.append(int(onward[nodes[-1]]))
    steps = DISPLACEMENT[policy.actions[policy.memory.row[nodes[:moves]]]]
    return np.concatenate([[[0, 0]], np.cumsum(steps, axis=0)])


def recovery_moves(policy: Policy, truncation: Truncation, mode: int | None = None) -> int:
    """Number of moves before the truncation in a mode; for an untrained policy, the number of states of its memory.

    Nothing was learned at clock readings beyond those that the last training episodes visited.
    """
    if not isinstance(policy, TablePolicy):
        return LearningSettings.horizon
    record = policy.clock_record(policy.memory.chosen_mode(mode))
    if truncation == "none" or not record:
        return policy.memory.length
    return {
        "largest clock reading": record["largest_clock"],
        "mean clock reading": round(record["clock_sum"] / max(record["clocks"], 1)),
        "longest blank": record["longest_blank"],
        "mean blank": round(record["blank_sum"] / max(record["blanks"], 1)),
    }[truncation]


def follow_return(policy: Policy, memory: Any, steps: int) -> list[np.ndarray]:
    """Paths int[moves + 1, 2] from (0, 0) of searches with only blanks, until their downwind return is complete (R16').

    ``memory`` is their memory at (0, 0). The return begins with three downwind moves in a row and is complete before
    the next two in a row that are not downwind. A search that does not return lasts for all ``steps``.
    """
    n = len(policy.act(memory))
    paths = np.zeros((n, steps + 1, 2), dtype=np.int64)
    length = np.full(n, steps)
    down, other, returning = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
    for moment in search(policy, ScriptWorld(n), steps, memory):
        who, step = moment.search, moment.step
        paths[who, step] = moment.position
        if step == 0:
            continue
        downwind = paths[who, step, 0] > paths[who, step - 1, 0]
        down[who], other[who] = np.where(downwind, down[who] + 1, 0), np.where(downwind, 0, other[who] + 1)
        returning |= down >= RETURN_BEGINS
        moment.stop[:] = returning[who] & (other[who] >= SURGE_ENDS)
        length[who[moment.stop]] = step - SURGE_ENDS
    return [path[: end + 1] for path, end in zip(paths, length, strict=True)]


@dataclass(frozen=True)
class BranchSettings(Settings):
    """Number of searches, length of searches (steps) and branches (horizon), and seed of the starts."""

    trials: Count = 100
    steps: Count = 100
    horizon: Count = 500
    seed: Annotated[int, NOT_NEGATIVE] = 0


@dataclass(frozen=True)
class Branches:
    """Forced-blank branches of many searches."""

    metrics: np.ndarray  # float64[branch, metric], in the order of geometry.GEOMETRY; NaN where a return never began
    weight: np.ndarray  # float64[branch]: probability of its blanks
    trial: np.ndarray  # int[branch]: the search it was split off from
    step: np.ndarray  # int[branch]: when that was
    paths: list[np.ndarray]  # int64[moves + 1, 2] each: positions in the plume, from its whiff on

    def __len__(self) -> int:
        return len(self.weight)


def forced_blanks(
    policy: Policy,
    plume: Plume,
    threshold: float,
    world: WorldSettings | None = None,
    settings: BranchSettings | None = None,
    progress: Callable[[int], None] | None = None,
) -> Branches:
    """Search ``settings.trials`` times, with a branch of blanks from every whiff; ``progress(1)`` after every step."""
    world, settings = plume.settle(world), settings or BranchSettings()
    whiffs = plume.whiffs(threshold)
    blank = 1 - whiffs.probability()
    rng = np.random.default_rng(settings.seed)
    points = draw_starts(plume, threshold, world, settings.trials, settings.steps, rng)
    trial: list[int] = []
    step: list[int] = []
    paths: list[np.ndarray] = []
    for moment in search(policy, PlumeWorld(whiffs.world(world), points), settings.steps):
        smelled = np.flatnonzero(np.asarray(moment.whiff))
        if len(smelled):
            found = follow_return(policy, policy.select(moment.memory, smelled), settings.horizon)
            paths += [place + path for place, path in zip(moment.position[smelled, :2], found, strict=True)]
            trial += moment.search[smelled].tolist()
            step += [moment.step] * len(smelled)
        if progress is not None:
            progress(1)
    metrics = np.array([astuple(geometry(path)) for path in paths], dtype=float).reshape(-1, len(GEOMETRY))
    weight = np.array([blank_probability(path, blank) for path in paths])
    return Branches(metrics, weight, np.array(trial, dtype=np.int64), np.array(step, dtype=np.int64), paths)


def blank_probability(path: np.ndarray, blank: np.ndarray) -> float:
    """Product of Pr(blank | x_t) along a path after its first position; off the grid, blanks are certain."""
    x, y = path[1:].T
    inside = (x >= 0) & (x < blank.shape[0]) & (y >= 0) & (y < blank.shape[1])
    return float(np.prod(blank[x[inside], y[inside]]))
