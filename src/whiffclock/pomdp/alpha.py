"""Beliefs and alpha vectors of tabular POMDPs, block by block.

An edge of a block is a sparse matrix from the block's states to those of the block it leads to, with
entries T(s, s') O(s', o). The matrices of a block are stored one after the other:

``first[edge]``
    where the entries of an edge's matrix start; ``first[edge + 1]`` is their end.
``row[i]``, ``column[i]``, ``entry[i]``
    state, next state (counted within the block it leads to) and probability; sorted by edge and state.
``children[edge, s']``
    children of a belief.
"""

import numpy as np

from whiffclock.jit import kernel

_kernel = kernel(fastmath={"contract", "reassoc", "nsz"})


@_kernel
def spread_block(weights, first, row, column, entry, children, probability):
    """Children of a belief, normalised, and the probability of each."""
    for e in range(probability.shape[0]):
        total = 0.0
        for i in range(first[e], first[e + 1]):
            mass = weights[row[i]] * entry[i]
            if mass > 0.0:
                children[e, column[i]] += mass
                total += mass
        probability[e] = total
        if total > 0.0:
            for s in range(children.shape[1]):
                children[e, s] /= total


@_kernel
def back_up_block(reward, first, row, column, entry, discount, following, vector):
    """vector(s) = reward(s) + discount * sum over edges e and s' of M_e(s, s') following(e, s')."""
    vector[:] = 0.0
    for e in range(following.shape[0]):
        for i in range(first[e], first[e + 1]):
            vector[row[i]] += entry[i] * following[e, column[i]]
    for s in range(vector.shape[0]):
        vector[s] = reward[s] + discount * vector[s]


@_kernel
def observed_sweep(start, following, chance, reward, discount, value, backward):
    """One sweep of value iteration if all is known, in place; returns the largest change.

    value(s) = max over a of R(a, s) + discount * sum over s' of T value(s'). The entries of action a in state s are
    ``start[a n + s]`` to ``start[a n + s + 1]``. Alternate forward and ``backward`` sweeps.
    """
    n_actions, n_states = reward.shape
    largest = 0.0
    for k in range(n_states):
        s = n_states - 1 - k if backward else k
        best = -np.inf
        for a in range(n_actions):
            total = 0.0
            for i in range(start[a * n_states + s], start[a * n_states + s + 1]):
                total += chance[i] * value[following[i]]
            best = max(best, reward[a, s] + discount * total)
        largest = max(largest, abs(best - value[s]))
        value[s] = best
    return largest


@_kernel
def informed_sweep(start, observation, following, chance, reward, discount, sums, bound):
    """One sweep of the fast informed bound, in place; returns the largest change.

    bound(s, a) = R(a, s) + discount * sum over o of max over a' of the sum over s' of T O bound(s', a'). The
    entries of action a in state s are ``start[a n + s]`` to ``start[a n + s + 1]``, sorted by observation.
    """
    n_states, n_actions = bound.shape
    largest = 0.0
    for a in range(n_actions):
        for s in range(n_states):
            total = 0.0
            i = start[a * n_states + s]
            end = start[a * n_states + s + 1]
            while i < end:
                o = observation[i]
                for other in range(n_actions):
                    sums[other] = 0.0
                while i < end and observation[i] == o:
                    for other in range(n_actions):
                        sums[other] += chance[i] * bound[following[i], other]
                    i += 1
                best = sums[0]
                for other in range(1, n_actions):
                    best = max(best, sums[other])
                total += best
            value = reward[a, s] + discount * total
            largest = max(largest, abs(bound[s, a] - value))
            bound[s, a] = value
    return largest


@_kernel
def merge_classes(start, observation, following, seeds, ends, merge_seeds, first, reached, parent):
    """Merge states until all states that may follow a class after an action and an observation are in one class.

    Afterwards ``parent[s]`` is one state of the class of s, and ``reached`` says which states can be reached. Seed i
    ends at ``ends[i]``; its states are one class if ``merge_seeds``, else only what follows them is.
    ``first[observation]``, all -1, is work space.
    """
    n = parent.shape[0]
    after, last = np.full(n, -1), np.arange(n)  # the states of a class, as a list from its root on
    waiting, stack, members = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    classes, work = (parent, after, last), (first, reached, waiting, stack)
    height, begin = 0, 0
    for end in ends:
        if merge_seeds:
            for s in seeds[begin:end]:
                reached[s] = True
                _merge(seeds[begin], s, classes)
            height = _wait(_root(seeds[begin], parent), waiting, stack, height)
        else:
            height = _follow(seeds[begin:end], start, observation, following, classes, work, height)
        begin = end
    while height > 0:
        height -= 1
        root = stack[height]
        waiting[root] = False
        if parent[root] == root:  # else it was merged into another class, which is on the stack
            count = 0
            while root >= 0:
                members[count] = root
                count += 1
                root = after[root]
            height = _follow(members[:count], start, observation, following, classes, work, height)
    for s in range(n):
        parent[s] = _root(s, parent)


@_kernel
def _follow(members, start, observation, following, classes, work, height):
    """Merge what follows ``members`` after each outcome; classes that are new or larger now wait on the stack."""
    first, reached, waiting, stack = work
    n = reached.shape[0]
    for a in range((start.shape[0] - 1) // n):
        for clear in (False, True):
            for s in members:
                for i in range(start[a * n + s], start[a * n + s + 1]):
                    seen = observation[i]
                    if clear:
                        first[seen] = -1
                        continue
                    to = following[i]
                    new = not reached[to]
                    reached[to] = True
                    if first[seen] >= 0:
                        new |= _merge(first[seen], to, classes)
                    first[seen] = to
                    if new:
                        height = _wait(_root(to, classes[0]), waiting, stack, height)
    return height


@_kernel
def _wait(root, waiting, stack, height):
    if not waiting[root]:
        waiting[root] = True
        stack[height] = root
        height += 1
    return height


@_kernel
def _root(s, parent):
    while parent[s] != s:
        parent[s] = parent[parent[s]]
        s = parent[s]
    return s


@_kernel
def _merge(one, other, classes):
    """Make one class of two; returns whether they were two."""
    parent, after, last = classes
    one, other = _root(one, parent), _root(other, parent)
    if one == other:
        return False
    parent[other] = one
    after[last[one]] = other
    last[one] = last[other]
    return True


@_kernel
def sawtooth(belief, points, depth, which, best):
    """The deepest tooth at ``belief``: the most negative of ratio_i * depth_i, or ``best`` if that is lower.

    Point i lowers the bound by ``-depth[i]`` at its own belief; elsewhere by the share of it that the belief
    contains, the least ratio of weights over the point's support.
    """
    for k in range(which.shape[0]):
        i = which[k]
        ratio = 1.0
        for s in range(points.shape[1]):
            weight = points[i, s]
            if weight > 0.0 and belief[s] < ratio * weight:
                ratio = belief[s] / weight
                if ratio * depth[i] >= best:
                    break
        best = min(best, ratio * depth[i])
    return best


@_kernel
def lower_children(children, edges, informed, corner, points, depth, which, fresh, upper):
    """Lower the upper bounds of the children at ``edges``, all in one block, by the teeth of ``which`` points.

    ``fresh`` children are compared with the informed bound as well, float64[action, state].
    """
    n = corner.shape[0]
    for k in range(edges.shape[0]):
        e = edges[k]
        bound = upper[e]
        if fresh:
            best = -np.inf
            for a in range(informed.shape[0]):
                total = 0.0
                for s in range(n):
                    total += informed[a, s] * children[e, s]
                best = max(best, total)
            bound = min(bound, best)
        flat = 0.0
        for s in range(n):
            flat += corner[s] * children[e, s]
        tooth = min(bound - flat, 0.0)
        upper[e] = min(bound, flat + sawtooth(children[e], points, depth, which, tooth))
