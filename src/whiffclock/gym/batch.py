"""Searches in one plume, moved by actions from outside: what both environments are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from whiffclock.arguments import path_of, settings_of
from whiffclock.gym.observations import Observations
from whiffclock.params import Count, EvaluationSettings, InputError, Valid, WorldSettings, checked, require
from whiffclock.plain_values import shown
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.reading.files import read_plume
from whiffclock.world.moves import ACTIONS
from whiffclock.world.reward import move_reward
from whiffclock.world.searches import Beginnings, Searches, advance, begin_some
from whiffclock.world.starts import one_start, start_cells, start_snapshots

_EXISTING = ", ".join(f"{number} ({name})" for number, name in enumerate(ACTIONS))
_Horizon = Annotated[int, Valid("The horizon is {}", ge=1, le=100_000)]


class Batch:
    """``count`` searches at the same time; the parameters are those of the environments."""

    def __init__(
        self,
        count: int,
        plume: Plume | Path | str | None,
        threshold: str | float,
        observation: str | Sequence[str],
        horizon: int,
        gamma: float,
        world: WorldSettings | Mapping[str, Any] | None,
    ) -> None:
        self.count, self.horizon = checked("num_envs", count, Count), checked("horizon", horizon, _Horizon)
        self.plume = _plume_of(plume)
        self.threshold = self.plume.environments.threshold_of(threshold)
        self.world = self.plume.settle(settings_of(WorldSettings, world))
        self.observations = Observations(observation, self.plume, self.horizon)
        cells = start_cells(self.plume, self.threshold, self.world, self.horizon)
        snapshots = start_snapshots(self.plume.field.shape[0], self.world, self.horizon)
        self._beginnings = Beginnings(cells, self.world.start_on_whiff, snapshots)
        self._record = self.plume.whiffs(self.threshold).world(self.world)
        self._earned = move_reward(np.array([False, True]), EvaluationSettings(gamma=gamma).gamma)
        n = self.count
        place, (moves, clock) = np.zeros((n, 3), dtype=np.int64), np.zeros((2, n), dtype=np.int64)
        recent, odor = np.zeros((n, self.observations.recent), dtype=np.int8), np.zeros(n, dtype=np.float32)
        counter = np.zeros(n, dtype=np.uint64)
        self.searches = Searches(place, moves, clock, np.zeros(n, dtype=bool), counter, recent, odor)
        self._ended = self.searches.ended

    def seed(self, rng: np.random.Generator, which: np.ndarray) -> None:
        """Give some of the searches new random numbers."""
        drawn = rng.integers(2**64, size=self.count, dtype=np.uint64)
        self.searches.counter[which] = drawn[which]

    def begin(self, which: np.ndarray, start: Any = None) -> None:
        """Begin some of the searches (bool[n]), at random or at a given start."""
        if start is not None:
            self.searches.place[which] = self._given(start)[which]
        field = self.observations.field
        begin_some(self._record, self._beginnings, self.searches, field, which, start is None)

    def _given(self, start: Any) -> np.ndarray:
        """Starts int64[n, 3] from one for all searches, or one for each."""
        rows = np.asarray(start, dtype=object)
        each = rows.ndim == 2
        right = not each or len(rows) == self.count
        require(right, f"{len(rows)} starts are given; there must be one for all searches, or {self.count}.")
        points = [one_start(self.plume, self.threshold, self.world, row) for row in (start if each else [start])]
        return np.broadcast_to(np.concatenate(points), (self.count, 3))

    def step(self, given: Any, action: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Move all searches: reward, whether each arrived, whether it ended without.

        ``action`` is what was ``given``, as an array.
        """
        if action.dtype.kind not in "iu" or action.shape != (self.count,):
            many = f"{self.count} whole numbers" if self.count > 1 else "a whole number"
            raise InputError(f"The action is {shown(given)}; it must be {many} among {_EXISTING}.")
        reward = np.empty(self.count)
        arrived, late = np.empty((2, self.count), dtype=np.bool_)
        wrong = advance(
            self._record, self._beginnings, self.searches, self.observations.field, self._earned, self.horizon,
            action.astype(np.int64, copy=False), reward, arrived, late,
        )  # fmt: skip
        if wrong >= 0:
            where = f" of search {wrong}" if self.count > 1 else ""
            raise InputError(f"The action{where} is {action[wrong]}; it must be {_EXISTING}.")
        return reward, arrived, late

    @property
    def ended(self) -> np.ndarray:
        """Which searches have ended, bool[n]."""
        return self._ended


@cache
def _builtin() -> Plume:
    return builtin_plume()


def _plume_of(plume: Plume | Path | str | None) -> Plume:
    if plume is None:
        return _builtin()
    return plume if isinstance(plume, Plume) else read_plume(path_of(plume, "plume"))
