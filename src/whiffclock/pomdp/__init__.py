"""POMDPs, and SARSOP to solve them; independent of plumes, and imported on first use.

>>> from whiffclock import pomdp
>>> heard, unknown = [[0.85, 0.15], [0.15, 0.85]], [[0.5, 0.5], [0.5, 0.5]]
>>> T = [[[1, 0], [0, 1]], unknown, unknown]
>>> pomdp.solve(T, [heard, unknown, unknown], [[-1, -1], [-100, 10], [10, -100]], 0.95, backups=1000)
Solution(19.37... to 19.37..., ... vectors, gap reached after ... s)
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from whiffclock.pomdp.arrays import from_arrays
    from whiffclock.pomdp.files import read, write
    from whiffclock.pomdp.library import solve
    from whiffclock.pomdp.settings import SolverSettings
    from whiffclock.pomdp.solution import PolicyGraph, Simulation, Solution
    from whiffclock.pomdp.tabular import TabularModel

__all__ = [
    "PolicyGraph",
    "Simulation",
    "Solution",
    "SolverSettings",
    "TabularModel",
    "from_arrays",
    "read",
    "solve",
    "write",
]

_PLACES = {
    "arrays": "from_arrays",
    "files": "read write",
    "library": "solve",
    "settings": "SolverSettings",
    "solution": "PolicyGraph Simulation Solution",
    "tabular": "TabularModel",
}
_MODULE = {name: module for module, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _MODULE:
        return globals().setdefault(name, getattr(import_module(f"{__name__}.{_MODULE[name]}"), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
