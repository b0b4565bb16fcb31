"""Readings as settings, in a module of their own that imports neither numpy nor numba."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from whiffclock.params import NOT_NEGATIVE, InputError, LearningSettings, Settings, Valid, WorldSettings
from whiffclock.pomdp.settings import SolverSettings

_RATE = Valid(ge=0, le=1)


@dataclass(frozen=True)
class Readings(Settings):
    """How the paper is read where its text is ambiguous; the numbers are those of the table in docs/paper.md.

    The last four (X1, X2) are not readings but other ways to learn and to solve, to see what depends on them.
    """

    world: WorldSettings = field(default_factory=WorldSettings)  # R1, R10
    clock_states: Annotated[int | None, "States of the clock of all agents; default: H.", Valid(ge=2)] = None  # R3
    literal_tau: Annotated[bool, "Compare tau with the index of the last state, not with the last blank."] = False  # R5
    split_zero: Annotated[bool, "Give each mode of two-Q agents its own whiff state."] = False  # R6
    bootstrap: Annotated[bool, "At the step limit, still add the value of the next state."] = True  # R8
    tie_order: Annotated[str, "Between actions of equal value, the first of these is taken."] = (
        LearningSettings.tie_order
    )  # R9
    start_seed: Annotated[int, "Seed of the start times in tests.", NOT_NEGATIVE] = 0  # R11
    truncation: Annotated[str | None, "Where recovery paths end, but in Fig. S2; default: largest clock reading."] = (
        None
    )
    keep: Annotated[
        Literal["last", "best"], "The agents' matrix: the last one, or the one with most success of ten late ones."
    ] = LearningSettings.keep  # R17
    heuristic_tau: Annotated[
        int | None, "tau of the heuristic agent 2Q^h; auto (default): chosen by a scan.", Valid(ge=1)
    ] = None  # R18
    trace: Annotated[float, "Lambda of the returns that agents learn from; the paper: 0, one step.", _RATE] = (
        LearningSettings.trace
    )  # X1
    alpha_start: Annotated[float, "Learning rate at the start.", _RATE] = LearningSettings.alpha_start  # X1
    alpha_end: Annotated[float, "Learning rate at the end.", _RATE] = LearningSettings.alpha_end  # X1
    sampling: Annotated[
        Literal["mixed", "published", "policy"], "How the solver of the Bayesian agent samples beliefs."
    ] = SolverSettings.sampling  # X2

    @property
    def learning(self) -> dict[str, Any]:
        """The settings of Q-learning among them."""
        same = {name: getattr(self, name) for name in ("tie_order", "keep", "trace", "alpha_start", "alpha_end")}
        return {"bootstrap_at_horizon": self.bootstrap} | same

    def clock(self, horizon: int, taus: tuple[int, ...]) -> dict[str, Any]:
        """The settings of the clock; those that only several modes have are left out for one mode."""
        both = {"split_zero": self.split_zero, "literal_tau": self.literal_tau} if taus else {}
        return {"length": self.clock_states or horizon, "taus": taus} | both


def parse_heuristic_tau(text: str) -> int | None:
    """A whole number, or None for ``"auto"``."""
    try:
        return None if text == "auto" else int(text)
    except ValueError:
        raise InputError(f"--heuristic-tau is {text!r}; it must be a whole number or auto.") from None
