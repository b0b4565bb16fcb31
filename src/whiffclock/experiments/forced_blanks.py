"""Recovery ensembles: what a policy does in the void, given what it had smelled before (paper, Methods).

A policy that remembers more than a clock has no single void trajectory. So it searches in the plume, and at
every whiff a branch is split off that smells nothing more; its path is kept until its downwind return is
complete (R17). A long blank in the middle of a plume is implausible: the weight of a branch is the probability
of its blanks, the product of Pr(blank | x_t) along the path.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

import numpy as np

from whiffclock.episode import smell_all, step_all
from whiffclock.geometry import Geometry, geometry
from whiffclock.params import Settings, WorldSettings, require
from whiffclock.plume import Plume
from whiffclock.policy import Policy
from whiffclock.recovery import follow_return

METRICS = tuple(f.name for f in fields(Geometry))


@dataclass(frozen=True)
class BranchSettings(Settings):
    """How many searches, how long they and their branches last, and the seed of their starts."""

    trials: int = 100
    steps: int = 100
    horizon: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("trials", "steps", "horizon"):
            value = getattr(self, name)
            require(value >= 1, f"{name} is {value}; it must be at least 1.")
        require(self.seed >= 0, f"The seed is {self.seed}; it must be 0 or more.")


@dataclass(frozen=True)
class Branches:
    """Forced-blank branches of many searches.

    Attributes
    ----------
    metrics
        float64[branch, metric], in the order of :data:`METRICS`; NaN where a return never began.
    weight
        Probability of the branch's blanks, float64[branch].
    trial, step
        Which search a branch was split off from, and when.
    at
        Where: x and y in the plume.
    paths
        Positions of each branch, int64[moves + 1, 2], from its whiff on.
    """

    metrics: np.ndarray
    weight: np.ndarray
    trial: np.ndarray
    step: np.ndarray
    at: np.ndarray
    paths: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.weight)


def forced_blanks(
    policy: Policy,
    plume: Plume,
    threshold: float,
    world: WorldSettings | None = None,
    settings: BranchSettings | None = None,
) -> Branches:
    """Search ``settings.trials`` times, and follow a branch of blanks from every whiff."""
    world, settings = world or WorldSettings(), settings or BranchSettings()
    blank = 1 - plume.whiffs(threshold).probability()
    kernel_world = plume.whiffs(threshold).world(world)
    position = _starts(plume, threshold, world, settings)
    trial = np.arange(len(position))
    whiff, arrived = np.zeros(len(trial), dtype=bool), np.zeros(len(trial), dtype=bool)
    smell_all(kernel_world, position, whiff)
    memory = policy.begin(whiff)
    rows: list[tuple[int, int, np.ndarray]] = []
    for step in range(settings.steps + 1):
        smelled = np.flatnonzero(whiff)
        if len(smelled):
            paths = follow_return(policy, policy.select(memory, smelled), settings.horizon)
            rows += [(int(trial[i]), step, position[i, :2] + path) for i, path in zip(smelled, paths, strict=True)]
        if step == settings.steps or not len(trial):
            break
        action = policy.act(memory)
        step_all(kernel_world, position, action, np.ones(len(trial), dtype=bool), arrived, whiff)
        on = ~arrived
        memory = policy.select(memory, np.flatnonzero(on))
        trial, position, action, whiff, arrived = trial[on], position[on], action[on], whiff[on], arrived[on]
        if len(trial):
            memory = policy.observe(memory, action, whiff)
    return _described(rows, blank)


def _starts(plume: Plume, threshold: float, world: WorldSettings, settings: BranchSettings) -> np.ndarray:
    """Starts drawn from the start cells and the snapshots, int64[trial, 3]."""
    rng = np.random.default_rng(settings.seed)
    cells = plume.starts(threshold, world)
    chosen = cells[rng.integers(len(cells), size=settings.trials)]
    time = rng.integers(plume.field.shape[0], size=settings.trials)
    return np.column_stack([chosen, time]).astype(np.int64)


def _described(rows: list[tuple[int, int, np.ndarray]], blank: np.ndarray) -> Branches:
    metrics = [list(asdict(geometry(path)).values()) for _, _, path in rows]
    return Branches(
        metrics=np.array(metrics, dtype=np.float64).reshape(len(rows), len(METRICS)),
        weight=np.array([blank_probability(path, blank) for _, _, path in rows]),
        trial=np.array([trial for trial, _, _ in rows], dtype=np.int64),
        step=np.array([step for _, step, _ in rows], dtype=np.int64),
        at=np.array([path[0] for _, _, path in rows], dtype=np.int64).reshape(len(rows), 2),
        paths=[path for _, _, path in rows],
    )


def blank_probability(path: np.ndarray, blank: np.ndarray) -> float:
    """Product of Pr(blank | x_t) along a path after its first position; certain off the grid."""
    x, y = path[1:].T
    inside = (x >= 0) & (x < blank.shape[0]) & (y >= 0) & (y < blank.shape[1])
    return float(np.prod(blank[x[inside], y[inside]]))
