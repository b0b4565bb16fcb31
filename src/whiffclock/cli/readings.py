"""``whiffclock readings``: what other readings of the paper change."""

from pathlib import Path
from typing import Annotated

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.disk import require_replaceable, require_writable, write_whole
from whiffclock.params import require


@app.command()
@with_options
def readings(
    *,
    only: Annotated[str | None, "Only these readings of docs/paper.md, such as R3,R8.", OptionSpec("IDS")] = None,
    seeds: Annotated[int, "Agents per environment and reading."] = 10,
    episodes: Annotated[int, "Episodes of their training."] = 1_200_000,
    plume: opt.CheckedPlume,
    out: Annotated[Path, "Folder for the results.", OptionSpec("DIR")] = Path("readings"),
    store: opt.StoreFolder = None,
    engine: opt.Engine,
) -> None:
    """Measure what changes if the paper is read otherwise where its text is ambiguous.

    Beside agents of our reading, small ensembles of every other one are trained
    and tested in all environments; about 35 minutes on one core. Numbers and
    verdicts are in DIR/readings.nc and DIR/readings.json. Finished work is
    cached: after an interruption, the same command continues.

    Example: whiffclock readings --only R8,R9 --seeds 5 --episodes 300000
    """
    from whiffclock.netcdf import write_dataset
    from whiffclock.paper.readings.alternatives import alternatives_named
    from whiffclock.paper.readings.study import ReadingsStudy, small_profile
    from whiffclock.paper.readings.table import readings_json, readings_table
    from whiffclock.runs.jobs import JobFolder

    require(seeds >= 1, f"--seeds is {seeds}; at least one agent is needed.")
    profile, folder = small_profile(seeds, episodes), out / "runs" if store is None else store
    others = alternatives_named(only, profile.taus)
    study = ReadingsStudy(plume.open(), profile, others)
    plume.require_sound(study.plume, study.plume.settle(), profile.horizon)
    result, plain = out / "readings.nc", out / "readings.json"
    for place in (out, folder):
        require_writable(place)
    for path in (result, plain):
        require_replaceable(path)
    opt.messages.print(f"Plume: {study.plume.origin}. Other readings: {len(others)}.")
    with engine.open(opt.say) as pool, opt.job_bar(folder, "searches") as bar:
        data = study.run(JobFolder(folder), pool, bar)
    write_dataset(result, data)
    write_whole(plain, lambda file: file.write(readings_json(data).encode()))  # type: ignore[arg-type]
    opt.out.print(readings_table(data))
    opt.out.print(f"Numbers: {result}   {plain}", soft_wrap=True, highlight=False)
