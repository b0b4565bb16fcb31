"""Sampling: which beliefs to visit.

``by_bounds`` is the published algorithm (Kurniawati, Hsu and Lee 2008, Algorithm 2): follow the action with
the best upper bound and the observation with the most uncertain outcome, for as long as that may still
matter at the root. ``by_policy`` plays the present policy against observations drawn from the model: what it
visits is what the policy will need, and the lower bound rises fastest. ``by_upper`` does nothing for the
lower bound, and lowers the upper one at a fraction of the cost.

Each walks down from the root, then backs up along the way, and returns the number of backups.
"""

from __future__ import annotations

import math

import numpy as np

from whiffclock.pomdp.backup import back_up_lower, back_up_upper, see_vectors
from whiffclock.pomdp.model import Spread
from whiffclock.pomdp.tree import Tree

Walk = list[tuple[int, Spread]]

#: New beliefs on one walk of :func:`by_upper`.
_NEW_PER_WALK = 8


def descend(tree: Tree, node: int, spread: Spread, edge: int) -> tuple[int, Spread]:
    """The child at ``edge`` (counted from the node's first), visited before or new."""
    model = tree.model
    belief = model.child(spread, edge)
    at = int(tree.first_edge[node]) + edge
    child = int(tree.child[at])
    below = model.spread(belief)
    if child < 0:
        child = tree.find(belief)
        if child < 0:
            lower, pick = float(tree.edge_lower[at]), int(tree.edge_pick[at])
            if lower == -math.inf:
                pick, lower = tree.vectors.best(belief)
            child = tree.add(below, lower, float(tree.edge_upper[at]), pick)
        tree.child[at] = child
    return child, below


def by_bounds(tree: Tree, root: Spread, epsilon: float) -> int:
    """The published sampling: deep where it may pay, until the gap is ``epsilon`` as seen from the root."""
    node, spread, walk = 0, root, []
    target_lower, target_upper = tree.lower[0], tree.lower[0] + epsilon
    allowed = epsilon
    while True:
        walk.append((node, spread))
        see_vectors(tree, node, spread)
        back_up_upper(tree, node, spread)
        lower, upper, gamma = tree.lower[node], tree.upper[node], tree.gamma(node)
        if tree.predicted(node) <= target_lower and upper <= max(target_upper, lower + allowed):
            break
        if upper - lower < 1e-9 or len(walk) > 400:
            break
        low = tree.action_values(node, tree.edge_lower)
        high = tree.action_values(node, tree.edge_upper)
        target_lower = max(target_lower, low.max())
        target_upper = max(target_upper, low.max() + allowed)
        action = int(high.argmax())
        first = tree.model.edges(int(tree.block[node])).first
        of = slice(int(tree.first_edge[node] + first[action]), int(tree.first_edge[node] + first[action + 1]))
        chance = tree.probability[of].astype(np.float64)
        allowed /= gamma
        gap = np.where(chance > 0, tree.edge_upper[of] - tree.edge_lower[of] - allowed, 0.0)
        chosen = int((chance * gap).argmax())
        if chance[chosen] <= 0:
            break
        worth = gamma * chance[chosen]
        target_lower = tree.edge_lower[of][chosen] + (target_lower - low[action]) / worth
        target_upper = tree.edge_upper[of][chosen] + (target_upper - high[action]) / worth
        node, spread = descend(tree, node, spread, int(first[action]) + chosen)
    return _climb(tree, walk)


def by_policy(tree: Tree, root: Spread, rng: np.random.Generator, depth: int) -> int:
    """Play the present policy once."""
    node, spread, walk = 0, root, []
    while len(walk) < depth:
        walk.append((node, spread))
        see_vectors(tree, node, spread)
        action = int(tree.action_values(node, tree.edge_lower).argmax())
        edge = _draw(tree, node, action, spread.probability, rng.random())
        if edge < 0:
            break
        node, spread = descend(tree, node, spread, edge)
    return _climb(tree, walk)


def by_upper(tree: Tree, root: Spread, rng: np.random.Generator, depth: int) -> int:
    """Follow the best upper bound to some beliefs not visited before."""
    node, spread, walk = 0, root, []
    size = tree.size
    while len(walk) < depth and tree.size - size < _NEW_PER_WALK:
        walk.append((node, spread))
        action = int(tree.action_values(node, tree.edge_upper).argmax())
        here = tree.edges_of(node)
        worth = np.where(spread.probability > 0, spread.probability * tree.edge_upper[here], 0.0)
        first = tree.model.edges(int(tree.block[node])).first
        total = worth[first[action] : first[action + 1]].sum()
        if total <= 0:
            break
        edge = _draw(tree, node, action, worth, rng.random() * total)
        node, spread = descend(tree, node, spread, edge)
    for node, spread in reversed(walk):
        back_up_upper(tree, node, spread)
    return len(walk)


def _draw(tree: Tree, node: int, action: int, weight: np.ndarray, drawn: float) -> int:
    """The edge of an action into whose share of the weights ``drawn`` falls; -1 beyond them all."""
    first = tree.model.edges(int(tree.block[node])).first
    share = weight[first[action] : first[action + 1]].cumsum()
    return -1 if drawn >= share[-1] else int(first[action] + share.searchsorted(drawn, side="right"))


def _climb(tree: Tree, walk: Walk) -> int:
    for node, spread in reversed(walk):
        back_up_lower(tree, node, spread)
        back_up_upper(tree, node, spread)
    return len(walk)
