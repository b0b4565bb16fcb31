"""Settings of every kind: frozen, validated, with the paper's values as defaults.

Each class checks itself on construction and raises :class:`InputError`, whose message is one sentence:
what is wrong, and what would be right.
"""

import math
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal, Self, TypeVar

T = TypeVar("T")


class InputError(ValueError):
    """Bad input; the message is one sentence that a user can act on."""


def require(condition: bool, sentence: str) -> None:
    """Raise :class:`InputError` with ``sentence`` unless ``condition`` holds."""
    if not condition:
        raise InputError(sentence)


#: Limits: whole numbers in kernels and files, other numbers in settings, bytes of one computation or file.
LARGEST_INT, LARGEST_FLOAT, MOST_BYTES = 2**63 - 1, 1e30, 4 * 2**30


def require_range(what: str, value: float, low: float = -LARGEST_FLOAT, high: float = LARGEST_FLOAT) -> None:
    """Refuse NaN, infinity, and numbers outside ``low`` to ``high``; a whole number must fit into 64 bits."""
    if isinstance(value, int):
        low, high = max(low, -LARGEST_INT), min(high, LARGEST_INT)
        written = (
            str(value) if abs(value) <= LARGEST_INT else f"a number of {int(value.bit_length() * 0.30103) + 1} digits"
        )
    else:
        require(math.isfinite(value), f"{what} is {value}; it must be a finite number.")
        written = f"{value:g}"
    require(low <= value <= high, f"{what} is {written}; it must be at least {low:g} and at most {high:g}.")


def require_memory(needed: int, what: str) -> None:
    """Refuse ``what`` before it is allocated if it needs more bytes than the limit."""
    gib = f"{needed / 2**30:,.1f}" if needed <= LARGEST_INT else "billions of"
    require(needed <= MOST_BYTES, f"{what} would take {gib} GiB of memory, and {MOST_BYTES / 2**30:g} GiB are allowed.")


#: Most steps of a search.
MOST_STEPS = 10**7


@dataclass(frozen=True)
class Settings:
    """Base of all settings: to and from plain dictionaries.

    A field that is annotated with a description is an option of the commands that take these settings.
    """

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, int | float):
                require_range(name, value)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        simple = all(value is None or isinstance(value, str | int | float) for value in values.values())
        return values if simple else asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Inverse of :meth:`to_dict`; unknown names and wrong types are refused."""
        return convert(values, cls, f"{cls.__name__} cannot be made of these values")


def convert(values: Any, kind: type[T], problem: str) -> T:
    """Plain ``values`` as a ``kind`` (a dataclass, a msgspec struct, ...), strictly by its annotations.

    A whole number is a float, but 50.0 is not an int. Other values raise an :class:`InputError` that begins with
    ``problem``, unless ``kind`` raises one of its own.
    """
    import msgspec

    try:
        _refuse_unknown_names(values, made := msgspec.convert(values, kind))
    except (msgspec.ValidationError, OverflowError, RecursionError) as error:
        if isinstance(error.__cause__, InputError):
            raise error.__cause__ from None
        reason = str(error).replace(" - at `$.", " at `")
        raise InputError(f"{problem}: {reason[:1].lower()}{reason[1:]}.") from error
    return made


def _refuse_unknown_names(values: Any, made: Any) -> None:
    """Refuse names that ``made`` does not have; msgspec ignores them in dataclasses."""
    if isinstance(values, dict) and not (made is None or isinstance(made, dict)):
        if isinstance(made, Settings):
            unknown = values.keys() - {f.name for f in fields(made)}
            require(not unknown, f"{type(made).__name__} has no setting called {', '.join(sorted(unknown))}.")
        for name, value in values.items():
            _refuse_unknown_names(value, getattr(made, name, None))


@dataclass(frozen=True)
class WorldSettings(Settings):
    """Where a search may start, where it ends, and what happens at the end of the record.

    Starts are the cells that exceed the start threshold: a concentration, ``"own"`` for that of the environment, or
    ``"sparsest"`` for that of the plume's sparsest environment (R10), which :meth:`~whiffclock.plume.Plume.settle`
    replaces by its number before anything is computed. ``None`` in older files is ``"own"``. At the end of the record,
    ``"wrap"`` continues with the first snapshot (R1), ``"avoid"`` starts early enough not to reach it.
    """

    radius: Annotated[float, "Radius of the source region, in cells."] = 2.0
    start_threshold: Annotated[
        float | Literal["own", "sparsest"] | None, "Searches start in cells that exceed this at least once."
    ] = "sparsest"
    start_on_whiff: Annotated[bool, "Start only at times when the start cell has a whiff."] = False
    end_of_record: Annotated[
        Literal["wrap", "avoid"],
        "Continue with the first snapshot, or start early enough to avoid the end.",
    ] = "wrap"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range("The source radius", self.radius, 0, 1e6)
        if self.start_threshold is None:
            object.__setattr__(self, "start_threshold", "own")
        if isinstance(self.start_threshold, int | float):
            require_threshold(self.start_threshold, "start threshold")
        else:
            known = self.start_threshold in ("own", "sparsest")
            choices = "a concentration, 'own' or 'sparsest'"
            require(known, f"start_threshold is {self.start_threshold!r}; it must be {choices}.")
        require(
            self.end_of_record in ("wrap", "avoid"),
            f"end_of_record is {self.end_of_record!r}; it must be 'wrap' or 'avoid'.",
        )

    @property
    def settled(self) -> bool:
        """Whether the start threshold is a number or ``"own"``."""
        return self.start_threshold != "sparsest"

    def start_at(self, threshold: float) -> float:
        """The threshold that start cells of an environment at ``threshold`` exceed."""
        if self.start_threshold == "own":
            return threshold
        require(self.settled, "The start threshold is 'sparsest' still; plume.settle(world) replaces it by a number.")
        return float(self.start_threshold)  # type: ignore[arg-type]


def require_threshold(value: float, what: str = "threshold") -> None:
    """Refuse a threshold that is not a positive, finite concentration."""
    require(0 < value < math.inf, f"The {what} is {value:g}; it must be a positive concentration.")


def require_positive(settings: Settings, *names: str) -> None:
    """Refuse settings of these names that are not positive, finite numbers."""
    for name in names:
        value = getattr(settings, name)
        require(0 < value < math.inf, f"{name} is {value:g}; it must be positive.")


@dataclass(frozen=True)
class LearningSettings(Settings):
    """Tabular Q-learning. Learning rate and exploration fall linearly over the first ``..._decay`` episodes."""

    episodes: Annotated[int, "Training episodes."] = 3_000_001
    horizon: Annotated[int, "H: steps per episode, and states of the clock."] = 500
    gamma: Annotated[float, "Discount factor."] = 0.998
    alpha_start: Annotated[float, "Learning rate at the start."] = 0.1
    alpha_end: Annotated[float, "Learning rate at the end."] = 1e-4
    alpha_decay: float = 2.5e6  # episodes
    epsilon_start: Annotated[float, "Exploration rate at the start."] = 1.0
    epsilon_end: Annotated[float, "Exploration rate at the end."] = 1e-4
    epsilon_decay: float = 2.5e6  # episodes
    q_start: Annotated[float, "Initial value of Q."] = -1.0
    bootstrap_at_horizon: Annotated[bool, "Bootstrap the last step of an episode cut at the horizon."] = True
    curve_points: int = 300  # of the learning curve
    record_last: int = 500  # episodes, for the void-state record

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range("The number of episodes", self.episodes, 1, 10**12)
        require_range("The horizon H", self.horizon, 1, MOST_STEPS)
        require(0 < self.gamma < 1, f"The discount gamma is {self.gamma:g}; it must lie between 0 and 1.")
        for name in ("alpha_start", "alpha_end", "epsilon_start", "epsilon_end"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"{name} is {value:g}; it must lie between 0 and 1.")
        for name in ("alpha_decay", "epsilon_decay"):
            value = getattr(self, name)
            require(0 < value < math.inf, f"{name} is {value:g}; it must be a positive number of episodes.")
        require_range("curve_points", self.curve_points, 1, 10**6)
        require_range("record_last", self.record_last, 1)

    @classmethod
    def shortened(cls, episodes: int, **changes: Any) -> Self:
        """The paper's schedule, scaled to another number of episodes."""
        require_range("The number of episodes", episodes, 1, 10**12)
        decay = cls.alpha_decay * episodes / cls.episodes
        return cls(**{"episodes": episodes, "alpha_decay": decay, "epsilon_decay": decay} | changes)


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """How a policy is evaluated: every start cell, ``snapshots`` start times each, the same for all (R11)."""

    snapshots: Annotated[int, "Start times per cell, spread over the record."] = 16
    seed: Annotated[int, "Seed of the start times."] = 0
    gamma: Annotated[float, "Discount factor in G."] = 0.998
    horizon: Annotated[int | None, "Steps allowed per search; default: H of training."] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.snapshots >= 1,
            f"The number of start snapshots per cell is {self.snapshots}; it must be at least 1.",
        )
        require(self.seed >= 0, f"The seed is {self.seed}; it must be 0 or more.")
        require(0 < self.gamma < 1, f"The discount gamma is {self.gamma:g}; it must lie between 0 and 1.")
        if self.horizon is not None:
            require_range("The evaluation horizon", self.horizon, 1, MOST_STEPS)


@dataclass(frozen=True)
class BayesSettings(Settings):
    """The Bayesian agent's model; its discount differs from that of the evaluation."""

    discount: Annotated[float, "Discount factor of the agent's model."] = 0.98
    floor: Annotated[float, "Smallest probability of a whiff, and of a blank, in any cell of the model."] = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 < self.discount < 1, f"The discount is {self.discount:g}; it must lie between 0 and 1.")
        require(0 <= self.floor < 0.5, f"The floor is {self.floor:g}; it must lie between 0 and 0.5.")
