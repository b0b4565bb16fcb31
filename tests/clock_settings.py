"""Settings of each type, for tests of reading them."""

from dataclasses import dataclass

from whiffclock.params import Settings, require


@dataclass(frozen=True)
class ClockSettings(Settings):
    """Settings with a number, a list and a switch."""

    horizon: int = 500
    taus: tuple[int, ...] = ()
    split_zero: bool = False

    def __post_init__(self):
        super().__post_init__()
        require(2 <= self.horizon <= 100_000, f"The horizon H is {self.horizon}; it must lie between 2 and 100000.")
