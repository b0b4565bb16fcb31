"""Pieces of work: records that are to be in a store, and how to make those that are not.

A piece says what its record is (kind and description), how to make it, and about how much work that is, in
*searches*: one episode of training or one search of an evaluation, whichever it is, takes about the same time.
So the work of many different pieces adds up, and a rate measured on some of them foretells the rest.

A record is saved by the job that made it, as soon as it is whole. Whatever interrupts a run loses the pieces
under way and nothing else.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whiffclock.runs.engine import Job, run_jobs
from whiffclock.runs.store import Label, Store

#: What one core does, about: for work that is not made of searches, to be told in the same measure.
SEARCHES_PER_SECOND = 270_000

#: Hears how much work was done since the last call; raises to stop.
Tick = Callable[[int], None]


@dataclass(frozen=True)
class Piece:
    """A record, and how to make it.

    Attributes
    ----------
    kind, description
        What the record is; see :mod:`whiffclock.runs.store`.
    make
        Makes its arrays; calls the function it is given as work goes on, ``cost`` in all.
    cost
        Amount of work, in searches.
    group
        What it is part of, for the account of time.
    """

    kind: str
    description: dict[str, Any]
    make: Callable[[Tick], dict[str, np.ndarray]]
    cost: int
    group: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Kind and key in the store."""
        return self.kind, Label(self.kind, self.description).key


@dataclass
class Account:
    """Where the time went, by group: pieces found in the store, pieces made, core-seconds."""

    found: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    made: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def groups(self) -> list[str]:
        """All groups, in the order in which they came up."""
        return list(dict.fromkeys([*self.found, *self.made, *self.seconds]))


def missing(store: Store, pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces whose records are not in the store, each once."""
    return [piece for piece in unique(pieces) if not store.has(piece.kind, piece.description)]


def unique(pieces: Iterable[Piece]) -> list[Piece]:
    """Each piece once: where two have the same record, the first."""
    found: dict[tuple[str, str], Piece] = {}
    for piece in pieces:
        found.setdefault(piece.key, piece)
    return list(found.values())


def work_in(pieces: Iterable[Piece]) -> int:
    """Work of all pieces, in searches; a piece that comes up twice counts once."""
    return sum(piece.cost for piece in unique(pieces))


def complete(
    store: Store,
    pieces: Sequence[Piece],
    workers: int,
    progress: Tick | None = None,
    account: Account | None = None,
) -> int:
    """Make the records that are missing, ``workers`` at a time; return how many were made."""
    wanted = unique(pieces)
    todo = missing(store, wanted)
    account = Account() if account is None else account
    for piece in wanted:
        account.found[piece.group] += 1
    for piece in todo:
        account.found[piece.group] -= 1
    spent: list[float] = run_jobs([_job(store, piece) for piece in todo], workers, progress)
    for piece, seconds in zip(todo, spent, strict=True):
        account.made[piece.group] += 1
        account.seconds[piece.group] += seconds
    return len(todo)


def _job(store: Store, piece: Piece) -> Job[float]:
    """Make and save one record; the job's result is the core-seconds it took."""

    def job(tick: Tick) -> float:
        start = time.thread_time()
        store.save(piece.kind, piece.description, piece.make(tick))
        return time.thread_time() - start

    return job
