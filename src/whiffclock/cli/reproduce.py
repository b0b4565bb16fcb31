"""``whiffclock reproduce``: the whole paper with one command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.words import Word, described
from whiffclock.params import require

if TYPE_CHECKING:
    from rich.table import Table

    from whiffclock.paper.reproduce import Reproduction


@app.command()
@described
def reproduce(
    *,
    profile: Annotated[
        str, "quick (2 minutes), standard (10), paper (45), deep (180); two cores.", Word("NAME")
    ] = "quick",
    only: Annotated[str | None, "Figures such as fig3,fig7,s1; default: all of them.", Word("IDS")] = None,
    plume: opt.PlumeFile,
    out: Annotated[Path, "Folder for report, figures and claims.", Word("DIR")] = opt.REPRODUCTION,
    store: opt.StoreFolder = None,
    workers: opt.Workers = None,
) -> None:
    """Reproduce the paper: train, test and measure what its figures show, and write a report.

    What is done stays done: after an interruption, the same command goes on.
    The datasets behind figures and claims are in DIR/data; ``whiffclock report
    DIR`` draws them again.
    """
    require(workers is None or workers >= 1, f"--workers is {workers}; it must be at least 1.")
    from whiffclock.archive import require_writable
    from whiffclock.paper.claims import judge
    from whiffclock.paper.ensembles import Study
    from whiffclock.paper.page.report import write_report
    from whiffclock.paper.profiles import profile_named
    from whiffclock.paper.reproduce import outlook, parse_figures
    from whiffclock.paper.reproduce import reproduce as run
    from whiffclock.paper.tables import claims_table
    from whiffclock.runs.engine import cores
    from whiffclock.runs.jobs import JobStore
    from whiffclock.runs.store import Store

    numbers, figures = profile_named(profile), parse_figures(only)
    folder = out / "runs" if store is None else store
    require_writable(out)
    require_writable(folder)
    field = plume.open()
    study, results = Study(field, numbers), JobStore(Store(folder))
    total, finished = outlook(study, results, figures)
    opt.talk.print(f"Plume: {field.origin}. Profile: {profile}.")
    with opt.job_bar("reproducing", max(1, total), folder, "searches", finished) as (progress, say):
        done = run(study, results, figures, workers or cores(), progress, say)
        say("report")
        began = time.perf_counter()
        done.datasets.save(out / "data")
        verdicts = judge(done.datasets)
        page = write_report(done.datasets, out, verdicts)
    opt.talk.print(time_table(done, time.perf_counter() - began))
    opt.out.print(claims_table(verdicts))
    opt.out.print(f"Report: {page}   claims: {out / 'claims.json'}   figures: {out / 'figures'}/", soft_wrap=True)


def time_table(done: Reproduction, reporting: float) -> Table:
    """Where the time went, and what did not need any."""
    from rich import box
    from rich.table import Table

    account = done.account
    table = Table(title="Where the time went", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    for column in ("kept", "made", "core-seconds"):
        table.add_column(column, justify="right")
    for task in account.tasks:
        table.add_row(task, str(account.found[task]), str(account.made[task]), f"{account.seconds[task]:,.1f}")
    table.add_row("datasets", "", "", f"{done.collecting:,.1f}")
    table.add_row("claims, drawings and page", "", "", f"{reporting:,.1f}")
    table.caption = f"{done.elapsed + reporting:,.1f} s in all"
    return table
