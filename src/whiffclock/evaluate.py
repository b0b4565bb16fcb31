"""A policy on a plume: every start, per-start records, and G, T_min/T, f+ (paper, "Evaluation").

Starts are all cells of D_init, each at several snapshots stratified over the record; they depend on the
plume and the settings alone, so every policy meets the same turbulence (R11).

Standard errors are over the time strata: one mean over all cells per stratum, and the spread of those
means. Searches that start at about the same time see the same whiffs and are not independent; counting
each as a sample of its own would promise too much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whiffclock.episode import N_ACTIONS, World, rollout, smell_all, step_all
from whiffclock.params import ClockSettings, EvaluationSettings, WorldSettings, require
from whiffclock.plume import Plume
from whiffclock.policy import ClockPolicy, Policy

#: Searches that a policy with a memory of its own makes side by side.
_SIDE_BY_SIDE = 8192

METRICS = ("G", "T_min/T", "f+", "G_sum")


@dataclass(frozen=True)
class Starts:
    """Where and when searches begin: int32[n, 3] (x, y, snapshot), the time stratum of each, T_min."""

    points: np.ndarray
    stratum: np.ndarray
    shortest: np.ndarray

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Evaluation:
    """What happened from every start.

    Attributes
    ----------
    arrival
        Steps until the source; 0 on failure.
    last_whiff
        int32[n, 3]: x, y and step of the last whiff of the search; step -1 where there was none.
    mode_steps
        Decisions taken in each mode, int32[n, mode].
    occupancy
        Decisions taken per mode and cell, int64[mode, x, y]; the usage map is its share per cell.
    """

    policy: str
    threshold: float
    starts: Starts
    settings: EvaluationSettings
    horizon: int
    arrival: np.ndarray
    last_whiff: np.ndarray
    mode_steps: np.ndarray
    occupancy: np.ndarray
    plume: str = ""
    _summary: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)

    @property
    def arrived(self) -> np.ndarray:
        """Whether each search found the source."""
        return self.arrival > 0

    def per_start(self, metric: str) -> np.ndarray:
        """One value per start for a name in :data:`METRICS`.

        ``G`` is the discounted return, ``G_sum`` the undiscounted sum of the same rewards (R12).
        """
        gamma, t = self.settings.gamma, np.maximum(self.arrival, 1)
        if metric == "G":
            return np.where(self.arrived, 2 * gamma ** (t - 1) - 1, gamma**self.horizon - 1)
        if metric == "G_sum":
            return np.where(self.arrived, 1 - (1 - gamma) * (t - 1), -(1 - gamma) * self.horizon)
        if metric == "T_min/T":
            return np.where(self.arrived, self.starts.shortest / t, 0.0)
        if metric == "f+":
            return self.arrived.astype(np.float64)
        raise KeyError(metric)

    def mean(self, metric: str) -> float:
        """Mean over all starts."""
        return self._moments(metric)[0]

    def standard_error(self, metric: str) -> float:
        """Standard error of the mean over time strata; NaN with a single stratum."""
        return self._moments(metric)[1]

    def _moments(self, metric: str) -> tuple[float, float]:
        if metric not in self._summary:
            values = self.per_start(metric)
            counts = np.bincount(self.starts.stratum)
            means = np.bincount(self.starts.stratum, weights=values) / counts
            spread = float(means.std(ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan
            self._summary[metric] = float(values.mean()), spread
        return self._summary[metric]

    def lost_at(self) -> np.ndarray:
        """x of the last whiff of each search that failed after smelling something."""
        lost = ~self.arrived & (self.last_whiff[:, 2] >= 0)
        return self.last_whiff[lost, 0]

    def usage(self) -> np.ndarray:
        """Share of decisions in each mode per cell, float[mode, x, y]; NaN where nobody went."""
        total = self.occupancy.sum(axis=0)
        with np.errstate(invalid="ignore"):
            return self.occupancy / np.where(total > 0, total, np.nan)

    def to_dict(self) -> dict[str, Any]:
        """Summary in plain values."""
        return {
            "policy": self.policy,
            "plume": self.plume,
            "threshold": self.threshold,
            "starts": len(self.starts),
            "horizon": self.horizon,
            "settings": self.settings.to_dict(),
            **{
                metric: {"mean": self.mean(metric), "standard_error": none_if_nan(self.standard_error(metric))}
                for metric in METRICS
            },
            "mode_share": (self.mode_steps.sum(axis=0) / self.mode_steps.sum()).tolist(),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """The per-start records, for saving."""
        return {
            "starts": self.starts.points,
            "stratum": self.starts.stratum,
            "shortest": self.starts.shortest,
            "arrival": self.arrival,
            "last_whiff": self.last_whiff,
            "mode_steps": self.mode_steps,
            "occupancy": self.occupancy,
        }


def none_if_nan(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else value


def make_starts(
    plume: Plume, threshold: float, world: WorldSettings, settings: EvaluationSettings, horizon: int
) -> Starts:
    """All cells of D_init, ``settings.snapshots`` times each."""
    cells = plume.starts(threshold, world)
    snapshots, strata = plume.field.shape[0], settings.snapshots
    if world.end_of_record == "avoid":
        snapshots -= horizon
        require(
            snapshots >= 1,
            f"The record has {plume.field.shape[0]} snapshots; searches of {horizon} steps that avoid its "
            "end need more than that.",
        )
    require(
        strata <= snapshots,
        f"{strata} start snapshots per cell were asked for, but there are only {snapshots} to start from.",
    )
    rng = np.random.default_rng(settings.seed)
    offset = rng.random((strata, len(cells)))
    stratum = np.repeat(np.arange(strata), len(cells))
    edges = np.arange(strata + 1) * snapshots // strata
    widths = np.diff(edges)
    time = (edges[:-1, None] + np.floor(offset * widths[:, None])).astype(np.int32).ravel()
    where = np.tile(cells, (strata, 1))
    if world.start_on_whiff:
        time = _move_to_whiffs(plume, threshold, where, time, snapshots)
    shortest = np.tile(shortest_arrival(cells, plume.source, world.radius), strata)
    return Starts(np.column_stack([where, time]).astype(np.int32), stratum, shortest)


def _move_to_whiffs(plume: Plume, threshold: float, cells: np.ndarray, time: np.ndarray, snapshots: int) -> np.ndarray:
    """Each start's next snapshot with a whiff in its cell, around the record."""
    moved, record = time.copy(), plume.whiffs(threshold)
    for cell in np.unique(cells, axis=0):
        here = (cells == cell).all(axis=1)
        whiffs = np.flatnonzero(record.series(cell[0], cell[1])[:snapshots])
        require(
            len(whiffs) > 0,
            f"Cell ({cell[0]}, {cell[1]}) has no whiff among the {snapshots} snapshots to start from.",
        )
        moved[here] = whiffs[np.searchsorted(whiffs, time[here]) % len(whiffs)]
    return moved


def shortest_arrival(cells: np.ndarray, source: tuple[int, int], radius: float) -> np.ndarray:
    """T_min: fewest moves from each cell into the source disc."""
    reach = np.arange(-int(radius), int(radius) + 1)
    disc = np.array([(dx, dy) for dx in reach for dy in reach if dx * dx + dy * dy <= radius**2])
    offsets = cells[:, None, :] - np.array(source) - disc[None]
    return np.abs(offsets).sum(axis=2).min(axis=1)


def evaluate(
    policy: Policy,
    plume: Plume,
    threshold: float,
    world: WorldSettings | None = None,
    settings: EvaluationSettings | None = None,
    starts: Starts | None = None,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Search with ``policy`` from every start, without exploration; ``progress`` hears of searches that ended."""
    world, settings = world or WorldSettings(), settings or EvaluationSettings()
    horizon = settings.horizon or own_horizon(policy)
    require_fit(policy, world)
    if starts is None:
        starts = make_starts(plume, threshold, world, settings, horizon)
    grid = plume.field.shape[1:]
    n = len(starts)
    arrival = np.zeros(n, dtype=np.int32)
    last_whiff = np.zeros((n, 3), dtype=np.int32)
    mode_steps = np.zeros((n, policy.modes), dtype=np.int32)
    occupancy = np.zeros((policy.modes, *grid), dtype=np.int64)
    records = (arrival, last_whiff, mode_steps, occupancy)
    kernel_world = plume.whiffs(threshold).world(world)
    if isinstance(policy, ClockPolicy):
        rollout(kernel_world, policy.tables, policy.actions, starts.points, horizon, *records)
        if progress is not None:
            progress(n)
    else:
        rollout_any(kernel_world, policy, starts.points, horizon, *records, progress)
    return Evaluation(policy.name, threshold, starts, settings, horizon, *records, plume=plume.fingerprint)


def own_horizon(policy: Policy) -> int:
    """Steps that a policy is allowed by default: the H of its clock, or that of the paper."""
    return policy.clock.horizon if isinstance(policy, ClockPolicy) else ClockSettings.horizon


def require_fit(policy: Policy, world: WorldSettings) -> None:
    """Refuse a policy that was trained for another source region."""
    if "world" in policy.made_from:
        trained = WorldSettings.from_dict(policy.made_from["world"]).radius
        require(
            trained == world.radius,
            f"This {policy.name} policy was trained with a source radius of {trained:g}, but the world has "
            f"{world.radius:g}; give both the same radius.",
        )


def rollout_any(
    world: World,
    policy: Policy,
    points: np.ndarray,
    horizon: int,
    arrival: np.ndarray,
    last_whiff: np.ndarray,
    mode_steps: np.ndarray,
    occupancy: np.ndarray,
    progress: Callable[[int], None] | None = None,
) -> None:
    """What the rollout kernel does, for a policy with a memory of its own, many searches in step.

    ``progress`` hears of searches that have ended.
    """
    for first in range(0, len(points), _SIDE_BY_SIDE):
        some = slice(first, first + _SIDE_BY_SIDE)
        records = arrival[some], last_whiff[some], mode_steps[some], occupancy
        _rollout_some(world, policy, points[some].astype(np.int64), horizon, *records, progress or (lambda n: None))


def _rollout_some(
    world: World,
    policy: Policy,
    position: np.ndarray,
    horizon: int,
    arrival: np.ndarray,
    last_whiff: np.ndarray,
    mode_steps: np.ndarray,
    occupancy: np.ndarray,
    progress: Callable[[int], None],
) -> None:
    search = np.arange(len(position))  # those still under way
    arrived, whiff = np.zeros(len(position), dtype=bool), np.zeros(len(position), dtype=bool)
    smell_all(world, position, whiff)
    memory = policy.begin(whiff)
    last_whiff[:, 2] = -1
    for step in range(horizon + 1):
        smelled = search[whiff]
        last_whiff[smelled, :2], last_whiff[smelled, 2] = position[whiff, :2], step
        if step == horizon or not len(search):
            break
        mode = policy.mode(memory)
        mode_steps[search, mode] += 1
        x, y = position[:, 0], position[:, 1]
        on_grid = (x >= 0) & (x < occupancy.shape[1]) & (y >= 0) & (y < occupancy.shape[2])
        np.add.at(occupancy, (mode[on_grid], x[on_grid], y[on_grid]), 1)
        action = policy.act(memory)
        require(
            bool(((action >= 0) & (action < N_ACTIONS)).all()),
            f"The policy {policy.name} chose an action that is none; actions are 0 to {N_ACTIONS - 1}.",
        )
        step_all(world, position, action, np.ones(len(search), dtype=bool), arrived, whiff)
        if arrived.any():
            arrival[search[arrived]] = step + 1
            progress(int(arrived.sum()))
            on = ~arrived
            memory = policy.select(memory, np.flatnonzero(on))
            search, position, action, whiff, arrived = search[on], position[on], action[on], whiff[on], arrived[on]
        if len(search):
            memory = policy.observe(memory, action, whiff)
    progress(len(search))
