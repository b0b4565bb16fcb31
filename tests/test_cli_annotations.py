"""Options that are made from descriptions."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import OptionGroup, OptionSpec, with_options
from whiffclock.cli.bayes import World
from whiffclock.cli.plume.export import Reading
from whiffclock.cli.plume.make import Simulation
from whiffclock.cli.pomdp import Solver, with_budget
from whiffclock.cli.train import Learning
from whiffclock.params import (
    BayesSettings,
    EvaluationSettings,
    InputError,
    LearningSettings,
    Settings,
    WorldSettings,
    require,
)
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.simulate.recipe import SimulationSettings
from whiffclock.pomdp.settings import SolverSettings


def commands(group=None, path=()):
    group = group or get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = {" ".join(path): (path, command) for path, command in commands()}


@pytest.mark.parametrize(("path", "command"), COMMANDS.values(), ids=COMMANDS)
def test_every_option_has_a_description_that_80_columns_show(path, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, [*path, "--help"]).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    for parameter in command.params:
        assert parameter.help, parameter.name
        if parameter.opts[0].startswith("--"):
            assert parameter.opts[0] in shown


@dataclass(frozen=True)
class Inner(Settings):
    depth: Annotated[float, "Depth."] = 2.5
    silent: int = 7


@dataclass(frozen=True)
class Outer(Settings):
    corner: Annotated[tuple[int, int], "A corner."] = (3, 4)
    limit: Annotated[float | None, "A limit."] = 7e-6
    kind: Annotated[Literal["wet", "dry"], "A kind."] = "wet"
    off: Annotated[bool, "A flag."] = False
    on: Annotated[bool, "A switch."] = True
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self):
        require(self.kind in ("wet", "dry"), f"The kind is {self.kind!r}.")


def corner(text):
    return tuple(map(int, text.split(",")))


SPECS = {
    "corner": OptionSpec("X,Y", corner, name="place"),
    "limit": OptionSpec("C|none", lambda t: None if t == "none" else float(t)),
}


GROUPED = Annotated[Outer, OptionGroup(SPECS)]


def called(*words, hint=GROUPED):
    """What a command gets, and the help it shows."""
    got = []

    def command(
        *,
        file: Annotated[Path | None, typer.Argument(help="A file.")] = None,
        settings: hint,
        many: Annotated[list[str] | None, "Many.", OptionSpec("NAME", short="-m")] = None,
        needed: Annotated[int, "Needed."],
    ):
        got.append((file, settings, many, needed))

    only = typer.Typer()
    only.command()(with_options(command))
    done = CliRunner().invoke(only, list(words), env={"COLUMNS": "80"})
    return got[0] if got else done


def test_without_options_settings_have_their_defaults():
    assert called("--needed", "1") == (None, Outer(), None, 1)
    assert called().exit_code == 2


def test_options_are_read_and_make_the_settings():
    first = ["a.npz", "--place", "5,6", "--limit", "none", "--kind", "dry", "--off", "--no-on", "--depth", "3"]
    assert called(*first, "-m", "x", "--many", "y", "--needed", "2") == (
        Path("a.npz"),
        Outer((5, 6), None, "dry", True, False, Inner(3.0)),
        ["x", "y"],
        2,
    )


def test_settings_check_themselves():
    assert isinstance(called("--needed", "1", "--kind", "moist").exception, InputError)


def test_help_comes_from_the_settings():
    shown = called("--help").stdout
    for words in ("--place", "X,Y", "A corner.", "3,4", "C|none", "7e-6", "wet|dry", "A flag.", "--no-on", "Depth."):
        assert words in shown
    assert "--no-off" not in shown
    assert "silent" not in shown
    assert shown.index("Outer") < shown.index("--place") < shown.index("Inner") < shown.index("--depth")


def test_defaults_in_the_help_are_written_as_elsewhere():
    words = " ".join(CliRunner().invoke(app, ["optimize", "--help"]).stdout.split())
    assert "Temperature at the end. [default: 4e-5]" in words
    assert "in cells. [default: 2]" in words
    assert "[default: 3000001]" in " ".join(CliRunner().invoke(app, ["train", "--help"]).stdout.split())


def test_some_settings_only():
    hint = Annotated[Outer, OptionGroup(SPECS, only=("off", "depth"))]
    shown = called("--help", hint=hint).stdout
    assert "--off" in shown
    assert "--depth" in shown
    assert "--kind" not in shown
    assert called("--needed", "1", "--off", hint=hint)[1] == Outer(off=True)


@pytest.mark.parametrize(
    ("hint", "made"),
    [
        (opt.World, WorldSettings()),
        (World, WorldSettings()),
        (Learning, LearningSettings()),
        (EvaluationSettings, EvaluationSettings()),
        (BayesSettings, BayesSettings()),
        (Reading, ReadSettings()),
        (opt.Source, ReadSettings()),
        (Simulation, SimulationSettings()),
        (opt.PlumeSettings, opt.PlumeSettings()),
        (opt.PlumeFile, opt.PlumeSettings()),
    ],
)
def test_the_defaults_of_commands_are_those_of_the_settings(hint, made):
    assert called("--needed", "1", hint=hint)[1] == made


def test_the_solver_has_a_budget_in_time_unless_one_in_backups_is_given():
    assert with_budget(called("--needed", "1", hint=Solver)[1]) == SolverSettings()
    assert with_budget(called("--needed", "1", "--backups", "5", hint=Solver)[1]) == SolverSettings(None, backups=5)
