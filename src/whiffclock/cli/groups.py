"""Options from settings: a command that takes a settings class has an option for each setting with a description."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

#: Parameters of a command, and how a value is made of, and removed from, what was given for them.
Group = tuple[list[Parameter], Callable[[dict[str, Any]], Any]]


@dataclass(frozen=True)
class Word:
    """How a setting is written on the command line, where its own name and type do not say."""

    metavar: str | None = None
    read: Callable[[str], Any] | None = None  # from the text that was given to the value
    name: str = ""  # of the option, if it is not that of the setting
    note: str = ""  # at the end of the description
    optional: bool = False  # without the option the value is None, whatever the default of the setting


@dataclass(frozen=True)
class Spelling:
    """Note to a settings class: the words for some of its settings, and which are options, if not all."""

    words: Mapping[str, Word] = field(default_factory=dict)
    only: tuple[str, ...] = ()


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of a command that is a settings class by options; the command gets the settings."""
    hints = get_type_hints(command, include_extras=True)
    parameters, makers = [], {}
    for name, parameter in signature(command).parameters.items():
        if group := _group(hints[name], Spelling()):
            parameters += group[0]
            makers[name] = group[1]
        else:
            parameters.append(parameter.replace(annotation=hints[name]))

    @wraps(command)
    def run(**given: Any) -> None:
        made = {name: make(given) for name, make in makers.items()}
        command(**made, **given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _group(hint: Any, spelling: Spelling) -> Group | None:
    """The options of a dataclass, and of dataclasses in it; None for any other type."""
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return None
    spelling = notes[0] if notes else spelling
    hints = get_type_hints(kind, include_extras=True)
    parameters, makers = [], {}
    for setting in fields(kind):
        name, hint = setting.name, hints[setting.name]
        group = _group(hint, spelling)
        if group is None and get_origin(hint) is Annotated and name in (spelling.only or (name,)):
            of, text, word = (*get_args(hint), Word())[:3]
            group = _option(name, of, setting.default, text, spelling.words.get(name, word))
        if group is not None:
            parameters += group[0]
            makers[name] = group[1]
    return parameters, lambda given: kind(**{name: make(given) for name, make in makers.items()})


def _option(name: str, kind: Any, default: Any, text: str, word: Word) -> Group:
    """The option of one setting."""
    name, metavar, default = word.name or name, word.metavar, None if word.optional else default
    if get_origin(kind) is Literal:
        kind, metavar = str, "|".join(get_args(kind))
    if word.read is not None:
        kind, default = (str | None, None) if default is None else (str, _written(default))
    flag = [f"--{name.replace('_', '-')}"] if default is False else []
    option = typer.Option(default, *flag, metavar=metavar, help=text + word.note)

    def make(given: dict[str, Any]) -> Any:
        value = given.pop(name)
        return value if value is None or word.read is None else word.read(value)

    return [Parameter(name, Parameter.KEYWORD_ONLY, default=option, annotation=kind)], make


def _written(value: Any) -> str:
    """A default as a user would write it: 7e-6, or 96,96,32."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}".replace("e-0", "e-")
