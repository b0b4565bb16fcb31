"""``whiffclock plume calibrate``: the whiff probabilities of one plume, the turbulence of another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.plume import plume_app
from whiffclock.cli.plume.export import read_and_written
from whiffclock.cli.words import described

if TYPE_CHECKING:
    from whiffclock.plume import Plume
    from whiffclock.plume.calibration import Target


@plume_app.command()
@described
def calibrate(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="[PLUME] FILE", help="What to read (default: built in), what to write.")
    ],
    target: Annotated[
        str, typer.Option(metavar="FILE|dns", help="Whiff probabilities, as TOML (docs/plume.md), or those of the DNS.")
    ],
    reading: opt.Source,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Map concentrations, cell by cell, so that whiffs are as frequent as a target says; when they come is kept."""
    from whiffclock.paper.plume.tables import calibration_table
    from whiffclock.plume import calibration
    from whiffclock.plume.files import write_plume

    raw, out = read_and_written(files, force)
    wanted = calibration.read_target(target)
    plume = opt.read_plume(raw, reading)
    with opt.talk.status("calibrating"):
        mapped = calibration.calibrate(plume, wanted)
        rows = compared(plume, mapped, wanted)
    write_plume(mapped, out)
    if json:
        facts = {"file": str(out), "plume": mapped.origin, "fingerprint": mapped.fingerprint}
        opt.print_json(facts | {"thresholds": rows})
    else:
        opt.out.print(calibration_table(rows, f"{mapped.origin}\nin {out}"))


def compared(plume: Plume, mapped: Plume, target: Target) -> list[dict[str, float]]:
    """Error of the whiff map and number of start cells, before and after, by threshold."""
    from whiffclock.plume.calibration import map_error
    from whiffclock.plume.statistics import count_start_cells, whiff_map

    _, length, width = plume.field.shape
    wanted = target.probability(length, width, plume.source)
    rows = []
    for c, probability in zip(target.thresholds, wanted, strict=True):
        row = {"threshold": c}
        for when, one in (("before", plume), ("after", mapped)):
            row[when] = map_error(whiff_map(one, c), probability, plume.source)
            row[f"start_cells_{when}"] = count_start_cells(one, c)
        rows.append(row)
    return rows
