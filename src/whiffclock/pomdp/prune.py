"""Pruning: vectors that are best at no visited belief are dropped, and in the end all that others can replace."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from whiffclock.pomdp.tree import Tree

#: Share of the gap at the root that thinning may cost in all: at each step, 1 - discount times as much.
_SLACK = 1e-2
#: Memory for visited beliefs; the vectors of those for which there is no room are kept.
_ROOM = 2**28


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


def thin(tree: Tree) -> None:
    """Drop vectors that others can replace, within a slack, at every visited belief; the bound at the root stays.

    In each block, the vector that most beliefs call their best is kept, with it go all beliefs for which it is good
    enough, and so on until no belief is left. The tree is of no use afterwards.
    """
    vectors, slack = tree.vectors, _SLACK * (1 - tree.model.discount) * float(tree.upper[0] - tree.lower[0])
    beliefs, lower, nodes = _visited(tree), tree.lower[: tree.size], defaultdict[int, list[int]](list)
    always = defaultdict[int, set[int]](set)
    for node in range(tree.size):
        k = int(tree.block[node])
        nodes[k].append(node) if node in beliefs else always[k].add(int(tree.pick[node]))
    looked = range(*tree.edges_of(0).indices(tree.edges_used)) if tree.model.looks_first else ()
    for block, number in [(tree.block[0], tree.pick[0]), *((tree.edge_block[e], tree.edge_pick[e]) for e in looked)]:
        always[int(block)].add(int(number))
    kept = {}
    for k, used in enumerate(vectors.used.tolist()):
        here, matrix = np.array(nodes[k], dtype=np.int64), vectors.array(k)
        chosen = always[k] | set(range(min(vectors.first, used)))
        weights = np.array([beliefs[node].weights for node in nodes[k]]).reshape(len(here), matrix.shape[1])
        best = tree.pick[here]
        need = np.minimum(lower[here] - slack, np.einsum("ij,ij->i", weights, matrix[best]))
        left = np.flatnonzero((weights @ matrix[sorted(chosen)].T).max(axis=1, initial=-np.inf) < need)
        while len(left):
            number = int(np.bincount(best[left]).argmax())
            chosen.add(number)
            left = left[(best[left] != number) & (weights[left] @ matrix[number] < need[left])]
        kept[k] = np.array(sorted(chosen))
    vectors.keep({k: chosen for k, chosen in kept.items() if len(chosen) < vectors.used[k]})


def _visited(tree: Tree) -> dict[int, Any]:
    """Visited beliefs by node, computed again on the way down from the root, as many as there is room for."""
    found, waiting, room = {0: tree.root.belief}, [0], _ROOM
    while waiting and room > 0:
        node = waiting.pop()
        children = tree.child[tree.edges_of(node)]
        new = {int(children[e]): e for e in np.flatnonzero(children >= 0).tolist() if int(children[e]) not in found}
        spread: Any = tree.model.spread(found[node]) if new else None
        for child, edge in new.items():
            belief: Any = tree.model.child(spread, edge)
            found[child] = replace(belief, weights=belief.weights.copy())
            room -= belief.weights.nbytes
            waiting.append(child)
    return found
