"""A policy with a finite memory as numbered states, in the form in which exports write it.

Every memory has long stretches in which a blank leads from state n to n + 1 and a whiff to one and the same state: a
clock consists of such a stretch per mode. These are written as comparisons. A *head* of other states, the first
``head`` ones, is written as a table of successors. The head is chosen so that table and comparisons are small together:
clocks have none, windows one of a few states, and most controllers consist of nothing else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.params import LearningSettings, OptimizeSettings, Settings, WorldSettings, require
from whiffclock.policy import Policy, TablePolicy, require_policy, runs

#: Bytes of code that a comparison takes, approximately.
_PER_COMPARISON = 8
#: The longest run in a byte with an action.
LONGEST_RUN = 64
_SETTINGS: dict[str, type[Settings]] = {
    "learning": LearningSettings,
    "optimize": OptimizeSettings,
    "world": WorldSettings,
}
_LONG = ("found", "origin", "plume_origin")


@dataclass(frozen=True, eq=False)
class Machine:
    """The states of a policy: int[state] actions, int[state, whiff] successors, int[whiff] the first state."""

    actions: np.ndarray
    after: np.ndarray
    first: np.ndarray
    provenance: str  # what made the policy, as text

    @classmethod
    def of(cls, policy: Policy) -> Machine:
        """The states of a policy; others than those with a finite memory are refused."""
        require_policy(policy)
        memory = "its memory is no finite table; an agent on a clock, a window or a controller can be exported"
        if not isinstance(policy, TablePolicy):
            require(False, f"A {policy.name} policy cannot be exported, since {memory}.")
        assert isinstance(policy, TablePolicy)
        actions = policy.actions[policy.memory.row].astype(np.int64)
        tables = policy.memory.next_node.astype(np.int64), policy.memory.first.astype(np.int64)
        return cls(actions, *tables, provenance_of(policy))

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.actions)

    @property
    def bits(self) -> int:
        """Bits of an unsigned integer that holds a state."""
        return next(bits for bits in (8, 16, 32) if self.states <= 2**bits)

    @cached_property
    def head(self) -> int:
        """Number of states whose successors are written as a table."""
        blank, whiff = self.after.T
        state = np.arange(self.states)
        odd = (blank != state + 1).astype(int)
        odd[:-1] += whiff[1:] != whiff[:-1]  # a run of equal successors ends
        odd[-1] += 1
        comparisons = np.append(np.cumsum(odd[::-1])[::-1], 0)  # in the states from h on
        return int(np.argmin(2 * self.bits // 8 * np.arange(self.states + 1) + _PER_COMPARISON * comparisons))

    @cached_property
    def jumps(self) -> list[tuple[int, int]]:
        """States behind the head that a blank does not lead to the next one, with the state it leads to."""
        tail = range(self.head, self.states)
        return [(n, int(self.after[n, 0])) for n in tail if self.after[n, 0] != n + 1]

    @cached_property
    def ranges(self) -> list[tuple[int, int]]:
        """Ranges of states behind the head that a whiff leads to the same state: end of the range, and that state."""
        found, end = [], self.head
        for target, same in groupby(self.after[self.head :, 1].tolist()):
            end += len(list(same))
            found.append((end, target))
        return found

    @cached_property
    def packed(self) -> bytes:
        """Actions of four states in each byte, two bits for each, the first state lowest."""
        four = np.pad(self.actions, (0, -self.states % 4)).reshape(-1, 4)
        return bytes((four << np.array([0, 2, 4, 6])).sum(axis=1).tolist())

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """Runs of equal actions, action and length; none is longer than 64 states."""
        parts = [(action, length) for action, length in runs(self.actions)]
        return [
            (action, min(LONGEST_RUN, length - done))
            for action, length in parts
            for done in range(0, length, LONGEST_RUN)
        ]

    @property
    def by_runs(self) -> bool:
        """Whether runs are the smaller table; they need the place in the runs, which a head does not have."""
        return self.head == 0 and len(self.runs) < min(len(self.packed), 2**8)

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables."""
        moves = len(self.runs) if self.by_runs else len(self.packed)
        return moves + 2 * self.head * self.bits // 8


def provenance_of(policy: Policy) -> str:
    """What made a policy, in one line of ASCII: settings that differ from the defaults, seed, plume, version."""
    made: dict[str, Any] = {}
    for name, value in policy.made_from.items():
        if name in _SETTINGS and isinstance(value, dict):
            usual = _SETTINGS[name]().to_dict()
            value = {key: one for key, one in value.items() if one != usual.get(key)}
        if name not in _LONG and value != {}:
            made[name] = value
    text = json.dumps(made, default=str)
    return f"{json.dumps(policy.name)[1:-1]}, made from {text}; exported by whiffclock {__version__}"
