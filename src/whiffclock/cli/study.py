"""``whiffclock study``: from a recording to its searchers, in one command."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionSpec, with_options
from whiffclock.cli.plume.check import shown
from whiffclock.cli.plume.export import Reading, parse_frames
from whiffclock.cli.reproduce import PROFILE_HELP, ReadingOptions, reproduced


@app.command()
@with_options
def study(
    *,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording: any file that --plume takes.")],
    out: Annotated[Path, "Folder for settings, pictures, report and agents.", OptionSpec("DIR")] = Path("study"),
    profile: Annotated[str, PROFILE_HELP, OptionSpec("NAME")] = "quick",
    only: Annotated[str | None, "Only these figures, such as fig3,b1.", OptionSpec("IDS")] = None,
    frames: Annotated[str | None, "Snapshots to keep; END is excluded.", OptionSpec("FIRST:END")] = None,
    reading: Reading,
    readings: ReadingOptions,
    anyway: Annotated[bool, "Go on where the plume looks wrong (see docs/data.md)."] = False,
    engine: opt.Engine,
) -> None:
    """From a recording to a report: check it, train and search agents in it, compare them.

    Axes, wind, source, background and thresholds are found as by plume check;
    options correct them. They are written to DIR/plume.toml, which is a plume
    file for every other command. Agents are trained, searched and compared as
    by reproduce, with cast-and-surge and the Bayesian agent beside them. The
    same command continues after an interruption.

    Example: whiffclock study film.mp4 --out mine
    """
    from whiffclock.disk import require_writable
    from whiffclock.drawing.pictures import arranged, write_picture
    from whiffclock.drawing.plume.recording import check_figure
    from whiffclock.plume.check import check_recording
    from whiffclock.plume.reading.files import read_plume
    from whiffclock.plume.reading.layouts import ReadSettings
    from whiffclock.plume.reading.settings_file import write_settings

    require_writable(out)
    first, end = parse_frames(frames)
    with opt.messages.status("looking at the recording"):
        seen = check_recording(file, replace(reading, first=first, end=end), opt.given_settings(reading))
    shown(seen)
    if not anyway:
        seen.require_clear()
    settings, picture = out / "plume.toml", out / "plume.png"
    write_settings(settings, seen.recording, ReadSettings(**seen.settings))
    with opt.messages.status("drawing"):
        write_picture(arranged(lambda: check_figure(seen)), picture)
    opt.say(f"Settings: {settings}   picture: {picture}")
    reproduced(partial(read_plume, settings), profile, only, out, None, readings, engine, anyway)
