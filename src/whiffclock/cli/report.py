"""``whiffclock report``: write the report of a reproduction again, from its datasets."""

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.params import require


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder of whiffclock reproduce.")],
) -> None:
    """Write the report of a reproduction again: figures, claims and page.

    This needs only the datasets in DIR/data, neither the plume nor the agents.

    Example: whiffclock report reproduction
    """
    from whiffclock.paper.claims import judge
    from whiffclock.paper.dataset import Datasets
    from whiffclock.paper.page.report import require_report, write_report
    from whiffclock.paper.tables import claims_table
    from whiffclock.runs.engine import cores

    source = folder / "data"
    require(source.is_dir(), f"{folder} has no folder data; name an output folder of whiffclock reproduce.")
    require_report(folder)
    data = Datasets.load(source)
    verdicts = judge(data)
    page = write_report(data, folder, verdicts, cores())
    opt.out.print(claims_table(verdicts))
    opt.out.print(f"Report: {page}", markup=False, highlight=False, soft_wrap=True)
