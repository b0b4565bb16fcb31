"""Captions: the texts of ``captions.toml``, filled in with numbers by environment."""

import functools
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from whiffclock import formatting
from whiffclock.paper.dataset import ENVIRONMENT_NAMES, Datasets, in_each

#: Agents per ensemble and training episodes in the paper.
_PAPER_AGENTS, _PAPER_EPISODES = 20, 3_000_001


def number(value: float, form: str = ".2f") -> str:
    """A number as it stands in a sentence; what never happens is infinite."""
    return formatting.number(value, form, nan="unknown", infinity="never")


def caption(name: str, data: Datasets) -> Callable[..., str]:
    """A text of ``captions.toml`` that knows the facts of the run, to be called with its other values."""
    facts, texts = data.facts, _texts()
    less = facts["seeds"] < _PAPER_AGENTS or facts["episodes"] < _PAPER_EPISODES
    text = texts[name].replace("{run}", texts["run"] + texts["less"] * less)
    return functools.partial(" ".join(text.split()).format, **facts)


def middle(values: ArrayLike) -> float:
    """Median, in which NaN stands for a value beyond all others; NaN only if there are no values."""
    filled = np.where(np.isnan(values), np.inf, values)
    return float(np.median(filled)) if filled.size else float("nan")


def listing(parts: Iterable[str]) -> str:
    """ "a, b and c"."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def each(values: xr.DataArray, form: str = ".2f") -> str:
    """ "0.93 (denser), 0.90 (dense), ..." of values with one dimension, of environments."""
    found = {name: number(float(values.sel({values.dims[0]: name})), form) for name in ENVIRONMENT_NAMES}
    return listing(f"{value} ({name})" for name, value in found.items())


def medians(values: xr.DataArray, form: str = ".2f") -> str:
    """Medians by environment (of training), over all other dimensions."""
    along = "trained" if "trained" in values.dims else "environment"
    return each(in_each(lambda name: middle(values.sel({along: name}))), form)


@functools.cache
def _texts() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("captions.toml").read_text("utf-8"))
