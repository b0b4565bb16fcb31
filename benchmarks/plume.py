"""How long does a snapshot of turbulence take? The simulation beside pompy, and loading the built-in plume.

pompy (extra ``bench``) draws puffs in a two-dimensional wind model; it is run
with the settings of its own demonstration, 20 steps of 0.01 s per snapshot, on the same grid.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import replace

import numpy as np
from measurement import Add, run

from whiffclock.plume.builtin import PATH, builtin_plume
from whiffclock.plume.simulate.recipe import SimulationSettings
from whiffclock.plume.simulate.record import Simulation

SNAPSHOTS = 60


def ours(snapshots):
    """CPU and wall seconds per snapshot with a filled plume; the flow needs no spin-up to be timed."""
    settings = replace(SimulationSettings(), snapshots=snapshots, spin_up=0)
    run = Simulation(settings)
    while run.snapshot < 0:
        run.advance()
    cpu, wall = time.process_time(), time.perf_counter()
    while not run.done:
        run.advance()
    return (time.process_time() - cpu) / snapshots, (time.perf_counter() - wall) / snapshots


def pompys(snapshots, length, width):
    """CPU seconds per snapshot of pompy."""
    from pompy import models, processors

    class WindModel(models.WindModel):
        """With today's numpy, which does not turn an array of one number into a float."""

        def velocity_at_pos(self, x, y):
            if not self._interp_set:
                self._set_interpolators()
            return np.array([self._interp_u(x, y).item(), self._interp_v(x, y).item()])

    region = models.Rectangle(0.0, 100.0, -50.0, 50.0)
    rng = np.random.RandomState(0)
    wind = WindModel(region, 21, 11, rng=rng)
    plume = models.PlumeModel(region, (5.0, 0.0, 0.0), wind, rng=rng)
    field = processors.ConcentrationArrayGenerator(region, 0.01, length, width, 1.0)
    for _ in range(10_000):  # fill the plume
        wind.update(0.01)
        plume.update(0.01)
    before = time.process_time()
    for _ in range(snapshots):
        for _ in range(20):
            wind.update(0.01)
            plume.update(0.01)
        field.generate_single_array(plume.puff_array)
    return (time.process_time() - before) / snapshots


def measure(add: Add) -> None:
    before = time.perf_counter()
    builtin_plume()
    add("plume.builtin_load", time.perf_counter() - before, "s")
    add("plume.builtin_size", PATH.stat().st_size / 2**20, "MB")
    settings = SimulationSettings()
    cpu, wall = ours(SNAPSHOTS)
    total = settings.spin_up + settings.fill + settings.snapshots
    add("plume.simulate.rate", 1 / cpu, "snapshots per CPU second")
    add("plume.simulate.full_cpu", total * cpu, "s")
    add("plume.simulate.full_wall", total * wall, "s")
    if importlib.util.find_spec("pompy"):
        other = pompys(SNAPSHOTS, settings.length, settings.width)
        add("plume.pompy.rate", 1 / other, "snapshots per CPU second")
        add("plume.simulate_over_pompy", other / cpu, "ratio")


if __name__ == "__main__":
    run(measure, __doc__)
