"""Values as plain Python values of a type: what a user gives, as the annotation of a setting says it must be.

Whole numbers may be floats without a fraction, numbers may be NumPy's, sequences may be arrays. A text is not a number,
and a switch is neither 0 nor 1.
"""

import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from whiffclock.formatting import plainly

T = TypeVar("T")
#: From a value to the plain one; it raises some error if there is none.
Fit = Callable[[Any], Any]


def fit_of(kind: Any) -> tuple[Fit, str]:
    """A function that makes values plain ones of the type ``kind``, and this type in words."""
    parts = get_args(kind)
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if get_origin(kind) is Literal:
        *others, last = map(repr, parts)
        return partial(_one_of, parts), f"{', '.join(others)} or {last}" if others else last
    if get_origin(kind) in (Union, UnionType):
        fits, words = zip(*map(fit_of, parts), strict=True)
        return partial(_first_fit, fits), " or ".join(words)
    if get_origin(kind) is tuple:
        fit, word = fit_of(parts[0])
        count = None if ... in parts else len(parts)
        many = f"{word.removeprefix('a ')}s" if parts[0] in _SIMPLE else parts[0].__name__
        return partial(_sequence, fit, count), f"a sequence of {many if count is None else f'{count} {many}'}"
    if get_origin(kind) is dict:
        (name, _), (fit, word) = map(fit_of, parts)
        return partial(_dictionary, name, fit), f"a dictionary of {word.removeprefix('a ')}s"
    return partial(_made, kind), f"{kind.__name__}, or a dictionary of such settings"


def shown(value: Any) -> str:
    """A value on one line, shortened: a number, or something else as in Python."""
    if isinstance(value, float):
        return plainly(value)
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a number of {int(value.bit_length() * 0.30103) + 1} digits"
    try:
        return " ".join(reprlib.repr(value).split())
    except ValueError:  # Python does not write the longest whole numbers
        return f"a {type(value).__name__}"


def plain(value: Any) -> Any:
    """A number of NumPy's as Python's, an array as a list; other values unchanged."""
    return value.__array__().tolist() if hasattr(value, "__array__") else value


def whole(value: Any) -> int:
    """A whole number; :class:`TypeError` or another error for other values."""
    if type(value) is int:
        return value
    made = int(value := _real(value))
    return _sure(made, made == value)


def _number(value: Any) -> float:
    if type(value) is float:
        return value
    value = _real(value)
    return float(value) if -1e300 < value < 1e300 else value  # others are refused for their size


def _real(value: Any) -> Any:
    value = plain(value)
    return _sure(value, isinstance(value, int | float) and not isinstance(value, bool))


def _instance(kind: Any, value: Any) -> Any:
    value = plain(value)
    return _sure(value, isinstance(value, kind))


def _one_of(choices: tuple[Any, ...], value: Any) -> Any:
    return choices[choices.index(value)]


def _first_fit(fits: Sequence[Fit], value: Any) -> Any:
    for fit in fits[:-1]:
        try:
            return fit(value)
        except (TypeError, ValueError):
            continue
    return fits[-1](value)


def _sequence(fit: Fit, count: int | None, value: Any) -> tuple[Any, ...]:
    value = plain(value)
    made = tuple(map(fit, _sure(value, isinstance(value, list | tuple | range))))
    return _sure(made, count in (None, len(made)))


def _dictionary(name: Fit, fit: Fit, value: Any) -> dict[Any, Any]:
    return {name(key): fit(one) for key, one in _sure(value, isinstance(value, Mapping)).items()}


def _made(kind: Any, value: Any) -> Any:
    return value if isinstance(value, kind) else kind(**_sure(value, isinstance(value, Mapping)))


def _sure(value: T, right: bool) -> T:
    if not right:
        raise TypeError
    return value


_SIMPLE: dict[Any, tuple[Fit, str]] = {
    int: (whole, "a whole number"),
    float: (_number, "a number"),
    bool: (partial(_instance, bool), "True or False"),
    str: (partial(_instance, str), "a text"),
    NoneType: (partial(_instance, NoneType), "None"),
}
