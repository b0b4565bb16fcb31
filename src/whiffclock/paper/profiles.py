"""How much to compute: the paper's numbers, or fewer for a first look.

The work of a profile is counted in searches (episodes of training, searches of an evaluation). One core does about
:data:`~whiffclock.runs.jobs.SEARCHES_PER_SECOND` of them on the built-in plume: about 8 seconds for an agent of
3,000,001 episodes. A whole reproduction, with the Bayesian agent, what is beyond the paper and the report, on two cores
(calculated from that speed):

========  ======  =========  =============  =======
profile   agents  episodes   searches       time
========  ======  =========  =============  =======
quick     170     300,000    74 million     2 min
standard  252     1,200,000  355 million    10 min
paper     620     3,000,001  1,834 million  40 min
deep      1,156   3,000,001  3,220 million  70 min
========  ======  =========  =============  =======

Agents in the scan of tau have fewer episodes, a few others twice as many; a training of any length keeps the shape of
the schedules. ``deep`` has more agents where these decide a claim: 36 per other initial condition, 24 per tau, and 20
that are trained for twice the episodes. In the folder of a ``paper`` run it continues that run.
"""

import tomllib
from dataclasses import dataclass, field
from importlib import resources

from whiffclock.memory import Memory, clock
from whiffclock.paper.beyond.memories import MEMORIES
from whiffclock.paper.readings.settings import Readings
from whiffclock.params import Count, InputError, LearningSettings, Settings, require
from whiffclock.path_metrics import TRUNCATIONS
from whiffclock.runs.training import TAUS


@dataclass(frozen=True)
class Profile(Settings):
    """All numbers that a reproduction depends on, apart from the plume."""

    name: str  # does not affect results
    seeds: Count  # agents per kind and environment
    episodes: Count  # of their training
    snapshots: Count  # to start from per cell in evaluations (R11)
    scan_seeds: Count  # agents per environment and tau in the scan
    scan_episodes: Count  # of their training
    bayes_backups: Count  # budget of the Bayesian agent's solver; in backups, to be the same on all machines
    bayes_starts: Count  # number (about) of starts of its evaluation, a sample, since its searches are far slower
    bayes_trials: Count  # searches per environment with forced blanks; the effective number is about half of it
    taus: tuple[int, ...] = TAUS  # candidates for tau of the two-Q agents, and the values of its scan
    horizon: int = 500  # H: number of clock states, and the longest search
    start_seeds: int | None = None  # agents per environment and initial condition (R10); by default as many as seeds
    long_seeds: int = 0  # agents per environment that are trained for twice the episodes, to test convergence
    programs: int | None = None  # searched programs per kind and environment; by default as many as seeds
    candidates: Count = 1_000  # that a search over programs tries
    program_snapshots: Count = 2  # to start from per cell in these searches
    memories: tuple[str, ...] = tuple(MEMORIES)  # of the memory-reward curve
    memory_seeds: Count = 1  # agents per memory and environment in it
    readings: Readings = field(default_factory=Readings)  # of the paper

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("long_seeds", "programs"):
            few = getattr(self, name) or 0
            require(0 <= few <= self.seeds, f"{name} is {few}; it must lie between 0 and seeds, {self.seeds}.")
        starts = self.start_seeds
        require(starts is None or starts >= 1, f"start_seeds is {starts}; it must be at least 1.")
        require(len(self.taus) > 0, "The scan of tau has no values; it needs at least one.")
        clock(self.horizon, self.taus)
        self._check_readings()
        for name in self.memories:
            require(name in MEMORIES, f"There is no memory {name!r}; choose from {', '.join(MEMORIES)}.")

    def _check_readings(self) -> None:
        """Find values that no memory, training or path can have."""
        cut, states, tau = self.readings.truncation, self.readings.clock_states, self.readings.heuristic_tau
        known = cut is None or cut in TRUNCATIONS
        require(known, f"The truncation is {cut!r}; it must be one of: {', '.join(TRUNCATIONS)}.")
        fits = states is None or states > min(self.taus)
        require(fits, f"The clock has {states} states; the scan of tau needs more than {min(self.taus)}.")
        self.memory(() if tau is None else (tau,))
        LearningSettings(**self.readings.learning)

    def memory(self, taus: tuple[int, ...] = ()) -> Memory:
        """The clock of agents with some blank thresholds."""
        return clock(**self.readings.clock(self.horizon, taus))

    @property
    def learning(self) -> LearningSettings:
        """Training of the main ensembles."""
        return self.trained_for(self.episodes)

    def trained_for(self, episodes: int) -> LearningSettings:
        """Training for another number of episodes, with schedules to match."""
        return LearningSettings.shortened(episodes, horizon=self.horizon, **self.readings.learning)


PROFILES = {
    name: Profile.from_dict({"name": name, **numbers})
    for name, numbers in tomllib.loads(
        (resources.files(__package__) / "profiles.toml").read_text(encoding="utf-8")
    ).items()
}


def profile_named(name: str) -> Profile:
    """One of :data:`PROFILES`."""
    if name not in PROFILES:
        raise InputError(f"--profile is {name!r}; it must be {', '.join(PROFILES)}.")
    return PROFILES[name]
