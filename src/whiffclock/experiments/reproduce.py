"""The whole paper: what the figures need, in order, and then their results.

Everything is kept in the store, so that any interruption costs the pieces under way and nothing else, and the
same call goes on. Results depend on plume and profile alone: neither on the number of workers, nor on where a
run was interrupted, nor on which figures were asked for before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from whiffclock.archive import require_writable
from whiffclock.experiments import fig1, fig2, fig3, fig4, fig5, fig6, fig7, fig8, s1, s2, s3, s4, s5
from whiffclock.experiments.groups import GROUPS, SCAN, waves
from whiffclock.experiments.results import Result, load_result, save_result
from whiffclock.experiments.work import Work
from whiffclock.params import ENVIRONMENTS, InputError
from whiffclock.runs.pieces import Account, Piece, Tick, complete, missing, work_in

#: Every figure's module, by its id; each has NEEDS, REVISION and compute(work).
FIGURES: dict[str, ModuleType] = {
    "fig1": fig1,
    "fig2": fig2,
    "fig3": fig3,
    "fig4": fig4,
    "fig5": fig5,
    "fig6": fig6,
    "fig7": fig7,
    "fig8": fig8,
    "s1": s1,
    "s2": s2,
    "s3": s3,
    "s4": s4,
    "s5": s5,
}


@dataclass(frozen=True)
class Outlook:
    """How much work there is, in searches, and how much of it is done already."""

    total: int
    done: int


@dataclass(frozen=True)
class Reproduction:
    """Results by figure, and where the time went: core-seconds by group, seconds by figure, seconds in all."""

    results: dict[str, Result]
    account: Account
    figures: dict[str, float] = field(default_factory=dict)
    elapsed: float = 0.0


def parse_figures(text: str | None) -> list[str]:
    """``"fig3,s1"`` to ids, in the order of the paper; all of them by default."""
    if text is None:
        return list(FIGURES)
    asked = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in asked if word not in FIGURES]
    if unknown or not asked:
        raise InputError(f"--only is {text!r}; it must be figures among {', '.join(FIGURES)}, separated by commas.")
    return [figure for figure in FIGURES if figure in asked]


def unfinished(work: Work, figures: Sequence[str]) -> list[str]:
    """The figures whose results are not in the store."""
    return [figure for figure in figures if _kept(work, figure) is None]


def outlook(work: Work, figures: Sequence[str]) -> Outlook:
    """The work that figures without a result need.

    As long as the scan of tau is not done, trainings that wait for it are counted with any tau: their number
    and length do not depend on it.
    """
    plan = waves(need for figure in unfinished(work, figures) for need in FIGURES[figure].NEEDS)
    names = [name for wave in plan for name in wave]
    if SCAN in names and missing(work.store, GROUPS[SCAN].pieces(work)):
        work = replace(work, taus=dict.fromkeys(ENVIRONMENTS, work.profile.taus[0]), _memory={})
    pieces = [piece for name in names for piece in GROUPS[name].pieces(work)]
    total = work_in(pieces)
    return Outlook(total, total - work_in(missing(work.store, pieces)))


def reproduce(
    work: Work,
    figures: Sequence[str] = tuple(FIGURES),
    workers: int = 1,
    progress: Tick | None = None,
    say: Callable[[str], None] | None = None,
) -> Reproduction:
    """Make what is missing, and return the results of ``figures``.

    Parameters
    ----------
    workers
        Pieces of work at a time.
    progress
        Hears of work done, in searches, from any thread.
    say
        Hears what is going on, in a few words.
    """
    start = time.perf_counter()
    require_writable(work.store.folder)
    account = Account()
    todo = unfinished(work, figures)
    if todo:
        work.prepare()
    plan = waves(need for figure in todo for need in FIGURES[figure].NEEDS)
    for stage, wave in enumerate(plan, start=1):
        if say is not None:
            say(f"stage {stage} of {len(plan)}")
        pieces: list[Piece] = [piece for name in wave for piece in GROUPS[name].pieces(work)]
        complete(work.store, pieces, workers, progress, account)
    if say is not None:
        say("results")
    results, seconds = {}, {}
    for figure in figures:
        before = time.perf_counter()
        results[figure] = result(work, figure)
        seconds[figure] = time.perf_counter() - before
    return Reproduction(results, account, seconds, time.perf_counter() - start)


def result(work: Work, figure: str) -> Result:
    """The result of a figure: kept, or computed from records that are all there."""
    found = _kept(work, figure)
    if found is not None:
        return found
    module = FIGURES[figure]
    made = module.compute(work)
    return save_result(work.store, made, work.profile, work.plume.fingerprint, module.REVISION)


def _kept(work: Work, figure: str) -> Result | None:
    revision = FIGURES[figure].REVISION
    return load_result(work.store, figure, work.profile, work.plume.fingerprint, revision)
