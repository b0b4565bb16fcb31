"""Which of the paper's trends belong to the plume, which to Q-learning? Its claims on programs that were searched.

The claims are tested by the same code on the datasets beyond the paper, in which searched clocks stand for single-Q
agents, and those with two modes for two-Q agents.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import xarray as xr

from whiffclock.formatting import nan_to_null
from whiffclock.paper.claims import CLAIMS, Verdict, judge
from whiffclock.paper.dataset import (
    BAYES,
    MODE,
    ROBUST,
    SEARCHED,
    SEARCHED_TWO,
    SINGLE,
    TWO,
    Datasets,
    best_agents,
    recovery,
    where_trained,
)
from whiffclock.path_metrics import Truncation
from whiffclock.world.moves import ACTIONS, MOVES

#: The claims that searched programs can be tested for, with the figure that has their data.
TESTED = {"C5": "b3", "C6": "b3", "C7": "b3", "C8": "b3", "C9": "b4", "C10": "b4", "C13": "b3"}
#: Whose a trend is, by the verdicts on Q-learned agents and on searched programs.
_OWNER = {
    ("holds", "holds"): "the plume",
    ("holds", "does not hold"): "Q-learning",
    ("does not hold", "holds"): "the plume, hidden by Q-learning",
    ("does not hold", "does not hold"): "neither",
}
#: Programs are shown up to here.
_SHOWN: Truncation = "longest blank"


@dataclass(frozen=True)
class Comparison:
    """A claim's verdict on Q-learned agents and on searched programs."""

    learned: Verdict
    searched: Verdict

    @property
    def owner(self) -> str:
        """Whose the trend is; empty if one of them is not decided."""
        return _OWNER.get((self.learned.verdict, self.searched.verdict), "")


def as_learned(data: Datasets) -> Datasets:
    """Searched programs under the names of the Q-learned agents that have the same memory."""

    def renamed(dataset: xr.Dataset, dim: str) -> xr.Dataset:
        return dataset.sel({dim: [SEARCHED, SEARCHED_TWO]}).assign_coords({dim: [SINGLE, TWO]})

    return Datasets(renamed(data.searches, "kind"), renamed(data["recoveries"], "ensemble"))


def compare(data: Datasets, verdicts: Sequence[Verdict]) -> list[Comparison]:
    """The claims that can be tested, with ``verdicts`` on Q-learned agents, on the datasets beyond the paper."""
    # Programs are not trained, so the length of a training says nothing about them.
    claims = [replace(CLAIMS[name], figures=(figure,), full_training=False) for name, figure in TESTED.items()]
    learned = {found.claim.id: found for found in verdicts}
    found = judge(as_learned(data), claims)
    return [Comparison(learned[one.claim.id], one) for one in found if one.claim.id in learned]


def closed(data: Datasets) -> dict[str, float]:
    """Share of the distance in G between Q-learned agents and the Bayesian agent that searched clocks close.

    By environment, for median agents, on the same starts; NaN where the Bayesian agent is not better.
    """
    if not {"b1", "b2"} & {*data.facts["figures"]}:
        return {}
    rewards = data.searches["sampled"].sel(metric="G").mean("stratum").median("agent")
    learned, searched = (rewards.sel(kind=kind).rename(tested="environment") for kind in (SINGLE, SEARCHED))
    best = where_trained(data.searches["strata"], BAYES).sel(metric="G", agent=0).mean("stratum")
    shares = ((searched - learned) / (best - learned)).where(best > learned)
    return {name: float(shares.sel(environment=name)) for name in data.environments}


def headline(data: Datasets) -> str:
    """What the searched clock closes, in one sentence; empty without the figures that have it."""
    shares = closed(data)
    told = [f"{share:.0%} in {name}" for name, share in shares.items() if np.isfinite(share)]
    if not told:
        return ""
    return (
        "Of the distance in reward between the median Q-learned agent and the Bayesian agent, the median clock whose "
        f"program was searched directly closes {', '.join(told)}, on snapshots that the search has not seen."
    )


def programs(data: Datasets) -> dict[str, list[tuple[str, int]]]:
    """The best program of each environment, and the best robust one, as runs of equal moves up to the longest blank."""
    best = best_agents(data, SEARCHED)
    found = {name: _program(data, SEARCHED, name, int(best.sel(environment=name))) for name in data.environments}
    if bool(data["recoveries"]["steps"].sel(ensemble=ROBUST).notnull().any()):
        found["robust"] = _program(data, ROBUST, data.environments.names[0], best_robust(data))
    return found


def best_robust(data: Datasets) -> int:
    """The robust program with the highest mean G over the environments."""
    rewards = where_trained(data.searches["mean"], ROBUST).sel(metric="G").mean("environment")
    return int(rewards.fillna(-np.inf).idxmax("agent"))


def _program(data: Datasets, ensemble: str, environment: str, agent: int) -> list[tuple[str, int]]:
    one = recovery(data, ensemble, MODE, _SHOWN).sel(environment=environment, agent=agent)
    path = one["path"].sel(axis=["x", "y"]).transpose("step", "axis").values[: int(one["steps"]) + 1]
    moves = [ACTIONS[MOVES.index((int(x), int(y)))] for x, y in np.diff(path, axis=0)]
    return [(move, len(list(same))) for move, same in groupby(moves)]


def beyond_json(data: Datasets, found: Sequence[Comparison]) -> str:
    """The verdicts beyond the paper, the distance closed and the programs, as JSON."""
    content: dict[str, Any] = {
        "headline": headline(data),
        "closed": closed(data),
        "programs": programs(data),
        "claims": [
            {"id": one.learned.claim.id, "learned": one.learned.verdict, "owner": one.owner}
            | {"searched": one.searched.to_dict()}
            for one in found
        ],
    }
    return json.dumps(nan_to_null(content, digits=10), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
