"""The reward of a search: 1 for the move that enters the source region, -(1 - gamma) for any other (paper, Methods).

The kernel of Q-learning has the same rule compiled (:func:`whiffclock.world.episode.learn`), and a test compares them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def move_reward(arrived: np.ndarray, gamma: float) -> np.ndarray:
    """Reward of one move of each search, from whether it arrived."""
    return np.where(arrived, 1.0, -(1.0 - gamma))


def arrival_reward(moves: Any, gamma: float) -> Any:
    """Discounted reward of an arrival after some moves if the others cost nothing, as in the model of a POMDP."""
    return gamma ** (moves - 1)


def discounted_reward(arrival: np.ndarray, horizon: int, gamma: float) -> np.ndarray:
    """G: the sum of gamma**t times the reward of move t.

    ``arrival`` is the number of moves to the source, 0 for a search that did not find it in ``horizon`` moves.
    """
    return np.where(arrival > 0, 2 * arrival_reward(np.maximum(arrival, 1), gamma) - 1, gamma**horizon - 1)


def summed_reward(arrival: np.ndarray, horizon: int, gamma: float) -> np.ndarray:
    """The sum of the same rewards without discount."""
    cost = 1 - gamma
    return np.where(arrival > 0, 1 - cost * (np.maximum(arrival, 1) - 1), -cost * horizon)
