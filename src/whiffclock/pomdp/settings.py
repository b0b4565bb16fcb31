"""Settings of the solver, in a module of their own that does not compile kernels."""

from dataclasses import dataclass
from typing import Annotated, Literal

from whiffclock.params import LARGEST_INT, Settings, require, require_range

Sampling = Literal["mixed", "published", "policy"]


@dataclass(frozen=True)
class SolverSettings(Settings):
    """When to stop, and how to sample.

    The budget is in ``seconds`` or ``backups``, or both; None: no limit. ``"published"`` is the algorithm of 2008.
    ``"policy"`` follows the current policy, which raises the lower bound fastest, but may stay with a policy that is
    not the best. ``"mixed"`` alternates between the two and other walks that lower the upper bound.
    """

    seconds: Annotated[float | None, "Time limit."] = 60.0
    backups: Annotated[int | None, "Number of backups; unlike seconds, it gives the same result every time."] = None
    gap: Annotated[float, "Stop when the bounds at the root are this close."] = 1e-3
    megabytes: Annotated[float, "Memory for vectors, tree and points (not the model); the solver stops at it."] = 1000.0
    sampling: Annotated[Sampling, "How beliefs are sampled."] = "mixed"
    seed: Annotated[int, "Seed of the observations that are drawn."] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("seconds", "backups", "seed"):
            value = getattr(self, name)
            if value is not None:
                require(value >= 0, f"{name} is {value:g}; it must be 0 or more.")
                require_range(name, value, 0, 1e9 if name == "seconds" else LARGEST_INT)
        require(self.gap >= 0, f"The gap is {self.gap:g}; it must be 0 or more.")
        require(self.megabytes > 0, f"The memory limit is {self.megabytes:g} MB; it must be positive.")
        require(
            self.sampling in ("mixed", "published", "policy"),
            f"The sampling is {self.sampling!r}; it must be mixed, published or policy.",
        )
