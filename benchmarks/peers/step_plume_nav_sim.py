"""plume-nav-sim: random steps in its own environment, of the same size; it has no learner."""

import numpy as np
import plume_nav_sim
from world import report

STEPS = 20_000


def walk():
    env = plume_nav_sim.make_env(grid_size=(123, 27), source_location=(0, 13))
    env.reset(seed=0)
    for action in np.random.default_rng(0).integers(0, env.action_space.n, STEPS).tolist():
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return STEPS


report("plume-nav-sim", walk)
