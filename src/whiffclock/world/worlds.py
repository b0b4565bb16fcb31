"""Worlds to search in: the record of a plume, on the grid or as a robot; independent whiffs; and a script."""

import math
from typing import Any

import numpy as np

from whiffclock.world.episode import World, smell_all, step_all
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.robot import RobotSettings

#: Direction of each move, in radians; and in how many parts of a cell a robot moves and turns.
_HEADING, _PARTS = np.arctan2(DISPLACEMENT[:, 1], DISPLACEMENT[:, 0]), 8


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


class RobotWorld:
    """Robots in the record of a plume; positions float[n, 4] are x and y in cells, snapshot, heading in radians.

    A robot moves at a constant speed in the direction of the policy's move: at once, or after turning there at no more
    than its turn rate, while it goes on. It begins with its head into the wind, and smells the nearest cell at every
    snapshot; a whiff is one at any of those since its last decision. The step rule of the grid is the special case of
    a robot without a turn rate that covers one cell per snapshot and decides at each; a test holds both together.
    """

    def __init__(self, world: World, points: np.ndarray, robot: RobotSettings, radius: float) -> None:
        self.world, self.robot, self.radius = world, robot, radius
        self.position = np.column_stack([points, np.full(len(points), math.pi)]).astype(np.float64)

    def begin(self) -> np.ndarray:
        return self._smell(self.position)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        position = self.position.copy()  # a moment keeps the old positions
        arrived, whiff = np.zeros((2, len(action)), dtype=bool)
        for _ in range(self.robot.every):
            going = ~arrived
            self._move(position, action, arrived)
            position[going, 2] = (position[going, 2] + 1) % self.world.whiffs.shape[2]
            whiff |= self._smell(position)
        self.position = position
        return arrived, whiff

    def _move(self, position: np.ndarray, action: np.ndarray, arrived: np.ndarray) -> None:
        """One snapshot of motion; changes positions and who has ``arrived``, who stay where they are."""
        robot, region = self.robot, self.world.region
        parts = math.ceil(_PARTS * max(1.0, robot.stride))
        source = np.array([region.source_x, region.source_y])
        for _ in range(parts):
            on = ~arrived
            if robot.turn_rate is None:
                position[on, 3] = _HEADING[action[on]]
                forward = DISPLACEMENT[action[on]]
            else:
                most = math.radians(robot.turn_rate) * (robot.frame or 1.0) / parts
                half = math.pi + 1e-9  # so that rounding does not decide the side of a half turn
                off = (_HEADING[action[on]] - position[on, 3] + half) % (2 * math.pi) - half
                position[on, 3] += np.clip(off, -most, most)
                forward = np.column_stack([np.cos(position[on, 3]), np.sin(position[on, 3])])
            position[on, :2] += forward * (robot.stride / parts)
            arrived |= np.hypot(*(position[:, :2] - source).T) <= self.radius + 1e-9

    def _smell(self, position: np.ndarray) -> np.ndarray:
        whiff = np.zeros(len(position), dtype=bool)
        smell_all(self.world, np.column_stack([cells_of(position).T, position[:, 2]]).astype(np.int64), whiff)
        return whiff


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
        return arrived, observation.astype(bool) if len(self.model.chances) == 2 else observation


class ScriptWorld:
    """A script of whiffs and blanks; no search arrives. Positions int64[n, 2] start at (0, 0).

    ``script[t]``, the same for all searches, or ``script[t, search]`` is observed after t moves; beyond its end there
    are blanks only. Searches with scripts of their own cannot be stopped one by one.
    """

    def __init__(self, searches: int, script: np.ndarray | None = None) -> None:
        self.position = np.zeros((searches, 2), dtype=np.int64)
        self.script = np.ones(1, dtype=bool) if script is None else np.asarray(script, dtype=bool)
        self.moves = 0

    def begin(self) -> np.ndarray:
        return self._observed()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.position = self.position + DISPLACEMENT[action]
        self.moves += 1
        return np.zeros(len(action), dtype=bool), self._observed()

    def _observed(self) -> np.ndarray:
        observed = self.script[self.moves] if self.moves < len(self.script) else False
        return np.broadcast_to(observed, len(self.position)).copy()


def cells_of(position: np.ndarray) -> np.ndarray:
    """The nearest cells int[2, n] of positions in cells."""
    return np.floor(position[:, :2].T + 0.5).astype(np.int64)
