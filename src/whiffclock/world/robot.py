"""Robots, whose move is not a cell: their speed, and how they turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from whiffclock.formatting import plainly
from whiffclock.params import POSITIVE, Settings, Valid, require

if TYPE_CHECKING:
    from whiffclock.plume import Plume

#: Most cells per snapshot.
_FASTEST = 100


@dataclass(frozen=True)
class RobotSettings(Settings):
    """How a robot moves. Without a speed there is none: searches move on the grid, one cell per snapshot."""

    speed: Annotated[
        float | None, "Search as a robot of this speed in m/s; default: a cell per snapshot.", POSITIVE
    ] = None
    cell: Annotated[float | None, "Size of a cell in m; default: the plume's.", POSITIVE] = None
    frame: Annotated[float | None, "Time between snapshots in s; default: the plume's, or 1 s.", POSITIVE] = None
    turn_rate: Annotated[float | None, "The robot's fastest turn in degrees/s; default: at once.", POSITIVE] = None
    every: Annotated[int, "Snapshots per decision.", Valid(ge=1, le=1000)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in ("cell", "frame", "turn_rate") if getattr(self, name) is not None]
        given += ["every"] * (self.every > 1)
        alone = f"A robot needs a speed in m/s; give speed (--speed) with {', '.join(given)}."
        require(self.speed is not None or not given, alone)

    @property
    def exists(self) -> bool:
        """Whether searches are those of a robot."""
        return self.speed is not None

    def settle(self, plume: Plume) -> RobotSettings:
        """The same settings with the sizes of a plume where none are given."""
        if not self.exists:
            return self
        cell = self.cell or (plume.cell_mm and plume.cell_mm / 1000)
        require(cell is not None, "The plume does not say how large its cells are; give cell (--cell) in m.")
        found = replace(self, cell=cell, frame=self.frame or plume.frame_s or 1.0)
        says = f"The robot covers {plainly(found.stride)} cells per snapshot (speed x frame / cell)"
        require(1 / _FASTEST <= found.stride <= _FASTEST, f"{says}; it must be {1 / _FASTEST:g} to {_FASTEST}.")
        return found

    @property
    def stride(self) -> float:
        """Cells per snapshot."""
        if self.speed is None or self.cell is None or self.frame is None:
            return 1.0
        return round(self.speed * self.frame / self.cell, 12)

    def decisions(self, horizon: int) -> int:
        """How many decisions it takes in ``horizon`` snapshots."""
        require(
            self.every <= horizon, f"A robot that decides every {self.every} snapshots makes no search of {horizon}."
        )
        return horizon // self.every
