"""The quasi-optimal Bayesian agent's part in the figures: its line in fig2, and all of fig8.

One piece of work per environment: solve the POMDP within ``profile.bayes_backups`` backups, search from a
sample of everyone's starts, and branch into forced blanks. Its record keeps what came out, not the policy,
which is a thousand times as large: ``arrival`` of each search; ``geometry``, ``weight`` and ``trial`` of each
branch; ``bounds`` on the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.agents.bayes import QUASI_OPTIMAL, BayesSettings, quasi_optimal, search_model
from whiffclock.evaluate import Evaluation, Starts, evaluate
from whiffclock.experiments.forced_blanks import BranchSettings, forced_blanks
from whiffclock.experiments.judged import sample, strata_means
from whiffclock.experiments.measures import ENVIRONMENT_NAMES
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.runs.pieces import SEARCHES_PER_SECOND, Piece, Tick

#: Name of the group of pieces.
GROUP = "Bayesian agent"
KIND = "bayes"
_REVISION = 2  # raised when solver or agent change, so that older records are not taken for theirs

# What things take on one core, about: for the time that is left.
_SECONDS_PER_BACKUP = 5e-4
_SECONDS_PER_SEARCH = 2e-3
_SECONDS_PER_TRIAL = 5e-2


@dataclass(frozen=True)
class BayesResults:
    """The Bayesian agent in all environments.

    Attributes
    ----------
    strata
        float[e, t, m]: means by time stratum of its starts.
    geometry
        For each environment float[branch, g]: geometry of the path in each forced-blank branch.
    weight
        For each environment float[branch]: product of Pr(blank | x_t) along the branch until its return is done.
    trial
        For each environment int[branch]: the search that the branch was split off from.
    bounds
        float[e, 2]: bounds on the value of the POMDP.
    """

    strata: np.ndarray
    geometry: dict[str, np.ndarray]
    weight: dict[str, np.ndarray]
    trial: dict[str, np.ndarray]
    bounds: np.ndarray


def pieces(work: Work) -> list[Piece]:
    """One for each environment."""
    profile = work.profile
    seconds = (
        profile.bayes_backups * _SECONDS_PER_BACKUP
        + profile.bayes_starts * _SECONDS_PER_SEARCH
        + profile.bayes_trials * _SECONDS_PER_TRIAL
    )
    cost = int(seconds * SEARCHES_PER_SECOND)
    return [
        Piece(KIND, _description(work, environment), _maker(work, environment, cost), cost, GROUP)
        for environment in ENVIRONMENT_NAMES
    ]


def bayes_results(work: Work) -> BayesResults:
    """What the store has of the Bayesian agent."""
    records = {name: work.store.load(KIND, _description(work, name)).arrays for name in ENVIRONMENT_NAMES}
    return BayesResults(
        strata=np.stack([strata_means(_evaluation(work, name, records[name]["arrival"])) for name in records]),
        geometry={name: record["geometry"] for name, record in records.items()},
        weight={name: record["weight"] for name, record in records.items()},
        trial={name: record["trial"] for name, record in records.items()},
        bounds=np.stack([record["bounds"] for record in records.values()]),
    )


def _solver(work: Work) -> SolverSettings:
    return SolverSettings(seconds=None, backups=work.profile.bayes_backups)


def _branching(work: Work) -> BranchSettings:
    return BranchSettings(trials=work.profile.bayes_trials, horizon=work.profile.horizon)


def _description(work: Work, environment: str) -> dict[str, Any]:
    """Everything that determines a record."""
    return {
        "agent": QUASI_OPTIMAL,
        "revision": _REVISION,
        "plume": work.plume.fingerprint,
        "threshold": ENVIRONMENTS[environment],
        "world": work.world.to_dict(),
        "model": BayesSettings().to_dict(),
        "solver": _solver(work).to_dict(),
        "evaluation": work.profile.evaluation.to_dict(),
        "starts": work.profile.bayes_starts,
        "branches": _branching(work).to_dict(),
    }


def _starts(work: Work, environment: str) -> Starts:
    every = work.starts(environment)
    some = sample(every, work.profile.bayes_starts)
    return Starts(every.points[some], every.stratum[some], every.shortest[some])


def _maker(work: Work, environment: str, cost: int) -> Callable[[Tick], dict[str, np.ndarray]]:
    threshold, profile = ENVIRONMENTS[environment], work.profile

    def make(tick: Tick) -> dict[str, np.ndarray]:
        told = 0

        def tell(seconds: float) -> None:
            """Report work up to ``seconds`` of the estimate; this is also where a run can be stopped."""
            nonlocal told
            done = min(int(seconds * SEARCHES_PER_SECOND), cost)
            tick(done - told)
            told = done

        searched, solved = 0, profile.bayes_backups * _SECONDS_PER_BACKUP

        def searching(n: int) -> None:
            nonlocal searched
            searched += n
            tell(solved + searched * _SECONDS_PER_SEARCH)

        model = search_model(work.plume, threshold, world=work.world)
        solution = solve(
            model, _solver(work), progress=lambda state: tell(min(state.backups * _SECONDS_PER_BACKUP, solved))
        )
        policy = quasi_optimal(model, solution.vectors)
        starts = _starts(work, environment)
        judged = evaluate(policy, work.plume, threshold, work.world, profile.evaluation, starts, searching)
        branches = forced_blanks(policy, work.plume, threshold, work.world, _branching(work))
        tick(cost - told)
        return {
            "arrival": judged.arrival,
            "geometry": branches.metrics,
            "weight": branches.weight,
            "trial": branches.trial,
            "bounds": np.array([solution.lower, solution.upper]),
        }

    return make


def _evaluation(work: Work, environment: str, arrival: np.ndarray) -> Evaluation:
    """As much of the evaluation as the figures need."""
    n = len(arrival)
    return Evaluation(
        policy=QUASI_OPTIMAL,
        threshold=ENVIRONMENTS[environment],
        starts=_starts(work, environment),
        settings=work.profile.evaluation,
        horizon=work.profile.horizon,
        arrival=arrival,
        last_whiff=np.full((n, 3), -1),
        mode_steps=np.zeros((n, 1)),
        occupancy=np.zeros((1, *work.plume.field.shape[1:])),
        plume=work.plume.fingerprint,
    )
