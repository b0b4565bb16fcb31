"""``whiffclock report``: write the report of a run again, from its datasets."""

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options

#: Where the report of the full run goes.
_FULL_RUN = Path("full-run")


@app.command()
@with_options
def report(
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", help=opt.RUN_HELP)] = None,
    *,
    out: Annotated[
        Path | None, "Folder for figures, claims and page; default: DIR, or full-run.", OptionSpec("DIR")
    ] = None,
) -> None:
    """Write the report of a run: figures, claims and page.

    Without DIR, of the full run that comes with whiffclock: 3,000,001 episodes per agent.
    This needs only the datasets of the run, neither the plume nor the agents.

    Example: whiffclock report reproduction
    """
    from whiffclock.paper.claims import judge
    from whiffclock.paper.page.report import require_report, write_report
    from whiffclock.paper.reference import differences, load_run, verdicts_beside
    from whiffclock.paper.tables import claims_table
    from whiffclock.runs.engine import cores

    data, place = load_run(folder), out or folder or _FULL_RUN
    require_report(place)
    verdicts = judge(data)
    page = write_report(data, place, verdicts, cores())
    opt.out.print(claims_table(verdicts, verdicts_beside(data), differences(data)))
    opt.out.print(f"Report: {page}", markup=False, highlight=False, soft_wrap=True)
