"""``whiffclock plume simulate`` and ``whiffclock plume toy``: simulated turbulence, and a toy plume of puffs."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.plume import plume_app
from whiffclock.params import require
from whiffclock.plume.simulate.recipe import SimulationSettings

if TYPE_CHECKING:
    from whiffclock.plume import Plume

Out = Annotated[Path, typer.Argument(metavar="FILE.npz", help="Where to write the plume.")]
_POINTS = OptionSpec("NX,NY,NZ", partial(opt.parse_whole_numbers, option="--points", example="96,96,32"))
_SPECS = {
    "points": _POINTS,
    "roughness_drag": OptionSpec(name="roughness"),
    "walk": OptionSpec(name="eddy_diffusivity"),
    "memory": OptionSpec(name="eddy_time"),
    "target": OptionSpec("dns|FILE|none"),
}
Simulation = Annotated[SimulationSettings, OptionGroup(_SPECS)]


@plume_app.command()
@with_options
def simulate(*, out: Out, settings: Simulation, force: opt.Force = False) -> None:
    """Simulate a turbulent channel flow with a point source of odor. The defaults make the built-in plume.

    An interrupted run leaves a checkpoint beside the output, from which the same command continues.

    Example: whiffclock plume simulate mine.npz --seed 1
    """
    require_target(out, force)
    tell(make_record(out, settings), out)


def make_record(out: Path, settings: SimulationSettings) -> "Plume":
    """Simulate a plume and write it; an interrupted run leaves a checkpoint, from which the next one continues."""
    from whiffclock.plume.reading.files import write_plume
    from whiffclock.plume.simulate.record import simulate as run

    checkpoint = out.with_name(f"{out.name}.checkpoint")
    try:
        with opt.progress_bar("snapshots") as bar:
            bar.begin("simulating", settings.spin_up + settings.fill + settings.snapshots)
            plume = run(settings, checkpoint, bar.advance, say=lambda line: opt.messages.print(f"whiffclock: {line}"))
    except KeyboardInterrupt:
        kept = f"the same command continues from {checkpoint}" if checkpoint.exists() else "there is no checkpoint yet"
        opt.messages.print(f"whiffclock: stopped; {kept}.")
        raise typer.Exit(130) from None
    write_plume(plume, out)
    checkpoint.unlink(missing_ok=True)
    return plume


@plume_app.command()
@with_options
def toy(
    out: Out,
    snapshots: Annotated[int, "Number of snapshots."] = 2598,
    length: Annotated[int, "Cells along the wind."] = 123,
    width: Annotated[int, "Cells across the wind."] = 27,
    seed: Annotated[int, "Seed of the puffs."] = 0,
    force: opt.Force = False,
) -> None:
    """Make a toy plume of drifting puffs, in a second. It is not turbulence.

    Example: whiffclock plume toy puffs.npz --snapshots 500
    """
    from whiffclock.plume.reading.files import write_plume
    from whiffclock.plume.toy import toy_plume

    require_target(out, force)
    write_plume(plume := toy_plume(snapshots, length, width, seed), out)
    tell(plume, out)


def require_target(out: Path, force: bool) -> None:
    """Refuse, before any work, a file that cannot be written."""
    require(out.suffix == ".npz", f"{out} does not end in .npz; the plume is written in that format.")
    opt.require_new(out, force)


def tell(plume: "Plume", out: Path) -> None:
    """Print the origin and size of a plume that has been written."""
    snapshots, length, width = plume.field.shape
    opt.out.print(f"{plume.origin}: {snapshots} snapshots of {length} x {width} cells in {out}.")
