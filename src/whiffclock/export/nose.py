"""From raw readings of a sensor to whiffs, in integers: the reference of the C code, bit by bit.

A slow baseline follows the readings. A whiff begins when a reading exceeds it by more than ``rise``, and ends when it
exceeds it by less than ``fall``. Then no whiff begins for ``dead`` readings. During a whiff the baseline follows eight
times more slowly, so that a whiff hardly raises it, and a sensor that drifts away does not report whiffs forever.
"""

from __future__ import annotations

import numpy as np

from whiffclock.export.settings import FrontEnd
from whiffclock.params import require

#: During a whiff the baseline follows this many times more slowly.
SLOWER = 8


def whiffs_of(readings: np.ndarray, how: FrontEnd) -> np.ndarray:
    """Whiffs uint8[n] of readings; the first reading is the first baseline.

    Examples
    --------
    >>> whiffs_of(np.array([100, 100, 111, 108, 104, 120, 120]), FrontEnd(10, 5, 4, 1)).tolist()
    [0, 0, 1, 1, 0, 0, 1]
    """
    given = np.asarray(readings)
    whole = given.ndim == 1 and given.dtype.kind in "iu" and bool(((given >= 0) & (given < 2**16)).all())
    require(whole, "Readings must be whole numbers from 0 to 65535, in one row.")
    values = given.tolist()
    base, dead, on, found = (values[0] << how.slow) if values else 0, 0, False, []
    for reading in values:
        over = reading - (base >> how.slow)
        if on:
            if over < how.fall:
                on, dead = False, how.dead
        elif dead:
            dead -= 1
        else:
            on = over > how.rise
        base += int(over / SLOWER) if on else over  # C divides toward zero
        found.append(on)
    return np.array(found, dtype=np.uint8)
