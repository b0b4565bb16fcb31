"""What ``whiffclock pomdp`` and ``whiffclock bayes`` share: options of the solver, its progress, its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from whiffclock.cli import options as opt

if TYPE_CHECKING:
    from whiffclock.pomdp.solver import Progress as State
    from whiffclock.pomdp.solver import Solution, SolverSettings

Seconds = Annotated[float | None, typer.Option(help="Time to solve for; default: 60, or no limit with --backups.")]
Backups = Annotated[int | None, typer.Option(help="Number of backups: a budget that can be repeated.")]
Gap = Annotated[float, typer.Option(help="Stop when the bounds are this close.")]
Megabytes = Annotated[float, typer.Option(help="Stop when the solver takes more memory.")]
Sampling = Annotated[str, typer.Option(metavar="mixed|published|policy", help="How beliefs are sampled.")]
Seed = Annotated[int, typer.Option(help="Seed of the observations that are drawn.")]


def solver_settings(
    seconds: float | None, backups: int | None, gap: float, megabytes: float, sampling: str, seed: int
) -> SolverSettings:
    """Settings from the command line's words."""
    from whiffclock.pomdp.solver import SolverSettings

    if seconds is None and backups is None:
        seconds = SolverSettings.seconds
    return SolverSettings(seconds, backups, gap, megabytes, sampling, seed)  # type: ignore[arg-type]


@contextmanager
def solver_bar(what: str, settings: SolverSettings) -> Iterator[Callable[[State], None]]:
    """Both bounds as they come together, and how much of the budget is used."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[bounds]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=opt.talk, transient=True) as bar:
        job = bar.add_task(what, total=settings.seconds or settings.backups, bounds="")

        def tell(state: State) -> None:
            done = state.seconds if settings.seconds is not None else state.backups
            bounds = f"{state.lower:.4f} to {state.upper:.4f}, {state.vectors} vectors"
            bar.update(job, completed=done, bounds=bounds)

        yield tell


def result_table(facts: dict[str, Any]) -> Table:
    """A solution in a few lines."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="bold")
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        grid.add_row(name.replace("_", " "), Text(f"{value:,.6g}" if isinstance(value, float) else str(value)))
    return grid


def tell_ended(solution: Solution) -> None:
    """Say so when somebody stopped the solver: what there is, is a policy all the same."""
    if solution.ended == "interrupted":
        opt.talk.print("whiffclock: stopped; the policy found so far is kept.")
