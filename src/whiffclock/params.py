"""Settings of every kind: frozen, validated, with the paper's values as defaults.

Each class checks itself on construction and raises :class:`InputError`, whose message is one sentence:
what is wrong, and what would be right.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self


class InputError(ValueError):
    """Bad input, told in one sentence that a user can act on."""


def require(condition: bool, sentence: str) -> None:
    """Raise :class:`InputError` with ``sentence`` unless ``condition`` holds."""
    if not condition:
        raise InputError(sentence)


#: Whiff thresholds of the paper's four environments, from rich to poor.
ENVIRONMENTS: dict[str, float] = {
    "denser": 1e-6,
    "dense": 3e-6,
    "sparse": 5e-6,
    "sparser": 7e-6,
}


def environment_name(threshold: float) -> str:
    """Name of the paper's environment at ``threshold``, or the threshold itself."""
    return next((name for name, value in ENVIRONMENTS.items() if value == threshold), f"{threshold:g}")


@dataclass(frozen=True)
class Settings:
    """Base of all settings: to and from plain dictionaries."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Inverse of :meth:`to_dict`; unknown names are refused."""
        unknown = set(values) - {f.name for f in fields(cls)}
        require(not unknown, f"{cls.__name__} has no setting called {', '.join(sorted(unknown))}.")
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


@dataclass(frozen=True)
class WorldSettings(Settings):
    """Where a search may start, where it ends, and what happens at the end of the record.

    Attributes
    ----------
    radius
        Radius of the terminal disc around the source, in cells.
    start_threshold
        Starts are the cells that exceed this at least once; ``None`` takes the environment's own
        threshold (R10).
    start_on_whiff
        Start at a snapshot in which the searcher smells odor (R10).
    end_of_record
        ``"wrap"`` goes on with the first snapshot (R1); ``"avoid"`` starts early enough never to
        reach the end.
    """

    radius: float = 2.0
    start_threshold: float | None = 7e-6
    start_on_whiff: bool = False
    end_of_record: Literal["wrap", "avoid"] = "wrap"

    def __post_init__(self) -> None:
        require(
            0 <= self.radius < math.inf,
            f"The source radius is {self.radius:g}; it must be 0 or more cells.",
        )
        if self.start_threshold is not None:
            require_threshold(self.start_threshold, "start threshold")
        require(
            self.end_of_record in ("wrap", "avoid"),
            f"end_of_record is {self.end_of_record!r}; it must be 'wrap' or 'avoid'.",
        )


def require_threshold(value: float, what: str = "threshold") -> None:
    """A threshold is a positive, finite concentration."""
    require(0 < value < math.inf, f"The {what} is {value:g}; it must be a positive concentration.")


def require_positive(settings: Settings, *names: str) -> None:
    """The named settings are positive, finite numbers."""
    for name in names:
        value = getattr(settings, name)
        require(0 < value < math.inf, f"{name} is {value:g}; it must be positive.")


@dataclass(frozen=True)
class ClockSettings(Settings):
    """The memory: a clock of ``horizon`` states, in as many modes as ``taus`` separate.

    Attributes
    ----------
    horizon
        H: number of clock states, and the longest episode.
    taus
        Increasing thresholds on the length of the last blank. None: single-Q; one: two-Q.
    split_zero
        Give every mode a whiff state of its own (R6); shared by default.
    literal_tau
        Take the Methods' tau_t = s_{t-1} by the letter, as an index of the state (R5).
    """

    horizon: int = 500
    taus: tuple[int, ...] = ()
    split_zero: bool = False
    literal_tau: bool = False

    def __post_init__(self) -> None:
        require(
            2 <= self.horizon <= 100_000,
            f"The horizon H is {self.horizon}; it must lie between 2 and 100000 steps.",
        )
        ordered = all(a < b for a, b in zip(self.taus, self.taus[1:], strict=False))
        inside = all(1 <= tau < self.horizon for tau in self.taus)
        require(
            ordered and inside,
            f"The blank thresholds tau are {list(self.taus)}; they must increase and lie between 1 "
            f"and H-1 = {self.horizon - 1}.",
        )

    @property
    def modes(self) -> int:
        """Number of modes k."""
        return len(self.taus) + 1

    @property
    def rows(self) -> int:
        """Number of rows of the Q-matrix."""
        return self.modes * self.horizon if self.split_zero else self.modes * (self.horizon - 1) + 1


@dataclass(frozen=True)
class LearningSettings(Settings):
    """Tabular Q-learning: schedules, discount, length.

    ``decay`` is the number of episodes over which learning rate and exploration fall linearly.
    """

    episodes: int = 3_000_001
    gamma: float = 0.998
    alpha_start: float = 0.1
    alpha_end: float = 1e-4
    alpha_decay: float = 2.5e6
    epsilon_start: float = 1.0
    epsilon_end: float = 1e-4
    epsilon_decay: float = 2.5e6
    q_start: float = -1.0
    bootstrap_at_horizon: bool = True
    curve_points: int = 300
    record_last: int = 500

    def __post_init__(self) -> None:
        require(
            1 <= self.episodes <= 10**12,
            f"The number of episodes is {self.episodes}; it must be at least 1.",
        )
        require(0 < self.gamma < 1, f"The discount gamma is {self.gamma:g}; it must lie between 0 and 1.")
        for name in ("alpha_start", "alpha_end", "epsilon_start", "epsilon_end"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"{name} is {value:g}; it must lie between 0 and 1.")
        for name in ("alpha_decay", "epsilon_decay"):
            value = getattr(self, name)
            require(0 < value < math.inf, f"{name} is {value:g}; it must be a positive number of episodes.")
        require(math.isfinite(self.q_start), f"q_start is {self.q_start:g}; it must be a number.")
        require(self.curve_points >= 1, f"curve_points is {self.curve_points}; it must be at least 1.")
        require(self.record_last >= 1, f"record_last is {self.record_last}; it must be at least 1.")

    @classmethod
    def shortened(cls, episodes: int, **changes: Any) -> Self:
        """The paper's schedule, squeezed in proportion into fewer (or stretched over more) episodes."""
        require(episodes >= 1, f"The number of episodes is {episodes}; it must be at least 1.")
        decay = cls.alpha_decay * episodes / cls.episodes
        return cls(**{"episodes": episodes, "alpha_decay": decay, "epsilon_decay": decay} | changes)


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """How a policy is judged: every start cell, ``snapshots`` start times each, the same for all (R11)."""

    snapshots: int = 16
    seed: int = 0
    gamma: float = 0.998
    horizon: int | None = None

    def __post_init__(self) -> None:
        require(
            self.snapshots >= 1,
            f"The number of start snapshots per cell is {self.snapshots}; it must be at least 1.",
        )
        require(self.seed >= 0, f"The seed is {self.seed}; it must be 0 or more.")
        require(0 < self.gamma < 1, f"The discount gamma is {self.gamma:g}; it must lie between 0 and 1.")
        require(
            self.horizon is None or self.horizon >= 1,
            f"The evaluation horizon is {self.horizon}; it must be at least 1 step.",
        )
