"""Searches with only blanks, step by step: what recovery paths from tables must agree with."""

import numpy as np

from whiffclock.world.loop import search
from whiffclock.world.worlds import ScriptWorld


def follow_blanks(policy, memory, steps):
    """Positions int[search, steps + 1, 2] from (0, 0); ``memory`` is that of the searches there."""
    world = ScriptWorld(len(policy.act(memory)))
    return np.stack([moment.position for moment in search(policy, world, steps, memory)], axis=1)
