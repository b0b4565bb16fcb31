"""Agents that sometimes move at random: animals and robots do not follow a policy exactly."""

from typing import Any

import numpy as np

from whiffclock.policy import Policy
from whiffclock.world.moves import N_ACTIONS


class Noisy(Policy):
    """A policy that replaces a share of its moves by random ones, and knows it: it remembers the moves that were made.

    Parameters
    ----------
    policy
        The policy.
    share
        Probability that a move is drawn from all moves instead.
    seed
        Seed of these moves.
    """

    def __init__(self, policy: Policy, share: float, seed: int = 0) -> None:
        self.policy, self.share, self.rng = policy, share, np.random.default_rng(seed)
        if hasattr(policy, "at_once"):
            self.at_once = policy.at_once

    @property
    def name(self) -> str:
        """The name of the policy."""
        return self.policy.name

    def begin(self, whiff: np.ndarray) -> Any:
        """As the policy begins."""
        return self.policy.begin(whiff)

    def act(self, memory: Any) -> np.ndarray:
        """Its moves, some of them replaced."""
        moves = np.asarray(self.policy.act(memory))
        return np.where(
            self.rng.random(moves.shape) < self.share, self.rng.integers(N_ACTIONS, size=moves.shape), moves
        )

    def observe(self, memory: Any, action: np.ndarray, whiff: np.ndarray) -> Any:
        """As the policy observes."""
        return self.policy.observe(memory, action, whiff)

    def mode(self, memory: Any) -> np.ndarray:
        """The mode of the policy."""
        return self.policy.mode(memory)

    def select(self, memory: Any, rows: np.ndarray) -> Any:
        """As the policy selects."""
        return self.policy.select(memory, rows)
