"""Which axis of an array is time, and from which side the wind comes.

A film is stored as snapshots of rows and columns; in letters, ``"tyx"``: y numbers the rows, downwards, and x the
columns, to the right. The wind is one of four words: it blows ``right`` towards growing x, ``left``, ``down`` towards
growing y, or ``up``. Letters and wind together are a reading; :func:`turned` rotates by multiples of 90 degrees, and
never mirrors, so that x grows downwind.

Time is found by stationarity. Frozen turbulence looks alike along t and x, as far as motion goes, but the mean of a
plume does not depend on t and does depend on x and y. So the array is cut into :data:`BLOCKS` blocks along each axis,
and two numbers tell how much these differ: the variance of their means, cell by cell, as a share of that of all
means; and the standard deviation of their levels in units of that of all values. Both are small along time. A weak
prior is added: time is mostly the first axis, sometimes the last, hardly ever the second or a very short one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whiffclock.params import require
from whiffclock.plume.motion import Motion, motion
from whiffclock.plume.reading.layouts import Wind

WINDS: tuple[Wind, ...] = ("right", "up", "left", "down")  # each a quarter turn from the one before

#: Blocks that are compared along each axis.
BLOCKS = 4
#: Probability that time is the first, the second or the last axis, before the values are seen.
PRIOR = (0.6, 0.1, 0.3)
#: An axis with fewer entries than this is hardly time.
SHORT = 16
#: How strongly differences between blocks count; found to be cautious on parts of the built-in plume.
_WEIGHT = 3.0
#: Angle from the nearest axis, in degrees, from which on a wind is diagonal.
DIAGONAL = 22.5
#: Probability of the measured direction, by the confidence of the motion.
_BELIEVED = {"sure": 0.98, "likely": 0.85, "unclear": 0.25}
#: The best reading is taken where it is at least this probable.
ENOUGH = 0.7


@dataclass(frozen=True)
class Reading:
    """One way to read an array: letters of its axes, the wind, and how probable it is."""

    axes: str
    wind: Wind
    probability: float

    def __str__(self) -> str:
        return f"--axes {self.axes} --wind {self.wind}"


@dataclass(frozen=True, eq=False)
class Orientation:
    """The best reading of an array, the second best, and the motion behind the best one, along y and x or x and y."""

    best: Reading
    second: Reading
    motion: Motion

    @property
    def ambiguous(self) -> bool:
        """Whether two readings are about as likely, or nothing moves, so that it cannot be told."""
        return self.best.probability < ENOUGH or not self.motion.moves

    @property
    def confidence(self) -> str:
        """``"sure"``, ``"likely"`` or ``"unclear"``."""
        return "unclear" if self.ambiguous else "sure" if self.best.probability >= 0.95 else "likely"


def orientation(values: np.ndarray, axes: str | None = None) -> Orientation:
    """How to read the array ``values`` of three dimensions; ``axes`` are its letters, if they are known."""
    require(values.ndim == 3, f"The array has {values.ndim} dimensions {values.shape}; a film has three.")
    chances = time_chances(values) if axes is None else tuple(float(letter == "t") for letter in axes)
    order = sorted(range(3), key=lambda axis: -chances[axis])
    seen = motion(np.moveaxis(values, order[0], 0))
    letters = axes or letters_of(order[0])
    best = reading_of(letters, seen, chances[order[0]])
    second = turned_round(best, chances[order[0]])
    if chances[order[1]] > second.probability and values.shape[order[1]] >= 4:
        second = reading_of(letters_of(order[1]), motion(np.moveaxis(values, order[1], 0)), chances[order[1]])
    return Orientation(best, second, seen)


def letters_of(time: int) -> str:
    """Letters of the axes of a film, rows before columns, where ``time`` is that of the snapshots."""
    letters = ["y", "x"]
    letters.insert(time, "t")
    return "".join(letters)


def time_chances(values: np.ndarray) -> tuple[float, ...]:
    """The probability that each of the three axes is time."""
    tame = values.astype(np.float32) - np.float32(np.median(values))
    most = float(np.quantile(np.abs(tame), 0.98)) or float(np.abs(tame).max())
    np.clip(tame, -most, most, out=tame)
    deviation = float(tame.std(dtype=np.float64))
    chances = []
    for axis, prior in enumerate(PRIOR):
        count = tame.shape[axis]
        odds = prior * (1.0 if count >= SHORT else 0.2)
        if deviation > 0 and count >= BLOCKS:
            parts = np.array_split(np.moveaxis(tame, axis, 0), BLOCKS)
            means = np.stack([part.mean(axis=0, dtype=np.float64) for part in parts])
            share = np.square(means - means.mean(axis=0)).mean() / max(np.square(means - means.mean()).mean(), 1e-30)
            level = means.mean(axis=(1, 2)).std() / deviation
            odds *= (share + 1e-4) ** -_WEIGHT * (level + 1e-3) ** (-_WEIGHT / 2)
        chances.append(odds * (count >= BLOCKS))
    total = sum(chances)
    require(total > 0, f"The array has shape {values.shape}; no axis is long enough to be time.")
    return tuple(float(chance / total) for chance in chances)


def reading_of(axes: str, seen: Motion, chance: float) -> Reading:
    """The reading with these letters and the wind that was ``seen``; ``chance`` is that of the letters."""
    return Reading(axes, wind_of(axes, seen.velocity), chance * _BELIEVED[seen.confidence])


def turned_round(best: Reading, chance: float) -> Reading:
    """The same reading with the opposite wind."""
    opposite = WINDS[(WINDS.index(best.wind) + 2) % 4]
    return Reading(best.axes, opposite, min(best.probability, chance - best.probability))


def wind_of(axes: str, velocity: Sequence[float]) -> Wind:
    """The wind from the velocity along both axes of the frame in their stored order; ``right`` where nothing moves."""
    first, second = velocity
    right, down = (second, first) if axes.replace("t", "") == "yx" else (first, second)
    if right == down == 0:
        return "right"
    off = math.degrees(math.atan2(min(abs(right), abs(down)), max(abs(right), abs(down))))
    slanted = f"The wind is diagonal: structures move {right:+.2f} cells to the right and {down:+.2f} down per snapshot"
    require(off < DIAGONAL, f"{slanted}; rotate the film by {off:.0f} degrees first, so that it is along one side.")
    if abs(right) >= abs(down):
        return "right" if right > 0 else "left"
    return "down" if down > 0 else "up"
