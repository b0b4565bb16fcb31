"""Settings of a simulated plume. The defaults make the built-in one."""

import math
from dataclasses import dataclass, field
from typing import Annotated

from whiffclock.params import NOT_NEGATIVE, POSITIVE, Count, Settings, Valid, require, require_memory


@dataclass(frozen=True)
class FlowSettings(Settings):
    """A turbulent open channel. Lengths in cells, times in snapshots."""

    depth: Annotated[float, "Depth of the channel, in cells.", POSITIVE] = 14.0
    period: Annotated[tuple[float, float], POSITIVE] = (4.0, 2.667)  # of the box along and across, in depths
    points: Annotated[tuple[int, int, int], "Grid of the flow: points along, across, and in z."] = (96, 96, 32)
    stretching: Annotated[float, Valid(ge=0, le=4)] = 1.3  # of the tanh that clusters points at the ground; 0: evenly
    wind: Annotated[float, "Bulk speed, in cells per snapshot.", POSITIVE] = 0.9
    reynolds: Annotated[float, "Bulk Reynolds number: speed times depth over viscosity.", POSITIVE] = 2400.0
    roughness_drag: Annotated[float, "Drag of the canopy, per cell; 0: smooth.", NOT_NEGATIVE] = 0.03
    roughness_height: Annotated[float, POSITIVE] = 1 / 9  # of the canopy, in depths
    slant: float = 0.25  # tangent of the angle between wind and box
    frame_share: float = 0.55  # the computation moves with this share of the wind

    def __post_init__(self) -> None:
        super().__post_init__()
        possible = all(n % 2 == 0 and 8 <= n <= 1024 for n in self.points[:2]) and 8 <= self.points[2] <= 512
        needed = "even numbers from 8 to 1024 along and across, and 8 to 512 in z"
        require(possible, f"The grid has {list(self.points)} points; it needs {needed}.")


@dataclass(frozen=True)
class OdorSettings(Settings):
    """A point source of odor in the flow, as thin filaments. Lengths in cells, times in snapshots.

    ``walk`` and ``memory``, the options --eddy-diffusivity and --eddy-time, are diffusivity and correlation time of the
    eddies that are smaller than the grid of the flow. Stored plumes contain these names.
    """

    source_height: Annotated[float, "Height of the source, in cells.", POSITIVE] = 5.04
    slice_height: Annotated[float, "Height of the slice on which the agents move, in cells.", POSITIVE] = 4.9
    filaments: Annotated[int, "Filaments released per snapshot.", Valid(ge=1, le=10**6)] = 80
    size: Annotated[float, "Size of a fresh filament (standard deviation), in cells.", POSITIVE] = 0.15
    growth: Annotated[
        float,
        "Diffusivity inside a filament; its variance grows by 2 X per snapshot.",
        NOT_NEGATIVE,
    ] = 0.00085
    stretch: Annotated[float, "Richardson growth: X age^3 is added to a filament's variance.", NOT_NEGATIVE] = 0.0
    walk: Annotated[
        float, "Diffusivity of the random velocity that models eddies smaller than the flow grid.", NOT_NEGATIVE
    ] = 0.03
    memory: Annotated[float, "Correlation time of that velocity, in snapshots.", POSITIVE] = 2.0
    strength: Annotated[float, "Odor per filament.", POSITIVE] = 2.085e-6


@dataclass(frozen=True)
class SimulationSettings(Settings):
    """A simulated plume: the agents' grid with the source at (0, width // 2), the record, the flow and the odor."""

    snapshots: Annotated[int, "Number of snapshots.", Valid(ge=2)] = 2598
    length: Annotated[int, "Cells along the wind.", POSITIVE] = 123
    width: Annotated[int, "Cells across the wind.", POSITIVE] = 27
    spin_up: Annotated[int, "Snapshots to wait until the flow is turbulent.", Valid(ge=0, le=10**7)] = 500
    fill: Annotated[int, "Snapshots to wait until odor fills the grid.", Valid(ge=0, le=10**7)] = 220
    steps: Count = 2  # time steps per snapshot
    seed: Annotated[int, "Seed of flow and filaments.", NOT_NEGATIVE] = 0
    target: Annotated[str, "Match whiff probabilities to those of: dns, a TOML file, or none."] = "dns"
    flow: FlowSettings = field(default_factory=FlowSettings)
    odor: OdorSettings = field(default_factory=OdorSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_memory(4 * self.snapshots * self.length * self.width, "A plume of this size")
        require_memory(100 * math.prod(self.flow.points), "A flow with this many points")
        for name in ("source_height", "slice_height"):
            value = getattr(self.odor, name)
            top = self.flow.depth
            require(value < top, f"{name} is {value:g} cells; it must lie below the top of the flow, {top:g} cells.")
