"""A toy plume of drifting puffs, for tests and first steps. It is not turbulence.

Particles leave the source at a steady rate, drift with the wind, jitter with correlated velocities and
meander together; a cell's concentration is the weight of the particles in it, and weight falls with age.
Do not draw conclusions about odor search from it.
"""

import numpy as np

from whiffclock.environments import PAPER
from whiffclock.params import require, require_memory, require_range
from whiffclock.plume.plume import Plume

ORIGIN = "toy plume (synthetic puffs, not turbulence)"


def toy_plume(snapshots: int = 2598, length: int = 123, width: int = 27, seed: int = 0, rate: int = 8) -> Plume:
    """Make the toy plume on a grid of ``length`` x ``width`` cells.

    ``rate`` is the number of particles released per snapshot.
    """
    size = f"{snapshots} snapshots of {length} x {width} cells with {rate} particles per snapshot"
    least = "two snapshots, one cell and one particle are the least"
    enough = snapshots >= 2 and length >= 1 and width >= 1 and rate >= 1
    require(enough, f"A toy plume of {size} cannot be made; {least}.")
    require_range("The seed", seed, 0)
    require_memory(4 * snapshots * length * width, "A plume of this size")
    rng = np.random.default_rng(seed)
    wind, gust_along, gust_across = 0.94, 0.2, 0.08
    source_y = width // 2
    particles = np.zeros((5, 0))  # x, y, velocity along and across, age
    meander = 0.0
    field = np.zeros((snapshots, length, width), dtype=np.float32)
    warm_up = int(1.5 * length / wind) + 1
    for t in range(-warm_up, snapshots):
        meander = 0.97 * meander + 0.007 * rng.standard_normal()
        fresh = np.zeros((5, rate))
        fresh[0] = rng.uniform(0, wind, rate)
        fresh[1] = source_y + 0.3 * rng.standard_normal(rate)
        fresh[2:4] = rng.standard_normal((2, rate)) * [[gust_along], [gust_across]]
        particles = np.concatenate([particles, fresh], axis=1)
        kicks = rng.standard_normal((2, particles.shape[1])) * [[gust_along], [gust_across]]
        particles[2:4] = 0.87 * particles[2:4] + np.sqrt(1 - 0.87**2) * kicks
        particles[0] += wind + particles[2]
        particles[1] += meander + particles[3]
        particles[4] += 1
        particles = particles[:, (particles[0] > -0.5) & (particles[0] < length - 0.5)]
        if t >= 0:
            field[t] = _concentration(particles, length, width)
    return Plume.from_array(field, (0, source_y), f"{ORIGIN}, seed {seed}", PAPER)


def _concentration(particles: np.ndarray, length: int, width: int) -> np.ndarray:
    x = np.rint(particles[0]).astype(np.int64)
    y = np.rint(particles[1]).astype(np.int64)
    seen = (y >= 0) & (y < width)
    weight = 1.2e-5 / (1 + particles[4][seen] / 60) ** 1.5
    cells = np.bincount(x[seen] * width + y[seen], weights=weight, minlength=length * width)
    return cells.reshape(length, width)
