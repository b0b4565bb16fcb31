"""The odor: fields, where they come from, and what a nose makes of them."""

from whiffclock.plume.plume import Plume
from whiffclock.plume.whiffs import Whiffs

__all__ = ["Plume", "Whiffs"]
