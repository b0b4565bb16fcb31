"""``whiffclock plume export``: a plume as a file of another format."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.plume import plume_app
from whiffclock.params import InputError, require
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.reading.settings_file import recording_of


def parse_frames(text: str | None) -> tuple[int, int | None]:
    """``"200:"`` to the first snapshot and the end."""
    match = re.fullmatch(r"(\d{0,18}):(\d{0,18})", text or ":")
    if match is None:
        raise InputError(f"--frames is {text!r}; it must be FIRST:END, such as 200:2600 or 200:.")
    first, end = match.groups()
    return int(first or 0), int(end) if end else None


def parse_crop(text: str) -> tuple[int, int, int, int]:
    """``"0:100,20:80"`` to the four borders."""
    match = re.fullmatch(r"(\d{1,18}):(\d{1,18}),(\d{1,18}):(\d{1,18})", text)
    if match is None:
        raise InputError(f"--crop is {text!r}; it must be X0:X1,Y0:Y1, such as 0:100,20:80.")
    x0, x1, y0, y1 = (int(part) for part in match.groups())
    return x0, x1, y0, y1


_SPECS = {
    "key": OptionSpec("NAME"),
    "axes": OptionSpec("tyx"),
    "crop": OptionSpec("X0:X1,Y0:Y1", parse_crop),
    "downsample": OptionSpec("N"),
    "background": OptionSpec("median|low|first:N|none", str),
    "mask": OptionSpec("FILE"),
    "every": OptionSpec("N"),
    "cell_mm": OptionSpec("MM"),
    "frame_s": OptionSpec("S"),
    **opt.READ_SPECS,
}
Files = Annotated[
    list[Path],
    typer.Argument(metavar="[PLUME] FILE", help="Plume to read (default: the built-in one), file to write."),
]
Reading = Annotated[ReadSettings, OptionGroup(_SPECS, panel="Reading")]


@plume_app.command()
@with_options
def export(
    *,
    files: Files,
    frames: Annotated[str | None, "Snapshots to keep; END is excluded.", OptionSpec("FIRST:END")] = None,
    reading: Reading,
    force: opt.Force = False,
    json: opt.AsJson = False,
) -> None:
    """Convert a plume to .npy (t, x, y), .npz, .nc or .zarr.

    Use it to turn a large recording into a small file for --plume of other
    commands. Source and origin are kept in every format but .npy.

    Example: whiffclock plume export recording.h5 small.npz --downsample 4
    """
    from whiffclock.plume.reading.files import write_plume

    raw, target = read_and_written(files, force)
    first, end = parse_frames(frames)
    plume = opt.read_plume(raw, replace(reading, first=first, end=end))
    with opt.progress_bar("snapshots") as bar:
        bar.begin("writing", plume.field.shape[0])
        write_plume(plume, target, bar.advance)
    x, y = plume.source
    if json:
        facts = {"file": str(target), "plume": plume.origin, "shape": list(plume.field.shape)}
        opt.print_json(facts | {"source": [x, y], "fingerprint": plume.fingerprint})
        return
    opt.out.print(f"{target}: {' x '.join(map(str, plume.field.shape))} (t, x, y), {plume.origin}.")
    named = ("--source", f"{x},{y}") if target.suffix == ".npy" else ()
    opt.say_next("train", "--plume", target, *named)


def read_and_written(files: list[Path], force: bool) -> tuple[Path | None, Path]:
    """The plume file to read (None: the built-in plume) and the one to write, if it can be written."""
    require(len(files) <= 2, f"{len(files)} files were given; at most two are possible: one to read, one to write.")
    raw, target = (None, files[0]) if len(files) == 1 else (files[0], files[1])
    endings = (".npy", ".npz", ".nc", ".zarr")
    require(target.suffix in endings, f"{target} has the ending {target.suffix!r}; it must be {', '.join(endings)}.")
    other = raw is None or os.path.realpath(recording_of(raw)) != os.path.realpath(target)
    require(other, f"{target} is the file to read; write to another one.")
    opt.require_new(target, force)
    return raw, target
