"""Pictures of searches that are going on: plume, path and clock, as in the films of :mod:`whiffclock.drawing.film`."""

from __future__ import annotations

from collections import deque

import numpy as np

from whiffclock.drawing.film import Film
from whiffclock.gym.batch import Batch
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.searches import CLOCK, MOVES, T, X, Y
from whiffclock.world.trajectory import Trajectory


class Paths:
    """The last moments of some searches, of which each picture shows those since the start of its search."""

    def __init__(self, batch: Batch) -> None:
        self._plume, self._state = batch.plume, batch.state
        self._title = batch.plume.origin.partition(",")[0]
        self._moments: deque[np.ndarray] = deque(maxlen=batch.horizon + 1)

    def keep(self, again: bool = False) -> None:
        """Keep the present moment; ``again``: instead of the last one, since only some searches have begun again."""
        if again:
            self._moments.pop()
        self._moments.append(self._state.copy())

    def trajectory(self, i: int) -> Trajectory:
        """The path of a search from its start to the present."""
        own = np.stack([state[:, i] for state in list(self._moments)[-1 - int(self._state[MOVES, i]) :]])
        position, clock = own[:, X : Y + 1], own[:, CLOCK]
        moved = np.diff(position, axis=0)
        action = np.append((moved[:, None] == DISPLACEMENT).all(axis=2).argmax(axis=1), -1)
        mode = np.zeros(len(own), dtype=np.int64)
        return Trajectory(position, clock == 0, clock, False, mode, action, own[:, T])

    def picture(self, i: int) -> np.ndarray:
        """The present moment of a search, uint8[height, width, 3]."""
        found = self.trajectory(i)
        return Film(found, self._plume, self._title).frame(found.moves)
