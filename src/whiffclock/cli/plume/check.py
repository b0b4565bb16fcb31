"""``whiffclock plume check``: what is this recording?"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.plume import plume_app
from whiffclock.cli.plume.export import Reading, parse_frames
from whiffclock.cli.plume.inspect import require_picture

if TYPE_CHECKING:
    from whiffclock.plume.check import PlumeCheck


@plume_app.command()
@with_options
def check(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording: any file that --plume takes.")],
    out: Annotated[Path | None, "Draw what is seen: .png, .pdf or .svg.", OptionSpec("PICTURE")] = None,
    frames: Annotated[str | None, "Snapshots to keep; END is excluded.", OptionSpec("FIRST:END")] = None,
    reading: Reading,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Find out what a recording is: axes, wind, source, background, thresholds.

    Each line is a guess, with its confidence and the option that corrects it.
    It ends with the next commands.

    Example: whiffclock plume check film.npy --out film.png
    """
    from whiffclock.plume.check import check_recording

    require_picture(out, force)
    first, end = parse_frames(frames)
    with opt.messages.status("looking"):
        seen = check_recording(file, replace(reading, first=first, end=end), opt.given_settings(reading))
    if json:
        opt.print_json(seen.to_dict())
    else:
        shown(seen)
    if out is not None:
        from whiffclock.drawing.pictures import arranged, write_picture
        from whiffclock.drawing.plume.recording import check_figure

        with opt.messages.status("drawing"):
            write_picture(arranged(lambda: check_figure(seen)), out)
        opt.say(f"Picture: {out}")
    for i, command in enumerate(seen.next):
        opt.say(f"{'Next:' if i == 0 else '     '} {command}")


def shown(seen: "PlumeCheck") -> None:
    """Print what was seen of a recording."""
    from whiffclock.drawing.plume.tables import check_tables

    for table in check_tables(seen):
        opt.out.print(table)
    for sentence in seen.odd:
        opt.out.print(f"- {sentence}")
