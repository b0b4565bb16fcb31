"""The kinds of agents of a reproduction, as data.

A kind is one entry of :data:`KINDS`, here or from outside (:func:`add_kind`): its name, its policies by environment of
training, and what is done with them. Jobs, datasets, tables and legends follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from whiffclock.paper import dataset as ds
from whiffclock.paper.dataset import Need
from whiffclock.paper.ensembles import MINUS, PLUS, STARTS, Study
from whiffclock.params import require
from whiffclock.runs.jobs import Job


@dataclass(frozen=True)
class Kind:
    """A kind of agent.

    Attributes
    ----------
    policies
        Its policies, from a study and the environment of training; there may be none.
    label
        Its name in tables.
    after
        The kind that must be finished before its policies can be named: the scan from which tau is chosen.
    drawn
        How Fig. 2 draws it: the agents as a box, or the one agent as a line; "" if it is not in Fig. 2.
    needs
        What figures need of it beside their own needs: by figure, "trained", "at home" or "elsewhere".
    best
        Only the policy with the highest G is in the datasets; the others are settings to choose from.
    sampled
        Its searches are slow: it is tested on a sample of the starts.
    tabled
        It has an entry in the datasets of searches.
    recovers
        Its recovery paths are in the datasets.
    """

    name: str
    policies: Callable[[Any, str], Sequence[Job]]
    label: str = ""
    after: str = ""
    drawn: Literal["", "box", "line"] = ""
    needs: dict[str, Literal["trained", "at home", "elsewhere"]] = field(default_factory=dict)
    best: bool = False
    sampled: bool = False
    tabled: bool = True
    recovers: bool = False

    def tests(self, study: Study, trained: str, tested: str) -> Sequence[Job]:
        """The evaluations of the policies from one environment in the same or another one."""
        sampled = study.profile.bayes_starts if self.sampled else None
        return study.tests(self.policies(study, trained), tested, sampled)


#: What tau is chosen from: that of two-Q agents, and that of 2Q^h.
CHOOSING = (Need(ds.SCAN, "trained"), Need(ds.HEURISTIC_SCAN, "at home"))
#: Kinds by name, in the order of the datasets.
Kinds = Mapping[str, Kind]
#: Those of the paper.
KINDS: dict[str, Kind] = {}


def add_kind(kind: Kind) -> None:
    """Add a kind of agent to all reproductions of this process."""
    require(kind.name not in KINDS, f"There is a kind of agent called {kind.name!r} already; choose another name.")
    KINDS[kind.name] = kind


for _kind in (
    Kind(ds.SINGLE, Study.single, "Single-Q", drawn="box", recovers=True),
    Kind(ds.TWO, Study.two, "Two-Q", ds.SCAN, drawn="box", recovers=True),
    Kind(ds.HEURISTIC, Study.heuristic, "2Qʰ", ds.HEURISTIC_SCAN, drawn="box", needs={"fig5": "at home"}),
    Kind(ds.MINUS_ONLY, partial(Study.alone, mode=MINUS), "Q⁻ only", ds.SCAN),
    Kind(ds.PLUS_ONLY, partial(Study.alone, mode=PLUS), "Q⁺ only", ds.SCAN),
    Kind(ds.CAST, Study.cast, "Cast-and-surge", drawn="line", best=True),
    Kind(ds.BAYES, lambda study, e: [study.solution(e)], "Bayesian", drawn="line", sampled=True),
    Kind(ds.PUBLISHED, Study.published, "Bayesian, published sampling", sampled=True, needs={"fig2": "at home"}),
    Kind(ds.LONGER, Study.longer, "Single-Q, twice as long"),
    Kind(ds.SAME_PATH, Study.same_path, "Two modes, same path", ds.SCAN),
    Kind(ds.SCAN, Study.scanned, tabled=False),
    Kind(ds.HEURISTIC_SCAN, Study.heuristics_scanned, tabled=False),
    *(
        Kind(name, partial(Study.initial, ensemble=name), tabled=False, recovers=True)
        for name in STARTS
        if name != ds.SINGLE
    ),
):
    add_kind(_kind)


def jobs(study: Study, needs: Iterable[Need], kinds: Kinds = KINDS) -> list[Job]:
    """The jobs behind what figures need."""
    places = study.environments
    return [job for need in needs for place in places for job in _jobs(study, need, place, kinds[need.kind])]


def _jobs(study: Study, need: Need, trained: str, kind: Kind) -> Sequence[Job]:
    if need.how == "trained":
        return kind.policies(study, trained)
    if need.how == "branched":
        return [study.branches(trained)]
    if need.how == "at home":
        return kind.tests(study, trained, trained)
    return [job for tested in study.environments if tested != trained for job in kind.tests(study, trained, tested)]


def with_scan(needs: Iterable[Need], kinds: Kinds = KINDS) -> list[Need]:
    """Needs, each once; first those that others depend on."""
    every = list(needs)
    after = {kinds[need.kind].after for need in every}
    before = [need for need in CHOOSING if need.kind in after]
    return list(dict.fromkeys([*before, *every]))


def kinds_needed_by(figure: str, kinds: Kinds = KINDS) -> list[Need]:
    """What a figure needs of kinds that name it."""
    return [Need(kind.name, kind.needs[figure]) for kind in kinds.values() if figure in kind.needs]
