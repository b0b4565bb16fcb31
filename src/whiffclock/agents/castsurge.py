"""Cast-and-surge with an opening angle (paper, Algorithm 1).

On a whiff: surge one cell upwind. In a blank: cast across the wind, to alternating sides, as far as
``ceil(tan(angle) x)`` with x the upwind distance since the whiff; one cell upwind between two casts.
Since a whiff resets everything it remembers, the heuristic is a fixed action for each value of a clock,
like any single-Q policy.
"""

import math

import numpy as np

from whiffclock import __version__
from whiffclock.memory import clock
from whiffclock.params import require
from whiffclock.policy import TablePolicy
from whiffclock.world.moves import CROSSWIND_MINUS, CROSSWIND_PLUS, UPWIND

NAME = "cast-and-surge"
ANGLES = tuple(range(5, 90, 5))


def cast_and_surge(angle: float, length: int = 500) -> TablePolicy:
    """Surge on a whiff, cast in a blank: casts get wider with the distance upwind.

    Parameters
    ----------
    angle
        Half the opening angle of the casts, in degrees.
    length
        Number of states of the clock.

    Returns
    -------
    TablePolicy
        It has no threshold of its own.

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.cast_and_surge(30)
    TablePolicy(cast-and-surge, angle 30, 500 actions)
    """
    require(0 < angle < 90, f"The half-opening angle is {angle:g}; it must lie between 0 and 90 degrees.")
    memory = clock(length)
    slope = math.tan(math.radians(angle))
    actions = [UPWIND]
    x, y, side = 1, 0, +1
    while len(actions) < length:
        # tan 45 degrees is slightly below 1 in floating point; rounding must not decide a cast.
        edge = side * math.ceil(slope * x - 1e-9)
        if y < edge:
            y += 1
            actions.append(CROSSWIND_PLUS)
        elif y > edge:
            y -= 1
            actions.append(CROSSWIND_MINUS)
        else:
            side, x = -side, x + 1
            actions.append(UPWIND)
    made_from = {"angle": angle, "version": __version__}
    return TablePolicy(NAME, memory, np.array(actions, dtype=np.int8), made_from)
