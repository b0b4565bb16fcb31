"""table-rl: its Q-learner on the search."""

import sys

from table_rl.explorers import ConstantEpsilonGreedy
from table_rl.learners import QLearning
from table_rl.step_size_schedulers.basic_step_size_schedulers import ConstantStepSize
from world import gymnasium_search, report

STEPS = 20_000


def learn():
    env = gymnasium_search(sys.argv[1])
    agent = QLearning(env.states, 4, ConstantStepSize(0.1), ConstantEpsilonGreedy(0.4, 4), env.gamma, -1.0)
    state, _ = env.reset()
    for _ in range(STEPS):
        state, reward, terminated, truncated, _ = env.step(agent.act(state, True))
        agent.observe(state, reward, terminated, truncated, training_mode=True)
        if terminated or truncated:
            state, _ = env.reset()
    return STEPS


report("table-rl", learn)
