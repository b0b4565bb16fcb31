"""Policies as vectors over all states, which is how files hold them."""

from __future__ import annotations

import numpy as np

from whiffclock.pomdp.blocks import BlockModel
from whiffclock.pomdp.model import Vectors


def worst_value(model: BlockModel) -> float:
    """What no policy can fall below."""
    return float(model.tables.reward.min()) / (1 - model.discount)


def to_table(model: BlockModel, vectors: Vectors) -> tuple[np.ndarray, np.ndarray]:
    """All vectors over all states, float64[vector, state], and their actions.

    A block's vector says nothing of states outside it: it is -inf there. Within a value of the visible
    variables that it covers in part, it has the worst value instead, which is a lower bound as well.
    """
    tables = model.tables
    rows, actions = [], []
    for k, states in enumerate(model.states):
        if model.looks_first and k == model.block(model.root()):
            continue
        empty = np.full(len(tables.states), -np.inf)
        if tables.visible is not None:
            empty[np.isin(tables.visible, tables.visible[states])] = worst_value(model)
        table = np.tile(empty, (len(vectors.actions(k)), 1))
        table[:, states] = vectors.array(k)
        rows.append(table)
        actions.append(vectors.actions(k))
    return np.concatenate(rows), np.concatenate(actions)


def from_table(model: BlockModel, table: np.ndarray, actions: np.ndarray) -> list[tuple[int, np.ndarray, int]]:
    """Vectors to start from, as (block, vector, action): each where it says something of the whole block."""
    start = []
    for k, states in enumerate(model.states):
        part = table[:, states]
        whole = np.flatnonzero(np.isfinite(part).all(axis=1))
        start += [(k, part[i], int(actions[i])) for i in whole]
    return start
