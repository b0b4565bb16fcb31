"""Options that several commands share, and how their text is read."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from whiffclock.cli.annotations import OptionGroup, OptionSpec, changed_options, given_options
from whiffclock.disk import require_replaceable, require_writable
from whiffclock.environments import Environments, parse_numbers, parse_thresholds
from whiffclock.escapes import escaped
from whiffclock.formatting import plainly
from whiffclock.params import InputError, WorldSettings, require
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.progress import Bar
from whiffclock.runs.engine import EngineError, EngineSettings
from whiffclock.terminal import Terminal

if TYPE_CHECKING:
    from whiffclock.plume import Plume

#: Messages go to stderr, results to stdout, so that results can be piped.
messages = Terminal(stderr=True)
out = Terminal()

#: Default folder of a reproduction; its results are cached in runs/ in it.
REPRODUCTION = Path("reproduction")

Environment = Annotated[
    list[str] | None,
    "Environment of the plume, such as sparse, or a threshold; may be repeated.",
    OptionSpec("NAME", short="-e"),
]
#: Help of the argument that names a run.
RUN_HELP = "Output folder of whiffclock reproduce; default: the full run that comes with it."
#: Help of arguments that name policies.
POLICIES_HELP = (
    "Policy files, or folders of them; module:object for your own (a Policy, a class with act, or a function from the "
    "clock to an action); or the name of a program that comes with whiffclock, such as clock-sparse."
)
Force = Annotated[bool, "Replace an existing file."]
StoreFolder = Annotated[Path | None, "Folder in which results are cached; default: in DIR of --out.", OptionSpec("DIR")]
AsJson = Annotated[bool, "Print JSON."]


def say(line: str) -> None:
    """Print a line for the user on stderr."""
    messages.print(line, soft_wrap=True)


def require_new(path: Path | None, force: bool) -> None:
    """Refuse, before any work, to replace a file without --force, or to write where that is not possible."""
    if path is not None:
        if path.suffix != ".zarr":  # a folder
            require_replaceable(path)
        require(force or not path.exists(), f"{path} exists; choose another name, or replace it with --force.")
        require_writable(path.parent)


def read_plume(path: Path | None, settings: ReadSettings) -> "Plume":
    """The plume in a file, or the built-in one, which takes no settings."""
    from whiffclock.plume import builtin
    from whiffclock.plume.reading import files

    if path is not None:
        with progress_bar("snapshots") as bar:
            return files.read_plume(path, settings, given_settings(settings), bar)
    require(settings.source is None, "The built-in plume has a source of its own; --source needs a plume file.")
    plain = replace(settings, environments=None, whiff_probability=None) == ReadSettings()
    require(plain, "Options such as --crop need a plume file; the built-in plume takes none.")
    return files.in_environments(builtin.builtin_plume(), settings)


def given_settings(settings: ReadSettings) -> set[str]:
    """The settings that are not at their defaults, or were given on the command line all the same."""
    defaults, options = ReadSettings(), given_options()
    names = [f.name for f in fields(settings)]
    return {name for name in names if name in options or getattr(settings, name) != getattr(defaults, name)}


def parse_whole_numbers(text: str, option: str, example: str) -> tuple[int, ...]:
    """``"0,13"`` to (0, 13): as many whole numbers as ``example`` has."""
    examples = example.split(",")
    try:
        return tuple(int(part) for part, _ in zip(text.split(","), examples, strict=True))
    except ValueError as error:
        count = {2: "two", 3: "three"}[len(examples)]
        raise InputError(f"{option} is {text!r}; it must be {count} whole numbers, such as {example}.") from error


def thresholds_in(plume: "Plume", names: list[str] | None) -> list[float]:
    """Thresholds from names of a plume's environments, or from numbers; all of its environments by default."""
    known = plume.environments
    return [known.threshold_of(name, "--environment") for name in names or known.required()]


def parse_start(text: str) -> float | str:
    """The start threshold, or one of the words for it."""
    if text in ("own", "sparsest"):
        return text
    try:
        return float(text)
    except ValueError as error:
        raise InputError(f"--start-threshold is {text!r}; it must be a number, own or sparsest.") from error


_STARTS = " 'own': the environment's threshold; 'sparsest': that of the plume's sparsest environment."
WORLD_SPECS = {"start_threshold": OptionSpec("C|own|sparsest", parse_start, note=_STARTS)}
World = Annotated[WorldSettings, OptionGroup(WORLD_SPECS)]
Engine = Annotated[EngineSettings, OptionGroup({"scheduler": OptionSpec("ADDRESS|FILE")})]
SOURCE_SPEC = OptionSpec("X,Y", partial(parse_whole_numbers, option="--source", example="0,13"))
READ_SPECS = {
    "source": SOURCE_SPEC,
    "environments": OptionSpec("NAME=C,NAME=C|C,C|auto", parse_thresholds, short="--thresholds"),
    "whiff_probability": OptionSpec(
        "P,P", partial(parse_numbers, option="--whiff-probability", example=".2,.1,.05,.02")
    ),
}
Source = Annotated[ReadSettings, OptionGroup(READ_SPECS, only=tuple(READ_SPECS), panel="Plume")]


@dataclass(frozen=True)
class PlumeSettings:
    """The plume that a command works on, or one of its two parts in time."""

    plume: Annotated[Path | None, "Plume file, see docs/data.md; default: the built-in one.", OptionSpec("FILE")] = None
    reading: Source = field(default_factory=ReadSettings)
    part: Annotated[Literal["all", "train", "test"], "Use the whole record, or its first or second part."] = "all"
    train_share: Annotated[float, "Length of the train part, as a share of the record."] = 0.5
    anyway: Annotated[bool, "Go on where the plume looks wrong (see docs/data.md)."] = False

    def __post_init__(self) -> None:
        require(self.part in ("all", "train", "test"), f"--part is {self.part!r}; it must be all, train or test.")
        share = f"The share of the record to train on is {plainly(self.train_share)}"
        require(0 < self.train_share < 1, f"{share}; it must lie between 0 and 1.")

    def open(self) -> "Plume":
        """Read the plume."""
        plume = read_plume(self.plume, self.reading)
        return plume if self.part == "all" else plume.split(self.train_share)[self.part == "test"]

    def require_sound(
        self, plume: "Plume", world: WorldSettings, horizon: int, thresholds: Iterable[float] = ()
    ) -> None:
        """Stop before any work, with a line for each doubt about a plume; with --anyway, only say them."""
        refuse_doubtful(plume, world, horizon, thresholds, anyway=self.anyway)


def refuse_doubtful(
    plume: "Plume", world: WorldSettings, horizon: int, thresholds: Iterable[float] = (), *, anyway: bool
) -> None:
    """Say what is doubtful about searches in a plume that whiffclock did not make, and stop unless ``anyway``."""
    from whiffclock.plume.doubts import doubts_of, own

    found = [] if own(plume) else doubts_of(plume, world, horizon, tuple(thresholds))
    for doubt in found:
        say(f"whiffclock: {doubt}")
    if found and not anyway:
        say("whiffclock: Nothing was done; --anyway goes on all the same.")
        raise typer.Exit(2)


def say_next(*words: str | Path, options: str = "") -> None:
    """Print the command that comes next, quoted for the shell; ``options`` are quoted already."""
    say(f"Next: whiffclock {shlex.join(map(str, words))}{options}")


def hint(*words: str | Path, plume: PlumeSettings, world: WorldSettings) -> None:
    """Print the command that comes next; what was trained on one part of the record is tested on the other."""
    part = {"train": "test", "test": "train", "all": "all"}[plume.part]
    known = plume.reading.environments
    named = {"environments": known if isinstance(known, str) else Environments(known or {}).text}
    options = changed_options(plume, part=part) + changed_options(plume.reading, **named) + changed_options(world)
    say_next(*words, options=options)


PlumeFile = Annotated[PlumeSettings, OptionGroup(only=("plume",))]
CheckedPlume = Annotated[PlumeSettings, OptionGroup(only=("plume", "anyway"))]


def show(facts: dict[str, Any], json: bool, form: str = "", untabled: str = "") -> None:
    """Print facts as JSON or as a table; one that a message explains is ``untabled``."""
    if json:
        print_json(facts)
    else:
        named = {name.replace("_", " "): value for name, value in facts.items() if name != untabled}
        out.print(facts_table(named, form))


def facts_table(facts: dict[str, Any], form: str = "") -> Table:
    """One fact per line; ``form`` is the format of numbers that are not whole, by default that of `plainly`."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(escaped(name), Text(escaped(readable(value, form)).replace("\n", "\\n")))
    return table


def readable(value: Any, form: str = "") -> str:
    """A value as text, a dictionary as ``key value`` pairs; the maker of a memory is its name."""
    if isinstance(value, dict):
        pairs = ((name.replace("_", " "), readable(one, form)) for name, one in value.items())
        return ", ".join(text if name == "maker" else f"{name} {text}" for name, text in pairs)
    if isinstance(value, list | tuple):
        return ", ".join(readable(v, form) for v in value) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if not isinstance(value, float):
        return str(value)
    return format(value, form) if form else plainly(value)


def print_json(value: Any) -> None:
    """JSON to stdout, unwrapped and uncoloured."""
    print(dumps(value, indent=2))


@contextmanager
def job_bar(folder: Path | None, unit: str) -> Iterator[Bar]:
    """Progress of jobs whose results go to ``folder``, if any. Ctrl-C and lost workers end it with a message."""
    try:
        with Bar(unit, messages, announce=True) as bar:
            yield bar
    except (KeyboardInterrupt, EngineError) as error:
        kept = f"finished work is in {folder}; the same command continues from there"
        message = kept if folder is not None and any(folder.rglob("*.npz")) else "nothing was finished"
        say(f"whiffclock: {error if isinstance(error, EngineError) else 'stopped'}; {message}.")
        raise typer.Exit(1 if isinstance(error, EngineError) else 130) from None


def progress_bar(unit: str) -> Bar:
    """Progress on stderr."""
    return Bar(unit, messages)
