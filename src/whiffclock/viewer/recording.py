"""Searches of policies without tables, recorded when a page is made: their moves, and their beliefs as maps.

The belief of a Bayesian agent is a probability of every position relative to the source. The map shows it on the grid
of the plume, as bytes: 0 for less than a thousandth of the highest probability, and then in steps of the logarithm.
"""

from dataclasses import dataclass

import numpy as np

from whiffclock.agents.beliefs import Beliefs
from whiffclock.params import WorldSettings
from whiffclock.plume import Plume
from whiffclock.policy import Policy
from whiffclock.world.loop import search
from whiffclock.world.worlds import PlumeWorld

#: Longest recording, in moves.
MOST_MOVES = 250
#: Steps of a map, and the decades that they span.
STEPS, _DECADES = 15, 3


@dataclass(frozen=True)
class Recording:
    """One search."""

    start: list[int]  # x, y, snapshot
    moves: list[int]  # actions
    maps: bytes  # uint8[moves + 1, x, y]; empty for a policy without beliefs


def record(
    policy: Policy, plume: Plume, at: float, world: WorldSettings, count: int, snapshots: int
) -> list[Recording]:
    """Searches from starts drawn from all start cells and the first ``snapshots`` of the record, always the same."""
    rng = np.random.default_rng(0)
    cells = plume.starts(at, world)
    points = np.column_stack([cells[rng.integers(len(cells), size=count)], rng.integers(snapshots, size=count)])
    place = PlumeWorld(plume.whiffs(at).between(0, snapshots).world(world), points)
    moves: list[list[int]] = [[] for _ in range(count)]
    maps: list[list[bytes]] = [[] for _ in range(count)]
    for moment in search(policy, place, MOST_MOVES):
        for i, who in enumerate(moment.search.tolist()):
            if isinstance(moment.memory, Beliefs):
                maps[who].append(_belief_map(moment.memory, i, plume).tobytes())
            if moment.action[i] >= 0:
                moves[who].append(int(moment.action[i]))
    for who, pictures in enumerate(maps):  # at the source, the belief before is shown
        pictures += pictures[-1:] * (len(moves[who]) + 1 - len(pictures))
    return [Recording(points[who].tolist(), moves[who], b"".join(maps[who])) for who in range(count)]


def _belief_map(beliefs: Beliefs, search: int, plume: Plume) -> np.ndarray:
    """The belief of a search on the grid of the plume, uint8[x, y]."""
    length, width = plume.field.shape[1:]
    one = beliefs.who[search]
    part = slice(beliefs.start[one], beliefs.start[one] + beliefs.size[one])
    relative = np.array(np.unravel_index(beliefs.cells[part], (2 * length - 1, 2 * width - 1)))
    x, y = relative + np.array(plume.source)[:, None] - np.array([[length - 1], [width - 1]])
    weights = beliefs.weights[part]
    steps = np.clip(STEPS * (1 + np.log10(weights / weights.max()) / _DECADES), 0, STEPS).astype(np.uint8)
    picture = np.zeros((length, width), dtype=np.uint8)
    inside = (x >= 0) & (x < length) & (y >= 0) & (y < width)
    picture[x[inside], y[inside]] = steps[inside]
    return picture
