"""Plumes: odor fields, their files, and their whiffs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whiffclock.plume.plume import Plume

__all__ = ["Plume"]


def __getattr__(name: str) -> Any:
    """Import on first use: settings can be read without compiling kernels."""
    if name != "Plume":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whiffclock.plume.plume import Plume

    return Plume
