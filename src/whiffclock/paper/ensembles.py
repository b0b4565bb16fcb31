"""The jobs of a reproduction: a :class:`Study` names those of one plume and profile.

Every agent is trained once for all figures; :mod:`~whiffclock.paper.kinds` says what a figure needs of which kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from whiffclock.agents.castsurge import ANGLES
from whiffclock.environments import Environments
from whiffclock.memory import clock
from whiffclock.paper.dataset import SINGLE
from whiffclock.paper.profiles import Profile
from whiffclock.params import BayesSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.recovery import BranchSettings
from whiffclock.runs.comparison import HEURISTIC_TAU
from whiffclock.runs.jobs import Job, JobStore
from whiffclock.runs.kinds import Branch, CastAndSurge, Evaluate, HeuristicTwoQ, OneMode, Solve, Train
from whiffclock.runs.training import TauScan, balanced, scan_shares

#: The modes of a two-Q agent.
MINUS, PLUS = 0, 1

#: How training starts for each ensemble of single-Q agents (R10); the first is the paper's own.
STARTS = {
    SINGLE: WorldSettings(),
    "on a whiff, start region from own threshold": WorldSettings(start_on_whiff=True, start_threshold="own"),
    "on a whiff, common start region": WorldSettings(start_on_whiff=True),
    "any time, start region from own threshold": WorldSettings(start_threshold="own"),
}


@dataclass(frozen=True)
class Study:
    """All jobs of a reproduction on a plume; ``taus`` of the two-Q agents by environment, once they are chosen."""

    plume: Plume
    profile: Profile
    taus: dict[str, int] | None = None

    @property
    def environments(self) -> Environments:
        """Those of the plume, of which there must be one at least."""
        return self.plume.environments.required()

    @property
    def world(self) -> WorldSettings:
        """The paper's world, in which all policies are tested."""
        return self.plume.settle()

    @property
    def evaluation(self) -> EvaluationSettings:
        """How policies are tested."""
        return EvaluationSettings(snapshots=self.profile.snapshots, horizon=self.profile.horizon)

    def train(
        self, environment: str, taus: tuple[int, ...], learning: LearningSettings, world: WorldSettings, seeds: int
    ) -> list[Job]:
        """An ensemble trained in an environment."""
        memory = clock(self.profile.horizon, taus)
        threshold, plume = self.environments[environment], self.plume.fingerprint
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

    def scan(self, environment: str) -> dict[int, list[Train]]:
        """The two-Q agents of the scan, by tau."""
        profile, place = self.profile, (self.plume.fingerprint, self.environments[environment])
        scan = TauScan(profile.taus, profile.scan_seeds, profile.scan_episodes)
        return scan.trainings(Train(*place, clock(profile.horizon), profile.learning, self.world))

    def initial(self, environment: str, ensemble: str) -> list[Job]:
        """The single-Q agents trained from one of the :data:`STARTS`; some are those of :meth:`single`."""
        world = self.plume.settle(STARTS[ensemble])
        if world.start_threshold == "own" and self.environments[environment] == self.world.start_threshold:
            world = replace(world, start_threshold=self.world.start_threshold)  # its own start region is the common one
        seeds = self.profile.seeds if ensemble == SINGLE else self.profile.start_seeds or self.profile.seeds
        return self.train(environment, (), self.profile.learning, world, seeds)

    def heuristic(self, environment: str) -> list[Job]:
        """The 2Q^h agents, the same everywhere: one for each seed, of two environments; none where there is one."""
        pairs = zip(*(self.single(name) for name in self.environments.pair or ()), strict=True)
        return [HeuristicTwoQ(dense, sparse, HEURISTIC_TAU) for dense, sparse in pairs]

    def alone(self, environment: str, mode: int) -> list[Job]:
        """The two-Q agents of an environment, each confined to one of its modes."""
        return [OneMode(job, mode) for job in self.two(environment)]

    def cast(self, environment: str) -> list[Job]:
        """Cast-and-surge, one for each of the angles."""
        return [CastAndSurge(angle, self.profile.horizon) for angle in ANGLES]

    def scanned(self, environment: str) -> list[Job]:
        """All agents of the scan."""
        return [job for jobs in self.scan(environment).values() for job in jobs]

    def solution(self, environment: str) -> Job:
        """The Bayesian agent of an environment."""
        solver = SolverSettings(seconds=None, backups=self.profile.bayes_backups)
        return Solve(self.plume.fingerprint, self.environments[environment], self.world, BayesSettings(), solver)

    def branches(self, environment: str) -> Job:
        """Forced blanks of the Bayesian agent."""
        settings = BranchSettings(trials=self.profile.bayes_trials, horizon=self.profile.horizon)
        place = self.plume.fingerprint, self.environments[environment], self.world
        return Branch(self.solution(environment), *place, settings)

    def tests(self, policies: Iterable[Job], environment: str, sampled: int | None = None) -> list[Evaluate]:
        """Evaluations of some policies in an environment."""
        place = self.plume.fingerprint, self.environments[environment], self.world
        return [Evaluate(policy, *place, self.evaluation, sampled) for policy in policies]

    def with_taus(self, store: JobStore) -> Study:
        """The study after its scan of tau is done: with the tau of each environment."""
        found = {name: balanced(scan_shares(self.scan(name), self.plume, store)) for name in self.environments}
        return replace(self, taus=found)
