"""Turbulent channel flow: right-hand sides, divergence and pressure, on a staggered grid.

Arrays are ``[i, j, k]`` with z last and one ghost layer below and above: cells k = 1 .. nz. ``u`` is at
(i + 1/2, j, k), ``v`` at (i, j + 1/2, k), ``w[k]`` on the face between cells k and k + 1, so that ``w[0]`` is
the ground and ``w[nz]`` the top. x and y are periodic. Second-order central differences in divergence form
conserve momentum, and energy in the absence of viscosity.
"""

import numpy as np
from numba import prange

from whiffclock.jit import kernel

_kernel = kernel()
_parallel = kernel(parallel=True, fastmath={"contract", "nsz", "arcp"})


@_kernel
def fill_ghosts(u, v, wall_u, wall_v):
    """No slip on the ground (which moves in the frame of the computation), free slip at the top."""
    nx, ny, top = u.shape[0], u.shape[1], u.shape[2] - 1
    for i in range(nx):
        for j in range(ny):
            u[i, j, 0] = 2 * wall_u - u[i, j, 1]
            v[i, j, 0] = 2 * wall_v - v[i, j, 1]
            u[i, j, top] = u[i, j, top - 1]
            v[i, j, top] = v[i, j, top - 1]


@_parallel
def momentum(u, v, w, frame_u, frame_v, drag, nu, dx, dy, dz, dzc, fu, fv, fw):
    """Advection, viscosity and canopy drag into ``fu, fv, fw``.

    ``drag[k]`` multiplies -|U| U with U the velocity over the ground; ``dz[k]`` is the thickness of cell k,
    ``dzc[k]`` the distance between the centres of cells k and k + 1.
    """
    nx, ny, nz = u.shape[0], u.shape[1], u.shape[2] - 2
    ax, ay = np.float32(0.25 / dx), np.float32(0.25 / dy)
    bx, by = np.float32(nu / dx**2), np.float32(nu / dy**2)
    visc, quarter = np.float32(nu), np.float32(0.25)
    for i in prange(nx):
        e, o = (i + 1) % nx, (i - 1) % nx
        for j in range(ny):
            n, s = (j + 1) % ny, (j - 1) % ny
            u0, ue, uo, un, us, uon = u[i, j], u[e, j], u[o, j], u[i, n], u[i, s], u[o, n]
            v0, ve, vo, vn, vs, ves = v[i, j], v[e, j], v[o, j], v[i, n], v[i, s], v[e, s]
            w0, we, wo, wn, ws = w[i, j], w[e, j], w[o, j], w[i, n], w[i, s]
            for k in range(1, nz + 1):
                c = np.float32(1.0) / dz[k]
                up, down = c / dzc[k] * visc, c / dzc[k - 1] * visc
                uu = (ue[k] + u0[k]) ** 2 - (u0[k] + uo[k]) ** 2
                uv = (ve[k] + v0[k]) * (un[k] + u0[k]) - (ves[k] + vs[k]) * (u0[k] + us[k])
                uw = (we[k] + w0[k]) * (u0[k + 1] + u0[k]) - (we[k - 1] + w0[k - 1]) * (u0[k] + u0[k - 1])
                a = u0[k] + frame_u
                b = quarter * (v0[k] + ve[k] + vs[k] + ves[k]) + frame_v
                fu[i, j, k] = (
                    bx * (ue[k] - 2 * u0[k] + uo[k])
                    + by * (un[k] - 2 * u0[k] + us[k])
                    + up * (u0[k + 1] - u0[k])
                    - down * (u0[k] - u0[k - 1])
                    - ax * uu
                    - ay * uv
                    - quarter * c * uw
                    - drag[k] * np.sqrt(a * a + b * b) * a
                )
                vv = (vn[k] + v0[k]) ** 2 - (v0[k] + vs[k]) ** 2
                vu = (un[k] + u0[k]) * (ve[k] + v0[k]) - (uon[k] + uo[k]) * (v0[k] + vo[k])
                vw = (wn[k] + w0[k]) * (v0[k + 1] + v0[k]) - (wn[k - 1] + w0[k - 1]) * (v0[k] + v0[k - 1])
                a = v0[k] + frame_v
                b = quarter * (u0[k] + uo[k] + un[k] + uon[k]) + frame_u
                fv[i, j, k] = (
                    bx * (ve[k] - 2 * v0[k] + vo[k])
                    + by * (vn[k] - 2 * v0[k] + vs[k])
                    + up * (v0[k + 1] - v0[k])
                    - down * (v0[k] - v0[k - 1])
                    - ax * vu
                    - ay * vv
                    - quarter * c * vw
                    - drag[k] * np.sqrt(a * a + b * b) * a
                )
            for k in range(1, nz):
                c = np.float32(1.0) / dzc[k]
                wu = (u0[k] + u0[k + 1]) * (we[k] + w0[k]) - (uo[k] + uo[k + 1]) * (w0[k] + wo[k])
                wv = (v0[k] + v0[k + 1]) * (wn[k] + w0[k]) - (vs[k] + vs[k + 1]) * (w0[k] + ws[k])
                ww = (w0[k + 1] + w0[k]) ** 2 - (w0[k] + w0[k - 1]) ** 2
                fw[i, j, k] = (
                    bx * (we[k] - 2 * w0[k] + wo[k])
                    + by * (wn[k] - 2 * w0[k] + ws[k])
                    + visc * c * ((w0[k + 1] - w0[k]) / dz[k + 1] - (w0[k] - w0[k - 1]) / dz[k])
                    - ax * wu
                    - ay * wv
                    - quarter * c * ww
                )


@_parallel
def divergence(u, v, w, dx, dy, dz, out):
    """Divergence in the cells, into ``out[i, j, k - 1]``."""
    nx, ny, nz = out.shape
    for i in prange(nx):
        o = (i - 1) % nx
        for j in range(ny):
            s = (j - 1) % ny
            for k in range(1, nz + 1):
                out[i, j, k - 1] = (
                    (u[i, j, k] - u[o, j, k]) / dx
                    + (v[i, j, k] - v[i, s, k]) / dy
                    + (w[i, j, k] - w[i, j, k - 1]) / dz[k]
                )


@_parallel
def solve_columns(spectrum, lower, upper, pivot):
    """Solve the tridiagonal system of every horizontal wavenumber in place (Thomas, factors prepared).

    ``pivot[a, b, k]`` is the inverse of the eliminated diagonal, ``lower`` and ``upper`` the off-diagonals.
    """
    nz = spectrum.shape[2]
    for a in prange(spectrum.shape[0]):
        for b in range(spectrum.shape[1]):
            p = spectrum[a, b]
            inv = pivot[a, b]
            for k in range(1, nz):
                p[k] -= lower[k] * inv[k - 1] * p[k - 1]
            p[nz - 1] *= inv[nz - 1]
            for k in range(nz - 2, -1, -1):
                p[k] = (p[k] - upper[k] * p[k + 1]) * inv[k]


@_parallel
def subtract_gradient(u, v, w, p, dx, dy, dzc):
    """Make the velocity free of divergence with the potential ``p``."""
    nx, ny, nz = p.shape
    for i in prange(nx):
        e = (i + 1) % nx
        for j in range(ny):
            n = (j + 1) % ny
            for k in range(1, nz + 1):
                u[i, j, k] -= (p[e, j, k - 1] - p[i, j, k - 1]) / dx
                v[i, j, k] -= (p[i, n, k - 1] - p[i, j, k - 1]) / dy
            for k in range(1, nz):
                w[i, j, k] -= (p[i, j, k] - p[i, j, k - 1]) / dzc[k]


@_parallel
def accumulate(u, v, w, fu, fv, fw, gu, gv, gw, now, before):
    """One Runge-Kutta stage: add ``now`` times the new and ``before`` times the last right-hand side."""
    nx, ny, nz = u.shape[0], u.shape[1], u.shape[2] - 2
    a, b = np.float32(now), np.float32(before)
    for i in prange(nx):
        for j in range(ny):
            for k in range(1, nz + 1):
                u[i, j, k] += a * fu[i, j, k] + b * gu[i, j, k]
                v[i, j, k] += a * fv[i, j, k] + b * gv[i, j, k]
            for k in range(1, nz):
                w[i, j, k] += a * fw[i, j, k] + b * gw[i, j, k]
