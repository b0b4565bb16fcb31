"""Plumes: odor fields, their files, and their whiffs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whiffclock.plume.plume import Plume
    from whiffclock.plume.whiffs import Whiffs

__all__ = ["Plume", "Whiffs"]


def __getattr__(name: str) -> Any:
    """Import on first use: settings can be read without compiling kernels."""
    if name in __all__:
        return getattr(importlib.import_module(f"whiffclock.plume.{name.lower()}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
