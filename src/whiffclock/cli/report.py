"""``whiffclock report``: the report of a reproduction again, from its datasets alone."""

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import InputError, require


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that reproduce has written to.")],
) -> None:
    """Draw the figures, judge the claims and write the page of a reproduction again.

    This needs DIR/data alone: neither the plume nor the agents.
    """
    from whiffclock.archive import UNREADABLE, first_line, require_writable
    from whiffclock.paper.claims import judge
    from whiffclock.paper.dataset import Datasets
    from whiffclock.paper.page.report import write_report
    from whiffclock.paper.tables import claims_table

    source = folder / "data"
    require(source.is_dir(), f"{folder} has no folder data, in which reproduce keeps the data of its figures.")
    require_writable(folder)
    try:
        data = Datasets.load(source)
        verdicts = judge(data)
    except InputError:
        raise
    except UNREADABLE as error:
        raise InputError(f"{source} is not the data of a reproduction: {first_line(error)}.") from error
    page = write_report(data, folder, verdicts)
    opt.out.print(claims_table(verdicts))
    opt.out.print(f"Report: {page}", markup=False, highlight=False, soft_wrap=True)
