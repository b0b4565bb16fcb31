"""Odor filaments in a flow: velocity at a point, and concentration on a slice."""

import numpy as np

from whiffclock.jit import kernel

_kernel = kernel()


@_kernel
def interpolate(field, x, y, z, heights):
    """Trilinear value of ``field[i, j, k]`` at grid coordinates x, y (periodic) and height z."""
    nx, ny = field.shape[0], field.shape[1]
    i, j = int(np.floor(x)), int(np.floor(y))
    fx, fy = x - i, y - j
    i0, j0 = i % nx, j % ny
    i1, j1 = (i0 + 1) % nx, (j0 + 1) % ny
    k = min(max(np.searchsorted(heights, z) - 1, 0), heights.size - 2)
    fz = (z - heights[k]) / (heights[k + 1] - heights[k])
    low = (1 - fx) * ((1 - fy) * field[i0, j0, k] + fy * field[i0, j1, k]) + fx * (
        (1 - fy) * field[i1, j0, k] + fy * field[i1, j1, k]
    )
    high = (1 - fx) * ((1 - fy) * field[i0, j0, k + 1] + fy * field[i0, j1, k + 1]) + fx * (
        (1 - fy) * field[i1, j0, k + 1] + fy * field[i1, j1, k + 1]
    )
    return (1 - fz) * low + fz * high


@_kernel
def velocities(u, v, w, centres, faces, dx, dy, frame_u, frame_v, shift_x, shift_y, cosine, sine, position, out):
    """Velocity over the ground, along and across the wind, at ``position[n] = (x, y, z)``.

    The wind crosses the periodic box at an angle (``cosine, sine``); the box has moved by ``shift``.
    """
    for n in range(position.shape[0]):
        px, py, z = position[n, 0], position[n, 1], position[n, 2]
        x = (px * cosine - py * sine - shift_x) / dx
        y = (px * sine + py * cosine - shift_y) / dy
        a = interpolate(u, x - 0.5, y, z, centres) + frame_u
        b = interpolate(v, x, y - 0.5, z, centres) + frame_v
        out[n, 0] = a * cosine + b * sine
        out[n, 1] = b * cosine - a * sine
        out[n, 2] = interpolate(w, x, y, z, faces)


@_kernel
def concentration(position, variance, weight, height, depth, source_x, source_y, out):
    """Sum of the filaments' Gaussians at the cells ``out[x, y]`` of the slice at ``height``.

    Ground and top (``depth``) reflect: each filament has an image above and one below.
    """
    length, width = out.shape
    for n in range(position.shape[0]):
        s2 = variance[n]
        reach = 4.0 * np.sqrt(s2)
        dz = position[n, 2] - height
        if abs(dz) > reach:
            continue
        above, below = 2 * depth - position[n, 2] - height, position[n, 2] + height
        vertical = np.exp(-0.5 * dz * dz / s2) + np.exp(-0.5 * above * above / s2) + np.exp(-0.5 * below * below / s2)
        peak = weight * vertical / (2 * np.pi * s2) ** 1.5
        x, y = position[n, 0] + source_x, position[n, 1] + source_y
        for i in range(max(0, int(np.ceil(x - reach))), min(length - 1, int(np.floor(x + reach))) + 1):
            for j in range(max(0, int(np.ceil(y - reach))), min(width - 1, int(np.floor(y + reach))) + 1):
                out[i, j] += peak * np.exp(-0.5 * ((x - i) ** 2 + (y - j) ** 2) / s2)
