"""A belief policy in the world that it believes in: independent whiffs, drawn from the likelihoods.

There the value of a policy can be held against the bounds of the solver. In a plume it will differ: whiffs
come in bursts.
"""

from __future__ import annotations

import numpy as np

from whiffclock.agents.bayes import BeliefPolicy


def discounted_rewards(policy: BeliefPolicy, steps: int = 500, seed: int = 0, repeats: int = 1) -> np.ndarray:
    """Discounted reward of searches from every cell of the initial belief, each ``repeats`` times.

    As in the solver's model, there is no observation before the first move. Where the initial belief is uniform,
    the mean is the value of the policy.
    """
    model = policy.model
    rng = np.random.default_rng(seed)
    cell = np.repeat(model.root().cells, repeats).astype(np.int64)
    search = np.arange(len(cell))
    reward = np.zeros(len(cell))
    memory = policy.unobserved(len(cell))
    for step in range(steps):
        action = policy.act(memory)
        cell = model.successor[cell, action].astype(np.int64)
        arrived = cell < 0
        if arrived.any():
            reward[search[arrived]] = model.discount**step
            on = ~arrived
            search, cell, action = search[on], cell[on], action[on]
            memory = policy.select(memory, np.flatnonzero(on))
        if not len(search):
            break
        drawn = rng.random(len(search))
        observation = (drawn[:, None] > np.cumsum(model.chances[:, cell], axis=0)[:-1].T).sum(axis=1)
        memory = policy.observe(memory, action, observation)
    return reward
