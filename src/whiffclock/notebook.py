"""Functions for notebooks: what ``import whiffclock as wc`` offers.

Each one fills in defaults (thresholds by name, settings, starts) and calls the function that does the work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from whiffclock.agents import files as policy_files
from whiffclock.agents.bayes import BeliefPolicy
from whiffclock.arguments import memory_of, path_of, policies_of, seeds_of, settings_of, taus_of
from whiffclock.evaluation import Evaluation, own_horizon, require_fit, world_of
from whiffclock.memory import Memory
from whiffclock.params import (
    BayesSettings,
    EvaluationSettings,
    LearningSettings,
    OptimizeSettings,
    ViewSettings,
    WorldSettings,
    checked,
    require,
)
from whiffclock.plume import Plume, doubts
from whiffclock.plume.check import PlumeCheck, check_recording
from whiffclock.plume.reading import fetch as public
from whiffclock.plume.reading import files as plume_files
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.policy import Policy, TablePolicy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.progress import Bar, solver_report
from whiffclock.runs.comparison import Comparison, Row, contenders, evaluations
from whiffclock.runs.engine import EngineSettings
from whiffclock.runs.jobs import Engine, JobFolder, JobMemory, execute, run, threads, work_in
from whiffclock.runs.kinds import Evaluate, Given, Solve, Train
from whiffclock.runs.programs import program_search, search_programs
from whiffclock.runs.training import TauScan, with_chosen_tau
from whiffclock.world.robot import RobotSettings
from whiffclock.world.starts import one_start
from whiffclock.world.trajectory import Trajectory, trajectory

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr
    from rich.table import Table

    from whiffclock.paper.dataset import Datasets
    from whiffclock.paper.profiles import Profile
    from whiffclock.viewer.page import Page

#: Settings of a robot.
_OF_ROBOTS = RobotSettings.__dataclass_fields__.keys()
#: A detection threshold: the name of an environment, or a concentration.
Threshold = str | float
World = WorldSettings | Mapping[str, Any]


def read_plume(path: Path | str, **settings: Any) -> Plume:
    """Read a plume from a film, pictures, a table or an array in a file of nearly any kind.

    Parameters
    ----------
    path
        The file, a folder of pictures, or a settings file (.toml) that names it.
    **settings
        What the file and its settings file do not say, such as ``axes="tyx"`` or ``source=(0, 13)``; see
        :class:`whiffclock.plume.reading.layouts.ReadSettings`.

    Returns
    -------
    Plume

    Examples
    --------
    >>> import numpy as np
    >>> import whiffclock as wc
    >>> np.save("field.npy", np.random.default_rng(0).random((50, 20, 9)))
    >>> wc.read_plume("field.npy", source=(0, 4))
    Plume(50 snapshots of 20 x 9 cells, source (0, 4), field.npy...)
    """
    return plume_files.read_plume(path_of(path), ReadSettings(**settings), settings.keys())


def fetch_plume(name: str, **settings: Any) -> Plume:
    """Download a public recording, once, and read it. DOI and licence are printed, and a bar shows the progress.

    Parameters
    ----------
    name
        "nose", "ground", "plif" or "smoke"; ``whiffclock plume fetch`` lists them.
    **settings
        How to read it, as in :func:`read_plume`, instead of the settings that the list has for it.

    Returns
    -------
    Plume

    Examples
    --------
    >>> import whiffclock as wc
    >>> plume = wc.fetch_plume("plif", environments={"dense": 0.01, "sparse": 0.05})  # doctest: +SKIP
    """
    found = public.recording(name)
    with Bar("MB") as bar:
        bar.note(f"{found.title}. {found.authors}. https://doi.org/{found.doi}, licence: {found.licence}.")
        path = public.fetch(name, partial(bar.begin, name), bar.advance)
    return plume_files.read_plume(path, ReadSettings(**found.read | settings))


def check_plume(recording: Path | str | Plume | np.ndarray, **settings: Any) -> PlumeCheck:
    """Find out what a recording is: axes, wind, source, background, moves and thresholds.

    Parameters
    ----------
    recording
        A file, a plume, or an array of three dimensions in any order.
    **settings
        What is known of it, such as ``axes="tyx"``; see :class:`whiffclock.plume.reading.layouts.ReadSettings`.

    Returns
    -------
    PlumeCheck
        ``guesses`` has a value, a confidence and a reason for each question, ``suggestion`` the environments.

    Examples
    --------
    >>> import whiffclock as wc
    >>> seen = wc.check_plume(wc.builtin_plume())
    >>> seen.guesses["wind"].value, seen.guesses["wind"].confidence
    ('right', 'sure')
    """
    given = path_of(recording) if isinstance(recording, str) else recording
    return check_recording(given, ReadSettings(**settings))


def load_policy(path: Path | str) -> Policy:
    """Read a policy from a file that the command line or ``policy.save`` wrote.

    Parameters
    ----------
    path
        The ``.npz`` file.

    Returns
    -------
    TablePolicy or BeliefPolicy

    Examples
    --------
    >>> import whiffclock as wc
    >>> policy = wc.cast_and_surge(30)
    >>> policy.save("cast.npz")
    >>> wc.load_policy("cast.npz") == policy
    True
    """
    return policy_files.load_policy(path_of(path))


@overload
def train(plume: Plume, threshold: Threshold, *, seeds: None = None, **settings: Any) -> TablePolicy: ...


@overload
def train(plume: Plume, threshold: Threshold, *, seeds: int | Sequence[int], **settings: Any) -> list[TablePolicy]: ...


def train(
    plume: Plume,
    threshold: Threshold,
    *,
    seeds: int | Sequence[int] | None = None,
    seed: int = 0,
    tau: int | Sequence[int] | str | None = None,
    memory: Memory | str | None = None,
    split_zero: bool = False,
    literal_tau: bool = False,
    episodes: int = LearningSettings.episodes,
    world: World | None = None,
    workers: int | None = None,
    anyway: bool = False,
    **learning: Any,
) -> TablePolicy | list[TablePolicy]:
    """Train one agent by Q-learning, or an ensemble. A bar shows the progress.

    Parameters
    ----------
    plume
        The plume to search in.
    threshold
        Name of an environment of the plume, such as "sparse", or a concentration.
    seeds
        Train an ensemble: number of agents, or the seed of each.
    seed
        Seed of the agent, or of the first agent of an ensemble.
    tau
        Blank threshold of a two-Q agent, or several for more modes; "auto": chosen by a scan; none for single-Q.
    memory
        What agents remember, instead of a clock; see :mod:`whiffclock.memory`.
    split_zero, literal_tau
        Other readings of the clock (R6, R5); see :func:`whiffclock.clock`.
    episodes
        Training episodes. Learning rate and exploration fall over 5/6 of them, as in the paper.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    workers
        Agents trained in parallel; default: as many as there are cores.
    anyway
        Go on where the plume looks wrong, such as wind from the other side; see :mod:`whiffclock.plume.doubts`.
    **learning
        Other settings of :class:`whiffclock.params.LearningSettings`, such as ``gamma`` or ``horizon``.

    Returns
    -------
    TablePolicy, or a list of them if ``seeds`` is given

    Examples
    --------
    >>> import whiffclock as wc
    >>> plume = wc.builtin_plume()
    >>> wc.train(plume, "sparse", episodes=2_000)
    TablePolicy(single-Q, sparse, seed 0, 500 actions)
    >>> wc.train(plume, 4e-6, tau=10, seeds=2, episodes=2_000)
    [TablePolicy(two-Q, 4e-6, seed 0, 999 actions), TablePolicy(two-Q, 4e-6, seed 1, 999 actions)]
    """
    settings = LearningSettings.shortened(episodes, **learning)
    taus, numbers = taus_of(tau), seeds_of(seeds, seed)
    remembered = memory_of(memory, settings.horizon, taus, split_zero=split_zero, literal_tau=literal_tau)
    place = plume.fingerprint, threshold_of(plume, threshold)
    alike = Train(*place, remembered, settings, plume.settle(settings_of(WorldSettings, world)))
    doubts.refuse(plume, alike.world, settings.horizon, [alike.threshold], anyway)
    jobs, store, engine = [replace(alike, seed=one) for one in numbers], JobMemory(), engine_of(workers)
    with Bar("episodes") as bar:
        if taus is None:
            jobs = with_chosen_tau(jobs, plume, TauScan.for_ensemble(len(jobs), settings), store, engine, bar)
        bar.begin("training", work_in(jobs, plume))
        execute(jobs, plume, store, engine, bar.advance)
    policies = [run(job, plume, store) for job in jobs]
    return policies[0] if seeds is None else policies


def optimize(
    plume: Plume | Sequence[Plume],
    threshold: Threshold | Sequence[Threshold],
    *,
    seed: int = 0,
    tau: int | Sequence[int] | None = None,
    memory: Memory | str | None = None,
    start: TablePolicy | None = None,
    world: World | None = None,
    workers: int | None = None,
    anyway: bool = False,
    **settings: Any,
) -> TablePolicy:
    """Search the programs of a finite memory for the one with the highest reward. A bar shows the progress.

    Programs are searched in the first half of the record and tested in the second, which the search has not seen.

    Parameters
    ----------
    plume
        The plume to search in, or several with the same grid and source, for a program that is good in all.
    threshold
        Name of an environment of the plume, such as "sparse", or a concentration; several for one robust program.
    seed
        Seed of the search.
    tau
        Blank threshold between two modes of the clock, or several for more modes.
    memory
        What the agent remembers, instead of a clock, such as ``"clock:50"``, ``"window:3"`` or ``"controller:8"``.
    start
        The policy to begin with; default: untuned cast-and-surge.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    workers
        Chains annealed in parallel; default: as many as there are cores.
    anyway
        Go on where the plume looks wrong, such as wind from the other side; see :mod:`whiffclock.plume.doubts`.
    **settings
        ``seconds`` (default 60) or ``candidates``, and others of :class:`whiffclock.params.OptimizeSettings`, such as
        ``goal="worst"``.

    Returns
    -------
    TablePolicy
        ``made_from["found"]`` has its rewards in both parts of the record, and ``program()`` its moves.

    Examples
    --------
    >>> import whiffclock as wc
    >>> policy = wc.optimize(wc.builtin_plume(), "sparse", candidates=200, snapshots=2)
    >>> policy
    TablePolicy(searched clock, sparse, seed 0, 500 actions)
    >>> policy.made_from["found"]["sparse"]["unseen"]["G"] > 0.5
    True
    """
    how, taus = OptimizeSettings(**settings), taus_of(tau)
    require(taus is not None, "tau is 'auto'; a search over programs needs it as a number.")
    plumes = [plume] if isinstance(plume, Plume) else list(plume)
    thresholds = [threshold] if isinstance(threshold, str | float) else list(threshold)
    remembered, region = memory_of(memory, how.horizon, taus), settings_of(WorldSettings, world)
    for one in plumes:
        at = [threshold_of(one, given) for given in thresholds]
        doubts.refuse(one, one.settle(region), how.horizon, at, anyway)
    field, search = program_search(plumes, thresholds, how, remembered, region, start)
    search, store = replace(search, seed=seeds_of(None, seed)[0]), JobMemory()
    with Bar("searches") as bar:
        (job,) = search_programs([search], field, store, engine_of(workers), bar)
    return run(job, field, store)


@overload
def evaluate(policy: Policy, plume: Plume, threshold: Threshold | None = None, **settings: Any) -> Evaluation: ...


@overload
def evaluate(
    policy: Sequence[Policy], plume: Plume, threshold: Threshold | None = None, **settings: Any
) -> list[Evaluation]: ...


def evaluate(
    policy: Policy | Sequence[Policy],
    plume: Plume,
    threshold: Threshold | None = None,
    *,
    world: World | None = None,
    **settings: Any,
) -> Evaluation | list[Evaluation]:
    """Search from every start cell, at several times, without exploration.

    Parameters
    ----------
    policy
        The policy to test, or several.
    plume
        The plume to test it in.
    threshold
        Name or concentration; default: the one that the policy was trained with.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    **settings
        ``snapshots`` (start times per cell), ``seed``, ``gamma`` and ``horizon`` (longest search); and ``speed``,
        ``cell``, ``frame``, ``turn_rate`` and ``every`` of a robot, as in :func:`search`.

    Returns
    -------
    Evaluation, or a list of them for several policies
        ``mean(metric)`` and ``standard_error(metric)`` for "G", "T_min/T" and "f+"; ``to_xarray()`` has every search.

    Examples
    --------
    >>> import whiffclock as wc
    >>> result = wc.evaluate(wc.cast_and_surge(30), wc.builtin_plume(), "dense", snapshots=1)
    >>> result
    Evaluation(cast-and-surge in dense: G ..., T_min/T ..., f+ ...; ... searches)
    >>> 0 < result.mean("f+") <= 1
    True
    """
    robot = RobotSettings(**{name: settings.pop(name) for name in _OF_ROBOTS & settings.keys()}).settle(plume)
    how, region = EvaluationSettings(**settings), plume.settle(settings_of(WorldSettings, world))
    chosen = [one for _, one in policies_of(policy)]
    thresholds = [threshold_of(plume, threshold, one) for one in chosen]
    pairs = zip(chosen, thresholds, strict=True)
    tests = [Evaluate(Given.of(one), plume.fingerprint, at, region, how, robot=robot) for one, at in pairs]
    with Bar("searches") as bar:
        results = evaluations(tests, plume, JobMemory(), engine_of(None), bar)
    return results if isinstance(policy, list | tuple) else results[0]


@dataclass(frozen=True, repr=False)
class ComparisonTable:
    """Result of a comparison: one row per environment and agent, each an ensemble of evaluations."""

    rows: tuple[Row, ...]

    def table(self, caption: str = "") -> Table:
        """A table for the terminal."""
        from whiffclock.drawing.tables import comparison_table

        return comparison_table(self.rows, caption=caption)

    def to_pandas(self) -> pd.DataFrame:
        """One row per policy and environment, with its means."""
        import pandas as pd

        tests = [(row, one) for row in self.rows for one in row.evaluations]
        means = [{metric: one.mean(metric) for metric in ("G", "T_min/T", "f+")} for _, one in tests]
        names = [{"environment": row.environment, "agent": row.agent} for row, _ in tests]
        return pd.DataFrame([name | mean for name, mean in zip(names, means, strict=True)])

    def __repr__(self) -> str:
        from whiffclock.terminal import Terminal

        console = Terminal(width=100, color_system=None, force_jupyter=False)
        with console.capture() as text:
            console.print(self.table())
        return "\n".join(line.rstrip() for line in text.get().strip("\n").splitlines())


def compare(
    policies: Mapping[str, Policy | Sequence[Policy]] | Sequence[Policy],
    plume: Plume,
    thresholds: Sequence[Threshold] | Threshold | None = None,
    *,
    everywhere: bool = False,
    world: World | None = None,
    **settings: Any,
) -> ComparisonTable:
    """Evaluate policies and cast-and-surge, at its best angle, on the same starts.

    Parameters
    ----------
    policies
        Policies, of which those with the same name form an ensemble; or a dictionary from your own names to policies or
        ensembles.
    plume
        The plume to test them in.
    thresholds
        Environments to test in, names or concentrations; default: those that the policies were trained in.
    everywhere
        Test every policy in all of them, not only in the one it was trained in.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    **settings
        ``snapshots``, ``seed``, ``gamma`` and ``horizon``, as in :func:`evaluate`.

    Returns
    -------
    ComparisonTable
        It is shown as a table; ``rows`` has the evaluations, ``to_pandas()`` the means.

    Examples
    --------
    >>> import whiffclock as wc
    >>> plume = wc.builtin_plume()
    >>> agents = {"short": wc.train(plume, "dense", episodes=1_000), "long": wc.train(plume, "dense", episodes=9_000)}
    >>> table = wc.compare(agents, plume, snapshots=1)
    >>> [row.agent for row in table.rows]
    ['short', 'long', 'cast-and-surge']
    """
    given = policies_of(policies)
    named = contenders([policy for _, policy in given])
    if isinstance(policies, Mapping):  # whose names are the user's
        named = [replace(one, name=name or "") for one, (name, _) in zip(named, given, strict=True)]
    if thresholds is None:
        thresholds = sorted({one.trained for one in named if one.trained is not None})
        require(bool(thresholds), "None of the policies has a threshold of its own; give the thresholds to test at.")
    at = [threshold_of(plume, one) for one in ([thresholds] if isinstance(thresholds, str | float) else thresholds)]
    how = EvaluationSettings(**settings)
    region, everywhere = plume.settle(settings_of(WorldSettings, world)), checked("everywhere", everywhere, bool)
    comparison = Comparison(plume, named, at, region, how, everywhere)
    with Bar("searches") as bar:
        return ComparisonTable(tuple(comparison.rows(JobMemory(), engine_of(None), bar)))


def search(
    policy: Policy,
    plume: Plume,
    start: Sequence[int] | None = None,
    threshold: Threshold | None = None,
    *,
    horizon: int | None = None,
    world: World | None = None,
    **robot: Any,
) -> Trajectory:
    """One search, step by step.

    Parameters
    ----------
    policy
        The policy that searches.
    plume
        The plume to search in.
    start
        Cell (x, y), or (x, y, snapshot); default: the start cell that is farthest from the source, at snapshot 0.
    threshold
        Name or concentration; default: the one that the policy was trained with.
    horizon
        Largest number of moves; default: that of the policy's training. Of a robot, of snapshots.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    **robot
        Search as a robot, whose move is not a cell: ``speed`` in m/s, ``cell`` (its size in m; default: the plume's),
        ``frame`` (seconds between snapshots; default: the plume's, or 1), ``turn_rate`` (fastest turn in degrees/s;
        default: at once) and ``every`` (snapshots per decision; default: 1).

    Returns
    -------
    Trajectory
        x, y, whiff, clock, mode, action and snapshot by step; ``to_xarray()``, ``to_pandas()``. Of a robot also
        ``metres`` and ``heading``.

    Examples
    --------
    >>> import whiffclock as wc
    >>> found = wc.search(wc.cast_and_surge(30), wc.builtin_plume(), start=(60, 13), threshold="denser")
    >>> found
    Trajectory(... moves from (60, 13), ... whiffs, source ...found)
    >>> found.to_xarray()["clock"].dims
    ('step',)
    >>> wc.search(wc.cast_and_surge(30), wc.builtin_plume(), (60, 13), "denser", cell=0.1, speed=0.05, turn_rate=90)
    Trajectory(... moves from (60, 13), ... s, ... whiffs, source ...found)
    """
    region, at = plume.settle(settings_of(WorldSettings, world)), threshold_of(plume, threshold, policy)
    body = RobotSettings(**robot).settle(plume)
    require_fit(policy, region)
    points = one_start(plume, at, region, start)
    place = world_of(plume.whiffs(at).world(region), points, body, region.radius)
    return trajectory(policy, place, own_horizon(policy) if horizon is None else horizon)


def solve_bayes(
    plume: Plume,
    threshold: Threshold,
    *,
    seconds: float | None = None,
    cpu_seconds: float | None = None,
    backups: int | None = None,
    world: World | None = None,
    **model: Any,
) -> BeliefPolicy:
    """The quasi-optimal Bayesian agent: alpha vectors of the search as a POMDP, by SARSOP.

    Parameters
    ----------
    plume
        The plume whose whiff probabilities the agent knows.
    threshold
        Name of an environment of the plume, such as "sparse", or a concentration.
    seconds, cpu_seconds, backups
        When to stop; default: after 60 seconds of wall time. Only a number of backups gives the same agent every time.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    **model
        ``discount``, ``floor`` (smallest probability of a whiff, and of a blank) and ``likelihood`` (in the belief,
        whiffs are ``"independent"``, or ``"conditional"`` on the observation before).

    Returns
    -------
    BeliefPolicy
        ``made_from`` has the bounds of its value, ``lower`` and ``upper``.

    Examples
    --------
    >>> import whiffclock as wc
    >>> bayes = wc.solve_bayes(wc.builtin_plume(), "sparse", backups=20)
    >>> bayes
    BeliefPolicy(Bayesian, sparse, ... alpha vectors)
    >>> bayes.made_from["lower"] < bayes.made_from["upper"]
    True
    """
    solver = SolverSettings.limited(seconds=seconds, cpu_seconds=cpu_seconds, backups=backups)
    assumed = BayesSettings(**model)
    region = plume.settle(settings_of(WorldSettings, world))
    job = Solve(plume.fingerprint, threshold_of(plume, threshold), region, assumed, solver)
    with Bar("") as bar:
        bar.begin("solving", solver.budget[1])
        return job.solved(plume, solver_report(bar, solver))[0]


def reproduce(
    folder: Path | str = "reproduction",
    profile: str | Profile = "quick",
    figures: Sequence[str] | None = None,
    plume: Plume | None = None,
    workers: int | None = None,
    anyway: bool = False,
) -> Datasets:
    """Reproduce the paper: train and evaluate agents, draw the figures, test the claims.

    Parameters
    ----------
    folder
        Where report.html, figures, claims and datasets are written. Finished work in it is not repeated.
    profile
        "quick", "standard", "paper" or "deep".
    figures
        Such as ``["fig3", "s1"]``; ``b1`` to ``b4`` go beyond the paper. Default: all of them.
    plume
        Default: the built-in one.
    workers
        Jobs run in parallel; default: as many as there are cores.
    anyway
        Go on where the plume looks wrong, such as wind from the other side; see :mod:`whiffclock.plume.doubts`.

    Returns
    -------
    Datasets
        What figures and claims are made from: ``searches``, ``recoveries`` and others, each an xarray Dataset; in
        ``beyond`` the same of what goes beyond the paper.

    Examples
    --------
    >>> import whiffclock as wc
    >>> data = wc.reproduce("demo", "quick", ["fig2", "fig3"])  # doctest: +SKIP
    """
    from whiffclock.paper.ensembles import Study
    from whiffclock.paper.page.report import require_report
    from whiffclock.paper.profiles import profile_named
    from whiffclock.paper.reproduce import parse_figures, reproduce_into
    from whiffclock.plume.builtin import builtin_plume

    at_once = EngineSettings(workers=workers).at_once
    chosen = parse_figures(None if figures is None else ",".join(figures))
    study = Study(plume or builtin_plume(), profile_named(profile) if isinstance(profile, str) else profile)
    place = path_of(folder, "folder")
    require_report(place)
    doubts.refuse(study.plume, study.world, study.profile.horizon, anyway=anyway)
    with Bar("searches") as bar:
        engine, store = threads(at_once), JobFolder(place / "runs")
        return reproduce_into(place, study, chosen, store, engine, bar, at_once, anyway).done.datasets


def sweep(
    settings: Path | str | Mapping[str, Any], folder: Path | str | None = None, workers: int | None = None
) -> xr.Dataset:
    """Train and test agents at all points of a grid of settings.

    Parameters
    ----------
    settings
        A sweep file, or a dictionary of the same contents: each setting has a value, or a list of values to sweep over.
    folder
        Folder of the sweep; results are cached in ``runs`` in it, and finished work is not repeated. Default: no cache.
    workers
        Jobs run in parallel; default: as many as there are cores.

    Returns
    -------
    xarray.Dataset
        A dimension for each swept setting and one for the seeds; the variables are metrics: ``G``, ``T_min_over_T``,
        ``f+`` and ``G_sum``.

    Examples
    --------
    >>> import whiffclock as wc
    >>> grid = {"threshold": ["dense", "sparse"], "gamma": [0.9, 0.998], "seeds": 3}
    >>> data = wc.sweep(grid | {"episodes": 500, "evaluation": {"snapshots": 1}})
    >>> data["G"].median("seed").sel(threshold=5e-6).sizes
    Frozen({'gamma': 2})
    """
    from whiffclock.runs.sweep import Sweep, results_in

    grid = Sweep.of(settings)
    store = JobMemory() if folder is None else JobFolder(results_in(path_of(folder, "folder")))
    with Bar("episodes") as bar:
        bar.begin("sweeping", grid.work(store))
        return grid.run(store, engine_of(workers), bar.advance)


def view(
    policies: Mapping[str, Policy | Sequence[Policy]] | Sequence[Policy] | Policy | None = None,
    plume: Plume | None = None,
    path: Path | str | None = None,
    *,
    world: World | None = None,
    **settings: Any,
) -> Page:
    """A page that shows agents searching, live: one HTML file that needs nothing else.

    Parameters
    ----------
    policies
        Policies to show; or a dictionary from your own names to policies. Those that come with the package are added
        if they were made on the same plume.
    plume
        The plume to search in; default: the built-in one.
    path
        Where to write the page; default: nowhere. A notebook shows it in any case.
    world
        Source radius and starts, as WorldSettings or a dictionary of some of them.
    **settings
        ``frames`` (only the first snapshots of the plume), and ``small`` (a page of less than 2 MB).

    Returns
    -------
    Page
        ``save(path)`` writes it.

    Examples
    --------
    >>> import whiffclock as wc
    >>> wc.view(wc.cast_and_surge(45), small=True)
    Page(... MB; save(path) writes it)
    """
    from whiffclock.plume.builtin import builtin_plume
    from whiffclock.viewer.page import view_page

    given = [] if policies is None else policies_of(policies)
    region, how = settings_of(WorldSettings, world), ViewSettings(**settings)
    page = view_page(builtin_plume() if plume is None else plume, given, region, how)
    if path is not None:
        page.save(path_of(path))
    return page


def engine_of(workers: int | None) -> Engine:
    """Threads, by default one per core."""
    return threads(EngineSettings(workers=workers).at_once)


def threshold_of(plume: Plume, threshold: Threshold | None, policy: Policy | None = None) -> float:
    """A threshold from the name of an environment or a number; if there is none, that of the policy."""
    if threshold is None and policy is not None:
        threshold = policy.threshold
        name = policy.name
        require(threshold is not None, f"The {name} policy has no threshold of its own; give one, such as 'sparse'.")
    return plume.environments.threshold_of(threshold)  # type: ignore[arg-type]
