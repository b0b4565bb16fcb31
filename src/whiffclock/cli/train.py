"""``whiffclock train``: ensembles of Q-learning agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import InputError, LearningSettings, environment_name, require

if TYPE_CHECKING:
    from whiffclock.memory import Memory


@app.command()
def train(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the policies.")] = Path("policies"),
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    part: opt.Part = "all",
    train_share: opt.TrainShare = 0.5,
    environment: opt.Environment = None,
    memory: Annotated[
        str, typer.Option(metavar="NAME[:N]", help="What agents remember: clock, or window:4, the last 4 observations.")
    ] = "clock",
    tau: Annotated[
        str | None,
        typer.Option(
            metavar="N[,N]|auto", help="Blank thresholds of the clock: none single-Q, one two-Q, more k-mode."
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of agents per environment.")] = 20,
    first_seed: Annotated[int, typer.Option(help="Seed of the first agent.")] = 0,
    episodes: Annotated[int, typer.Option(help="Training episodes.")] = LearningSettings.episodes,
    decay: Annotated[
        float | None, typer.Option(help="Episodes over which both schedules fall; default: 2.5 of 3.")
    ] = None,
    horizon: Annotated[
        int, typer.Option(help="H: longest episode, and states of the clock unless --memory says.")
    ] = LearningSettings.horizon,
    gamma: Annotated[float, typer.Option(help="Discount.")] = LearningSettings.gamma,
    alpha_start: Annotated[float, typer.Option(help="First learning rate.")] = LearningSettings.alpha_start,
    alpha_end: Annotated[float, typer.Option(help="Last learning rate.")] = LearningSettings.alpha_end,
    epsilon_start: Annotated[float, typer.Option(help="First rate of exploration.")] = LearningSettings.epsilon_start,
    epsilon_end: Annotated[float, typer.Option(help="Last rate of exploration.")] = LearningSettings.epsilon_end,
    q_start: Annotated[float, typer.Option(help="First value of every Q.")] = LearningSettings.q_start,
    bootstrap: Annotated[bool, typer.Option(help="Bootstrap the target of a cut-short episode (R8).")] = True,
    split_zero: Annotated[bool, typer.Option("--split-zero", help="One whiff state per mode (R6).")] = False,
    literal_tau: Annotated[bool, typer.Option("--literal-tau", help="tau_t as a state index (R5).")] = False,
    radius: opt.Radius = 2.0,
    start_threshold: opt.StartThreshold = "7e-6",
    start_on_whiff: opt.StartOnWhiff = False,
    end_of_record: opt.EndOfRecord = "wrap",
    store: opt.StoreFolder = None,
    workers: opt.Workers = None,
    force: Annotated[bool, typer.Option("--force", help="Replace policies made with other settings.")] = False,
    json: opt.AsJson = False,
) -> None:
    """Train agents by Q-learning. Every default is the paper's value.

    A policy that is already in the folder, made with the same settings, is kept: an interrupted training
    of an ensemble goes on where it stopped.
    """
    from whiffclock.archive import require_writable
    from whiffclock.memory import parse_memory
    from whiffclock.runs.engine import cores
    from whiffclock.runs.ensembles import PolicyFolder, TauScan, choose_tau, policy_path
    from whiffclock.runs.jobs import execute, missing, run, work_in
    from whiffclock.runs.kinds import Train
    from whiffclock.runs.store import Store
    from whiffclock.search import start_cells

    require(seeds >= 1, f"--seeds is {seeds}; at least one agent is needed.")
    require(first_seed >= 0, f"The seed is {first_seed}; it must be 0 or more.")
    require(workers is None or workers >= 1, f"--workers is {workers}; it must be at least 1.")
    changes = {"alpha_decay": decay, "epsilon_decay": decay} if decay is not None else {}
    learning = LearningSettings.shortened(
        episodes,
        horizon=horizon,
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
    taus, at_once = parse_taus(tau), workers or cores()
    require(memory.startswith("clock") or tau is None, f"--tau belongs to the clock; the memory is {memory}.")

    def remembered(found: tuple[int, ...]) -> Memory:
        return parse_memory(memory, length=horizon, taus=found, split_zero=split_zero, literal_tau=literal_tau)

    chosen = dict.fromkeys(opt.parse_thresholds(environment), taus or ())
    remembered(taus or ())
    field = opt.open_plume(plume, source, part, train_share)
    require_writable(out)
    for threshold in chosen:  # bad input is found before any work is done
        start_cells(field, threshold, world, horizon)
    kept = Store(store) if store is not None else None
    if taus is None:
        scan = TauScan(seeds=min(3, seeds), episodes=max(1, round(episodes / 3)), horizon=horizon)
        agents = [job for t in chosen for jobs in scan.trainings(field, t, world).values() for job in jobs]
        scanned = PolicyFolder(out, [], kept)
        with opt.training_bar("choosing tau", work_in(missing(agents, scanned), field), out) as progress:
            for threshold in chosen:
                chosen[threshold] = (choose_tau(field, threshold, world, scan, scanned, at_once, progress),)
    jobs = [
        Train(field.fingerprint, threshold, remembered(found), learning, world, seed)
        for threshold, found in chosen.items()
        for seed in range(first_seed, first_seed + seeds)
    ]
    folder = PolicyFolder(out, jobs, kept, force=force)
    with opt.training_bar(f"training {len(jobs)} agents", work_in(missing(jobs, folder), field), out) as progress:
        fresh = {job.key for job in execute(jobs, field, folder, at_once, progress)}
    policies = [run(job, field, folder) for job in jobs]

    summary = [
        {
            "file": str(policy_path(out, job)),
            "agent": job.agent,
            "environment": environment_name(job.threshold),
            "memory": job.memory.spec,
            "tau": job.memory.spec.get("taus", []),
            "seed": job.seed,
            "training_return": float(policy.records["curve"][-1, 1]),
            "training_arrivals": float(policy.records["curve"][-1, 2]),
            "trained_now": job.key in fresh,
        }
        for job, policy in zip(jobs, policies, strict=True)
    ]
    if json:
        opt.print_json(summary)
        return
    opt.out.print(
        f"{len(fresh)} policies trained, {len(jobs) - len(fresh)} were there already; all in {out}/ ({field.origin})."
    )
    opt.out.print(f"Next: whiffclock compare {out}" + ("" if plume is None else f" --plume {plume}"))


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
