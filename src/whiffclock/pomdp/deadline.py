"""Limits of time, of the clock on the wall and of this thread's share of a processor."""

import math
from dataclasses import dataclass
from time import perf_counter, thread_time


@dataclass(frozen=True)
class Deadline:
    """When to be done: by ``time.perf_counter()``, and by ``time.thread_time()``, which busy machines do not hurry."""

    wall: float = math.inf
    cpu: float = math.inf

    @classmethod
    def after(cls, seconds: float | None = None, cpu_seconds: float | None = None) -> "Deadline":
        """In so many seconds from now; None: no limit."""
        wall = math.inf if seconds is None else perf_counter() + seconds
        return cls(wall, math.inf if cpu_seconds is None else thread_time() + cpu_seconds)

    def part(self, share: float) -> "Deadline":
        """When this share of the time from now on is over."""
        wall, cpu = perf_counter(), thread_time() if self.cpu < math.inf else 0.0
        return Deadline(wall + share * (self.wall - wall), cpu + share * (self.cpu - cpu))

    def passed(self, more: float = 0.0) -> bool:
        """Whether time is up, or would be after some seconds ``more``."""
        return perf_counter() + more > self.wall or (self.cpu < math.inf and thread_time() + more > self.cpu)


NEVER = Deadline()
