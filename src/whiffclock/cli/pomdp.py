"""``whiffclock pomdp``: solve POMDPs from files; and what other commands need to run the solver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from whiffclock.cli import app
from whiffclock.cli import options as opt

if TYPE_CHECKING:
    from whiffclock.pomdp.model import Model
    from whiffclock.pomdp.solver import Progress as State
    from whiffclock.pomdp.solver import Solution, SolverSettings
    from whiffclock.pomdp.start import Start

pomdp_app = typer.Typer(help="Solve POMDPs from .pomdp and .pomdpx files with SARSOP.", no_args_is_help=True)
app.add_typer(pomdp_app, name="pomdp")

Seconds = Annotated[float | None, typer.Option(help="Time to solve for; default: 60, or no limit with --backups.")]
Backups = Annotated[int | None, typer.Option(help="Number of backups: a budget that can be repeated.")]
Gap = Annotated[float, typer.Option(help="Stop when the bounds are this close.")]
Megabytes = Annotated[float, typer.Option(help="Stop when the solver takes more memory.")]
Sampling = Annotated[str, typer.Option(metavar="mixed|published|policy", help="How beliefs are sampled.")]
Seed = Annotated[int, typer.Option(help="Seed of the observations that are drawn.")]


@pomdp_app.callback()
def _commands() -> None:
    """Keeps ``solve`` a command of its own."""


@pomdp_app.command()
def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .pomdp or .pomdpx file.")],
    seconds: Seconds = None,
    backups: Backups = None,
    gap: Gap = 1e-3,
    megabytes: Megabytes = 1000.0,
    sampling: Sampling = "mixed",
    seed: Seed = 0,
    start: Annotated[Path | None, typer.Option(metavar="POLICY", help="Go on from a .policy file.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="POLICY", help="Write the policy to this .policy file.")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Solve a POMDP: lower and upper bound on its value, and a policy that attains the lower one.

    Ctrl-C ends it with what there is.
    """
    from whiffclock.pomdp.blocks import BlockModel, from_table, to_table, worst_value
    from whiffclock.pomdp.files import read_model
    from whiffclock.pomdp.files.policyfile import read_policy, write_policy

    settings = solver_settings(seconds, backups, gap, megabytes, sampling, seed)
    opt.require_new(out, force)
    with opt.talk.status("reading"):
        tables = read_model(file)
        model = BlockModel(tables)
        vectors = from_table(model, *read_policy(start, tables)) if start is not None else []
    solution = solved(file.name, model, settings, vectors)
    if out is not None:
        table, actions = to_table(model, solution.vectors)
        write_policy(out, tables, table, actions, floor=worst_value(model), name=file.name)
    shape = {"states": len(tables.states), "actions": len(tables.actions), "observations": len(tables.observations)}
    show({"file": str(file), **shape, "blocks": model.n_blocks, **solution.to_dict()}, json)


def solver_settings(
    seconds: float | None, backups: int | None, gap: float, megabytes: float, sampling: str, seed: int
) -> SolverSettings:
    """Settings from the command line's words."""
    from whiffclock.pomdp.solver import SolverSettings

    if seconds is None and backups is None:
        seconds = SolverSettings.seconds
    return SolverSettings(seconds, backups, gap, megabytes, sampling, seed)  # type: ignore[arg-type]


def solved(what: str, model: Model, settings: SolverSettings, start: Start) -> Solution:
    """Solve a model; a bar shows both bounds as they come together, and how much of the budget is used."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from whiffclock.pomdp.solver import solve as solve_model

    name, bounds = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[bounds]}")
    columns = SpinnerColumn(), name, BarColumn(bar_width=None), bounds, TimeElapsedColumn()
    with Progress(*columns, console=opt.talk, transient=True) as bar:
        job = bar.add_task(what, total=settings.seconds or settings.backups, bounds="")

        def tell(state: State) -> None:
            done = state.seconds if settings.seconds is not None else state.backups
            told = f"{state.lower:.4f} to {state.upper:.4f}, {state.vectors} vectors"
            bar.update(job, completed=done, bounds=told)

        solution = solve_model(model, settings, start, tell)
    if solution.ended == "interrupted":
        opt.talk.print("whiffclock: stopped; the policy found so far is kept.")
    return solution


def show(facts: dict[str, Any], json: bool) -> None:
    """A solution in a few lines, or as JSON."""
    if json:
        opt.print_json(facts)
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="bold")
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        grid.add_row(name.replace("_", " "), Text(f"{value:,.6g}" if isinstance(value, float) else str(value)))
    opt.out.print(grid)
