"""Settings of every kind: frozen, validated, with the paper's values as defaults.

Each class checks itself on construction, by the annotations of its fields, and raises :class:`InputError`, whose
message is one sentence: what is wrong, and what would be right.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from whiffclock.formatting import plainly
from whiffclock.plain_values import fit_of, shown

T = TypeVar("T")


class InputError(ValueError):
    """Bad input; the message is one sentence that a user can act on."""


def require(condition: bool, sentence: str) -> None:
    """Raise :class:`InputError` with ``sentence`` unless ``condition`` holds."""
    if not condition:
        raise InputError(sentence)


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Around the import of an optional package: if it is missing, the sentence ``what`` goes on with its ``extra``."""
    try:
        yield
    except ImportError as error:
        raise InputError(f"{what}: pip install 'whiffclock[{extra}]'.") from error


#: Limits: whole numbers in kernels and files, other numbers in settings, bytes of one computation or file.
LARGEST_INT, LARGEST_FLOAT, MOST_BYTES = 2**63 - 1, 1e30, 4 * 2**30


def require_range(what: str, value: float, low: float = -LARGEST_FLOAT, high: float = LARGEST_FLOAT) -> None:
    """Refuse NaN, infinity, and numbers outside ``low`` to ``high``; a whole number must fit into 64 bits."""
    if isinstance(value, int):
        low, high = max(low, -LARGEST_INT), min(high, LARGEST_INT)
    else:
        require(math.isfinite(value), f"{what} is {value}; it must be a finite number.")
    limits = f"at least {plainly(low)} and at most {plainly(high)}"
    require(low <= value <= high, f"{what} is {shown(value)}; it must be {limits}.")


def require_memory(needed: int, what: str) -> None:
    """Refuse ``what`` before it is allocated if it needs more bytes than the limit."""
    gib = f"{needed / 2**30:,.1f}" if needed <= LARGEST_INT else "billions of"
    require(needed <= MOST_BYTES, f"{what} would take {gib} GiB of memory, and {MOST_BYTES / 2**30:g} GiB are allowed.")


#: Most steps of a search.
MOST_STEPS = 10**7


@dataclass(frozen=True)
class Valid:
    """In the annotation of a setting: limits of its value, and the words of the sentence about another one."""

    says: str = ""  # begins the sentence, with {} for the value; default: "<name> is {}"
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    must: str = ""  # what it must be, where the limits alone do not say it well

    def holds(self, value: float) -> bool:
        """Whether a number is within the limits."""
        enough = (self.ge is None or value >= self.ge) and (self.gt is None or value > self.gt)
        return enough and (self.le is None or value <= self.le) and (self.lt is None or value < self.lt)

    @property
    def words(self) -> str:
        """What a number must be."""
        low, high = self.gt if self.ge is None else self.ge, self.lt if self.le is None else self.le
        if self.must:
            return self.must
        if high is None:
            return "be positive" if self.gt == 0 else "be 0 or more" if low == 0 else f"be at least {low}"
        least, most = plainly(low or 0.0), plainly(high)
        return f"lie between {least} and {most}" if self.lt else f"be at least {least} and at most {most}"


POSITIVE, NOT_NEGATIVE = Valid(gt=0), Valid(ge=0)
#: A whole number that is positive.
Count = Annotated[int, POSITIVE]


@dataclass(frozen=True)
class Settings:
    """Base of all settings: checked by type and limits, to and from plain dictionaries.

    Numbers may be NumPy's, and whole numbers may be floats without a fraction; all become plain values. A field that is
    annotated with a description is an option of the commands that take these settings.
    """

    def __new__(cls, *_: Any, **values: Any) -> Self:
        """Refuse unknown names, which ``__init__`` would do with a :class:`TypeError`."""
        require_names(cls, values)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        own = vars(self)
        for name, check in _checks(type(self)):  # type: ignore[arg-type]
            own[name] = check(getattr(self, name))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

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
            require_names(type(made), values)
        for name, value in values.items():
            _refuse_unknown_names(value, getattr(made, name, None))


def require_names(kind: type[Settings], names: Iterable[str]) -> None:
    """Refuse names that are no settings of ``kind``, and suggest one."""
    known = kind.__dataclass_fields__
    if unknown := sorted(name for name in names if name not in known):
        from difflib import get_close_matches

        close = get_close_matches(unknown[0], known, n=1) if len(unknown) == 1 else ()
        meant = "".join(f"; did you mean {name}?" for name in close) or "."
        raise InputError(f"{kind.__name__} has no setting called {', '.join(unknown)}{meant}")


def checked(name: str, value: Any, hint: Any) -> Any:
    """``value`` as a plain value of the type ``hint``, such as ``int | None`` or ``Annotated[int, Valid(ge=1)]``."""
    return _check(name, hint)(value)


@cache
def _checks(kind: type[Settings]) -> list[tuple[str, Callable[[Any], Any]]]:
    """For each setting, a function that makes its value plain, or refuses it."""
    hints = get_type_hints(kind, include_extras=True)
    return [(name, _check(name, hints[name])) for name in kind.__dataclass_fields__]


def _check(name: str, hint: Any) -> Callable[[Any], Any]:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    valid = next((note for note in notes if isinstance(note, Valid)), Valid())
    fit, right = fit_of(kind)
    says, must = (valid.must and valid.says) or f"{name} is {{}}", valid.must or f"be {right}"

    def check(value: Any) -> Any:
        try:
            made = fit(value)
        except InputError:
            raise
        except Exception:  # of whatever object a user gives
            raise InputError(f"{says.format(shown(value))}; it must {must}.") from None
        for number in made if type(made) is tuple else (made,):
            largest = LARGEST_INT if type(number) is int else LARGEST_FLOAT if type(number) is float else None
            if largest is not None and not (-largest <= number <= largest and valid.holds(number)):
                _refuse(name, number, valid)
        return made

    return check


def _refuse(name: str, number: float, valid: Valid) -> None:
    if isinstance(number, int) or math.isfinite(number):
        says = (valid.says or f"{name} is {{}}").format(shown(number))
        require(valid.holds(number), f"{says}; it must {valid.words}.")
    require_range(name, number)


@dataclass(frozen=True)
class WorldSettings(Settings):
    """Where a search may start, where it ends, and what happens at the end of the record.

    Starts are the cells that exceed the start threshold: a concentration, ``"own"`` for that of the environment, or
    ``"sparsest"`` for that of the plume's sparsest environment (R10), which :meth:`~whiffclock.plume.Plume.settle`
    replaces by its number before anything is computed. ``None`` in older files is ``"own"``. At the end of the record,
    ``"wrap"`` continues with the first snapshot (R1), ``"avoid"`` starts early enough not to reach it.
    """

    radius: Annotated[
        float,
        "Radius of the source region, in cells.",
        Valid("The source radius is {}", 0, le=1e6),
    ] = 2.0
    start_threshold: Annotated[
        float | Literal["own", "sparsest"] | None,
        "Start cells: those that reach this at least once in the record.",
        Valid(must="be a concentration, 'own' or 'sparsest'"),
    ] = "sparsest"
    start_on_whiff: Annotated[bool, "Start only at times when the start cell has a whiff."] = False
    end_of_record: Annotated[
        Literal["wrap", "avoid"],
        "Continue with the first snapshot, or start early enough to avoid the end.",
    ] = "wrap"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start_threshold is None:
            object.__setattr__(self, "start_threshold", "own")
        if isinstance(self.start_threshold, float):
            require_threshold(self.start_threshold, "start threshold")

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


_RECORDED = Valid(ge=0, le=20)


@dataclass(frozen=True)
class ViewSettings(Settings):
    """How much of a plume goes into a page of searches."""

    frames: Annotated[int | None, "Only the first N snapshots of the plume; default: all.", Valid(ge=2)] = None
    small: Annotated[bool, "A page of less than 2 MB: fewer snapshots and levels of concentration."] = False
    record: Annotated[int, "Searches recorded of each agent without a table, such as a Bayesian one.", _RECORDED] = 4


def require_threshold(value: float, what: str = "threshold") -> None:
    """Refuse a threshold that is not a positive, finite concentration."""
    require(0 < value < math.inf, f"The {what} is {plainly(value)}; it must be a positive concentration.")


_STEPS = Valid(ge=1, le=MOST_STEPS)
_Gamma = Annotated[float, Valid("The discount gamma is {}", gt=0, lt=1)]
_Rate = Annotated[float, Valid(ge=0, le=1)]
_Duration = Annotated[float, Valid(gt=0, must="be a positive number of episodes")]
_ACTIONS = "upwind,+y,-y,downwind"


@dataclass(frozen=True)
class LearningSettings(Settings):
    """Tabular Q-learning. Learning rate and exploration fall linearly over the first ``..._decay`` episodes."""

    episodes: Annotated[int, "Training episodes.", Valid(ge=1, le=10**12)] = 3_000_001
    horizon: Annotated[int, "H: steps per episode, and states of the clock.", _STEPS] = 500
    gamma: Annotated[_Gamma, "Discount factor."] = 0.998
    alpha_start: Annotated[_Rate, "Learning rate at the start."] = 0.1
    alpha_end: Annotated[_Rate, "Learning rate at the end."] = 1e-4
    alpha_decay: _Duration = 2.5e6
    epsilon_start: Annotated[_Rate, "Exploration rate at the start."] = 1.0
    epsilon_end: Annotated[_Rate, "Exploration rate at the end."] = 1e-4
    epsilon_decay: _Duration = 2.5e6
    q_start: Annotated[float, "Initial value of Q."] = -1.0
    trace: Annotated[_Rate, "Lambda of the returns to learn from: 0 is one step, 1 the whole episode."] = 0.0
    bootstrap_at_horizon: Annotated[bool, "At the step limit, still add the value of the next state."] = True
    curve_points: Annotated[int, Valid(ge=1, le=10**6)] = 300  # of the learning curve
    record_last: Count = 500  # episodes, for the clock record
    tie_order: Annotated[str, "Between actions of equal value, the first of these is taken."] = _ACTIONS
    keep: Annotated[
        Literal["last", "best"], "The agent's matrix: the last one, or the one with most success of ten late ones."
    ] = "last"

    def __post_init__(self) -> None:
        super().__post_init__()
        every = sorted(self.tie_order.split(",")) == sorted(_ACTIONS.split(","))
        require(every, f"The tie order is {shown(self.tie_order)}; it must have all of {_ACTIONS}, in any order.")

    @classmethod
    def shortened(cls, episodes: int, **changes: Any) -> Self:
        """The paper's schedule, scaled to another number of episodes."""
        decay = cls.alpha_decay * cls(episodes).episodes / cls.episodes
        return cls(**{"episodes": episodes, "alpha_decay": decay, "epsilon_decay": decay} | changes)

    def scaled(self, episodes: int) -> Self:
        """The same settings for another number of episodes; schedules keep their shape."""
        usual, new = self.shortened(self.episodes), self.shortened(episodes)
        decays = {}
        for name in ("alpha_decay", "epsilon_decay"):
            own = getattr(self, name)
            decays[name] = getattr(new, name) if own == getattr(usual, name) else own * episodes / self.episodes
        return replace(self, episodes=episodes, **decays)


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """How a policy is evaluated: every start cell, ``snapshots`` start times each, the same for all (R11)."""

    snapshots: Annotated[
        int, "Start times per cell, spread over the record.", Valid("The number of start snapshots per cell is {}", 1)
    ] = 16
    seed: Annotated[int, "Seed of the start times.", NOT_NEGATIVE] = 0
    gamma: Annotated[_Gamma, "Discount factor in G."] = 0.998
    horizon: Annotated[int | None, "Steps allowed per search; default: H of training.", _STEPS] = None
    after: Annotated[
        float,
        "Test only in the record after this share of it; start cells are those of the whole.",
        Valid("The share of the record to leave out is {}", ge=0, lt=1),
    ] = 0.0


def cut_at(share: float, snapshots: int) -> int:
    """The first snapshot after a share of the record; both parts must have two, unless the share is 0."""
    cut = round(snapshots * share)
    both = f"A share of {share:g} cuts {snapshots} snapshots at {cut}; both parts need at least two."
    require(share == 0 or 2 <= cut <= snapshots - 2, both)
    return cut


@dataclass(frozen=True)
class BayesSettings(Settings):
    """The Bayesian agent's model; its discount differs from that of the evaluation.

    With conditional likelihoods, the belief is updated by the probability of a whiff given the observation before it;
    alpha vectors are solved for independent whiffs all the same.
    """

    discount: Annotated[float, "Discount factor of the agent's model.", Valid(gt=0, lt=1)] = 0.98
    floor: Annotated[
        float,
        "Smallest probability of a whiff, and of a blank, in any cell of the model.",
        Valid("The floor is {}", 0, lt=0.5),
    ] = 1e-3
    likelihood: Annotated[
        Literal["independent", "conditional"],
        "In the belief, whiffs are independent, or depend on the previous observation.",
    ] = "independent"


@dataclass(frozen=True)
class OptimizeSettings(Settings):
    """Direct search over programs, by simulated annealing in several chains that exchange their best programs.

    Each chain anneals for ``seconds`` or for ``candidates``, in ``rounds``, after each of which all chains continue
    with the best program; every round has its own start times. Temperatures are in units of G.
    """

    seconds: Annotated[
        float | None, "Time for each chain; default: 60.", Valid(gt=0, le=1e7, must="be positive, and 1e7 at most")
    ] = None
    candidates: Annotated[
        int | None, "Candidates for each chain, instead of a time: always the same result.", Valid(ge=1, le=10**12)
    ] = None
    chains: Annotated[int, "Annealing chains that run in parallel.", Valid(ge=1, le=1024)] = 2
    rounds: Annotated[int | None, "Rounds; default: 8, or more, of about 15 seconds each.", Valid(ge=1, le=1000)] = None
    goal: Annotated[
        Literal["mean", "worst"],
        "Of one program for several environments or plumes: the mean of their G, or the lowest.",
        Valid("The goal is {}", must="be mean or worst"),
    ] = "mean"
    train_share: Annotated[
        float, "First part of the record, in which programs are searched.", Valid("The train share is {}", gt=0, lt=1)
    ] = 0.5
    snapshots: Annotated[int, "Start times per cell, in each part of the record.", Valid(ge=1, le=10**6)] = 16
    hottest: Annotated[float, "Temperature at the start.", POSITIVE] = 3e-3
    coldest: Annotated[float, "Temperature at the end.", POSITIVE] = 4e-5
    tolerance: Annotated[float, "Loss allowed for a simpler program, in standard errors of G.", NOT_NEGATIVE] = 0.25
    horizon: Annotated[int, "H: steps per search, and states of the clock.", _STEPS] = 500
    gamma: Annotated[_Gamma, "Discount factor."] = 0.998
    plumes: Count = 1  # that were joined into one record (whiffclock.plume.joined)

    def __post_init__(self) -> None:
        super().__post_init__()
        both = self.seconds is not None and self.candidates is not None
        require(not both, "Give seconds or candidates (--seconds, --candidates), not both.")
        if self.seconds is None and self.candidates is None:
            object.__setattr__(self, "seconds", 60.0)
        if self.rounds is None:
            rounds = 8 if self.seconds is None else min(1000, max(8, round(self.seconds / 15)))
            object.__setattr__(self, "rounds", min(rounds, self.candidates or rounds))
        few = f"{self.candidates} candidates in {self.rounds} rounds are too few; each round needs one at least."
        require(self.candidates is None or self.candidates >= self.turns, few)
        falls = self.coldest <= self.hottest
        require(falls, f"The temperature would rise, from {self.hottest:g} to {self.coldest:g}; it must fall.")

    @property
    def turns(self) -> int:
        """The number of rounds."""
        assert self.rounds is not None
        return self.rounds

    @property
    def candidates_per_round(self) -> int | None:
        """How many candidates a chain tries in a round, if not for a time."""
        return None if self.candidates is None else -(-self.candidates // self.turns)

    @property
    def seconds_per_round(self) -> float:
        """How long a round takes."""
        return (self.seconds or 0.0) / self.turns
