"""Who takes part: the ensembles of a reproduction, each agent trained once for all figures that need it.

An :class:`Agent` says what determines its policy, and knows how to get it: out of the store where it was
trained, by putting others together where it was not.

tau of the two-Q agents is chosen per environment, the one of the scan's values whose agents took closest to
half of their training decisions in Q+ (mean over the scan's agents; the smaller of two that are equally close).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whiffclock.agents.castsurge import ANGLES, NAME, cast_and_surge
from whiffclock.agents.compose import HEURISTIC, heuristic_two_q, one_mode
from whiffclock.agents.qlearning import Task, train
from whiffclock.experiments.ensembles import POLICY, policy_description, stored_policy
from whiffclock.experiments.performance import HEURISTIC_TAU
from whiffclock.experiments.tuning import sparse_share
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS, ClockSettings, InputError, LearningSettings, WorldSettings
from whiffclock.policy import ClockPolicy
from whiffclock.runs.pieces import Piece
from whiffclock.runs.store import canonical, plain

#: The environments whose single-Q agents are the two modes of 2Q^h.
HEURISTIC_FROM = ("dense", "sparse")
#: The modes of a two-Q agent.
MINUS, PLUS = 0, 1

#: The four initial conditions of the supplement, in the order of its columns (R10); the last is the paper's own.
CONDITIONS: dict[str, WorldSettings] = {
    "on a whiff, own mask": WorldSettings(start_on_whiff=True, start_threshold=None),
    "on a whiff, one mask": WorldSettings(start_on_whiff=True),
    "any time, own mask": WorldSettings(start_threshold=None),
    "any time, one mask": WorldSettings(),
}


@dataclass(frozen=True)
class Agent:
    """A member of an ensemble: what determines its policy, how to get that, and its training if it has one."""

    description: dict[str, Any]
    get: Callable[[], ClockPolicy]
    task: Task | None = None


def single(work: Work, environment: str) -> list[Agent]:
    """The single-Q agents trained in an environment."""
    return [
        _trained(work, _task(work, environment, (), seed, work.profile.learning)) for seed in range(work.profile.seeds)
    ]


def two(work: Work, environment: str) -> list[Agent]:
    """The two-Q agents trained in an environment, with the tau of that environment."""
    tau, learning = chosen_tau(work, environment), work.profile.learning
    return [_trained(work, _task(work, environment, (tau,), seed, learning)) for seed in range(work.profile.seeds)]


def scan(work: Work, environment: str, tau: int) -> list[Agent]:
    """The two-Q agents of one tau in the scan."""
    seeds, learning = range(work.profile.scan_seeds), work.profile.scan_learning
    return [_trained(work, _task(work, environment, (tau,), seed, learning)) for seed in seeds]


def initial(work: Work, environment: str, condition: str) -> list[Agent]:
    """The single-Q agents trained from one of the :data:`CONDITIONS`; some are those of :func:`single`."""
    world, threshold = CONDITIONS[condition], ENVIRONMENTS[environment]
    if world.start_threshold is None and threshold == work.world.start_threshold:
        world = WorldSettings(start_on_whiff=world.start_on_whiff)  # its own mask is the mask of all
    learning = work.profile.learning
    return [_trained(work, _task(work, environment, (), seed, learning, world)) for seed in range(work.profile.seeds)]


def heuristic(work: Work) -> list[Agent]:
    """The 2Q^h agents: one for each seed, of the single-Q agents of two environments."""
    pairs = zip(*(single(work, environment) for environment in HEURISTIC_FROM), strict=True)
    return [_heuristic(work, dense, sparse) for dense, sparse in pairs]


def alone(work: Work, environment: str, mode: int) -> list[Agent]:
    """The two-Q agents of an environment, each confined to one of its modes."""
    return [_alone(work, agent, mode) for agent in two(work, environment)]


def cast(work: Work) -> list[Agent]:
    """Cast-and-surge, one for each of :data:`~whiffclock.agents.castsurge.ANGLES`."""
    return [_cast(angle, work.profile.horizon) for angle in ANGLES]


def policy(work: Work, agent: Agent) -> ClockPolicy:
    """The policy of an agent; its training must be done."""
    return work.remember(("policy", canonical(plain(agent.description))), agent.get)


def chosen_tau(work: Work, environment: str) -> int:
    """tau of the two-Q agents of an environment: given, or chosen from the scan."""
    if work.taus is not None:
        return work.taus[environment]
    return work.remember(("tau", environment), lambda: _balanced(scan_shares(work, environment)))


def scan_shares(work: Work, environment: str) -> dict[int, np.ndarray]:
    """Share of training decisions in Q+, float[agent], for each tau of the scan."""
    return {
        tau: np.array([sparse_share(policy(work, agent)) for agent in scan(work, environment, tau)])
        for tau in work.profile.taus
    }


def training(agents: list[Agent], group: str) -> list[Piece]:
    """The trainings of some agents, as pieces of work."""
    return [_training(agent.task, agent.description, group) for agent in agents if agent.task is not None]


def _balanced(shares: dict[int, np.ndarray]) -> int:
    return min(shares, key=lambda tau: (abs(float(shares[tau].mean()) - 0.5), tau))


def _task(
    work: Work,
    environment: str,
    taus: tuple[int, ...],
    seed: int,
    learning: LearningSettings,
    world: WorldSettings | None = None,
) -> Task:
    clock = ClockSettings(work.profile.horizon, taus)
    return Task(work.plume, ENVIRONMENTS[environment], clock, learning, world or work.world, seed)


def _trained(work: Work, task: Task) -> Agent:
    def get() -> ClockPolicy:
        found = stored_policy(work.store, task)
        if found is None:
            raise InputError(f"A {task.name} agent of this reproduction is not trained yet; run it from the start.")
        return found

    return Agent(policy_description(task), get, task)


def _training(task: Task, description: dict[str, Any], group: str) -> Piece:
    return Piece(POLICY, description, lambda tick: train(task, tick).to_arrays(), task.learning.episodes, group)


def _heuristic(work: Work, dense: Agent, sparse: Agent) -> Agent:
    description = {
        "agent": HEURISTIC,
        "tau": HEURISTIC_TAU,
        "dense": dense.description,
        "sparse": sparse.description,
    }
    return Agent(description, lambda: heuristic_two_q(policy(work, dense), policy(work, sparse), HEURISTIC_TAU))


def _alone(work: Work, agent: Agent, mode: int) -> Agent:
    description = {"agent": "one mode", "mode": mode, "of": agent.description}
    return Agent(description, lambda: one_mode(policy(work, agent), mode))


def _cast(angle: float, horizon: int) -> Agent:
    description = {"agent": NAME, "angle": angle, "horizon": horizon}
    return Agent(description, lambda: cast_and_surge(angle, horizon))
