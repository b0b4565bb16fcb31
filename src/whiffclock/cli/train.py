"""``whiffclock train``: ensembles of Q-learning agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.params import InputError, LearningSettings, require, require_range

if TYPE_CHECKING:
    from whiffclock.memory import Memory

Learning = Annotated[LearningSettings, OptionGroup({"bootstrap_at_horizon": OptionSpec(name="bootstrap")})]


@app.command()
@with_options
def train(
    *,
    out: Annotated[Path, "Folder for the policies.", OptionSpec("DIR")] = Path("policies"),
    plume: opt.PlumeSettings,
    environment: opt.Environment = None,
    memory: Annotated[str, "Memory: clock, or window:4 (the last 4 observations).", OptionSpec("NAME[:N]")] = "clock",
    tau: Annotated[
        str | None,
        "Blank thresholds. None: single-Q; one: two-Q; auto: found by a scan; more: several modes.",
        OptionSpec("N[,N]|auto"),
    ] = None,
    seeds: Annotated[int, "Number of agents per environment."] = 20,
    first_seed: Annotated[int, "Seed of the first agent."] = 0,
    learning: Learning,
    decay: Annotated[float | None, "Episodes over which alpha and epsilon fall; default: 5/6 of them."] = None,
    split_zero: Annotated[bool, "Give each mode its own whiff state, not one shared by all."] = False,
    literal_tau: Annotated[
        bool, "Compare tau with the index of the last state (as printed in the paper), not with the last blank."
    ] = False,
    world: opt.World,
    store: opt.StoreFolder = None,
    engine: opt.Engine,
    force: Annotated[bool, "Replace policies that were trained with other settings."] = False,
    json: opt.AsJson = False,
) -> None:
    """Train agents by Q-learning, by default as in the paper, in all environments of the plume.

    Policies that exist, with the same settings, are kept: after an
    interruption, the same command continues.

    Example: whiffclock train -e sparse --tau 10 --seeds 5 --episodes 300000
    """
    from whiffclock.archive import require_writable
    from whiffclock.memory import parse_memory
    from whiffclock.runs.ensembles import PolicyFolder, TauScan, choose_tau
    from whiffclock.runs.jobs import execute, missing, run, work_in
    from whiffclock.runs.kinds import Train
    from whiffclock.runs.store import Store
    from whiffclock.world.starts import start_cells

    require(seeds >= 1, f"--seeds is {seeds}; at least one agent is needed.")
    require(first_seed >= 0, f"The seed is {first_seed}; it must be 0 or more.")
    require_range("--seeds", seeds, 1, 100_000)
    require_range("--first-seed", first_seed)
    decay = LearningSettings.shortened(learning.episodes).alpha_decay if decay is None else decay
    learning = replace(learning, alpha_decay=decay, epsilon_decay=decay)
    taus = parse_taus(tau)
    require(memory.startswith("clock") or tau is None, f"--tau is a setting of the clock; the memory is {memory}.")

    def remembered(found: tuple[int, ...]) -> Memory:
        return parse_memory(memory, length=learning.horizon, taus=found, split_zero=split_zero, literal_tau=literal_tau)

    remembered(taus or ())
    field = plume.open()
    chosen = dict.fromkeys(opt.thresholds_in(field, environment), taus or ())
    asked, world = world, field.settle(world)
    for place in (out, store or out):
        require_writable(place)
    for threshold in chosen:  # bad input is found before any work is done
        start_cells(field, threshold, world, learning.horizon)
    kept = Store(store) if store is not None else None
    with engine.open(opt.say) as pool:
        if taus is None:
            scan = TauScan(seeds=min(3, seeds), episodes=max(1, round(learning.episodes / 3)), horizon=learning.horizon)
            agents = [job for t in chosen for jobs in scan.trainings(field, t, world).values() for job in jobs]
            scanned = PolicyFolder(out, [], kept)
            with opt.job_bar("choosing tau", work_in(missing(agents, scanned), field), out) as bar:
                for threshold in chosen:
                    chosen[threshold] = (choose_tau(field, threshold, world, scan, scanned, pool, bar.advance),)
                    bar.note(f"tau in {field.environments.name_of(threshold)}: {chosen[threshold][0]}")
        jobs = [
            Train(field.fingerprint, threshold, remembered(found), learning, world, seed)
            for threshold, found in chosen.items()
            for seed in range(first_seed, first_seed + seeds)
        ]
        folder = PolicyFolder(out, jobs, kept, force, field.environments)
        with opt.job_bar(f"training agents ({len(jobs)})", work_in(missing(jobs, folder), field), out) as bar:
            fresh = {job.key for job in execute(jobs, field, folder, pool, bar.advance)}
    if not json:
        opt.out.print(f"Policies in {out}/: {len(fresh)} trained, {len(jobs) - len(fresh)} cached ({field.origin}).")
        opt.hint(f"compare {out}", plume, asked)
        return
    curves = [run(job, field, folder).records["curve"] for job in jobs]
    opt.print_json(
        [
            {
                "file": str(folder.paths[job.key]),
                "agent": job.agent,
                "environment": field.environments.name_of(job.threshold),
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
