"""Help texts in plain columns of 80 characters: options in groups, flags as flags, commands in a chosen order."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from whiffclock.formatting import plainly

_ORDER = "demo reproduce study view report claims data readings train optimize sweep run plot solve evaluate simulate"
_ORDER += " toy fetch check inspect compare recovery assay tracks leaderboard calibrate list show export prune"
_ORDER += " bayes pomdp plume runs info doctor"
#: Commands of version 0.1 that have another name now.
_RENAMED = {"standin": "toy"}

_WIDEST = 26  # column of names
#: A default that is not a whole number, as click shows it.
_DECIMAL = re.compile(r"(?<=default: )-?[\d.]+(?:\.|e)[\d+-]+(?=])")


class Command(TyperCommand):
    """A command whose help has a section per group of options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The pieces of the usage line; metavars say which arguments may be left out."""
        arguments = (p for p in self.get_params(ctx) if p.param_type_name == "argument")
        return ["[OPTIONS]", *(p.metavar or p.name.upper() for p in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections."""
        _write_sections(formatter, _records(self, ctx))


class CommandGroup(TyperGroup):
    """A group whose help lists its commands, each with its first sentence."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections."""
        commands = ((name, self.commands[name].get_short_help_str(200)) for name in self.list_commands(ctx))
        records = _records(self._with_options(), ctx)
        _write_sections(formatter, [*(("Commands", record) for record in commands), *records])

    def _with_options(self) -> Any:
        """The command whose options are listed."""
        return self

    def get_command(self, ctx: Any, name: str) -> Any:
        """A command by its name, or, with a warning, by its name in version 0.1."""
        if name in _RENAMED and name not in self.commands:
            typer.echo(f"whiffclock: {name} is called {_RENAMED[name]} now.", err=True)
        return super().get_command(ctx, _RENAMED.get(name, name))

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the help."""
        return sorted(self.commands, key=_ORDER.split().index)


class RunGroup(CommandGroup):
    """A group in which the word "run" can be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert "run" before arguments that begin with neither a command nor a help option."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """One line for "run" without this word, and one for each other command."""
        for number, name in enumerate(self.list_commands(ctx)):
            path = ctx.command_path if name == "run" else f"{ctx.command_path} {name}"
            pieces = self.commands[name].collect_usage_pieces(ctx)
            formatter.write_usage(path, " ".join(pieces), prefix="       " if number else None)

    def _with_options(self) -> Any:
        return self.commands["run"]


class App(typer.Typer):
    """The application or a group of its commands."""

    def __init__(self, cls: type[CommandGroup] = CommandGroup, no_args_is_help: bool = True, **options: Any) -> None:
        plain: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
        super().__init__(cls=cls, no_args_is_help=no_args_is_help, **plain, **options)

    def command(self, name: str | None = None, **options: Any) -> Any:
        """A decorator that registers a command."""
        return super().command(name, cls=Command, **options)


def _records(command: Any, ctx: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Section, name and text of arguments and options."""
    for parameter in command.get_params(ctx):
        if parameter.param_type_name == "argument":
            yield "Arguments", (parameter.metavar or parameter.name.upper(), parameter.help)
        elif (record := parameter.get_help_record(ctx)) is not None:
            name, text = record
            text = _DECIMAL.sub(lambda found: plainly(float(found[0])), text)
            yield getattr(parameter, "rich_help_panel", None) or "Options", (name, text)


def _write_sections(formatter: Any, records: Any) -> None:
    """Write records by section; all sections have columns of the same width."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Commands": [], "Options": []}
    for title, record in records:
        sections.setdefault(title, []).append(record)
    width = min(_WIDEST, max(len(name) for rows in sections.values() for name, _ in rows))
    for title, rows in sections.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows], col_max=_WIDEST)
