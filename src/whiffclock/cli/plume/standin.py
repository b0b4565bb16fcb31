"""``whiffclock plume standin``: a plume in a second, for teaching and for trying things."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.plume import plume_app
from whiffclock.params import require


@plume_app.command()
def standin(
    out: Annotated[Path, typer.Argument(metavar="FILE.npz", help="Where to write the plume.")],
    snapshots: Annotated[int, typer.Option(help="Length of the record.")] = 2598,
    length: Annotated[int, typer.Option(help="Cells along the wind.")] = 123,
    width: Annotated[int, typer.Option(help="Cells across the wind.")] = 27,
    seed: Annotated[int, typer.Option(help="Seed of the puffs.")] = 0,
    force: opt.Force = False,
) -> None:
    """Make a stand-in plume of drifting puffs. It is instant, and it is not turbulence."""
    from whiffclock.plume.files import write_plume
    from whiffclock.plume.standin import standin_plume

    require(out.suffix == ".npz", f"{out} does not end in .npz; the plume is written in that format.")
    opt.require_new(out, force)
    plume = standin_plume(snapshots, length, width, seed)
    write_plume(plume, out)
    opt.out.print(f"{plume.origin}: {snapshots} snapshots of {length} x {width} cells in {out}.")
