"""``whiffclock reproduce``: the whole paper with one command."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import require

if TYPE_CHECKING:
    from whiffclock.experiments.reproduce import Outlook, Reproduction
    from whiffclock.plume import Plume


@app.command()
def reproduce(
    profile: Annotated[
        str,
        typer.Option(metavar="NAME", help="quick (2 minutes), standard (10), paper (40); two cores."),
    ] = "quick",
    only: Annotated[
        str | None, typer.Option(metavar="IDS", help="Figures such as fig3,fig7,s1; default: all of them.")
    ] = None,
    plume: opt.PlumeFile = None,
    source: opt.Source = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for report, figures and claims.")] = opt.REPRODUCTION,
    store: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run store to keep agents and results in; default: DIR/runs.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Jobs at once; default: all cores.")] = None,
) -> None:
    """Reproduce the paper: train, test and measure what its figures show, and write a report.

    What is done stays done: after an interruption, the same command goes on.
    """
    require(workers is None or workers >= 1, f"--workers is {workers}; it must be at least 1.")
    from whiffclock.archive import require_writable
    from whiffclock.experiments.profiles import profile_named
    from whiffclock.experiments.reproduce import outlook, parse_figures
    from whiffclock.experiments.reproduce import reproduce as run
    from whiffclock.experiments.work import Work
    from whiffclock.paper.claims import judge
    from whiffclock.paper.page.report import write_report
    from whiffclock.paper.tables import claims_table
    from whiffclock.runs.engine import cores
    from whiffclock.runs.store import Store

    numbers, figures = profile_named(profile), parse_figures(only)
    folder = out / "runs" if store is None else store
    require_writable(out)
    field = opt.open_plume(plume, source)
    work = Work(field, numbers, Store(folder))
    work.prepare()
    opt.talk.print(f"Plume: {field.origin}. Profile: {profile}.")
    with _bar(outlook(work, figures), folder) as (progress, say):
        done = run(work, figures, workers or cores(), progress, say)
        say("report")
        began = time.perf_counter()
        verdicts = judge(done.results, numbers)
        page = write_report(done.results, numbers, plume_facts(field), out, verdicts)
    opt.talk.print(time_table(done, time.perf_counter() - began))
    opt.out.print(claims_table(verdicts))
    opt.out.print(f"Report: {page}   claims: {out / 'claims.json'}   figures: {out / 'figures'}/", soft_wrap=True)


def plume_facts(plume: Plume) -> dict[str, Any]:
    """What a report says of its plume."""
    return {
        "origin": plume.origin,
        "fingerprint": plume.fingerprint,
        "shape": list(plume.field.shape),
        "source": list(plume.source),
        "highest": plume.highest,
    }


def time_table(done: Reproduction, reporting: float) -> Table:
    """Where the time went, and what did not need any."""
    account = done.account
    table = Table(title="Where the time went", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("")
    for column in ("kept", "made", "core-seconds"):
        table.add_column(column, justify="right")
    for group in account.groups:
        table.add_row(group, str(account.found[group]), str(account.made[group]), f"{account.seconds[group]:,.1f}")
    table.add_row("results of the figures", "", str(len(done.results)), f"{sum(done.figures.values()):,.1f}")
    table.add_row("claims, drawings and page", "", "", f"{reporting:,.1f}")
    table.caption = f"{done.elapsed + reporting:,.1f} s in all"
    return table


@contextmanager
def _bar(ahead: Outlook, folder: Path) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """One display over all jobs; Ctrl-C ends it with a word on what is kept."""
    try:
        with opt.progress_bar("searches") as bar:
            job = bar.add_task("reproducing", total=max(1, ahead.total), completed=ahead.done)
            yield (lambda n: bar.update(job, advance=n)), (lambda words: bar.update(job, description=words))
    except KeyboardInterrupt:
        raise opt.stopped(folder) from None
