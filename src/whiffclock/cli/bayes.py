"""``whiffclock bayes``: the quasi-optimal Bayesian agent, and cheaper ones on the same belief."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from whiffclock.cli import app, judge
from whiffclock.cli import options as opt
from whiffclock.cli import pomdp as solver
from whiffclock.params import EvaluationSettings, InputError, environment_name, require

if TYPE_CHECKING:
    import numpy as np

    from whiffclock.agents.bayes import BayesSettings, BeliefPolicy
    from whiffclock.params import WorldSettings
    from whiffclock.plume import Plume
    from whiffclock.pomdp.gridsearch import GridSearch
    from whiffclock.pomdp.start import Start

bayes_app = typer.Typer(help="Solve and judge agents that act on what they believe.", no_args_is_help=True)
app.add_typer(bayes_app, name="bayes")

Discount = Annotated[float, typer.Option(help="Discount per step of the agent's model.")]
Floor = Annotated[float, typer.Option(help="Least probability of a whiff, and of a blank, in any cell.")]


@bayes_app.command()
def solve(
    environment: Annotated[str, typer.Option("--environment", "-e", metavar="NAME", help="Environment or threshold.")],
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    part: opt.Part = "all",
    train_share: opt.TrainShare = 0.5,
    seconds: solver.Seconds = None,
    backups: solver.Backups = None,
    gap: solver.Gap = 1e-3,
    megabytes: solver.Megabytes = 1000.0,
    sampling: solver.Sampling = "mixed",
    seed: solver.Seed = 0,
    discount: Discount = 0.98,
    floor: Floor = 1e-3,
    radius: opt.Radius = 2.0,
    start_threshold: opt.StartThreshold = "7e-6",
    start: Annotated[Path | None, typer.Option(metavar="FILE", help="Go on from a policy solved before.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the policy in this .npz file.")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Solve the search in a plume at a threshold: bounds on its value, and the quasi-optimal agent.

    Ctrl-C ends it with what there is.
    """
    from whiffclock.agents.bayes import BayesSettings, quasi_optimal, search_model
    from whiffclock.agents.files import save_belief_policy

    settings = solver.solver_settings(seconds, backups, gap, megabytes, sampling, seed)
    opt.require_new(out, force)
    threshold = opt.parse_threshold(environment, "--environment")
    world = opt.world_settings(radius, start_threshold)
    believed = BayesSettings(discount, floor)
    field = opt.open_plume(plume, source, part, train_share)
    model = search_model(field, threshold, believed, world)
    vectors = [] if start is None else earlier_vectors(start, model)
    solution = solver.solved(environment_name(threshold), model, settings, vectors)
    made_from = provenance(field, threshold, world, believed) | {"solver": settings.to_dict(), **solution.to_dict()}
    if out is not None:
        save_belief_policy(out, quasi_optimal(model, solution.vectors, made_from))
    cells = {"grid": " x ".join(map(str, model.target.shape)), "start_cells": len(model.root().cells)}
    facts = {"environment": environment_name(threshold), "plume": field.origin, **cells, **solution.to_dict()}
    solver.show(facts, json)


def earlier_vectors(path: Path, model: GridSearch) -> Start:
    """Vectors of a policy solved before, to go on from; they must be bounds for this model, too."""
    import numpy as np

    from whiffclock.agents.files import load_belief_policy

    before = load_belief_policy(path)
    vectors, other = before.vectors, before.model
    same = other.discount == model.discount and all(
        np.array_equal(getattr(other, name), getattr(model, name)) for name in ("likelihood", "target")
    )
    if vectors is None or not same:
        raise InputError(f"{path} was not solved for this plume, threshold, floor and discount; start without it.")
    return [(0, vector, int(action)) for vector, action in zip(vectors.array(), vectors.actions(), strict=True)]


@bayes_app.command()
def evaluate(
    policies: Annotated[list[Path] | None, typer.Argument(metavar="[FILE...]", help="Solved policies.")] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", "-a", metavar="NAME", help="QMDP, infotaxis or 'space-aware infotaxis'; repeatable."),
    ] = None,
    environment: opt.Environment = None,
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    part: opt.Part = "all",
    train_share: opt.TrainShare = 0.5,
    snapshots: judge.Snapshots = EvaluationSettings.snapshots,
    seed: judge.Seed = EvaluationSettings.seed,
    gamma: judge.Gamma = EvaluationSettings.gamma,
    horizon: judge.Horizon = None,
    discount: Discount = 0.98,
    floor: Floor = 1e-3,
    radius: opt.Radius = 2.0,
    start_threshold: opt.StartThreshold = "7e-6",
    json: opt.AsJson = False,
) -> None:
    """Search from every start: G, T_min/T and f+ of solved policies and of cheaper agents, and time per decision."""
    from whiffclock.agents.bayes import BayesSettings, neighbour, search_model
    from whiffclock.agents.files import load_belief_policy
    from whiffclock.evaluate import evaluate as search_all
    from whiffclock.evaluate import make_starts, own_horizon
    from whiffclock.paper.tables import evaluation_table

    require(bool(policies or agent), "Nobody was named; give files of solved policies, or agents with --agent.")
    settings = EvaluationSettings(snapshots, seed, gamma, horizon)
    world = opt.world_settings(radius, start_threshold)
    believed = BayesSettings(discount, floor)
    field = opt.open_plume(plume, source, part, train_share)
    jobs: list[tuple[str, BeliefPolicy, float]] = []
    for path in policies or []:
        policy = load_belief_policy(path)
        own = [] if policy.threshold is None else [policy.threshold]
        thresholds = opt.parse_thresholds(environment) if environment else own
        require(bool(thresholds), f"{path} belongs to no environment; name one with --environment.")
        jobs += [(path.stem, policy, threshold) for threshold in thresholds]
    for threshold in opt.parse_thresholds(environment) if agent else []:
        model = search_model(field, threshold, believed, world)
        jobs += [(name, neighbour(name, model), threshold) for name in agent or []]
    named, cost = [], []
    with opt.progress_bar("searches") as bar:
        task = bar.add_task("searching", total=None)
        for label, policy, threshold in jobs:
            starts = make_starts(field, threshold, world, settings, settings.horizon or own_horizon(policy))
            bar.reset(task, total=len(starts), description=f"{escape(label)} in {environment_name(threshold)}")
            began = time.thread_time()
            tell = partial(bar.advance, task)
            tested = search_all(policy, field, threshold, world, settings, starts, tell)
            cost.append(1e6 * (time.thread_time() - began) / int(tested.mode_steps.sum()))
            named.append((label, environment_name(threshold), tested))
    if json:
        rows = zip(named, cost, strict=True)
        opt.print_json(
            [
                {"agent": label, "environment": name, "microseconds_per_decision": micro, **tested.to_dict()}
                for (label, name, tested), micro in rows
            ]
        )
        return
    caption = judge.caption(field, settings)
    opt.out.print(evaluation_table(named, "Mean over all starts ± standard error", caption))
    for (label, name, _), micro in zip(named, cost, strict=True):
        opt.talk.print(f"{label} in {name}: {micro:.0f} microseconds per decision", markup=False)
    judge.warn_other_plume(field, [policy.made_from.get("plume") for _, policy, _ in jobs])


def provenance(field: Plume, threshold: float, world: WorldSettings, believed: BayesSettings) -> dict[str, Any]:
    """Everything that determines the model."""
    return {
        "threshold": threshold,
        "plume": field.fingerprint,
        "plume_origin": field.origin,
        "world": world.to_dict(),
        "model": believed.to_dict(),
    }
