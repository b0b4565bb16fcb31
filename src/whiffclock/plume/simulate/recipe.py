"""What determines a simulated plume. The defaults are the recipe of the built-in one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from whiffclock.params import Settings, require, require_positive


def _require_not_negative(settings: Settings, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        require(0 <= value < math.inf, f"{name} is {value:g}; it must be 0 or more.")


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
    roughness_drag: float = 0.015
    roughness_height: float = 1 / 9
    slant: float = 0.25
    frame_share: float = 0.55

    def __post_init__(self) -> None:
        super().__post_init__()
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
        _require_not_negative(self, "roughness_drag")


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
    stretch
        Growth by eddies of the filament's own size, after Richardson: its variance also grows by this times the
        cube of its age.
    walk, memory
        Diffusivity of the random velocity that stands for eddies below the grid, and the time it lasts.
    strength
        Odor per filament.
    contrast, contrast_far
        What mixing between filaments leaves of the fluctuations of the logarithm of the concentration, near the source
        and far from it; 1: no mixing.
    turn
        Distance from the source, in cells, at which the contrast turns from one to the other, within about a depth.
    """

    source_height: float = 1.8
    slice_height: float = 1.1
    filaments: int = 80
    size: float = 0.15
    growth: float = 0.0002
    stretch: float = 0.0
    walk: float = 0.004
    memory: float = 5.0
    strength: float = 2.085e-6
    contrast: float = 0.465
    contrast_far: float = 0.365
    turn: float = 55.0

    def __post_init__(self) -> None:
        require_positive(self, "source_height", "slice_height", "filaments", "size", "memory", "strength", "turn")
        _require_not_negative(self, "growth", "stretch", "walk")
        for name in ("contrast", "contrast_far"):
            value = getattr(self, name)
            require(0 < value <= 1, f"{name} is {value:g}; it must lie above 0 and be at most 1.")


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
        _require_not_negative(self, "spin_up", "fill", "seed")
        for name in ("source_height", "slice_height"):
            value = getattr(self.odor, name)
            require(
                value < self.flow.depth,
                f"{name} is {value:g} cells; it must lie below the top of the flow, {self.flow.depth:g} cells.",
            )
