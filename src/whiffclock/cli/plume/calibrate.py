"""``whiffclock plume calibrate``: match whiff probabilities to a target."""

from typing import Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.annotations import with_options
from whiffclock.cli.plume import plume_app
from whiffclock.cli.plume.export import Files, read_and_written


@plume_app.command()
@with_options
def calibrate(
    *,
    files: Files,
    target: Annotated[
        str, typer.Option(metavar="FILE|dns", help="Table of whiff probabilities (TOML, see docs/plume.md), or dns.")
    ],
    reading: opt.Source,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Match the whiff probabilities of a plume to a target.

    Concentrations are mapped cell by cell and keep their order in time.

    Example: whiffclock plume calibrate mine.npz matched.npz --target dns
    """
    from whiffclock.drawing.plume.tables import calibration_table
    from whiffclock.formatting import nan_to_null
    from whiffclock.plume.calibration import before_and_after, read_target
    from whiffclock.plume.calibration import calibrate as run
    from whiffclock.plume.reading.files import write_plume

    raw, out = read_and_written(files, force)
    wanted = read_target(target)
    plume = opt.read_plume(raw, reading)
    with opt.messages.status("calibrating"):
        mapped = run(plume, wanted)
        rows = before_and_after(plume, mapped, wanted)
    write_plume(mapped, out)
    if json:
        facts = {"file": str(out), "plume": mapped.origin, "fingerprint": mapped.fingerprint}
        opt.print_json(facts | {"thresholds": nan_to_null(rows)})
    else:
        opt.out.print(calibration_table(rows, f"{mapped.origin}\nin {out}"))
