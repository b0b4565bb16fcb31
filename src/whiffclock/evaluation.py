"""Evaluation of a policy on a plume: a search from every start, and G, T_min/T, f+ (paper, "Evaluation").

Starts are all cells of D_init, each at several snapshots stratified over the record; they depend on the plume and the
settings only, so every policy is tested in the same turbulence (R11). Standard errors are over the time strata:
searches that start at about the same time meet the same whiffs and are not independent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.formatting import nan_to_null
from whiffclock.params import EvaluationSettings, LearningSettings, WorldSettings, cut_at, require
from whiffclock.plume import Plume
from whiffclock.policy import Policy, TablePolicy, require_policy
from whiffclock.world import reward
from whiffclock.world.episode import PART, World, rollout
from whiffclock.world.loop import SearchWorld, modes_of, search
from whiffclock.world.robot import RobotSettings
from whiffclock.world.starts import Starts, make_starts
from whiffclock.world.worlds import PlumeWorld, RobotWorld, cells_of

if TYPE_CHECKING:
    import xarray as xr

#: Searches that a policy without tables makes at the same time, unless it has a number ``at_once`` that is smaller.
_SIDE_BY_SIDE = 8192


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The result of a search from every start."""

    policy: str
    threshold: float
    starts: Starts
    settings: EvaluationSettings
    horizon: int
    arrival: np.ndarray  # int32[n]: steps until the source; 0 on failure
    last_whiff: np.ndarray  # int32[n, 3]: x, y and step of the last whiff; step -1 where there was none
    mode_steps: np.ndarray  # int32[n, mode]: decisions taken in each mode
    occupancy: np.ndarray  # int64[mode, x, y]: decisions taken per mode and cell
    plume: str = ""  # its fingerprint
    environment: str = ""  # its name, or the threshold

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Evaluation) or self.to_dict() != other.to_dict():
            return False
        mine, others = self.arrays(), other.arrays()
        return all(np.array_equal(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((self.policy, self.plume, self.threshold, self.arrival.tobytes()))

    def __repr__(self) -> str:
        means = ", ".join(f"{metric} {self.mean(metric):.3f}" for metric in ("G", "T_min/T", "f+"))
        return f"Evaluation({self.policy} in {self.environment}: {means}; {len(self.starts)} searches)"

    @property
    def arrived(self) -> np.ndarray:
        """Whether each search found the source."""
        return self.arrival > 0

    @property
    def steps(self) -> np.ndarray:
        """Steps until the source; 1 on failure, to avoid division by zero."""
        return np.maximum(self.arrival, 1)

    def per_start(self, metric: str) -> np.ndarray:
        """One value per start for a name in :data:`METRICS`."""
        return METRICS[metric](self)

    def mean(self, metric: str) -> float:
        """Mean over all starts."""
        return float(self.per_start(metric).mean())

    def standard_error(self, metric: str) -> float:
        """Standard error of the mean over time strata; NaN with a single stratum."""
        means = self._by_stratum(self.per_start(metric))
        return float(means.std(ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else math.nan

    def gain(self, other: Evaluation, metric: str) -> dict[str, float]:
        """Mean difference from another evaluation on the same starts, and its 95% interval over time strata."""
        from scipy.stats import t

        gained = self._by_stratum(self.per_start(metric) - other.per_start(metric))
        free = len(gained) - 1
        error = float(t.ppf(0.975, free) * gained.std(ddof=1)) / math.sqrt(free + 1) if free else math.nan
        mean = float(gained.mean())
        return {"mean": mean, "low": mean - error, "high": mean + error}

    def strata(self, some: np.ndarray | None = None) -> np.ndarray:
        """float[stratum, metric]: means over the starts of each time stratum, or over ``some`` of the starts."""
        return np.stack([self._by_stratum(self.per_start(metric), some) for metric in METRICS], axis=1)

    def _by_stratum(self, values: np.ndarray, some: np.ndarray | None = None) -> np.ndarray:
        """float[stratum]: means of a value per start."""
        chosen = slice(None) if some is None else some
        _, stratum = np.unique(self.starts.stratum[chosen], return_inverse=True)
        return np.bincount(stratum, weights=values[chosen]) / np.bincount(stratum)

    @property
    def lost(self) -> np.ndarray:
        """Whether each search failed after at least one whiff."""
        *_, step = self.last_whiff.T
        return ~self.arrived & (step >= 0)

    def lost_at(self) -> np.ndarray:
        """x of the last whiff of each search that failed after at least one whiff."""
        x, _, _ = self.last_whiff.T
        return x[self.lost]

    def to_dict(self) -> dict[str, Any]:
        """Summary in plain values."""
        errors = {metric: nan_to_null(self.standard_error(metric)) for metric in METRICS}
        return {
            "policy": self.policy,
            "plume": self.plume,
            "threshold": self.threshold,
            "starts": len(self.starts),
            "horizon": self.horizon,
            "settings": self.settings.to_dict(),
            **{metric: {"mean": self.mean(metric), "standard_error": error} for metric, error in errors.items()},
            "mode_share": (self.mode_steps.sum(axis=0) / self.mode_steps.sum()).tolist(),
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """The per-start records, for saving."""
        starts = {"starts": self.starts.points, "stratum": self.starts.stratum, "shortest": self.starts.shortest}
        return starts | {name: getattr(self, name) for name in ("arrival", "last_whiff", "mode_steps", "occupancy")}

    def to_xarray(self) -> xr.Dataset:
        """The per-start records and metrics with names, and the summary in the attribute ``summary``, as JSON."""
        import xarray as xr

        x, y, snapshot = self.starts.points.T
        last_x, last_y, last_step = self.last_whiff.T
        columns = {"x": x, "y": y, "snapshot": snapshot, "stratum": self.starts.stratum, "arrival": self.arrival}
        columns |= {"last_whiff_x": last_x, "last_whiff_y": last_y, "last_whiff_step": last_step}
        columns |= {metric: self.per_start(metric) for metric in METRICS}
        made = xr.Dataset({name: ("start", values) for name, values in columns.items()})
        made["mode_steps"] = ("start", "mode"), self.mode_steps
        made["occupancy"] = ("mode", "cell_x", "cell_y"), self.occupancy
        made = made.set_coords(["x", "y", "snapshot", "stratum"])
        return made.assign_attrs(summary=json.dumps(self.to_dict()))


#: Metrics of searches by name: from an evaluation to float[start]. ``G`` is the discounted reward, ``G_sum`` the
#: undiscounted sum of the same rewards (R12).
METRICS: dict[str, Callable[[Evaluation], np.ndarray]] = {
    "G": lambda result: reward.discounted_reward(result.arrival, result.horizon, result.settings.gamma),
    "T_min/T": lambda result: np.where(result.arrived, result.starts.shortest / result.steps, 0.0),
    "f+": lambda result: result.arrived.astype(np.float64),
    "G_sum": lambda result: reward.summed_reward(result.arrival, result.horizon, result.settings.gamma),
}


def evaluate(
    policy: Policy,
    plume: Plume,
    threshold: float,
    world: WorldSettings | None = None,
    settings: EvaluationSettings | None = None,
    starts: Starts | None = None,
    progress: Callable[[int], None] | None = None,
    robot: RobotSettings | None = None,
) -> Evaluation:
    """Search with ``policy`` from every start, without exploration; ``progress`` is called with searches that ended."""
    require_policy(policy)
    world, settings = plume.settle(world), settings or EvaluationSettings()
    robot = (robot or RobotSettings()).settle(plume)
    horizon = settings.horizon or own_horizon(policy)
    require_fit(policy, world)
    if starts is None:
        starts = make_starts(plume, threshold, world, settings, horizon).at_speed(robot.stride)
    cut = cut_at(settings.after, plume.field.shape[0])
    n, points = len(starts), starts.later(-cut).points
    arrival, last_whiff, mode_steps = (np.zeros(shape, dtype=np.int32) for shape in (n, (n, 3), (n, policy.modes)))
    occupancy = np.zeros((policy.modes, *plume.field.shape[1:]), dtype=np.int64)
    records = arrival, last_whiff, mode_steps, occupancy
    kernel_world = plume.whiffs(threshold).between(cut).world(world)
    progress = progress or (lambda searches: None)
    side_by_side = min(_SIDE_BY_SIDE, getattr(policy, "at_once", _SIDE_BY_SIDE))
    compiled = isinstance(policy, TablePolicy) and not robot.exists
    at_once = max(1, PART // horizon) if compiled else side_by_side
    for first in range(0, n, at_once):
        some = slice(first, first + at_once)
        part = arrival[some], last_whiff[some], mode_steps[some], occupancy
        if isinstance(policy, TablePolicy) and compiled:
            rollout(kernel_world, policy.memory.tables, policy.actions, points[some], horizon, *part)
            progress(len(points[some]))
        else:
            place = world_of(kernel_world, points[some], robot, world.radius)
            _rollout_any(place, policy, horizon, part, progress, robot)
    where = plume.fingerprint, plume.environments.name_of(threshold)
    return Evaluation(policy.name, threshold, starts, settings, horizon, *records, *where)


def world_of(world: World, points: np.ndarray, robot: RobotSettings, radius: float) -> SearchWorld:
    """The world of some searches in a plume, on the grid or as robots."""
    return RobotWorld(world, points, robot, radius) if robot.exists else PlumeWorld(world, points)


def own_horizon(policy: Policy) -> int:
    """Default horizon of a policy: that of its training, or of the trainings of its parts, or the paper's 500."""
    parts = [policy.made_from, *(policy.made_from.get(name) or {} for name in ("dense", "sparse"))]
    made = [part.get(how) or {} for part in parts for how in ("learning", "optimize")]
    return max(settings.get("horizon") or 0 for settings in made) or LearningSettings.horizon


def require_fit(policy: Policy, world: WorldSettings) -> None:
    """Refuse a policy that was trained for another source region."""
    if "world" in policy.made_from:
        trained, radius = WorldSettings.from_dict(policy.made_from["world"]).radius, world.radius
        sentence = f"This {policy.name} policy was trained with a source radius of {trained:g}, but the world has"
        require(trained == radius, f"{sentence} {radius:g}; give both the same radius.")


def _rollout_any(
    world: SearchWorld,
    policy: Policy,
    horizon: int,
    records: tuple[np.ndarray, ...],
    progress: Callable[[int], None],
    robot: RobotSettings,
) -> None:
    """The same as the rollout kernel, for any policy; arrivals and last whiffs of robots are counted in snapshots."""
    arrival, last_whiff, mode_steps, occupancy = records
    last_x, last_y, last_step = last_whiff.T
    last_step[:] = -1
    _, length, width = occupancy.shape
    decisions = robot.decisions(horizon)
    for moment in search(policy, world, decisions):
        time = moment.step * robot.every
        arrival[moment.arrived] = time
        progress(len(moment.arrived))
        x, y = cells_of(moment.position)
        whiff = np.asarray(moment.whiff)
        smelled = moment.search[whiff]
        last_x[smelled], last_y[smelled], last_step[smelled] = x[whiff], y[whiff], time
        if moment.step == decisions or not len(moment.search):
            break
        mode = modes_of(policy, moment)
        mode_steps[moment.search, mode] += 1
        on_grid = (x >= 0) & (x < length) & (y >= 0) & (y < width)
        np.add.at(occupancy, (mode[on_grid], x[on_grid], y[on_grid]), 1)
    progress(len(moment.search))
