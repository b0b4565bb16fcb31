"""One search, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whiffclock.params import require
from whiffclock.policy import Policy
from whiffclock.world.loop import SearchWorld, modes_of, search
from whiffclock.world.robot import RobotSettings
from whiffclock.world.worlds import RobotWorld

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """One search, step by step, from its start to the source or to its last move."""

    position: np.ndarray  # int[step, 2]: cell (x, y); of a robot float[step, 2], in cells
    whiff: np.ndarray  # bool[step]
    clock: np.ndarray  # int[step]: moves since the last whiff, or since just before the start
    arrived: bool
    mode: np.ndarray  # int[step]
    action: np.ndarray  # int[step]: index in ``ACTIONS`` of the next move; -1 at the end
    snapshot: np.ndarray  # int[step]: of the record; the step where there is no record
    heading: np.ndarray | None = None  # float[step]: of a robot, in degrees, 0 downwind and 90 in +y
    cell: float | None = None  # its size in metres, for a robot
    seconds: float | None = None  # per move of a robot

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

    @property
    def metres(self) -> np.ndarray:
        """Position (x, y) of a robot in metres from the middle of cell (0, 0), float[step, 2]."""
        require(self.cell is not None, "Only searches of robots are measured in metres; give wc.search a speed.")
        return self.position * self.cell

    def to_xarray(self) -> xr.Dataset:
        """x, y, whiff, clock, mode, action and snapshot by step; of a robot also x_m, y_m (in metres) and heading."""
        import xarray as xr

        names = ("x", "y", "whiff", "clock", "mode", "action", "snapshot")
        columns = {name: ("step", getattr(self, name)) for name in names}
        if self.heading is not None:
            x, y = self.metres.T
            columns |= {"x_m": ("step", x), "y_m": ("step", y), "heading": ("step", self.heading)}
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
        start = f"({self.x[0]:g}, {self.y[0]:g})"
        took = f"{self.moves * self.seconds:g} s, " if self.seconds else ""
        return f"Trajectory({self.moves} moves from {start}, {took}{int(self.whiff.sum())} whiffs, {end})"


def trajectory(policy: Policy, world: SearchWorld, horizon: int) -> Trajectory:
    """The one search of a world, step by step, to the source or for ``horizon`` moves."""
    whole = isinstance(horizon, int | np.integer)
    require(whole and horizon >= 1, f"The horizon is {horizon}; it must be a whole number of moves, at least 1.")
    positions, whiffs, robot = [], [], world.robot if isinstance(world, RobotWorld) else RobotSettings()
    modes: list[int] = []
    actions: list[int] = []
    for moment in search(policy, world, robot.decisions(horizon)):
        arrived = len(moment.arrived) > 0
        at, whiff = (moment.arrived_at, moment.arrived_whiff) if arrived else (moment.position, moment.whiff)
        positions.append(at[0])
        whiffs.append(bool(whiff is not None and whiff[0]))
        modes.append(modes[-1] if arrived else int(modes_of(policy, moment)[0]))
        actions.append(-1 if arrived else int(moment.action[0]))
    smelled, places = np.array(whiffs), np.array(positions)
    step = np.arange(len(smelled))
    last = np.maximum.accumulate(np.where(smelled, step, -1))
    snapshot = places[:, 2].astype(np.int64) if places.shape[1] > 2 else step
    records = smelled, step - last, arrived, np.array(modes), np.array(actions), snapshot
    body = (np.rad2deg(places[:, 3]), robot.cell, robot.every * (robot.frame or 1.0)) if robot.exists else ()
    return Trajectory(places[:, :2], *records, *body)
