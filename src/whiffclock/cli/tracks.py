"""``whiffclock tracks``: recoveries of animals, beside those of agents."""

from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.plume.inspect import require_picture
from whiffclock.tracks.settings import RecoverySettings, TrackSettings, columns_named, parse_threshold, parse_wind

_READ = {
    "columns": OptionSpec("t=NAME,x=NAME,...", columns_named),
    "wind": OptionSpec("right|left|up|down|DEGREES", parse_wind),
    "threshold": OptionSpec("C|auto", parse_threshold),
    "cell": OptionSpec("SIZE"),
    "keypoint": OptionSpec("NAME"),
    "interpolate": OptionSpec("S"),
}
Reading = Annotated[TrackSettings, OptionGroup(_READ, panel="Tracks")]
Cutting = Annotated[RecoverySettings, OptionGroup({"blank": OptionSpec("S"), "move_s": OptionSpec("S")})]


@app.command()
@with_options
def tracks(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, Parquet, NetCDF of movement, or .npy.")],
    compare: Annotated[
        list[Path] | None, "Policies to lay beside, named as for recovery; may be repeated.", OptionSpec("POLICY")
    ] = None,
    reading: Reading,
    cutting: Cutting,
    out: Annotated[Path | None, "Draw paths and metrics: .png, .pdf or .svg.", OptionSpec("PICTURE")] = None,
    csv: Annotated[Path | None, "Write a table with a row for each recovery.", OptionSpec("FILE")] = None,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Recoveries of animals or robots, measured as those of agents.

    Tracks are turned along the wind and cut into recoveries: from a last whiff
    to the next one. All that is assumed is said. Numbers are medians over
    animals of their medians, with intervals by animal.

    Example: whiffclock tracks flies.csv --compare clock-sparse --out flies.png
    """
    from whiffclock.runs.comparison import find_policies
    from whiffclock.tracks.beside import groups_of
    from whiffclock.tracks.reading import assembled, read_columns
    from whiffclock.tracks.recoveries import recoveries_of

    require_picture(out, force)
    opt.require_new(csv, force)
    policies = [policy for _, policy in find_policies(compare)] if compare else []
    with opt.messages.status("reading"):
        read = assembled(read_columns(file, reading), reading)
    found = recoveries_of(read, cutting)
    groups = groups_of(found, policies)
    if json:
        said = {name: one.to_dict() for name, one in found.said.items()}
        about = read.to_dict() | {"recoveries": len(found), "left_out": list(found.left_out)}
        about["said"] |= said
        opt.print_json(about | {"groups": [group.to_dict() for group in groups]})
    else:
        from whiffclock.drawing.tracks import said_table, tracks_table

        opt.out.print(said_table({**read.said, **found.said}))
        for sentence in found.left_out:
            opt.out.print(f"- {sentence}")
        opt.out.print(tracks_table(groups, read.unit))
    if csv is not None:
        from whiffclock.disk import write_whole

        rows = found.to_pandas()
        write_whole(csv, lambda stream: rows.to_csv(stream, index=False))
        opt.say(f"{csv}: {len(rows):,} rows.")
    if out is not None:
        from whiffclock.drawing.pictures import arranged, write_picture
        from whiffclock.drawing.tracks import tracks_figure

        with opt.messages.status("drawing"):
            write_picture(arranged(lambda: tracks_figure(groups, read.unit)), out)
        opt.say(f"Picture: {out}")
