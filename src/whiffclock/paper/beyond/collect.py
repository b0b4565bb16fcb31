"""From the results of jobs to the datasets beyond the paper."""

from dataclasses import replace
from itertools import product

import numpy as np
import xarray as xr

from whiffclock.evaluation import METRICS
from whiffclock.paper.beyond.memories import MEMORIES, family
from whiffclock.paper.beyond.study import KINDS, curve_kind
from whiffclock.paper.collect import Collector
from whiffclock.paper.dataset import BY_LEARNING, BY_SEARCH, Datasets


class BeyondCollector(Collector):
    """Collects the results of a :class:`~whiffclock.paper.beyond.study.Beyond` study."""

    def datasets(self) -> Datasets:
        """All datasets that the needs allow for."""
        return replace(super().datasets(), memories=self.memories() if "b2" in self.figures else None)

    def memories(self) -> xr.Dataset:
        """The memory-reward curve."""
        names, seeds = (
            [name for name in MEMORIES if name in self.study.profile.memories],
            self.study.profile.memory_seeds,
        )
        places = {"how": [BY_SEARCH, BY_LEARNING], "memory": names, "trained": self.names}
        made = xr.Dataset(coords=places | {"replica": np.arange(seeds), "metric": list(METRICS)})
        made["family"] = "memory", [family(name) for name in names]
        made["states"] = "memory", [len(MEMORIES[name].row) for name in names]
        made["mean"] = (
            (*places, "replica", "metric"),
            np.full([made.sizes[dim] for dim in (*places, "replica", "metric")], np.nan),
        )
        for (h, how), (m, name), (e, place) in product(*(enumerate(values) for values in places.values())):
            kind = KINDS.get(curve_kind(how, name))
            for replica, job in enumerate(kind.tests(self.study, place, place) if kind else ()):
                made["mean"].values[h, m, e, replica] = self._summary(job)["mean"]
        return made
