"""SARSOP: successive approximations of the reachable space under optimal policies.

Kurniawati, Hsu and Lee (2008) sample beliefs that good policies reach, back up alpha vectors there, and drop
vectors that have become useless: sample, back up, prune, until the bounds at the root meet. The lower bound
is the value of a policy that can be executed, the upper bound limits how much better any other can be;
both hold at all times.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from whiffclock.pomdp.backup import back_up_lower, back_up_upper
from whiffclock.pomdp.deadline import Deadline
from whiffclock.pomdp.model import Model, Vectors
from whiffclock.pomdp.prune import prune, thin
from whiffclock.pomdp.sample import Predictor, by_bounds, by_policy, by_upper
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.start import Start, add_start, require_in_order
from whiffclock.pomdp.tree import Tree

#: Shares of the backups when ways of sampling take turns. Where the upper bound does not interpolate, ten backups
#: of :func:`by_upper` cost about as much as one of the others; a few of :func:`by_bounds` are needed as well: by
#: itself, a policy never tries actions that it rates lower.
_SHARES = {"mixed": {"policy": 2.0, "bounds": 1.0}, "published": {"bounds": 1.0}, "policy": {"policy": 1.0}}
_SHARES_APART = {"policy": 1.0, "bounds": 0.1, "upper": 10.0}
_BY = {"policy": by_policy, "upper": by_upper}

#: Shares of the time until which the first lower bound, and both first bounds, must be ready.
_FIRST_LOWER, _FIRST = 0.2, 0.5

Report = Callable[["Progress"], None]


@dataclass(frozen=True)
class Progress:
    """The state of the solver at one time."""

    lower: float
    upper: float
    vectors: int
    backups: int
    nodes: int
    seconds: float
    cpu_seconds: float
    megabytes: float


@dataclass(frozen=True)
class Solution:
    """A policy as alpha vectors, and what is known of its value.

    ``ended`` says why the solver stopped, ``loose_first_bounds`` whether the time was too short to solve the first
    bounds, so that looser ones were used; ``history`` has the bounds over time.
    """

    model: Any
    vectors: Vectors
    lower: float
    upper: float
    backups: int
    seconds: float
    ended: str
    loose_first_bounds: bool
    history: list[Progress] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Summary in plain values."""
        how = {"ended": self.ended, "loose_first_bounds": self.loose_first_bounds}
        return {"gap": self.upper - self.lower, **asdict(self.history[-1]), **how}


def solve(
    model: Model, settings: SolverSettings | None = None, start: Start | None = None, progress: Report | None = None
) -> Solution:
    """Solve a POMDP as far as the settings allow; Ctrl-C stops it and keeps the best policy so far.

    ``start`` are vectors to begin with, those of a policy solved before; what is not a lower bound is refused.
    ``progress`` is called about ten times a second.
    """
    with _interrupt() as interrupted, _one_blas_thread():
        return _Run(model, settings or SolverSettings(), start or []).solve(progress or (lambda _: None), interrupted)


class _Run:
    def __init__(self, model: Model, settings: SolverSettings, start: Start) -> None:
        self.settings, self.clock, self.cpu_clock = settings, time.perf_counter(), time.thread_time()
        self.end = Deadline.after(settings.seconds, settings.cpu_seconds)
        first_lower, first = self.end.part(_FIRST_LOWER), self.end.part(_FIRST)
        self.model, self.vectors = model, model.vectors(first_lower)
        self.bound = model.upper(first)
        self.loose_first_bounds = first.passed()
        add_start(model, self.vectors, self.bound, start)
        self.tree = Tree(model, self.vectors, self.bound, self.end)
        self.rng = np.random.default_rng(settings.seed)
        self.predictor = Predictor(self.tree)
        self.backups = {"policy": 0, "bounds": 0, "upper": 0}
        self.after_pruning = max(len(self.vectors), 500)
        self.onward = True
        self.history: list[Progress] = []

    def solve(self, progress: Report, interrupted: threading.Event) -> Solution:
        back_up_lower(self.tree, 0, self.tree.root)
        back_up_upper(self.tree, 0, self.tree.root)
        progress(self._record())
        while not (ended := self._ended(interrupted.is_set())):
            self._sample()
            if len(self.vectors) > 1.3 * self.after_pruning:
                prune(self.tree)
                self.after_pruning = max(len(self.vectors), 500)
            if self._elapsed() - self.history[-1].seconds > 0.1:
                progress(self._record())
        progress(self._record())  # before vectors are dropped, most memory is held
        prune(self.tree)
        if self.bound.interpolates:
            thin(self.tree)
        progress(last := self._record())
        found = last.lower, last.upper, last.backups, last.seconds
        return Solution(self.model, self.vectors, *found, ended, self.loose_first_bounds, self.history)

    def _sample(self) -> None:
        """One walk of the way of sampling that is most behind its share of backups."""
        shares = _SHARES[self.settings.sampling]
        if self.settings.sampling == "mixed" and not self.bound.interpolates:
            shares = _SHARES_APART
        way = min(shares, key=lambda name: self.backups[name] / shares[name])
        if way == "bounds":
            epsilon = max(self.settings.gap, 0.5 * float(self.tree.upper[0] - self.tree.lower[0]))
            self.onward = not self.onward and self.bound.interpolates
            self.backups[way] += by_bounds(self.tree, epsilon, self.predictor, onward=self.onward)
        else:
            self.backups[way] += _BY[way](self.tree, self.rng, self.tree.depth)

    def _ended(self, interrupted: bool) -> str:
        settings = self.settings
        require_in_order(float(self.tree.lower[0]), float(self.tree.upper[0]))
        if interrupted:
            return "interrupted"
        if self.tree.upper[0] - self.tree.lower[0] <= settings.gap:
            return "gap reached"
        if self.end.passed():
            return "time is up"
        if settings.backups is not None and sum(self.backups.values()) >= settings.backups:
            return "backups done"
        return "memory is full" if self._megabytes() > settings.megabytes else ""

    def _elapsed(self) -> float:
        return time.perf_counter() - self.clock

    def _megabytes(self) -> float:
        return (self.tree.bytes + self.vectors.bytes + self.bound.bytes) / 1e6

    def _record(self) -> Progress:
        lower, upper, total = float(self.tree.lower[0]), float(self.tree.upper[0]), sum(self.backups.values())
        used = self._elapsed(), time.thread_time() - self.cpu_clock, self._megabytes()
        state = Progress(lower, upper, len(self.vectors), total, self.tree.size, *used)
        self.history.append(state)
        return state


class _Solves:
    """The solves that run at this time, and what ends the limit on threads that they share."""

    turn, running, over = threading.Lock(), 0, threading.Event()
    holder: threading.Thread


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """One thread for BLAS while any solve runs, and then as many as before.

    Some libraries have one limit per thread, others one for the process. That one is held by a thread of its own, from
    the first solve to the last: solves that end in another order than they began would restore each other's limit.
    """
    with _Solves.turn:
        if _Solves.running == 0:
            held, _Solves.over = threading.Event(), threading.Event()
            _Solves.holder = threading.Thread(target=_hold_limit, args=(held, _Solves.over), daemon=True)
            _Solves.holder.start()
            held.wait()
        _Solves.running += 1
    try:
        with threadpool_limits(1):
            yield
    finally:
        with _Solves.turn:
            _Solves.running -= 1
            if _Solves.running == 0:
                _Solves.over.set()
                _Solves.holder.join()


def _hold_limit(held: threading.Event, over: threading.Event) -> None:
    with threadpool_limits(1):
        held.set()
        over.wait()


@contextmanager
def _interrupt() -> Iterator[threading.Event]:
    """Ctrl-C sets a flag, so that the solver can finish its current step; a second one raises KeyboardInterrupt."""
    flag, before = threading.Event(), signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def stop(signum: int, frame: Any) -> None:
        flag.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
