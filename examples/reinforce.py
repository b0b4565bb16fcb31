"""REINFORCE on the clock in plain NumPy: ``python examples/reinforce.py``.

The policy is a softmax over four moves for each of 500 readings of the clock: the program of a single-Q agent of the
paper, but its moves are drawn. About a thousand searches go on at the same time in the vector environment. For each
reading and move, the mean of the discounted rewards that followed, less that for the reading (the baseline), is added
to its preference. Rewards after the end of a rollout are estimated by the baseline. The learned policy always takes the
most probable move.
"""

import argparse
import time

import gymnasium
import numpy as np

import whiffclock as wc

STATES, SEARCHES, STEPS, GAMMA = 500, 1024, 256, 0.998


def rollout(envs, observed, fresh, chances, rng):
    """Some steps of all searches: readings, moves, rewards, ends [step, search], and the last observation.

    In the step after its end a search only begins again; ``fresh`` marks such steps.
    """
    record = []
    cumulative = chances.cumsum(axis=1)[:, :-1]
    for _ in range(STEPS):
        action = (rng.random((SEARCHES, 1)) > cumulative[observed]).sum(axis=1)
        following, reward, terminated, truncated, _ = envs.step(action)
        record.append((observed, action, reward, terminated, truncated, fresh, following))
        observed, fresh = following, terminated | truncated
    return [np.array(part) for part in zip(*record, strict=True)], observed, fresh


def returns(reward, terminated, truncated, following, value):
    """Discounted sum of rewards from each step on; after the last one, and beyond a truncation, the baseline."""
    total, found = value[following[-1]], np.empty_like(reward)
    for step in range(len(reward) - 1, -1, -1):
        beyond = np.where(truncated[step], value[following[step]], total)
        found[step] = total = reward[step] + GAMMA * np.where(terminated[step], 0.0, beyond)
    return found


def mean_by(index, values, size):
    """Mean of the values with each index, and their number."""
    count = np.bincount(index, minlength=size)
    return np.bincount(index, weights=values, minlength=size) / np.maximum(count, 1), count


def learn(plume, threshold, seconds, seed=0, rate=20.0):
    """Preferences float[reading, move] after some seconds of learning."""
    clock = f"clock:{STATES}"
    envs = gymnasium.make_vec(
        "whiffclock/Search-v0", SEARCHES, plume=plume, threshold=threshold, observation=clock, gamma=GAMMA
    )
    rng = np.random.default_rng(seed)
    preference, value = np.zeros((STATES, len(wc.ACTIONS))), np.zeros(STATES)
    observed, _ = envs.reset(seed=seed)
    fresh, began, rounds = np.zeros(SEARCHES, dtype=bool), time.monotonic(), 0
    while time.monotonic() - began < seconds:
        chances = np.exp(preference - preference.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        record, observed, fresh = rollout(envs, observed, fresh, chances, rng)
        reading, action, reward, terminated, truncated, begun, following = record
        real = ~begun
        gained = returns(reward, terminated, truncated, following, value)[real]
        baseline, seen = mean_by(reading[real], gained, STATES)
        value = np.where(seen > 0, value + 0.2 * (baseline - value), value)
        pairs = reading[real] * len(wc.ACTIONS) + action[real]
        advantage, count = mean_by(pairs, gained - value[reading[real]], preference.size)
        certain = count / (count + 50)  # a mean of few rewards counts less
        preference += rate * (certain * advantage).reshape(preference.shape)
        rounds += 1
        if rounds % 50 == 0:
            arrived, ended = terminated.sum(), (terminated | truncated).sum()
            print(f"{time.monotonic() - began:4.0f} s: {rounds * STEPS * SEARCHES / 1e6:.0f} million steps, "
                  f"{arrived / max(1, ended):.2f} of the searches arrive")  # fmt: skip
    return preference


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="of learning")
    parser.add_argument("--threshold", default="sparse")
    given = parser.parse_args()
    plume = wc.builtin_plume()
    preference = learn(plume, given.threshold, given.seconds)
    learned = wc.from_function(lambda reading: int(preference[reading].argmax()), STATES, "REINFORCE")
    single = wc.train(plume, given.threshold, episodes=300_000)
    searched = wc.shipped(f"clock-{given.threshold}")
    agents = {"REINFORCE": learned, "single-Q, 300,000 episodes": single, "searched clock": searched}
    print(wc.compare(agents, plume, given.threshold))
    print("moves after a whiff:", learned.program()[:8])


if __name__ == "__main__":
    main()
