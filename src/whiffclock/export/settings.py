"""Settings of exports, which commands import without NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from whiffclock.params import Settings, Valid, require

To = Literal["c", "micropython", "json", "csv"]
#: Default beginning of names in C.
PREFIX = "whiffclock"


@dataclass(frozen=True)
class FrontEnd(Settings):
    """Settings of the front end, in units of the reading, which is a whole number from 0 to 65535."""

    rise: Annotated[
        int, "A whiff begins this far above the baseline.", Valid("--rise is {}", 1, le=65535, must="be 1 to 65535")
    ] = 40
    fall: Annotated[
        int, "It ends below this height above it.", Valid("--fall is {}", 0, le=65535, must="be 0 to 65535")
    ] = 20
    slow: Annotated[
        int, "The baseline follows in about 2^N readings.", Valid("--slow is {}", 1, le=14, must="be 1 to 14")
    ] = 10
    dead: Annotated[
        int, "Readings after a whiff in which none begins.", Valid("--dead is {}", 0, le=65535, must="be 0 to 65535")
    ] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        must = f"a whiff must end at a lower height than it begins, --rise {self.rise}, or the same"
        require(self.fall <= self.rise, f"--fall is {self.fall}; {must}.")
