"""What there is to do, in groups: trainings and evaluations, and which of them wait for which.

A figure names the groups it needs; :func:`waves` adds what these wait for, and puts everything into an order
in which each wave can run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter

from whiffclock.experiments import agents, bayes
from whiffclock.experiments.agents import CONDITIONS, MINUS, PLUS, training
from whiffclock.experiments.judged import testing
from whiffclock.experiments.measures import ENVIRONMENT_NAMES, Ensemble
from whiffclock.experiments.work import Work
from whiffclock.runs.pieces import Piece

SCAN = "scan of tau"
SINGLE = "training single-Q"
TWO = "training two-Q"
INITIAL = "training from other starts"
SINGLE_HOME = "testing single-Q at home"
SINGLE_ABROAD = "testing single-Q abroad"
TWO_HOME = "testing two-Q at home"
TWO_ABROAD = "testing two-Q abroad"
SCAN_HOME = "testing the scan of tau"
ALONE = "testing Q- and Q+ alone"
HEURISTIC = "testing 2Q^h"
CAST = "tuning cast-and-surge"
BAYES = bayes.GROUP


@dataclass(frozen=True)
class Group:
    """Pieces of one sort, and the groups that must be done before these can be named or made."""

    pieces: Callable[[Work], list[Piece]]
    after: tuple[str, ...] = ()


def _train(ensemble: Ensemble, name: str) -> Callable[[Work], list[Piece]]:
    return lambda work: [piece for e in ENVIRONMENT_NAMES for piece in training(ensemble(work, e), name)]


def _at_home(ensemble: Ensemble, name: str) -> Callable[[Work], list[Piece]]:
    return lambda work: [piece for e in ENVIRONMENT_NAMES for piece in testing(work, ensemble(work, e), e, name)]


def _abroad(ensemble: Ensemble, name: str) -> Callable[[Work], list[Piece]]:
    return lambda work: [
        piece
        for trained in ENVIRONMENT_NAMES
        for tested in ENVIRONMENT_NAMES
        if tested != trained
        for piece in testing(work, ensemble(work, trained), tested, name)
    ]


def _whole_scan(work: Work, environment: str) -> list[agents.Agent]:
    return [agent for tau in work.profile.taus for agent in agents.scan(work, environment, tau)]


def _all_conditions(work: Work, environment: str) -> list[agents.Agent]:
    return [agent for condition in CONDITIONS for agent in agents.initial(work, environment, condition)]


def _each_alone(work: Work, environment: str) -> list[agents.Agent]:
    return [agent for mode in (MINUS, PLUS) for agent in agents.alone(work, environment, mode)]


#: In the order in which they are told.
GROUPS: dict[str, Group] = {
    SCAN: Group(_train(_whole_scan, SCAN)),
    SINGLE: Group(_train(agents.single, SINGLE)),
    TWO: Group(_train(agents.two, TWO), after=(SCAN,)),
    INITIAL: Group(_train(_all_conditions, INITIAL)),
    SINGLE_HOME: Group(_at_home(agents.single, SINGLE_HOME), after=(SINGLE,)),
    SINGLE_ABROAD: Group(_abroad(agents.single, SINGLE_ABROAD), after=(SINGLE,)),
    TWO_HOME: Group(_at_home(agents.two, TWO_HOME), after=(TWO,)),
    TWO_ABROAD: Group(_abroad(agents.two, TWO_ABROAD), after=(TWO,)),
    SCAN_HOME: Group(_at_home(_whole_scan, SCAN_HOME), after=(SCAN,)),
    ALONE: Group(_at_home(_each_alone, ALONE), after=(TWO,)),
    HEURISTIC: Group(_at_home(lambda work, _: agents.heuristic(work), HEURISTIC), after=(SINGLE,)),
    CAST: Group(_at_home(lambda work, _: agents.cast(work), CAST)),
    BAYES: Group(bayes.pieces),
}


def waves(names: Iterable[str]) -> list[list[str]]:
    """The named groups and all they wait for; those within one wave wait for none of the others in it."""
    order: TopologicalSorter[str] = TopologicalSorter()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        order.add(name, *GROUPS[name].after)
        ahead += GROUPS[name].after
    order.prepare()
    found: list[list[str]] = []
    while order.is_active():
        ready = sorted(order.get_ready(), key=list(GROUPS).index)
        found.append(ready)
        order.done(*ready)
    return found
