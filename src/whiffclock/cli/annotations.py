"""Options from the annotations of a command's parameters, and of the settings that it takes.

A parameter or a setting that is annotated with a description is an option. A parameter whose type is a dataclass
becomes the options of its fields, in a panel of their own in the help; the command gets the validated object.
"""

import shlex
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from operator import itemgetter
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from whiffclock.formatting import plainly

#: Parameters as typer sees them, and a function from all given values to the value of this part.
Part = tuple[list[Parameter], Callable[[dict[str, Any]], Any]]
_GIVEN: ContextVar[frozenset[str]] = ContextVar("given options", default=frozenset())
_METAVARS = {int: "N", int | None: "N", float: "X", float | None: "X", str: "NAME", list[str] | None: "NAME"}


def written(value: Any) -> str:
    """A value as a user would write it: 7e-6, or 96,96,32."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return plainly(value) if isinstance(value, float) else str(value)


def changed_options(settings: Any, **special: str) -> str:
    """Options of all settings that are not at their defaults, for a hint; ``special``: the text of some values."""
    options = ""
    for f in fields(settings):
        value = getattr(settings, f.name)
        if f.default is not MISSING and value != f.default:
            text = special.get(f.name) or written(value)
            options += f" --{f.name.replace('_', '-')}" + f" {shlex.quote(text)}" * (value is not True)
    return options


@dataclass(frozen=True)
class OptionSpec:
    """What an option has beside the name and the type of its setting; given after the description."""

    metavar: str | None = None
    read: Callable[[str], Any] | None = None  # from text to value
    name: str = ""  # of the option, if it differs from that of the setting
    short: str = ""
    note: str = ""  # at the end of the description
    optional: bool = False  # without the option the value is None, whatever the default of the setting


@dataclass(frozen=True)
class OptionGroup:
    """Annotation of a dataclass: specs of some fields, which fields are options (default: all), panel in the help."""

    specs: Mapping[str, OptionSpec] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    panel: str = ""


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: make options from the descriptions of its parameters and settings."""
    hints = get_type_hints(command, include_extras=True)
    parts: dict[str, Part] = {}
    for name, own in signature(command).parameters.items():
        plain = [own.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)], itemgetter(name)
        parts[name] = _part(name, hints[name], own.default, OptionGroup()) or plain
    parameters, make = _together(command, parts)

    @wraps(command)
    def run(*, context: typer.Context, **given: Any) -> None:
        _GIVEN.set(frozenset(name for name in given if str(context.get_parameter_source(name)).endswith("COMMANDLINE")))
        make(given)

    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context), *parameters]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def given_options() -> frozenset[str]:
    """The names of the options and arguments that were given to the command that runs."""
    return _GIVEN.get()


def _together(whole: Callable[..., Any], parts: Mapping[str, Part]) -> Part:
    """The parameters of all parts, and a function that calls ``whole`` with their values."""
    parameters = [parameter for part, _ in parts.values() for parameter in part]
    return parameters, lambda given: whole(**{name: make(given) for name, (_, make) in parts.items()})


def _part(name: str, hint: Any, default: Any, group: OptionGroup) -> Part | None:
    """The options of a dataclass, or the option of a type with a description; None if it is neither."""
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if isinstance(kind, type) and is_dataclass(kind):
        hints, panel = get_type_hints(kind, include_extras=True), kind.__name__.removesuffix("Settings")
        how = replace(notes[0] if notes else group, panel=(notes[0].panel if notes else "") or panel)
        parts = {f.name: _part(f.name, hints[f.name], f.default, how) for f in fields(kind)}
        return _together(kind, {name: part for name, part in parts.items() if part is not None})
    texts = [note for note in notes if isinstance(note, str)]
    if not texts or name not in (group.only or (name,)):
        return None
    text, spec = texts[0], next((note for note in notes if isinstance(note, OptionSpec)), OptionSpec())
    return _option(name, kind, default, text, group.specs.get(name, spec), group.panel or None)


def _option(name: str, kind: Any, default: Any, text: str, spec: OptionSpec, panel: str | None) -> Part:
    name, metavar, read = spec.name or name, spec.metavar, spec.read
    default = None if spec.optional else ... if default is Parameter.empty else default
    metavar = metavar or _METAVARS.get(kind)
    if get_origin(kind) is Literal:
        kind, metavar = str, "|".join(get_args(kind))
    if read is not None:
        kind, default = (str | None, None) if default is None else (str, written(default))
    names = [f"--{name.replace('_', '-')}", spec.short] if default is not True else []
    about: dict[str, Any] = {"metavar": metavar, "help": text + spec.note, "rich_help_panel": panel}
    option = typer.Option(default, *filter(None, names), **about)

    def make(given: dict[str, Any]) -> Any:
        return given[name] if given[name] is None or read is None else read(given[name])

    return [Parameter(name, Parameter.KEYWORD_ONLY, default=option, annotation=kind)], make
