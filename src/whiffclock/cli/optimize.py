"""``whiffclock optimize``: direct search over the programs of a memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whiffclock.cli import app, evaluation
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.info import program_texts
from whiffclock.params import EvaluationSettings, OptimizeSettings, require

if TYPE_CHECKING:
    from whiffclock.plume import Plume
    from whiffclock.policy import TablePolicy

Field = Annotated[opt.PlumeSettings, OptionGroup(only=("plume", *opt.READ_SPECS, "anyway"))]


@app.command()
@with_options
def optimize(
    *,
    out: Annotated[Path, "Folder for the policies.", OptionSpec("DIR")] = Path("programs"),
    plume: Field,
    also: Annotated[
        list[Path] | None, "Another plume to search in at the same time; may be repeated.", OptionSpec("FILE")
    ] = None,
    test_plume: Annotated[Path | None, "Another plume to test the programs in.", OptionSpec("FILE")] = None,
    environment: opt.Environment = None,
    robust: Annotated[bool, "Search one program for all environments, not one for each."] = False,
    memory: Annotated[
        str, "Memory: clock, clock:50, window:4 (the last 4 observations) or controller:8.", OptionSpec("NAME[:N]")
    ] = "clock",
    tau: Annotated[str | None, "Split blanks at N moves into two modes; N,M: three modes.", OptionSpec("N[,N]")] = None,
    start: Annotated[
        Path | None, "Policy to start from; default: untuned cast-and-surge.", OptionSpec("POLICY")
    ] = None,
    seeds: Annotated[int, "Number of searches per environment."] = 1,
    first_seed: Annotated[int, "Seed of the first search."] = 0,
    settings: OptimizeSettings,
    world: opt.World,
    store: opt.StoreFolder = None,
    engine: opt.Engine,
    force: Annotated[bool, "Replace policies that were made with other settings."] = False,
    json: opt.AsJson = False,
) -> None:
    """Search directly for the moves that earn the most reward, instead of learning them.

    Programs are searched in the first half of the record and tested in the
    second, which the search has not seen. Ctrl-C keeps the best so far.

    Example: whiffclock optimize -e sparse --seconds 60
    """
    from whiffclock.agents.own import policy_named
    from whiffclock.arguments import memory_of, seeds_of, taus_of
    from whiffclock.disk import require_writable
    from whiffclock.drawing.tables import program_table
    from whiffclock.runs.jobs import run
    from whiffclock.runs.programs import Best, program_search, search_programs
    from whiffclock.runs.training import PolicyFolder

    require(seeds >= 1, f"--seeds is {seeds}; at least one search is needed.")
    numbers, taus = seeds_of(seeds, first_seed), taus_of(tau)
    require(taus is not None, "--tau is 'auto'; a search over programs needs it as a number.")
    remembered = memory_of(memory, settings.horizon, taus)
    begin = None if start is None else policy_named(start)
    for place in (out, store or out):
        require_writable(place)
    first = plume.open()
    fields = [first, *(opt.read_plume(path, plume.reading) for path in also or [])]
    other = None if test_plume is None else _unseen(test_plume, plume, fields)
    thresholds = list(dict.fromkeys(opt.thresholds_in(first, environment)))
    for one in fields if other is None else [*fields, other]:
        plume.require_sound(one, one.settle(world), settings.horizon, thresholds)
    field, every = program_search(fields, thresholds, settings, remembered, world, begin)
    each = [every.at] if robust else [(threshold,) for threshold in every.at]
    searches = [replace(every, at=at, seed=seed) for at in each for seed in numbers]
    folder, best = PolicyFolder(out, searches, store, force, field.environments), Best()
    try:
        with engine.open(opt.say) as pool, opt.job_bar(out, "searches") as bar:
            jobs = search_programs(searches, field, folder, pool, bar, best)
    except typer.Exit:
        for search in best.values():
            unfinished = _unfinished(folder.paths[search.key])
            run(search, field).save(unfinished)
            opt.say(f"Best program so far: {unfinished}")
        raise
    files, policies = [folder.paths[job.key] for job in jobs], [run(job, field, folder) for job in jobs]
    for file in files:
        _unfinished(file).unlink(missing_ok=True)
    tested: list[dict[str, Any]] = [{} for _ in policies]
    if other is not None:
        how = EvaluationSettings(settings.snapshots, gamma=settings.gamma, horizon=settings.horizon)
        tests = [(i, policies[i], at) for i, job in enumerate(jobs) for at in job.at]
        results = evaluation.evaluated(tests, other, other.settle(world), how, engine)
        for (i, _, at), (result, _) in zip(tests, results, strict=True):
            tested[i][field.environments.name_of(at)] = {metric: result.mean(metric) for metric in ("G", "f+")}
    if json:
        facts = zip(files, policies, tested, strict=True)
        opt.print_json([{"file": str(file), **facts_of(one), "test_plume": found} for file, one, found in facts])
        return
    opt.out.print(program_table(policies, tested, field.origin))
    for file, policy in zip(files, policies, strict=True):
        for name, text in program_texts(policy).items():
            opt.out.print(f"{file}, {name}: {text}", soft_wrap=True)
    opt.say_next("compare", out, options=f" --after {settings.train_share:g}")


def _unfinished(file: Path) -> Path:
    return file.with_stem(f"{file.stem}-unfinished")


def _unseen(path: Path, plume: opt.PlumeSettings, fields: list[Plume]) -> Plume:
    """The plume to test in, which must not be one that is searched in."""
    other = opt.read_plume(path, plume.reading)
    seen = f"{path} is a plume that programs are searched in; the test needs another."
    require(other.fingerprint not in {field.fingerprint for field in fields}, seen)
    return other


def facts_of(policy: TablePolicy) -> dict[str, Any]:
    """A searched policy in plain values."""
    from whiffclock.formatting import mode_name

    made = policy.made_from
    programs = {mode_name(mode, policy.modes): policy.program(mode) for mode in range(policy.modes)}
    names = {"agent": policy.name, "environment": made["environment"], "memory": policy.memory.spec}
    return names | {"seed": made["seed"], "found": made["found"], "program": programs}
