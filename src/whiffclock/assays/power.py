"""How many animals and trials an experiment needs: simulated experiments, and how often their test finds a difference.

Simulated animals are drawn from a pool, with their trials: agents with noise, each with its own share of random moves,
or the animals of a pilot experiment. What the conditions differ in is scaled, so that the history explains the share of
the recovery that was asked for. Every animal is in one condition, and the test is the permutation test of assays at 5%.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from whiffclock.agents.noise import Noisy
from whiffclock.assays.playing import Sample, play, require_comparable
from whiffclock.assays.protocol import Protocol
from whiffclock.assays.shares import LEVEL, Cells, Parts, permutation_test
from whiffclock.params import require
from whiffclock.policy import Policy

ENOUGH, ANIMALS, TRIALS = 0.8, (3, 4, 5, 6, 8, 12, 16, 24, 32), (1, 4, 16)
_EXPERIMENTS, _EXCHANGES = 200, 199
#: Animals in the pool of an agent with noise, trials of each, and most conditions of an experiment.
POOL, _TRIALS, _MOST = 24, 16, 10


@dataclass(frozen=True)
class Power:
    """Shares of simulated experiments that find a difference of one size, by trials and animals."""

    name: str
    share: float  # of the recovery that the history explains
    conditions: int
    found: dict[tuple[int, int], float]  # by trials and animals; more animals than are enough are not tried

    def enough(self, trials: int) -> int | None:
        """The fewest animals per condition with which 80% of the experiments find it; None if all tried are too few."""
        reached = [animals for (own, animals), power in self.found.items() if own == trials and power >= ENOUGH]
        return min(reached, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        rows = [{"trials": trials, "animals": n, "power": power} for (trials, n), power in self.found.items()]
        return asdict(self) | {
            "found": rows,
            "enough": {str(one): self.enough(one) for one in dict.fromkeys(own for own, _ in self.found)},
        }


def animals_of(policy: Policy, protocol: Protocol, name: str, progress: Callable[[int], None] | None = None) -> Sample:
    """A pool of animals: agents with noise, each with its own share of random moves, from none to twice the mean."""
    settings, rng = protocol.settings, np.random.default_rng(protocol.settings.seed)
    quiet = replace(protocol, settings=replace(settings, noise=0.0, repeats=_TRIALS))
    parts = []
    for animal, share in enumerate(rng.uniform(0, min(2 * settings.noise, 1), size=POOL)):
        parts.append(play(Noisy(policy, share, settings.seed + animal), quiet, name))
        if progress is not None:
            progress(1)
    conditions = parts[0].conditions
    individual = [one.condition + len(conditions) * animal for animal, one in enumerate(parts)]
    paths, condition = (np.concatenate([getattr(one, part) for one in parts]) for part in ("paths", "condition"))
    return Sample(name, paths, condition, np.concatenate(individual), conditions)


def require_simulable(share: float, conditions: int, noise: float = 1.0) -> None:
    """Refuse experiments that cannot be simulated, before any work."""
    require(0 < share < 1, f"The power is asked for a share of {share:g}; it must lie between 0 and 1, such as 0.1.")
    many = f"An experiment with {conditions} conditions is not simulated; name {_MOST} histories at most."
    require(conditions <= _MOST, many)
    require(noise > 0, "Animals are simulated by agents with noise; give the protocol a noise, such as noise = 0.1.")


def simulated(
    pool: Sample, share: float, seed: int = 0, animals: Sequence[int] = ANIMALS, trials: Sequence[int] = TRIALS
) -> Power:
    """Simulate experiments with animals of a pool; the history explains ``share`` of their recoveries."""
    count = len(pool.conditions)
    require_simulable(share, count)
    require_comparable(pool)
    rows, moves = scaled(pool, share), pool.paths.shape[1] - 1
    trials_of = [_trials(pool, condition) for condition in range(count)]
    rng, found = np.random.default_rng(seed), dict[tuple[int, int], float]()
    for of_each in trials:
        for size in animals:
            condition, hits = np.repeat(np.arange(count), size), 0
            for _ in range(_EXPERIMENTS):
                chosen = [rng.choice(own[rng.integers(len(own))], of_each) for own in trials_of for _ in range(size)]
                means = rows[np.stack(chosen)].mean(axis=1)
                cells = Cells(means, moves, np.zeros(len(means)), condition, np.arange(len(means)), count)
                hits += permutation_test(cells, rng, _EXCHANGES) <= LEVEL
            found[of_each, size] = hits / _EXPERIMENTS
            if found[of_each, size] >= ENOUGH:
                break
    return Power(pool.name, share, count, found)


def _trials(pool: Sample, condition: int) -> list[np.ndarray]:
    """For each individual in a condition, the numbers of its recoveries."""
    own = pool.condition == condition
    return [np.flatnonzero(own & (pool.individual == one)) for one in np.unique(pool.individual[own])]


def scaled(pool: Sample, share: float) -> np.ndarray:
    """The recoveries of a pool as rows, with the difference between conditions scaled to explain ``share``."""
    count, cells = len(pool.conditions), Cells.of(pool)
    common, history, chance = (float(one) for one in Parts.of(cells).shares(np.full(count, 1 / count)))
    flat = f"The history explains {history:.3f} of the recoveries of {pool.name}, a difference that cannot be scaled"
    require(history > 1e-3, f"{flat}; take an agent with modes or a belief.")
    require(chance > 0, f"The recoveries of {pool.name} have no chance, so one animal is enough; give a noise.")
    times = np.sqrt(share / (1 - share) * (common + chance) / history)
    means = np.stack([cells.row[cells.condition == i].mean(axis=0) for i in range(count)])
    rows = pool.paths[:, 1:].reshape(len(pool), -1).astype(np.float64)
    return rows + (times - 1) * (means - means.mean(axis=0))[pool.condition]
