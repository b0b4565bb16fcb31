"""Progress on stderr: a bar in a terminal, a line every 30 seconds in a log file."""

from collections.abc import Callable
from datetime import timedelta
from threading import RLock
from time import monotonic
from typing import Self

from rich import progress as rp
from rich.console import Console
from rich.table import Column

SECONDS_BETWEEN_LINES = 30.0


class Bar:
    """Progress of some work, in one stage or several: stage, share done, rate and time left.

    Its methods may be called from any thread. ``clock`` gives seconds.
    """

    def __init__(self, console: Console, unit: str, clock: Callable[[], float] = monotonic) -> None:
        stage = Column(max_width=32, no_wrap=True, overflow="ellipsis")
        left = rp.TextColumn("{task.description}", markup=False, table_column=stage), rp.BarColumn(None)
        right = rp.TaskProgressColumn(), rp.TextColumn("{task.fields[detail]}", markup=False)
        drawn = console.is_interactive
        self._bar = rp.Progress(*left, *right, console=console, transient=True, get_time=clock, disable=not drawn)
        self._console, self._unit, self._clock, self._lock = console, unit, clock, RLock()
        self.begin("", None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, stage: str, total: float | None, done: float = 0) -> None:
        """Begin work of which ``done`` is done already, in place of the last."""
        with self._lock:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._task = self._bar.add_task(stage, total=total, completed=int(done), detail="")
            self._stage, self._total, self._done, self._before = stage, total, done, done
            self._began = self._printed = self._clock()

    def enter(self, stage: str) -> None:
        """Name the stage that begins; a log file gets a line at once."""
        with self._lock:
            self._stage = stage
            self._bar.update(self._task, description=stage)
            self._print("")

    def advance(self, amount: float) -> None:
        """Count work done since the last call."""
        with self._lock:
            self.reach(self._done + amount)

    def reach(self, done: float, detail: str = "") -> None:
        """Set the work done since the beginning; ``detail`` is shown instead of rate and time left."""
        with self._lock:
            self._done = done
            detail = detail or self._rate()
            self._bar.update(self._task, completed=done, detail=detail)
            if self._clock() - self._printed >= SECONDS_BETWEEN_LINES:
                self._print(detail)

    def _rate(self) -> str:
        """Mean rate since the beginning, and the time that the rest takes at this rate."""
        seconds, work = self._clock() - self._began, self._done - self._before
        if seconds <= 0 or work <= 0:
            return ""
        rate = f"{work / seconds:,.0f} {self._unit}/s"
        if self._total is None:
            return rate
        return f"{rate}, {timedelta(seconds=round((self._total - self._done) * seconds / work))} left"

    def _print(self, detail: str) -> None:
        """Print a line, where a bar cannot be drawn."""
        self._printed = self._clock()
        if not self._console.is_interactive:
            share = f"{100 * self._done / self._total:.0f} %" if self._total else ""
            line = ", ".join(filter(None, (share, detail)))
            self._console.print(": ".join(filter(None, (self._stage, line))), soft_wrap=True, highlight=False)
