"""Q-learning as one would write it in Python and in NumPy, bit for bit the same as the package's kernel.

Python is a plain loop on lists, with random numbers drawn in blocks. NumPy is many independent agents in lockstep, each
with its own Q-matrix and its own seed; the first has the task's.
"""

import time

import numpy as np

from whiffclock.world.moves import MOVES

AGENTS = 1000
GOLDEN = 0x9E3779B97F4A7C15


def first_counter(seed):
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def draw(counter):
    """SplitMix64 of counters uint64[n]."""
    z = (counter ^ (counter >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def words(seed, block=100_000):
    """Random words, one after the other."""
    counter = np.uint64(first_counter(seed)) + np.arange(1, block + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    while True:
        yield from draw(counter).tolist()
        counter += np.uint64(block * GOLDEN % 2**64)


def falling(start, end, decay, episode):
    return end + (start - end) * np.maximum((decay - episode - 1) / decay, 0.0)


def unpacked(task):
    """The whiffs bool[t, x, y], and the source region."""
    whiffs = task.plume.whiffs(task.threshold)
    return np.moveaxis(whiffs.record(slice(None)), 1, 0), *whiffs.source, int(task.world.radius**2)


def in_python(task):
    """CPU seconds, steps and Q-matrix of a training by a loop in plain Python."""
    whiffs, source_x, source_y, radius_squared = unpacked(task)
    snapshots, length, width = whiffs.shape
    whiffs, cells = whiffs.tolist(), task.plume.starts(task.threshold, task.world).tolist()
    first, row, next_node = (getattr(task.memory, name).tolist() for name in ("first", "row", "next_node"))
    learning, random, total = task.learning, words(task.seed), 0
    gamma, cost, q = learning.gamma, -(1 - learning.gamma), [[learning.q_start] * 4 for _ in range(task.memory.rows)]
    before = time.process_time()
    for episode in range(learning.episodes):
        alpha = float(falling(learning.alpha_start, learning.alpha_end, learning.alpha_decay, episode))
        epsilon = float(falling(learning.epsilon_start, learning.epsilon_end, learning.epsilon_decay, episode))
        explore_below = int(epsilon * 2**53)
        word = next(random)
        x, y = cells[(word >> 32) * len(cells) >> 32]
        t = (word & 0xFFFFFFFF) * snapshots >> 32
        node = first[0 <= x < length and 0 <= y < width and whiffs[t][x][y]]
        now = q[row[node]]
        for _ in range(learning.horizon):
            word = next(random)
            action = word & 3 if word >> 11 < explore_below else now.index(max(now))
            dx, dy = MOVES[action]
            x, y, t, total = x + dx, y + dy, (t + 1) % snapshots, total + 1
            arrived = (x - source_x) ** 2 + (y - source_y) ** 2 <= radius_squared
            node = next_node[node][0 <= x < length and 0 <= y < width and whiffs[t][x][y]]
            following = q[row[node]]
            target = 1.0 if arrived else cost + gamma * max(following)
            now[action] += alpha * (target - now[action])
            now = following
            if arrived:
                break
    return time.process_time() - before, total, np.array(q)


def in_numpy(task):
    """CPU seconds, steps, and Q-matrix of the first of many agents in lockstep, until its last episode ends."""
    whiffs, source_x, source_y, radius_squared = unpacked(task)
    snapshots, length, width = whiffs.shape
    whiffs = np.pad(whiffs, ((0, 0), (0, 1), (0, 1)))  # outside there are blanks
    cells, learning, memory = task.plume.starts(task.threshold, task.world), task.learning, task.memory
    moves, all_agents = np.array(MOVES), np.arange(AGENTS)
    q, own = np.full((AGENTS * memory.rows, 4), learning.q_start), all_agents * memory.rows
    counter = np.array([first_counter(task.seed + agent) for agent in all_agents], dtype=np.uint64)
    x, y, t, node, steps, episode = np.zeros((6, AGENTS), dtype=np.int64)
    alpha, explore_below = np.empty(AGENTS), np.empty(AGENTS, dtype=np.uint64)

    def smell(x, y, t):
        inside = (x >= 0) & (x < length) & (y >= 0) & (y < width)
        return whiffs[t, np.where(inside, x, length), np.where(inside, y, width)].astype(np.int8)

    def begin(who):
        counter[who] += np.uint64(GOLDEN)
        word = draw(counter[who])
        x[who], y[who] = cells[(word >> np.uint64(32)) * np.uint64(len(cells)) >> np.uint64(32)].T
        t[who] = (word & np.uint64(0xFFFFFFFF)) * np.uint64(snapshots) >> np.uint64(32)
        node[who], steps[who] = memory.first[smell(x[who], y[who], t[who])], 0
        alpha[who] = falling(learning.alpha_start, learning.alpha_end, learning.alpha_decay, episode[who])
        epsilon = falling(learning.epsilon_start, learning.epsilon_end, learning.epsilon_decay, episode[who])
        explore_below[who] = epsilon * 2**53

    before, rounds = time.process_time(), 0
    begin(all_agents)
    while episode[0] < learning.episodes:
        counter += np.uint64(GOLDEN)
        word = draw(counter)
        row = own + memory.row[node]
        explored = word >> np.uint64(11) < explore_below
        action = np.where(explored, (word & np.uint64(3)).astype(np.int64), q[row].argmax(axis=1))
        x, y, t = x + moves[action, 0], y + moves[action, 1], (t + 1) % snapshots
        arrived = (x - source_x) ** 2 + (y - source_y) ** 2 <= radius_squared
        node = memory.next_node[node, smell(x, y, t)]
        best = q[own + memory.row[node]].max(axis=1)
        target = np.where(arrived, 1.0, -(1 - learning.gamma) + learning.gamma * best)
        old = q[row, action]
        q[row, action] = old + alpha * (target - old)
        steps, rounds = steps + 1, rounds + 1
        ended = np.flatnonzero(arrived | (steps == learning.horizon))
        if len(ended):
            episode[ended] += 1
            begin(ended)
    return time.process_time() - before, AGENTS * rounds, q[: memory.rows]
