"""Odor as thin filaments that the flow carries.

Each filament is a small Gaussian puff. It follows the resolved flow (Heun's method) and a random velocity of its own
that models eddies smaller than the grid (a Langevin equation, as in Thomson 1987). It grows by molecular diffusion and
by eddies of its own size, faster with age (Richardson's law).
Ground and top reflect. The sum of the puffs at the points of the slice is the odor.
"""

import math

import numpy as np

from whiffclock.plume.simulate.channel import ChannelFlow
from whiffclock.plume.simulate.filament_kernels import concentration, velocities
from whiffclock.plume.simulate.recipe import OdorSettings


class Filaments:
    """All filaments in the flow; positions are relative to the source: along, across, height."""

    def __init__(self, settings: OdorSettings, length: int, width: int, rng: np.random.Generator) -> None:
        self.settings, self.rng = settings, rng
        self.length, self.width = length, width
        self.position = np.zeros((0, 3))
        self.age = np.zeros(0)
        self.gust = np.zeros((0, 3))
        self._velocity = np.zeros((0, 3))

    def release(self, flow: ChannelFlow, count: int, dt: float) -> None:
        """Add ``count`` new filaments, released uniformly within the last ``dt``."""
        source = np.array([[0.0, 0.0, self.settings.source_height]])
        left = self.rng.random((count, 1)) * dt
        fresh = source + _velocities(flow, source) * left
        self.position = np.concatenate([self.position, fresh])
        self.age = np.concatenate([self.age, left[:, 0]])
        self.gust = np.concatenate([self.gust, self._gust_speed * self.rng.standard_normal((count, 3))])

    @property
    def _gust_speed(self) -> float:
        """Standard deviation of the random velocity: diffusivity (walk) = variance times correlation time (memory)."""
        return math.sqrt(self.settings.walk / self.settings.memory)

    def predict(self, flow: ChannelFlow) -> None:
        """Store the velocity at the start of a step."""
        self._velocity = _velocities(flow, self.position)

    def correct(self, flow: ChannelFlow, dt: float) -> None:
        """Finish the step with the mean of the velocities at its start and at its end."""
        end = _velocities(flow, self.position + dt * self._velocity)
        kept = math.exp(-dt / self.settings.memory)
        fresh = self._gust_speed * math.sqrt(1 - kept**2)
        self.position += dt * (0.5 * (self._velocity + end) + self.gust)
        self.gust = kept * self.gust + fresh * self.rng.standard_normal(self.gust.shape)
        self.age += dt
        self._apply_boundaries(flow.settings.depth)

    def _apply_boundaries(self, depth: float) -> None:
        """Reflect at ground and top, including the random velocity; drop filaments outside the grid and its margin."""
        z = self.position[:, 2]
        self.gust[(z < 0) | (z > depth), 2] *= -1
        np.copyto(z, -z, where=z < 0)
        np.copyto(z, 2 * depth - z, where=z > depth)
        margin = 8.0
        kept = (self.position[:, 0] < self.length + margin) & (self.position[:, 0] > -margin)
        kept &= np.abs(self.position[:, 1]) < self.width + margin
        self.position, self.age, self.gust = self.position[kept], self.age[kept], self.gust[kept]

    def sample(self, depth: float) -> np.ndarray:
        """Concentration [x, y] on the slice: the sum of the filaments."""
        how, age = self.settings, self.age
        variance = how.size**2 + 2 * how.growth * age + how.stretch * age**3
        out = np.zeros((self.length, self.width))
        concentration(self.position, variance, how.strength, how.slice_height, depth, 0, self.width // 2, out)
        return out


def _velocities(flow: ChannelFlow, position: np.ndarray) -> np.ndarray:
    """Velocity of the flow at each position."""
    out, grid = np.empty_like(position), (flow.heights, flow.faces, flow.dx, flow.dy)
    frame = *flow.frame, *flow.shift, flow.cosine, flow.sine
    velocities(flow.u, flow.v, flow.w, *grid, *frame, position, out)
    return out
