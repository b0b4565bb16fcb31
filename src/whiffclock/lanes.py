"""Q-learning of many agents side by side, in the lanes of vectors; to the bit what ``episode.learn`` does for each.

Sixteen agents learn at once, in two groups of eight. A step has two halves, since each waits for memory: a *move*, up
to the word of the whiff record at the new cell, and an *update*, from that word to the row that follows. While one
group moves, the other updates.

A group holds the four values of its current rows in four vectors, one per action, with one lane per agent. Greedy
actions are then comparisons of whole vectors, and nothing branches on what a single agent does. The changed value is
stored at once; where an agent stays in its row, it also replaces the one that was loaded before. What may follow a
node, after a blank and after a whiff, is loaded before the whiff is known.

Lanes take agents from a queue, for some episodes at a time, so that any number of agents keeps all lanes busy almost to
the end. A lane without an agent is *parked*: far from the plume, in a node and a row of its own.
"""

from typing import Any, NamedTuple

import numpy as np

from whiffclock import episode, vectors
from whiffclock.episode import discounted_return, draw_start, scheduled
from whiffclock.jit import kernel
from whiffclock.vectors import WIDTH, bits, everywhere, keep, load, low_half, put, take, take_rows, where, within

#: Lanes in all.
LANES = 2 * WIDTH

_GOLDEN, _MIX_1, _MIX_2 = (np.int64(int(word) - 2**64) for word in (episode._GOLDEN, episode._MIX_1, episode._MIX_2))
_I, _U, _i = np.int64, np.uint64, np.int32

#: A successor in 32 bits: its node in the first, then its row, its mode in the last.
ROW, MODE = 16, 31
#: What fits: nodes of all agents together, rows of one; distance from the source, cells of the grid, and H; indices.
MOST_NODES, MOST_ROWS, FARTHEST, MOST_PLACES = 2**ROW - 1, 2 ** (MODE - ROW) - 1, 20_000, 2**31 - 1

# Rows of the work space of a group.
_X, _Y, _T, _NODE, _PLACE, _BASE, _SPARSE = range(7)
_COUNTER, _LIMIT = range(2)
_NEVER = np.int64(2**62)

_options = episode._without_runtime()
_kernel = kernel(calls=(episode.__file__, vectors.__file__), **_options)
_inlined = kernel(forceinline=True, **_options)


class Agents(NamedTuple):
    """Agents that learn together."""

    q: np.ndarray  # float64: their Q-matrices, one after the other, and a row for each lane to park in
    base: np.ndarray  # int64[agent]: where an agent's matrix begins
    first: np.ndarray  # int64[agent, whiff]: the node after the first observation
    counters: np.ndarray  # uint64[agent]: state of the random numbers
    curve: np.ndarray  # float64[agent, point, 3]: see ``episode.learn``
    sparse: np.ndarray  # int64[agent]: decisions taken in the second mode
    played: np.ndarray  # int64[agent]: episodes
    queue: np.ndarray  # int64[agent]: agents in the order in which they take a lane
    ends: np.ndarray  # int64[3]: how many have left the queue, have entered it, are unfinished


class Nodes(NamedTuple):
    """The memories of all agents as one; parked lanes stay in its last node."""

    row: np.ndarray  # int32[node]
    mode: np.ndarray  # int32[node]
    onward: np.ndarray  # int64[node]: what follows a blank in the lower half, what follows a whiff in the upper


class Work(NamedTuple):
    """Work space of a group: its lanes between two episodes."""

    ints: np.ndarray  # int32[7, lane]
    longs: np.ndarray  # int64[2, lane]
    alpha: np.ndarray  # float64[1, lane]
    agent: np.ndarray  # int64[lane]; -1: parked
    until: np.ndarray  # int64[lane]: the episode at which the agent leaves
    began: np.ndarray  # int64[lane]: step of the group at which the episode began
    end: np.ndarray  # int64[lane]: step at which its time runs out
    due: np.ndarray  # int64[1]: the first of them
    parking: np.ndarray  # int64[lane]: index in q


def work_space(parking: int) -> Work:
    """Work space of a group; index in q of the rows in which its lanes park."""
    ints, longs, alpha = np.zeros((7, WIDTH), np.int32), np.zeros((2, WIDTH), np.int64), np.zeros((1, WIDTH))
    until, began, end = np.zeros((3, WIDTH), np.int64)
    rows = parking + 4 * np.arange(WIDTH, dtype=np.int64)
    return Work(ints, longs, alpha, np.full(WIDTH, -1, np.int64), until, began, end, np.zeros(1, np.int64), rows)


class Group(NamedTuple):
    """The lanes of a group before a move."""

    x: Any
    y: Any
    t: Any
    node: Any
    place: Any  # index in q of the current row
    base: Any
    sparse: Any  # decisions in the second mode, and 1 more where the node belongs to it
    counter: Any
    limit: Any  # of the 53 high bits of a draw: below it, the action is random
    alpha: Any
    q0: Any  # the current row
    q1: Any
    q2: Any
    q3: Any


class Moved(NamedTuple):
    """The lanes of a group after a move, with words of the whiff record, and what may follow."""

    x: Any
    y: Any
    t: Any
    counter: Any
    action: Any
    word: Any
    onward: Any


@_inlined
def restore(work, q):
    """The lanes from their work space."""
    ints, longs = work.ints, work.longs
    place = load(ints, _PLACE)
    q0, q1, q2, q3 = take_rows(q, place)
    return Group(
        load(ints, _X), load(ints, _Y), load(ints, _T), load(ints, _NODE), place, load(ints, _BASE),
        load(ints, _SPARSE), load(longs, _COUNTER), load(longs, _LIMIT), load(work.alpha, 0),
        q0, q1, q2, q3,
    )  # fmt: skip


@_inlined
def save(work, group):
    """What changes during an episode, to the work space."""
    for_ints = group.x, group.y, group.t, group.node, group.place, group.base, group.sparse
    for i, values in enumerate(for_ints):
        keep(work.ints, i, values)
    keep(work.longs, _COUNTER, group.counter)


@_inlined
def move(whiffs, region, nodes, group):
    """Choose actions and move; load what the update needs."""
    length, across, snapshots = whiffs.shape
    zero, one = everywhere(_i(0)), everywhere(_i(1))
    onward = take(nodes.onward, group.node)
    q0, q1, q2, q3 = group.q0, group.q1, group.q2, group.q3
    counter = group.counter + _GOLDEN
    drawn = (counter ^ (counter >> 30)) * _MIX_1
    drawn = (drawn ^ (drawn >> 27)) * _MIX_2
    drawn = drawn ^ (drawn >> 31)
    low, high = where(q1 > q0, q1, q0), where(q3 > q2, q3, q2)
    if_low, if_high = where(q1 > q0, one, zero), where(q3 > q2, everywhere(_i(3)), everywhere(_i(2)))
    action = where((drawn >> 11) < group.limit, low_half(drawn) & 3, where(high > low, if_high, if_low))
    x = where(action == 3, group.x + one, where(action == 0, group.x - one, group.x))
    y = where(action == 1, group.y + one, where(action == 2, group.y - one, group.y))
    t = where(group.t == snapshots - 1, zero, group.t + one)
    inside = within(x, everywhere(_i(length))) & within(y, everywhere(_i(region.width)))
    column = x
    if across > 1:
        column = x * across + (y >> 5)
    word = where(inside, take(whiffs, where(inside, column * snapshots + t, zero)), zero)
    return Moved(x, y, t, counter, action, word, onward)


@_inlined
def update(region, nodes, gamma, q, group, moved):
    """Observe, remember and learn; returns the group after its step, and where it has arrived."""
    x, y, t, counter, action, word, both = moved
    dx, dy = x - region.source_x, y - region.source_y
    arrived = dx * dx + dy * dy <= region.radius_squared
    whiff = ((word >> (y & 31)) & 1) == 1
    onward = low_half(where(whiff, both >> 32, both))
    place = group.base + (((onward >> ROW) & MOST_ROWS) << 2)
    n0, n1, n2, n3 = take_rows(q, place)
    low, high = where(n1 > n0, n1, n0), where(n3 > n2, n3, n2)
    target = where(arrived, everywhere(1.0), where(high > low, high, low) * gamma + -(1.0 - gamma))
    is_0, is_1, is_2, is_3 = action == 0, action == 1, action == 2, action == 3
    value = where(is_3, group.q3, where(is_2, group.q2, where(is_1, group.q1, group.q0)))
    value = value + group.alpha * (target - value)
    put(q, group.place + action, value)
    stays = place == group.place
    after = Group(
        x, y, t, onward & MOST_NODES, place, group.base, group.sparse + (onward >> MODE),
        counter, group.limit, group.alpha,
        where(stays & is_0, value, n0), where(stays & is_1, value, n1),
        where(stays & is_2, value, n2), where(stays & is_3, value, n3),
    )  # fmt: skip
    return after, arrived


@_kernel
def record(nodes, params, agents, work, lane, arrived, now):
    """Record the episode that a lane has ended."""
    agent, steps = work.agent[lane], now - work.began[lane]
    point = agents.played[agent] // params.curve_every
    agents.curve[agent, point, 0] += discounted_return(params.gamma, steps, arrived)
    agents.curve[agent, point, 1] += arrived
    agents.curve[agent, point, 2] += steps
    agents.sparse[agent] += work.ints[_SPARSE, lane] - nodes.mode[work.ints[_NODE, lane]]
    agents.counters[agent] = _U(work.longs[_COUNTER, lane])
    agents.played[agent] += 1


@_kernel
def begin(world, nodes, params, cells, agents, work, lane, now):
    """Begin an episode, or park the lane."""
    agent, ints = work.agent[lane], work.ints
    x, y, t, node, base, end = _I(-FARTHEST), _I(0), _I(0), _I(nodes.row.shape[0] - 1), work.parking[lane], _NEVER
    if agent >= 0:
        number = agents.played[agent]
        x, y, t, whiff, counter = draw_start(world.whiffs, world.region, cells, params, agents.counters[agent])
        node, base, end = agents.first[agent, whiff], agents.base[agent], now + params.horizon
        epsilon = scheduled(params.epsilon_start, params.epsilon_end, params.epsilon_decay, number)
        work.longs[_COUNTER, lane], work.longs[_LIMIT, lane] = _I(counter), _I(epsilon * 9007199254740992.0)
        work.alpha[0, lane] = scheduled(params.alpha_start, params.alpha_end, params.alpha_decay, number)
    ints[_X, lane], ints[_Y, lane], ints[_T, lane], ints[_NODE, lane] = x, y, t, node
    ints[_BASE, lane], ints[_PLACE, lane] = base, base + 4 * nodes.row[node]
    ints[_SPARSE, lane] = nodes.mode[node]
    work.began[lane], work.end[lane] = now, end


@_kernel
def follow(world, nodes, params, cells, agents, work, last, part, ended, now):
    """Let every lane that ``ended`` an episode go on, with its agent or the next; returns how many are unfinished."""
    queue, ends = agents.queue, agents.ends
    due = _NEVER
    for lane in range(WIDTH):
        if (ended >> lane & 1) or work.end[lane] == now:
            agent = work.agent[lane]
            if agent >= 0:
                record(nodes, params, agents, work, lane, ended >> lane & 1 == 1, now)
                if agents.played[agent] == last:
                    ends[2] -= 1
                elif agents.played[agent] == work.until[lane]:
                    queue[ends[1] % queue.shape[0]] = agent
                    ends[1] += 1
            if agent < 0 or agents.played[agent] == work.until[lane]:
                work.agent[lane] = -1
                if ends[0] < ends[1]:
                    agent = queue[ends[0] % queue.shape[0]]
                    ends[0] += 1
                    work.agent[lane], work.until[lane] = agent, min(agents.played[agent] + part, last)
            begin(world, nodes, params, cells, agents, work, lane, now)
        due = min(due, work.end[lane])
    work.due[0] = due
    return ends[2]


@_kernel
def learn_together(world, nodes, params, cells, agents, one, other, last, part):
    """Q-learning of all agents up to the episode ``last - 1``; an agent stays in its lane for ``part`` episodes.

    ``one`` and ``other`` are the work spaces of the two groups; ``cells`` and ``params`` those of ``episode.learn``.
    """
    whiffs, region = world
    gamma, q = params.gamma, agents.q
    agents.ends[0], agents.ends[1], agents.ends[2] = 0, agents.queue.shape[0], agents.queue.shape[0]
    for i in range(agents.queue.shape[0]):
        agents.queue[i] = i
    now, everyone = _I(0), _I(2**WIDTH - 1)
    follow(world, nodes, params, cells, agents, one, last, part, everyone, now)
    unfinished = follow(world, nodes, params, cells, agents, other, last, part, everyone, now)
    a, b, a_due, b_due = restore(one, q), restore(other, q), one.due[0], other.due[0]
    b_moved = move(whiffs, region, nodes, b)
    while unfinished > 0:
        a_moved = move(whiffs, region, nodes, a)
        b, arrived = update(region, nodes, gamma, q, b, b_moved)
        now += 1
        ended = bits(arrived)
        if ended or now == b_due:
            save(other, b)
            unfinished = follow(world, nodes, params, cells, agents, other, last, part, ended, now)
            b, b_due = restore(other, q), other.due[0]
        b_moved = move(whiffs, region, nodes, b)
        a, arrived = update(region, nodes, gamma, q, a, a_moved)
        ended = bits(arrived)
        if ended or now == a_due:
            save(one, a)
            unfinished = follow(world, nodes, params, cells, agents, one, last, part, ended, now)
            a, a_due = restore(one, q), one.due[0]
