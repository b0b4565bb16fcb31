"""Mixing between filaments: what turbulence does to concentrations below the size of a cell.

A sum of filaments keeps its peaks: odor that overlaps adds up, and nothing evens it out. In a real flow it does
not. A mapping closure (Chen, Chen and Kraichnan 1989) stands for that: concentrations are a monotone function of
the unmixed ones, so that whiffs stay where the flow has put them, and it contracts them toward the local mean.
Odor concentrations are spread over decades, so the contraction is that of their logarithms, a power law:

    mixed = local factor * unmixed ** contrast.

The contrast is smaller far downwind, where the odor has been folded for longer. The factor conserves odor. It is
the ratio of the means, before and after, over the record and a neighbourhood across the wind, the size of the largest
eddies; what that leaves over in a line across the wind is spread over the line, whose mean is kept exactly.
"""

import numpy as np


def contrasts(length: int, near: float, far: float, turn: float, spread: float) -> np.ndarray:
    """Contrast by distance: from ``near`` to ``far`` in a smooth step at ``turn``, ``spread`` wide."""
    return near + (far - near) / (1 + np.exp((turn - np.arange(length)) / spread))


def mix(field: np.ndarray, contrast: np.ndarray, reach: int) -> np.ndarray:
    """Contract the concentrations [snapshot, x, y].

    Parameters
    ----------
    contrast
        Share of the fluctuations of the logarithm that is left, at each x; 1 leaves all as it is.
    reach
        Cells to either side, across the wind, over which the local mean is taken.
    """
    mean = field.mean(axis=0, dtype=float)
    unit = mean.max()
    if unit == 0 or (contrast == 1).all():
        return field
    contracted = (field / np.float32(unit)) ** contrast.astype(np.float32)[:, None]
    contracted_mean = contracted.mean(axis=0, dtype=float)
    factor = _ratio(_neighbours(mean, reach), _neighbours(contracted_mean, reach))
    factor *= _ratio(mean.sum(axis=1), (factor * contracted_mean).sum(axis=1))[:, None]
    return contracted * factor.astype(np.float32)


def _neighbours(values: np.ndarray, reach: int) -> np.ndarray:
    """Sum over the cells within ``reach`` across the wind."""
    near = np.abs(np.subtract.outer(np.arange(values.shape[1]), np.arange(values.shape[1]))) <= reach
    return values @ near


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
