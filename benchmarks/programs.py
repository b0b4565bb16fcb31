"""Which method finds good clock programs? All have the same CPU time on one core, and the same first program.

    python benchmarks/programs.py --seconds 20 --seeds 3 [--only annealing,evolution] [--environments sparser,dense]
    python benchmarks/programs.py --rates

A method is a function from a :class:`Search` to a program. Programs are searched in the first half of the record; G and
f+ are those in the second half, 16 snapshots of every start cell. "First half" is G there, at other start times than
those of the search, minus G in the second half; compare it with that of the first program, which is not fitted to
either. ``--rates``: candidates per second of CPU time at the beginning and at the end of a search, beside full
evaluations of the same program by the rollout kernel.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import whiffclock as wc
from whiffclock.agents import programs
from whiffclock.agents.programs import Changes, Ground, Program, Scored, first_program
from whiffclock.memory import clock
from whiffclock.params import OptimizeSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.policy import TablePolicy, runs
from whiffclock.world.episode import rollout, smell_all, step_all
from whiffclock.world.moves import N_ACTIONS

SETTINGS = OptimizeSettings()
MEMORY = clock(SETTINGS.horizon)
ENVIRONMENTS = ("denser", "dense", "sparse", "sparser")


@dataclass
class Search:
    """What a method is given: an environment, CPU time, and random numbers."""

    plume: Plume
    environment: str
    seconds: float
    seed: int = 0
    candidates: int = 0
    begin: float = field(default_factory=time.process_time)

    @property
    def done(self) -> float:
        """The share of the CPU time that was used."""
        return (time.process_time() - self.begin) / self.seconds

    def rng(self, *numbers: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *numbers])

    def ground(self, snapshots: int = SETTINGS.snapshots, part: int = 0) -> Ground:
        settings = replace(SETTINGS, snapshots=snapshots)
        threshold = self.plume.environments[self.environment]
        return Ground.of(self.plume, (threshold,), self.plume.settle(), settings, seed=part)

    def scored(self, program: Program, snapshots: int = SETTINGS.snapshots, part: int = 0) -> Scored:
        return Scored(self.ground(snapshots, part), MEMORY, program)


Method = Callable[[Search], Program]


def annealing(
    search: Search,
    hottest: float = SETTINGS.hottest,
    coldest: float = SETTINGS.coldest,
    rounds: int = SETTINGS.turns,
    chains: int = 1,
    snapshots: tuple[int, ...] = (SETTINGS.snapshots,),
    full: bool = False,
) -> Program:
    """Simulated annealing, as the package does it; chains exchange their best program after every round.

    ``snapshots`` follow each other in equal parts of the rounds; ``full`` repeats all searches of every candidate.
    """
    best = first_program(MEMORY)
    for part in range(rounds):
        found = []
        for chain in range(chains):
            scored = search.scored(best, snapshots[part * len(snapshots) // rounds], part)
            if full:
                _repeat_all(scored)
            end = (part + (chain + 1) / chains) / rounds
            found.append(_chain(search, scored, (hottest, coldest), end, search.rng(part, chain)))
        best, _ = max(found, key=lambda one: one[1])
    return best


def _chain(
    search: Search, scored: Scored, temperatures: tuple[float, float], end: float, rng: np.random.Generator
) -> tuple[Program, float]:
    """One round of one chain, until this share of the time: its best program and objective."""
    hottest, coldest = temperatures
    changes = Changes(MEMORY, rng)
    changes.look(scored.reached)
    best, highest = scored.program, scored.objective
    while (done := search.done) < end:
        temperature = hottest * (coldest / hottest) ** done if hottest else 0.0
        for _ in range(programs._TURN):
            bar = scored.objective + temperature * np.log(rng.random())
            if scored.attempt(changes.of(scored.program), bar) and scored.objective > highest:
                best, highest = scored.program, scored.objective
    search.candidates += scored.candidates
    return best, highest


def _repeat_all(scored: Scored) -> None:
    """Make every candidate repeat all searches."""
    every, attempt = np.full(scored._scores[0].shape[1], ~np.uint64(0)), scored._attempt
    scored._attempt = lambda candidate, changed, bar: attempt(candidate, every, bar)  # type: ignore[method-assign]


def evolution(search: Search, parents: int = 16, children: int = 64, snapshots: int = 4) -> Program:
    """(mu + lambda): a child has the moves of one parent up to a clock reading, then another's, and some changes."""
    rng, part = search.rng(), 0
    changes, people = Changes(MEMORY, rng), [first_program(MEMORY)] * parents
    while search.done < 1:
        scored, part = search.scored(people[0], snapshots, part), part + 1  # new start times for each generation
        family = list(people)
        for _ in range(children):
            (one, other), cut = rng.choice(parents, size=2), int(150 * rng.random())
            child = Program(np.concatenate([people[one].actions[:cut], people[other].actions[cut:]]), MEMORY.next_node)
            for _ in range(rng.integers(1, 4)):
                child = changes.of(child)
            family.append(child)
        values = [_value(scored, one) for one in family]
        people = [family[i] for i in np.argsort(values)[::-1][:parents]]
        search.candidates += len(family)
    return people[0]


def _value(scored: Scored, program: Program) -> float:
    """The objective of any program."""
    scored.attempt(program, -np.inf)
    return scored.objective


def cross_entropy(search: Search, sample: int = 128, elite: int = 12, keep: float = 0.7, snapshots: int = 2) -> Program:
    """Runs have an action each, and a length: the mean and spread of both are those of the best of each sample."""
    first, rng, part = runs(first_program(MEMORY).actions)[:60], search.rng(), 0
    chance = np.full((len(first), N_ACTIONS), 0.05)
    chance[np.arange(len(first)), [action for action, _ in first]] = 0.85
    mean, spread = np.array([float(length) for _, length in first]), np.full(len(first), 3.0)
    best = first_program(MEMORY)
    while search.done < 1:
        scored, part = search.scored(best, snapshots, part), part + 1
        action = (rng.random((sample, len(first), 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=2)
        length = np.maximum(np.rint(rng.normal(mean, spread, (sample, len(first)))), 0).astype(np.int64)
        made = [_program(*one) for one in zip(action, length, strict=True)]
        top = np.argsort([_value(scored, program) for program in made])[::-1][:elite]
        chance = keep * chance + (1 - keep) * (action[top, :, None] == np.arange(N_ACTIONS)).mean(axis=0)
        mean = keep * mean + (1 - keep) * length[top].mean(axis=0)
        spread = keep * spread + (1 - keep) * length[top].std(axis=0)
        search.candidates += sample
        best = _program(chance.argmax(axis=1), np.rint(mean).astype(np.int64))
    return best


def _program(action: np.ndarray, length: np.ndarray) -> Program:
    """Some runs, then downwind."""
    moves = np.concatenate([np.repeat(action, length), np.full(MEMORY.rows, N_ACTIONS - 1)])[: MEMORY.rows]
    return Program(moves.astype(np.int8), MEMORY.next_node)


def policy_gradient(search: Search, rate: float = 0.05, sample: int = 1024) -> Program:
    """REINFORCE on a softmax table, with Adam; the reward of a search minus the mean of its batch."""
    ground, rng = search.ground(), search.rng()
    logits = 3.0 * (first_program(MEMORY).actions[:, None] == np.arange(N_ACTIONS))
    momentum, power = np.zeros_like(logits), np.zeros_like(logits)
    while search.done < 1:
        search.candidates += 1
        gradient = _gradient(ground, rng.integers(len(ground.starts), size=sample), logits, rng)
        momentum += 0.1 * (gradient - momentum)
        power += 0.01 * (gradient**2 - power)
        logits += rate * momentum / (np.sqrt(power) + 1e-8)
    return Program(logits.argmax(axis=1).astype(np.int8), MEMORY.next_node)


def _gradient(ground: Ground, chosen: np.ndarray, logits: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of the mean reward of some searches with random moves, by logit."""
    chance = np.exp(logits - logits.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    upper, count = chance.cumsum(axis=1)[:, :-1], len(chosen)
    position, searching, arrival = ground.starts.points[chosen].astype(np.int64), np.arange(count), np.zeros(count, int)
    whiff, arrived, taken = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool), []
    smell_all(ground.world, position, whiff)
    node = MEMORY.first[whiff.astype(int)]
    for steps in range(1, SETTINGS.horizon + 1):
        action = (rng.random((len(node), 1)) > upper[MEMORY.row[node]]).sum(axis=1)
        taken.append((searching, MEMORY.row[node], action))
        step_all(ground.world, position, action, arrived, whiff)
        node = MEMORY.next_node[node, whiff.astype(int)]
        arrival[searching[arrived]] = steps
        position, searching, node, whiff = (one[~arrived] for one in (position, searching, node, whiff))
        arrived = np.zeros(len(node), dtype=bool)
    searcher, row, action = (np.concatenate(one) for one in zip(*taken, strict=True))
    reward = ground.reward[arrival]
    weight = (reward - reward.mean())[searcher] / count
    by_action = np.bincount(row * N_ACTIONS + action, weight, minlength=logits.size).reshape(logits.shape)
    return by_action - by_action.sum(axis=1, keepdims=True) * chance


#: By name: the method, and constants of the package to change for it.
METHODS: dict[str, tuple[Method, dict[str, Any]]] = {
    "first program": (lambda search: first_program(MEMORY), {}),
    "annealing": (annealing, {}),
    "hottest 1e-3": (partial(annealing, hottest=1e-3), {}),
    "hottest 3e-4": (partial(annealing, hottest=3e-4), {}),
    "hottest 1e-4": (partial(annealing, hottest=1e-4), {}),
    "no early rejection": (annealing, {"_SURE": np.inf}),
    "all searches repeated": (partial(annealing, full=True), {}),
    "2 snapshots": (partial(annealing, snapshots=(2,)), {}),
    "4 snapshots": (partial(annealing, snapshots=(4,)), {}),
    "2 4 8 16 snapshots": (partial(annealing, snapshots=(2, 4, 8, 16)), {}),
    "2 4 8 16 snapshots and hottest 3e-4": (partial(annealing, hottest=3e-4, snapshots=(2, 4, 8, 16)), {}),
    "2 4 8 16 snapshots without mirror": (
        partial(annealing, snapshots=(2, 4, 8, 16)),
        {"_KINDS": tuple(one for one in programs._KINDS if one != "mirror")},
    ),
    "places: power 1": (annealing, {"_EARLY": 1.0}),
    "places: power 2": (annealing, {"_EARLY": 2.0}),
    "runs up to 5": (annealing, {"_LONGEST_RUN": 5}),
    "runs up to 20": (annealing, {"_LONGEST_RUN": 20}),
    **{
        f"without {kind}": (annealing, {"_KINDS": tuple(one for one in programs._KINDS if one != kind)})
        for kind in programs._KINDS
    },
    "2 chains of half the time": (partial(annealing, chains=2), {}),
    "4 chains of a quarter": (partial(annealing, chains=4), {}),
    "hill climbing": (partial(annealing, hottest=0.0), {}),
    "hill climbing best of 4": (partial(annealing, hottest=0.0, rounds=1, chains=4), {}),
    "evolution": (evolution, {}),
    "cross-entropy": (cross_entropy, {}),
    "policy gradient": (policy_gradient, {}),
}


def compare(plume: Plume, names: list[str], environments: list[str], seconds: float, seeds: range) -> None:
    """Print a table: a line per method and environment."""
    print(f"{seconds:g} s of CPU time\n| method | environment | G | each seed | f+ | first half | candidates per s |")
    print("|" + " --- |" * 7, flush=True)
    for name in names:
        method, constants = METHODS[name]
        for environment in environments:
            rows, rate = [], []
            for seed in seeds:
                search = Search(plume, environment, seconds, seed)
                with patch.multiple(programs, **{"_TURN": programs._TURN} | constants):
                    program = method(search)
                rate.append(search.candidates / (search.done * seconds))
                found = wc.evaluate(TablePolicy(name, MEMORY, program.actions), plume, environment, after=0.5)
                seen = search.scored(program, part=1000).objective
                rows.append((found.mean("G"), found.mean("f+"), seen - found.mean("G")))
            reward, arrived, easier = np.array(rows).T
            each = " ".join(f"{value:.4f}" for value in reward)
            means = f"{arrived.mean():.4f} | {easier.mean():+.4f} | {np.mean(rate):.0f}"
            print(f"| {name} | {environment} | {reward.mean():.4f} | {each} | {means} |", flush=True)


def rates(plume: Plume, environments: list[str], seconds: float) -> None:
    """Print candidates per second of CPU time at both ends of a search, and full evaluations of the same program."""
    print("| environment | G | candidates per s | full evaluations per s | ratio |\n|" + " --- |" * 5)
    for environment in environments:
        search = Search(plume, environment, seconds)
        for program, temperature in ((first_program(MEMORY), SETTINGS.hottest), (annealing(search), SETTINGS.coldest)):
            part = Search(plume, environment, 3.0)
            scored = part.scored(program)
            _chain(part, scored, (temperature, temperature), 1.0, part.rng())
            tried = part.candidates / (part.done * part.seconds)
            full = 1 / _full_evaluation(scored.ground, scored.program)
            numbers = f"{scored.objective:.4f} | {tried:.0f} | {full:.0f} | {tried / full:.0f}"
            print(f"| {environment} | {numbers} |", flush=True)


def _full_evaluation(ground: Ground, program: Program) -> float:
    """CPU seconds of the rollout kernel for all searches; the median of nine."""
    points, taken = ground.starts.points, []
    records = [np.zeros((len(points), *more), dtype=np.int32) for more in ((), (3,), (1,))]
    occupancy = np.zeros((1, ground.world.whiffs.shape[0], ground.world.region.width), dtype=np.int64)
    for _ in range(9):
        before = time.process_time()
        rollout(ground.world, MEMORY.tables, program.actions, points, SETTINGS.horizon, *records, occupancy)
        taken.append(time.process_time() - before)
    return float(np.median(taken))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[*METHODS], help=", ".join(METHODS))
    parser.add_argument("--environments", type=lambda text: text.split(","), default=["sparser", "dense"])
    parser.add_argument("--rates", action="store_true")
    given = parser.parse_args()
    plume = builtin_plume()
    annealing(Search(plume, "sparser", 0.1))  # kernels are compiled
    if given.rates:
        rates(plume, given.environments, given.seconds)
    else:
        compare(plume, given.only, given.environments, given.seconds, range(given.seeds))


if __name__ == "__main__":
    main()
