"""The built-in plume: simulated by this package, shipped with it, loaded in an instant.

``python -m whiffclock.plume.builtin`` makes it anew with the default recipe. The flow is chaotic, so that the
same bits come only from the same machine and versions; the statistics are what is reproducible.

Concentrations are stored as half-precision numbers in units of 1e-6, rounded to one per cent, without what no
threshold in use can see.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from whiffclock import __version__
from whiffclock.archive import read_npz, write_npz
from whiffclock.plume.plume import Plume
from whiffclock.plume.simulate.recipe import SimulationSettings

PATH = Path(__file__).parent.parent / "data" / "plume.npz"
COMMAND = "whiffclock plume simulate plume.npz"
_UNIT = 1e-6
_UNSEEN = 0.5e-6
_HALF_STEP = np.uint16(8)  # of the last six mantissa bits that are kept: values are exact to one per cent


class Builtin(NamedTuple):
    """The plume and what made it: settings, package version, command."""

    plume: Plume
    recipe: dict[str, Any]


def builtin() -> Builtin:
    """Load the built-in plume with its recipe."""
    arrays = read_npz(PATH, "the built-in plume")
    field = arrays["field"].astype(np.float32) * np.float32(_UNIT)
    plume = Plume.from_array(field, tuple(arrays["source"]), str(arrays["origin"]))
    return Builtin(plume, json.loads(str(arrays["recipe"])))


def builtin_plume() -> Plume:
    """The built-in plume."""
    return builtin().plume


def store(plume: Plume, settings: SimulationSettings, path: Path = PATH) -> None:
    """Write a simulated plume in the form in which it is shipped."""
    field = np.where(np.asarray(plume.field) < _UNSEEN, 0, plume.field) / _UNIT
    bits = field.astype(np.float16).view(np.uint16)
    rounded = (bits + _HALF_STEP) & ~np.uint16(2 * _HALF_STEP - 1)
    recipe = {"command": COMMAND, "version": __version__, "settings": settings.to_dict()}
    origin = f"built-in plume, simulated by whiffclock {__version__} (channel flow, seed {settings.seed})"
    said = {"source": plume.source, "origin": origin, "recipe": json.dumps(recipe)}
    write_npz(path, {"field": rounded.view(np.float16), **{name: np.array(value) for name, value in said.items()}})


if __name__ == "__main__":
    from whiffclock.plume.simulate.record import simulate  # loading the plume needs no solver

    default = SimulationSettings()
    store(simulate(default), default)
