"""Settings of every kind: frozen, validated, with the paper's values as defaults.

Each class checks itself on construction and raises :class:`InputError`, whose message is one sentence:
what is wrong, and what would be right.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
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


@dataclass(frozen=True)
class FlowSettings(Settings):
    """A turbulent open channel. Lengths in cells, times in snapshots.

    Attributes
    ----------
    depth
        h, the height of the channel.
    period
        Periods of the box along and across, in depths.
    points
        Grid points along, across, and in z.
    stretching
        Of the tanh that clusters points at the ground; 0 spaces them evenly.
    wind
        Bulk speed.
    reynolds
        Bulk speed times depth over viscosity.
    roughness_drag, roughness_height
        Drag coefficient per cell of the canopy, and its height in depths.
    slant
        Tangent of the angle between wind and box.
    frame_share
        The computation moves with this share of the wind.
    """

    depth: float = 8.745
    period: tuple[float, float] = (6.0, 4.0)
    points: tuple[int, int, int] = (96, 96, 32)
    stretching: float = 1.3
    wind: float = 1.113
    reynolds: float = 2400.0
    roughness_drag: float = 0.1
    roughness_height: float = 1 / 9
    slant: float = 0.25
    frame_share: float = 0.55

    def __post_init__(self) -> None:
        require_positive(self, "depth", "wind", "reynolds", "roughness_height")
        require(
            all(0 < p < math.inf for p in self.period),
            f"The periods of the box are {list(self.period)}; they must be positive numbers of depths.",
        )
        require(
            all(n % 2 == 0 and 8 <= n <= 1024 for n in self.points[:2]) and 8 <= self.points[2] <= 512,
            f"The grid has {list(self.points)} points; it needs even numbers from 8 to 1024 along and across, "
            "and 8 to 512 in z.",
        )
        require(0 <= self.stretching <= 4, f"stretching is {self.stretching:g}; it must lie between 0 and 4.")
        require(
            0 <= self.roughness_drag < math.inf,
            f"roughness_drag is {self.roughness_drag:g}; it must be 0 (smooth) or more.",
        )


@dataclass(frozen=True)
class OdorSettings(Settings):
    """A point source of odor in the flow, as thin filaments. Lengths in cells, times in snapshots.

    Attributes
    ----------
    source_height, slice_height
        Height of the source, and of the slice on which the agents move.
    filaments
        Released per snapshot.
    size
        Standard deviation of a fresh filament.
    growth
        Diffusivity by which a filament swells: its variance grows by twice this per snapshot.
    walk, memory
        Diffusivity of the random velocity that stands for eddies below the grid, and the time it lasts.
    strength
        Odor per filament.
    """

    source_height: float = 1.75
    slice_height: float = 1.2
    filaments: int = 150
    size: float = 0.2
    growth: float = 0.0004
    walk: float = 0.012
    memory: float = 30.0
    strength: float = 1e-6

    def __post_init__(self) -> None:
        require_positive(self, "source_height", "slice_height", "filaments", "size", "memory", "strength")
        for name in ("growth", "walk"):
            value = getattr(self, name)
            require(0 <= value < math.inf, f"{name} is {value:g}; it must be 0 or more.")


@dataclass(frozen=True)
class SimulationSettings(Settings):
    """A simulated plume: the agents' grid, the record, the flow and the odor.

    Attributes
    ----------
    snapshots, length, width
        The record: snapshots of length x width cells, source at (0, width // 2).
    spin_up, fill
        Snapshots until the flow is turbulent, and then until the plume fills the grid.
    steps
        Time steps per snapshot.
    """

    snapshots: int = 2598
    length: int = 123
    width: int = 27
    spin_up: int = 250
    fill: int = 185
    steps: int = 2
    seed: int = 0
    flow: FlowSettings = field(default_factory=FlowSettings)
    odor: OdorSettings = field(default_factory=OdorSettings)

    def __post_init__(self) -> None:
        require_positive(self, "length", "width", "steps")
        require(self.snapshots >= 2, f"The number of snapshots is {self.snapshots}; it must be at least 2.")
        for name in ("spin_up", "fill", "seed"):
            value = getattr(self, name)
            require(value >= 0, f"{name} is {value}; it must be 0 or more.")
        for name in ("source_height", "slice_height"):
            value = getattr(self.odor, name)
            require(
                value < self.flow.depth,
                f"{name} is {value:g} cells; it must lie below the top of the flow, {self.flow.depth:g} cells.",
            )
