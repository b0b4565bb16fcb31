"""Direct search over the programs of a finite-state memory.

A deterministic policy with a finite memory is a program: an action per row, for a clock some hundred moves. Its mean
reward G over many starts costs a microsecond per search, so programs can be searched directly, without values of
states: find

.. math:: \\max_\\pi \\min_g \\; \\frac{1}{n_g} \\sum_{i \\in g} G_i(\\pi)

over groups g of searches: one group for the mean, one per environment for the worst case. The method is simulated
annealing (Kirkpatrick, Gelatt, Vecchi 1983): a candidate is taken if its objective is above that of the current program
plus T log u, with u uniform; the temperature T falls geometrically. A change sets, inserts or deletes a run of equal
moves, exchanges two neighbouring runs, or mirrors the rest of a recovery path. In a controller it may also set an
action, redirect transitions, move a node to another place, or let the recovery path end in another loop; a large one is
searched as a clock with a loop first. :func:`~whiffclock.world.candidates.attempt` scores candidates on the searches
they concern.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.chains import reachable
from whiffclock.memory import Memory, path_on_blanks
from whiffclock.params import EvaluationSettings, OptimizeSettings, WorldSettings, cut_at, require_memory
from whiffclock.plume import Plume
from whiffclock.policy import runs
from whiffclock.world import reward
from whiffclock.world.candidates import attempt
from whiffclock.world.episode import World
from whiffclock.world.moves import CROSSWIND_MINUS, CROSSWIND_PLUS, N_ACTIONS, UPWIND
from whiffclock.world.starts import Starts, start_cells, stratified_starts

#: Standard errors by which a candidate must be too low to be rejected before all its searches are done.
_SURE = 2.5
#: Searches after which this is tested for the first time.
_FIRST_BLOCK = 512
#: Half the opening angle of the cast-and-surge that a search begins with, in degrees; not tuned.
_ANGLE = 30.0
#: Longest run that one change sets, inserts or deletes.
_LONGEST_RUN = 10
#: Candidates between two looks at the clock, and calls of progress.
_TURN = 32
#: Places of changes are drawn as the power of a uniform number, so that early moves are changed more often.
_EARLY = 1.5
#: Controllers with this many nodes are clocks with a loop in the first half of the rounds.
_LOOP_FIRST = 32
#: How often the number of start times of a controller is halved in the first rounds.
_MOST_HALVED = 3
#: Kinds of changes of a recovery path, each as often as the others.
_KINDS = ("set", "insert", "delete", "swap", "mirror")
#: The maker of memories whose transitions are searched, too.
CONTROLLER = "controller"
_MIRRORED = np.arange(N_ACTIONS)
_MIRRORED[[CROSSWIND_PLUS, CROSSWIND_MINUS]] = CROSSWIND_MINUS, CROSSWIND_PLUS


class Program(NamedTuple):
    """What a search over programs changes: the action of each row and, in a controller, which node follows."""

    actions: np.ndarray  # int8[row]
    next_node: np.ndarray  # int32[node, whiff]


@dataclass(frozen=True, eq=False)
class Ground:
    """The searches on which programs are scored: some snapshots of a plume, in one or more environments."""

    world: World
    starts: Starts
    group: np.ndarray  # int64[search]
    reward: np.ndarray  # float64[horizon + 1], by steps until the source

    @classmethod
    def of(
        cls, plume: Plume, thresholds: Sequence[float], world: WorldSettings, settings: OptimizeSettings, seed: int = 0
    ) -> Ground:
        """Searches in the first part of the record, ``settings.train_share`` of it.

        Start cells are those of the whole record. The part continues with its own first snapshot. The parts of several
        environments follow each other in time, each with as much of its beginning as a search can last.
        """
        horizon, cut = settings.horizon, cut_at(settings.train_share, plume.field.shape[0])
        how = EvaluationSettings(snapshots=settings.snapshots, seed=seed, gamma=settings.gamma)
        records = [plume.whiffs(threshold).between(0, cut) for threshold in thresholds]
        require_memory(sum(record.words.nbytes for record in records) * (cut + horizon) // cut, "The whiff records")
        starts, group = [], []
        for number, (threshold, record) in enumerate(zip(thresholds, records, strict=True)):
            found = stratified_starts(start_cells(plume, threshold, world, horizon), record, world, how, horizon)
            of_plume = found.points[:, 2] // (cut / settings.plumes)
            group.append(number * settings.plumes + of_plume.astype(np.int64))
            starts.append(found.later(number * (cut + horizon)))
        every = Starts(*(np.concatenate([getattr(one, name) for one in starts]) for name in Starts.__annotations__))
        groups = np.concatenate(group) if settings.goal == "worst" else np.zeros(len(every), dtype=np.int64)
        order = np.random.default_rng(seed).permutation(len(every))
        longer = np.arange(cut + horizon) % cut
        words = np.concatenate([record.words[:, :, longer] for record in records], axis=2)
        rewards = reward.discounted_reward(np.arange(horizon + 1), horizon, settings.gamma)
        return cls(World(words, records[0].world(world).region), every.take(order), groups[order], rewards)


def early(settings: OptimizeSettings, part: int) -> OptimizeSettings:
    """With fewer start times in early rounds, in which candidates of a controller differ by more."""
    halved = min(_MOST_HALVED, settings.turns - 1 - part)
    return replace(settings, snapshots=max(1, settings.snapshots >> halved))


class Scored:
    """A program with the reward of every search, which tries candidates."""

    def __init__(self, ground: Ground, memory: Memory, program: Program) -> None:
        self.ground, self.memory, self.program = ground, memory, program
        searches, groups, words = len(ground.starts), int(ground.group.max()) + 1, -(-memory.rows // 64)
        require_memory(16 * searches * words, f"A search over programs with {searches:,} searches of this memory")
        count = np.bincount(ground.group, minlength=groups)
        reached = np.full((searches, words), ~np.uint64(0))
        self.level = np.zeros(groups)
        self.value = np.zeros(searches)
        self.candidates = self.repeated = 0
        self._scores = reached, self.value, self.level, count
        self._work = (
            np.zeros_like(reached), np.zeros(searches), np.zeros(searches, dtype=np.int64),
            np.zeros(groups), np.zeros(groups), np.zeros(groups, dtype=np.int64),
        )  # fmt: skip
        self._attempt(program, np.full(words, ~np.uint64(0)), -np.inf)

    @property
    def objective(self) -> float:
        """The lowest mean reward of the groups."""
        return float(self.level.min())

    @property
    def reached(self) -> np.ndarray:
        """bool[row]: whether some search took a decision there."""
        bits = np.bitwise_or.reduce(self._scores[0], axis=0).astype("<u8").view(np.uint8)
        return np.unpackbits(bits, count=self.memory.rows, bitorder="little").astype(bool)

    @property
    def standard_error(self) -> float:
        """Of the mean reward, over time strata; 0 if there is only one."""
        stratum = self.ground.starts.stratum
        means = np.bincount(stratum, weights=self.value) / np.bincount(stratum)
        return float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0

    def attempt(self, candidate: Program, bar: float) -> bool:
        """Take a candidate if its objective is at least ``bar``."""
        differs = candidate.actions != self.program.actions
        if candidate.next_node is not self.program.next_node:
            differs[self.memory.row[(candidate.next_node != self.program.next_node).any(axis=1)]] = True
        rows = np.flatnonzero(differs)
        if len(rows) == 0:
            return False
        changed = np.zeros(self._scores[0].shape[1], dtype=np.uint64)
        np.bitwise_or.at(changed, rows >> 6, np.uint64(1) << (rows & 63).astype(np.uint64))
        self.candidates += 1
        return self._attempt(candidate, changed, bar)

    def _attempt(self, candidate: Program, changed: np.ndarray, bar: float) -> bool:
        ground, memory = self.ground, self.memory
        same = candidate.next_node is memory.next_node
        tables = memory.tables if same else memory.tables_with(candidate.next_node)
        taken, repeated = attempt(
            ground.world, tables, candidate.actions, ground.starts.points, ground.group, ground.reward,
            changed, bar, _SURE, _FIRST_BLOCK, self._scores, self._work,
        )  # fmt: skip
        self.repeated += repeated
        if taken:
            self.program = candidate
        return taken


def paths_of(memory: Memory) -> list[np.ndarray]:
    """Rows of the recovery path of each mode, int[k], on the whiff and then on blanks."""
    return [memory.row[memory.blank_nodes(mode)] for mode in range(memory.modes)]


def first_program(memory: Memory) -> Program:
    """What a search from scratch begins with: untuned cast-and-surge in every mode, upwind in all other rows."""
    actions = np.full(memory.rows, UPWIND, dtype=np.int8)
    cast = cast_and_surge(_ANGLE, max(2, memory.length)).actions
    for rows in paths_of(memory):
        actions[rows] = cast[: len(rows)]
    return Program(actions, memory.next_node)


class Changes:
    """Random changes of programs."""

    def __init__(self, memory: Memory, rng: np.random.Generator, free: bool = True) -> None:
        self.memory, self.rng, self.free = memory, rng, free  # free: all transitions of a controller
        self.paths = paths_of(memory)
        on_paths = np.concatenate(self.paths)
        self.others = np.setdiff1d(np.arange(memory.rows), on_paths)
        self.reach = [len(rows) for rows in self.paths]

    def look(self, reached: np.ndarray) -> None:
        """Note how far searches go along each recovery path: changes beyond that would change nothing."""
        ends = [np.flatnonzero(reached[rows]) for rows in self.paths]
        self.reach = [int(end[-1]) + 1 if len(end) else 1 for end in ends]

    def _below(self, n: int) -> int:
        return int(self.rng.random() * n)

    def of(self, program: Program) -> Program:
        """A changed copy of a program."""
        if self.memory.maker == CONTROLLER:
            return self._of_controller(program)
        actions = program.actions.copy()
        if self._below(self.memory.rows) < len(self.others):
            actions[self.others[self._below(len(self.others))]] = self._below(N_ACTIONS)
        else:
            mode = self._below(len(self.paths))
            rows = self.paths[mode]
            actions[rows] = self._of_path(actions[rows], self.reach[mode])
        return program._replace(actions=actions)

    def _of_path(self, moves: np.ndarray, reach: int) -> np.ndarray:
        """A changed copy of the moves along a recovery path."""
        at = int(reach * self.rng.random() ** _EARLY)
        run, other = 1 + self._below(_LONGEST_RUN), 1 + self._below(_LONGEST_RUN)
        before, after = moves[:at], moves[at:]
        match _KINDS[self._below(len(_KINDS))]:
            case "set":
                changed = [before, np.full(run, self._below(N_ACTIONS)), after[run:]]
            case "insert":
                changed = [before, np.full(run, self._below(N_ACTIONS)), after]
            case "delete":
                changed = [before, after[run:], np.full(run, moves[-1])]
            case "swap":
                changed = [before, after[run : run + other], after[:run], after[run + other :]]
            case _:
                changed = [before, _MIRRORED[after]]
        return np.concatenate(changed)[: len(moves)]

    def _of_controller(self, program: Program) -> Program:
        """Other moves after a whiff, or another loop; if free, also another action, other transitions, a node moved."""
        actions, next_node = program.actions.copy(), program.next_node.copy()
        node, other, whiff = self._below(len(actions)), self._below(len(actions)), self._below(2)
        path = path_on_blanks(next_node, int(self.memory.after_whiff[0]))
        match self._below(7 if self.free else 3):
            case 0:
                next_node[path[-1], 0] = path[self._below(len(path))]
            case 3:
                next_node[node, whiff] = other
            case 4:
                next_node[node, 1] = next_node[other, 1]
            case 5:
                next_node[next_node[:, 1] == next_node[node, 1], 1] = other
            case 6:
                _put_between(next_node, other, node, whiff)
                actions[other] = self._below(N_ACTIONS) if self._below(2) else actions[next_node[other, 0]]
            case 2 if self.free:
                actions[node] = self._below(N_ACTIONS)
            case _:
                actions[path] = self._of_path(actions[path], len(path))
        return Program(actions, next_node)


def _put_between(next_node: np.ndarray, node: int, before: int, whiff: int) -> None:
    """Take a node out of all paths, and put it into one of the transitions of the node ``before``."""
    next_node[next_node == node] = next_node[node, 0]
    after = int(next_node[before, whiff])
    next_node[before, whiff] = node
    next_node[node] = after, next_node[after, 1]


def anneal(
    scored: Scored,
    settings: OptimizeSettings,
    part: int,
    rng: np.random.Generator,
    progress: Callable[[float], None],
    free: bool = True,
) -> tuple[Program, float]:
    """One round of annealing, ``part`` of ``settings.rounds``; the best program of it, and its objective.

    ``progress`` is called with the share of the round that was done since its last call, and may raise to stop.
    """
    changes = Changes(scored.memory, rng, free)
    changes.look(scored.reached)
    best, highest = scored.program, scored.objective
    begin, done, ratio = time.perf_counter(), 0.0, settings.coldest / settings.hottest
    budget, count = settings.candidates_per_round, 0
    while done < 1:
        temperature = settings.hottest * ratio ** ((part + done) / settings.turns)
        for _ in range(_TURN if budget is None else min(_TURN, budget - count)):
            bar = scored.objective + temperature * np.log(rng.random())
            if scored.attempt(changes.of(scored.program), bar) and scored.objective > highest:
                best, highest = scored.program, scored.objective
            count += 1
        spent = (time.perf_counter() - begin) / settings.seconds_per_round if budget is None else count / budget
        progress(min(1.0, spent) - done)
        done = min(1.0, spent)
    return best, highest


def anneal_controller(
    scored: Scored, settings: OptimizeSettings, part: int, rng: np.random.Generator, progress: Callable[[float], None]
) -> tuple[Program, float]:
    """One round for a controller: in the first half of the rounds a whole annealing from scratch, the better one stays.

    Small controllers have many local optima, which differ by .1 in G.
    """
    if part >= settings.turns // 2:
        return anneal(scored, settings, part, rng, progress)
    another = Scored(scored.ground, scored.memory, first_program(scored.memory))
    seconds = None if settings.seconds is None else settings.seconds_per_round
    whole = replace(settings, seconds=seconds, candidates=settings.candidates_per_round, rounds=1)
    found = anneal(another, whole, 0, rng, progress, free=scored.memory.rows < _LOOP_FIRST)
    scored.candidates, scored.repeated = another.candidates, scored.repeated + another.repeated
    return max(found, (scored.program, scored.objective), key=lambda one: one[1])


def simplified(scored: Scored, tolerance: float) -> Program:
    """A program with fewer runs of equal moves: each run is deleted, or joined with a neighbour, where little is lost.

    The objective falls by at most ``tolerance`` standard errors in all.
    """
    floor = scored.objective - tolerance * scored.standard_error
    paths, before = paths_of(scored.memory), -1
    while before != (now := sum(len(runs(scored.program.actions[rows])) for rows in paths)):
        before = now
        for rows in paths:
            _simplify_path(scored, rows, floor)
    return scored.program


def simplified_controller(scored: Scored, tolerance: float) -> Program:
    """A controller in which most nodes have the same node after a whiff, where little is lost, in the order of paths.

    The objective falls by at most ``tolerance`` standard errors.
    """
    floor = scored.objective - tolerance * scored.standard_error
    usual = with_transitions(scored.memory, scored.program.next_node).after_whiff[0]
    for node in range(scored.memory.rows):
        next_node = scored.program.next_node.copy()
        next_node[node, 1] = usual
        scored.attempt(scored.program._replace(next_node=next_node), floor)
    return in_order(scored.memory, scored.program)


def with_transitions(memory: Memory, next_node: np.ndarray) -> Memory:
    """A controller with other transitions; its recovery path begins at the node that most others have after a whiff."""
    made = replace(memory, next_node=next_node, maker="", settings=None)  # which no maker can rebuild
    return replace(made, after_whiff=np.array([np.bincount(next_node[reachable(made), 1]).argmax()]))


def in_order(memory: Memory, program: Program) -> Program:
    """The same controller with its nodes numbered along its paths; those that a search begins with remain the first."""
    found = reachable(with_transitions(memory, program.next_node))
    order = np.array([*dict.fromkeys([*sorted(memory.first.tolist()), *found, *range(memory.rows)])])
    number = np.argsort(order).astype(np.int32)
    return Program(program.actions[order], number[program.next_node[order]])


def _simplify_path(scored: Scored, rows: np.ndarray, floor: float) -> None:
    """Try to delete each run of a path, or to join it with the one before or after it, from the last to the first."""
    for number in range(len(runs(scored.program.actions[rows])) - 1, 0, -1):
        found = runs(scored.program.actions[rows])
        if number >= len(found):  # several were joined
            continue
        (before, _), (_, length) = found[number - 1], found[number]
        after = [(action, length) for action, _ in found[number + 1 : number + 2]]
        for instead in ([(before, length)], [], after):
            actions = scored.program.actions.copy()
            actions[rows] = _moves([*found[:number], *instead, *found[number + 1 :]], len(rows))
            if scored.attempt(scored.program._replace(actions=actions), floor):
                break


def _moves(found: Sequence[tuple[int, int]], length: int) -> np.ndarray:
    """Moves of some runs, the last of which is made as long as needed."""
    moves = np.repeat(*np.array(found, dtype=np.int64).T)[:length]
    return np.concatenate([moves, np.full(length - len(moves), moves[-1])])
