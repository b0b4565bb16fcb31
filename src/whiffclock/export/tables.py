"""The states of a policy as JSON and CSV."""

from __future__ import annotations

import json

from whiffclock import __version__
from whiffclock.policy import TablePolicy
from whiffclock.world.moves import ACTIONS

FORMAT = "whiffclock controller 1"


def as_json(policy: TablePolicy) -> str:
    """One object: the move of each state, the states after a blank and a whiff, and the first state after either."""
    memory = policy.memory
    values = {
        "format": FORMAT,
        "version": __version__,
        "name": policy.name,
        "actions": ACTIONS,
        "action": policy.actions[memory.row].tolist(),
        "after_blank": memory.next_node[:, 0].tolist(),
        "after_whiff": memory.next_node[:, 1].tolist(),
        "first": {"blank": int(memory.first[0]), "whiff": int(memory.first[1])},
        "mode": memory.mode.tolist(),
        "made_from": policy.made_from,
    }
    return json.dumps(values) + "\n"


def as_csv(policy: TablePolicy) -> str:
    """One row per state."""
    return policy.to_pandas().to_csv(index=False, lineterminator="\n")
