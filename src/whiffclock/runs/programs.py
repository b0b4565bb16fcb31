"""Searches over programs as jobs: rounds of annealing, and the finished program with its test.

All chains of a round begin with the best program of the round before, which is a field of their jobs: so a search
continues after the last finished round, on any engine. With a number of candidates the result is always the same;
with a time it depends on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.agents.programs import (
    CONTROLLER,
    Ground,
    Program,
    Scored,
    anneal,
    anneal_controller,
    early,
    first_program,
    simplified,
    simplified_controller,
    with_transitions,
)
from whiffclock.agents.qlearning import Task, records_of
from whiffclock.environments import Environments
from whiffclock.evaluation import evaluate
from whiffclock.formatting import nan_to_null
from whiffclock.memory import Memory
from whiffclock.params import EvaluationSettings, LearningSettings, OptimizeSettings, WorldSettings, cut_at, require
from whiffclock.plain_values import shown
from whiffclock.plume import Plume
from whiffclock.plume.plume import joined
from whiffclock.policy import Policy, TablePolicy
from whiffclock.progress import Bar
from whiffclock.runs.jobs import (
    NOT_IN_KEY,
    SEARCHES_PER_SECOND,
    Arrays,
    Engine,
    Job,
    JobStore,
    Tick,
    execute,
    run,
    work_in,
)
from whiffclock.runs.kinds import Given
from whiffclock.runs.store import damaged_record
from whiffclock.world.starts import start_cells

#: By key of a search, the job that finishes it with the best program so far.
Best = dict[str, "Searched"]
#: Searches per candidate, about.
_PER_CANDIDATE = 120


@dataclass(frozen=True)
class _Search(Job):
    """What all jobs of a search over programs have in common."""

    plume: str
    at: tuple[float, ...]  # thresholds of the environments
    memory: Memory
    settings: OptimizeSettings
    world: WorldSettings
    seed: int = 0
    start: Job | None = None  # the policy to begin with; none for untuned cast-and-surge

    @property
    def agent(self) -> str:
        return searched_name(self.memory) + ", robust" * (len(self.at) > 1)

    @property
    def thresholds(self) -> set[float]:
        own = {*self.at, *(self.world.start_at(threshold) for threshold in self.at)}
        return own.union(*(other.thresholds for other in self.needs.values()))

    def unpack(self, arrays: Arrays, plume: Plume, path: Path) -> TablePolicy:
        policy = TablePolicy.from_arrays(arrays, path)
        with damaged_record(path):
            same = policy.memory == self.memory or self.memory.maker == CONTROLLER
            same = same and (policy.memory.rows, policy.name) == (self.memory.rows, self.agent)
            require(same, "its policy has another memory than its label says")
            require("found" in policy.made_from, "its policy lacks the results of its search")
        return policy

    def policy(self, program: Program, plume: Plume, found: dict[str, Any], **records: np.ndarray) -> TablePolicy:
        """A program as a policy, with what the search has found out about it."""
        one = {"threshold": self.at[0]} if len(self.at) == 1 else {}
        made_from = {
            "plume": self.plume,
            "origin": plume.origin,
            **one,
            "environment": ", ".join(map(plume.environments.name_of, self.at)),
            "optimize": self.settings.to_dict(),
            "world": self.world.to_dict(),
            "seed": self.seed,
            "version": __version__,
            "found": found,
            "searched_at": list(self.at),
            "start": None if self.start is None else self.start.key,
        }
        memory = self.memory
        if not np.array_equal(program.next_node, memory.next_node):
            memory = with_transitions(memory, program.next_node)
        return TablePolicy(self.agent, memory, program.actions, made_from, records=records)


@dataclass(frozen=True)
class Anneal(_Search):
    """One chain of annealing, for one round or for all; its result is the best program of the last."""

    kind, verb = "annealing", "searching"

    round: int | None = None
    chain: int = 0

    @property
    def rounds(self) -> Sequence[int]:
        """The rounds that it does."""
        return range(self.settings.turns) if self.round is None else (self.round,)

    def cost(self, plume: Plume) -> int:
        candidates = self.settings.candidates_per_round
        one = _PER_CANDIDATE * candidates if candidates else self.settings.seconds_per_round * SEARCHES_PER_SECOND
        return max(1, int(one * len(self.rounds)))

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        best = program_of(self.memory, needed.get("start"))
        candidates, searches, each = 0, 0, self.cost(plume) / len(self.rounds)
        for number in self.rounds:
            controller = self.memory.maker == CONTROLLER
            settings = early(self.settings, number) if controller else self.settings
            ground = Ground.of(plume, self.at, self.world, settings, seed=number)
            scored = Scored(ground, self.memory, best)
            rng = np.random.default_rng([self.seed, number, self.chain])
            one_round = anneal_controller if controller else anneal
            best, objective = one_round(scored, self.settings, number, rng, lambda share: tick(int(share * each)))
            candidates += scored.candidates
            searches += scored.repeated
        return self.policy(best, plume, {"objective": objective, "candidates": candidates, "searches": searches})


@dataclass(frozen=True)
class Searched(_Search):
    """The finished program: simplified, and tested on snapshots that the search has not seen.

    ``made_from["found"]`` has, by environment, G and f+ in both parts of the record, and the improvement over the
    program that the search began with, on the same unseen starts, with its interval.
    """

    kind, verb, revision = "policy", "simplifying", 1

    best: Job | None = field(default=None, metadata=NOT_IN_KEY, compare=False)  # the last round, which follows from all

    @property
    def horizon(self) -> int:
        """Steps per search."""
        return self.settings.horizon

    def file(self, environments: Environments) -> str:
        """Where its policy is in a folder of policies."""
        place = environments.name_of(self.at[0]) if len(self.at) == 1 else "robust"
        kind = "-".join(searched_name(self.memory).replace(",", "").split())
        return f"{place}/{kind}-seed{self.seed:02d}.npz"

    def made(self, policy: TablePolicy) -> bool:
        """Whether a policy is its result, by what it was made from."""
        own: dict[str, Any] = {"plume": self.plume, "seed": self.seed, "searched_at": list(self.at)}
        own |= {"optimize": self.settings.to_dict(), "world": self.world.to_dict()}
        own["start"] = None if self.start is None else self.start.key
        same = policy.memory == self.memory or self.memory.maker == CONTROLLER
        same = same and (policy.name, policy.memory.rows) == (self.agent, self.memory.rows)
        return same and all(name in policy.made_from and policy.made_from[name] == own[name] for name in own)

    def compute(self, plume: Plume, needed: dict[str, Any], tick: Tick) -> TablePolicy:
        settings = self.settings
        program, begun = (program_of(self.memory, needed.get(name)) for name in ("best", "start"))
        ground = Ground.of(plume, self.at, self.world, settings, seed=settings.turns)
        simpler = simplified_controller if self.memory.maker == CONTROLLER else simplified
        program = simpler(Scored(ground, self.memory, program), settings.tolerance)
        made, first = (self.policy(one, plume, {}) for one in (program, begun))
        found = {plume.environments.name_of(at): self._tested(made, first, plume, at) for at in self.at}
        learning = LearningSettings(horizon=settings.horizon, gamma=settings.gamma)
        task = Task(plume, max(self.at), made.memory, learning, self.world, self.seed)
        return self.policy(program, plume, found, **records_of(task, program.actions))

    def _tested(self, made: TablePolicy, first: TablePolicy, plume: Plume, threshold: float) -> dict[str, Any]:
        """G and f+ in one environment: where the program was searched, and after that."""
        settings, seed = self.settings, self.settings.turns
        alone = Ground.of(plume, (threshold,), self.world, replace(settings, goal="mean"), seed)
        seen = Scored(alone, made.memory, Program(made.actions, made.memory.next_node))
        how = EvaluationSettings(settings.snapshots, seed, settings.gamma, settings.horizon, settings.train_share)
        unseen, before = (evaluate(policy, plume, threshold, self.world, how) for policy in (made, first))
        found = {
            "searched": {"G": seen.objective},
            "unseen": {"G": unseen.mean("G"), "G_error": unseen.standard_error("G"), "f+": unseen.mean("f+")},
            "improvement": unseen.gain(before, "G"),
        }
        return nan_to_null(found, digits=6)


def searched_name(memory: Memory) -> str:
    """What an agent with a searched program is called."""
    if memory.maker == "clock":
        return "searched clock" + f", {memory.modes} modes" * (memory.modes > 1)
    return f"searched {memory.name}"


def program_of(memory: Memory, policy: TablePolicy | None) -> Program:
    """The program of a policy; without one, what a search from scratch begins with."""
    if policy is None:
        return first_program(memory)
    return Program(policy.actions, policy.memory.next_node if memory.maker == CONTROLLER else memory.next_node)


def require_start(policy: Any, memory: Memory) -> None:
    """Refuse a policy to begin with that has another memory; a controller may begin with one of as many rows."""
    tables = isinstance(policy, TablePolicy)
    require(tables, f"The policy to begin with is {shown(policy)}; it must have a finite memory, an action per row.")
    free = memory.maker == CONTROLLER and (policy.memory.rows, policy.modes) == (memory.rows, memory.modes)
    other = f"The policy to begin with has the memory {policy.memory}, and the search the memory {memory}"
    require(free or policy.memory == memory, f"{other}; they must be the same.")


def in_one_chain(search: Searched) -> Searched:
    """A search in one chain, as one job for all rounds."""
    return replace(search, best=Anneal(**_shared(search)))


def _shared(job: _Search) -> dict[str, Any]:
    return {one.name: getattr(job, one.name) for one in fields(_Search)}


def _chains(search: Searched, number: int, begin: Job | None) -> list[Anneal]:
    """The chains of a round, which begin with the best program of the last."""
    shared = _shared(search) | {"start": begin}
    return [Anneal(**shared, round=number, chain=chain) for chain in range(search.settings.chains)]


def program_search(
    plumes: Sequence[Plume],
    thresholds: Sequence[float | str],
    settings: OptimizeSettings,
    memory: Memory,
    world: WorldSettings,
    start: Policy | None = None,
) -> tuple[Plume, Searched]:
    """A search in one plume, or in several that are joined; and the plume that it is in."""
    require(len(plumes) > 0 and len(thresholds) > 0, "A search over programs needs a plume and an environment.")
    plume = plumes[0]
    if len(plumes) > 1:
        plume, share = joined(plumes, settings.train_share)
        settings = replace(settings, train_share=share, plumes=len(plumes))
    at = tuple(dict.fromkeys(plume.environments.threshold_of(one) for one in thresholds))
    cut_at(settings.train_share, plume.field.shape[0])
    world = plume.settle(world)
    for threshold in at:  # bad input is found before any work is done
        start_cells(plume, threshold, world, settings.horizon)
    if start is not None:
        require_start(start, memory)
    begin = None if start is None else Given.of(start)
    return plume, Searched(plume.fingerprint, at, memory, settings, world, start=begin)


def search_programs(
    searches: Sequence[Searched], plume: Plume, store: JobStore, engine: Engine, bar: Bar, best: Best | None = None
) -> list[Searched]:
    """Search, round by round, what is not in the store; the finished jobs.

    ``best`` is filled with the jobs that would finish with the best programs so far.
    """
    best = {} if best is None else best
    todo = [search for search in searches if not store.has(search)]
    begin: list[Job | None] = [search.start for search in todo]
    every = [job for search in todo for number in range(search.settings.turns) for job in _chains(search, number, None)]
    bar.begin("searching", work_in(every, plume))
    for number in range(max((search.settings.turns for search in todo), default=0)):
        chains = [_chains(one, number, job) for one, job in zip(todo, begin, strict=True)]
        execute([job for jobs in chains for job in jobs], plume, store, engine, bar.advance)
        found = [max((run(job, plume, store) for job in jobs), key=objective_of) for jobs in chains]
        begin = [Given.of(policy) for policy in found]
        best |= {one.key: replace(one, best=job) for one, job in zip(todo, begin, strict=True)}
        bar.enter(f"round {number + 1}: G {min(map(objective_of, found)):.4f}")
    done = [best.get(search.key, search) for search in searches]
    execute(done, plume, store, engine)
    return done


def objective_of(policy: TablePolicy) -> float:
    """The objective that a round of annealing has reached."""
    return policy.made_from["found"]["objective"]
