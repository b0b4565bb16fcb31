"""The graph of a finite-state memory: the nodes that a search can reach, and chains of equal moves among them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from whiffclock.memory import Memory
from whiffclock.policy import TablePolicy


class Chain(NamedTuple):
    """Nodes with one action and one node after a whiff, one after the other on blanks, entered at the first alone."""

    nodes: tuple[int, ...]
    action: int
    blank: int  # the node after a blank at its end
    whiff: int  # the node after a whiff


def reachable(memory: Memory) -> list[int]:
    """Nodes that a search can reach: the recovery paths first, then those that lead to them or branch off from them."""
    found = _onward(memory, memory.first.tolist())
    return _onward(memory, [*(node for node in memory.after_whiff.tolist() if node in found), *found])


def _onward(memory: Memory, entered: list[int]) -> list[int]:
    """All nodes that follow some others, which are among them, path on blanks by path."""
    found: dict[int, None] = {}
    for node in entered:  # which grows
        while node not in found:
            found[node] = None
            blank, whiff = memory.next_node[node].tolist()
            entered.append(whiff)
            node = blank
    return [*found]


def chains(policy: TablePolicy) -> list[Chain]:
    """The nodes that a search can reach, in chains; each begins with the node that the others lead to."""
    order, next_node = reachable(policy.memory), policy.memory.next_node.tolist()
    action = dict(zip(order, policy.actions[policy.memory.row[order]].tolist(), strict=True))
    entries = Counter([*policy.memory.first.tolist(), *(to for node in order for to in next_node[node])])
    found: list[list[int]] = []
    for node in order:
        before = found[-1][-1] if found else node
        looks = [(action[one], next_node[one][1]) for one in (before, node)]
        if next_node[before][0] == node != before and entries[node] == 1 and looks[0] == looks[1]:
            found[-1].append(node)
        else:
            found.append([node])
    return [Chain(tuple(nodes), action[nodes[0]], *next_node[nodes[-1]]) for nodes in found]
