"""Progress of some work: a bar in a terminal or a notebook, a line every 30 seconds in a log file."""

from __future__ import annotations

import html
from collections.abc import Callable
from datetime import timedelta
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console

    from whiffclock.pomdp.settings import SolverSettings
    from whiffclock.pomdp.solver import Progress

SECONDS_BETWEEN_LINES, SECONDS_BETWEEN_UPDATES = 30.0, 0.2
#: Share of the work that is shown as 100 %.
_ALL = 0.995
_CENTURY = 100 * 365 * 86400.0


class Bar:
    """Progress of some work, in one stage or several: stage, share done, rate and time left.

    It is shown on ``console``, by default stderr, or in the output of a notebook's cell (without ipywidgets). Its
    methods may be called from any thread. ``clock`` gives seconds. With ``announce``, a log file has a line for work
    that begins.
    """

    def __init__(
        self, unit: str, console: Console | None = None, clock: Callable[[], float] = monotonic, announce: bool = False
    ) -> None:
        from rich import progress as rp
        from rich.table import Column

        from whiffclock.terminal import Terminal

        self._console = console or Terminal(stderr=True)
        stage = Column(max_width=32, no_wrap=True, overflow="ellipsis")
        left = rp.TextColumn("{task.description}", markup=False, table_column=stage), rp.BarColumn(None)
        right = rp.TaskProgressColumn(), rp.TextColumn("{task.fields[detail]}", markup=False)
        hidden = not self._console.is_interactive
        self._bar = rp.Progress(*left, *right, console=self._console, transient=True, get_time=clock, disable=hidden)
        self._unit, self._clock, self._lock, self._announce = unit, clock, RLock(), announce
        self._cell = _Cell() if self._console.is_jupyter else None
        self.begin("", None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        if self._cell:
            self._cell.show("", None)

    def begin(self, stage: str, total: float | None, done: float = 0) -> None:
        """Begin new work, of which ``done`` is already done."""
        with self._lock:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._task = self._bar.add_task(stage, total=total, completed=int(done), detail="")
            self._stage, self._total, self._done, self._before = stage, total, done, done
            self._began = self._printed = self._clock()
            if stage and (self._cell or self._announce):
                self._print("")

    def enter(self, stage: str) -> None:
        """Name the stage that begins; in a log file, print a line.

        A stage that begins when all counted work is done has no length that is known, and so no percent.
        """
        with self._lock:
            if self._total is not None and self._done >= _ALL * self._total:
                self.begin("", None)
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
            pause = SECONDS_BETWEEN_UPDATES if self._cell else SECONDS_BETWEEN_LINES
            if self._clock() - self._printed >= pause:
                self._print(detail)

    def note(self, line: str) -> None:
        """Print a line that stays, above the bar."""
        if self._cell:
            print(line)
        else:
            self._console.print(line, soft_wrap=True, highlight=False)

    def _rate(self) -> str:
        """Mean rate since the beginning, and the time that the rest takes at this rate."""
        seconds, work = self._clock() - self._began, self._done - self._before
        if seconds <= 0 or work <= 0:
            return ""
        pace = work / seconds
        rate = f"{pace:,.0f} {self._unit}/s" if pace >= 10 else f"{pace:.2g} {self._unit}/s"
        if self._total is None:
            return rate
        left = (self._total - self._done) * seconds / work
        return f"{rate}, {timedelta(seconds=round(left)) if left < _CENTURY else 'more than a century'} left"

    def _print(self, detail: str) -> None:
        """Print a line where a terminal's bar cannot be drawn; in a notebook, in place of the last line."""
        self._printed = self._clock()
        share = self._done / self._total if self._total else None
        line = ", ".join(filter(None, ("" if share is None else f"{100 * share:.0f} %", detail)))
        line = ": ".join(filter(None, (self._stage, line)))
        if self._cell:
            self._cell.show(line, share)
        elif not self._console.is_interactive:
            self.note(line)


def solver_report(bar: Bar, settings: SolverSettings) -> Callable[[Progress], None]:
    """A callback that shows the solver's bounds, and the share of its time or backups used."""

    def show(state: Progress) -> None:
        bar.reach(
            getattr(state, settings.budget[0]), f"{state.lower:.4f} to {state.upper:.4f}, {state.vectors} vectors"
        )

    return show


class _Cell:
    """A line of text with a bar, in the output of a notebook's cell; it is replaced in place."""

    _handle: Any = None

    def show(self, line: str, share: float | None) -> None:
        """Show a line, with a bar if the share of the work done is known."""
        from IPython.display import DisplayHandle

        bar = "" if share is None else f'<progress max="1" value="{share:.4f}"></progress> '
        data = {"text/plain": line, "text/html": f'<div style="font-family: monospace">{bar}{html.escape(line)}</div>'}
        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(data, raw=True)
        else:
            self._handle.update(data, raw=True)
