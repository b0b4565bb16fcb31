"""Settings of the solver, in a module of their own that does not compile kernels."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from whiffclock.params import NOT_NEGATIVE, Settings, Valid, require_range


@dataclass(frozen=True)
class SolverSettings(Settings):
    """When to stop, and how to sample.

    The budget is in ``seconds``, ``cpu_seconds`` or ``backups``, or several of them; None: no limit. ``"published"``
    is the algorithm of 2008. ``"policy"`` follows the current policy, which raises the lower bound fastest, but may
    stay with a policy that is not the best. ``"mixed"`` alternates between the two and other walks that lower the
    upper bound.
    """

    seconds: Annotated[float | None, "Limit of wall time.", NOT_NEGATIVE] = 60.0
    cpu_seconds: Annotated[
        float | None, "Limit of CPU time, the same on a busy machine; the solver uses one core.", NOT_NEGATIVE
    ] = None
    backups: Annotated[
        int | None, "Number of backups; unlike seconds, it gives the same result every time.", NOT_NEGATIVE
    ] = None
    gap: Annotated[float, "Stop when the bounds at the root are this close.", Valid("The gap is {}", 0)] = 1e-3
    megabytes: Annotated[
        float,
        "Memory for vectors, tree and points (not the model); the solver stops at it.",
        Valid("The memory limit is {} MB", gt=0),
    ] = 1000.0
    sampling: Annotated[
        Literal["mixed", "published", "policy"],
        "How beliefs are sampled.",
        Valid("The sampling is {}", must="be mixed, published or policy"),
    ] = "mixed"
    seed: Annotated[int, "Seed of the observations that are drawn.", NOT_NEGATIVE] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range("seconds", self.seconds or 0, 0, 1e9)
        require_range("cpu_seconds", self.cpu_seconds or 0, 0, 1e9)

    @classmethod
    def limited(cls, **given: Any) -> Self:
        """Settings with the default limit of wall time only where there is no other limit."""
        limits = ("seconds", "cpu_seconds", "backups")
        given = {name: value for name, value in given.items() if value is not None or name not in limits}
        return cls(**{"seconds": None} | given if any(name in given for name in limits) else given)

    @property
    def budget(self) -> tuple[str, float | None]:
        """The name and the size of the first limit that there is."""
        names = [name for name in ("seconds", "cpu_seconds") if getattr(self, name) is not None]
        name = names[0] if names else "backups"
        return name, getattr(self, name)
