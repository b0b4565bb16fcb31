"""Doubts about a plume: signs that a search in it would be nonsense, found before any work is done.

p is the share of snapshots with a whiff, in the environments that are asked for (default: all of the plume). "Near the
source" is within :data:`NEAR` = 5 cells of it. The rules, each with fixed limits:

environments
    The mean of p over the start cells falls by less than 20% from one environment to the next: they hardly differ.
all whiffs
    p is above 0.9 in at least 90% of the start cells, in any environment: a background is taken for odor.
no whiffs
    p is below 0.01 in every cell, in the densest environment.
silent source
    Not a single whiff near the source, in the densest environment.
source
    The highest p near the source is less than a quarter of the 90th percentile of p over all cells that ever have a
    whiff, in the densest environment: the source lies outside of the plume. Or more than half of all whiffs in that
    environment are upwind of it, at smaller x than those near the source.
record
    The record has fewer snapshots than a search may have moves, and searches continue with its first snapshot.
wind
    w(x, t) is correlated with w(x - d, t + lag) by more than 0.1, and by 1.5 times as much as with w(x + d, t + lag),
    where w is a whiff within :data:`BESIDE` = 2 cells of the source's row, and the d (:data:`STEPS`) and the lag of 1
    to 4 snapshots are those of the highest correlation in each direction: structures move towards smaller x. The
    first 500 snapshots of the densest environment are used.

The plumes that whiffclock makes (the built-in one, ``plume simulate``, ``plume toy``) are known, so :func:`refuse` lets
them pass; small ones for tests may be too short or too uniform for these rules.
"""

from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from whiffclock.formatting import number
from whiffclock.params import WorldSettings, require
from whiffclock.plume import correlation as corr
from whiffclock.plume.plume import Plume
from whiffclock.plume.whiffs import Whiffs

#: Radius of what is near the source, and distance from its row, in cells.
NEAR, BESIDE = 5, 2
#: Distances along the wind, in cells, at which whiffs are correlated.
STEPS = (1, 2, 3, 4, 6, 8)
_LEAST_FALL, _ALWAYS, _NEARLY_ALL, _NEVER, _SHARE_OF_CORE, _UPWIND = 0.2, 0.9, 0.9, 0.01, 0.25, 0.5
_AGAINST, _TIMES, _SNAPSHOTS = 0.1, 1.5, 500
#: What the origins of whiffclock's own plumes say.
_OWN = ("simulated by whiffclock", "toy plume (synthetic")


class Doubt(NamedTuple):
    """What is doubtful about a plume, and what to do."""

    rule: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}"


def own(plume: Plume) -> bool:
    """Whether whiffclock made the plume."""
    return any(words in plume.origin for words in _OWN)


def refuse(
    plume: Plume, world: WorldSettings, horizon: int, thresholds: Sequence[float] = (), anyway: bool = False
) -> None:
    """Stop with all doubts about a plume, unless whiffclock made it, or ``anyway``."""
    found = [] if anyway or own(plume) else doubts_of(plume, world, horizon, thresholds)
    require(not found, " ".join([*map(str, found), "With anyway=True it goes on all the same."]))


def doubts_of(plume: Plume, world: WorldSettings, horizon: int, thresholds: Sequence[float] = ()) -> list[Doubt]:
    """What is doubtful about searches of ``horizon`` moves in a plume; see the module for the rules."""
    at = sorted({*thresholds} or {*plume.environments.required().values()})
    shares = {threshold: plume.whiffs(threshold).probability() for threshold in at}
    cells, densest = plume.starts(at[-1], plume.settle(world)).T, at[0]
    starts = {threshold: share[*cells] for threshold, share in shares.items()}
    found = _record(plume, world, horizon) + _environments(plume, starts)
    if amount := _amount(plume, starts, shares[densest], densest):
        return found + amount
    return found + _source(shares[densest], plume.source) + _wind(plume.whiffs(densest))


def _record(plume: Plume, world: WorldSettings, horizon: int) -> list[Doubt]:
    snapshots = plume.field.shape[0]
    if world.end_of_record != "wrap" or snapshots >= horizon:
        return []
    short = f"The record has {snapshots} snapshots, and a search up to {horizon} moves"
    wraps = "at the end it wraps, which is to continue with the first snapshot, as if odor jumped"
    remedy = "Take a longer record, or train and test shorter searches that keep off its end: --end-of-record avoid"
    return [Doubt("record", f"{short}: {wraps}.", f"{remedy} --horizon {max(1, snapshots // 2)}.")]


def _environments(plume: Plume, starts: dict[float, np.ndarray]) -> list[Doubt]:
    """Whether the mean whiff probability of each threshold falls from one to the next."""
    means = {threshold: float(share.mean()) for threshold, share in starts.items()}
    alike = [(a, b) for a, b in pairwise(means) if means[b] > (1 - _LEAST_FALL) * means[a]]
    if not alike:
        return []
    one, other = alike[0]
    names = f"{plume.environments.name_of(one)} and {plume.environments.name_of(other)}"
    more = f", nor do {len(alike) - 1} other pairs" if len(alike) > 2 else ", nor does another pair" * (len(alike) > 1)
    values = f"{means[one]:.3f} and {means[other]:.3f}"
    what = f"The environments {names} hardly differ (mean whiff probability where searches start: {values}){more}"
    return [Doubt("environments", f"{what}.", "Choose thresholds that are further apart with --environments.")]


def _amount(plume: Plume, starts: dict[float, np.ndarray], densest: np.ndarray, threshold: float) -> list[Doubt]:
    """Whether there are whiffs nearly always, or nearly never."""
    always = [c for c, share in starts.items() if (share > _ALWAYS).mean() >= _NEARLY_ALL]
    if always:
        name, share = plume.environments.name_of(always[-1]), (starts[always[-1]] > _ALWAYS).mean()
        what = f"In {name}, {share:.0%} of the start cells have a whiff in more than {_ALWAYS:.0%} of all snapshots"
        remedy = "Choose higher thresholds with --environments, or subtract a background"
        return [Doubt("all whiffs", f"{what}; a background may be taken for odor.", f"{remedy} (plume export).")]
    if densest.max() < _NEVER:
        what = f"In {plume.environments.name_of(threshold)}, no cell has a whiff in more than {densest.max():.2%}"
        return [Doubt("no whiffs", f"{what} of the snapshots.", "Choose lower thresholds with --environments.")]
    return []


def _source(share: np.ndarray, source: tuple[int, int]) -> list[Doubt]:
    """Whether the source lies in the plume."""
    x, y = np.indices(share.shape)
    near = share[(x - source[0]) ** 2 + (y - source[1]) ** 2 <= NEAR**2].max()
    core = np.quantile(share[share > 0], 0.9)
    remedy = "Give its cell with --source X,Y; x must grow downwind (--axes)."
    where = f"within {NEAR} cells of the source ({source[0]}, {source[1]})"
    if near == 0:
        return [Doubt("silent source", f"There is no whiff {where} in all the record.", remedy)]
    if near < _SHARE_OF_CORE * core:
        low = f"The whiff probability is {near:.3f} at most {where}, and {core:.3f} in the core of the plume"
        return [Doubt("source", f"{low}: the source seems to lie outside of it.", remedy)]
    upwind = share[: max(0, source[0] - NEAR)].sum() / share.sum()
    if upwind > _UPWIND:
        most = f"{upwind:.0%} of all whiffs are upwind of the source ({source[0]}, {source[1]})"
        return [Doubt("source", f"{most}, at smaller x.", remedy)]
    return []


def _wind(whiffs: Whiffs) -> list[Doubt]:
    """Whether structures move towards smaller x."""
    (_, length, width), y = whiffs.shape, whiffs.source[1]
    near = slice(max(0, y - BESIDE), min(width, y + BESIDE + 1))
    record = np.moveaxis(whiffs.between(0, _SNAPSHOTS).record(slice(None))[:, :, near], 1, 2)
    core = corr.Core(corr.anomaly(record), range(length), range(record.shape[1]))
    down, up = (_highest(core, sign) for sign in (1, -1))
    if up <= max(_AGAINST, _TIMES * down):
        return []
    what = "Whiffs move towards smaller x, and the wind must blow towards larger x"
    seen = f"correlation {number(up, '.2f')} upwind, {number(down, '.2f')} downwind"
    return [
        Doubt(
            "wind",
            f"{what} ({seen}).",
            "whiffclock plume check FILE finds its direction; --wind left turns the field (plume export).",
        )
    ]


def _highest(core: corr.Core, sign: int) -> float:
    """The highest correlation with cells on one side, some snapshots later; 0 where nothing varies."""
    places = product(STEPS, range(1, 5))
    found = [core.correlation(dx=sign * d, lag=lag) for d, lag in places]
    return max((value for value in found if np.isfinite(value)), default=0.0)
