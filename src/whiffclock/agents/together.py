"""Training of ensembles: agents that differ only in memory and seed learn in lanes, where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from whiffclock.agents.qlearning import PART, Task, Training
from whiffclock.episode import N_ACTIONS, VECTORS
from whiffclock.jit import compiled_for
from whiffclock.memory import Memory
from whiffclock.policy import TablePolicy

if TYPE_CHECKING:
    from whiffclock.lanes import Nodes

#: With fewer agents too many lanes are parked; with fewer episodes compilation takes longer than it saves.
FEWEST_AGENTS, FEWEST_EPISODES = 14, 3_000_000
_TURNS = 8  # in which the agents of a part share the lanes


def faster_together(agents: int, episodes: int) -> bool:
    """Whether so many agents, with so many episodes each, learn faster together than one after the other."""
    enough = agents >= FEWEST_AGENTS and agents * episodes >= FEWEST_EPISODES
    return enough and VECTORS and compiled_for("avx512dq")


def train_together(tasks: Sequence[Task], progress: Callable[[int], None] | None = None) -> list[TablePolicy]:
    """Train agents that differ only in memory and seed; the result of each is that of ``train``, to the bit.

    The last episodes, in which void states are recorded, are played one agent after the other; all of them where
    the numbers do not fit into lanes.
    """
    trainings, progress = [Training(task) for task in tasks], progress or (lambda episodes: None)
    if fit_lanes(tasks):
        for played in _advance_in_lanes(trainings):
            progress(played)
    for training in trainings:
        while not training.done:
            progress(training.advance(max(1, PART // training.task.learning.horizon)))
    return [training.policy() for training in trainings]


def fit_lanes(tasks: Sequence[Task]) -> bool:
    """Whether agents can learn in lanes, whose numbers have 32 bits and whose memories have at most two modes."""
    if not VECTORS:
        return False
    from whiffclock import lanes

    task, memories = tasks[0], [task.memory for task in tasks]
    places = N_ACTIONS * (sum(memory.rows for memory in memories) + lanes.LANES)
    return (
        task.learning.bootstrap_at_horizon
        and max(task.learning.horizon + max(task.plume.field.shape[1:]), task.world.radius) <= lanes.FARTHEST
        and max(places, task.plume.whiffs(task.threshold).words.size) <= lanes.MOST_PLACES
        and sum(len(memory.row) for memory in memories) < lanes.MOST_NODES
        and all(memory.rows <= lanes.MOST_ROWS and memory.modes <= 2 for memory in memories)
    )


def _advance_in_lanes(trainings: Sequence[Training]) -> Iterator[int]:
    """Play the episodes before the recorded ones; yields how many since the last time."""
    from whiffclock import lanes

    one, count = trainings[0], len(trainings)
    nodes, first = _joined([training.task.memory for training in trainings])
    sizes = [training.q.size for training in trainings]
    base = np.cumsum([0, *sizes])
    zeros = np.zeros(count, dtype=np.int64)
    agents = lanes.Agents(
        np.concatenate([*(training.q.ravel() for training in trainings), np.zeros(N_ACTIONS * lanes.LANES)]),
        base[:-1], first, np.concatenate([training.counters for training in trainings]),
        np.stack([training.curve for training in trainings]), zeros, zeros.copy(), zeros.copy(), np.zeros(3, np.int64),
    )  # fmt: skip
    groups = [lanes.work_space(base[-1] + N_ACTIONS * group * lanes.LANES // 2) for group in range(2)]
    episode, end = 0, one.task.learning.episodes - one.task.learning.record_last
    part = max(1, PART // (one.task.learning.horizon * count))
    while episode < end:
        last = min(episode + part, end)
        turn = -(-(last - episode) // _TURNS)
        lanes.learn_together(one.world, nodes, one.params, one.cells, agents, *groups, last, turn)
        yield count * (last - episode)
        episode = last
    for i, training in enumerate(trainings):
        training.q[:] = agents.q[base[i] : base[i + 1]].reshape(training.q.shape)
        training.counters[:], training.curve[:], training.episode = agents.counters[i], agents.curve[i], episode
        if training.task.memory.modes == 2:
            training.usage[:] = training.steps - agents.sparse[i], agents.sparse[i]


def _joined(memories: Sequence[Memory]) -> tuple[Nodes, np.ndarray]:
    """Memories as one, equal ones once, and a last node for parked lanes; and the first nodes of each."""
    from whiffclock import lanes

    different: list[Memory] = []
    for memory in memories:
        if memory not in different:
            different.append(memory)
    begin = np.cumsum([0, *(len(memory.row) for memory in different)])
    parked = begin[-1]
    row, mode = (np.concatenate([*(getattr(m, name) for m in different), [0]]) for name in ("row", "mode"))
    follows = [memory.next_node + start for memory, start in zip(different, begin, strict=False)]
    node = np.concatenate([*follows, [[parked, parked]]]).astype(np.uint32)
    packed = node | row[node].astype(np.uint32) << lanes.ROW | mode[node].astype(np.uint32) << lanes.MODE
    first = np.stack([memory.first + begin[different.index(memory)] for memory in memories]).astype(np.int64)
    return lanes.Nodes(row.astype(np.int32), mode.astype(np.int32), packed.view(np.int64).ravel()), first
