"""Where and when searches start."""

import numpy as np

from whiffclock.params import InputError, WorldSettings, require
from whiffclock.plume import Plume


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
