"""Pruning: vectors that are best at no visited belief are dropped."""

import numpy as np

from whiffclock.pomdp.tree import Tree


def prune(tree: Tree) -> int:
    """Keep the blind policies and the vector of each node; returns the number of dropped vectors.

    A root that looks first has no vector of its own: its value is in those of its edges, which are kept. An edge that
    loses its vector takes that of its child, if visited; else its node compares all vectors at its next visit.
    """
    used, first = tree.vectors.used, tree.vectors.first
    offset = np.cumsum(used) - used
    nodes, edges = slice(0, tree.size), slice(0, tree.edges_used)
    looked = tree.edges_of(0) if tree.model.looks_first else slice(0, 0)
    kept = np.zeros(used.sum(), dtype=bool)
    kept[(offset[:, None] + np.arange(first)).ravel()] = True
    kept[offset[tree.block[nodes]] + tree.pick[nodes]] = True
    kept[offset[tree.edge_block[looked]] + tree.edge_pick[looked]] = True
    count = np.add.reduceat(kept, offset, dtype=np.int64)
    number = np.where(kept, np.cumsum(kept) - 1 - np.repeat(np.cumsum(count) - count, used), -1)
    tree.pick[nodes] = number[offset[tree.block[nodes]] + tree.pick[nodes]]
    tree.edge_pick[edges] = number[offset[tree.edge_block[edges]] + tree.edge_pick[edges]]
    smaller = np.flatnonzero(count < used).tolist()
    tree.vectors.keep({k: np.flatnonzero(kept[offset[k] : offset[k] + used[k]]) for k in smaller})
    _mend(tree, np.flatnonzero(tree.edge_pick[edges] < 0))
    return int((~kept).sum())


def _mend(tree: Tree, lost: np.ndarray) -> None:
    child = tree.child[lost]
    visited = child >= 0
    tree.edge_pick[lost[visited]] = tree.pick[child[visited]]
    tree.edge_lower[lost[visited]] = tree.lower[child[visited]]
    leaves = lost[~visited]
    tree.edge_pick[leaves], tree.edge_lower[leaves] = 0, -np.inf
    owner = np.searchsorted(tree.first_edge[: tree.size + 1], leaves, side="right") - 1
    tree.seen_vectors[owner] = 0
