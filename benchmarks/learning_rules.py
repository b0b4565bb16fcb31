"""Why do Q-learned clock programs earn less than searched ones?

    python benchmarks/learning_rules.py values --programs DIR   # is a program greedy for its own values?
    python benchmarks/learning_rules.py kept --programs DIR     # does learning that begins with it keep it?
    python benchmarks/learning_rules.py rules [--only "paper;lambda .9, alpha .003"]

``--environments`` and ``--seeds`` choose others. DIR holds a searched program int8[500] of each environment in
``<environment>.npy``, found in the first half of the record. Agents learn in the first half and are tested in the
second, from the start cells of each. G as median and range over seeds, f+ as median.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from whiffclock.agents.qlearning import Task, Training
from whiffclock.evaluation import evaluate
from whiffclock.jit import kernel
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.policy import TablePolicy
from whiffclock.world import episode
from whiffclock.world.episode import remember, smell, step
from whiffclock.world.starts import make_starts

FIRST, SECOND = builtin_plume().split()
PAPER, H, ENOUGH = LearningSettings(), LearningSettings.horizon, 50  # visits of a reading that counts
LAMBDAS = (0.0, 0.9, 1.0)
_U = np.uint64


def score(actions: np.ndarray, environment: str, plume: Plume = SECOND) -> tuple[float, float]:
    """G and f+ of a program."""
    seen = evaluate(TablePolicy("program", clock(H), actions.astype(np.int8)), plume, plume.environments[environment])
    return seen.mean("G"), seen.mean("f+")


def started(environment: str, learning: LearningSettings, seed: int) -> Training:
    return Training(Task(FIRST, FIRST.environments[environment], clock(H), learning, seed=seed))


@kernel(calls=(episode.__file__,))
def own_values(world, memory, actions, starts, gamma, lam, visits, constant, weight):
    """Lambda-returns of each action at each visit, with the program before and after it.

    A return is linear in the values V of the rows from which it bootstraps. Their sums over visits are
    ``constant[row, action] + weight[row, action, later row] @ V``.
    """
    whiffs, region = world
    for i in range(starts.shape[0]):
        x, y, t = np.int64(starts[i, 0]), np.int64(starts[i, 1]), np.int64(starts[i, 2])
        node = _U(memory.first[smell(whiffs, region, x, y, t)])
        row, steps, arrived = _U(memory.row[node]), 0, False
        while steps < H and not arrived:
            visits[row] += 1
            for a in range(4):
                u, v, w, there, whiff = step(whiffs, region, x, y, t, a)
                after, later = remember(memory.onward, node, whiff)
                constant[row, a] += 1.0 if there else gamma - 1.0
                share, moves = 1.0, 1
                while not there and share > 1e-7:
                    lasting = lam if moves < H else 0.0
                    weight[row, a, later] += share * gamma * (1.0 - lasting)
                    share *= gamma * lasting
                    u, v, w, there, whiff = step(whiffs, region, u, v, w, np.int64(actions[later]))
                    after, later = remember(memory.onward, after, whiff)
                    constant[row, a] += share * (1.0 if there else gamma - 1.0)
                    moves += 1
            x, y, t, arrived, whiff = step(whiffs, region, x, y, t, np.int64(actions[row]))
            node, row = remember(memory.onward, node, whiff)
            steps += 1


def values_of(actions: np.ndarray, environment: str, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Visits of each reading, and the program's own Q[reading, action], in the first half.

    With lambda 1, Q is the mean of what was earned; else the fixed point of learning from lambda-returns.
    """
    threshold, world = FIRST.environments[environment], FIRST.settle(WorldSettings())
    starts = make_starts(FIRST, threshold, world, EvaluationSettings(), H).points
    visits, constant, weight = np.zeros(H), np.zeros((H, 4)), np.zeros((H, 4, H))
    record = FIRST.whiffs(threshold).world(world)
    own_values(record, clock(H).tables, actions, starts, PAPER.gamma, lam, visits, constant, weight)
    often = np.maximum(visits, 1)
    constant, weight = constant / often[:, None], weight / often[:, None, None]
    constant[visits == 0] = -1.0  # as if it never arrived
    own = np.arange(H), actions
    return visits, constant + weight @ np.linalg.solve(np.eye(H) - weight[own], constant[own])


def print_values(programs: dict[str, np.ndarray]) -> None:
    """Where does the greedy choice differ from the program, and what do the differences earn, all or one at a time?"""
    print("| program | G | lambda | readings that differ | of visits | G, all changed | one changed: G falls |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    learned = {environment: RULES["paper"].once(environment, 0) for environment in programs}
    both = [("searched", *one) for one in programs.items()] + [("Q-learned", *one) for one in learned.items()]
    for made, environment, actions in both:
        in_first, in_second = score(actions, environment, FIRST)[0], score(actions, environment)[0]
        for lam in LAMBDAS:
            visits, q = values_of(actions, environment, lam)
            better = (visits >= ENOUGH) & (q.max(axis=1) > q[np.arange(H), actions] + 1e-12)
            differ, changed = np.flatnonzero(better), np.where(better, q.argmax(axis=1), actions)
            single = [np.where(np.arange(H) == reading, changed, actions) for reading in differ]
            falls = sum(score(one, environment, FIRST)[0] < in_first for one in single)
            share = visits[better].sum() / visits.sum()
            counts = f"{len(differ)} of {(visits >= ENOUGH).sum()} | {share:.1%} | {score(changed, environment)[0]:.3f}"
            line = f"{made}, {environment} | {in_second:.3f} | {lam:g} | {counts} | {falls} of {len(differ)}"
            print(f"| {line} |", flush=True)


@dataclass(frozen=True)
class Rule:
    """How an agent is trained."""

    learning: LearningSettings = PAPER
    average: bool = False  # of Q over the last sixth of the episodes
    best_of: int = 1  # trainings, by G in the first half

    def train(self, environment: str, seed: int) -> np.ndarray:
        """The program of one agent."""
        programs = [self.once(environment, self.best_of * seed + i) for i in range(self.best_of)]
        return max(programs, key=lambda actions: score(actions, environment, FIRST)[0])

    def once(self, environment: str, seed: int) -> np.ndarray:
        training = started(environment, self.learning, seed)
        episodes, mean = self.learning.episodes, np.zeros_like(training.q)
        while not training.done:
            training.advance(max(1, episodes // 300))
            if not self.average:
                mean[:] = training.q
            elif training.episode > episodes * 5 // 6:
                mean += training.q
        return mean.argmax(axis=1)


def rates(alpha: float, **more: float) -> LearningSettings:
    """The paper's settings with another learning rate, which falls to a thousandth."""
    return replace(PAPER, alpha_start=alpha, alpha_end=alpha / 1000, **more)


RULES = {
    "paper": Rule(),
    "10 million episodes": Rule(LearningSettings.shortened(10_000_000)),
    "alpha, epsilon fall over 1 million": Rule(replace(PAPER, alpha_decay=1e6, epsilon_decay=1e6)),
    "alpha .01": Rule(rates(0.01)),
    "alpha .001, constant": Rule(replace(PAPER, alpha_start=1e-3, alpha_end=1e-3)),
    "epsilon falls to .1": Rule(replace(PAPER, epsilon_end=0.1)),
    "epsilon .1, constant": Rule(replace(PAPER, epsilon_start=0.1, epsilon_end=0.1)),
    "Q starts at 0": Rule(replace(PAPER, q_start=0.0)),
    "Q starts at 1": Rule(replace(PAPER, q_start=1.0)),
    "alpha .01, constant, Q averaged": Rule(replace(PAPER, alpha_start=1e-2, alpha_end=1e-2), average=True),
    "best of 10 short trainings": Rule(LearningSettings.shortened(300_000), best_of=10),
    "lambda .5": Rule(replace(PAPER, trace=0.5)),
    "lambda .9": Rule(replace(PAPER, trace=0.9)),
    "lambda .97": Rule(replace(PAPER, trace=0.97)),
    "lambda 1": Rule(replace(PAPER, trace=1.0)),
    "lambda 1, alpha .003": Rule(rates(0.003, trace=1.0)),
    "lambda .9, alpha .001, constant": Rule(replace(PAPER, alpha_start=1e-3, alpha_end=1e-3, trace=0.9)),
    "lambda .9, alpha .003": Rule(rates(0.003, trace=0.9)),
}


def summary(found: list[tuple[float, float]]) -> str:
    g, arrived = np.array(found).T
    return f"{np.median(g):.3f} ({g.min():.3f}-{g.max():.3f}) | {np.median(arrived):.3f} | {len(found)}"


def print_rules(names: list[str], environments: list[str], seeds: int) -> None:
    print("| environment | rule | G | f+ | seeds | CPU time of one |\n| --- | --- | --- | --- | --- | --- |")
    for environment in environments:
        for name in names:
            before = time.process_time()
            found = [score(RULES[name].train(environment, seed), environment) for seed in range(seeds)]
            each = (time.process_time() - before) / seeds
            print(f"| {environment} | {name} | {summary(found)} | {each:.0f} s |", flush=True)


def beginnings(actions: np.ndarray, environment: str) -> Iterator[tuple[str, np.ndarray]]:
    """Q-matrices for which a program is greedy."""
    chosen = np.arange(4) == actions[:, None]
    _, q = values_of(actions, environment, 1.0)
    top = q[chosen][:, None]
    yield "what was earned", np.where(chosen, top, np.minimum(q, top - 1e-6))
    for gap in (0.01, 0.1):
        yield f"other actions {gap:g} less", np.where(chosen, top, top - gap)


def print_kept(programs: dict[str, np.ndarray], seeds: int) -> None:
    """What is left of a program after the paper's number of episodes with constant rates?"""
    print("| environment | begins with | lambda | alpha | epsilon | G | f+ | seeds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    rules = [(0.0, 1e-3, 0.1), (0.0, 1e-4, 0.01), *((lam, 1e-4, 0.1) for lam in LAMBDAS)]
    for environment, actions in programs.items():
        for name, q in beginnings(actions, environment):
            for lam, alpha, epsilon in rules:
                rates = {"alpha_start": alpha, "alpha_end": alpha, "epsilon_start": epsilon, "epsilon_end": epsilon}
                found = []
                for seed in range(seeds):
                    training = started(environment, replace(PAPER, trace=lam, **rates), seed)
                    training.q[:] = q
                    training.advance(PAPER.episodes)
                    found.append(score(training.q.argmax(axis=1), environment))
                how = f"{lam:g} | {alpha:g} | {epsilon:g}"
                print(f"| {environment} | {name} | {how} | {summary(found)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("values", "kept", "rules"))
    parser.add_argument("--programs", type=Path, default=Path(), metavar="DIR")
    parser.add_argument("--only", type=lambda text: text.split(";"), default=list(RULES), metavar="RULE;RULE")
    parser.add_argument("--environments", type=lambda text: text.split(","), default=["sparser", "dense"])
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.what == "rules":
        return print_rules(given.only, given.environments, given.seeds)
    programs = {name: np.load(given.programs / f"{name}.npy") for name in given.environments}
    return print_values(programs) if given.what == "values" else print_kept(programs, given.seeds)


if __name__ == "__main__":
    main()
