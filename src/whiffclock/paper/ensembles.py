"""The jobs behind all figures of a reproduction, by what a figure needs.

Every agent is trained once for all figures. A :class:`Study` names the jobs of one plume and profile;
:data:`NEEDS` says which of them belong to a need of a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from whiffclock.agents.castsurge import ANGLES
from whiffclock.memory import clock
from whiffclock.paper.dataset import ENVIRONMENT_NAMES, SINGLE
from whiffclock.paper.profiles import Profile
from whiffclock.params import ENVIRONMENTS, BayesSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.recovery import BranchSettings
from whiffclock.runs.ensembles import HEURISTIC_TAU, TauScan, balanced, scan_shares
from whiffclock.runs.jobs import Job, JobStore
from whiffclock.runs.kinds import Branch, CastAndSurge, Evaluate, HeuristicTwoQ, OneMode, Solve, Train

#: The environments whose single-Q agents are the two modes of 2Q^h.
HEURISTIC_FROM = ("dense", "sparse")
#: The modes of a two-Q agent.
MINUS, PLUS = 0, 1

#: How training starts for each ensemble of single-Q agents (R10); the first is the paper's own.
STARTS = {
    SINGLE: WorldSettings(),
    "on a whiff, own mask": WorldSettings(start_on_whiff=True, start_threshold="own"),
    "on a whiff, one mask": WorldSettings(start_on_whiff=True),
    "any time, own mask": WorldSettings(start_threshold="own"),
}


@dataclass(frozen=True)
class Study:
    """All jobs of a reproduction on a plume; ``taus`` of the two-Q agents by environment, once they are chosen."""

    plume: Plume
    profile: Profile
    taus: dict[str, int] | None = None

    @property
    def world(self) -> WorldSettings:
        """The paper's world, in which all policies are tested."""
        return self.plume.settle()

    def train(
        self, environment: str, taus: tuple[int, ...], learning: LearningSettings, world: WorldSettings, seeds: int
    ) -> list[Job]:
        """An ensemble trained in an environment."""
        memory = clock(self.profile.horizon, taus)
        threshold, plume = ENVIRONMENTS[environment], self.plume.fingerprint
        return [Train(plume, threshold, memory, learning, world, seed) for seed in range(seeds)]

    def single(self, environment: str) -> list[Job]:
        """The single-Q agents trained in an environment."""
        return self.train(environment, (), self.profile.learning, self.world, self.profile.seeds)

    def longer(self, environment: str) -> list[Job]:
        """Single-Q agents trained for twice the episodes, with schedules to match."""
        learning = LearningSettings.shortened(2 * self.profile.episodes, horizon=self.profile.horizon)
        return self.train(environment, (), learning, self.world, self.profile.long_seeds)

    def same_path(self, environment: str) -> list[Job]:
        """The single-Q agents with a clock of two modes, both of which do the same."""
        assert self.taus is not None
        return [HeuristicTwoQ(job, job, self.taus[environment]) for job in self.single(environment)]

    def two(self, environment: str) -> list[Job]:
        """The two-Q agents trained in an environment, with the tau of that environment."""
        assert self.taus is not None
        return self.train(environment, (self.taus[environment],), self.profile.learning, self.world, self.profile.seeds)

    def scan(self, environment: str) -> dict[int, list[Job]]:
        """The two-Q agents of the scan, by tau."""
        profile = self.profile
        scan = TauScan(profile.taus, profile.scan_seeds, profile.scan_episodes, profile.horizon)
        return scan.trainings(self.plume, ENVIRONMENTS[environment], self.world)

    def initial(self, environment: str, ensemble: str) -> list[Job]:
        """The single-Q agents trained from one of the :data:`STARTS`; some are those of :meth:`single`."""
        world = self.plume.settle(STARTS[ensemble])
        if world.start_threshold == "own" and ENVIRONMENTS[environment] == self.world.start_threshold:
            world = replace(world, start_threshold=self.world.start_threshold)  # its own mask is the common mask
        seeds = self.profile.seeds if ensemble == SINGLE else self.profile.start_seeds or self.profile.seeds
        return self.train(environment, (), self.profile.learning, world, seeds)

    def heuristic(self, environment: str) -> list[Job]:
        """The 2Q^h agents, the same in all environments: one for each seed, of the agents of two environments."""
        pairs = zip(*(self.single(name) for name in HEURISTIC_FROM), strict=True)
        return [HeuristicTwoQ(dense, sparse, HEURISTIC_TAU) for dense, sparse in pairs]

    def alone(self, environment: str, mode: int) -> list[Job]:
        """The two-Q agents of an environment, each confined to one of its modes."""
        return [OneMode(job, mode) for job in self.two(environment)]

    def cast(self, environment: str) -> list[Job]:
        """Cast-and-surge, one for each of the angles."""
        return [CastAndSurge(angle, self.profile.horizon) for angle in ANGLES]

    def solution(self, environment: str) -> Job:
        """The Bayesian agent of an environment."""
        solver = SolverSettings(seconds=None, backups=self.profile.bayes_backups)
        return Solve(self.plume.fingerprint, ENVIRONMENTS[environment], self.world, BayesSettings(), solver)

    def branches(self, environment: str) -> Job:
        """Forced blanks of the Bayesian agent."""
        settings = BranchSettings(trials=self.profile.bayes_trials, horizon=self.profile.horizon)
        place = self.plume.fingerprint, ENVIRONMENTS[environment], self.world
        return Branch(self.solution(environment), *place, settings)

    def tests(self, policies: Iterable[Job], environment: str, sampled: int | None = None) -> list[Evaluate]:
        """Evaluations of some policies in an environment."""
        settings = EvaluationSettings(snapshots=self.profile.snapshots, horizon=self.profile.horizon)
        place = self.plume.fingerprint, ENVIRONMENTS[environment], self.world
        return [Evaluate(policy, *place, settings, sampled) for policy in policies]

    def bayes_test(self, environment: str) -> Job:
        """The evaluation of the Bayesian agent, on a sample of the others' starts."""
        return self.tests([self.solution(environment)], environment, self.profile.bayes_starts)[0]

    def with_taus(self, store: JobStore) -> Study:
        """The study after its scan of tau is done: with the tau of each environment."""
        found = {name: balanced(scan_shares(self.scan(name), self.plume, store)) for name in ENVIRONMENT_NAMES}
        return replace(self, taus=found)

    def jobs(self, needs: Iterable[str]) -> list[Job]:
        """The jobs behind what figures need."""
        return [job for need in needs for environment in ENVIRONMENT_NAMES for job in NEEDS[need](self, environment)]


def _elsewhere(study: Study, policies: list[Job], trained: str) -> list[Job]:
    return [job for tested in ENVIRONMENT_NAMES if tested != trained for job in study.tests(policies, tested)]


def _scan(study: Study, environment: str) -> list[Job]:
    return [job for jobs in study.scan(environment).values() for job in jobs]


#: The needs of figures: jobs by study and environment (of training, where that differs from the environment of tests).
NEEDS: dict[str, Callable[[Study, str], Sequence[Job]]] = {
    "tau scan training": _scan,
    "tau scan": lambda study, e: study.tests(_scan(study, e), e),
    "single-Q training": lambda study, e: study.single(e),
    "single-Q tests": lambda study, e: study.tests(study.single(e), e),
    "single-Q elsewhere": lambda study, e: _elsewhere(study, study.single(e), e),
    "single-Q, twice as long": lambda study, e: study.tests(study.longer(e), e),
    "two modes, same path": lambda study, e: study.tests(study.same_path(e), e),
    "two-Q training": lambda study, e: study.two(e),
    "two-Q tests": lambda study, e: study.tests(study.two(e), e),
    "two-Q elsewhere": lambda study, e: _elsewhere(study, study.two(e), e),
    "one mode": lambda study, e: study.tests(study.alone(e, MINUS) + study.alone(e, PLUS), e),
    "2Q^h": lambda study, e: study.tests(study.heuristic(e), e),
    "cast-and-surge": lambda study, e: study.tests(study.cast(e), e),
    "initial conditions": lambda study, e: [job for ensemble in STARTS for job in study.initial(e, ensemble)],
    "Bayesian searches": lambda study, e: [study.bayes_test(e)],
    "Bayesian branches": lambda study, e: [study.branches(e)],
}
#: Those that can only be named once tau is chosen.
AFTER_SCAN = ("two-Q training", "two-Q tests", "two-Q elsewhere", "one mode", "two modes, same path")
