"""The built-in plume: turbulence simulated by this package, with the whiff probabilities of the DNS behind the paper.

It ships with the package. ``python -m whiffclock.plume.builtin`` makes it again with the default settings. The flow is
chaotic, so only the same machine and versions give the same bits; on others, only the statistics are reproducible.

Concentrations are stored as half-precision numbers in units of 1e-6, rounded down to the next of 64 steps per octave;
those below half a unit are 0. The four thresholds of the paper are such steps, so no whiff is lost or added.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from whiffclock import __version__
from whiffclock.archive import read_npz, write_npz
from whiffclock.environments import PAPER
from whiffclock.plume.plume import Plume
from whiffclock.plume.simulate.recipe import SimulationSettings

PATH = Path(__file__).parent.parent / "data" / "plume.npz"
COMMAND = "whiffclock plume simulate plume.npz"
_PER_UNIT = np.float32(1e6)  # exact, and so is 3 / 1e6 as the float32 nearest to 3e-6
_SMALLEST = 0.5
_MANTISSA = 6  # bits that are kept: values are exact to 1.6 per cent


class Builtin(NamedTuple):
    """The plume and how it was made: settings, package version, command."""

    plume: Plume
    recipe: dict[str, Any]


def builtin() -> Builtin:
    """Load the built-in plume with its recipe."""
    arrays = read_npz(PATH, "the built-in plume")
    field = arrays["field"].astype(np.float32) / _PER_UNIT
    plume = Plume.from_array(field, tuple(arrays["source"]), str(arrays["origin"]), PAPER)
    return Builtin(plume, json.loads(str(arrays["recipe"])))


def builtin_plume() -> Plume:
    """The plume that comes with the package.

    Returns
    -------
    Plume

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.builtin_plume()
    Plume(2598 snapshots of 123 x 27 cells, source (0, 13), built-in plume: ...)
    """
    return builtin().plume


def store(plume: Plume, settings: SimulationSettings, path: Path = PATH) -> None:
    """Write a simulated plume in the format of the package's file."""
    stored = packed(np.asarray(plume.field))
    recipe = {"command": COMMAND, "version": __version__, "settings": settings.to_dict()}
    origin = f"built-in plume: {plume.origin}"
    about = {"source": plume.source, "origin": origin, "recipe": json.dumps(recipe)}
    write_npz(path, {"field": stored, **{name: np.array(value) for name, value in about.items()}})


def packed(field: np.ndarray) -> np.ndarray:
    """Concentrations as they are stored, float16 in units of 1e-6."""
    units = field.astype(np.float32) * _PER_UNIT
    bits = np.where(units < _SMALLEST, 0, units).view(np.uint32)
    return (bits & ~np.uint32((1 << (23 - _MANTISSA)) - 1)).view(np.float32).astype(np.float16)


if __name__ == "__main__":
    from whiffclock.plume.simulate.record import simulate  # loading the plume needs no solver

    default = SimulationSettings()
    store(simulate(default), default)
