"""The loop of many tutorials: an environment of Gymnasium, a Q-matrix in numpy, one step at a time."""

import sys

import numpy as np
from world import gymnasium_search, report

EPISODES = 100


def learn():
    env, rng = gymnasium_search(sys.argv[1]), np.random.default_rng(0)
    q = np.full((env.observation_space.n, env.action_space.n), -1.0)
    for episode in range(EPISODES):
        left = max(1 - (episode + 1) / (EPISODES * 5 / 6), 0)
        alpha, epsilon = 0.1 * left + 1e-4, left + 1e-4
        state, _ = env.reset()
        done = False
        while not done:
            action = int(rng.integers(env.action_space.n)) if rng.random() < epsilon else int(np.argmax(q[state]))
            after, reward, terminated, truncated, _ = env.step(action)
            target = reward + (0 if terminated else env.gamma * np.max(q[after]))
            q[state, action] += alpha * (target - q[state, action])
            state, done = after, terminated or truncated
    env.reset()
    return env.all_steps


report("gymnasium", learn)
