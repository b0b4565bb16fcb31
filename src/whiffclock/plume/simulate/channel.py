"""Direct numerical simulation of turbulent flow in an open channel.

The incompressible Navier-Stokes equations

.. math:: \\partial_t u + \\nabla \\cdot (u u) = -\\nabla p + \\nu \\nabla^2 u - c(z) |u| u + f, \\quad
          \\nabla \\cdot u = 0

between a no-slip ground and a free-slip top at height h, periodic along and across, driven by a uniform force
f that keeps the flux constant. c(z) is the drag of a canopy of roughness near the ground. The wind blows at
an angle to the periodic box, so that a plume longer than the box crosses different turbulence in every period.

Numerics: staggered second-order differences, three-stage Runge-Kutta (Spalart, Moser and Rogers 1991), exact
projection by FFT along and across and a tridiagonal solve in z, in single precision, in a frame that moves
with part of the wind.
"""

import math

import numpy as np
import scipy.fft

from whiffclock.plume.simulate import flow
from whiffclock.plume.simulate.recipe import FlowSettings

_GAMMA = (8 / 15, 5 / 12, 3 / 4)
_ZETA = (0.0, -17 / 60, -5 / 12)


class ChannelFlow:
    """The flow at one time, and its time step. Lengths are in agents' cells, times in snapshots."""

    def __init__(self, settings: FlowSettings, rng: np.random.Generator) -> None:
        self.settings = settings
        nx, ny, nz = settings.points
        self.dx, self.dy = (period * settings.depth / n for period, n in zip(settings.period, (nx, ny), strict=True))
        self._make_heights(nz)
        self.nu = settings.wind * settings.depth / settings.reynolds
        self.cosine, self.sine = math.cos(math.atan(settings.slant)), math.sin(math.atan(settings.slant))
        frame = settings.frame_share * settings.wind
        self.frame = np.array([frame * self.cosine, frame * self.sine])
        self.shift = np.zeros(2)
        canopy = self.heights[1:-1] < settings.roughness_height * settings.depth
        self._drag = np.zeros(nz + 2, dtype=np.float32)
        self._drag[1:-1][canopy] = settings.roughness_drag
        shape = (nx, ny, nz + 2)
        self.u, self.v, self.w = (np.zeros(shape, dtype=np.float32) for _ in range(3))
        self._now = [np.zeros(shape, dtype=np.float32) for _ in range(3)]
        self._before = [np.zeros(shape, dtype=np.float32) for _ in range(3)]
        self._prepare_pressure()
        self._start(rng)

    def _make_heights(self, nz: int) -> None:
        """Faces clustered at the ground by a tanh; centres between them, with ghosts."""
        stretch, depth = self.settings.stretching, self.settings.depth
        s = np.arange(nz + 1) / nz
        faces = depth * (1 - np.tanh(stretch * (1 - s)) / np.tanh(stretch)) if stretch > 0 else depth * s
        centres = (faces[1:] + faces[:-1]) / 2
        self.faces = faces
        self.heights = np.concatenate([[-centres[0]], centres, [2 * depth - centres[-1]]])
        thickness = np.diff(faces)
        self.dz = np.concatenate([[thickness[0]], thickness, [thickness[-1]]]).astype(np.float32)
        self.dzc = np.diff(self.heights, append=self.heights[-1] + thickness[-1]).astype(np.float32)
        self._share = (thickness / depth).astype(np.float64)

    def _prepare_pressure(self) -> None:
        """Factors of the tridiagonal systems, one for every horizontal wavenumber."""
        nx, ny, nz = self.settings.points
        kx = (2 * np.cos(2 * np.pi * np.arange(nx) / nx) - 2) / self.dx**2
        ky = (2 * np.cos(2 * np.pi * np.arange(ny // 2 + 1) / ny) - 2) / self.dy**2
        dz, dzc = self.dz[1:-1].astype(float), self.dzc.astype(float)
        upper, lower = 1 / (dz * dzc[1 : nz + 1]), 1 / (dz * dzc[:nz])
        upper[-1] = lower[0] = 0.0
        diagonal = kx[:, None, None] + ky[None, :, None] - (upper + lower)
        diagonal[0, 0, 0] -= lower[1]  # the mean pressure is arbitrary: fix it
        pivot = np.empty_like(diagonal)
        pivot[:, :, 0] = 1 / diagonal[:, :, 0]
        for k in range(1, nz):
            pivot[:, :, k] = 1 / (diagonal[:, :, k] - lower[k] * upper[k - 1] * pivot[:, :, k - 1])
        self._lower, self._upper = lower.astype(np.float32), upper.astype(np.float32)
        self._pivot = pivot.astype(np.float32)
        self._div = np.empty((nx, ny, nz), dtype=np.float32)

    def _start(self, rng: np.random.Generator) -> None:
        """A sheared mean flow with strong rolls and noise, from which turbulence develops."""
        nx, ny, _ = self.settings.points
        z = np.clip(self.heights / self.settings.depth, 0, 1)
        profile = 1.15 * np.tanh(4 * z) * self.settings.wind
        across = 2 * np.pi * np.arange(ny) / ny * max(1, round(self.settings.period[1]))
        along = 2 * np.pi * np.arange(nx) / nx * max(1, round(self.settings.period[0] / 2))
        wave = 0.2 * self.settings.wind * np.sin(np.pi * z)
        self.u += (profile * self.cosine - self.frame[0]).astype(np.float32)
        self.v += (profile * self.sine - self.frame[1]).astype(np.float32)
        self.u += (np.sin(across)[None, :, None] * wave).astype(np.float32)
        self.v += (np.sin(along)[:, None, None] * wave).astype(np.float32)
        for component in (self.u, self.v, self.w):
            component += 0.1 * self.settings.wind * rng.standard_normal(component.shape, dtype=np.float32)
        self.w[:, :, 0] = self.w[:, :, -2] = self.w[:, :, -1] = 0
        self._project()
        self._hold_flux()

    def step(self, dt: float) -> None:
        """Advance by ``dt`` snapshots."""
        velocity, frame = (self.u, self.v, self.w), self.frame.astype(np.float32)
        grid = self.dx, self.dy, self.dz, self.dzc
        for gamma, zeta in zip(_GAMMA, _ZETA, strict=True):
            flow.fill_ghosts(self.u, self.v, *-frame)
            flow.momentum(*velocity, *frame, self._drag, self.nu, *grid, *self._now)
            flow.accumulate(*velocity, *self._now, *self._before, dt * gamma, dt * zeta)
            self._now, self._before = self._before, self._now
            self._project()
            self._hold_flux()
        self.shift += self.frame * dt

    def _project(self) -> None:
        """Remove the divergence."""
        flow.divergence(self.u, self.v, self.w, np.float32(self.dx), np.float32(self.dy), self.dz, self._div)
        spectrum = scipy.fft.rfft2(self._div, axes=(0, 1), workers=-1)
        flow.solve_columns(spectrum, self._lower, self._upper, self._pivot)
        p = scipy.fft.irfft2(spectrum, s=self._div.shape[:2], axes=(0, 1), workers=-1, overwrite_x=True)
        flow.subtract_gradient(self.u, self.v, self.w, p, np.float32(self.dx), np.float32(self.dy), self.dzc)

    def _hold_flux(self) -> None:
        """Uniform force that keeps the mean wind."""
        targets = np.array([self.cosine, self.sine]) * self.settings.wind - self.frame
        for target, component in zip(targets, (self.u, self.v), strict=True):
            mean = float(component[:, :, 1:-1].mean(axis=(0, 1), dtype=np.float64) @ self._share)
            component[:, :, 1:-1] += np.float32(target - mean)
