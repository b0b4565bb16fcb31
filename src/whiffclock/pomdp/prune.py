"""Pruning: vectors that are best at no visited belief are dropped."""

import numpy as np

from whiffclock.pomdp.tree import Tree


def prune(tree: Tree) -> int:
    """Keep the blind policies and the vector of each node; returns how many vectors went.

    A root that looks first has no vector of its own: its value is in those of its edges, which are kept.

    An edge that loses its vector takes that of its child, if that was visited; else its node compares all
    vectors anew when it is next visited.
    """
    before = len(tree.vectors)
    nodes, edges = slice(0, tree.size), slice(0, tree.edges_used)
    blocks, edge_blocks = tree.block[nodes], tree.edge_block[edges]
    looked = tree.edges_of(0) if tree.model.looks_first else slice(0, 0)
    kept, number = [], []
    for k in range(tree.model.n_blocks):
        of_block = np.zeros(len(tree.vectors.actions(k)), dtype=bool)
        of_block[: tree.vectors.first] = True
        of_block[tree.pick[nodes][blocks == k]] = True
        of_block[tree.edge_pick[looked][tree.edge_block[looked] == k]] = True
        kept.append(np.flatnonzero(of_block))
        number.append(np.where(of_block, np.cumsum(of_block) - 1, -1))
    tree.vectors.keep(kept)
    for k, new in enumerate(number):
        here = blocks == k
        tree.pick[nodes][here] = new[tree.pick[nodes][here]]
        here = edge_blocks == k
        tree.edge_pick[edges][here] = new[tree.edge_pick[edges][here]]
    _mend(tree, np.flatnonzero(tree.edge_pick[edges] < 0))
    return before - len(tree.vectors)


def _mend(tree: Tree, lost: np.ndarray) -> None:
    child = tree.child[lost]
    visited = child >= 0
    tree.edge_pick[lost[visited]] = tree.pick[child[visited]]
    tree.edge_lower[lost[visited]] = tree.lower[child[visited]]
    leaves = lost[~visited]
    tree.edge_pick[leaves], tree.edge_lower[leaves] = 0, -np.inf
    owner = np.searchsorted(tree.first_edge[: tree.size + 1], leaves, side="right") - 1
    tree.seen_vectors[owner] = 0
