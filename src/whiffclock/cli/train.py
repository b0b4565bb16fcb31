"""``whiffclock train``: ensembles of Q-learning agents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import ClockSettings, InputError, LearningSettings, environment_name, require


@app.command()
def train(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the policies.")] = Path("policies"),
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    part: opt.Part = "all",
    train_share: opt.TrainShare = 0.5,
    environment: opt.Environment = None,
    tau: Annotated[
        str | None,
        typer.Option(metavar="N[,N]|auto", help="Blank thresholds: none single-Q, one two-Q, more k-mode."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of agents per environment.")] = 20,
    first_seed: Annotated[int, typer.Option(help="Seed of the first agent.")] = 0,
    episodes: Annotated[int, typer.Option(help="Training episodes.")] = LearningSettings.episodes,
    decay: Annotated[
        float | None, typer.Option(help="Episodes over which both schedules fall; default: 2.5 of 3.")
    ] = None,
    horizon: Annotated[int, typer.Option(help="H: clock states and longest episode.")] = 500,
    gamma: Annotated[float, typer.Option(help="Discount.")] = LearningSettings.gamma,
    alpha_start: Annotated[float, typer.Option()] = LearningSettings.alpha_start,
    alpha_end: Annotated[float, typer.Option()] = LearningSettings.alpha_end,
    epsilon_start: Annotated[float, typer.Option()] = LearningSettings.epsilon_start,
    epsilon_end: Annotated[float, typer.Option()] = LearningSettings.epsilon_end,
    q_start: Annotated[float, typer.Option(help="First value of every Q.")] = LearningSettings.q_start,
    bootstrap: Annotated[bool, typer.Option(help="Bootstrap the target of a cut-short episode (R8).")] = True,
    split_zero: Annotated[bool, typer.Option("--split-zero", help="One whiff state per mode (R6).")] = False,
    literal_tau: Annotated[bool, typer.Option("--literal-tau", help="tau_t as a state index (R5).")] = False,
    radius: opt.Radius = 2.0,
    start_threshold: opt.StartThreshold = "7e-6",
    start_on_whiff: opt.StartOnWhiff = False,
    end_of_record: opt.EndOfRecord = "wrap",
    workers: Annotated[int | None, typer.Option(help="Trainings at once; default: all cores.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace policies made with other settings.")] = False,
    json: opt.AsJson = False,
) -> None:
    """Train clock agents by Q-learning. Every default is the paper's value.

    A policy that is already in the folder, made with the same settings, is kept: an interrupted training
    of an ensemble goes on where it stopped.
    """
    from whiffclock.agents.qlearning import Task
    from whiffclock.experiments.ensembles import policy_path, train_ensembles
    from whiffclock.experiments.tuning import balanced_tau

    require(seeds >= 1, f"--seeds is {seeds}; at least one agent is needed.")
    require(workers is None or workers >= 1, f"--workers is {workers}; it must be at least 1.")
    changes = {"alpha_decay": decay, "epsilon_decay": decay} if decay is not None else {}
    learning = LearningSettings.shortened(
        episodes,
        gamma=gamma,
        alpha_start=alpha_start,
        alpha_end=alpha_end,
        epsilon_start=epsilon_start,
        epsilon_end=epsilon_end,
        q_start=q_start,
        bootstrap_at_horizon=bootstrap,
        **changes,
    )
    world = opt.world_settings(radius, start_threshold, start_on_whiff, end_of_record)
    field = opt.open_plume(plume, source, part, train_share)
    tasks = []
    for threshold in opt.parse_thresholds(environment):
        taus = parse_taus(tau)
        if taus is None:
            with opt.talk.status(f"choosing tau for the {environment_name(threshold)} plume"):
                taus = (balanced_tau(field, threshold, world, horizon),)
        clock = ClockSettings(horizon, taus, split_zero, literal_tau)
        tasks += [
            Task(field, threshold, clock, learning, world, seed) for seed in range(first_seed, first_seed + seeds)
        ]

    with opt.training_bar(len(tasks), episodes, out) as progress:
        done = train_ensembles(tasks, out, workers, progress, force=force)

    summary = [
        {
            "file": str(policy_path(out, task)),
            "agent": task.name,
            "environment": environment_name(task.threshold),
            "tau": list(task.clock.taus),
            "seed": task.seed,
            "training_return": float(policy.records["curve"][-1, 1]),
            "training_arrivals": float(policy.records["curve"][-1, 2]),
            "trained_now": fresh,
        }
        for task, (policy, fresh) in zip(tasks, done, strict=True)
    ]
    if json:
        opt.print_json(summary)
        return
    fresh_count = sum(item["trained_now"] is True for item in summary)
    opt.out.print(
        f"{fresh_count} policies trained, {len(summary) - fresh_count} were there already; all in {out}/ "
        f"({field.origin})."
    )
    opt.out.print(f"Next: whiffclock compare {out}")


def parse_taus(text: str | None) -> tuple[int, ...] | None:
    """Blank thresholds; ``None`` means that they are to be chosen."""
    if text is None:
        return ()
    if text == "auto":
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--tau is {text!r}; it must be 'auto' or whole numbers such as 10 or 5,20.") from error
