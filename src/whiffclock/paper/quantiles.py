"""Quantiles of weighted values: the one definition that figures and claims use."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from whiffclock.params import require


def weighted_quantiles(values: ArrayLike, weights: ArrayLike, q: ArrayLike) -> np.ndarray:
    """The smallest values that at least the shares ``q`` of the weight do not exceed.

    This inverts the weighted distribution function: each quantile is one of the values, none is interpolated,
    and values without weight might as well not be there. A NaN stands for a value beyond all others, such as
    the beginning of a return that never begins; a quantile that falls there is NaN.
    """
    values, weights, q = (np.asarray(a, dtype=np.float64) for a in (values, weights, q))
    require(
        values.ndim == 1 and values.shape == weights.shape,
        f"There are values of shape {values.shape} and weights of shape {weights.shape}; each value needs one weight.",
    )
    require(
        bool(np.isfinite(weights).all() and (weights >= 0).all() and weights.any()),
        "Weights must be finite and not negative, and one of them positive.",
    )
    require(bool(((q >= 0) & (q <= 1)).all()), "A quantile is asked for at a share outside 0 to 1.")
    values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values)  # NaN last
    share = np.cumsum(weights[order] / weights.max())
    # Rounding in the sum must not decide between two values.
    return values[order][np.searchsorted(share / share[-1], q - 1e-12)]
