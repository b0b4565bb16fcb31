"""Options that several commands share, and how their words become settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from whiffclock.params import ENVIRONMENTS, InputError, WorldSettings, require
from whiffclock.plume.layouts import ReadSettings

if TYPE_CHECKING:
    from rich.progress import Progress

    from whiffclock.plume import Plume

#: Talk goes to stderr, results to stdout: a result can always be piped. Brackets in a name are no markup.
talk = Console(stderr=True, markup=False)
out = Console(markup=False)

#: Where a reproduction goes, and its run store below it, unless another folder is named.
REPRODUCTION = Path("reproduction")

PlumeFile = Annotated[
    Path | None,
    typer.Option("--plume", metavar="FILE", help="Plume file of any kind in docs/data.md; default: the built-in one."),
]
Source = Annotated[
    str | None, typer.Option("--source", metavar="X,Y", help="Source cell; default: upwind end, middle.")
]
Part = Annotated[
    str, typer.Option(metavar="all|train|test", help="Use all of the record, or one of its two parts in time.")
]
TrainShare = Annotated[float, typer.Option(help="Share of the record that is the train part.")]
Environment = Annotated[
    list[str] | None,
    typer.Option("--environment", "-e", metavar="NAME", help=f"{', '.join(ENVIRONMENTS)}, or a threshold; repeatable."),
]
Radius = Annotated[float, typer.Option(help="Radius of the source region, in cells.")]
StartThreshold = Annotated[
    str,
    typer.Option(metavar="C|own", help="Starts are the cells that exceed this once; 'own': the environment's."),
]
StartOnWhiff = Annotated[bool, typer.Option("--start-on-whiff", help="Start when there is a whiff.")]
EndOfRecord = Annotated[str, typer.Option(metavar="wrap|avoid", help="What to do at the end of the record.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
StoreFolder = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Run store to keep results in; default: inside the output folder."),
]
Workers = Annotated[int | None, typer.Option(help="Jobs at once; default: all cores.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def require_new(path: Path | None, force: bool) -> None:
    """Refuse, before any work, to replace a file unasked, or to write where that is not possible."""
    if path is not None:
        from whiffclock.archive import require_replaceable, require_writable

        if path.suffix != ".zarr":  # a folder
            require_replaceable(path)
        require(force or not path.exists(), f"{path} is there already; choose another name, or --force to replace it.")
        require_writable(path.parent)


def open_plume(path: Path | None, source: str | None = None, part: str = "all", train_share: float = 0.5) -> Plume:
    """The plume a user named, or the built-in one; all of it or one of its two parts in time."""
    require(part in ("all", "train", "test"), f"--part is {part!r}; it must be all, train or test.")
    require(
        0 < train_share < 1,
        f"The share of the record to train on is {train_share:g}; it must lie between 0 and 1.",
    )
    plume = read_plume(path, ReadSettings(source=None if source is None else parse_cell(source)))
    return plume if part == "all" else plume.split(train_share)[part == "test"]


def read_plume(path: Path | None, settings: ReadSettings) -> Plume:
    """The plume in a file, or the built-in one, which there is only one way to read."""
    if path is not None:
        from whiffclock.plume.files import read_plume as read_file

        return read_file(path, settings)
    from whiffclock.plume.builtin import builtin_plume

    require(settings.source is None, "The built-in plume has a source of its own; --source goes with a plume file.")
    require(settings == ReadSettings(), "Options for reading go with a plume file; the built-in plume needs none.")
    return builtin_plume()


def parse_cell(text: str) -> tuple[int, int]:
    """``"0,13"`` to (0, 13)."""
    try:
        x, y = (int(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--source is {text!r}; it must be two whole numbers, such as 0,13.") from error
    return x, y


def parse_thresholds(names: list[str] | None) -> list[float]:
    """Environment names or numbers to thresholds; all four by default."""
    return [parse_threshold(name, "--environment") for name in names or ENVIRONMENTS]


def parse_threshold(text: str, option: str) -> float:
    """An environment's name or a number."""
    choices = f"one of {', '.join(ENVIRONMENTS)}, or a number"
    return ENVIRONMENTS[text] if text in ENVIRONMENTS else parse_number(text, option, choices)


def parse_number(text: str, option: str, choices: str = "a number") -> float:
    """A number, or one clear sentence that names the choices."""
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"{option} is {text!r}; it must be {choices}.") from error


def world_settings(
    radius: float = 2.0, start_threshold: str = "7e-6", start_on_whiff: bool = False, end_of_record: str = "wrap"
) -> WorldSettings:
    """World settings from the command line's words."""
    own = start_threshold == "own"
    return WorldSettings(
        radius=radius,
        start_threshold=None if own else parse_number(start_threshold, "--start-threshold"),
        start_on_whiff=start_on_whiff,
        end_of_record=end_of_record,  # type: ignore[arg-type]
    )


def print_json(value: Any) -> None:
    """JSON to stdout, unwrapped and uncoloured."""
    import json

    print(json.dumps(value, indent=2))


@contextmanager
def training_bar(what: str, episodes: int, folder: Path) -> Iterator[Callable[[int], None]]:
    """Progress over all episodes of an ensemble; Ctrl-C ends it with a sentence on what is kept."""
    try:
        with progress_bar("episodes") as bar:
            job = bar.add_task(what, total=episodes)
            yield lambda n: bar.update(job, advance=n)
    except KeyboardInterrupt:
        raise stopped(folder) from None


def stopped(folder: Path) -> typer.Exit:
    """Say after Ctrl-C what is kept; the exit to raise."""
    kept = f"what is finished is in {folder}, the same command goes on from there"
    words = kept if any(folder.rglob("*.npz")) else "nothing was finished"
    talk.print(f"whiffclock: stopped; {words}.", soft_wrap=True)
    return typer.Exit(130)


def progress_bar(unit: str) -> Progress:
    """A bar with share done, rate and time left, on stderr."""
    from rich import progress as rp
    from rich.text import Text

    class Rate(rp.ProgressColumn):
        def render(self, task: rp.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} {unit}/s", style="progress.data.speed")

    what, left = rp.TextColumn("{task.description}", markup=False), rp.TextColumn("left")
    share = rp.BarColumn(bar_width=None), rp.TaskProgressColumn(), Rate()
    times = rp.TimeElapsedColumn(), left, rp.TimeRemainingColumn()
    return rp.Progress(rp.SpinnerColumn(), what, *share, *times, console=talk, transient=True)
