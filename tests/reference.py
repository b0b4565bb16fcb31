"""The system in plain Python, slow and obvious, to be read beside the paper's Methods.

Nothing here is shared with the package: no packed whiffs, no finite-state machine, no cached greedy
actions, no wrapping integers. The kernels must agree with it bit for bit.
"""

import math
from dataclasses import dataclass, field

MOVES = [(-1, 0), (0, 1), (0, -1), (1, 0)]  # upwind, +y, -y, downwind
MASK = 2**64 - 1


class Random:
    """SplitMix64 in unbounded integers."""

    def __init__(self, counter):
        self.counter = counter

    def word(self):
        self.counter = (self.counter + 0x9E3779B97F4A7C15) & MASK
        z = self.counter
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


@dataclass
class World:
    """``odor[t][x][y]`` says whether there is a whiff."""

    odor: list
    source: tuple
    radius: float

    def smell(self, x, y, t):
        snapshots, length, width = len(self.odor), len(self.odor[0]), len(self.odor[0][0])
        return bool(0 <= x < length and 0 <= y < width and self.odor[t % snapshots][x][y])

    def at_source(self, x, y):
        return (x - self.source[0]) ** 2 + (y - self.source[1]) ** 2 <= self.radius**2


@dataclass
class Memory:
    """The equations of the Methods, with the length of the blank kept apart from the state (R5)."""

    horizon: int
    taus: tuple = ()
    split_zero: bool = False
    literal_tau: bool = False
    mode: int = 0
    blank: int = 0

    def begin(self, whiff):
        self.mode = len(self.taus)  # the sparsest
        self.blank = 0 if whiff else 1

    def observe(self, whiff):
        if whiff:
            ended = self.state() if self.literal_tau and self.blank > 0 else self.blank
            self.mode = sum(ended >= tau for tau in self.taus)
            self.blank = 0
        else:
            self.blank += 1

    def clock(self):
        return min(self.blank, self.horizon - 1)

    def state(self):
        """Row of the Q-matrix."""
        if self.split_zero:
            return self.mode * self.horizon + self.clock()
        if self.clock() == 0:
            return 0
        return self.mode * (self.horizon - 1) + self.clock()


@dataclass
class Records:
    returns: list = field(default_factory=list)
    usage: list = field(default_factory=list)
    clock_readings: list = field(default_factory=list)
    blanks: list = field(default_factory=list)


def first_best(values):
    """Of equals, the first."""
    return values.index(max(values))


def schedule(start, end, decay, episode):
    return end + (start - end) * max((decay - episode - 1) / decay, 0.0)


def q_learning(world, memory, learning, cells, counter, *, start_on_whiff=False, snapshots=None):
    """Q-matrix, final counter and records after ``learning.episodes`` episodes."""
    random = Random(counter)
    modes = len(memory.taus) + 1
    rows = modes * memory.horizon if memory.split_zero else modes * (memory.horizon - 1) + 1
    q = [[learning.q_start] * 4 for _ in range(rows)]
    records = Records(usage=[0] * modes)
    snapshots = snapshots or len(world.odor)
    gamma = learning.gamma
    for episode in range(learning.episodes):
        alpha = schedule(learning.alpha_start, learning.alpha_end, learning.alpha_decay, episode)
        epsilon = schedule(learning.epsilon_start, learning.epsilon_end, learning.epsilon_decay, episode)
        recording = episode >= learning.episodes - learning.record_last

        word = random.word()
        x, y = cells[((word >> 32) * len(cells)) >> 32]
        t = ((word & 0xFFFFFFFF) * snapshots) >> 32
        while start_on_whiff and not world.smell(x, y, t):
            t = ((random.word() >> 32) * snapshots) >> 32
        memory.begin(world.smell(x, y, t))
        since_whiff = world.smell(x, y, t)  # has there been a whiff in this episode?

        steps, arrived, path = 0, False, []
        while steps < memory.horizon and not arrived:
            state = memory.state()
            records.usage[memory.mode] += 1
            if recording and memory.blank > 0:
                records.clock_readings.append((memory.mode, memory.clock()))
            word = random.word()
            explore = (word >> 11) < int(epsilon * 2**53)
            action = word & 3 if explore else first_best(q[state])
            x, y, t = x + MOVES[action][0], y + MOVES[action][1], t + 1
            steps += 1
            arrived = world.at_source(x, y)
            if arrived:
                target = 1.0
            else:
                whiff = world.smell(x, y, t)
                if whiff and recording and since_whiff and memory.blank > 0:
                    records.blanks.append((memory.mode, memory.blank))
                since_whiff = since_whiff or whiff
                memory.observe(whiff)
                target = -(1.0 - gamma) + gamma * max(q[memory.state()])
                if steps == memory.horizon and not learning.bootstrap_at_horizon:
                    target = -(1.0 - gamma)
            path.append((state, action))
            if not learning.trace:
                q[state][action] += alpha * (target - q[state][action])
        for state, action in reversed(path if learning.trace else []):
            q[state][action] += alpha * (target - q[state][action])
            mixed = (1.0 - learning.trace) * max(q[state]) + learning.trace * target
            target = -(1.0 - gamma) + gamma * mixed
        records.returns.append((steps, arrived))
    return q, random.counter, records


def search(world, memory, actions, start, horizon):
    """One search with fixed actions: arrival step or 0, last whiff, decisions per mode, positions."""
    x, y, t = start
    whiff = world.smell(x, y, t)
    memory.begin(whiff)
    last_whiff = (x, y, 0) if whiff else None
    per_mode = [0] * (len(memory.taus) + 1)
    visited = []
    for steps in range(1, horizon + 1):
        per_mode[memory.mode] += 1
        visited.append((memory.mode, x, y))
        move = MOVES[actions[memory.state()]]
        x, y, t = x + move[0], y + move[1], t + 1
        if world.at_source(x, y):
            return steps, last_whiff, per_mode, visited
        whiff = world.smell(x, y, t)
        if whiff:
            last_whiff = (x, y, steps)
        memory.observe(whiff)
    return 0, last_whiff, per_mode, visited


@dataclass
class Believer:
    """The Bayesian agent: a list of (position relative to the source, weight), and vectors that choose.

    ``chance[x][y]`` is the probability of a whiff on the relative grid, with the source at ``middle``;
    ``vectors`` are pairs of an action and values on the same grid. A position may be listed twice. ``margin`` is
    the least lead that a chosen vector has had over those of other actions. Where whiffs depend on the observation
    before, ``conditional[action][before]`` is their probability after a move, in place of ``chance``.
    """

    chance: list
    middle: tuple
    radius: float
    vectors: list
    initial: list
    forgotten: float = 1e-9
    negligible: float = 1e-3
    belief: list = field(default_factory=list)
    margin: float = math.inf
    conditional: list | None = None
    before: int = 0

    def begin(self, whiff):
        self.belief = self.corrected(self.initial, whiff, self.chance)
        self.before = int(whiff)

    def corrected(self, belief, whiff, chance):
        weighed = [(x, y, p * (chance[x][y] if whiff else 1 - chance[x][y])) for x, y, p in belief]
        return self.without_the_least(weighed, 0.0)

    def without_the_least(self, belief, share):
        top = max((p for _, _, p in belief), default=0)
        kept = [(x, y, p) for x, y, p in belief if p > share * top]
        total = sum(p for _, _, p in kept)
        return [(x, y, p / total) for x, y, p in kept]

    def act(self):
        belief = self.without_the_least(self.belief, self.negligible)
        values = [sum(p * values[x][y] for x, y, p in belief) for _, values in self.vectors]
        chosen = first_best(values)
        action = self.vectors[chosen][0]
        others = [value for value, (other, _) in zip(values, self.vectors, strict=True) if other != action]
        self.margin = min(self.margin, values[chosen] - max(others, default=-math.inf))
        return action

    def observe(self, action, whiff):
        """Move, take out what has arrived, correct (R15, R16)."""
        moved = []
        for x, y, p in self.belief:
            x = min(max(x + MOVES[action][0], 0), len(self.chance) - 1)
            y = min(max(y + MOVES[action][1], 0), len(self.chance[0]) - 1)
            if (x - self.middle[0]) ** 2 + (y - self.middle[1]) ** 2 > self.radius**2:
                moved.append((x, y, p))
        chance = self.conditional[action][self.before] if self.conditional else self.chance
        self.belief = self.without_the_least(self.corrected(moved, whiff, chance), self.forgotten)
        self.before = int(whiff)


def conditional_chances(whiffs, prior):
    """``[action][before][x][y]`` from ``whiffs[t][x][y]``: the share of whiffs among snapshots, counted one by one."""
    snapshots, length, width = len(whiffs), len(whiffs[0]), len(whiffs[0][0])
    out = []
    for dx, dy in MOVES:
        grids = [[[0.0] * width for _ in range(length)] for _ in (0, 1)]
        for x in range(length):
            for y in range(width):
                own = sum(whiffs[t][x][y] for t in range(snapshots)) / snapshots
                counts = [[prior * own, prior], [prior * own, prior]]
                for t in range(1, snapshots):
                    on_grid = 0 <= x - dx < length and 0 <= y - dy < width
                    before = int(on_grid and whiffs[t - 1][x - dx][y - dy])
                    counts[before][0] += whiffs[t][x][y]
                    counts[before][1] += 1
                for before in (0, 1):
                    grids[before][x][y] = counts[before][0] / counts[before][1]
        out.append(grids)
    return out


def believing_search(world, agent, start, horizon):
    """One search of a believer: arrival step or 0, last whiff, positions."""
    x, y, t = start
    whiff = world.smell(x, y, t)
    agent.begin(whiff)
    last_whiff = (x, y, 0) if whiff else None
    visited = []
    for steps in range(1, horizon + 1):
        visited.append((x, y))
        action = agent.act()
        x, y, t = x + MOVES[action][0], y + MOVES[action][1], t + 1
        if world.at_source(x, y):
            return steps, last_whiff, visited
        whiff = world.smell(x, y, t)
        if whiff:
            last_whiff = (x, y, steps)
        agent.observe(action, whiff)
    return 0, last_whiff, visited
