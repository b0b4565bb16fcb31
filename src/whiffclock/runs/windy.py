"""The two windy cases of a published benchmark of olfactory search: independent whiffs of known likelihood.

A. Loisy and R. A. Heinonen, "Deep reinforcement learning for the olfactory search POMDP: a quantitative benchmark",
Eur. Phys. J. E 46:17 (2023), doi:10.1140/epje/s10189-023-00277-8. In each move the searcher has a whiff with
probability 1 - exp(-mu), where mu is the mean number of hits at a distance d from the source, x downwind of it:

    mu = R / d exp(V x / 2 - d / lambda),    lambda = sqrt((tau / V^2) / (1 + tau / 4)),

with V = 2 and tau = 150; R is 2.5 ("medium detections") or 0.25 ("low detections"). A search starts at cell (65, 20)
of a domain of 81 x 41, with a whiff; the source may be in any other cell, and is a single one. The score is the mean
number of moves until it is found.

Here the world is that of positions relative to the source, so the domain limits the source, but not the searcher:
there are no walls. The share of searches that leave the domain is kept with the results, to show how much that matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.agents.bayes import QUASI_OPTIMAL, BeliefPolicy, belief_heuristic, quasi_optimal
from whiffclock.agents.beliefs import HEURISTICS
from whiffclock.archive import array_named
from whiffclock.params import require
from whiffclock.plume import Plume
from whiffclock.policy import Policy
from whiffclock.pomdp.gridsearch import GridSearch
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solver import solve
from whiffclock.runs.jobs import Arrays, Job, JobStore, Tick, run
from whiffclock.runs.kinds import Given
from whiffclock.runs.store import damaged_record
from whiffclock.world.loop import search
from whiffclock.world.moves import MOVES
from whiffclock.world.worlds import IndependentWorld

if TYPE_CHECKING:
    import xarray as xr

#: Emission rate R of each case.
CASES = {"medium": 2.5, "low": 0.25}
_DOMAIN, _START, _WIND, _TAU = (81, 41), (65, 20), 2.0, 150.0
_LONGEST = 2_500
#: Work of one backup, and of one search, in searches of a table policy.
_PER_BACKUP, _PER_SEARCH = 600, 3_000


@cache
def windy_model(case: str) -> GridSearch:
    """A windy case as a POMDP on the position relative to the source, with the belief after the first whiff."""
    length, width = _DOMAIN
    x, y = np.mgrid[1 - length : length, 1 - width : width]
    distance = np.maximum(np.hypot(x, y), 1)
    decay = np.sqrt((_TAU / _WIND**2) / (1 + _TAU / 4))
    whiff = -np.expm1(-CASES[case] / distance * np.exp(_WIND * x / 2 - distance / decay))
    target = (x == 0) & (y == 0)
    source = np.array(_START)[:, None, None] - np.stack([x, y])
    possible = ((source >= 0) & (source < np.reshape(_DOMAIN, (2, 1, 1)))).all(axis=0) & ~target
    initial = np.where(possible, whiff, 0.0)
    return GridSearch(np.stack([1 - whiff, whiff]), target, initial / initial.sum(), MOVES)


@dataclass(frozen=True)
class Windy(Job):
    """Searches of an agent in a windy case; its result is the number of moves of each, 0 for one that failed.

    ``policy`` is one without a belief; None for an agent with a belief, which is made for the case: one of
    :data:`~whiffclock.agents.beliefs.HEURISTICS`, or the quasi-optimal one, with ``backups`` of the solver.
    """

    kind, verb = "windy", "windy searches of"

    name: str
    case: str
    searches: int
    backups: int = 0
    policy: Given | None = None

    @property
    def agent(self) -> str:
        return self.name

    def cost(self, plume: Plume) -> int:
        return self.backups * _PER_BACKUP + self.searches * (1 if self.policy else _PER_SEARCH)

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> np.ndarray:
        policy = needed["policy"] if self.policy else self._made()
        moves, left = windy_searches(policy, self.case, self.searches)
        tick(self.cost(plume))
        return np.stack([moves, left])

    def _made(self) -> Policy:
        model = windy_model(self.case)
        if self.name in HEURISTICS:
            return belief_heuristic(self.name, model)
        require(self.name == QUASI_OPTIMAL, f"There is no agent called {self.name!r}.")
        solver = SolverSettings(seconds=None, backups=self.backups)
        return quasi_optimal(model, solve(model, solver, [], lambda state: None).vectors)

    def pack(self, result: np.ndarray) -> Arrays:
        return {"moves": result[0], "left": result[1]}

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> np.ndarray:
        with damaged_record(path):
            moves = array_named(arrays, "moves", "iu", (self.searches,), 0, _LONGEST)
            return np.stack([moves, array_named(arrays, "left", "iu", (self.searches,), 0, 1)])


def windy_searches(policy: Policy, case: str, searches: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Moves until the source is found, 0 if it is not, and whether a search left the domain, both int[search].

    Sources are spread evenly over the initial belief.
    """
    model = windy_model(case)
    chosen = (np.arange(searches) + 0.5) / searches
    cells = np.searchsorted(np.cumsum(model.initial.ravel()), chosen)
    width = model.target.shape[1]
    begin = np.stack(np.divmod(cells, width))  # relative to the source, as all positions
    low = begin - np.array(_START)[:, None]  # the corner of the domain
    moves, left = np.zeros((2, searches), dtype=np.int64)
    memory = None if isinstance(policy, BeliefPolicy) else policy.begin(np.ones(searches, dtype=bool))
    for moment in search(policy, IndependentWorld(model, cells, seed), _LONGEST, memory):
        moves[moment.arrived] = moment.step
        at = np.stack(np.divmod(moment.position, width)) - low[:, moment.search]
        left[moment.search] |= ((at < 0) | (at >= np.reshape(_DOMAIN, (2, 1)))).any(axis=0)
    return moves, left


def windy_jobs(policies: Sequence[tuple[str, Given]], searches: int, backups: int) -> dict[tuple[str, str], Windy]:
    """Searches of some policies by agent and case; and of the agents with a belief, unless ``backups`` is 0."""
    known = (*HEURISTICS, QUASI_OPTIMAL) if backups else ()
    ours = [Windy(name, "", searches, backups if name == QUASI_OPTIMAL else 0) for name in known]
    jobs = [*ours, *(Windy(name, "", searches, policy=one) for name, one in policies)]
    return {(job.name, case): replace(job, case=case) for job in jobs for case in CASES}


def windy_results(jobs: Mapping[tuple[str, str], Windy], plume: Plume, store: JobStore) -> xr.Dataset:
    """Mean moves of the searches that found the source, its standard error, and shares of searches, by agent and case.

    ``found`` are those that found the source, ``left`` those that left the domain.
    """
    import xarray as xr

    agents = list(dict.fromkeys(agent for agent, _ in jobs))
    values = np.full((4, len(agents), len(CASES)), np.nan)
    for (agent, case), job in jobs.items():
        moves, left = run(job, plume, store)
        arrived = moves[moves > 0]
        spread = arrived.std(ddof=1) / len(arrived) ** 0.5 if len(arrived) > 1 else np.nan
        mean = arrived.mean() if len(arrived) else np.nan
        values[:, agents.index(agent), list(CASES).index(case)] = mean, spread, (moves > 0).mean(), left.mean()
    names = ("moves", "error", "found", "left")
    made = {name: (("windy_agent", "case"), some) for name, some in zip(names, values, strict=True)}
    return xr.Dataset({f"windy_{name}": one for name, one in made.items()}, {"windy_agent": agents, "case": [*CASES]})
