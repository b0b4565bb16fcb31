"""Backups: the bounds of a node from those of its children."""

import numpy as np

from whiffclock.pomdp.model import Spread
from whiffclock.pomdp.tree import Tree

#: A vector is added where it raises the bound by at least this share of the gap.
_WORTHWHILE = 1e-4


def see_vectors(tree: Tree, node: int, spread: Spread) -> None:
    """Compare the children of a node with the vectors that are new to it."""
    here = tree.edges_of(node)
    tree.vectors.improve(spread, int(tree.seen_vectors[node]), tree.edge_lower[here], tree.edge_pick[here])
    tree.seen_vectors[node] = tree.vectors.stamp


def back_up_lower(tree: Tree, node: int, spread: Spread) -> None:
    """Add a vector if one step of looking ahead gives a better one."""
    see_vectors(tree, node, spread)
    values = tree.action_values(node, spread, tree.edge_lower)
    action = int(values.argmax())
    if values[action] <= tree.lower[node] + _WORTHWHILE * (tree.upper[node] - tree.lower[node]):
        return
    if node == 0 and tree.model.looks_first:
        tree.lower[node] = values[action]
        return
    number = tree.vectors.back_up(spread, action, tree.edge_pick[tree.edges_of(node)])
    value = tree.vectors.value(spread.belief, number)
    if value > tree.lower[node]:  # rounding may cancel the gain
        tree.lower[node], tree.pick[node] = value, number


def back_up_upper(tree: Tree, node: int, spread: Spread) -> None:
    """Lower a node's upper bound to the value that those of its children give.

    Only the best action's children are updated: the others matter only when they become the best.
    """
    here = tree.edges_of(node)
    child = tree.child[here]
    visited = child >= 0
    tree.edge_upper[here][visited] = np.minimum(tree.edge_upper[here][visited], tree.upper[child[visited]])
    values = tree.action_values(node, spread, tree.edge_upper)
    stamp = tree.bound.stamp
    while tree.seen_upper[node, action := int(values.argmax())] < stamp:
        tree.bound.children(spread, int(tree.seen_upper[node, action]), tree.edge_upper[here], action)
        tree.seen_upper[node, action] = stamp
        values = tree.action_values(node, spread, tree.edge_upper)
    value = float(values.max())
    if value < tree.upper[node]:
        tree.upper[node] = value
        tree.bound.learn(spread.belief, value)
