"""How fast the bounds come together: the standard problems, and a search model of the paper's size.

    python benchmarks/sarsop.py [--seconds 60] [--problems FOLDER] [--only Hallway search ...]

One core. ``FOLDER`` holds the standard problem files (Tiger, Hallway, Hallway2, TagAvoid, RockSample_7_8).
The search model: p(whiff) = min(.9, .25 / (1 + x/20)) exp(-(y / (2 + .06 x))^2) for 0 <= x < 123.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import numpy as np

from whiffclock.agents.bayes import (
    BeliefPolicy,
    discounted_rewards,
    infotaxis,
    qmdp,
    quasi_optimal,
    space_aware_infotaxis,
)
from whiffclock.policy import MOVES
from whiffclock.pomdp.blocks import BlockModel
from whiffclock.pomdp.files import read_model
from whiffclock.pomdp.gridsearch import GridSearch
from whiffclock.pomdp.solver import Solution, SolverSettings, solve

PROBLEMS = ("Tiger.pomdp", "Hallway.pomdp", "Hallway2.pomdp", "TagAvoid.pomdpx", "RockSample_7_8.pomdpx")
MARKS = (1, 5, 30, 60, 300, 900, 4000)


def search_model(strength: float = 0.25) -> GridSearch:
    """The search model of the paper's size."""
    x, y = np.arange(-122, 123)[:, None], np.arange(-26, 27)[None]
    ahead = np.maximum(x, 0)
    chance = np.minimum(0.9, strength / (1 + ahead / 20)) * np.exp(-((y / (2 + 0.06 * ahead)) ** 2))
    chance = np.where(x >= 0, chance, 0.0)
    target = x**2 + y**2 <= 4
    initial = (~target & (chance > 0.01)).astype(float)
    return GridSearch(np.stack([1 - chance, chance]), target, initial / initial.sum(), MOVES)


def tell(name: str, solution: Solution) -> None:
    """Bounds at some times."""
    marks = list(MARKS)
    for state in [*solution.history[:-1], solution.history[-1]]:
        last = state is solution.history[-1]
        if last or (marks and state.seconds >= marks[0]):
            while marks and state.seconds >= marks[0]:
                marks.pop(0)
            print(
                f"{name:16s} {state.seconds:7.1f} s  {state.lower:10.5f} {state.upper:10.5f}  "
                f"{state.vectors:6d} vectors {state.backups:8d} backups {state.megabytes:6.0f} MB"
            )
    print(f"{name:16s} {solution.ended}, {solution.backups / solution.seconds:.0f} backups per second", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--problems", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--sampling", default="mixed")
    arguments = parser.parse_args()
    settings = SolverSettings(seconds=arguments.seconds, sampling=arguments.sampling)
    for file in PROBLEMS if arguments.problems else ():
        name = Path(file).stem
        if not arguments.only or name in arguments.only:
            tell(name, solve(BlockModel(read_model(arguments.problems / file)), settings))
    if not arguments.only or "search" in arguments.only:
        model = search_model()
        solution = solve(model, settings)
        tell("search", solution)
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")
        policies = [quasi_optimal(model, solution.vectors)] + [
            BeliefPolicy(name, model, choose)
            for name, choose in (
                ("QMDP", qmdp),
                ("infotaxis", infotaxis),
                ("space-aware", space_aware_infotaxis),
            )
        ]
        for policy in policies:
            reward = discounted_rewards(policy)
            print(f"simulated, {policy.name:12s} {reward.mean():.4f} ± {reward.std() / len(reward) ** 0.5:.4f}")


if __name__ == "__main__":
    main()
