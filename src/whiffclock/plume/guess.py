"""Guesses about a recording: each has a value, a confidence, a reason, and the option that says otherwise.

The rules, beside those of :mod:`whiffclock.plume.orientation`:

- Background: the median in time of the third of the cells that vary least. It is uneven where it differs between them
  by more than a tenth of the strength of odor.
- Odor is dark if values scatter farther down than up where they vary most, and if these cells are darker than still
  ones.
- Source: the highest mean across the wind, less the background, rises downwind of it. The straight line through the
  most upwind places where it reaches a quarter and a half of its largest value is drawn back to zero; across the
  wind, the source is where the mean is highest between these two. On an uneven background, the standard deviation
  takes the place of the mean.
- One move of an agent is one cell per snapshot. Cells are merged and snapshots skipped so that the wind is about .9
  cells per snapshot, as in the paper, with as few skipped as possible and a grid that is neither huge nor tiny.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.formatting import nan_to_null, plainly, short
from whiffclock.plume import orientation as turns
from whiffclock.plume.glance import Glance
from whiffclock.plume.motion import PARTS, Motion
from whiffclock.plume.suggest import Suggestion

#: The wind of the paper, in cells per snapshot.
PAPER_WIND = 0.9
#: Share of the largest value from which on it is saturation.
SATURATED = 1e-3
#: Largest N of --downsample and of --every.
_MOST = 64
#: Lengths of a grid, in cells, and of a record, in snapshots, that a search needs.
_GRID, _RECORD = (60, 200), 300
#: A record shorter than this is repeated in a search.
SHORT_RECORD = 200


@dataclass(frozen=True)
class Guess:
    """What was found, how sure it is, why, and which option says otherwise."""

    value: Any
    confidence: str  # "given", "sure", "likely" or "unclear"
    because: str
    option: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return nan_to_null(vars(self))


def of_axes(axes: str, chance: float, how: str) -> Guess:
    """Which axis is time, and the letters of all."""
    if how != "found":
        return Guess(axes, "given", "by --axes" if how == "given" else "names or layout of the file", "--axes")
    sure = "sure" if chance >= 0.95 else "likely" if chance >= turns.ENOUGH else "unclear"
    return Guess(axes, sure, f"stationary along time only, probability {short(chance)}", "--axes")


def of_wind(best: turns.Reading, seen: Motion) -> Guess:
    """Towards which side of the frame the wind blows."""
    if not seen.moves:
        return Guess(best.wind, "unclear", "nothing moves, or too fast to be followed", "--wind")
    peaks = f"correlation {short(seen.peak)}, elsewhere {short(seen.elsewhere)}"
    return Guess(
        best.wind, seen.confidence, f"{round(seen.agreeing * PARTS)} of {PARTS} parts agree, {peaks}", "--wind"
    )


def of_speed(speed: float, seen: Motion) -> Guess:
    """How fast structures move."""
    over = "1 snapshot" if seen.lag == 1 else f"{seen.lag} snapshots"
    why = f"followed for {over}" if seen.moves else "nothing moves"
    return Guess(speed, seen.confidence, why if seen.inside else "the maximum is at the border of the window")


def of_background(stored: Glance) -> Guess:
    """The value of a still cell; its option where it is uneven."""
    value, uneven = float(f"{stored.background:.4g}"), stored.unevenness
    if stored.uneven:
        sure = "sure" if uneven > 0.5 else "likely"
        return Guess(value, sure, f"uneven, by {short(uneven)} of the strength of odor", "--background")
    return Guess(value, "sure" if uneven < 0.05 else "likely", f"even, to {short(uneven)} of the strength of odor")


def of_odor(stored: Glance) -> Guess:
    """Whether odor is bright or dark."""
    dark, skewness, lighter = stored.sign < 0, stored.skewness, stored.lighter
    agree = skewness * lighter > 0
    sure = "sure" if agree and abs(skewness) > 0.3 else "likely" if abs(skewness) > 0.3 else "unclear"
    why = f"skewness {short(skewness)}, mean {short(lighter)} of its strength"
    return Guess("dark" if dark else "bright", sure, why, "--invert" if dark else "")


def of_saturation(values: np.ndarray, dtype: np.dtype, sign: int) -> Guess:
    """The share of values at that end of the scale which strong odor reaches: the smallest if odor is dark."""
    end = values.max() if sign > 0 else values.min()
    share = float((values == end).mean())
    limits = (np.iinfo(dtype).max, np.iinfo(dtype).min) if dtype.kind in "iu" else ()
    sure = "sure" if share < 0.1 * SATURATED or share > 10 * SATURATED or end in limits else "likely"
    return Guess(share if share > 0.1 * SATURATED else 0.0, sure, f"share of values equal to {plainly(float(end), 4)}")


def of_hot_pixels(cells: np.ndarray) -> Guess:
    """Cells that are far from their neighbours all the time."""
    first = f", the first at ({cells[0, 0]}, {cells[0, 1]}) as read" if len(cells) else ""
    return Guess(len(cells), "likely", f"unlike their neighbours in all snapshots{first}", "--mask" * bool(len(cells)))


def of_source(view: Glance, known: tuple[tuple[int, int], str] | None, moves: bool) -> Guess:
    """The source, in the cells of the field as it is turned."""
    if known:
        return Guess(tuple(known[0]), "given", known[1], "--source")
    from scipy.ndimage import median_filter, uniform_filter

    strength = median_filter(view.deviation if view.uneven else view.frames.mean(axis=0), (3, 1), mode="nearest")
    smooth = uniform_filter(strength, (3, 1), mode="nearest")
    along = smooth.max(axis=1)
    quarter, half = (_reached(along, share * along.max()) for share in (0.25, 0.5))
    x = max(0, round(2 * quarter - half))
    rise = smooth[int(quarter) : int(half) + 2].mean(axis=0)
    y = int(np.argmax(rise))
    wide = float((rise >= rise.max() / 2).sum())
    begins = along[0] < 0.25 * along.max() or wide < 0.2 * smooth.shape[1]
    cell = tuple(int((i + 0.5) * view.factor) if view.factor > 1 else i for i in (x, y))
    why = "where the mean begins to rise" if begins else "at the border, where the plume is wide already"
    return Guess(cell, "likely" if begins and moves else "unclear", why, "--source")


def _reached(along: np.ndarray, level: float) -> float:
    """The most upwind place where a profile reaches ``level``, between cells."""
    i = int(np.argmax(along >= level))
    return float(i) if i == 0 else i - 1 + float((level - along[i - 1]) / (along[i] - along[i - 1]))


def of_moves(speed: float, grid: tuple[int, int], snapshots: int) -> Guess:
    """What one move of an agent is in this wind, and how many cells to merge and snapshots to skip."""
    if not speed:
        plain = {"downsample": 1, "every": 1, "wind": 0.0}
        return Guess(plain, "unclear", "the speed of the wind is not known", "--every")

    def cost(pair: tuple[int, int]) -> float:
        merged, skipped = pair
        length, record = max(grid) / merged, snapshots / skipped
        size = max(0.0, math.log(length / _GRID[1])) + max(0.0, math.log(_GRID[0] / length))
        short_record = 0.5 * max(0.0, math.log(_RECORD / record))
        return (
            4 * abs(math.log(speed * skipped / merged / PAPER_WIND))
            + size
            + short_record
            + 0.4 * math.log2(merged * skipped)
        )

    most = range(1, _MOST + 1)
    pairs = [(n, e) for n in most for e in most if min(grid) // n >= 5 and snapshots // e >= 10]
    merged, skipped = min(pairs, key=cost, default=(1, 1))
    wind = speed * skipped / merged
    close = abs(math.log(wind / PAPER_WIND)) < math.log(1.35)
    why = f"the wind is {short(wind)} cells per snapshot then (in the paper {short(PAPER_WIND, 1)})"
    value = {"downsample": merged, "every": skipped, "wind": wind}
    return Guess(value, "likely" if close else "unclear", why, "--every")


def oddities(
    guesses: dict[str, Guess], second: turns.Reading, ambiguous: bool, found: Suggestion | None, fine: Glance, why: str
) -> Iterator[str]:
    """Sentences about what needs a person's eye."""
    best = f"--axes {guesses['axes'].value} --wind {guesses['wind'].value}"
    if ambiguous:
        yield f"It cannot be told how to read this: {best} or {second}; give one of them."
    if guesses["saturated"].value > SATURATED:
        yield f"{guesses['saturated'].value:.1%} of the values are saturated, so the strongest whiffs are cut."
    if guesses["odor"].confidence == "unclear":
        yield "It is not clear whether odor is bright or dark: look at the picture, and give --invert if it is dark."
    if guesses["source"].confidence == "unclear":
        yield "It is not clear where odor begins, perhaps outside the frame: give --source X,Y."
    if why:
        yield why
    if found and found.lowest < (floor := fine.background + 2 * fine.noise):
        name = found.environments.names[0]
        yield f"Values up to {plainly(floor, 3)} can be noise, and the threshold of {name} is lower."
    if len(fine.frames) < SHORT_RECORD:
        yield f"The record has {len(fine.frames)} snapshots of a move each; searches that last longer begin it again."
