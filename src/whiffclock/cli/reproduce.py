"""``whiffclock reproduce``: reproduce the paper."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich import box
from rich.table import Table

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.paper.readings.settings import Readings, parse_heuristic_tau
from whiffclock.runs.engine import EngineSettings

if TYPE_CHECKING:
    from whiffclock.paper.reproduce import Written
    from whiffclock.plume import Plume

_SPECS = opt.WORLD_SPECS | {
    "tie_order": OptionSpec("ACTIONS"),
    "truncation": OptionSpec("NAME"),
    "heuristic_tau": OptionSpec("N|auto", parse_heuristic_tau),
}
_NAMES = ("start_threshold", "start_on_whiff", "end_of_record", *(f.name for f in fields(Readings)))
ReadingOptions = Annotated[Readings, OptionGroup(_SPECS, only=_NAMES, panel="Readings")]


PROFILE_HELP = "quick, standard, paper or deep: 2, 10, 40 or 70 minutes on two cores."


@app.command()
@with_options
def reproduce(
    *,
    profile: Annotated[str, PROFILE_HELP, OptionSpec("NAME")] = "quick",
    only: Annotated[str | None, "Only these figures, such as fig3,fig7,s1,b1.", OptionSpec("IDS")] = None,
    plume: opt.CheckedPlume,
    out: Annotated[Path, "Folder for report, figures and claims.", OptionSpec("DIR")] = opt.REPRODUCTION,
    store: opt.StoreFolder = None,
    readings: ReadingOptions,
    engine: opt.Engine,
) -> None:
    """Reproduce the paper: train and evaluate agents, draw the figures, test the claims.

    Figures b1 to b4 go beyond the paper: clock programs that are searched directly.
    Finished work is cached: after an interruption, the same command continues.
    The report is DIR/report.html, its datasets are in DIR/data. Where the text
    of the paper is ambiguous, options give the other readings (docs/paper.md).

    Example: whiffclock reproduce --profile standard --only fig3,fig7
    """
    reproduced(plume.open, profile, only, out, store, readings, engine, plume.anyway)


def reproduced(
    opened: Callable[[], "Plume"],
    profile: str,
    only: str | None,
    out: Path,
    store: Path | None,
    readings: Readings,
    engine: EngineSettings,
    anyway: bool,
) -> None:
    """Reproduce into a folder, on the plume that ``opened`` reads once all else is checked; say what was found."""
    from whiffclock.disk import require_writable
    from whiffclock.paper.beyond.verdicts import headline
    from whiffclock.paper.ensembles import Study
    from whiffclock.paper.page.report import require_report
    from whiffclock.paper.profiles import profile_named
    from whiffclock.paper.reference import differences, verdicts_beside
    from whiffclock.paper.reproduce import parse_figures, reproduce_into
    from whiffclock.paper.tables import claims_table
    from whiffclock.runs.jobs import JobFolder

    numbers, figures = replace(profile_named(profile), readings=readings), parse_figures(only)
    folder = out / "runs" if store is None else store
    require_report(out)
    require_writable(folder)
    field = opened()
    opt.messages.print(f"Plume: {field.origin}. Profile: {profile}.")
    study = Study(field, numbers)
    opt.refuse_doubtful(field, study.world, numbers.horizon, anyway=anyway)
    with engine.open(opt.say) as pool, opt.job_bar(folder, "searches") as bar:
        written = reproduce_into(out, study, figures, JobFolder(folder), pool, bar, engine.at_once, anyway)
    opt.messages.print(time_table(written))
    data = written.done.datasets
    opt.out.print(claims_table(written.verdicts, verdicts_beside(data), differences(data)))
    if (beyond := data.beyond) is not None and (told := headline(beyond)):
        opt.out.print(told, highlight=False)
    files = f"claims: {out / 'claims.json'}   figures: {out / 'figures'}/"
    opt.out.print(f"Report: {written.page}   {files}", soft_wrap=True)


def time_table(written: "Written") -> Table:
    """Time by task, and how many results were cached or computed."""
    done, account = written.done, written.done.account
    table = Table(title="Time by task", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    for column in ("cached", "computed", "core-seconds"):
        table.add_column(column, justify="right")
    for task in account.tasks:
        table.add_row(task, str(account.found[task]), str(account.made[task]), f"{account.seconds[task]:,.1f}")
    table.add_row("datasets", "", "", f"{done.collecting:,.1f}")
    table.add_row("claims, figures and page", "", "", f"{written.reporting:,.1f}")
    table.caption = f"{done.elapsed + written.reporting:,.1f} s in total"
    return table
