"""Tabular Q-learning on a finite-state memory (paper, "Training procedure").

.. math:: Q(s_t, a_t) \\leftarrow Q(s_t, a_t) + \\alpha_k (r_t + \\gamma \\max_a Q(s_{t+1}, a) - Q(s_t, a_t))

with reward 1 for the move that enters the source region and -(1 - gamma) for any other. That move ends the episode, and
its target does not bootstrap; the target of the last move of an episode that is cut after H steps does (R8). Learning
rate and exploration fall linearly with the episode k. Ties go to the first of upwind, +y, -y, downwind, or in another
order (R9). The agent's matrix is the last one, or the best of the late ones (R17, :func:`best_late`).

Beyond the paper, a ``trace`` :math:`\\lambda > 0` replaces the target by the lambda-return (Peng & Williams 1996), for
which an episode is learned from its end to its beginning:

.. math:: R_t = r_t + \\gamma ((1 - \\lambda) \\max_a Q(s_{t+1}, a) + \\lambda R_{t+1})
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.memory import Memory, clock
from whiffclock.params import LearningSettings, WorldSettings, require, require_range
from whiffclock.plume import Plume
from whiffclock.policy import TablePolicy
from whiffclock.world.episode import BLOCK, CLOCK_RECORD, CURVE, PART, LearningParams, learn
from whiffclock.world.moves import ACTIONS, N_ACTIONS
from whiffclock.world.starts import start_cells, start_snapshots

#: Late matrices from which the best is kept, at equal distances over the last part, 1 / _LATE_PART, of the episodes.
LATE, _LATE_PART = 10, 6


@dataclass(frozen=True)
class Task:
    """One training: everything that determines its result."""

    plume: Plume
    threshold: float
    memory: Memory = field(default_factory=clock)
    learning: LearningSettings = field(default_factory=LearningSettings)
    world: WorldSettings = field(default_factory=WorldSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.seed >= 0, f"The seed is {self.seed}; it must be 0 or more.")
        require_range("The seed", self.seed)
        object.__setattr__(self, "world", self.plume.settle(self.world))

    def describe(self) -> dict[str, Any]:
        """Everything that determines the result, in plain values."""
        return {
            "plume": self.plume.fingerprint,
            "origin": self.plume.origin,
            "threshold": self.threshold,
            "environment": self.plume.environments.name_of(self.threshold),
            "learning": self.learning.to_dict(),
            "world": self.world.to_dict(),
            "seed": self.seed,
            "version": __version__,
        }


class Training:
    """A training in progress; it can be advanced in parts, with the same result as in one call.

    Its arrays are those of :func:`~whiffclock.world.episode.learn`.
    """

    def __init__(self, task: Task) -> None:
        whiffs = task.plume.whiffs(task.threshold)
        learning = task.learning
        self.task = task
        self.episode = 0
        self.q = start_matrix(task.memory.rows, learning)
        self._best = np.empty(task.memory.rows + N_ACTIONS, dtype=np.int64)
        self._top = np.empty(task.memory.rows)
        self._explored = np.empty(BLOCK, dtype=np.uint64)
        self._path = np.empty(learning.horizon, dtype=np.uint64) if learning.trace else None
        self.world = whiffs.world(task.world)
        self.cells = start_cells(task.plume, task.threshold, task.world, learning.horizon)
        self.params = learning_params(task, whiffs.shape[0])
        self.counters = np.random.SeedSequence(task.seed).generate_state(1, np.uint64)
        points = -(-learning.episodes // self.params.curve_every)
        self.curve = np.zeros((points, len(CURVE)))
        self.usage = np.zeros(task.memory.modes, dtype=np.int64)
        self._clock_record = np.zeros((task.memory.modes, len(CLOCK_RECORD)), dtype=np.int64)
        self._checkpoints = checkpoints(learning.episodes) if learning.keep == "best" else []
        self._late: list[tuple[int, float, np.ndarray]] = []  # episode, arrivals so far, Q-matrix

    @property
    def done(self) -> bool:
        """Whether all episodes have been played."""
        return self.episode >= self.task.learning.episodes

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return int(self.curve[:, CURVE.index("steps")].sum())

    def advance(self, episodes: int) -> int:
        """Play up to ``episodes`` more episodes; return how many were played."""
        learning, before = self.task.learning, self.episode
        last = min(before + episodes, learning.episodes)
        record_from = learning.episodes - learning.record_last
        for end in (*(late for late in self._checkpoints if before < late < last), last):
            self._learn(min(end, record_from), None)
            self._learn(end, self._clock_record)
            if end > before and end in self._checkpoints:
                self._late.append((end, self.curve[:, CURVE.index("f+")].sum(), self.q.copy()))
        return self.episode - before

    def _learn(self, last: int, clock_record: np.ndarray | None) -> None:
        """Play the episodes up to ``last - 1``, with or without the clock record."""
        if last <= self.episode:
            return
        cut = None if self.task.learning.bootstrap_at_horizon else True
        usage = self.usage if self.task.memory.modes > 1 else None
        learn(
            self.world, self.task.memory.tables, self.params, self.cells, self.q.reshape(-1), self._best, self._top,
            self._explored, self.counters, self.episode, last, self.curve, cut, usage, clock_record, self._path,
        )  # fmt: skip
        self.episode = last

    def policy(self) -> TablePolicy:
        """The greedy policy of the current Q-matrix, or of the best late one."""
        q, made_from = self.q, self.task.describe() | {"episodes_played": self.episode}
        if len(self._late) > 1:
            ends, arrivals, matrices = zip(*self._late, strict=True)
            best = best_late(ends, arrivals)
            q, made_from["kept_at"] = matrices[best], ends[best]
        return TablePolicy(
            name=self.task.memory.name,
            memory=self.task.memory,
            actions=np.argmax(q, axis=1).astype(np.int8),
            made_from=made_from,
            q=q.copy(),
            records=self._records(),
        )

    def _records(self) -> dict[str, np.ndarray]:
        """Learning curve (episode, and the means of CURVE since the last point), usage of the modes, clock record."""
        every = self.params.curve_every
        points = -(-self.episode // every)
        ends = np.minimum((np.arange(points) + 1) * every, self.episode)
        played = np.diff(ends, prepend=0)
        means = self.curve[:points] / played[:, None]
        usage = self.usage if self.task.memory.modes > 1 else np.array([self.steps])
        return {"curve": np.column_stack([ends, means]), "usage": usage.copy(), "clock": self._clock_record.copy()}


def start_matrix(rows: int, learning: LearningSettings) -> np.ndarray:
    """The initial Q-matrix float[row, action].

    The kernel takes the first of several equal actions. For another order, their values differ in the last bits, which
    decide between actions from which nothing was learned, and change no other number by more than rounding does.
    """
    q, order = np.full((rows, N_ACTIONS), learning.q_start), learning.tie_order.split(",")
    if tuple(order) != ACTIONS:
        for end in range(1, N_ACTIONS):
            earlier = [ACTIONS.index(name) for name in order[:end]]
            q[:, earlier] = np.nextafter(q[:, earlier], np.inf)
    return q


def checkpoints(episodes: int) -> list[int]:
    """The episodes after which late matrices are kept, and the one at which the first interval begins."""
    return np.unique(np.linspace(episodes - episodes // _LATE_PART, episodes, LATE + 1).astype(np.int64)).tolist()


def best_late(ends: Sequence[int], arrivals: Sequence[float]) -> int:
    """Index of the checkpoint with the highest success rate in training since the one before; the latest of equals."""
    rates = np.diff(arrivals) / np.diff(ends)
    return len(rates) - int(np.argmax(rates[::-1]))


def learning_params(task: Task, snapshots: int) -> LearningParams:
    """The settings for the kernel."""
    learning = task.learning
    same = {name: value for name, value in learning.to_dict().items() if name in LearningParams._fields}
    return LearningParams(
        **same,
        last_clock=task.memory.last_clock,
        start_on_whiff=task.world.start_on_whiff,
        start_snapshots=start_snapshots(snapshots, task.world, learning.horizon),
        curve_every=-(-learning.episodes // learning.curve_points),
    )


def train(task: Task, progress: Callable[[int], None] | None = None, parts: int = 100) -> TablePolicy:
    """Train one agent; ``progress`` is called with the episodes played since its last call, and may raise to stop."""
    training = Training(task)
    part = min(-(-task.learning.episodes // parts), max(1, PART // task.learning.horizon))
    while not training.done:
        played = training.advance(part)
        if progress is not None:
            progress(played)
    return training.policy()


def sparse_share(policy: TablePolicy) -> float:
    """Share of training decisions that were taken in the sparsest mode."""
    usage = policy.records["usage"]
    return float(usage[-1] / usage.sum())


def records_of(task: Task, actions: np.ndarray) -> dict[str, np.ndarray]:
    """Usage of the modes and clock record of a fixed action per row, as those of a training's last episodes."""
    learning = replace(task.learning, episodes=task.learning.record_last, alpha_start=0.0, alpha_end=0.0)
    learning = replace(learning, epsilon_start=0.0, epsilon_end=0.0)
    training = Training(replace(task, learning=learning))
    training.q[:] = np.eye(N_ACTIONS)[actions]
    training.advance(learning.episodes)
    found = training.policy().records
    return {name: found[name] for name in ("usage", "clock")}
