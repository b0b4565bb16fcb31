"""How well do the agents do? G, T_min/T and f+ of ensembles beside the baselines (paper, Fig. 2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whiffclock.agents.compose import heuristic_two_q
from whiffclock.evaluate import METRICS, Evaluation, own_horizon
from whiffclock.experiments.tuning import evaluate_all, tune_angle
from whiffclock.params import EvaluationSettings, WorldSettings, environment_name
from whiffclock.plume import Plume
from whiffclock.policy import ClockPolicy, Policy

#: The one tau of the 2Q^h agents, which are never retrained.
HEURISTIC_TAU = 10


@dataclass(frozen=True)
class Row:
    """One kind of agent in one environment: an ensemble of evaluations."""

    environment: str
    agent: str
    evaluations: Sequence[Evaluation]
    note: str = ""
    best: Evaluation = field(init=False)

    def __post_init__(self) -> None:
        best = max(self.evaluations, key=lambda e: e.mean("G"))
        object.__setattr__(self, "best", best)

    def values(self, metric: str) -> np.ndarray:
        """One mean per agent of the ensemble."""
        return np.array([e.mean(metric) for e in self.evaluations])

    def to_dict(self) -> dict[str, Any]:
        """Plain values: quartiles and range over the ensemble, standard error of the best agent."""
        out: dict[str, Any] = {
            "environment": self.environment,
            "agent": self.agent,
            "n": len(self.evaluations),
            "note": self.note,
        }
        for metric in METRICS:
            low, q1, median, q3, high = np.quantile(self.values(metric), [0, 0.25, 0.5, 0.75, 1]).tolist()
            out[metric] = {"min": low, "q1": q1, "median": median, "q3": q3, "max": high}
        out["best"] = self.best.to_dict()
        return out


def compare(
    plume: Plume,
    policies: Iterable[Policy],
    thresholds: Sequence[float],
    world: WorldSettings | None = None,
    settings: EvaluationSettings | None = None,
    *,
    everywhere: bool = False,
) -> list[Row]:
    """Put policies side by side, with tuned cast-and-surge, on the same starts.

    A policy is tested in the environment it was trained in, or ``everywhere``; 2Q^h, which belongs to no
    environment, is tested in all of them.
    """
    world, settings = world or WorldSettings(), settings or EvaluationSettings()
    policies = list(policies)
    rows = []
    for threshold in thresholds:
        groups: dict[str, list[Policy]] = defaultdict(list)
        for policy in policies:
            trained = policy.threshold
            if everywhere and trained is not None:
                groups[f"{policy.name} ({environment_name(trained)})"].append(policy)
            elif trained in (None, threshold):
                groups[policy.name].append(policy)
        horizon = settings.horizon or max((own_horizon(p) for p in policies), default=500)
        name = environment_name(threshold)
        for agent, members in groups.items():
            rows.append(Row(name, agent, evaluate_all(members, plume, threshold, world, settings, horizon)))
        tuned, tested_tuned = tune_angle(plume, threshold, world, settings, horizon)
        rows.append(Row(name, tuned.name, [tested_tuned], note=f"{tuned.made_from['angle']} degrees"))
    return rows


def heuristic_ensemble(
    policies: Iterable[Policy], dense: float, sparse: float, tau: int = HEURISTIC_TAU
) -> list[ClockPolicy]:
    """2Q^h agents from the single-Q agents of two environments, paired by seed."""
    by_seed: dict[float, dict[int, ClockPolicy]] = {dense: {}, sparse: {}}
    for policy in policies:
        if isinstance(policy, ClockPolicy) and policy.modes == 1 and policy.threshold in by_seed:
            by_seed[policy.threshold][policy.made_from["seed"]] = policy
    seeds = sorted(by_seed[dense].keys() & by_seed[sparse].keys())
    return [heuristic_two_q(by_seed[dense][s], by_seed[sparse][s], tau) for s in seeds]
