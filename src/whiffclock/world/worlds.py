"""Worlds to search in: the record of a plume, independent whiffs with given probabilities, and a script."""

from typing import Any

import numpy as np

from whiffclock.world.episode import World, smell_all, step_all
from whiffclock.world.moves import DISPLACEMENT


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
