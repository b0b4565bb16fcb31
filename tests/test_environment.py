"""A Gymnasium environment over the rooms of the world: starts, worlds, reward. It searches as the kernel does."""

import numpy as np
import pytest

from whiffclock.agents.qlearning import Task, Training
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.policy import TablePolicy
from whiffclock.world import reward
from whiffclock.world.episode import discounted_reward, rollout
from whiffclock.world.starts import draw_starts, make_starts
from whiffclock.world.worlds import PlumeWorld


class SearchEnv:
    """Many searches side by side, as a vector environment; observations are whiffs."""

    def __init__(self, plume, threshold, world, horizon=500, gamma=0.998, searches=1):
        self.plume, self.threshold, self.settings = plume, threshold, world
        self.horizon, self.gamma, self.searches = horizon, gamma, searches
        self.record = plume.whiffs(threshold).world(world)
        self.rng = np.random.default_rng()

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        points = (options or {}).get("starts")
        if points is None:
            drawn = self.plume, self.threshold, self.settings, self.searches, self.horizon
            points = draw_starts(*drawn, self.rng)
        self.world, self.moves = PlumeWorld(self.record, points), 0
        self.over = np.zeros(len(points), dtype=bool)
        return self.world.begin(), self._info()

    def step(self, action):
        terminated, whiff = self.world.step(np.asarray(action))
        self.moves += 1
        gained = np.where(self.over, 0.0, reward.move_reward(terminated, self.gamma))
        terminated &= ~self.over
        self.over |= terminated
        truncated = ~self.over & (self.moves >= self.horizon)
        return whiff, gained, terminated, truncated, self._info()

    def _info(self):
        return {"position": self.world.position}


@pytest.mark.parametrize("on_whiff", [False, True])
def test_an_environment_searches_as_the_kernel_does(plume, on_whiff):
    world, horizon, gamma = WorldSettings(start_on_whiff=on_whiff), 60, 0.98
    memory = clock(40, (4,))
    policy = TablePolicy("random", memory, np.random.default_rng(1).choice([0, 0, 1, 2, 3], memory.rows))
    points = make_starts(plume, 3e-6, world, EvaluationSettings(snapshots=2), horizon).points
    n = len(points)
    kept = [np.zeros(shape, dtype=np.int32) for shape in (n, (n, 3), (n, 2))]
    record = plume.whiffs(3e-6).world(world)
    rollout(record, memory.tables, policy.actions, points, horizon, *kept, np.zeros((2, 40, 27), np.int64))

    env = SearchEnv(plume, 3e-6, world, horizon, gamma)
    whiff, info = env.reset(options={"starts": points})
    assert np.array_equal(info["position"], points)
    state, arrival, total = policy.begin(whiff), np.zeros(n, int), np.zeros(n)
    for step in range(1, horizon + 1):
        action = policy.act(state)
        whiff, gained, terminated, truncated, _ = env.step(action)
        arrival[terminated] = step
        total += gamma ** (step - 1) * gained
        state = policy.observe(state, action, whiff)
        assert not truncated.any() or step == horizon
    assert np.array_equal(arrival, kept[0])
    assert 0 < (arrival > 0).sum() < n
    assert np.array_equal(truncated, arrival == 0)
    assert total == pytest.approx(reward.discounted_reward(arrival, horizon, gamma), abs=1e-12)


def test_random_starts_follow_the_seed(plume):
    env = SearchEnv(plume, 3e-6, WorldSettings(start_on_whiff=True), searches=50)
    whiff, first = env.reset(seed=3)
    assert whiff.all()
    assert np.array_equal(env.reset(seed=3)[1]["position"], first["position"])
    assert not np.array_equal(env.reset()[1]["position"], first["position"])


@pytest.mark.parametrize("gamma", [0.5, 0.98, 0.998])
def test_the_reward_is_its_definition_in_the_kernel_too(gamma):
    """Sums of the reward of each move: by the functions of the world, by the kernel of Q-learning."""
    horizon, steps = 40, np.arange(1, 41)
    for arrived in (True, False):
        moves = [reward.move_reward(np.arange(n) == (n - 1 if arrived else -1), gamma) for n in steps]
        discounted = [float(np.sum(one * gamma ** np.arange(len(one)))) for one in moves]
        assert [discounted_reward(gamma, int(n), arrived) for n in steps] == pytest.approx(discounted, abs=1e-12)
        arrival, most = (steps, horizon) if arrived else (np.zeros(1, int), horizon)
        expected = discounted if arrived else discounted[-1:]
        assert reward.discounted_reward(arrival, most, gamma) == pytest.approx(expected, abs=1e-12)
        summed = [float(one.sum()) for one in moves]
        assert reward.summed_reward(arrival, most, gamma) == pytest.approx(summed if arrived else summed[-1:])
    alone = reward.arrival_reward(steps, gamma)
    assert 2 * alone - 1 == pytest.approx(reward.discounted_reward(steps, horizon, gamma))


def test_a_learning_step_has_the_reward_of_the_move(plume):
    """With a learning rate of 1, one move, and nothing to come, what is learned is the reward."""
    rates = {"alpha_start": 1.0, "alpha_end": 1.0, "gamma": 0.9, "q_start": 0.0, "bootstrap_at_horizon": False}
    learning = LearningSettings.shortened(1, horizon=1, **rates)
    found = set()
    for seed in range(200):
        training = Training(Task(plume, 3e-6, clock(2), learning, WorldSettings(radius=10), seed))
        training.advance(1)
        (learned,) = training.q[training.q != 0]
        arrived = bool(training.policy().curve()["f+"][0])
        assert learned == float(reward.move_reward(np.array(arrived), 0.9))
        found.add(arrived)
    assert found == {True, False}
