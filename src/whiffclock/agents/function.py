"""A policy from a function of the clock."""

from collections.abc import Callable

import numpy as np

from whiffclock import __version__
from whiffclock.memory import clock
from whiffclock.params import InputError, require
from whiffclock.policy import TablePolicy
from whiffclock.world.moves import ACTIONS, N_ACTIONS


def from_function(choose: Callable[[int], int | str], length: int = 500, name: str | None = None) -> TablePolicy:
    """The policy that a function of the clock describes.

    Parameters
    ----------
    choose
        From the clock, 0 on a whiff and one more on every blank, to an action: its number, or its name in
        :data:`whiffclock.ACTIONS`.
    length
        Number of states of the clock, which stays at ``length - 1``.
    name
        Kind of agent; default: the name of the function.

    Returns
    -------
    TablePolicy
        It has no threshold of its own.

    Examples
    --------
    >>> import whiffclock as wc
    >>> def zigzag(clock):
    ...     return "upwind" if clock < 2 else "+y" if clock % 10 < 5 else "-y"
    >>> wc.from_function(zigzag, length=100)
    TablePolicy(zigzag, 100 actions)
    """
    require(callable(choose), f"A function from the clock to an action is needed, not a {type(choose).__name__}.")
    memory = clock(length)
    actions = np.array([_action(choose(reading), reading) for reading in range(memory.length)], dtype=np.int8)
    name = name or str(getattr(choose, "__name__", "function"))
    return TablePolicy(name, memory, actions, {"version": __version__})


def _action(chosen: object, reading: int) -> int:
    """The number of an action that is given by number or name."""
    if isinstance(chosen, str) and chosen in ACTIONS:
        return ACTIONS.index(chosen)
    whole = isinstance(chosen, int | np.integer) and not isinstance(chosen, bool)
    if whole and 0 <= int(chosen) < N_ACTIONS:  # type: ignore[call-overload]
        return int(chosen)  # type: ignore[call-overload]
    choices = f"one of {', '.join(ACTIONS)}, or a number from 0 to {N_ACTIONS - 1}"
    raise InputError(f"At clock {reading} the function gives {chosen!r}; an action is {choices}.")
