"""``whiffclock train``: ensembles of Q-learning agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.words import Spelling, Word, described
from whiffclock.params import InputError, LearningSettings, environment_name, require

if TYPE_CHECKING:
    from whiffclock.memory import Memory

Learning = Annotated[LearningSettings, Spelling({"bootstrap_at_horizon": Word(name="bootstrap")})]


@app.command()
@described
def train(
    *,
    out: Annotated[Path, "Folder for the policies.", Word("DIR")] = Path("policies"),
    plume: opt.PlumeSettings,
    environment: opt.Environment = None,
    memory: Annotated[
        str, "What agents remember: clock, or window:4, the last 4 observations.", Word("NAME[:N]")
    ] = "clock",
    tau: Annotated[
        str | None, "Blank thresholds of the clock: none single-Q, one two-Q, more k-mode.", Word("N[,N]|auto")
    ] = None,
    seeds: Annotated[int, "Number of agents per environment."] = 20,
    first_seed: Annotated[int, "Seed of the first agent."] = 0,
    learning: Learning,
    decay: Annotated[float | None, "Episodes over which both schedules fall; default: 2.5 of 3."] = None,
    split_zero: Annotated[bool, "One whiff state per mode (R6)."] = False,
    literal_tau: Annotated[bool, "tau_t as a state index (R5)."] = False,
    world: opt.World,
    store: opt.StoreFolder = None,
    workers: opt.Workers = None,
    force: Annotated[bool, "Replace policies made with other settings."] = False,
    json: opt.AsJson = False,
) -> None:
    """Train agents by Q-learning. Every default is the paper's value.

    A policy that is already in the folder, made with the same settings, is
    kept: an interrupted training of an ensemble goes on where it stopped.
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
    decay = LearningSettings.shortened(learning.episodes).alpha_decay if decay is None else decay
    learning = replace(learning, alpha_decay=decay, epsilon_decay=decay)
    taus, at_once = parse_taus(tau), workers or cores()
    require(memory.startswith("clock") or tau is None, f"--tau belongs to the clock; the memory is {memory}.")

    def remembered(found: tuple[int, ...]) -> Memory:
        return parse_memory(memory, length=learning.horizon, taus=found, split_zero=split_zero, literal_tau=literal_tau)

    chosen = dict.fromkeys(opt.parse_thresholds(environment), taus or ())
    remembered(taus or ())
    field = plume.open()
    require_writable(out)
    for threshold in chosen:  # bad input is found before any work is done
        start_cells(field, threshold, world, learning.horizon)
    kept = Store(store) if store is not None else None
    if taus is None:
        scan = TauScan(seeds=min(3, seeds), episodes=max(1, round(learning.episodes / 3)), horizon=learning.horizon)
        agents = [job for t in chosen for jobs in scan.trainings(field, t, world).values() for job in jobs]
        scanned = PolicyFolder(out, [], kept)
        with opt.job_bar("choosing tau", work_in(missing(agents, scanned), field), out) as (progress, _):
            for threshold in chosen:
                chosen[threshold] = (choose_tau(field, threshold, world, scan, scanned, at_once, progress),)
    jobs = [
        Train(field.fingerprint, threshold, remembered(found), learning, world, seed)
        for threshold, found in chosen.items()
        for seed in range(first_seed, first_seed + seeds)
    ]
    folder = PolicyFolder(out, jobs, kept, force=force)
    with opt.job_bar(f"training {len(jobs)} agents", work_in(missing(jobs, folder), field), out) as (progress, _):
        fresh = {job.key for job in execute(jobs, field, folder, at_once, progress)}
    if not json:
        there = f"{len(jobs) - len(fresh)} were there already; all in {out}/ ({field.origin})"
        opt.out.print(f"{len(fresh)} policies trained, {there}.")
        opt.out.print(f"Next: whiffclock compare {out}" + ("" if plume.plume is None else f" --plume {plume.plume}"))
        return
    curves = [run(job, field, folder).records["curve"] for job in jobs]
    opt.print_json(
        [
            {
                "file": str(policy_path(out, job)),
                "agent": job.agent,
                "environment": environment_name(job.threshold),
                "memory": job.memory.spec,
                "tau": job.memory.spec.get("taus", []),
                "seed": job.seed,
                "training_return": float(curve[-1, 1]),
                "training_arrivals": float(curve[-1, 2]),
                "trained_now": job.key in fresh,
            }
            for job, curve in zip(jobs, curves, strict=True)
        ]
    )


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
