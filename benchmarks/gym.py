"""How fast are the environments of Gymnasium? Random moves in the built-in plume, in steps per CPU second of one core.

``gym.vector`` moves 4,096 searches with one call of ``step``; ``gym.loop`` does the same in a compiled loop without
Gymnasium, to which nothing is returned between the steps; ``gym.learning`` is the package's Q-learning.
``gym.single`` is one search, as it is made and without the wrappers around it. ``gym.by_hand`` is one search as one
would write it over the search loop of the package, and ``gym.cartpole`` the toy environment of Gymnasium itself,
vectorized with NumPy. They take turns; the median of some rounds counts.
"""

import time

import gymnasium
import numpy as np
from measurement import run
from numba import njit

import whiffclock  # noqa: F401  whose environments gymnasium.make knows
from whiffclock.agents.qlearning import Task, Training
from whiffclock.params import LearningSettings, WorldSettings
from whiffclock.plume.builtin import builtin_plume
from whiffclock.world.reward import move_reward
from whiffclock.world.searches import advance
from whiffclock.world.starts import draw_starts
from whiffclock.world.worlds import PlumeWorld

NAME, SEARCHES, STEPS, SINGLE_STEPS, ROUNDS = "whiffclock/Search-v0", 4096, 1000, 20_000, 5
EPISODES = 20_000
ALL = ["whiff", "clock", "last:4", "concentration", "position"]


class ByHand(gymnasium.Env):
    """One search over the search loop's world."""

    def __init__(self, plume, threshold, horizon=500, gamma=0.998):
        self.place = plume, threshold, plume.settle(WorldSettings()), 1, horizon
        self.horizon, self.gamma, self.record = horizon, gamma, plume.whiffs(threshold).world(WorldSettings())
        self.observation_space, self.action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.world, self.moves = PlumeWorld(self.record, draw_starts(*self.place, self.np_random)), 0
        return int(self.world.begin()[0]), {}

    def step(self, action):
        arrived, whiff = self.world.step(np.array([action]))
        self.moves += 1
        terminated = bool(arrived[0])
        truncated = self.moves == self.horizon and not terminated
        return int(whiff[0]), float(move_reward(arrived, self.gamma)[0]), terminated, truncated, {}


def moved(envs, actions):
    """Work that steps a vector environment."""
    envs.reset(seed=0)

    def work():
        for action in actions:
            envs.step(action)
        return actions.size

    return work


def moved_alone(env, actions):
    """Work that steps one environment, and resets it whenever an episode ends."""
    env.reset(seed=0)
    listed = actions.tolist()

    def work():
        for action in listed:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(listed)

    return work


@njit(nogil=True)
def many(state, earned, actions, reward, ends):
    for i in range(actions.shape[0]):
        advance(*state, earned, actions[i], reward, ends)


def looped(batch, actions):
    """Work that steps the same searches without Gymnasium."""
    everyone = np.ones(SEARCHES, dtype=bool)
    batch.seed(np.random.default_rng(0), everyone)
    batch.begin(everyone)
    arrays = batch._all, batch._earned, actions, np.empty(SEARCHES), np.empty((2, SEARCHES), dtype=bool)

    def work():
        many(*arrays)
        return actions.size

    return work


def learned(plume):
    """Work of the kernel that moves and learns."""
    learning = LearningSettings.shortened(EPISODES)

    def work():
        training = Training(Task(plume, plume.environments["sparse"], learning=learning))
        training.advance(EPISODES)
        return training.steps

    return work


def measure(add):
    plume, rng = builtin_plume(), np.random.default_rng(0)
    actions, pushes = (rng.integers(n, size=(STEPS, SEARCHES)) for n in (4, 2))
    few, few_pushes = actions.ravel()[:SINGLE_STEPS], pushes.ravel()[:SINGLE_STEPS]

    def searches(**settings):
        return gymnasium.make_vec(NAME, SEARCHES, plume=plume, **settings)

    single = gymnasium.make(NAME, plume=plume)
    works = {
        "vector": moved(searches(), actions),
        "vector.same_step": moved(searches(autoreset_mode="SameStep"), actions),
        "vector.five_kinds": moved(searches(observation=ALL), actions),
        "learning": learned(plume),
        "loop": looped(searches()._batch, actions),
        "cartpole": moved(gymnasium.make_vec("CartPole-v1", SEARCHES), pushes),
        "single": moved_alone(single.unwrapped, few),
        "single.made": moved_alone(single, few),
        "by_hand": moved_alone(ByHand(plume, plume.environments["sparse"]), few),
        "cartpole.single": moved_alone(gymnasium.make("CartPole-v1").unwrapped, few_pushes),
    }
    rates = {name: [] for name in works}
    for rounds in range(ROUNDS + 1):
        for name, work in works.items():
            before = time.process_time()
            done = work()
            if rounds:  # the first compiles
                rates[name].append(done / (time.process_time() - before))
    for name, found in rates.items():
        add(f"gym.{name}", float(np.median(found)), "steps/s")


if __name__ == "__main__":
    run(measure, __doc__)
