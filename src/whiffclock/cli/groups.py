"""Options from settings: a command that takes a settings class has an option for each setting with a description."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer


@dataclass(frozen=True)
class Word:
    """How a setting is written on the command line, where its own name and type do not say; a note to its type.

    Attributes
    ----------
    read
        Makes the value of the text that was given.
    name
        Name of the option, if it is not that of the setting.
    note
        Ends the description.
    optional
        Without the option the value is None, whatever the default of the setting.
    """

    metavar: str | None = None
    read: Callable[[str], Any] | None = None
    name: str = ""
    note: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Spelling:
    """Of a settings class as a group of options: the words for some settings, and which there are, if not all."""

    words: Mapping[str, Word] = field(default_factory=dict)
    only: tuple[str, ...] = ()


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose parameters of settings classes are replaced by options, of which it gets the settings."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, _Group] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if group := _group(hints[name], Spelling()):
            groups[name] = group
            parameters += group.parameters()
        else:
            parameters.append(parameter.replace(annotation=hints[name]))

    @wraps(command)
    def run(**given: Any) -> None:
        made = {name: group.make(given) for name, group in groups.items()}
        command(**made, **given)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@dataclass(frozen=True)
class _Option:
    parameter: Parameter
    read: Callable[[str], Any] | None

    def parameters(self) -> Iterator[Parameter]:
        yield self.parameter

    def make(self, given: dict[str, Any]) -> Any:
        value = given.pop(self.parameter.name)
        return value if value is None or self.read is None else self.read(value)


@dataclass(frozen=True)
class _Group:
    kind: type
    members: dict[str, "_Option | _Group"]

    def parameters(self) -> Iterator[Parameter]:
        for member in self.members.values():
            yield from member.parameters()

    def make(self, given: dict[str, Any]) -> Any:
        return self.kind(**{name: member.make(given) for name, member in self.members.items()})


def _group(hint: Any, spelling: Spelling) -> _Group | None:
    """The options of a dataclass, which may be annotated with a spelling; None for any other type."""
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return None
    spelling = next((note for note in notes if isinstance(note, Spelling)), spelling)
    hints = get_type_hints(kind, include_extras=True)
    members: dict[str, _Option | _Group] = {}
    for setting in fields(kind):
        name = setting.name
        if group := _group(hints[name], spelling):
            members[name] = group
        elif get_origin(hints[name]) is Annotated and name in (spelling.only or (name,)):
            kind_of, text, *words = get_args(hints[name])
            word = spelling.words.get(name) or next(iter(words), Word())
            members[name] = _Option(_parameter(name, kind_of, setting.default, text, word), word.read)
    return _Group(kind, members)


def _parameter(name: str, kind: Any, default: Any, text: str, word: Word) -> Parameter:
    """The parameter of a command that becomes the option of a setting."""
    name, metavar, default = word.name or name, word.metavar, None if word.optional else default
    if get_origin(kind) is Literal:
        kind, metavar = str, "|".join(get_args(kind))
    if word.read is not None:
        kind, default = (str | None, None) if default is None else (str, _written(default))
    flag = [f"--{name.replace('_', '-')}"] if default is False else []
    option = typer.Option(default, *flag, metavar=metavar, help=text + word.note)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=option, annotation=kind)


def _written(value: Any) -> str:
    """A default as a user would write it: 7e-6, or 96,96,32."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}".replace("e-0", "e-")
