"""Fig. 1, the setting: odor, clock, environments, learning, starts.

Arrays (axes as in :mod:`whiffclock.experiments.measures`):

snapshot : float[x, y]
    Concentration at the snapshot ``facts["snapshot"]``.
whiffs : float[e, x, y]
    1 where that snapshot is a whiff in an environment, else 0.
probability : float[e, x, y]
    Share of all snapshots with a whiff.
mask : float[x, y]
    1 in the cells where searches start, else 0.
search : float[s, 4]
    An example search by the best single-Q agent of the environment ``facts["search_environment"]``, through the
    plume from that snapshot on: x, y, whiff (1 or 0) and clock at each step; it ends in the source region, or
    after H steps. The first row is where the agent is drawn.
curve_single, curve_two : float[e, a, p, 4]
    Learning curves: last episode of each of p intervals, and over the interval mean return G, share of
    arrivals, mean number of steps.

Facts: snapshot, radius, search_environment, search_arrived, start_cells.
"""

from __future__ import annotations

import numpy as np

from whiffclock.episode import smell_all, step_all
from whiffclock.experiments import agents, groups
from whiffclock.experiments.measures import at_home, best, facts, in_each
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS
from whiffclock.policy import ClockPolicy

NEEDS = (groups.SINGLE, groups.SINGLE_HOME, groups.TWO)
REVISION = 1

_SEARCH_IN = "sparse"


def compute(work: Work) -> Result:
    """The result of this figure."""
    plume = work.plume
    cells = plume.starts(ENVIRONMENTS[_SEARCH_IN], work.world)
    snapshot = plume.field.shape[0] // 2
    field = np.asarray(plume.field[snapshot : snapshot + 1], dtype=np.float64)[0]
    mask = np.zeros(field.shape)
    mask[cells[:, 0], cells[:, 1]] = 1
    searcher = agents.single(work, _SEARCH_IN)[best(at_home(work, agents.single, _SEARCH_IN))]
    search, arrived = example(work, agents.policy(work, searcher), cells, snapshot)
    arrays = {
        "snapshot": field,
        "whiffs": np.stack([field >= threshold for threshold in ENVIRONMENTS.values()]),
        "probability": np.stack([plume.whiffs(threshold).probability() for threshold in ENVIRONMENTS.values()]),
        "mask": mask,
        "search": search,
        "curve_single": in_each(lambda e: _curves(work, agents.single(work, e))),
        "curve_two": in_each(lambda e: _curves(work, agents.two(work, e))),
    }
    told = facts(
        work,
        snapshot=snapshot,
        radius=work.world.radius,
        search_environment=_SEARCH_IN,
        search_arrived=arrived,
        start_cells=len(cells),
    )
    return Result("fig1", arrays, told)


def example(work: Work, policy: ClockPolicy, cells: np.ndarray, snapshot: int) -> tuple[np.ndarray, bool]:
    """A search [s, (x, y, whiff, clock)] from the start cell nearest to two thirds down the grid, on its axis."""
    length, y = work.plume.field.shape[1], work.plume.source[1]
    start = cells[np.abs(cells - [2 * length // 3, y]).sum(axis=1).argmin()]
    world = work.plume.whiffs(ENVIRONMENTS[_SEARCH_IN]).world(work.world)
    position = np.array([[*start, snapshot]], dtype=np.int64)
    active, arrived, whiff = np.ones(1, dtype=bool), np.zeros(1, dtype=bool), np.zeros(1, dtype=bool)
    smell_all(world, position, whiff)
    memory = policy.begin(whiff)
    horizon, rows = policy.clock.horizon, []
    for step in range(horizon + 1):
        rows.append([*position[0, :2], whiff[0], memory[0] % horizon])
        if arrived[0] or step == horizon:
            break
        action = policy.act(memory)
        step_all(world, position, action, active, arrived, whiff)
        memory = policy.observe(memory, action, whiff)
    return np.array(rows, dtype=np.float64), bool(arrived[0])


def _curves(work: Work, ensemble: list[agents.Agent]) -> np.ndarray:
    return np.stack([agents.policy(work, agent).records["curve"] for agent in ensemble])
