"""The odor: fields, where they come from, and what a nose makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whiffclock.plume.plume import Plume
    from whiffclock.plume.whiffs import Whiffs

__all__ = ["Plume", "Whiffs"]


def __getattr__(name: str) -> Any:
    """Import on first use: settings can be read without compiling kernels."""
    if name == "Plume":
        from whiffclock.plume.plume import Plume

        return Plume
    if name == "Whiffs":
        from whiffclock.plume.whiffs import Whiffs

        return Whiffs
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
