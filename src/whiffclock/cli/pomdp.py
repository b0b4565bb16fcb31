"""``whiffclock pomdp``: solve POMDPs from files; the solver, for other commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.help import App
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.progress import solver_report

if TYPE_CHECKING:
    from whiffclock.pomdp.solver import Report, Solution

pomdp_app = App(help="Solve POMDPs from .pomdp and .pomdpx files with SARSOP.")
app.add_typer(pomdp_app, name="pomdp")

_SECONDS = OptionSpec(note=" Default: 60, or no limit with --cpu-seconds or --backups.", optional=True)
Solver = Annotated[SolverSettings, OptionGroup({"seconds": _SECONDS})]


@pomdp_app.callback()
def _commands() -> None:
    """Keeps ``solve`` a command of its own."""


@pomdp_app.command()
@with_options
def solve(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .pomdp or .pomdpx file.")],
    settings: Solver,
    start: Annotated[Path | None, "Continue from a .policy file.", OptionSpec("POLICY")] = None,
    out: Annotated[Path | None, "Write the policy to this .policy file.", OptionSpec("POLICY")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Solve a POMDP: bounds on its value, and a policy that attains the lower one.

    Ctrl-C stops it and keeps the best policy so far.

    Example: whiffclock pomdp solve Tiger.pomdp --seconds 10 --out tiger.policy
    """
    from whiffclock.pomdp.blocks import BlockModel, from_pieces, to_pieces
    from whiffclock.pomdp.bounds import worst_value
    from whiffclock.pomdp.files import read_model
    from whiffclock.pomdp.files.policyfile import read_policy, write_policy
    from whiffclock.pomdp.solver import solve as solve_model

    settings = with_budget(settings)
    opt.require_new(out, force)
    with opt.messages.status("reading"):
        tables = read_model(file)
        model = BlockModel(tables)
        vectors = from_pieces(model, read_policy(start, tables)) if start is not None else []
    with solving(file.name, settings) as report:
        solution = solve_model(model, settings, vectors, report)
    explain(solution, settings)
    if out is not None:
        pieces = to_pieces(model, solution.vectors)
        write_policy(out, tables, pieces, floor=worst_value(model), name=file.name)
    shape = {"states": len(tables.states), "actions": len(tables.actions), "observations": len(tables.observations)}
    size = {"blocks": model.n_blocks, "model_megabytes": model.megabytes}
    facts = {"file": str(file), **shape, **size, **solution.to_dict()}
    show(facts, solution, json)
    if out is not None:
        opt.say(f"Policy: {out}")


def show(facts: dict[str, Any], solution: "Solution", json: bool) -> None:
    """Print the facts of a solution as a table, or with the bounds over time as JSON."""
    history = {"history": [asdict(state) for state in solution.history]} if json else {}
    opt.show(facts | history, json, ",.6g", untabled="loose_first_bounds")


def with_budget(settings: SolverSettings) -> SolverSettings:
    """The settings, with the default time limit if there is no limit."""
    return SolverSettings.limited(**settings.to_dict())


@contextmanager
def solving(what: str, settings: SolverSettings) -> Iterator["Report"]:
    """Progress of a solver: a function that shows both bounds and the share of the budget used."""
    with opt.progress_bar("") as bar:
        bar.begin(f"solving {what}", settings.budget[1])
        yield solver_report(bar, settings)


def explain(solution: "Solution", settings: SolverSettings) -> None:
    """Print why a solver stopped early, or began with loose bounds."""
    if solution.ended == "interrupted":
        opt.say("whiffclock: stopped; the policy found so far is kept.")
    if solution.loose_first_bounds:
        name, limit = settings.budget
        loose = f"the time limit of {limit:g} s"
        opt.say(f"whiffclock: the initial bounds are loose ({loose}), but valid. --{name.replace('_', '-')} sets it.")
    if solution.ended == "memory is full":
        full = f"the memory limit of {settings.megabytes:g} MB was reached after {solution.seconds:.0f} s"
        opt.say(f"whiffclock: {full}; the policy found so far is kept. --megabytes sets the limit.")
