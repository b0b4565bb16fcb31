"""Beliefs and alpha vectors of tabular POMDPs, block by block.

An edge of a block is a sparse matrix from the block's states to those of the block it leads to, with
entries T(s, s') O(s', o). The matrices of a block are stored one after the other:

``start[edge, s]``
    where row ``s`` of an edge's matrix starts; ``start[edge, n]`` is its end.
``column[i]``, ``entry[i]``
    state (counted within the block it leads to) and probability.
``children[edge, s']``
    children of a belief.
"""

from __future__ import annotations

from numba import njit

_kernel = njit(  # type: ignore[call-overload]
    cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"}, _nrt=False
)


@_kernel
def spread_block(weights, start, column, entry, children, probability):
    """Children of a belief, normalised, and the probability of each."""
    for e in range(start.shape[0]):
        total = 0.0
        for s in range(weights.shape[0]):
            weight = weights[s]
            if weight > 0.0:
                for i in range(start[e, s], start[e, s + 1]):
                    mass = weight * entry[i]
                    children[e, column[i]] += mass
                    total += mass
        probability[e] = total
        if total > 0.0:
            for s in range(children.shape[1]):
                children[e, s] /= total


@_kernel
def back_up_block(reward, start, column, entry, discount, following, vector):
    """vector(s) = reward(s) + discount * sum over edges e and s' of M_e(s, s') following(e, s')."""
    for s in range(vector.shape[0]):
        total = 0.0
        for e in range(start.shape[0]):
            for i in range(start[e, s], start[e, s + 1]):
                total += entry[i] * following[e, column[i]]
        vector[s] = reward[s] + discount * total


@_kernel
def informed_back_up(start, column, entry, edge_action, following, sums, out):
    """Add to out(a, s) the sum over the edges e of a of max over a' of the sum over s' of M_e(s, s') Q_e(a', s').

    ``following[edge, a', s']`` are the values Q_e in the block that the edge leads to.
    """
    for e in range(start.shape[0]):
        for s in range(out.shape[1]):
            if start[e, s] == start[e, s + 1]:
                continue
            for a in range(following.shape[1]):
                sums[a] = 0.0
                for i in range(start[e, s], start[e, s + 1]):
                    sums[a] += entry[i] * following[e, a, column[i]]
            best = sums[0]
            for a in range(1, following.shape[1]):
                best = max(best, sums[a])
            out[edge_action[e], s] += best


@_kernel
def sawtooth(belief, points, depth, which, best):
    """The deepest tooth at ``belief``: the most negative of ratio_i * depth_i, or ``best`` if that is lower.

    Point i lowers the bound by ``-depth[i]`` at its own belief; elsewhere by the share of it that the belief
    contains, the least ratio of weights over the point's support.
    """
    for k in range(which.shape[0]):
        i = which[k]
        ratio = 1.0
        for s in range(belief.shape[0]):
            weight = points[i, s]
            if weight > 0.0 and belief[s] < ratio * weight:
                ratio = belief[s] / weight
                if ratio * depth[i] >= best:
                    break
        best = min(best, ratio * depth[i])
    return best
