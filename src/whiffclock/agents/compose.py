"""Policies made of others, never trained: 2Q^h, and one mode alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whiffclock import __version__
from whiffclock.memory import rows_of_mode
from whiffclock.params import ClockSettings, require
from whiffclock.policy import ClockPolicy

HEURISTIC = "2Q^h"


def heuristic_two_q(dense: ClockPolicy, sparse: ClockPolicy, tau: int) -> ClockPolicy:
    """2Q^h: Q- from a single-Q agent of a dense plume, Q+ from one of a sparse plume.

    The whiff state is split, so that each mode surges as its own agent does.
    """
    for policy in (dense, sparse):
        require(
            policy.modes == 1,
            f"2Q^h is made of two single-mode policies; {policy.name} has {policy.modes} modes.",
        )
    require(
        dense.clock.horizon == sparse.clock.horizon,
        f"2Q^h needs two policies of one horizon; these have {dense.clock.horizon} and {sparse.clock.horizon}.",
    )
    clock = ClockSettings(horizon=dense.clock.horizon, taus=(tau,), split_zero=True)
    return ClockPolicy(
        name=HEURISTIC,
        clock=clock,
        actions=np.concatenate([dense.actions, sparse.actions]),
        made_from={"dense": dense.made_from, "sparse": sparse.made_from, "version": __version__},
    )


def one_mode(policy: ClockPolicy, mode: int) -> ClockPolicy:
    """The policy that always acts as ``policy`` does in one of its modes (Q- only, Q+ only)."""
    require(
        0 <= mode < policy.modes,
        f"{policy.name} has the modes 0 to {policy.modes - 1}; there is no mode {mode}.",
    )
    rows = rows_of_mode(policy.clock, mode)
    return replace(
        policy,
        name=f"{policy.name}, mode {mode} only",
        clock=ClockSettings(horizon=policy.clock.horizon),
        actions=policy.actions[rows],
        q=None if policy.q is None else policy.q[rows],
        records={},
    )
