"""Simulation of a plume: turbulence in an open channel, with odor from a point source in it.

The flow (``channel``) is resolved; the odor (``filaments``) is carried by it. A run spins the flow up, lets the plume
fill the grid, and then records one slice per snapshot; when the record is complete, it is mapped onto the whiff
probabilities of a target. A run can be saved at any snapshot and continued, with the same bits.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np

from whiffclock import __version__
from whiffclock.archive import read_json, read_npz, require_digest, write_npz
from whiffclock.disk import first_line, reading
from whiffclock.params import InputError, convert, require
from whiffclock.plume.calibration import calibrate, read_target
from whiffclock.plume.plume import Plume
from whiffclock.plume.simulate.channel import ChannelFlow
from whiffclock.plume.simulate.filaments import Filaments
from whiffclock.plume.simulate.recipe import SimulationSettings

_FORMAT = "whiffclock simulation 1"
#: The arrays of flow and filaments that the next step needs.
_FLOW, _ODOR = ("u", "v", "w", "shift"), ("position", "age", "gust")


def _made_by(settings: SimulationSettings) -> dict[str, Any]:
    """The values that must be the same for a run to be continued."""
    return {"format": _FORMAT, "version": __version__, "settings": json.loads(json.dumps(settings.to_dict()))}


class Simulation:
    """A run in progress: ``snapshot`` counts from ``-(spin_up + fill)`` to ``settings.snapshots``.

    ``field`` is the record so far, not yet mapped.
    """

    def __init__(self, settings: SimulationSettings) -> None:
        self.settings = settings
        self.target = None if settings.target == "none" else read_target(settings.target)
        self.rng = np.random.default_rng(settings.seed)
        self.flow = ChannelFlow(settings.flow, self.rng)
        self.odor = Filaments(settings.odor, settings.length, settings.width, self.rng)
        self.snapshot = -(settings.spin_up + settings.fill)
        self.field = np.zeros((settings.snapshots, settings.length, settings.width), dtype=np.float32)

    @property
    def done(self) -> bool:
        """Whether the record is complete."""
        return self.snapshot >= self.settings.snapshots

    def advance(self) -> None:
        """Advance by one snapshot."""
        releasing = self.snapshot >= -self.settings.fill
        dt = 1 / self.settings.steps
        for k in range(self.settings.steps):
            if releasing:
                self.odor.release(self.flow, self._count(k), dt)
            self.odor.predict(self.flow)
            self.flow.step(dt)
            self.odor.correct(self.flow, dt)
        if self.snapshot >= 0:
            self.field[self.snapshot] = self.odor.sample(self.settings.flow.depth)
        self.snapshot += 1

    def _count(self, k: int) -> int:
        """Filaments of time step ``k``: whole numbers that add up over a snapshot."""
        total, steps = self.settings.odor.filaments, self.settings.steps
        return total * (k + 1) // steps - total * k // steps

    def plume(self) -> Plume:
        """The finished record, with the whiff probabilities of the target if there is one."""
        require(self.done, f"The simulation has reached snapshot {self.snapshot} of {self.settings.snapshots}.")
        origin = f"turbulence simulated by whiffclock {__version__}, seed {self.settings.seed}"
        made = Plume.from_array(self.field, (0, self.settings.width // 2), origin)
        return made if self.target is None else calibrate(made, self.target)

    def save(self, path: Path) -> None:
        """Write everything that is needed to continue."""
        header = _made_by(self.settings) | {"snapshot": self.snapshot, "random": self.rng.bit_generator.state}
        state = {name: getattr(self.flow, name) for name in _FLOW} | {name: getattr(self.odor, name) for name in _ODOR}
        state |= {"header": np.array(json.dumps(header)), "field": self.field[: max(self.snapshot, 0)]}
        write_npz(path, state, compress=False)

    @classmethod
    def load(cls, path: Path, settings: SimulationSettings) -> Self:
        """Continue from a file that was saved with the same settings."""
        arrays = read_npz(path, "a saved simulation")
        needed = {"header", "field", *_FLOW, *_ODOR}
        require(needed <= arrays.keys(), f"{path} is not a saved simulation.")
        require_digest(arrays, path, "simulation")
        with reading(path, "a saved simulation"):
            header = read_json(arrays["header"], "its header")
        same = _made_by(settings).items() <= header.items()
        require(same, f"{path} belongs to a simulation with other settings; remove it, or choose another output.")
        run = cls(settings)
        with reading(path, "a saved simulation"):
            run.snapshot = convert(header.get("snapshot"), int, "its snapshot is wrong")
            require(run.snapshot <= settings.snapshots, "its snapshot is wrong")
            run.rng.bit_generator.state = header["random"]
        flow, odor = {name: arrays[name] for name in _FLOW}, {name: arrays[name] for name in _ODOR}
        fits = all(values.shape == getattr(run.flow, name).shape for name, values in flow.items())
        fits &= odor["position"].shape == odor["gust"].shape == (*odor["age"].shape, 3)
        fits &= arrays["field"].shape == run.field[: max(run.snapshot, 0)].shape
        require(fits, f"{path} is damaged; remove it to start again.")
        vars(run.flow).update(flow)
        vars(run.odor).update(odor)
        run.field[: len(arrays["field"])] = arrays["field"]
        return run


def simulate(
    settings: SimulationSettings,
    checkpoint: Path | None = None,
    progress: Callable[[int], None] = lambda snapshots: None,
    every: int = 100,
    say: Callable[[str], None] | None = None,
) -> Plume:
    """Run to the end, from ``checkpoint`` if it exists, saving to it after every ``every`` snapshots.

    The caller removes the checkpoint once the result is stored. A checkpoint that is damaged or has other settings is
    refused; with ``say``, it is replaced, and ``say`` is called with a sentence about that.
    """
    try:
        run = Simulation.load(checkpoint, settings) if checkpoint and checkpoint.exists() else Simulation(settings)
    except InputError as error:
        if say is None:
            raise
        run = Simulation(settings)
        say(f"{first_line(error).split(';')[0]}; the simulation starts again and replaces it.")
    progress(run.snapshot + settings.spin_up + settings.fill)
    while not run.done:
        run.advance()
        progress(1)
        if checkpoint is not None and run.snapshot % every == 0:
            run.save(checkpoint)
    try:
        return run.plume()
    except InputError:  # it would be the same again
        if checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
        raise
