"""``whiffclock train``: ensembles of Q-learning agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.params import LearningSettings, require

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table

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
        "Split blanks at N moves into short and long (two-Q). auto: by a scan. N,M: three modes. Omit for single-Q.",
        OptionSpec("N[,N]|auto"),
    ] = None,
    seeds: Annotated[int, "Number of agents per environment."] = 20,
    first_seed: Annotated[int, "Seed of the first agent."] = 0,
    learning: Learning,
    decay: Annotated[float | None, "Episodes over which alpha and epsilon fall (default: 5/6 of --episodes)."] = None,
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

    Agents already trained with these settings are reused: after an
    interruption, the same command continues.

    Example: whiffclock train -e sparse --tau 10 --seeds 5 --episodes 300000
    """
    from whiffclock.arguments import memory_of, seeds_of, taus_of
    from whiffclock.disk import require_writable
    from whiffclock.runs.jobs import execute, missing, run, work_in
    from whiffclock.runs.kinds import Train
    from whiffclock.runs.training import PolicyFolder, TauScan, with_chosen_tau
    from whiffclock.world.starts import start_cells

    decay = LearningSettings.shortened(learning.episodes).alpha_decay if decay is None else decay
    learning = replace(learning, alpha_decay=decay, epsilon_decay=decay)
    require(seeds >= 1, f"--seeds is {seeds}; at least one agent is needed.")
    taus, numbers = taus_of(tau), seeds_of(seeds, first_seed)
    remembered = memory_of(memory, learning.horizon, taus, split_zero=split_zero, literal_tau=literal_tau)
    field = plume.open()
    thresholds = dict.fromkeys(opt.thresholds_in(field, environment))
    asked, world = world, field.settle(world)
    for place in (out, store or out):
        require_writable(place)
    for threshold in thresholds:  # bad input is found before any work is done
        start_cells(field, threshold, world, learning.horizon)
    plume.require_sound(field, world, learning.horizon, thresholds)
    jobs = [
        Train(field.fingerprint, threshold, remembered, learning, world, seed)
        for threshold in thresholds
        for seed in numbers
    ]
    with engine.open(opt.say) as pool, opt.job_bar(out, "episodes") as bar:
        if taus is None:
            scan = TauScan.for_ensemble(len(numbers), learning)
            jobs = with_chosen_tau(jobs, field, scan, PolicyFolder(out, [], store), pool, bar)
        folder = PolicyFolder(out, jobs, store, force, field.environments)
        bar.begin(f"training agents ({len(jobs)})", work_in(missing(jobs, folder), field))
        fresh = {job.key for job in execute(jobs, field, folder, pool, bar.advance)}
    ends = [at_the_end(run(job, field, folder).curve()) for job in jobs]
    trained = [
        {
            "file": str(folder.paths[job.key]),
            "agent": job.agent,
            "environment": field.environments.name_of(job.threshold),
            "memory": job.memory.spec,
            "tau": job.memory.spec.get("taus", []),
            "seed": job.seed,
            **end,
            "trained_now": job.key in fresh,
        }
        for job, end in zip(jobs, ends, strict=True)
    ]
    if json:
        opt.print_json(trained)
        return
    opt.out.print(training_table(trained))
    opt.out.print(f"Policies in {out}/: {len(fresh)} trained, {len(jobs) - len(fresh)} cached ({field.origin}).")
    opt.hint("compare", out, plume=plume, world=asked)


def at_the_end(curve: dict[str, np.ndarray]) -> dict[str, float]:
    """Means of G and f+ over the last tenth of a training; a single point of the curve has too few episodes."""
    import numpy as np

    episodes = curve["episode"]
    last = episodes > 0.9 * episodes[-1]
    played = np.diff(episodes, prepend=0)[last]
    return {name: float(np.average(curve[name][last], weights=played)) for name in ("G", "f+")}


def training_table(trained: list[dict[str, Any]]) -> Table:
    """G and f+ of each ensemble at the end of its training."""
    from whiffclock.drawing.tables import add_row, median_and_range, plain_table

    columns = "environment", "agent", "n", "G", "f+"
    caption = "Median [range] over agents, in the last tenth of their training; whiffclock compare tests them."
    table = plain_table("Reward G and success f+ at the end of training", caption, *columns)
    ensembles: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in trained:
        agent = one["agent"] + (f", tau {','.join(map(str, one['tau']))}" if one["tau"] else "")
        ensembles.setdefault((one["environment"], agent), []).append(one)
    for (environment, agent), ones in ensembles.items():
        cells = (median_and_range([one[name] for one in ones]) for name in ("G", "f+"))
        add_row(table, environment, agent, str(len(ones)), *cells)
    return table
