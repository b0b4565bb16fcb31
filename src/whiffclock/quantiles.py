"""Quantiles of weighted values: the one definition that figures and claims use."""

import numpy as np
from numpy.typing import ArrayLike

from whiffclock.params import require


def weighted_quantiles(values: ArrayLike, weights: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The smallest values that have at least the shares ``q`` of the weight at or below them.

    Each quantile is one of the values, none is interpolated, and values without weight are ignored. NaN counts as
    larger than all others (the start of a return that never starts); a quantile that falls there is NaN.
    ``weights`` may be float[..., n], several sets for the same values float[n]; the result is float[...] for each set
    and each share, NaN for a set without any weight.
    """
    values, weights, q = (np.asarray(a, dtype=np.float64) for a in (values, weights, q))
    require(
        values.ndim == 1 and weights.ndim >= 1 and values.shape == weights.shape[-1:],
        f"There are values of shape {values.shape} and weights of shape {weights.shape}; each value needs one weight.",
    )
    low, high = (weights.min(), weights.max()) if weights.size else (0.0, 0.0)
    require(bool(low >= 0 and 0 < high < np.inf), "Weights must be finite and not negative, and one of them positive.")
    require(bool(((q >= 0) & (q <= 1)).all()), "A quantile is asked for at a share outside 0 to 1.")
    order = np.argsort(values)  # NaN last
    reached = np.cumsum(weights[..., order] / high, axis=-1)
    total, least = reached[..., -1:], np.finfo(np.float64).tiny
    found = np.empty((*weights.shape[:-1], q.size))
    for i, share in enumerate(q.ravel()):
        # Rounding in the sum must not decide between two values; nor may a value without weight be the lowest.
        first = (reached >= np.maximum((share - 1e-12) * total, least)).argmax(axis=-1)
        found[..., i] = np.where(total[..., 0] >= least, values[order][first], np.nan)
    return found.reshape((*weights.shape[:-1], *q.shape))
