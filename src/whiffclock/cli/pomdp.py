"""``whiffclock pomdp``: solve POMDPs from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from whiffclock.cli import app, solving
from whiffclock.cli import options as opt

pomdp_app = typer.Typer(help="Solve POMDPs from .pomdp and .pomdpx files with SARSOP.", no_args_is_help=True)
app.add_typer(pomdp_app, name="pomdp")


@pomdp_app.callback()
def _commands() -> None:
    """Keeps ``solve`` a command of its own."""


@pomdp_app.command()
def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .pomdp or .pomdpx file.")],
    seconds: solving.Seconds = None,
    backups: solving.Backups = None,
    gap: solving.Gap = 1e-3,
    megabytes: solving.Megabytes = 1000.0,
    sampling: solving.Sampling = "mixed",
    seed: solving.Seed = 0,
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
    from whiffclock.pomdp.solver import solve as solve_model

    settings = solving.solver_settings(seconds, backups, gap, megabytes, sampling, seed)
    opt.require_new(out, force)
    with opt.talk.status(f"reading {escape(file.name)}"):
        tables = read_model(file)
        model = BlockModel(tables)
        vectors = from_table(model, *read_policy(start, tables)) if start is not None else []
    with solving.solver_bar(file.name, settings) as tell:
        solution = solve_model(model, settings, vectors, tell)
    solving.tell_ended(solution)
    if out is not None:
        table, actions = to_table(model, solution.vectors)
        write_policy(out, tables, table, actions, floor=worst_value(model), name=file.name)
    shape = {"states": len(tables.states), "actions": len(tables.actions), "observations": len(tables.observations)}
    facts = {"file": str(file), **shape, "blocks": model.n_blocks, **solution.to_dict()}
    if json:
        opt.print_json(facts)
    else:
        opt.out.print(solving.result_table(facts))
