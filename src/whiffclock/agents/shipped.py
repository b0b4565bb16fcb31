"""Agents that come with the package: searched programs, and a few trained agents for pages of searches.

The programs are in ``data/programs.json`` as text, runs of equal moves after a whiff; ``python benchmarks/shipped.py``
writes them, each with what made it. Trained agents, one single-Q and one two-Q agent for each environment of the
built-in plume, are in ``data/trained.json`` with a digit for each action, without their Q-matrices; ``python
benchmarks/trained.py`` writes them.
"""

import json
import re
from functools import cache
from importlib import resources
from typing import Any, overload

import numpy as np

from whiffclock.memory import clock, make_memory
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


def trained() -> list[TablePolicy]:
    """Q-learning agents of the built-in plume, of 1,000,000 episodes each: enough to watch, less than the paper's."""
    text = (resources.files("whiffclock") / "data" / "trained.json").read_text(encoding="utf-8")
    return [_trained(**one) for one in json.loads(text)]


def _trained(
    agent: str, memory: dict[str, Any], actions: str, clock: list[list[int]], made_from: dict[str, Any]
) -> TablePolicy:
    moves = np.array([*actions], dtype=np.int8)
    return TablePolicy(agent, make_memory(memory), moves, made_from, records={"clock": np.array(clock)})


@cache
def _programs() -> dict[str, dict[str, Any]]:
    return json.loads((resources.files("whiffclock") / "data" / "programs.json").read_text(encoding="utf-8"))
