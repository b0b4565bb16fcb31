"""The environments of :mod:`whiffclock.gym` get their name in Gymnasium.

Gymnasium 1 loads no plugins, and takes longer to import than this package. The name is therefore registered when both
have been imported, in any order; neither Gymnasium nor anything slow is imported here.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

ID = "whiffclock/Search-v0"
_REGISTRY = "gymnasium.envs.registration"


def register() -> None:
    """Register the environment, now or as soon as Gymnasium is imported."""
    if _REGISTRY in sys.modules:
        _add_to(sys.modules[_REGISTRY])
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())


def _add_to(registration: ModuleType) -> None:
    known = hasattr(registration, "VectorizeMode")  # else it is older than version 1
    if known and ID not in registration.registry:
        at = "whiffclock.gym.environments"
        registration.register(ID, f"{at}:SearchEnv", vector_entry_point=f"{at}:SearchVectorEnv")


class _WhenImported:
    """A finder of modules that finds Gymnasium's registry where it is, and then registers the environment in it."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The usual specification of the module; None for all others."""
        if name != _REGISTRY or (spec := PathFinder.find_spec(name, path, target)) is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            _add_to(module)
            sys.meta_path.remove(self)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
