"""Captions and tables of figures: the texts of ``captions.toml``, filled in, and tables by environment."""

import functools
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from whiffclock import formatting
from whiffclock.paper.dataset import Datasets, in_each

T = TypeVar("T")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


@dataclass(frozen=True)
class Table:
    """A table under a caption: names of the columns, and rows of a name and its cells."""

    header: list[str]
    rows: list[tuple[str, list[str]]]


def number(value: float, form: str = ".2f") -> str:
    """A number for a sentence; infinity is "never"."""
    return formatting.number(value, form, nan="unknown", infinity="never")


def caption(name: str, data: Datasets) -> Callable[..., str]:
    """A text of ``captions.toml`` with the facts of the run filled in, to be called with its other values."""
    text, names = _texts()[name], data.environments.names
    here = {"places": "environment" + "s" * (len(names) > 1), "count": count(len(names))}
    here |= {"span": f"{names[0]} to {names[-1]}" if len(names) > 1 else names[0]}
    return functools.partial(" ".join(text.split()).format, **data.facts, **here)


def middle(values: ArrayLike) -> float:
    """Median, in which NaN counts as larger than all values; NaN only if there are no values."""
    filled = np.where(np.isnan(values), np.inf, values)
    return float(np.median(filled)) if filled.size else float("nan")


def listing(parts: Iterable[str]) -> str:
    """ "a, b and c"."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def medians(values: xr.DataArray) -> xr.DataArray:
    """Medians by environment over all other dimensions, if there are any: float[environment]."""
    along = next(name for name in ("environment", "trained", "tested") if name in values.dims)
    reduce = float if values.ndim == 1 else middle
    return in_each(values[along].values.tolist(), lambda name: reduce(values.sel({along: name})))


def table(columns: Mapping[str, tuple[xr.DataArray | Sequence[xr.DataArray], str]]) -> Table:
    """A row per environment; a column for medians of some values, or of several side by side, in a format."""
    cells = []
    for values, form in columns.values():
        parts = [medians(one) for one in ([values] if isinstance(values, xr.DataArray) else values)]
        names = parts[0]["environment"].values.tolist()
        rows = zip(*(part.values for part in parts), strict=True)
        cells.append([" · ".join(cell(value, form) for value in row) for row in rows])
    return Table(list(columns), [(name, list(row)) for name, *row in zip(names, *cells, strict=True)])


def cell(value: float, form: str = ".2f") -> str:
    """A number in a table."""
    return formatting.number(value, form, infinity="never")


def ends(values: xr.DataArray, form: str = ".2f", unit: str = "") -> str:
    """ "12 cells in denser to 30 in sparser", of medians by environment."""
    found = medians(values)
    (first, low), (last, high) = ends_of(zip(found["environment"].values.tolist(), found.values, strict=True))
    return f"{number(low, form)} {unit} in {first} to {number(high, form)} in {last}".replace("  ", " ")


def ends_of(items: Iterable[T]) -> list[T]:
    """The first and the last of some items, which may be the same."""
    every = list(items)
    return [every[0], every[-1]]


def places(true: xr.DataArray) -> str:
    """Where a condition is true: "all four environments", "denser and dense", "no environment"."""
    every = true["environment"].values.tolist()
    names = [name for name in every if bool(true.sel(environment=name))]
    everywhere = 1 < len(names) == len(every)
    return f"all {count(len(every))} environments" if everywhere else listing(names or ["no environment"])


def count(number: int) -> str:
    """A small number as a word."""
    return dict(enumerate(_NUMBERS)).get(number, str(number))


@functools.cache
def _texts() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("captions.toml").read_text("utf-8"))
