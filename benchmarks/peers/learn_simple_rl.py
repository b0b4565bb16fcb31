"""simple-rl: its Q-learner on the search."""

import sys

from simple_rl.agents import QLearningAgent
from world import Search, report

STEPS = 20_000


def learn():
    env = Search(sys.argv[1])
    agent = QLearningAgent(list(range(4)), alpha=0.1, gamma=env.gamma, epsilon=0.4)
    state, _ = env.reset()
    reward = 0.0
    for _ in range(STEPS):
        state, reward, terminated, truncated, _ = env.step(agent.act(state, reward))
        if terminated or truncated:
            agent.act(state, reward)
            agent.end_of_episode()
            state, _ = env.reset()
    return STEPS


report("simple-rl", learn)
