"""The jobs of a reproduction: a :class:`Study` names those of one plume and profile.

Every agent is trained once for all figures; :mod:`~whiffclock.paper.kinds` says what a figure needs of which kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whiffclock.agents.castsurge import ANGLES
from whiffclock.environments import Environments
from whiffclock.evaluation import Evaluation
from whiffclock.paper.dataset import SINGLE
from whiffclock.paper.profiles import Profile
from whiffclock.paper.readings.settings import Readings
from whiffclock.params import BayesSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.recovery import BranchSettings
from whiffclock.runs.jobs import Job, JobStore, run
from whiffclock.runs.kinds import Branch, CastAndSurge, Evaluate, HeuristicTwoQ, OneMode, Solve, Train
from whiffclock.runs.training import TauScan, balanced, scan_shares

#: The modes of a two-Q agent.
MINUS, PLUS = 0, 1

#: Most agents of which tau of 2Q^h is chosen.
_CHOOSING = 20

#: How training starts for each ensemble of single-Q agents (R10); the first is the paper's own.
STARTS = {
    SINGLE: WorldSettings(),
    "on a whiff, start region from own threshold": WorldSettings(start_on_whiff=True, start_threshold="own"),
    "on a whiff, common start region": WorldSettings(start_on_whiff=True),
    "any time, start region from own threshold": WorldSettings(start_threshold="own"),
}


@dataclass(frozen=True)
class Study:
    """All jobs of a reproduction on a plume; ``taus`` of the two-Q agents by environment, once they are chosen.

    ``heuristic_tau`` is that of the 2Q^h agents, once it is chosen; 0 before.
    """

    plume: Plume
    profile: Profile
    taus: dict[str, int] | None = None
    heuristic_tau: int = 0

    @property
    def environments(self) -> Environments:
        """Those of the plume, of which there must be one at least."""
        return self.plume.environments.required()

    @property
    def readings(self) -> Readings:
        """How the paper is read."""
        return self.profile.readings

    @property
    def world(self) -> WorldSettings:
        """The paper's world, in which all policies are tested."""
        return self.plume.settle(self.readings.world)

    @property
    def evaluation(self) -> EvaluationSettings:
        """How policies are tested."""
        profile, seed = self.profile, self.readings.start_seed
        return EvaluationSettings(snapshots=profile.snapshots, seed=seed, horizon=profile.horizon)

    def train(
        self, environment: str, taus: tuple[int, ...], learning: LearningSettings, world: WorldSettings, seeds: int
    ) -> list[Job]:
        """An ensemble trained in an environment."""
        memory = self.profile.memory(taus)
        threshold, plume = self.environments[environment], self.plume.fingerprint
        return [Train(plume, threshold, memory, learning, world, seed) for seed in range(seeds)]

    def single(self, environment: str) -> list[Job]:
        """The single-Q agents trained in an environment."""
        return self.train(environment, (), self.profile.learning, self.world, self.profile.seeds)

    def longer(self, environment: str) -> list[Job]:
        """Single-Q agents trained for twice the episodes, with schedules to match."""
        learning = self.profile.trained_for(2 * self.profile.episodes)
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
        like = Train(*place, profile.memory((min(profile.taus),)), profile.learning, self.world)
        return scan.trainings(like)

    def initial(self, environment: str, ensemble: str) -> list[Job]:
        """The single-Q agents trained from one of the :data:`STARTS`; some are those of :meth:`single`."""
        common, start = self.plume.settle().start_threshold, STARTS[ensemble]
        if not start.start_on_whiff:  # some cells have whiffs at the end of the record alone
            start = replace(start, end_of_record=self.readings.world.end_of_record)
        world = self.plume.settle(start)
        if world.start_threshold == "own" and self.environments[environment] == common:
            world = replace(world, start_threshold=common)  # its own start region is the common one
        seeds = self.profile.seeds if ensemble == SINGLE else self.profile.start_seeds or self.profile.seeds
        return self.train(environment, (), self.profile.learning, world, seeds)

    def heuristic(self, environment: str) -> list[Job]:
        """The 2Q^h agents, the same everywhere."""
        assert self.heuristic_tau or self.environments.pair is None
        return self.heuristic_at(self.heuristic_tau)

    def heuristic_at(self, tau: int) -> list[Job]:
        """The 2Q^h agents of some tau: one for each seed, of two environments; none where there is one."""
        pairs = zip(*(self.single(name) for name in self.environments.pair or ()), strict=True)
        return [HeuristicTwoQ(dense, sparse, tau) for dense, sparse in pairs]

    def heuristic_scan(self) -> dict[int, list[Job]]:
        """The 2Q^h agents from which their tau is chosen (R18), by tau; none if it is given."""
        if self.readings.heuristic_tau is not None or self.environments.pair is None:
            return {}
        taus = [tau for tau in self.profile.taus if tau < self.profile.memory().length]
        return {tau: self.heuristic_at(tau)[:_CHOOSING] for tau in taus}

    def heuristics_scanned(self, environment: str) -> list[Job]:
        """All agents of that scan, the same everywhere."""
        return [job for jobs in self.heuristic_scan().values() for job in jobs]

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
        return self._solved(environment, self.readings.sampling)

    def published(self, environment: str) -> list[Job]:
        """The same, with beliefs sampled as in the published algorithm."""
        return [self._solved(environment, "published")]

    def _solved(self, environment: str, sampling: Literal["mixed", "published", "policy"]) -> Job:
        solver = SolverSettings(seconds=None, backups=self.profile.bayes_backups, sampling=sampling)
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

    def with_heuristic_tau(self, store: JobStore) -> Study:
        """The study after the scan of 2Q^h is done: with its tau, given or chosen as that of two-Q agents is (R18).

        Shares of Q+ are of decisions in tests, since these agents are not trained.
        """
        if (given := self.readings.heuristic_tau) is not None:
            return replace(self, heuristic_tau=given)
        scan = self.heuristic_scan()
        tests = {tau: [self.tests(jobs, name) for name in self.environments] for tau, jobs in scan.items()}
        shares = {
            tau: np.array([[share_in_tests(run(job, self.plume, store)) for job in jobs] for jobs in places])
            for tau, places in tests.items()
        }
        return replace(self, heuristic_tau=balanced(shares)) if shares else self


def share_in_tests(found: Evaluation) -> float:
    """Share of test decisions in the sparsest mode."""
    steps = found.mode_steps.sum(axis=0)
    return float(steps[-1] / steps.sum())
