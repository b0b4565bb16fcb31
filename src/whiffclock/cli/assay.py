"""``whiffclock assay``: different histories, the same long blank, and how much of the recovery the history explains."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.evaluation import Policies
from whiffclock.params import require

if TYPE_CHECKING:
    from whiffclock.assays.result import Assay

_FILES = ("assay.nc", "recoveries.csv", "assay.png", "assay.pdf")


@app.command()
@with_options
def assay(
    *,
    protocol: Annotated[Path, typer.Argument(metavar="PROTOCOL", help="Histories and the long blank, in TOML.")],
    policies: Policies,
    out: Annotated[Path | None, "Write figure, paths and metrics to this folder.", OptionSpec("DIR")] = None,
    force: opt.Force = False,
    power: Annotated[
        float | None,
        "Animals and trials that show it if the history explains this share, such as .1.",
        OptionSpec("SHARE"),
    ] = None,
    json: opt.AsJson = False,
) -> None:
    """Play histories of whiffs, then a long blank: what explains the recovery?

    A clock has one recovery, two modes have two, and an agent that remembers
    more has many. The first number says how much of the displacement after the
    last whiff the history explains.

    Example: whiffclock assay examples/assay_histories.toml clock-sparse
    """
    from whiffclock.assays.protocol import read_protocol
    from whiffclock.assays.result import play_all
    from whiffclock.drawing.assays import MOST
    from whiffclock.runs.comparison import contenders, find_policies

    for name in _FILES if out is not None else ():
        opt.require_new(out / name, force)  # type: ignore[operator]
    read, found = read_protocol(protocol), find_policies(policies)
    many = f"There are {len(found)} policies, and a picture has at most {MOST}; name fewer."
    require(out is None or len(found) <= MOST, many)
    names = [one.name for one in contenders([policy for _, policy in found])]
    with opt.progress_bar("plays") as bar:
        result = play_all(read, [(name, policy) for name, (_, policy) in zip(names, found, strict=True)], bar, power)
    show(result, out, json)


def show(result: Assay, out: Path | None, json: bool) -> None:
    """Print a result, and write it to a folder."""
    if json:
        opt.print_json(result.to_dict())
    else:
        for table in result.tables():
            opt.out.print(table)
    if out is not None:
        from whiffclock.disk import write_whole
        from whiffclock.drawing.assays import assay_figure
        from whiffclock.drawing.pictures import arranged, write_picture
        from whiffclock.netcdf import write_dataset

        write_dataset(out / "assay.nc", result.to_xarray())
        write_whole(out / "recoveries.csv", lambda file: result.to_pandas().to_csv(file, index=False))
        drawn = arranged(lambda: assay_figure(result))
        for form in ("png", "pdf"):
            write_picture(drawn, out / f"assay.{form}")
        opt.say(f"Paths, metrics and figure: {out}/assay.nc, recoveries.csv, assay.png, assay.pdf")
