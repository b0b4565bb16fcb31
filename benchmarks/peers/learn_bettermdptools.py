"""bettermdptools: its Q-learner on the search."""

import sys

from bettermdptools.algorithms.rl import RL
from world import gymnasium_search, report

EPISODES = 50


def learn():
    env = gymnasium_search(sys.argv[1])
    RL(env).q_learning(gamma=env.gamma, init_alpha=0.1, min_alpha=1e-4, min_epsilon=1e-4, n_episodes=EPISODES)
    env.reset()
    return env.all_steps


report("bettermdptools", learn)
