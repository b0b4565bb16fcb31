"""Histories, agents and made-up recoveries for the tests of assays."""

import numpy as np

from whiffclock.assays.playing import Sample
from whiffclock.policy import TablePolicy

DENSE_SPARSE = {"blank": 40, "histories": {"dense": "5(W B) W", "sparse": "W B30 W", "one": "W"}}


def random_policy(memory, seed=0):
    return TablePolicy("random", memory, np.random.default_rng(seed).integers(0, 4, memory.rows))


def made_up(seed, sizes=(3, 5, 2), trials=3, crossed=False, effect=1.0, moves=6, own=1.0):
    """Paths with an effect of the condition, one of the individual, and one of the trial."""
    rng = np.random.default_rng(seed)
    paths, condition, individual = [], [], []
    shift = effect * rng.normal(size=(len(sizes), moves + 1, 2))
    people = own * rng.normal(size=(max(sizes) if crossed else sum(sizes), moves + 1, 2))
    for i, size in enumerate(sizes):
        for j in range(size):
            who = j if crossed else sum(sizes[:i]) + j
            for _ in range(trials):
                paths.append(shift[i] + people[who] + rng.normal(size=(moves + 1, 2)))
                condition.append(i)
                individual.append(who)
    names = tuple("abcdefgh"[: len(sizes)])
    return Sample("made up", np.array(paths), np.array(condition), np.array(individual), names)
