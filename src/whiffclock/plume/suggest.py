"""Environments that suit a record."""

from collections.abc import Sequence

import numpy as np

from whiffclock.environments import Environments, numbered
from whiffclock.plume.plume import Plume


def suggested(plume: Plume, probabilities: Sequence[float] | None = None) -> Environments:
    """Environments whose whiff probability over all cells and snapshots is one of ``probabilities``."""
    values = np.asarray(plume.field)
    wanted = probabilities or (0.2, 0.1, 0.05, 0.02)
    return Environments(numbered(sorted(float(np.quantile(values, 1 - share)) for share in wanted)))
