"""Recoveries of animals beside those of agents: the same metrics, in the same units, over blanks of the same lengths.

An animal is what is sampled: its recoveries share habits. So a number for animals is the median over them of their
own medians, and its interval comes from resampling animals (:mod:`whiffclock.resampling`); quartiles show how far
single recoveries scatter. An agent on a clock has one recovery path for each mode; it is cut at as many moves as each
recovery of the animals has steps, so that short blanks cut both short in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from whiffclock.environments import trained_in
from whiffclock.formatting import mode_name, nan_to_null
from whiffclock.params import InputError
from whiffclock.path_metrics import GEOMETRY, geometry
from whiffclock.policy import Policy, TablePolicy
from whiffclock.recovery import recovery_path
from whiffclock.resampling import interval, over_agents
from whiffclock.runs.comparison import contenders
from whiffclock.tracks.recoveries import Recoveries

#: The metrics that tables and pictures show: the return as the paper draws it (R13).
SHOWN = tuple(name for name in GEOMETRY if name != "downwind_return_printed")
#: Agents are drawn for as many moves as this share of the recoveries has, so that the longest does not set the scale.
_DRAWN = 0.9


@dataclass(frozen=True)
class Summary:
    """A metric of a group."""

    median: float  # over individuals, of their medians
    low: float  # 95% interval by individuals; NaN for fewer than two
    high: float
    quartiles: tuple[float, float]  # of all recoveries
    never: float  # share of recoveries without a value: returns that never begin

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return nan_to_null(vars(self))


@dataclass(frozen=True, eq=False)
class Group:
    """The recoveries of the animals of one condition, or those of agents."""

    name: str
    agents: bool
    values: np.ndarray  # float[recovery, metric], lengths in the unit of the tracks
    individual: np.ndarray  # str[recovery]
    paths: list[np.ndarray] = field(default_factory=list)  # float[n, 2] each, in this unit

    @cached_property
    def medians(self) -> np.ndarray:
        """float[individual, metric]; NaN where an individual has no value."""
        names = dict.fromkeys(self.individual.tolist())
        return np.array([_medians(self.values[self.individual == name]) for name in names])

    def summary(self, metric: str) -> Summary:
        """Median, interval and quartiles."""
        at = GEOMETRY.index(metric)
        every, own = self.values[:, at], self.medians[:, at]
        known = every[~np.isnan(every)]
        drawn = over_agents(own, np.random.default_rng(0))
        low, high = interval(drawn) if drawn.n > 1 else (math.nan, math.nan)
        first, third = np.quantile(known, [0.25, 0.75]).tolist() if len(known) else (math.nan, math.nan)
        return Summary(drawn.value, low, high, (first, third), 1 - len(known) / len(every))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        about = {"name": self.name, "agents": self.agents, "recoveries": len(self.values)}
        metrics = {metric: self.summary(metric).to_dict() for metric in GEOMETRY}
        return about | {"individuals": len(self.medians), "metrics": metrics}

    def to_rows(self) -> list[dict[str, Any]]:
        """One tidy row for each metric."""
        about = {"group": self.name, "recoveries": len(self.values), "individuals": len(self.medians)}
        rows = []
        for metric in GEOMETRY:
            one = vars(self.summary(metric))
            first, third = one["quartiles"]
            ends = {"median": one["median"], "low": one["low"], "high": one["high"], "q25": first, "q75": third}
            rows.append(about | {"metric": metric} | ends | {"never": one["never"]})
        return rows


def _medians(values: np.ndarray) -> list[float]:
    columns = (column[~np.isnan(column)] for column in values.T)
    return [float(np.median(known)) if len(known) else math.nan for known in columns]


def groups_of(recoveries: Recoveries, policies: Sequence[Policy] = ()) -> list[Group]:
    """The animals, by condition if there are several, and each ensemble of agents and mode."""
    found = []
    for condition in dict.fromkeys(recoveries.condition.tolist()):
        some = recoveries.of(condition)
        paths = [one.path * recoveries.cell for one in some.found]
        name = condition or "animals"
        found.append(Group(name, False, _scaled(some.metrics, recoveries.cell), some.individual, paths))
    return found + agents_beside(recoveries, policies)


def agents_beside(recoveries: Recoveries, policies: Sequence[Policy]) -> list[Group]:
    """Recovery paths of agents, cut at as many moves as the recoveries have steps."""
    moves = np.array([len(one.steps) - 1 for one in recoveries.found])
    lengths, which = np.unique(moves, return_inverse=True)
    drawn = int(np.quantile(moves, _DRAWN, method="higher"))
    made: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for contender, policy in zip(contenders(policies), policies, strict=True):
        if not isinstance(policy, TablePolicy):
            many = f"A {policy.name} policy has a recovery for every history"
            raise InputError(f"{many}; tracks are compared with policies on a finite memory.")
        for mode in range(policy.modes):
            path = recovery_path(policy, mode)
            parts = contender.name, trained_in(policy.made_from), mode_name(mode, policy.modes) * (policy.modes > 1)
            name = ", ".join(filter(None, parts))
            cut = np.array([astuple(geometry(path[: length + 1])) for length in lengths])
            made.setdefault(name, []).append((path[: drawn + 1], _scaled(cut[which], recoveries.cell)))
    return [
        Group(
            name,
            True,
            np.concatenate([values for _, values in ones]),
            np.repeat([str(i) for i in range(len(ones))], len(moves)),
            [path * recoveries.cell for path, _ in ones],
        )
        for name, ones in made.items()
    ]


def _scaled(metrics: np.ndarray, cell: float) -> np.ndarray:
    """Metrics with lengths in another unit than cells."""
    return metrics * [1.0 if name == "downwind_return_start" else cell for name in GEOMETRY]


def mean_path(paths: Sequence[np.ndarray], points: int = 200) -> np.ndarray:
    """The mean of paths at equal numbers of frames, as long as half of them go on."""
    lengths = np.sort([len(path) for path in paths])
    longest = int(lengths[len(lengths) // 2])
    when = np.unique(np.linspace(0, longest - 1, min(points, longest)).astype(int))
    total, count = np.zeros((len(when), 2)), np.zeros(len(when))
    for path in paths:
        here = when[when < len(path)]
        total[: len(here)] += path[here]
        count[: len(here)] += 1
    return total / count[:, None]
