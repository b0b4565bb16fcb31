"""``whiffclock assay``: different histories, the same long blank, and how much of the recovery the history explains."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, given_options, with_options
from whiffclock.cli.tracks import Cutting, Reading
from whiffclock.params import require
from whiffclock.tracks.settings import RecoverySettings, TrackSettings

if TYPE_CHECKING:
    from whiffclock.assays.result import Assay

_FILES = ("assay.nc", "recoveries.csv", "assay.png", "assay.pdf")
_PROTOCOL_HELP = "Histories and the long blank, in TOML; or tracks of animals with a column of conditions."


@app.command()
@with_options
def assay(
    *,
    protocol: Annotated[Path, typer.Argument(metavar="PROTOCOL", help=_PROTOCOL_HELP)],
    policies: Annotated[list[Path] | None, typer.Argument(metavar="POLICY...", help=opt.POLICIES_HELP)] = None,
    power: Annotated[
        float | None,
        "Animals and trials that show it if the history explains this share, such as .1.",
        OptionSpec("SHARE"),
    ] = None,
    out: Annotated[Path | None, "Write figure, paths and metrics to this folder.", OptionSpec("DIR")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
    reading: Reading,
    cutting: Cutting,
) -> None:
    """Play histories of whiffs, then a long blank: what explains the recovery?

    A clock has one recovery, two modes have two, and an agent that remembers
    more has many. The first number says how much of the displacement after the
    last whiff the history explains. Tracks of animals are read as by tracks,
    and recoveries are compared over the first --blank seconds.

    Example: whiffclock assay examples/assay_histories.toml clock-sparse
    """
    for name in _FILES if out is not None else ():
        opt.require_new(out / name, force)  # type: ignore[operator]
    if protocol.suffix == ".toml":
        result = _of_agents(protocol, policies or [], power, out is not None)
    else:
        require(not policies, f"{protocol} is not a protocol (.toml), which policies need; leave them out for tracks.")
        result = _of_animals(protocol, reading, cutting, power, json)
    if json:
        opt.print_json(result.to_dict())
    else:
        for table in result.tables():
            opt.out.print(table)
    if out is not None:
        write(result, out)


def _of_agents(protocol: Path, words: list[Path], power: float | None, drawn: bool) -> Assay:
    """Play a protocol to policies."""
    from whiffclock.assays.protocol import read_protocol
    from whiffclock.assays.result import play_all
    from whiffclock.drawing.assays import MOST
    from whiffclock.runs.comparison import contenders, find_policies

    of_tracks = {field.name for kind in (TrackSettings, RecoverySettings) for field in fields(kind)} & given_options()
    wrong = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(of_tracks))
    require(not of_tracks, f"{protocol} is a protocol; options of tracks ({wrong}) do not apply to it.")
    read, found = read_protocol(protocol), find_policies(words)
    many = f"There are {len(found)} policies, and a picture has at most {MOST}; name fewer."
    require(not drawn or len(found) <= MOST, many)
    names = [one.name for one in contenders([policy for _, policy in found])]
    with opt.progress_bar("plays") as bar:
        return play_all(read, [(name, policy) for name, (_, policy) in zip(names, found, strict=True)], bar, power)


def _of_animals(
    file: Path, reading: TrackSettings, cutting: RecoverySettings, power: float | None, json: bool
) -> Assay:
    """Read tracks, and compare their conditions."""
    from whiffclock.assays.result import assay_animals
    from whiffclock.tracks.reading import assembled, read_columns
    from whiffclock.tracks.recoveries import recoveries_of

    with opt.messages.status("reading"):
        read = assembled(read_columns(file, reading), reading)
        found = recoveries_of(read, cutting)
    with opt.messages.status("comparing"):
        result = assay_animals(found, power)
    if not json:
        from whiffclock.drawing.tracks import said_table

        opt.out.print(said_table({**read.said, **found.said}))
        for sentence in found.left_out:
            opt.out.print(f"- {sentence}")
    return result


def write(result: Assay, out: Path) -> None:
    """Write a result to a folder: paths, metrics, figure."""
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
