"""The step rule of the world, and the loops over it: Q-learning and rollout.

A searcher at ``(x, y)`` observes snapshot ``t``. In one step it moves by one cell, time advances by one snapshot (after
the last comes the first), and it observes again. Off the grid there are only blanks. The episode ends in the disc
around the source.

Layouts
-------
``whiffs[x, w, t]``
    bit ``b`` of the 32-bit word is the whiff at ``y = 32 w + b``; time is last, so that a searcher that
    moves across the wind reads neighbouring words.
``onward[2 * node + whiff]``, ``row[node]``, ``mode[node]``
    the memory as a finite-state machine (see :mod:`whiffclock.memory`): which node follows (in the upper half of the
    word) and its row (in the lower), which row of the Q-matrix a node reads, which mode it belongs to.
``q[4 * row + action]``
    actions in the order of the tie rule: upwind, +y, -y, downwind.

Speed
-----
While a searcher explores, its action cannot be predicted, and a mispredicted branch costs more than the whole
step. The greedy action and its value are therefore kept per row and refreshed by comparisons that compile to
selects. A random action is looked up like a greedy one, in four entries behind those of the rows, so that exploring
selects an address. Explorations are drawn for many steps at once, in a loop that compiles to vectors.

Whiffs are different: they are rare. A select of the next row would wait for the whiff, which waits for the action;
behind a branch the next step begins at once, with the row after a blank. :func:`rarely` keeps the branch.

A load from an address just written, as for one action in four, cannot be predicted either, and costs as much as a
branch. A row is therefore loaded and stored as one vector (:func:`learn_row`), or, where there are no intrinsics, its
values are read before the new one is stored.

All loops share this file because a cached kernel does not notice a changed callee in another file, unless it is
compiled with ``calls``.
"""

import sys
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import extending, types

from whiffclock.jit import kernel, without_runtime
from whiffclock.world.moves import DISPLACEMENT, N_ACTIONS

_MOVES_X, _MOVES_Y = np.ascontiguousarray(DISPLACEMENT.T)

# Counter and finalizer of SplitMix64; the 53 high bits of a draw decide whether to explore.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U = np.uint64
_I = np.int64

#: Steps whose explorations are drawn together; a power of two.
BLOCK = 64
#: Most steps of one call of a loop; Ctrl-C waits for a call, which takes fractions of a second.
PART = 50_000_000

#: Columns of the learning curve, and of the clock record, by name.
CURVE = ("G", "f+", "steps")
CLOCK_RECORD = ("largest_clock", "clock_sum", "clocks", "longest_blank", "blank_sum", "blanks")
_G, _FOUND, _STEPS = range(len(CURVE))
_LARGEST, _CLOCK_SUM, _CLOCKS, _LONGEST, _BLANK_SUM, _BLANKS = range(len(CLOCK_RECORD))


_kernel = kernel(**without_runtime())


class SourceRegion(NamedTuple):
    """Grid width and source region. Numbers only: an array in a tuple is reference-counted at every step."""

    width: int  # number of cells across the wind
    source_x: int
    source_y: int
    radius_squared: int
    last_x: int  # downwind end of the source region


class World(NamedTuple):
    """A plume at one threshold: whiffs and source region."""

    whiffs: np.ndarray  # uint32[x, w, t]
    region: SourceRegion


class Tables(NamedTuple):
    """A memory as a finite-state machine."""

    row: np.ndarray  # int32[node]
    onward: np.ndarray  # uint64[2 * node + whiff]: next node in the upper half, its row in the lower
    mode: np.ndarray  # int32[node]
    first: np.ndarray  # int32[whiff], the node after the first observation


class LearningParams(NamedTuple):
    """Settings of Q-learning, as numbers."""

    horizon: int
    last_clock: int  # where the clock stays
    gamma: float
    alpha_start: float
    alpha_end: float
    alpha_decay: float
    epsilon_start: float
    epsilon_end: float
    epsilon_decay: float
    trace: float  # lambda of the returns
    start_on_whiff: bool
    start_snapshots: int  # starts are drawn from snapshots 0 .. start_snapshots - 1
    curve_every: int  # episodes per point of the learning curve


@_kernel
def draw(counter):
    """SplitMix64: the random word that belongs to a counter value."""
    z = (counter ^ (counter >> _U(30))) * _MIX_1
    z = (z ^ (z >> _U(27))) * _MIX_2
    return z ^ (z >> _U(31))


@_kernel
def random_index(bits, n):
    """Map 32 random bits to 0 .. n-1 (bias below n / 2**32)."""
    return _I((bits * _U(n)) >> _U(32))


@_kernel
def smell(whiffs, region, x, y, t):
    """1 on a whiff at cell (x, y) of snapshot t, else 0; off the grid always 0."""
    whiff = _U(0)
    if (_U(x) < _U(whiffs.shape[0])) & (_U(y) < _U(region.width)):
        word = whiffs[_U(x), _U(y) >> _U(5), _U(t)]
        whiff = _U(word >> (_U(y) & _U(31))) & _U(1)
    return whiff


@_kernel
def step(whiffs, region, x, y, t, action):
    """One step: move, let time pass, arrive or smell. Returns x, y, t, arrived, whiff."""
    x += _MOVES_X[_U(action)]
    y += _MOVES_Y[_U(action)]
    t += 1
    t = 0 if t == whiffs.shape[2] else t
    arrived = False
    if x <= region.last_x:
        dx = x - region.source_x
        dy = y - region.source_y
        arrived = dx * dx + dy * dy <= region.radius_squared
    return x, y, t, arrived, smell(whiffs, region, x, y, t)


@_kernel
def greedy(q0, q1, q2, q3):
    """Best action and its value; ties go to the first."""
    low = q1 if q1 > q0 else q0
    high = q3 if q3 > q2 else q2
    if_low = _I(q1 > q0)
    if_high = _I(2) + _I(q3 > q2)
    return (if_high if high > low else if_low), (high if high > low else low)


@_kernel
def learn_row(q, row, action, alpha, target):
    """Move the value of an action towards the target; the row's best action and its value."""
    at = row << _U(2)
    q0, q1, q2, q3 = q[at], q[at + _U(1)], q[at + _U(2)], q[at + _U(3)]
    value = q[at + _U(action)]
    value += alpha * (target - value)
    q[at + _U(action)] = value
    # Bits, since comparisons with 0, 1, 2, 3 would become a jump table.
    bit = _U(1) << _U(action)
    q0 = value if bit & _U(1) else q0
    q1 = value if bit & _U(2) else q1
    q2 = value if bit & _U(4) else q2
    q3 = value if bit & _U(8) else q3
    return greedy(q0, q1, q2, q3)


@_kernel
def rarely(value):
    """The value, unchanged; marks a branch that is rarely taken. Here it may still be compiled to a select."""
    return value


def _learn_row_as_vector(typing, q, row, action, alpha, target):
    """``learn_row`` with the row as one vector; the same operations on the same numbers."""
    vector, index = ir.VectorType(ir.DoubleType(), N_ACTIONS), ir.VectorType(ir.IntType(64), N_ACTIONS)

    def generate(context, builder, signature, arguments):
        array, row, action, alpha, target = arguments

        def shuffled(values, order):
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), N_ACTIONS), order)
            return builder.shuffle_vector(values, ir.Constant(values.type, ir.Undefined), lanes)

        def everywhere(value, kind):
            one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
            return shuffled(one, [0, 0, 0, 0])

        def larger(other, values):
            return builder.select(builder.fcmp_ordered(">", other, values), other, values)

        first = builder.gep(context.make_array(q)(context, builder, array).data, [builder.shl(row, ir.IntType(64)(2))])
        place = builder.bitcast(first, vector.as_pointer())
        old = builder.load(place, align=8)
        change = builder.fmul(everywhere(alpha, vector), builder.fsub(everywhere(target, vector), old))
        chosen = builder.icmp_signed("==", everywhere(action, index), ir.Constant(index, [0, 1, 2, 3]))
        # -0.0 changes no number. A select of old and new values would be compiled to a store by a mask, and the
        # next load from there would have to wait for it.
        new = builder.fadd(old, builder.select(chosen, change, ir.Constant(vector, [-0.0] * N_ACTIONS)))
        builder.store(new, place, align=8)
        of_two = larger(shuffled(new, [1, 0, 3, 2]), new)
        of_four = larger(shuffled(of_two, [2, 3, 0, 1]), of_two)
        among = builder.bitcast(builder.fcmp_ordered("==", new, of_four), ir.IntType(N_ACTIONS))
        best = builder.cttz(builder.zext(among, ir.IntType(64)), ir.IntType(1)(1))
        top = builder.extract_element(of_four, ir.IntType(32)(0))
        return context.make_tuple(builder, signature.return_type, [best, top])

    returned = types.Tuple((types.int64, types.float64))
    return returned(q, types.uint64, types.int64, types.float64, types.float64), generate


def _rarely_as_branch(typing, value):
    """``rarely`` by an empty piece of assembly, which cannot be part of a select."""

    def generate(context, builder, signature, arguments):
        kind = arguments[0].type
        return builder.asm(ir.FunctionType(kind, [kind]), "", "=r,0", arguments, side_effect=True)

    return value(value), generate


#: Whether kernels may use vectors; bit 0 of a mask must be its first element.
VECTORS = sys.byteorder == "little" and hasattr(extending, "intrinsic")
if VECTORS:
    learn_row = extending.intrinsic(_learn_row_as_vector)
    rarely = extending.intrinsic(_rarely_as_branch)


@_kernel
def remember(onward, node, whiff):
    """The node that follows, and its row."""
    both = rarely(onward[(node << _U(1)) + _U(1)]) if whiff == 1 else onward[node << _U(1)]
    return both >> _U(32), both & _U(0xFFFFFFFF)


@_kernel
def scheduled(start, end, decay, episode):
    """Linear fall from start to end over ``decay`` episodes."""
    return end + (start - end) * max((decay - episode - 1) / decay, 0.0)


@_kernel
def draw_start(whiffs, region, cells, params, counter):
    """Uniform over start cells and snapshots; with starts on a whiff, the snapshot is redrawn until there is one."""
    counter += _GOLDEN
    word = draw(counter)
    cell = random_index(word >> _U(32), cells.shape[0])
    x, y = _I(cells[cell, 0]), _I(cells[cell, 1])
    t = random_index(word & _U(0xFFFFFFFF), params.start_snapshots)
    whiff = smell(whiffs, region, x, y, t)
    while params.start_on_whiff and whiff == 0:
        counter += _GOLDEN
        t = random_index(draw(counter) >> _U(32), params.start_snapshots)
        whiff = smell(whiffs, region, x, y, t)
    return x, y, t, whiff, counter


@_kernel
def draw_explorations(explored, counter, n_rows, epsilon):
    """Draw the next steps: the position of a random action in ``best``, or 0 for the greedy one."""
    explore_below = _I(epsilon * 9007199254740992.0)  # in units of 2**-53
    for i in range(BLOCK):
        counter += _GOLDEN
        word = draw(counter)
        explored[_U(i)] = n_rows + (word & _U(3)) if _I(word >> _U(11)) < explore_below else _U(0)


@_kernel
def learn_backward(q, best, top, path, steps, target, alpha, cost, params):
    """Learn from the lambda-returns of an episode, from its last move to its first.

    Parameters
    ----------
    path : uint64[steps]
        ``4 * row + action`` of each move.
    target : float
        That of the last move.
    """
    lam = params.trace
    for i in range(steps - 1, -1, -1):
        taken = path[_U(i)]
        row = taken >> _U(2)
        best[row], top[row] = learn_row(q, row, _I(taken & _U(3)), alpha, target)
        target = cost + params.gamma * ((1.0 - lam) * top[row] + lam * target)


@_kernel
def learn(
    world, memory, params, cells, q, best, top, explored, counters, first, last, curve, cut, usage, clock_record, path
):
    """Q-learning over the episodes ``first`` to ``last - 1``.

    Parameters
    ----------
    cells : int32[n, 2]
        Start cells.
    q : float64[4 * row + action]
        Changed in place.
    best, top : int64[row + 4], float64[row]
        Work space: the greedy action of each row, and then the four actions themselves; the value of the former.
    explored : uint64[BLOCK]
        Work space: random actions of the next steps.
    counters : uint64[1]
        State of the random numbers; changed in place, so that a training can be continued.
    curve : float64[point, CURVE]
        Sums of discounted reward, arrivals and steps for every ``curve_every`` episodes.
    cut : bool or None
        Anything but None: the target of a step that runs out of time does not bootstrap.
    usage : int64[mode] or None
        Decisions taken in each mode.
    clock_record : int64[mode, CLOCK_RECORD] or None
        For each mode, in which a decision is taken or a blank spent: largest clock reading in a blank, sum and number
        of them; longest blank between two whiffs, sum and number of them.
    path : uint64[horizon] or None
        Work space of :func:`learn_backward`, which learns at the end of each episode. None: learn at every step.

    Notes
    -----
    Where one of the last four is None, the loop is compiled without it.
    """
    whiffs, region = world
    n_rows = _U(top.shape[0])
    for r in range(n_rows):
        best[r], top[r] = greedy(q[4 * r], q[4 * r + 1], q[4 * r + 2], q[4 * r + 3])
    for a in range(N_ACTIONS):
        best[n_rows + _U(a)] = a
    gamma = params.gamma
    horizon = params.horizon
    onward, mode_of, first_node = memory.onward, memory.mode, memory.first
    cost = -(1.0 - gamma)
    counter = counters[0]
    for episode in range(first, last):
        alpha = scheduled(params.alpha_start, params.alpha_end, params.alpha_decay, episode)
        epsilon = scheduled(params.epsilon_start, params.epsilon_end, params.epsilon_decay, episode)
        x, y, t, whiff, counter = draw_start(whiffs, region, cells, params, counter)
        node = _U(first_node[whiff])
        row = _U(memory.row[node])
        blank, smelled = _I(1) - _I(whiff), whiff == 1
        arrived = False
        steps = 0
        while steps < horizon and not arrived:
            now = _U(steps) % _U(BLOCK)
            if now == 0:
                draw_explorations(explored, counter + _U(steps) * _GOLDEN, n_rows, epsilon)
            action = best[explored[now] if explored[now] > 0 else row]
            if usage is not None:
                usage[mode_of[node]] += 1
            if clock_record is not None:
                record_clock(clock_record, mode_of[node], blank, params.last_clock)
            x, y, t, arrived, whiff = step(whiffs, region, x, y, t, action)
            steps += 1
            if clock_record is not None:
                if whiff == 1 and not arrived:
                    if smelled and blank > 0:
                        record_blank(clock_record, mode_of[node], blank)
                    smelled = True
                blank = (blank + 1) & (_I(whiff) - 1)
            node, following = remember(onward, node, whiff)
            target = 1.0 if arrived else cost + gamma * top[following]
            if cut is not None:
                target = cost if steps == horizon and not arrived else target
            if path is None:
                best[row], top[row] = learn_row(q, row, action, alpha, target)
            else:
                path[_U(steps - 1)] = (row << _U(2)) + _U(action)
            row = following
        if path is not None:
            learn_backward(q, best, top, path, steps, target, alpha, cost, params)
        counter += _U(steps) * _GOLDEN
        point = episode // params.curve_every
        curve[point, _G] += discounted_reward(gamma, steps, arrived)
        curve[point, _FOUND] += arrived
        curve[point, _STEPS] += steps
    counters[0] = counter


@_kernel
def record_clock(record, mode, blank, last_clock):
    """Record the clock reading at which a decision is taken in a blank."""
    if blank > 0:
        clock = min(blank, last_clock)
        record[mode, _LARGEST] = max(record[mode, _LARGEST], clock)
        record[mode, _CLOCK_SUM] += clock
        record[mode, _CLOCKS] += 1


@_kernel
def record_blank(record, mode, blank):
    """Record a blank that a whiff has ended."""
    record[mode, _LONGEST] = max(record[mode, _LONGEST], blank)
    record[mode, _BLANK_SUM] += blank
    record[mode, _BLANKS] += 1


@_kernel
def discounted_reward(gamma, steps, arrived):
    """Sum of gamma**t r_t (:mod:`whiffclock.world.reward`)."""
    return 2.0 * gamma ** (steps - 1) - 1.0 if arrived else gamma**steps - 1.0


@_kernel
def rollout(world, memory, actions, starts, horizon, arrival, last_whiff, mode_steps, occupancy):
    """Follow a fixed action per row from every start.

    Parameters
    ----------
    actions : int8[row]
    starts : int32[n, 3]
        x, y and snapshot.
    arrival : int32[n]
        Steps until the source; 0 on failure.
    last_whiff : int32[n, 3]
        x, y and step of the last whiff; step -1 where there was none.
    mode_steps : int32[n, mode]
    occupancy : int64[mode, x, y]
        Decisions taken per mode and cell of the grid; counts are added.
    """
    whiffs, region = world
    onward, mode_of, first = memory.onward, memory.mode, memory.first
    for i in range(starts.shape[0]):
        x, y, t = _I(starts[i, 0]), _I(starts[i, 1]), _I(starts[i, 2])
        whiff = smell(whiffs, region, x, y, t)
        node = _U(first[whiff])
        row = _U(memory.row[node])
        last_whiff[i, 2] = -1
        steps = 0
        arrived = False
        while steps < horizon and not arrived:
            if whiff == 1:
                last_whiff[i, 0], last_whiff[i, 1], last_whiff[i, 2] = x, y, steps
            mode = _U(mode_of[node])
            mode_steps[i, mode] += 1
            if (_U(x) < _U(occupancy.shape[1])) & (_U(y) < _U(occupancy.shape[2])):
                occupancy[mode, _U(x), _U(y)] += 1
            x, y, t, arrived, whiff = step(whiffs, region, x, y, t, _I(actions[row]))
            node, row = remember(onward, node, whiff)
            steps += 1
        if whiff == 1 and not arrived:
            last_whiff[i, 0], last_whiff[i, 1], last_whiff[i, 2] = x, y, steps
        arrival[i] = steps if arrived else 0


@_kernel
def step_all(world, position, action, arrived, whiff):
    """The step rule for many searchers at once, for policies without tables.

    ``position`` (int64[n, 3]: x, y, snapshot), ``arrived`` and ``whiff`` (bool[n]) change in place.
    """
    whiffs, region = world
    for i in range(position.shape[0]):
        x, y, t, there, smelt = step(whiffs, region, position[i, 0], position[i, 1], position[i, 2], _I(action[i]))
        position[i, 0], position[i, 1], position[i, 2] = x, y, t
        arrived[i] = there
        whiff[i] = smelt == 1


@_kernel
def smell_all(world, position, whiff):
    """First observation of many searchers."""
    whiffs, region = world
    for i in range(position.shape[0]):
        whiff[i] = smell(whiffs, region, position[i, 0], position[i, 1], position[i, 2]) == 1
