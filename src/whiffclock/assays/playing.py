"""Recoveries of agents after the histories of a protocol, and recoveries in general."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whiffclock.agents.noise import Noisy
from whiffclock.assays.protocol import Protocol
from whiffclock.params import require
from whiffclock.policy import Policy
from whiffclock.world.loop import search
from whiffclock.world.worlds import ScriptWorld

#: Plays at the same time, unless a policy has a number ``at_once`` that is smaller.
_SIDE_BY_SIDE = 8192


@dataclass(frozen=True, eq=False)
class Sample:
    """Sample after several conditions, of one agent or of animals, each from its last whiff on.

    Of an agent, conditions are histories, and each repeat counts as an individual.
    """

    name: str
    paths: np.ndarray  # [recovery, move + 1, axis] from (0, 0)
    condition: np.ndarray  # int[recovery]
    individual: np.ndarray  # int[recovery]
    conditions: tuple[str, ...]
    drawn: bool = False  # whether the conditions are a sample of many
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.paths)


def play(policy: Policy, protocol: Protocol, name: str = "", progress: Callable[[int], None] | None = None) -> Sample:
    """Play every history ``repeats`` times, then the long blank; what comes before the last whiff is set aside."""
    settings, count = protocol.settings, len(protocol.histories)
    if settings.noise:
        policy = Noisy(policy, settings.noise, settings.seed)
    history = np.repeat(np.arange(count), settings.repeats)
    script, last = protocol.script[:, history], protocol.last_whiff[history]
    at_once = min(_SIDE_BY_SIDE, getattr(policy, "at_once", _SIDE_BY_SIDE))
    parts = []
    for first in range(0, len(history), at_once):
        some = slice(first, first + at_once)
        parts.append(_played(policy, script[:, some], last[some], settings.blank))
        if progress is not None:
            progress(len(parts[-1]))
    paths, conditions = np.concatenate(parts), tuple(protocol.histories)
    return Sample(name or policy.name, paths, history, np.arange(len(history)), conditions, protocol.drawn is not None)


def _played(policy: Policy, script: np.ndarray, last: np.ndarray, blank: int) -> np.ndarray:
    """Paths int[play, blank + 1, 2] after the last whiff of each column of a script, at observation ``last``."""
    plays, steps = np.arange(len(last)), len(script) - 1 + blank
    positions = np.empty((steps + 1, len(last), 2), dtype=np.int32)
    for moment in search(policy, ScriptWorld(len(last), script), steps):
        positions[moment.step] = moment.position
    when = last[:, None] + np.arange(blank + 1)
    paths = positions[when, plays[:, None]]
    return paths - paths[:, :1]


def require_comparable(sample: Sample) -> None:
    """Refuse recoveries in which chance and history cannot be told apart."""
    pairs = np.unique(np.stack([sample.condition, sample.individual]), axis=1)[0]
    count = np.bincount(pairs, minlength=len(sample.conditions))
    require(len(count) >= 2, f"There are recoveries in {len(count)} conditions; they can be compared from 2 on.")
    few = [f"{name!r} has {n}" for name, n in zip(sample.conditions, count, strict=True) if n < 2]
    require(not few, f"Each condition needs 2 individuals at least; {', '.join(few)}.")
