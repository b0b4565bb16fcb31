"""Results: what a figure needs, small and self-contained.

Figures, claims and the report page read results and nothing else. A result is kept in the run store, under
the figure's id as its kind; it is determined by the profile, the plume, and the revision of the module that
computed it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.experiments.profiles import Profile
from whiffclock.params import InputError, require
from whiffclock.runs.store import Store

_FACTS = "facts"


@dataclass(frozen=True)
class Result:
    """Named arrays of floats, and facts in plain values.

    Attributes
    ----------
    figure
        Id of the figure, such as "fig3".
    arrays
        What the docstring of ``whiffclock.experiments.<figure>`` lists. NaN stands for a value there is not.
    facts
        Names, counts and settings, ready for JSON.
    """

    figure: str
    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.arrays:
            raise KeyError(f"{self.figure} has no array {name}; it has {', '.join(sorted(self.arrays))}")
        return self.arrays[name]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The result as the arrays of a record."""
        require(_FACTS not in self.arrays, f"An array of {self.figure} is called {_FACTS}; choose another name.")
        facts = json.dumps(self.facts, sort_keys=True, allow_nan=False)
        return {name: as_floats(values) for name, values in self.arrays.items()} | {_FACTS: np.array(facts)}

    @classmethod
    def from_arrays(cls, figure: str, arrays: Mapping[str, np.ndarray]) -> Result:
        """Inverse of :meth:`to_arrays`."""
        values = {name: array for name, array in arrays.items() if name != _FACTS}
        return cls(figure, values, json.loads(str(arrays[_FACTS])))


def as_floats(values: Any) -> np.ndarray:
    """An array of float64, or of float32 where it is one already."""
    array = np.asarray(values)
    return array if array.dtype == np.float32 else array.astype(np.float64)


def describe(profile: Profile, plume: str, revision: int) -> dict[str, Any]:
    """What determines a result; ``plume`` is the plume's fingerprint."""
    return {"profile": profile.determines(), "plume": plume, "revision": revision}


def load_result(store: Store, figure: str, profile: Profile, plume: str, revision: int) -> Result | None:
    """The result of a figure, if it is in the store."""
    description = describe(profile, plume, revision)
    if not store.has(figure, description):
        return None
    try:
        return Result.from_arrays(figure, store.load(figure, description).arrays)
    except (KeyError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        path = store.path(figure, description)
        raise InputError(f"{path} is a damaged result; delete it to have it made anew.") from error


def save_result(store: Store, result: Result, profile: Profile, plume: str, revision: int) -> Result:
    """Put a result into the store; returns it as it will be read."""
    arrays = result.to_arrays()
    store.save(result.figure, describe(profile, plume, revision), arrays)
    return Result.from_arrays(result.figure, arrays)
