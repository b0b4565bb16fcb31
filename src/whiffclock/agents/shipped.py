"""Searched programs that come with the package, as text: runs of equal moves after a whiff.

They are in ``data/programs.json``, which ``python benchmarks/shipped.py`` writes, each with what made it.
"""

import json
import re
from functools import cache
from importlib import resources
from typing import Any, overload

import numpy as np

from whiffclock.memory import clock
from whiffclock.params import require
from whiffclock.policy import TablePolicy
from whiffclock.world.moves import ACTIONS


@overload
def shipped() -> list[str]: ...


@overload
def shipped(name: str) -> TablePolicy: ...


def shipped(name: str | None = None) -> TablePolicy | list[str]:
    """A clock program that comes with the package, found by :func:`whiffclock.optimize` on the built-in plume.

    Parameters
    ----------
    name
        Such as "clock-sparse", for that environment, or "clock-robust", for all four; default: list the names.

    Returns
    -------
    TablePolicy
        ``made_from`` says how it was found, and its reward on snapshots that the search had not seen.

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.shipped()
    ['clock-denser', 'clock-dense', 'clock-sparse', 'clock-sparser', 'clock-robust']
    >>> wc.shipped("clock-sparse")
    TablePolicy(searched clock, sparse, seed 0, 500 actions)
    """
    if name is None:
        return list(_programs())
    known = _programs()
    require(name in known, f"There is no program called {name!r}; there are {', '.join(known)}.")
    made_from = dict(known[name])
    agent, actions = made_from.pop("agent"), actions_of(made_from.pop("program"))
    return TablePolicy(agent, clock(len(actions)), actions, made_from)


def actions_of(program: str) -> np.ndarray:
    """Actions of a program as text, ``"upwind 12, -y 3"``; the inverse of :meth:`TablePolicy.program`."""
    found = re.findall(r"(\S+) (\d+)", program)
    return np.repeat([ACTIONS.index(action) for action, _ in found], [int(count) for _, count in found]).astype(np.int8)


@cache
def _programs() -> dict[str, dict[str, Any]]:
    return json.loads((resources.files("whiffclock") / "data" / "programs.json").read_text())
