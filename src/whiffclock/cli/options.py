"""Options that several commands share, and how their words become settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whiffclock.cli.words import Spelling, Word
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

Environment = Annotated[
    list[str] | None, f"{', '.join(ENVIRONMENTS)}, or a threshold; repeatable.", Word("NAME", short="-e")
]
Force = Annotated[bool, "Replace a file that is there already."]
StoreFolder = Annotated[Path | None, "Run store to keep results in; default: inside the output folder.", Word("DIR")]
Workers = Annotated[int | None, "Jobs at once; default: all cores."]
AsJson = Annotated[bool, "Print JSON instead of a table."]


def require_new(path: Path | None, force: bool) -> None:
    """Refuse, before any work, to replace a file unasked, or to write where that is not possible."""
    if path is not None:
        from whiffclock.archive import require_replaceable, require_writable

        if path.suffix != ".zarr":  # a folder
            require_replaceable(path)
        require(force or not path.exists(), f"{path} is there already; choose another name, or --force to replace it.")
        require_writable(path.parent)


def read_plume(path: Path | None, settings: ReadSettings) -> Plume:
    """The plume in a file, or the built-in one, which there is only one way to read."""
    from whiffclock.plume import builtin, files

    if path is not None:
        return files.read_plume(path, settings)
    require(settings.source is None, "The built-in plume has a source of its own; --source goes with a plume file.")
    require(settings == ReadSettings(), "Options for reading go with a plume file; the built-in plume needs none.")
    return builtin.builtin_plume()


def parse_whole_numbers(text: str, option: str, example: str) -> tuple[int, ...]:
    """``"0,13"`` to (0, 13): as many whole numbers as ``example`` has."""
    examples = example.split(",")
    try:
        return tuple(int(part) for part, _ in zip(text.split(","), examples, strict=True))
    except ValueError as error:
        count = {2: "two", 3: "three"}[len(examples)]
        raise InputError(f"{option} is {text!r}; it must be {count} whole numbers, such as {example}.") from error


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


def parse_start(text: str) -> float | None:
    """The start threshold; ``None`` stands for the environment's own."""
    return None if text == "own" else parse_number(text, "--start-threshold")


WORLD_WORDS = {"start_threshold": Word("C|own", parse_start, note=" 'own': the environment's threshold (R10).")}
World = Annotated[WorldSettings, Spelling(WORLD_WORDS)]
SOURCE_WORD = Word("X,Y", partial(parse_whole_numbers, option="--source", example="0,13"))
Source = Annotated[ReadSettings, Spelling({"source": SOURCE_WORD}, only=("source",), panel="Plume")]


@dataclass(frozen=True)
class PlumeSettings:
    """The plume that a command works on, or one of its two parts in time."""

    plume: Annotated[
        Path | None, "Plume file of any kind in docs/data.md; default: the built-in one.", Word("FILE")
    ] = None
    reading: Source = field(default_factory=ReadSettings)
    part: Annotated[Literal["all", "train", "test"], "Use all of the record, or one of its two parts in time."] = "all"
    train_share: Annotated[float, "Share of the record that is the train part."] = 0.5

    def __post_init__(self) -> None:
        require(self.part in ("all", "train", "test"), f"--part is {self.part!r}; it must be all, train or test.")
        require(
            0 < self.train_share < 1,
            f"The share of the record to train on is {self.train_share:g}; it must lie between 0 and 1.",
        )

    def open(self) -> Plume:
        """Read it."""
        plume = read_plume(self.plume, self.reading)
        return plume if self.part == "all" else plume.split(self.train_share)[self.part == "test"]


PlumeFile = Annotated[PlumeSettings, Spelling(only=("plume",))]


def show(facts: dict[str, Any], json: bool, form: str = "g") -> None:
    """Print facts as JSON or as a table."""
    if json:
        print_json(facts)
    else:
        out.print(facts_table({name.replace("_", " "): value for name, value in facts.items()}, form))


def facts_table(facts: dict[str, Any], form: str = "g") -> Table:
    """One fact per line; ``form`` is the format of numbers that are not whole."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text(readable(value, form)))
    return table


def readable(value: Any, form: str = "g") -> str:
    """A dictionary as ``key value`` pairs."""
    if isinstance(value, dict):
        return ", ".join(f"{k} {readable(v, form)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(readable(v, form) for v in value) or "none"
    return format(value, form) if isinstance(value, float) else str(value)


def print_json(value: Any) -> None:
    """JSON to stdout, unwrapped and uncoloured."""
    import json

    print(json.dumps(value, indent=2))


@contextmanager
def job_bar(
    what: str, total: int, folder: Path, unit: str = "episodes", done: int = 0
) -> Iterator[tuple[Callable[[int], None], Callable[[str], None]]]:
    """Progress over all jobs: functions to advance and to describe it. Ctrl-C ends it and says what is kept."""
    try:
        with progress_bar(unit) as bar:
            job = bar.add_task(what, total=total, completed=done)
            yield partial(bar.advance, job), lambda words: bar.update(job, description=words)
    except KeyboardInterrupt:
        kept = f"what is finished is in {folder}, the same command goes on from there"
        words = kept if any(folder.rglob("*.npz")) else "nothing was finished"
        talk.print(f"whiffclock: stopped; {words}.", soft_wrap=True)
        raise typer.Exit(130) from None


def progress_bar(unit: str) -> Progress:
    """A bar with share done, rate and time left, on stderr."""
    from rich import progress as rp

    class Rate(rp.ProgressColumn):
        def render(self, task: rp.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} {unit}/s", style="progress.data.speed")

    what, left = rp.TextColumn("{task.description}", markup=False), rp.TextColumn("left")
    share = rp.BarColumn(bar_width=None), rp.TaskProgressColumn(), Rate()
    times = rp.TimeElapsedColumn(), left, rp.TimeRemainingColumn()
    return rp.Progress(rp.SpinnerColumn(), what, *share, *times, console=talk, transient=True)
