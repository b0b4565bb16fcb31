"""Policies made from others without training: 2Q^h, and one mode alone."""

from dataclasses import replace

import numpy as np

from whiffclock import __version__
from whiffclock.formatting import mode_name
from whiffclock.memory import clock
from whiffclock.params import WorldSettings, require
from whiffclock.policy import TablePolicy, require_policy

HEURISTIC = "2Q^h"


def heuristic_two_q(dense: TablePolicy, sparse: TablePolicy, tau: int) -> TablePolicy:
    """2Q^h: Q- from a single-Q agent of a dense plume, Q+ from one of a sparse plume.

    The whiff state is split, so that each mode surges as its own agent does.

    Parameters
    ----------
    dense, sparse
        Policies with one mode on a clock of the same length.
    tau
        Blank threshold between the modes, in moves.

    Returns
    -------
    TablePolicy
        It has no threshold of its own.

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.heuristic_two_q(wc.cast_and_surge(10), wc.cast_and_surge(60), tau=12)
    TablePolicy(2Q^h, 1000 actions)
    """
    for policy in (dense, sparse):
        require_policy(policy)
        single = isinstance(policy, TablePolicy) and policy.memory.maker == "clock" and policy.modes == 1
        require(single, f"2Q^h is made of two single-mode policies on a clock; {policy.name} is not one.")
    lengths = [dense.memory.length, sparse.memory.length]
    require(lengths[0] == lengths[1], f"2Q^h needs two policies of one horizon; these have {lengths}.")
    made_from = {"dense": dense.made_from, "sparse": sparse.made_from, "version": __version__}
    worlds = [policy.made_from["world"] for policy in (dense, sparse) if "world" in policy.made_from]
    if worlds:
        radii = {WorldSettings.from_dict(world).radius for world in worlds}
        require(len(radii) == 1, f"2Q^h needs two policies for one source region; these have radii {sorted(radii)}.")
        made_from["world"] = worlds[0]
    actions = np.concatenate([dense.actions, sparse.actions])
    return TablePolicy(HEURISTIC, clock(lengths[0], (tau,), split_zero=True), actions, made_from)


def one_mode(policy: TablePolicy, mode: int) -> TablePolicy:
    """The policy that always acts as ``policy`` does in one of its modes (Q- only, Q+ only)."""
    on_clock = policy.memory.maker == "clock"
    require(on_clock, f"Only a policy on a clock can be confined to a mode; this one remembers {policy.memory.spec}.")
    rows = policy.memory.row[policy.memory.blank_nodes(mode)]
    return replace(
        policy,
        name=f"{policy.name}, {mode_name(mode, policy.modes)} only",
        memory=clock(len(rows)),
        actions=policy.actions[rows],
        q=None if policy.q is None else policy.q[rows],
        records={},
    )
