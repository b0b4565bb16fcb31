"""How fast are searches? The rollout kernel, a policy written in Python, and the Bayesian agent, beside others.

Searches in the built-in plume, in searches per CPU second of one core; the median of some rounds. ``search.policy`` is
an object with the methods of a policy, in the loop that moves all searches together; ``search.python`` one search at a
time, step by step. Both must arrive when the kernel's searches do. ``search.bayes`` has the vectors of a short solve.
A package (``peers``) searches from the same 64 starts (infotaxis: 16 of them), with a model of as many cells.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from measurement import run
from peers import SEARCHERS, measure_peers, write_world
from peers.world import Search

from whiffclock.agents.bayes import belief_heuristic, quasi_optimal, search_model
from whiffclock.agents.qlearning import Task, train
from whiffclock.environments import PAPER
from whiffclock.evaluation import evaluate
from whiffclock.params import EvaluationSettings, LearningSettings
from whiffclock.plume.builtin import builtin_plume
from whiffclock.policy import Policy
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.world.starts import make_starts, sample

EPISODES, BACKUPS, ROUNDS = 60_000, 2000, 5


class Clock(Policy):
    """A policy as a user would write it: what it remembers is the time since the last whiff."""

    def __init__(self, actions):
        self.actions = actions

    def begin(self, whiff):
        return np.where(whiff, 0, 1)

    def act(self, memory):
        return self.actions[np.minimum(memory, len(self.actions) - 1)]

    def observe(self, memory, action, whiff):
        return np.where(whiff, 0, memory + 1)


def one_by_one(task, actions, points):
    """A function that makes these searches in plain Python, and returns when they arrived."""
    with tempfile.TemporaryDirectory() as folder:
        write_world(Path(folder) / "world.npz", task, points)
        world = Search(Path(folder) / "world.npz")
    actions = actions.tolist()

    def arrival(start):
        state, _ = world.reset(options={"start": start})
        arrived = ended = False
        while not (arrived or ended):
            state, _, arrived, ended, _ = world.step(actions[state])
        return world.steps if arrived else 0

    return lambda: np.array([arrival(start) for start in points.tolist()])


def timed(work):
    """Median CPU seconds over some rounds after the first, and the result."""
    result, taken = work(), []
    for _ in range(ROUNDS):
        before = time.process_time()
        work()
        taken.append(time.process_time() - before)
    return float(np.median(taken)), result


def measure(add):
    plume, threshold = builtin_plume(), PAPER["sparse"]
    task = Task(plume, threshold, learning=LearningSettings.shortened(EPISODES))
    table = train(task)
    starts = make_starts(plume, threshold, task.world, EvaluationSettings(), task.learning.horizon)
    some = {count: sample(starts, count) for count in (1600, 160, 64)}
    some[64] = np.random.default_rng(0).permutation(some[64])  # their beginning is a sample as well

    def rate(name, policy, chosen):
        tested = starts.take(chosen)
        seconds, seen = timed(lambda: evaluate(policy, plume, threshold, starts=tested))
        add(f"search.{name}", len(tested) / seconds, "searches/s")
        add(f"search.{name}.arrived", seen.mean("f+"), "share")
        add(f"search.{name}.moves", seen.mode_steps.sum() / len(tested), "moves")
        return seconds, seen

    seconds, seen = rate("whiffclock", table, np.arange(len(starts)))
    add("search.whiffclock.step", 1e9 * seconds / seen.mode_steps.sum(), "ns")
    _, own = rate("policy", Clock(table.actions), np.arange(len(starts)))
    assert np.array_equal(own.arrival, seen.arrival), "the policy in Python searched differently"
    seconds, arrival = timed(one_by_one(task, table.actions, starts.points[some[160]]))
    assert np.array_equal(arrival, seen.arrival[some[160]]), "the loop in Python searched differently"
    add("search.python", len(arrival) / seconds, "searches/s")

    model = search_model(plume, threshold)
    solution = solve(model, SolverSettings(seconds=None, backups=BACKUPS))
    rate("bayes", quasi_optimal(model, solution.vectors), some[1600])
    add("search.bayes.vectors", len(solution.vectors.actions()), "vectors")
    rate("bayes.64_starts", quasi_optimal(model, solution.vectors), some[64])
    rate("infotaxis", belief_heuristic("infotaxis", model), some[64][:16])
    measure_peers(add, "search", SEARCHERS, task, starts.points[some[64]])


if __name__ == "__main__":
    run(measure, __doc__)
