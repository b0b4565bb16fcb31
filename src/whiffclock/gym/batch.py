"""Searches in one plume, moved by actions from outside: what both environments are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from whiffclock.arguments import path_of, settings_of
from whiffclock.gym.observations import Observations
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, Valid, WorldSettings, checked, require
from whiffclock.plain_values import plain, shown
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.reading.files import read_plume
from whiffclock.world.moves import ACTIONS, N_ACTIONS
from whiffclock.world.reward import move_reward
from whiffclock.world.searches import COUNTER, ENDED, PARTS, advance, advance_one, begin_some
from whiffclock.world.starts import one_start, start_cells, start_snapshots

_EXISTING = " or ".join(", ".join(f"{number} ({name})" for number, name in enumerate(ACTIONS)).rsplit(", ", 1))
_Horizon = Annotated[int, Valid("The horizon is {}", ge=1, le=100_000)]
_Searches = Annotated[int, Valid("The number of searches is {}", ge=1, le=10**7)]


class Batch:
    """Searches at the same time.

    Parameters
    ----------
    count
        Number of searches.
    plume
        A plume, or the path of its file; default: the built-in plume.
    threshold
        Name of an environment of the plume, or a concentration.
    observation
        A kind of observation, or a list of kinds, which are then observed as a dictionary: "whiff", "clock", "clock:n",
        "last:n", "concentration", "position" (:mod:`whiffclock.gym.observations`).
    horizon
        Moves after which a search is truncated.
    gamma
        Discount factor; a move costs 1 - gamma.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    """

    def __init__(
        self,
        count: int,
        plume: Plume | Path | str | None = None,
        threshold: str | float = "sparse",
        observation: str | Sequence[str] = "whiff",
        horizon: int = LearningSettings.horizon,
        gamma: float = EvaluationSettings.gamma,
        world: WorldSettings | Mapping[str, Any] | None = None,
    ) -> None:
        self.count, self.horizon = checked("num_envs", count, _Searches), checked("horizon", horizon, _Horizon)
        self.plume = _plume_of(plume)
        self.threshold = self.plume.environments.threshold_of(threshold)
        self.world = self.plume.settle(settings_of(WorldSettings, world))
        self.observations = Observations(observation, self.plume, self.horizon)
        whiffs, region = self.plume.whiffs(self.threshold).world(self.world)
        snapshots = start_snapshots(self.plume.field.shape[0], self.world, self.horizon)
        numbers = np.array([*region, snapshots, self.world.start_on_whiff, self.horizon], dtype=np.int64)
        cells = start_cells(self.plume, self.threshold, self.world, self.horizon)
        #: The state of the searches, as in :mod:`whiffclock.world.searches`.
        self.state = np.zeros((PARTS, self.count), dtype=np.int64)
        self.recent = np.zeros((self.count, self.observations.recent), dtype=np.int8)
        self.odor = np.zeros(self.count, dtype=np.float32)
        self._all = whiffs, numbers, cells, self.observations.field, self.state, self.recent, self.odor
        self._first = self._all[:2] + self._all[3:]
        self._earned = move_reward(np.array([False, True]), EvaluationSettings(gamma=gamma).gamma)
        self._rewards = *self._earned.tolist(), float(self._earned[0])  # as step_one counts ends

    @property
    def ended(self) -> np.ndarray:
        """Which searches have ended, bool[n]."""
        return self.state[ENDED] == 1

    def observed(self) -> Any:
        """What all searches observe now, in new arrays."""
        return self.observations.of(self.state, self.recent, self.odor)

    def seed(self, rng: np.random.Generator, which: np.ndarray) -> None:
        """Give some of the searches new random numbers."""
        drawn = rng.integers(-(2**63), 2**63 - 1, size=self.count, endpoint=True)
        self.state[COUNTER, which] = drawn[which]

    def begin(self, which: np.ndarray, start: Any = None) -> None:
        """Begin some of the searches (bool[n]), at random or at a given start."""
        if start is not None:
            self.state[:3, which] = self._given(start)[which].T
        begin_some(*self._all, which, start is None)

    def _given(self, start: Any) -> np.ndarray:
        """Starts int64[n, 3] from one for all searches, or one for each."""
        listed = plain(start)
        several = isinstance(listed, list | tuple) and any(isinstance(plain(row), list | tuple) for row in listed)
        rows = listed if several else [start]
        fits = len(rows) in (1, self.count)
        require(fits, f"{len(rows)} starts are given; there must be one for all searches, or {self.count}.")
        points = [one_start(self.plume, self.threshold, self.world, row) for row in rows]
        return np.broadcast_to(np.concatenate(points), (self.count, 3))

    def step_one(self, action: Any) -> tuple[float, int]:
        """Move the only search; its reward, and 0, 1 at the source, or 2 if it ends without."""
        if type(action) is not int or not 0 <= action < N_ACTIONS:
            action = self._checked(action, np.asarray(action)[None])[0].item()
        end = advance_one(*self._first, action)
        return self._rewards[end], end

    def step(self, actions: Any, given: np.ndarray, reward: np.ndarray, ends: np.ndarray) -> None:
        """Move all searches by ``actions``, as an array ``given``; fills ``reward`` and ``ends``."""
        wrong = advance(*self._all, self._earned, self._checked(actions, given, -1), reward, ends)
        if wrong >= 0:
            self._checked(actions, given)

    def _checked(self, actions: Any, given: np.ndarray, most: int = N_ACTIONS - 1) -> np.ndarray:
        """Actions as int64[n]; wrong ones are refused, by type and shape alone if ``most`` is negative."""
        if given.dtype.kind not in "iu" or given.shape != (self.count,):
            many = f"{self.count} whole numbers, each" if self.count > 1 else "a whole number,"
            raise InputError(f"The action is {shown(actions)}; it must be {many} {_EXISTING}.")
        if most >= 0 and (bad := (given < 0) | (given > most)).any():
            where = f" of search {bad.argmax()}" if self.count > 1 else ""
            raise InputError(f"The action{where} is {given[bad.argmax()]}; it must be {_EXISTING}.")
        return given.astype(np.int64, copy=False)


@cache
def _builtin() -> Plume:
    return builtin_plume()


def _plume_of(plume: Plume | Path | str | None) -> Plume:
    if plume is None:
        return _builtin()
    return plume if isinstance(plume, Plume) else read_plume(path_of(plume, "plume"))
