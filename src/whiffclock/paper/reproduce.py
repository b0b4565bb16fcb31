"""Reproduction of the paper: the jobs that figures need, then their datasets.

Results are stored, so an interruption loses only unfinished jobs, and the same call continues.
Datasets depend on plume and profile alone: neither on the number of workers, nor on where a run was interrupted.
The one dynamic step is the choice of tau, of two-Q agents and of 2Q^h, between two rounds of jobs.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whiffclock.paper.beyond.collect import BeyondCollector
from whiffclock.paper.beyond.study import KINDS as BEYOND_KINDS
from whiffclock.paper.beyond.study import Beyond
from whiffclock.paper.claims import Verdict, judge
from whiffclock.paper.collect import Collector
from whiffclock.paper.dataset import CAST, SINGLE, Datasets, Need
from whiffclock.paper.ensembles import Study
from whiffclock.paper.figures import BEYOND, FIGURES, drawing, known
from whiffclock.paper.kinds import CHOOSING, KINDS, Kinds, jobs, kinds_needed_by, with_scan
from whiffclock.paper.page.report import write_report
from whiffclock.params import require
from whiffclock.plume.doubts import own
from whiffclock.progress import Bar
from whiffclock.runs.jobs import (
    ONE_THREAD,
    Account,
    Engine,
    Job,
    JobMemory,
    JobStore,
    Tick,
    execute,
    missing,
    run,
    work_in,
)
from whiffclock.world.starts import start_cells, start_snapshots

#: Share of searches that must arrive in some environment, of cast-and-surge and of the first agents.
LEAST_ARRIVALS = 0.01


@dataclass(frozen=True)
class Reproduction:
    """Datasets, core-seconds by task, seconds to collect the datasets, seconds in total."""

    datasets: Datasets
    account: Account
    collecting: float
    elapsed: float


def parse_figures(text: str | None) -> list[str]:
    """``"fig3,s1"`` to ids, in the order of the report; all of them by default."""
    every = list(known())
    if text is None:
        return every
    asked = [word.strip() for word in text.split(",") if word.strip()]
    right = bool(asked) and {*asked} <= {*every}
    require(right, f"--only is {text!r}; it must be figures among {', '.join(every)}, separated by commas.")
    return [figure for figure in every if figure in asked]


def needs_of(figures: Sequence[str], kinds: Kinds = KINDS) -> list[Need]:
    """What figures need, each once; with the scan of tau, if any of it depends on tau."""
    found = (need for figure in figures for need in (*drawing(figure).NEEDS, *kinds_needed_by(figure, kinds)))
    return with_scan(found, kinds)


@dataclass(frozen=True)
class Part:
    """The paper, or what is beyond it: its jobs, its kinds of agents, and which of its figures are asked for."""

    study: Study
    kinds: Kinds
    figures: list[str]

    @property
    def needs(self) -> list[Need]:
        """What its figures need."""
        return needs_of(self.figures, self.kinds)

    def jobs(self, *, scan: bool) -> list[Job]:
        """The jobs behind its figures: those of the scans of tau, or all others."""
        return jobs(self.study, (need for need in self.needs if (need in CHOOSING) == scan), self.kinds)


def parts_of(study: Study, figures: Sequence[str]) -> list[Part]:
    """The paper, and what is beyond it."""
    other = Beyond(study.plume, study.profile, study.taus, study.heuristic_tau)
    both = (study, KINDS, FIGURES), (other, BEYOND_KINDS, BEYOND)
    return [Part(one, kinds, [figure for figure in figures if figure in own]) for one, kinds, own in both]


def with_choices(study: Study, needs: Collection[Need], store: JobStore) -> Study:
    """The study with every tau that is needed; its scans are done."""
    two, heuristic = (need in needs for need in CHOOSING)
    study = study.with_taus(store) if two else study
    return study.with_heuristic_tau(store) if heuristic else study


def require_starts(study: Study) -> None:
    """Refuse, before any work is done, a plume without starts for the searches of a study."""
    horizon = study.profile.horizon
    start_snapshots(study.plume.field.shape[0], study.world, horizon)
    for threshold in study.environments.values():
        start_cells(study.plume, threshold, study.world, horizon)


def outlook(study: Study, store: JobStore, figures: Sequence[str]) -> tuple[int, int]:
    """Work of all jobs in searches, and how much of it is already done.

    Until tau is chosen, trainings that depend on it are counted with any tau; their work is the same.
    """
    parts = parts_of(study, figures)
    scan = [job for part in parts for job in part.jobs(scan=True)]
    needs = [need for part in parts for need in part.needs]
    if any(need in CHOOSING for need in needs):
        tau = min(study.profile.taus)
        heuristic = study.readings.heuristic_tau or tau
        any_tau = replace(study, taus=dict.fromkeys(study.environments, tau), heuristic_tau=heuristic)
        parts = parts_of(any_tau if missing(scan, store) else with_choices(study, needs, store), figures)
    every = scan + [job for part in parts for job in part.jobs(scan=False)]
    total = work_in(missing(every, JobMemory()), study.plume)
    return total, total - work_in(missing(every, store), study.plume)


def require_arrivals(study: Study, store: JobStore, needs: Collection[Need], work: Callable[[list[Job]], Any]) -> None:
    """Stop after the first tests if cast-and-surge, or the first agents, hardly ever arrive in any environment."""
    where = f"in any environment of this plume ({study.plume.origin})"
    advice = "look at its source, wind and thresholds, or go on all the same with --anyway (in Python, anyway=True)"
    for kind, name, agents in ((CAST, "Searches of cast-and-surge", None), (SINGLE, "Searches of the first agents", 1)):
        if Need(kind, "at home") in needs:
            tests = [job for place in study.environments for job in KINDS[kind].tests(study, place, place)[:agents]]
            work(tests)
            best = max(run(test, study.plume, store).mean("f+") for test in tests)
            rarely = "never arrive" if best == 0 else f"hardly ever arrive (f+ at most {best:.3f})"
            require(best > LEAST_ARRIVALS, f"{name} {rarely} {where}; {advice}.")


def reproduce(
    study: Study,
    store: JobStore,
    figures: Sequence[str] = tuple(FIGURES),
    engine: Engine = ONE_THREAD,
    progress: Tick | None = None,
    say: Callable[[str], None] | None = None,
    anyway: bool = False,
) -> Reproduction:
    """Compute what is missing with an engine, and return the datasets of ``figures``.

    ``progress`` is called with the work done since its last call, in searches, from any thread; ``say`` with
    the name of the stage. On a plume that whiffclock did not make, it stops where the first agents hardly ever arrive,
    unless ``anyway``.
    """
    start = time.perf_counter()
    say = say or (lambda text: None)
    account, parts = Account(), parts_of(study, figures)
    require_starts(study)
    needs = [need for part in parts for need in part.needs]
    if not (anyway or own(study.plume)):
        say("first agents")
        require_arrivals(study, store, needs, lambda some: execute(some, study.plume, store, engine, progress, account))
    if any(need in CHOOSING for need in needs):
        say("choosing tau")
        scan = [job for part in parts for job in part.jobs(scan=True)]
        execute(scan, study.plume, store, engine, progress, account)
        parts = parts_of(with_choices(study, needs, store), figures)
    say("training and evaluating")
    execute([job for part in parts for job in part.jobs(scan=False)], study.plume, store, engine, progress, account)
    say("collecting datasets")
    before = time.perf_counter()
    paper, other = parts
    datasets = Collector(paper.study, store, paper.needs, paper.figures).datasets()
    if other.figures:
        found = BeyondCollector(other.study, store, other.needs, other.figures, other.kinds)
        datasets = replace(datasets, beyond=found.datasets())
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
    folder: Path,
    study: Study,
    figures: Sequence[str],
    store: JobStore,
    engine: Engine,
    bar: Bar,
    workers: int,
    anyway: bool = False,
) -> Written:
    """Compute what is missing, and write datasets, figures, claims and page into ``folder``."""
    total, finished = outlook(study, store, figures)
    bar.begin("reproducing", max(1, total), finished)
    done = reproduce(study, store, figures, engine, bar.advance, bar.enter, anyway)
    bar.enter("writing the report")
    began = time.perf_counter()
    done.datasets.save(folder / "data")
    verdicts = judge(done.datasets)
    page = write_report(done.datasets, folder, verdicts, workers)
    return Written(done, verdicts, page, time.perf_counter() - began)
