"""``whiffclock bayes``: the quasi-optimal Bayesian agent, and cheaper agents with the same belief."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app, evaluation
from whiffclock.cli import options as opt
from whiffclock.cli import pomdp as solver
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.help import App
from whiffclock.params import BayesSettings, EvaluationSettings, WorldSettings, require

bayes_app = App(help="Solve and evaluate Bayesian agents.")
app.add_typer(bayes_app, name="bayes")

World = Annotated[WorldSettings, OptionGroup(opt.WORLD_SPECS, only=("radius", "start_threshold"))]
Assumed = Annotated[BayesSettings, OptionGroup(panel="Model")]


@bayes_app.command()
@with_options
def solve(
    *,
    environment: Annotated[list[str], "Environment of the plume, or a threshold.", OptionSpec("NAME", short="-e")],
    plume: opt.PlumeSettings,
    settings: solver.Solver,
    assumed: Assumed,
    world: World,
    start: Annotated[Path | None, "Continue from a solved policy.", OptionSpec("FILE")] = None,
    out: Annotated[Path | None, "Write the policy to this .npz file.", OptionSpec("FILE")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Solve for the quasi-optimal Bayesian agent, with bounds on its value.

    Ctrl-C stops it and keeps the best policy so far.

    Example: whiffclock bayes solve -e sparse --seconds 300 --out sparse.npz
    """
    from whiffclock.runs.kinds import Solve

    settings = solver.with_budget(settings)
    opt.require_new(out, force)
    given = ", ".join(environment)
    require(len(environment) == 1, f"--environment was given {len(environment)} times ({given}); solve one at a time.")
    field = plume.open()
    threshold = field.environments.threshold_of(environment[0], "--environment")
    name = field.environments.name_of(threshold)
    plume.require_sound(field, world, 0, [threshold])
    job = Solve(field.fingerprint, threshold, field.settle(world), assumed, settings)
    with solver.solving(name, settings) as report:
        policy, solution = job.solved(field, report, start)
    solver.explain(solution, settings)
    if out is not None:
        policy.save(out)
    model = policy.model
    cells = {"grid": " x ".join(map(str, model.target.shape)), "start_cells": len(model.root().cells)}
    facts = {"environment": name, "plume": field.origin, **cells, **solution.to_dict()}
    solver.show(facts, solution, json)
    if out is not None:
        opt.say(f"Policy: {out}")
        opt.hint("bayes", "evaluate", out, plume=plume, world=world)


@bayes_app.command()
@with_options
def export(
    *,
    out: Annotated[Path, typer.Argument(metavar="MODEL", help="The .pomdp file to write.")],
    environment: Annotated[str, "Environment of the plume, or a threshold.", OptionSpec("NAME", short="-e")],
    plume: opt.PlumeSettings,
    assumed: Assumed,
    world: World,
    force: opt.Force = False,
) -> None:
    """Write the search as a POMDP in Cassandra's format, for other solvers.

    Example: whiffclock bayes export sparse.pomdp -e sparse
    """
    from whiffclock.agents.bayes import search_model
    from whiffclock.pomdp.files.writing import write_pomdp
    from whiffclock.world.moves import ACTIONS

    require(out.suffix == ".pomdp", f"{out} must end in .pomdp.")
    why = "only independent whiffs make a POMDP on the position"
    require(assumed.likelihood == "independent", f"--likelihood is {assumed.likelihood}; {why}.")
    opt.require_new(out, force)
    field = plume.open()
    threshold = field.environments.threshold_of(environment, "--environment")
    tables = search_model(field, threshold, assumed, world).tables()
    actions = tuple(name.replace("+", "plus_").replace("-", "minus_") for name in ACTIONS)
    tables = replace(tables, actions=actions, observations=("blank", "whiff", "arrival"))
    about = f"Search for the source of a plume, {field.origin}; environment {field.environments.name_of(threshold)}"
    write_pomdp(tables, out, f"{about}\nStates: position relative to the source")
    opt.say(f"Model: {out}")


@bayes_app.command()
@with_options
def evaluate(
    *,
    policies: Annotated[list[Path] | None, typer.Argument(metavar="[FILE...]", help="Solved policies.")] = None,
    agent: Annotated[
        list[str] | None, "QMDP, infotaxis or 'space-aware infotaxis'; may be repeated.", OptionSpec("NAME", short="-a")
    ] = None,
    environment: opt.Environment = None,
    plume: opt.PlumeSettings,
    settings: EvaluationSettings,
    assumed: Assumed,
    world: World,
    engine: opt.Engine,
    json: opt.AsJson = False,
) -> None:
    """Evaluate Bayesian agents from every start, and measure the time per decision.

    Example: whiffclock bayes evaluate sparse.npz --agent infotaxis -e sparse
    """
    from whiffclock.agents.bayes import BeliefPolicy, belief_heuristic, conditional_chances, search_model

    require(bool(policies or agent), "No policy was given; name files of solved policies, or agents with --agent.")
    field = plume.open()
    world = field.settle(world)
    solved = [(path, BeliefPolicy.load(path)) for path in policies or []]
    for path, policy in solved:
        fits = assumed.likelihood == "independent" or policy.conditional is not None
        again = f"solve again with --likelihood conditional, perhaps --start {path} --backups 0"
        require(fits, f"The belief of {path} has independent likelihoods; {again}.")
    chosen = evaluation.in_environments(solved, field, environment)
    tests = [(path.stem, policy, threshold) for path, policy, threshold in chosen]
    for threshold in opt.thresholds_in(field, environment) if agent else []:
        model = search_model(field, threshold, assumed, world)
        chances = conditional_chances(field, threshold, assumed)
        tests += [(name, belief_heuristic(name, model, conditional=chances), threshold) for name in agent or []]
    evaluation.require_sound(plume, field, world, settings, tests)
    results = evaluation.evaluated(tests, field, world, settings, engine)
    labels = [label for label, *_ in tests]
    if json:
        facts = [{"microseconds_per_decision": micro, **tested.to_dict()} for tested, micro in results]
        names = [{"agent": label, "environment": r.environment} for label, (r, _) in zip(labels, results, strict=True)]
        opt.print_json([name | fact for name, fact in zip(names, facts, strict=True)])
        return
    evaluation.show_table(labels, [tested for tested, _ in results], field, settings)
    for label, (tested, micro) in zip(labels, results, strict=True):
        opt.messages.print(f"{label} in {tested.environment}: {micro:.0f} microseconds per decision")
    evaluation.warn_other_plume(field, [policy for _, policy, _ in tests], settings)
