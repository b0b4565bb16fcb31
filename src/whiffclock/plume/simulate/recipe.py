"""What determines a simulated plume. The defaults are the recipe of the built-in one."""

import math
from dataclasses import dataclass, field

from whiffclock.params import Settings, require, require_positive


def _require_not_negative(settings: Settings, *names: str) -> None:
    for name in names:
        value = getattr(settings, name)
        require(0 <= value < math.inf, f"{name} is {value:g}; it must be 0 or more.")


@dataclass(frozen=True)
class FlowSettings(Settings):
    """A turbulent open channel. Lengths in cells, times in snapshots."""

    depth: float = 8.745  # h, the height of the channel
    period: tuple[float, float] = (6.0, 4.0)  # of the box along and across, in depths
    points: tuple[int, int, int] = (96, 96, 32)  # of the grid along, across, and in z
    stretching: float = 1.3  # of the tanh that clusters points at the ground; 0 spaces them evenly
    wind: float = 1.113  # bulk speed
    reynolds: float = 2400.0  # bulk speed times depth over viscosity
    roughness_drag: float = 0.015  # drag coefficient per cell of the canopy
    roughness_height: float = 1 / 9  # of the canopy, in depths
    slant: float = 0.25  # tangent of the angle between wind and box
    frame_share: float = 0.55  # the computation moves with this share of the wind

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
    """A point source of odor in the flow, as thin filaments. Lengths in cells, times in snapshots."""

    source_height: float = 1.8
    slice_height: float = 1.1  # of the slice on which the agents move
    filaments: int = 80  # released per snapshot
    size: float = 0.15  # standard deviation of a fresh filament
    growth: float = 0.0002  # diffusivity by which a filament swells: its variance grows by twice this per snapshot
    stretch: float = 0.0  # Richardson growth: the variance also grows by this times the cube of the filament's age
    walk: float = 0.004  # diffusivity of the random velocity that stands for eddies below the grid
    memory: float = 5.0  # how long that velocity lasts
    strength: float = 2.085e-6  # odor per filament
    # What mixing between filaments leaves of the fluctuations of the logarithm of the concentration (1: no mixing),
    # near the source and far from it; it turns from one to the other at the distance ``turn``, within about a depth.
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
    """A simulated plume: the agents' grid with the source at (0, width // 2), the record, the flow and the odor."""

    snapshots: int = 2598
    length: int = 123
    width: int = 27
    spin_up: int = 250  # snapshots until the flow is turbulent
    fill: int = 185  # and then until the plume fills the grid
    steps: int = 2  # time steps per snapshot
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
