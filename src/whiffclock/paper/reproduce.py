"""Reproduction of the paper: the jobs that figures need, then their datasets.

Results are stored, so an interruption loses only unfinished jobs, and the same call continues.
Datasets depend on plume and profile alone: neither on the number of workers, nor on where a run was interrupted.
The one dynamic step is the choice of tau, between two rounds of jobs.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from whiffclock.paper.claims import Verdict, judge
from whiffclock.paper.collect import Collector
from whiffclock.paper.dataset import SCAN, Datasets, Need, trained
from whiffclock.paper.ensembles import Study
from whiffclock.paper.figures import FIGURES, drawing
from whiffclock.paper.kinds import jobs, kinds_needed_by, with_scan
from whiffclock.paper.page.report import write_report
from whiffclock.params import require
from whiffclock.progress import Bar
from whiffclock.runs.jobs import ONE_THREAD, Account, Engine, JobMemory, JobStore, Tick, execute, missing, work_in


@dataclass(frozen=True)
class Reproduction:
    """Datasets, core-seconds by task, seconds to collect the datasets, seconds in total."""

    datasets: Datasets
    account: Account
    collecting: float
    elapsed: float


def parse_figures(text: str | None) -> list[str]:
    """``"fig3,s1"`` to ids, in the order of the paper; all of them by default."""
    if text is None:
        return list(FIGURES)
    asked = [word.strip() for word in text.split(",") if word.strip()]
    known = bool(asked) and {*asked} <= {*FIGURES}
    require(known, f"--only is {text!r}; it must be figures among {', '.join(FIGURES)}, separated by commas.")
    return [figure for figure in FIGURES if figure in asked]


#: The trainings from which tau is chosen.
_SCAN = trained(SCAN)


def needs_of(figures: Sequence[str]) -> list[Need]:
    """What figures need, each once; with the scan of tau, if any of it depends on tau."""
    return with_scan(need for figure in figures for need in (*drawing(figure).NEEDS, *kinds_needed_by(figure)))


def outlook(study: Study, store: JobStore, figures: Sequence[str]) -> tuple[int, int]:
    """Work of all jobs in searches, and how much of it is already done.

    Until tau is chosen, trainings that depend on it are counted with any tau; their work is the same.
    """
    needs = needs_of(figures)
    if {*_SCAN} <= {*needs}:
        unknown = missing(jobs(study, _SCAN), store)
        study = replace(study, taus=dict.fromkeys(study.environments, study.profile.taus[0]))
        study = study if unknown else study.with_taus(store)
    every = jobs(study, needs)
    total = work_in(missing(every, JobMemory()), study.plume)
    return total, total - work_in(missing(every, store), study.plume)


def reproduce(
    study: Study,
    store: JobStore,
    figures: Sequence[str] = tuple(FIGURES),
    engine: Engine = ONE_THREAD,
    progress: Tick | None = None,
    say: Callable[[str], None] | None = None,
) -> Reproduction:
    """Compute what is missing with an engine, and return the datasets of ``figures``.

    ``progress`` is called with the work done since its last call, in searches, from any thread; ``say`` with
    the name of the stage.
    """
    start = time.perf_counter()
    say = say or (lambda text: None)
    account, needs = Account(), needs_of(figures)
    for threshold in study.environments.values():  # bad input is found before any work is done
        study.plume.starts(threshold, study.world)
    if {*_SCAN} <= {*needs}:
        say("choosing tau")
        execute(jobs(study, _SCAN), study.plume, store, engine, progress, account)
        study = study.with_taus(store)
    say("training and evaluating")
    others = jobs(study, (need for need in needs if need not in _SCAN))
    execute(others, study.plume, store, engine, progress, account)
    say("collecting datasets")
    before = time.perf_counter()
    datasets = Collector(study, store, needs, figures).datasets()
    now = time.perf_counter()
    return Reproduction(datasets, account, now - before, now - start)


@dataclass(frozen=True)
class Written:
    """A reproduction on disk: what was computed, the verdicts, the page, and seconds to write it."""

    done: Reproduction
    verdicts: list[Verdict]
    page: Path
    reporting: float


def reproduce_into(
    folder: Path, study: Study, figures: Sequence[str], store: JobStore, engine: Engine, bar: Bar, workers: int
) -> Written:
    """Compute what is missing, and write datasets, figures, claims and page into ``folder``."""
    total, finished = outlook(study, store, figures)
    bar.begin("reproducing", max(1, total), finished)
    done = reproduce(study, store, figures, engine, bar.advance, bar.enter)
    bar.enter("writing the report")
    began = time.perf_counter()
    done.datasets.save(folder / "data")
    verdicts = judge(done.datasets)
    page = write_report(done.datasets, folder, verdicts, workers)
    return Written(done, verdicts, page, time.perf_counter() - began)
