"""The search as an environment in the style of Gymnasium, for the learners of others.

A state is a row of the Q-matrix. The world comes from a file of arrays, which ``peers.write_world`` writes.
"""

import time

import numpy as np

MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0))
ROUNDS = 5


class Search:
    """One searcher in the record of a plume."""

    def __init__(self, path):
        file = np.load(path)
        self.whiffs = file["whiffs"]  # bool[t, x, y]
        self.cells, self.next_node, self.row, self.first = (
            file[name].tolist() for name in ("cells", "next_node", "row", "first")
        )
        self.source_x, self.source_y, self.radius_squared, self.horizon = file["source"].tolist()
        self.gamma = float(file["gamma"])
        self.states = max(self.row) + 1
        self.rng = np.random.default_rng(0)
        self.steps = self.all_steps = 0

    def smell(self):
        snapshots, length, width = self.whiffs.shape
        inside = 0 <= self.x < length and 0 <= self.y < width
        return int(inside and self.whiffs[self.t % snapshots, self.x, self.y])

    def reset(self, *, seed=None, options=None):
        """A new search, from ``options["start"]`` or a random cell and snapshot."""
        start = (options or {}).get("start")
        if start is None:
            start = *self.cells[self.rng.integers(len(self.cells))], self.rng.integers(len(self.whiffs))
        self.x, self.y, self.t = start
        self.all_steps, self.steps = self.all_steps + self.steps, 0
        self.node = self.first[self.smell()]
        return self.row[self.node], {}

    def step(self, action):
        """State, reward, at the source, at the horizon, nothing."""
        dx, dy = MOVES[action]
        self.x, self.y, self.t, self.steps = self.x + dx, self.y + dy, self.t + 1, self.steps + 1
        arrived = (self.x - self.source_x) ** 2 + (self.y - self.source_y) ** 2 <= self.radius_squared
        self.node = self.next_node[self.node][self.smell()]
        reward = 1.0 if arrived else self.gamma - 1
        return self.row[self.node], reward, arrived, self.steps >= self.horizon, {}


def gymnasium_search(path):
    """The search as an environment of Gymnasium itself."""
    import gymnasium

    class GymnasiumSearch(Search, gymnasium.Env):
        def __init__(self):
            super().__init__(path)
            self.action_space = gymnasium.spaces.Discrete(len(MOVES))
            self.observation_space = gymnasium.spaces.Discrete(self.states)

    return GymnasiumSearch()


def report(name, run, unit="steps/s"):
    """Print the median rate of some rounds; ``run`` returns how much it did."""
    rates = []
    for _ in range(ROUNDS):
        before = time.process_time()
        done = run()
        rates.append(done / (time.process_time() - before))
    print(name, np.median(rates), unit, flush=True)
