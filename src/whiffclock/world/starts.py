"""Where and when searches start: stratified over the record, drawn at random, or one that is given.

The kernel of Q-learning draws its own starts (:func:`whiffclock.world.episode.draw_start`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from whiffclock.params import EvaluationSettings, InputError, Valid, WorldSettings, checked, cut_at, require
from whiffclock.plain_values import shown
from whiffclock.plume import Plume
from whiffclock.plume.whiffs import Whiffs


def start_snapshots(snapshots: int, world: WorldSettings, horizon: int) -> int:
    """Number of snapshots, from the first on, at which searches may start."""
    if world.end_of_record == "wrap":
        return snapshots
    sentence = f"The record has {snapshots} snapshots; searches of {horizon} steps that avoid its end need more."
    require(snapshots > horizon, sentence)
    return snapshots - horizon


def start_cells(plume: Plume, threshold: float, world: WorldSettings, horizon: int) -> np.ndarray:
    """D_init int32[n, 2]; with starts on a whiff, refuse cells without a whiff among the snapshots to start from."""
    cells = plume.starts(threshold, world)
    if world.start_on_whiff:
        allowed = start_snapshots(plume.field.shape[0], world, horizon)
        without = cells[~plume.whiffs(threshold).ever(allowed)[cells[:, 0], cells[:, 1]]]
        for x, y in without[:1]:
            raise InputError(
                f"{len(without)} of {len(cells)} start cells have no whiff among the {allowed} snapshots to start "
                f"from, such as cell ({x}, {y}); raise the start threshold, or let searches wrap."
            )
    return cells


@dataclass(frozen=True)
class Starts:
    """Where and when searches begin: int32[n, 3] (x, y, snapshot), the time stratum of each, T_min."""

    points: np.ndarray
    stratum: np.ndarray
    shortest: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

    def take(self, chosen: np.ndarray) -> Starts:
        """The starts with these indices."""
        return Starts(self.points[chosen], self.stratum[chosen], self.shortest[chosen])

    def at_speed(self, cells: float) -> Starts:
        """The same starts, with T_min of a searcher that covers so many cells per snapshot."""
        return self if cells == 1 else Starts(self.points, self.stratum, self.shortest / cells)

    def later(self, snapshots: int) -> Starts:
        """The same starts, some snapshots later."""
        return Starts(self.points + np.array([0, 0, snapshots], dtype=np.int32), self.stratum, self.shortest)


def make_starts(
    plume: Plume, threshold: float, world: WorldSettings, settings: EvaluationSettings, horizon: int
) -> Starts:
    """All cells of D_init, ``settings.snapshots`` times each, in the record after the share ``settings.after``.

    With starts on a whiff, each is moved to the next whiff of its cell within its time stratum (from the stratum's end
    to its beginning); a stratum in which a cell has no whiff has no start there.
    """
    cells, cut = start_cells(plume, threshold, world, horizon), cut_at(settings.after, plume.field.shape[0])
    return stratified_starts(cells, plume.whiffs(threshold).between(cut), world, settings, horizon).later(cut)


def stratified_starts(
    cells: np.ndarray, record: Whiffs, world: WorldSettings, settings: EvaluationSettings, horizon: int
) -> Starts:
    """Each cell at one snapshot of every time stratum of a record."""
    snapshots, strata = start_snapshots(record.shape[0], world, horizon), settings.snapshots
    enough = strata <= snapshots
    require(enough, f"{strata} start snapshots per cell were asked for, but there are only {snapshots} to start from.")
    rng = np.random.default_rng(settings.seed)
    offset = rng.random((strata, len(cells)))
    edges = np.arange(strata + 1) * snapshots // strata
    time = (edges[:-1, None] + np.floor(offset * np.diff(edges)[:, None])).astype(np.int32)
    kept = np.ones(time.shape, dtype=bool)
    if world.start_on_whiff:
        for i, (x, y) in enumerate(cells):
            whiffs = np.flatnonzero(record.series(x, y)[:snapshots])
            first, end = np.searchsorted(whiffs, edges[:-1]), np.searchsorted(whiffs, edges[1:])
            kept[:, i] = end > first
            following = np.searchsorted(whiffs, time[:, i])
            chosen = np.where(following < end, following, first)[kept[:, i]]
            time[kept[:, i], i] = whiffs[chosen]
    stratum, cell = np.nonzero(kept)
    shortest = shortest_arrival(cells, record.source, world.radius)
    return Starts(np.column_stack([cells[cell], time[kept]]).astype(np.int32), stratum, shortest[cell])


def sample(starts: Starts, count: int) -> np.ndarray:
    """Indices of about ``count`` starts, in order: the same number, at least one, from every time stratum.

    They are always the same, so that a policy that is too slow for all starts can be compared with others on these.
    """
    rng = np.random.default_rng(0)
    strata = [np.flatnonzero(starts.stratum == stratum) for stratum in np.unique(starts.stratum)]
    share = max(1, count // len(strata))
    return np.concatenate([np.sort(rng.permutation(members)[:share]) for members in strata])


def shortest_arrival(cells: np.ndarray, source: tuple[int, int], radius: float) -> np.ndarray:
    """T_min: fewest moves from each cell into the source disc."""
    dx, dy = np.abs(cells - np.array(source)).T
    moves = dx + dy
    for x in range(int(radius) + 1):  # half the disc, column by column
        half = math.isqrt(int(radius**2) - x * x)
        moves = np.minimum(moves, np.abs(dx - x) + np.maximum(dy - half, 0))
    return moves


def draw_starts(
    plume: Plume, threshold: float, world: WorldSettings, searches: int, horizon: int, rng: np.random.Generator
) -> np.ndarray:
    """Starts int64[search, 3] drawn from the start cells and all snapshots, or those with a whiff."""
    cells = start_cells(plume, threshold, world, horizon)
    chosen = cells[rng.integers(len(cells), size=searches)]
    snapshots = start_snapshots(plume.field.shape[0], world, horizon)
    time = rng.integers(snapshots, size=searches)
    if world.start_on_whiff:
        record = plume.whiffs(threshold)
        time = np.array([rng.choice(np.flatnonzero(record.series(x, y)[:snapshots])) for x, y in chosen])
    return np.column_stack([chosen, time]).astype(np.int64)


def one_start(
    plume: Plume, threshold: float, world: WorldSettings, start: Sequence[int] | np.ndarray | None = None
) -> np.ndarray:
    """The start int64[1, 3] of one search: (x, y), at snapshot 0, or (x, y, snapshot); others are refused.

    By default it is the start cell that is farthest from the source.
    """
    if start is None:
        cells = plume.starts(threshold, world)
        start = cells[np.abs(cells - plume.source).sum(axis=1).argmax()]
    snapshots, length, width = plume.field.shape
    grid = f"{length} x {width} cells and {snapshots} snapshots"
    right = f"be whole numbers (x, y) or (x, y, snapshot) within {grid}"
    point = checked("start", start, Annotated[tuple[int, ...], Valid("The start is {}", must=right)])
    inside = all(0 <= at < end for at, end in zip(point, (length, width, snapshots), strict=False))
    require(inside and len(point) in (2, 3), f"The start is {shown(point)}; it must {right}.")
    return np.array([(*point, 0)[:3]])
