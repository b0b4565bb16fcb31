"""Sampling: which beliefs to visit.

``by_bounds`` is the published algorithm (Kurniawati, Hsu and Lee 2008, Algorithm 2): follow the action with
the best upper bound and the observation with the most uncertain outcome, for as long as that may still
matter at the root. ``by_policy`` follows the current policy, with observations drawn from the model: it visits
the beliefs that the policy needs, and the lower bound rises fastest. ``by_upper`` does nothing for the lower
bound, and lowers the upper one at a fraction of the cost.

Each walks down from the root, then backs up along the way, and returns the number of backups.
"""

import math
from typing import Any

import numpy as np

from whiffclock.pomdp.backup import back_up_lower, back_up_upper, see_vectors
from whiffclock.pomdp.model import Spread, entropy
from whiffclock.pomdp.tree import DEEPEST, Tree

Walk = list[tuple[int, Spread]]

#: A gap below this share of the allowed gap counts as closed.
_CLOSED = 1e-3

#: New beliefs on one walk of :func:`by_upper`.
_NEW_PER_WALK = 8


def descend(tree: Tree, node: int, spread: Spread, edge: int) -> tuple[int, Spread]:
    """The child at ``edge`` (counted from the node's first), visited before or new."""
    model = tree.model
    belief: Any = model.child(spread, edge)
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
    elif tree.edge_lower[at] > tree.lower[child]:
        tree.lower[child], tree.pick[child] = tree.edge_lower[at], tree.edge_pick[at]
    return child, below


class Predictor:
    """Predicts the value of a belief from beliefs with a similar first upper bound and entropy.

    The prediction is the mean lower bound of the visited beliefs in the same bin; in an empty bin, the upper bound.
    """

    def __init__(self, tree: Tree, bins: int = 10) -> None:
        self._tree = tree
        self._width = max(float(tree.upper[0] - tree.lower[0]), 1e-12) / bins
        self._bins: dict[tuple[int, int], list[float]] = {}
        self._bin: dict[int, tuple[int, int]] = {}

    def visit(self, node: int, entropy: float) -> None:
        """Put a node into its bin."""
        if node not in self._bin:
            self._bin[node] = int(self._tree.upper[node] // self._width), int(2 * entropy)

    def learn(self, node: int) -> None:
        """A node's lower bound after a backup."""
        if node in self._bin:
            sums = self._bins.setdefault(self._bin[node], [0.0, 0.0])
            sums[0] += 1
            sums[1] += (float(self._tree.lower[node]) - sums[1]) / sums[0]

    def __call__(self, node: int) -> float:
        """The prediction."""
        sums = self._bins.get(self._bin.get(node, (0, 0)))
        return float(self._tree.upper[node]) if sums is None else sums[1]


def by_bounds(tree: Tree, epsilon: float, predictor: Predictor, *, onward: bool = False) -> int:
    """The published sampling: deep where it may help, until the gap is ``epsilon`` as seen from the root.

    ``floor`` and ``ceiling`` are the lower and the upper bound that the current belief would need for the root to
    be improved or closed; ``allowed`` is the gap that matters no more, this far from the root. A walk that goes
    ``onward`` does not return to a node that it has met: beliefs that lead to themselves would keep it in a loop.
    """
    node, spread, walk, met, turns = 0, tree.root, Walk(), set[int](), tree.turning()
    floor, ceiling, allowed = float(tree.lower[0]), float(tree.lower[0]) + epsilon, epsilon
    while node not in met:
        walk.append((node, spread))
        if onward:
            met.add(node)
        see_vectors(tree, node, spread)
        back_up_upper(tree, node, spread)
        lower, upper, gamma = tree.lower[node], tree.upper[node], tree.gamma(node)
        predictor.visit(node, entropy(spread.belief.weights))
        useless = predictor(node) <= floor and upper <= max(ceiling, lower + allowed)
        if useless or upper - lower <= _CLOSED * allowed:
            break
        low = tree.action_values(node, spread, tree.edge_lower)
        high = tree.action_values(node, spread, tree.edge_upper)
        best, action = float(low.max()), int(high.argmax())
        floor, ceiling = max(floor, best), max(ceiling, best + allowed)
        allowed /= gamma
        edge, worth = _most_uncertain(tree, node, spread, action, allowed, met)
        if worth <= 0 or len(walk) > DEEPEST or turns():
            break
        at = int(tree.first_edge[node]) + edge
        floor = float(tree.edge_lower[at]) + (floor - float(low[action])) / (gamma * worth)
        ceiling = float(tree.edge_upper[at]) + (ceiling - float(high[action])) / (gamma * worth)
        node, spread = descend(tree, node, spread, edge)
    steps = _climb(tree, walk)
    for node, _ in walk:
        predictor.learn(node)
    return steps


def _most_uncertain(
    tree: Tree, node: int, spread: Spread, action: int, allowed: float, met: set[int]
) -> tuple[int, float]:
    """The edge of an action with the most probable gap beyond what is allowed, and its probability, or 0 without a gap.

    Where no gap is beyond that, it is the most probable gap; the published rule would prefer the least probable edge.
    Edges to nodes that were ``met`` are left out.
    """
    here, of = tree.edges_of(node), tree.of_action(node, action)
    chance = spread.probability[of]
    if met:
        chance = np.where([child in met for child in tree.child[here][of].tolist()], 0.0, chance)
    gap = np.where(chance > 0, tree.edge_upper[here][of] - tree.edge_lower[here][of], 0.0)
    worth = chance * np.maximum(gap - allowed, 0.0)
    if not worth.any():
        worth = chance * gap
    chosen = int(worth.argmax())
    return of.start + chosen, float(chance[chosen]) if worth[chosen] > 0 else 0.0


def by_policy(tree: Tree, rng: np.random.Generator, depth: int) -> int:
    """Follow the current policy once."""
    return _climb(tree, played(tree, rng, depth))


def played(tree: Tree, rng: np.random.Generator, depth: int) -> Walk:
    """One search by the current policy, with observations drawn from the model."""
    node, spread, walk, turns = 0, tree.root, Walk(), tree.turning()
    while len(walk) < depth and not (walk and turns()):
        walk.append((node, spread))
        see_vectors(tree, node, spread)
        action = int(tree.action_values(node, spread, tree.edge_lower).argmax())
        if (edge := _draw(tree, node, action, spread.probability, rng.random())) < 0:
            break
        node, spread = descend(tree, node, spread, edge)
    return walk


def by_upper(tree: Tree, rng: np.random.Generator, depth: int) -> int:
    """Follow the best upper bound to some beliefs not visited before."""
    node, spread, walk, turns = 0, tree.root, Walk(), tree.turning()
    size = tree.size
    while len(walk) < depth and tree.size - size < _NEW_PER_WALK and not (walk and turns()):
        walk.append((node, spread))
        action = int(tree.action_values(node, spread, tree.edge_upper).argmax())
        worth = spread.probability * np.where(spread.probability > 0, tree.edge_upper[tree.edges_of(node)], 0.0)
        total = worth[tree.of_action(node, action)].sum()
        if total <= 0 or (edge := _draw(tree, node, action, worth, rng.random() * total)) < 0:
            break
        node, spread = descend(tree, node, spread, edge)
    for node, spread in reversed(walk):
        if not tree.late():
            back_up_upper(tree, node, spread)
    return len(walk)


def _draw(tree: Tree, node: int, action: int, weight: np.ndarray, drawn: float) -> int:
    """The edge of an action whose interval of the cumulated weights contains ``drawn``; -1 beyond them all."""
    of = tree.of_action(node, action)
    share = weight[of].cumsum()
    return -1 if drawn >= share[-1] else of.start + int(share.searchsorted(drawn, side="right"))


def _climb(tree: Tree, walk: Walk) -> int:
    for node, spread in reversed(walk):
        if not tree.late():
            back_up_lower(tree, node, spread)
            back_up_upper(tree, node, spread)
    return len(walk)
