"""``whiffclock plume simulate`` and ``whiffclock plume standin``: turbulence with odor in it, and puffs in a second."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.plume import plume_app
from whiffclock.params import InputError, require
from whiffclock.plume.simulate.recipe import FlowSettings, OdorSettings, SimulationSettings

if TYPE_CHECKING:
    from whiffclock.plume import Plume

# What simulate and standin share.
Out = Annotated[Path, typer.Argument(metavar="FILE.npz", help="Where to write the plume.")]
Snapshots = Annotated[int, typer.Option(help="Length of the record.")]
Length = Annotated[int, typer.Option(help="Cells along the wind.")]
Width = Annotated[int, typer.Option(help="Cells across the wind.")]


@plume_app.command()
def simulate(
    out: Out,
    seed: Annotated[int, typer.Option(help="Seed of flow and filaments.")] = SimulationSettings.seed,
    snapshots: Snapshots = SimulationSettings.snapshots,
    length: Length = SimulationSettings.length,
    width: Width = SimulationSettings.width,
    source_height: Annotated[float, typer.Option(help="In cells.")] = OdorSettings.source_height,
    slice_height: Annotated[float, typer.Option(help="Where the agents move, in cells.")] = OdorSettings.slice_height,
    wind: Annotated[float, typer.Option(help="Bulk speed, cells per snapshot.")] = FlowSettings.wind,
    roughness: Annotated[float, typer.Option(help="Drag of the canopy; 0: smooth.")] = FlowSettings.roughness_drag,
    depth: Annotated[float, typer.Option(help="Depth of the channel, in cells.")] = FlowSettings.depth,
    reynolds: Annotated[float, typer.Option(help="Bulk Reynolds number.")] = FlowSettings.reynolds,
    points: Annotated[str, typer.Option(metavar="NX,NY,NZ", help="Grid of the flow.")] = "96,96,32",
    filaments: Annotated[int, typer.Option(help="Released per snapshot.")] = OdorSettings.filaments,
    size: Annotated[float, typer.Option(help="Size of a fresh filament, in cells.")] = OdorSettings.size,
    growth: Annotated[float, typer.Option(help="Diffusivity inside a filament.")] = OdorSettings.growth,
    stretch: Annotated[float, typer.Option(help="Richardson growth of a filament.")] = OdorSettings.stretch,
    walk: Annotated[float, typer.Option(help="Diffusivity of eddies below the grid.")] = OdorSettings.walk,
    memory: Annotated[float, typer.Option(help="How long such an eddy lasts, in snapshots.")] = OdorSettings.memory,
    strength: Annotated[float, typer.Option(help="Odor per filament.")] = OdorSettings.strength,
    contrast: Annotated[float, typer.Option(help="What mixing leaves; 1: no mixing.")] = OdorSettings.contrast,
    contrast_far: Annotated[float, typer.Option(help="The same, far downwind.")] = OdorSettings.contrast_far,
    turn: Annotated[float, typer.Option(help="Where far begins, in cells.")] = OdorSettings.turn,
    spin_up: Annotated[int, typer.Option(help="Snapshots until the flow is turbulent.")] = SimulationSettings.spin_up,
    fill: Annotated[int, typer.Option(help="Snapshots until the grid is filled.")] = SimulationSettings.fill,
    force: opt.Force = False,
) -> None:
    """Simulate a turbulent channel flow with a point source of odor. The defaults make the built-in plume.

    An interrupted run leaves a checkpoint beside the output, and the same command goes on from it.
    """
    from whiffclock.plume.simulate.record import simulate as run

    flow = FlowSettings(
        wind=wind, roughness_drag=roughness, depth=depth, reynolds=reynolds, points=parse_points(points)
    )  # fmt: skip
    odor = OdorSettings(
        source_height=source_height, slice_height=slice_height, filaments=filaments, size=size, growth=growth,
        stretch=stretch, walk=walk, memory=memory, strength=strength, contrast=contrast, contrast_far=contrast_far,
        turn=turn,
    )  # fmt: skip
    settings = SimulationSettings(snapshots, length, width, spin_up, fill, seed=seed, flow=flow, odor=odor)
    require_target(out, force)
    checkpoint = out.with_name(f"{out.name}.checkpoint")
    try:
        with opt.progress_bar("snapshots") as bar:
            job = bar.add_task("simulating", total=spin_up + fill + snapshots)
            plume = run(settings, checkpoint, lambda n: bar.update(job, advance=n))
    except KeyboardInterrupt:
        kept = f"the same command goes on from {checkpoint}" if checkpoint.exists() else "nothing was kept yet"
        opt.talk.print(f"whiffclock: stopped; {kept}.", markup=False)
        raise typer.Exit(130) from None
    store(plume, out)
    checkpoint.unlink(missing_ok=True)


@plume_app.command()
def standin(
    out: Out,
    snapshots: Snapshots = 2598,
    length: Length = 123,
    width: Width = 27,
    seed: Annotated[int, typer.Option(help="Seed of the puffs.")] = 0,
    force: opt.Force = False,
) -> None:
    """Make a stand-in plume of drifting puffs. It is instant, and it is not turbulence."""
    from whiffclock.plume.standin import standin_plume

    require_target(out, force)
    store(standin_plume(snapshots, length, width, seed), out)


def require_target(out: Path, force: bool) -> None:
    """Refuse, before any work, a file that cannot be written."""
    require(out.suffix == ".npz", f"{out} does not end in .npz; the plume is written in that format.")
    opt.require_new(out, force)


def store(plume: Plume, out: Path) -> None:
    """Write a plume that was made, and say so."""
    from whiffclock.plume.files import write_plume

    write_plume(plume, out)
    snapshots, length, width = plume.field.shape
    opt.out.print(f"{plume.origin}: {snapshots} snapshots of {length} x {width} cells in {out}.", markup=False)


def parse_points(text: str) -> tuple[int, int, int]:
    """``"96,96,32"`` to three whole numbers."""
    try:
        nx, ny, nz = (int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--points is {text!r}; it must be three whole numbers, such as 96,96,32.") from error
    return nx, ny, nz
