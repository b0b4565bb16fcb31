"""The other readings of the paper, each as a change of a study, and the claims that can be tested on its agents.

X1 and X2 are no readings: another learning rule and another solver, to see which verdicts depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whiffclock.paper import dataset as ds
from whiffclock.paper.dataset import Need, at_home, elsewhere
from whiffclock.paper.ensembles import Study
from whiffclock.params import WorldSettings, require
from whiffclock.runs.training import TAUS

_SCALE = (ds.SINGLE, ds.CAST, ds.BAYES)


@dataclass(frozen=True)
class Scope:
    """The agents that a reading is about: what must be computed, the figures it stands for, claims to test on it."""

    needs: tuple[Need, ...]
    figures: tuple[str, ...]
    claims: tuple[str, ...]
    modes: tuple[str, ...] = ()  # whose recovery paths are measured


#: By kind of agent.
SCOPES = {
    ds.SINGLE: Scope(at_home(*_SCALE), ("fig2", "fig3"), ("C1", "C2", "C3", "C5", "C6", "C7", "C8"), (ds.MODE,)),
    ds.TWO: Scope(
        (*at_home(*_SCALE, ds.TWO, ds.MINUS_ONLY, ds.PLUS_ONLY), *elsewhere(ds.SINGLE, ds.TWO)),
        ("fig2", "fig4", "fig7"),
        ("C10", "C11", "C13", "C14"),
        (ds.MINUS, ds.PLUS),
    ),
    ds.HEURISTIC: Scope(at_home(*_SCALE, ds.HEURISTIC), ("fig2",), ("C15",)),
    ds.BAYES: Scope((*at_home(*_SCALE), Need(ds.BAYES, "branched")), ("fig2", "fig8"), ("C2", "C17")),
}


@dataclass(frozen=True)
class Alternative:
    """Another reading: its number in docs/paper.md, a few words, the agents it is about, and how it changes a study.

    ``reward`` is the metric of searches that counts as G.
    """

    number: str
    title: str
    kind: str
    change: Callable[[Study], Study]
    reward: str = "G"

    @property
    def label(self) -> str:
        """Number and words."""
        return f"{self.number}: {self.title}"


def _read(**changes: Any) -> Callable[[Study], Study]:
    """A change of some readings."""

    def change(study: Study) -> Study:
        return replace(study, profile=replace(study.profile, readings=replace(study.readings, **changes)))

    return change


def _one_state_more(study: Study) -> Study:
    return _read(clock_states=study.profile.horizon + 1)(study)


def _short_clock(study: Study) -> Study:
    return _read(clock_states=max(2, study.profile.horizon // 5))(study)


def _longer_than_tau(study: Study) -> Study:
    assert study.taus is not None
    return replace(study, taus={name: tau + 1 for name, tau in study.taus.items()})


def _heuristic_tau(tau: int) -> Callable[[Study], Study]:
    return lambda study: replace(_read(heuristic_tau=tau)(study), heuristic_tau=tau)


#: Lambda-returns with a small learning rate, the best of the rules in docs/beyond.md.
_LAMBDA = _read(trace=0.9, alpha_start=0.003, alpha_end=3e-6)

#: All but those of R18.
ALTERNATIVES = (
    Alternative("R1", "not past the end", ds.SINGLE, _read(world=WorldSettings(end_of_record="avoid"))),
    Alternative("R3", "H + 1 states", ds.SINGLE, _one_state_more),
    Alternative("R3", "H / 5 states", ds.SINGLE, _short_clock),
    Alternative("R5", "literal tau", ds.TWO, _read(literal_tau=True)),
    Alternative("R6", "two whiff states", ds.TWO, _read(split_zero=True)),
    Alternative("R6'", "> tau", ds.TWO, _longer_than_tau),
    Alternative("R8", "no bootstrap", ds.SINGLE, _read(bootstrap=False)),
    Alternative("R9", "ties downwind", ds.SINGLE, _read(tie_order="downwind,-y,+y,upwind")),
    Alternative("R11", "other start times", ds.SINGLE, _read(start_seed=1)),
    Alternative("R12", "plain sum as G", ds.SINGLE, lambda study: study, "G_sum"),
    Alternative("R17", "best late matrix", ds.SINGLE, _read(keep="best")),
    *(Alternative("X1", f"lambda, {kind}", kind, _LAMBDA) for kind in (ds.SINGLE, ds.TWO, ds.HEURISTIC)),
    Alternative("X2", "published sampling", ds.BAYES, _read(sampling="published")),
)


def alternatives_named(text: str | None = None, taus: Sequence[int] = TAUS) -> list[Alternative]:
    """``"R3,R8"`` to alternatives, in the order of the table; all of them by default. ``taus`` are those of R18."""
    of_heuristic = (Alternative("R18", f"2Q^h, tau = {tau}", ds.HEURISTIC, _heuristic_tau(tau)) for tau in taus)
    every = [*ALTERNATIVES, *of_heuristic]
    known = list(dict.fromkeys(one.number for one in every))
    asked = known if text is None else [word.strip() for word in text.split(",")]
    right = f"it must be readings among {', '.join(known)}, separated by commas"
    require({*asked} <= {*known}, f"--only is {text!r}; {right}.")
    return [one for one in every if one.number in asked]
