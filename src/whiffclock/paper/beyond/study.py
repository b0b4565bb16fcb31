"""The jobs beyond the paper, and its kinds of agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from whiffclock.memory import Memory, clock
from whiffclock.paper import dataset as ds
from whiffclock.paper.beyond.memories import MEMORIES, family
from whiffclock.paper.ensembles import Study
from whiffclock.paper.kinds import Kind
from whiffclock.params import EvaluationSettings, OptimizeSettings, cut_at
from whiffclock.runs.jobs import Job
from whiffclock.runs.kinds import Train
from whiffclock.runs.programs import Searched, in_one_chain

#: Programs are searched in this share of the record, and all agents tested in the rest.
SEEN = 0.5
#: Rounds of a search, each with start times of its own.
_ROUNDS = 4


@dataclass(frozen=True)
class Beyond(Study):
    """All jobs beyond the paper on a plume; agents are tested on snapshots that no search over programs has seen."""

    @property
    def evaluation(self) -> EvaluationSettings:
        """How policies are tested."""
        return replace(super().evaluation, after=SEEN)

    @property
    def programs(self) -> int:
        """Number of searched programs per kind and environment."""
        return self.profile.programs or self.profile.seeds

    def search(self, environments: Sequence[str], memory: Memory, count: int) -> list[Job]:
        """Programs searched in some environments together, one for each seed."""
        profile = self.profile
        cut_at(SEEN, self.plume.field.shape[0])
        settings = OptimizeSettings(
            candidates=profile.candidates, chains=1, rounds=min(_ROUNDS, profile.candidates),
            train_share=SEEN, snapshots=profile.program_snapshots, horizon=profile.horizon,
        )  # fmt: skip
        at = tuple(self.environments[name] for name in environments)
        searches = (Searched(self.plume.fingerprint, at, memory, settings, self.world, seed) for seed in range(count))
        return [in_one_chain(search) for search in searches]

    def searched(self, environment: str) -> list[Job]:
        """Programs of the clock of single-Q agents."""
        return self.search([environment], clock(self.profile.horizon), self.programs)

    def searched_two(self, environment: str) -> list[Job]:
        """Programs of the clock of two-Q agents, with the same tau."""
        assert self.taus is not None
        return self.search([environment], clock(self.profile.horizon, (self.taus[environment],)), self.programs)

    def robust(self, environment: str) -> list[Job]:
        """Programs for all environments together, so the same in every environment."""
        return self.search(list(self.environments), clock(self.profile.horizon), self.programs)

    def with_memory(self, environment: str, how: str, name: str) -> list[Job]:
        """Searched or Q-learned agents of the memory-reward curve; none if the profile does not have the memory."""
        if name not in self.profile.memories:
            return []
        memory, seeds, place = MEMORIES[name], self.profile.memory_seeds, self.environments[environment]
        if how == ds.BY_SEARCH:
            return self.search([environment], memory, seeds)
        learning = self.profile.learning
        return [Train(self.plume.fingerprint, place, memory, learning, self.world, seed) for seed in range(seeds)]


def curve_kind(how: str, memory: str) -> str:
    """The kind of agents that are one point of the memory-reward curve."""
    return f"{how}, {memory}"


def _of_curve(how: str, memory: str) -> Kind:
    policies = partial(Beyond.with_memory, how=how, name=memory)
    return Kind(curve_kind(how, memory), policies, tabled=False, needs={"b2": "at home"})


_KINDS = (
    Kind(ds.SINGLE, Study.single, "Q-learned single-Q", drawn="box", recovers=True),
    Kind(ds.SEARCHED, Beyond.searched, "Searched clock", drawn="box", recovers=True),
    Kind(ds.SEARCHED_TWO, Beyond.searched_two, "Searched clock, 2 modes", ds.SCAN, drawn="box", recovers=True),
    Kind(ds.ROBUST, Beyond.robust, "Searched clock, robust", drawn="box", recovers=True),
    Kind(ds.CAST, Study.cast, "Cast-and-surge", drawn="line", best=True),
    Kind(ds.BAYES, lambda study, e: [study.solution(e)], "Bayesian", drawn="line", sampled=True),
    Kind(ds.SCAN, Study.scanned, tabled=False),
    *(_of_curve(ds.BY_SEARCH, name) for name in MEMORIES),
    *(_of_curve(ds.BY_LEARNING, name) for name in MEMORIES if family(name) != "controller"),
)
#: All kinds of agents beyond the paper, in the order of the datasets.
KINDS = {kind.name: kind for kind in _KINDS}
