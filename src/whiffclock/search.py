"""The search loop: any policy, in any world, many searches at the same time.

A *world* moves searches and gives them observations. There are three: the record of a plume, independent whiffs with
given probabilities, and a script of whiffs and blanks. :func:`search` yields a :class:`Moment` before every move, which
evaluation, drawings and branches read. The kernel :func:`whiffclock.episode.rollout` does the same for table policies
in a plume, faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from whiffclock.episode import N_ACTIONS, World, smell_all, step_all
from whiffclock.params import InputError, WorldSettings, require
from whiffclock.plume import Plume
from whiffclock.policy import MOVES as MOVES_BY_ACTION
from whiffclock.policy import Policy

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

#: Displacement (x, y) of each action, as an array.
MOVES = np.array(MOVES_BY_ACTION)


class SearchWorld(Protocol):
    """The interface of a world; ``position`` has one row per unfinished search."""

    position: np.ndarray

    def begin(self) -> np.ndarray | None:
        """First observation bool[n]; None if searches move before the first one."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Move all searches; returns arrived bool[n], whiff bool[n]."""


@dataclass
class Moment:
    """All searches after ``step`` moves."""

    step: int
    search: np.ndarray  # int[n]: numbers of the unfinished searches
    position: np.ndarray  # their positions
    whiff: np.ndarray | None  # their observations; None before the first one
    memory: Any  # their memory
    arrived: np.ndarray  # numbers of the searches that reached the source with the last move
    arrived_at: np.ndarray  # their positions
    arrived_whiff: np.ndarray  # the observations there
    stop: np.ndarray  # bool[n], False; the caller may set it, to end searches here


def search(policy: Policy, world: SearchWorld, horizon: int, memory: Any = None) -> Iterator[Moment]:
    """Search for at most ``horizon`` moves; yields the moments 0, 1, ... until all searches have ended.

    ``memory`` is the initial memory of the searches; by default they begin with the first observation. If all searches
    end early, the last moment has none.
    """
    whiff = world.begin()
    n = len(world.position)
    if memory is None:
        memory = policy.begin(whiff) if whiff is not None else policy.unobserved(n)  # type: ignore[attr-defined]
    who = np.arange(n)
    ended = who[:0], world.position[:0], np.zeros(0, dtype=bool)
    for step in range(horizon + 1):
        moment = Moment(step, who, world.position, whiff, memory, *ended, np.zeros(len(who), dtype=bool))
        yield moment
        if moment.stop.any():
            on = ~moment.stop
            memory, who, world.position = policy.select(memory, np.flatnonzero(on)), who[on], world.position[on]
        if step == horizon or not len(who):
            return
        action = policy.act(memory)
        require(
            bool(((action >= 0) & (action < N_ACTIONS)).all()),
            f"The policy {policy.name} chose an action that does not exist; actions are 0 to {N_ACTIONS - 1}.",
        )
        arrived, whiff = world.step(action)
        ended = who[arrived], world.position[arrived], whiff[arrived]
        if arrived.any():
            on = ~arrived
            memory = policy.select(memory, np.flatnonzero(on))
            who, world.position, action, whiff = who[on], world.position[on], action[on], whiff[on]
        if len(who):
            memory = policy.observe(memory, action, whiff)


class PlumeWorld:
    """The record of a plume; positions int64[n, 3] are x, y and snapshot."""

    def __init__(self, world: World, points: np.ndarray) -> None:
        self.world, self.position = world, points.astype(np.int64)

    def begin(self) -> np.ndarray:
        whiff = np.zeros(len(self.position), dtype=bool)
        smell_all(self.world, self.position, whiff)
        return whiff

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.position = self.position.copy()  # a moment keeps the old positions
        arrived, whiff = np.zeros((2, len(action)), dtype=bool)
        step_all(self.world, self.position, action, arrived, whiff)
        return arrived, whiff


class IndependentWorld:
    """Independent whiffs with the probabilities of a search model; there is no first observation.

    Positions int64[n] are cells of the model's grid. Here the value of a belief policy can be compared with the bounds
    of the solver; in a plume it differs, since whiffs are correlated.
    """

    def __init__(self, model: Any, cells: np.ndarray, seed: int = 0) -> None:
        self.model, self.position, self.rng = model, cells.astype(np.int64), np.random.default_rng(seed)

    def begin(self) -> None:
        return None

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.position = self.model.successor[self.position, action].astype(np.int64)
        arrived = self.position < 0
        observation = np.zeros(len(action), dtype=np.int64)
        on = ~arrived
        drawn = self.rng.random(int(on.sum()))
        chances = np.cumsum(self.model.chances[:, self.position[on]], axis=0)[:-1].T
        observation[on] = (drawn[:, None] > chances).sum(axis=1)
        return arrived, observation


class ScriptWorld:
    """A script of whiffs and blanks, the same for all searches; none arrives. Positions int64[n, 2] start at (0, 0).

    ``script[t]`` is observed after t moves; beyond its end there are blanks only.
    """

    def __init__(self, searches: int, script: np.ndarray | None = None) -> None:
        self.position = np.zeros((searches, 2), dtype=np.int64)
        self.script = np.ones(1, dtype=bool) if script is None else np.asarray(script, dtype=bool)
        self.moves = 0

    def begin(self) -> np.ndarray:
        return np.full(len(self.position), self._observed())

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.position = self.position + MOVES[action]
        self.moves += 1
        return np.zeros(len(action), dtype=bool), np.full(len(action), self._observed())

    def _observed(self) -> bool:
        return bool(self.moves < len(self.script) and self.script[self.moves])


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """One search, step by step, from its start to the source or to its last move."""

    position: np.ndarray  # int[step, 2]: cell (x, y)
    whiff: np.ndarray  # bool[step]
    clock: np.ndarray  # int[step]: moves since the last whiff, or since just before the start
    arrived: bool
    mode: np.ndarray  # int[step]
    action: np.ndarray  # int[step]: index in ``ACTIONS`` of the next move; -1 at the end
    snapshot: np.ndarray  # int[step]: of the record; the step where there is no record

    @property
    def x(self) -> np.ndarray:
        """Cells downwind, int[step]."""
        return self.position[:, 0]

    @property
    def y(self) -> np.ndarray:
        """Cells across the wind, int[step]."""
        return self.position[:, 1]

    @property
    def moves(self) -> int:
        """Number of moves."""
        return len(self.whiff) - 1

    def to_xarray(self) -> xr.Dataset:
        """x, y, whiff, clock, mode, action and snapshot by step."""
        import xarray as xr

        names = ("x", "y", "whiff", "clock", "mode", "action", "snapshot")
        columns = {name: ("step", getattr(self, name)) for name in names}
        return xr.Dataset(columns, {"step": np.arange(self.moves + 1)}, {"arrived": int(self.arrived)})

    def to_pandas(self) -> pd.DataFrame:
        """The same as a table with one row per step."""
        return self.to_xarray().to_pandas()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trajectory) and self.to_xarray().identical(other.to_xarray())

    def __hash__(self) -> int:
        return hash((self.position.tobytes(), self.whiff.tobytes()))

    def __repr__(self) -> str:
        end = "source found" if self.arrived else "source not found"
        start = f"({self.x[0]}, {self.y[0]})"
        return f"Trajectory({self.moves} moves from {start}, {int(self.whiff.sum())} whiffs, {end})"


def trajectory(policy: Policy, world: SearchWorld, horizon: int) -> Trajectory:
    """The one search of a world, step by step, to the source or for ``horizon`` moves."""
    positions, whiffs = [], []
    modes: list[int] = []
    actions: list[int] = []
    for moment in search(policy, world, horizon):
        arrived = len(moment.arrived) > 0
        at, whiff = (moment.arrived_at, moment.arrived_whiff) if arrived else (moment.position, moment.whiff)
        positions.append(at[0])
        whiffs.append(bool(whiff is not None and whiff[0]))
        modes.append(modes[-1] if arrived else int(policy.mode(moment.memory)[0]))
        actions.append(-1 if arrived or moment.step == horizon else int(policy.act(moment.memory)[0]))
    smelled, places = np.array(whiffs), np.array(positions)
    step = np.arange(len(smelled))
    last = np.maximum.accumulate(np.where(smelled, step, -1))
    snapshot = places[:, 2] if places.shape[1] > 2 else step
    return Trajectory(places[:, :2], smelled, step - last, arrived, np.array(modes), np.array(actions), snapshot)


def start_snapshots(snapshots: int, world: WorldSettings, horizon: int) -> int:
    """Number of snapshots, from the first on, at which searches may start."""
    if world.end_of_record == "wrap":
        return snapshots
    sentence = f"The record has {snapshots} snapshots; searches of {horizon} steps that avoid its end need more."
    require(snapshots > horizon, sentence)
    return snapshots - horizon


def start_cells(plume: Plume, threshold: float, world: WorldSettings, horizon: int) -> np.ndarray:
    """D_init int32[n, 2]; with starts on a whiff, refuse cells without a whiff among the snapshots to start from."""
    cells = plume.starts(threshold, world)
    if world.start_on_whiff:
        allowed = start_snapshots(plume.field.shape[0], world, horizon)
        without = cells[~plume.whiffs(threshold).ever(allowed)[cells[:, 0], cells[:, 1]]]
        for x, y in without[:1]:
            raise InputError(
                f"{len(without)} of {len(cells)} start cells have no whiff among the {allowed} snapshots to start "
                f"from, such as cell ({x}, {y}); raise the start threshold, or let searches wrap."
            )
    return cells
