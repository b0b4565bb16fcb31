"""Captions and tables of figures: the texts of ``captions.toml``, filled in, and tables by environment."""

import functools
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from whiffclock import formatting
from whiffclock.paper.dataset import ENVIRONMENT_NAMES, PAPER_AGENTS, Datasets, in_each
from whiffclock.params import LearningSettings


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
    facts, texts = data.facts, _texts()
    less = facts["seeds"] < PAPER_AGENTS or facts["episodes"] < LearningSettings.episodes
    text = texts[name].replace("{run}", texts["run"] + texts["less"] * less)
    return functools.partial(" ".join(text.split()).format, **facts)


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
    return in_each(lambda name: reduce(values.sel({along: name})))


def table(columns: Mapping[str, tuple[xr.DataArray | Sequence[xr.DataArray], str]]) -> Table:
    """A row per environment; a column for medians of some values, or of several side by side, in a format."""
    cells = []
    for values, form in columns.values():
        parts = [medians(one).values for one in ([values] if isinstance(values, xr.DataArray) else values)]
        cells.append([" · ".join(cell(value, form) for value in row) for row in zip(*parts, strict=True)])
    return Table(list(columns), [(name, list(row)) for name, *row in zip(ENVIRONMENT_NAMES, *cells, strict=True)])


def cell(value: float, form: str = ".2f") -> str:
    """A number in a table."""
    return formatting.number(value, form, infinity="never")


def ends(values: xr.DataArray, form: str = ".2f", unit: str = "") -> str:
    """ "12 cells in denser to 30 in sparser", of medians by environment."""
    first, *_, last = ENVIRONMENT_NAMES
    low, high = (number(float(medians(values).sel(environment=name)), form) for name in (first, last))
    return f"{low} {unit} in {first} to {high} in {last}".replace("  ", " ")


def places(true: xr.DataArray) -> str:
    """Where a condition is true: "all four environments", "denser and dense", "no environment"."""
    names = [name for name in ENVIRONMENT_NAMES if bool(true.sel(environment=name))]
    return "all four environments" if len(names) == len(ENVIRONMENT_NAMES) else listing(names or ["no environment"])


@functools.cache
def _texts() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("captions.toml").read_text("utf-8"))
