"""The work at hand: a plume, a profile, and the store in which everything is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from whiffclock.evaluate import Starts, make_starts
from whiffclock.experiments.profiles import Profile
from whiffclock.params import ENVIRONMENTS, WorldSettings
from whiffclock.plume import Plume
from whiffclock.runs.store import Store

Value = TypeVar("Value")


@dataclass(frozen=True)
class Work:
    """What a reproduction is made of.

    Attributes
    ----------
    plume, profile, store
        The odor, the numbers, and where records are kept.
    taus
        tau of the two-Q agents by environment; by default it comes from the scan, once that is done.
    """

    plume: Plume
    profile: Profile
    store: Store
    taus: Mapping[str, int] | None = None
    _memory: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)

    @property
    def world(self) -> WorldSettings:
        """The paper's world, in which all policies are judged."""
        return WorldSettings()

    def prepare(self) -> None:
        """Threshold the plume and list the starts; bad input is found out before any work is done."""
        for name, threshold in ENVIRONMENTS.items():
            self.plume.whiffs(threshold)
            self.starts(name)

    def starts(self, environment: str) -> Starts:
        """Starts of every evaluation in an environment."""
        profile = self.profile
        return self.remember(
            ("starts", environment),
            lambda: make_starts(self.plume, ENVIRONMENTS[environment], self.world, profile.evaluation, profile.horizon),
        )

    def remember(self, key: Any, make: Callable[[], Value]) -> Value:
        """What ``make`` makes, made once; small things only, the store is for the rest."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = make()
            return self._memory[key]
