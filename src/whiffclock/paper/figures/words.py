"""Captions: the texts of ``captions.toml``, filled in with numbers by environment."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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


def caption(name: str, data: Datasets, **values: Any) -> str:
    """A text of ``captions.toml`` with its values, the facts of the run, and ``run``, a text on what was run."""
    if name != "run":
        values["run"] = caption("run", data, less=_less(data))
    return " ".join(_texts()[name].split()).format(**(data.facts | values)).strip()


def middle(values: ArrayLike) -> float:
    """Median, in which NaN stands for a value beyond all others; NaN only if there are no values."""
    values = np.asarray(values)
    if values.size == 0:
        return float("nan")
    filled = np.sort(np.where(np.isnan(values), np.inf, values).ravel())
    low, high = filled[(len(filled) - 1) // 2], filled[len(filled) // 2]
    return float(high if np.isinf(high) else (low + high) / 2)


def listing(parts: Iterable[str]) -> str:
    """ "a, b and c"."""
    words = list(parts)
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def each(values: xr.DataArray, form: str = ".2f") -> str:
    """ "0.93 (denser), 0.90 (dense), ..." of float[environment]."""
    return listing(f"{number(float(values.sel(environment=name)), form)} ({name})" for name in ENVIRONMENT_NAMES)


def medians(values: xr.DataArray, form: str = ".2f") -> str:
    """Medians by environment, over all other dimensions."""
    return each(in_each(lambda name: middle(values.sel(environment=name))), form)


@functools.cache
def _texts() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("captions.toml").read_text("utf-8"))


def _less(data: Datasets) -> str:
    """How much less was run than in the paper."""
    if data.facts["seeds"] >= _PAPER_AGENTS and data.facts["episodes"] >= _PAPER_EPISODES:
        return ""
    paper = f"{_PAPER_AGENTS} agents and {_PAPER_EPISODES:,} episodes"
    return f"This is less than the paper's {paper}, so that spreads are rough."
