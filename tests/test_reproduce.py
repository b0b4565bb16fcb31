"""The reproduction as a whole: every result once, the same whatever happens on the way."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from command import whiffclock

from whiffclock.agents.qlearning import sparse_share
from whiffclock.environments import PAPER
from whiffclock.evaluation import METRICS, evaluate
from whiffclock.memory import clock
from whiffclock.paper import dataset
from whiffclock.paper.claims import judge
from whiffclock.paper.collect import Collector
from whiffclock.paper.dataset import (
    CONDITIONS,
    HEURISTIC,
    MINUS,
    MODE,
    PLUS,
    SAME_PATH,
    SCAN,
    SINGLE,
    TWO,
    Datasets,
    Need,
    at_home,
    trained,
    where_trained,
)
from whiffclock.paper.ensembles import Study
from whiffclock.paper.figures import BEYOND, FIGURES, drawing
from whiffclock.paper.kinds import KINDS, jobs
from whiffclock.paper.page.report import write_report
from whiffclock.paper.profiles import PROFILES, Profile
from whiffclock.paper.reproduce import needs_of, outlook, parse_figures, reproduce
from whiffclock.params import EvaluationSettings, InputError
from whiffclock.path_metrics import GEOMETRY, MAIN_TRUNCATION, TRUNCATIONS, geometry
from whiffclock.plume.reading.files import write_plume
from whiffclock.progress import Bar
from whiffclock.recovery import recovery_path
from whiffclock.runs import kinds
from whiffclock.runs.jobs import JobFolder, run, threads
from whiffclock.runs.kinds import Train
from whiffclock.runs.training import TAUS, TauScan, with_chosen_tau
from whiffclock.world.starts import make_starts, sample

TINY = Profile(
    name="tiny",
    seeds=2,
    episodes=300,
    snapshots=2,
    scan_seeds=1,
    scan_episodes=100,
    bayes_backups=1,
    bayes_starts=30,
    bayes_trials=1,
    start_seeds=3,
    long_seeds=1,
    taus=(2, 5),
    horizon=60,
)
HOW = EvaluationSettings(snapshots=2, horizon=60)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return JobFolder(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def whole(plume, store):
    """A reproduction in one go, with one worker."""
    return reproduce(Study(plume, TINY), store)


@pytest.fixture(scope="module")
def study(plume, store, whole):
    return Study(plume, TINY).with_taus(store)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def assert_same(one, other):
    assert one.parts.keys() == other.parts.keys()
    for name, values in one.parts.items():
        xr.testing.assert_identical(values, other[name])


def documented(name):
    """Dimensions of the variables of a dataset, from the documentation."""
    part = re.search(rf"\n{name}\n-+\n(.*?)(\n\w+\n---|\Z)", dataset.__doc__, re.DOTALL)[1]
    return {name: tuple(dims.split(", ")) for name, dims in re.findall(r"- ``(\w+)\[([\w, ]+)\]``", part)}


def test_datasets_have_the_arrays_that_their_module_documents(whole):
    assert {*whole.datasets.parts} == {*dataset.VARIABLES} - {"memories"}
    for name, values in whole.datasets.parts.items():
        assert {name: one.dims for name, one in values.data_vars.items()} == documented(name)
    json.dumps(whole.datasets.facts, allow_nan=False)


def test_datasets_survive_their_files(whole, tmp_path):
    whole.datasets.save(tmp_path)
    back = Datasets.load(tmp_path)
    assert back.parts.keys() == whole.datasets.parts.keys()
    for name, values in whole.datasets.parts.items():
        xr.testing.assert_equal(back[name], values)
    assert back.facts == whole.datasets.facts


def test_a_second_call_computes_nothing(whole, plume, store, monkeypatch):
    for name in ("train", "evaluate", "solve", "forced_blanks"):
        monkeypatch.setattr(kinds, name, lambda *_, **__: pytest.fail("computed again"))
    assert_same(reproduce(Study(plume, TINY), store).datasets, whole.datasets)
    total, done = outlook(Study(plume, TINY), store, list(FIGURES))
    assert done == total > 0


def test_an_agent_is_trained_once_whatever_figures_need_it(plume, tmp_path, monkeypatch):
    trained, tested = [], []
    train, evaluated = kinds.train, kinds.evaluate
    monkeypatch.setattr(kinds, "train", lambda task, tick: trained.append(task) or train(task, tick))
    monkeypatch.setattr(kinds, "evaluate", lambda *rest: tested.append(rest) or evaluated(*rest))
    for figure in FIGURES:  # one by one: each finds what the others left
        reproduce(Study(plume, TINY), JobFolder(tmp_path), [figure])
    # Scan; single-Q and two-Q ensembles; three agents in 12 other initial conditions, of which 2 are no others in the
    # sparser plume: the three agents of one are those of another, and two of the other are those of the main ensemble.
    # One agent in each environment is trained for twice the episodes.
    assert len(trained) == 4 * 2 * 1 + 2 * 4 * 2 + (3 * 4 * 3 - 3 - 2) + 4
    assert sum(task.learning.episodes == 2 * TINY.episodes for task in trained) == 4
    # 2Q^h with both values of tau; both Bayesian agents.
    tests = 2 * 4 * 4 * 2 + 4 * 2 + 2 * 4 * 2 + 2 * 4 * 2 + 4 * 17 + 4 + 4 * 2
    assert len(tested) == tests + 4 * 2
    reproduce(Study(plume, TINY), JobFolder(tmp_path))
    assert len(tested) == tests + 4 * 2


@pytest.mark.parametrize("seed", range(3))
def test_interruptions_leave_no_trace(whole, plume, store, tmp_path, seed):
    """Stopped at random points, again and again, a reproduction ends with the same bytes."""
    again = JobFolder(tmp_path)
    draw, (ahead, _) = random.Random(seed), outlook(Study(plume, TINY), again, list(FIGURES))
    stops = 0
    while True:
        left = draw.uniform(0.1, 0.5) * ahead

        def progress(amount):
            nonlocal left
            left -= amount
            if left < 0:
                raise KeyboardInterrupt

        try:
            done = reproduce(Study(plume, TINY), again, engine=threads(1 + seed), progress=progress)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops >= 2
    assert contents(tmp_path) == contents(store.store.folder)
    assert_same(done.datasets, whole.datasets)


def test_the_number_of_workers_does_not_matter(whole, plume, store, tmp_path):
    reproduce(Study(plume, TINY), JobFolder(tmp_path), engine=threads(4))
    assert contents(tmp_path) == contents(store.store.folder)


def test_progress_tells_all_of_the_work_that_was_foretold(plume, tmp_path):
    study, again, heard = Study(plume, TINY), JobFolder(tmp_path), []
    total, done = outlook(study, again, list(FIGURES))
    assert done == 0
    reproduce(study, again, ["fig3"], progress=heard.append)
    first = sum(heard)
    later, done = outlook(study, again, list(FIGURES))
    reproduce(study, again, progress=heard.append)
    assert sum(heard) == total == later
    # fig3 is done, and what it needed serves others.
    assert 0 < done <= first
    assert outlook(study, again, list(FIGURES)) == (total, total)


def test_performance_is_that_of_the_policies(whole, study, store):
    """Numbers in the datasets, recomputed from the trained policies alone."""
    searches, recoveries, plume = whole.datasets.searches, whole.datasets.recoveries, study.plume
    for environment, threshold in PAPER.items():
        for agent, job in enumerate(study.single(environment)):
            policy = run(job, plume, store)
            evaluation = evaluate(policy, plume, threshold, settings=HOW)
            here = searches.sel(kind=SINGLE, trained=environment, tested=environment, agent=agent)
            for metric in METRICS:
                mean = evaluation.mean(metric)
                assert float(here["mean"].sel(metric=metric)) == pytest.approx(mean, abs=1e-12)
                assert float(here["strata"].sel(metric=metric).mean()) == pytest.approx(mean, abs=1e-12)
            lost = np.bincount(evaluation.lost_at(), minlength=plume.field.shape[1])
            assert np.array_equal(here["lost"], lost)
            for stratum, sixths in enumerate(here["lost_by"].values):
                some = ~evaluation.arrived & (evaluation.starts.stratum == stratum) & (evaluation.last_whiff[:, 2] >= 0)
                ways = evaluation.last_whiff[some, 0] / (plume.field.shape[1] - 1)
                assert [sixths[:2].sum(), sixths[3:].sum()] == [(ways < 1 / 3).sum(), (ways >= 1 / 2).sum()]
                assert sixths.sum() == len(ways)
            assert here["failures"] == (~evaluation.arrived).sum() >= lost.sum()
            shape = recoveries["geometry_of"].sel(
                ensemble=SINGLE, trained=environment, agent=agent, mode=MODE, truncation=MAIN_TRUNCATION
            )
            assert shape.sel(geometry="cast_width") == geometry(recovery_path(policy)).cast_width
    other = evaluate(run(study.two("dense")[1], plume, store), plume, PAPER["sparser"], settings=HOW)
    found = searches["mean"].sel(kind=TWO, trained="dense", tested="sparser", agent=1, metric="G")
    assert float(found) == pytest.approx(other.mean("G"), abs=1e-12)


def test_records_hold_the_whole_evaluation(whole, study, store):
    (job,) = study.tests(study.two("sparse")[:1], "sparse")
    kept = run(job, study.plume, store)
    policy = run(study.two("sparse")[0], study.plume, store)
    fresh = evaluate(policy, study.plume, PAPER["sparse"], settings=HOW)
    assert kept.to_dict() == fresh.to_dict()
    for name, values in fresh.arrays().items():
        assert np.array_equal(kept.arrays()[name], values), name


def test_tau_divides_the_training_most_evenly(whole, study, plume, store):
    searches = whole.datasets.searches
    for environment, threshold in PAPER.items():
        distance = np.abs(searches["scan_share"].sel(trained=environment).mean("replica") - 0.5)
        assert searches["tau"].sel(trained=environment) == distance.idxmin("tau_scanned")
        assert study.taus[environment] == searches["tau"].sel(trained=environment)
        # The same choice for whoever asks with the same settings.
        scan = TauScan(TINY.taus, TINY.scan_seeds, TINY.scan_episodes)
        like = Train(plume.fingerprint, threshold, clock(TINY.horizon), TINY.learning, plume.settle())
        (job,) = with_chosen_tau([like], plume, scan, store, threads(1), Bar(""))
        assert job.memory.spec["taus"] == [study.taus[environment]]
    share = searches["training_share"].sel(trained="dense", agent=1)
    assert float(share) == sparse_share(run(study.two("dense")[1], plume, store))


def test_cast_and_surge_has_its_best_angle(whole):
    searches = whole.datasets.searches
    returns = searches["cast_scan"].sel(metric="G")
    home = where_trained(searches["mean"], "cast-and-surge").sel(metric="G").isel(agent=0)
    assert np.array_equal(home, returns.max("angle"))
    assert np.array_equal(searches["cast_angle"], returns.idxmax("angle"))


def test_a_sample_of_starts_is_stratified(whole, study, store):
    starts = make_starts(study.plume, PAPER["dense"], study.world, HOW, 60)
    some = sample(starts, 30)
    assert np.bincount(starts.stratum[some]).tolist() == [15, 15]
    assert (np.diff(some) > 0).all()
    assert np.array_equal(sample(starts, 10**6), np.arange(len(starts)))
    evaluation = run(study.tests(study.single("dense"), "dense")[1], study.plume, store)
    arrived = evaluation.arrived[some].reshape(2, 15).mean(axis=1)
    sampled = whole.datasets.searches["sampled"].sel(kind=SINGLE, tested="dense", agent=1, metric="f+")
    assert sampled.values == pytest.approx(arrived)


def test_usage_counts_the_decisions_of_all_agents(whole, study, store):
    usage, searches = whole.datasets.usage, whole.datasets.searches
    found = [run(job, study.plume, store) for job in study.tests(study.two("dense"), "dense")]
    decisions = usage["decisions"].sel(environment="dense")
    assert np.array_equal(decisions, sum(one.occupancy for one in found))
    assert np.array_equal(usage["by_blank"].sum(("agent", "bin")), usage["decisions"].sum(("x", "y")))
    share = searches["share"].sel(kind=TWO, trained="dense", tested="dense", agent=0)
    assert float(share) == pytest.approx(found[0].mode_steps[:, 1].sum() / found[0].mode_steps.sum())


def test_a_clock_with_two_names_for_one_path_goes_the_way_of_its_agent(whole):
    searches = whole.datasets.searches
    same, single = (where_trained(searches["mean"], kind) for kind in (SAME_PATH, SINGLE))
    xr.testing.assert_equal(same.drop_vars("kind"), single.drop_vars("kind"))
    decisions = whole.datasets.usage["same_path"].sum("bin")
    share = decisions.sel(mode=PLUS) / decisions.sum("mode")
    assert ((share > 0) & (share < 1)).all()


def test_twice_the_episodes_have_schedules_to_match(study):
    for job, usual in zip(study.longer("dense"), study.single("dense"), strict=False):
        assert job.seed == usual.seed
        for name in ("episodes", "alpha_decay", "epsilon_decay"):
            assert getattr(job.learning, name) == pytest.approx(2 * getattr(usual.learning, name))
    assert len(study.longer("dense")) == TINY.long_seeds


def test_deep_does_all_that_paper_does(plume):
    taus = dict.fromkeys(PAPER, 5)  # chosen by the same scan
    paper, deep = (
        {job.key for job in jobs(Study(plume, PROFILES[name], taus, 5), needs_of(FIGURES))}
        for name in ("paper", "deep")
    )
    assert paper < deep
    more, same = ("start_seeds", "scan_seeds", "long_seeds"), PROFILES["deep"]
    assert all(getattr(same, name) > (getattr(PROFILES["paper"], name) or PROFILES["paper"].seeds) for name in more[:2])
    assert same.long_seeds > PROFILES["paper"].long_seeds
    assert replace(same, name="paper", **{name: getattr(PROFILES["paper"], name) for name in more}) == PROFILES["paper"]


def test_an_initial_condition_may_have_more_agents_than_the_main_ensemble(whole):
    counted = whole.datasets.recoveries["steps"].notnull().any(("mode", "truncation", "trained")).sum("agent")
    assert counted.sel(ensemble="on a whiff, common start region") == TINY.start_seeds > TINY.seeds
    assert counted.sel(ensemble=SINGLE) == counted.sel(ensemble=TWO) == TINY.seeds


def test_there_are_no_more_long_trainings_than_agents():
    with pytest.raises(InputError, match="long_seeds"):
        replace(TINY, long_seeds=3)


def test_the_example_search_and_the_whiffs_are_those_of_the_record(whole, study):
    setting, plume = whole.datasets.setting, study.plume
    t = setting.attrs["snapshot"]
    for environment, threshold in PAPER.items():
        drawn = setting["whiff"].sel(environment=environment)
        assert np.array_equal(drawn, plume.whiffs(threshold).snapshot(t))
    search = setting["search"]
    smelled = plume.whiffs(PAPER["sparse"])
    for step, (x, y, whiff, _) in enumerate(search.values.astype(int)):
        inside = 0 <= x < plume.field.shape[1] and 0 <= y < plume.field.shape[2]
        assert whiff == (inside and smelled.snapshot((t + step) % plume.field.shape[0])[x, y])
    clock = search.sel(quantity="clock").values
    assert (clock[search.sel(quantity="whiff") == 1] == 0).all()
    assert (np.diff(clock)[clock[1:] > 0] == 1).all()


def test_the_paper_s_own_condition_is_the_main_ensemble(whole):
    recoveries = whole.datasets.recoveries
    assert CONDITIONS["any time, common start region"] == SINGLE
    # In the sparser plume, the start region from its own threshold is the common one.
    region = "any time, start region from own threshold"
    both = {"trained": "sparser", "mode": MODE, "agent": range(TINY.seeds)}
    main, own = (recoveries.sel(ensemble=name, **both) for name in (SINGLE, region))
    xr.testing.assert_equal(main["geometry_of"].drop_vars("ensemble"), own["geometry_of"].drop_vars("ensemble"))
    cells = recoveries["start_cells"]
    assert (cells.sel(ensemble=region) >= cells.sel(ensemble=SINGLE)).all()


def test_every_mode_is_measured_as_far_as_it_was_visited(whole, study, store):
    recoveries = whole.datasets.recoveries
    policy = run(study.two("dense")[0], study.plume, store)
    for mode, name in enumerate((MINUS, PLUS)):
        here = recoveries.sel(ensemble=TWO, trained="dense", agent=0, mode=name)
        for truncation in TRUNCATIONS:
            path = recovery_path(policy, mode, truncation)
            assert here["steps"].sel(truncation=truncation) == len(path) - 1
            assert np.array_equal(here["path"][: len(path)], path)
            found = dict(zip(GEOMETRY, here["geometry_of"].sel(truncation=truncation).values, strict=True))
            assert found["upwind_search"] == geometry(path).upwind_search
    largest = policy.records["clock"][:, 0]
    assert recoveries["steps"].sel(
        ensemble=TWO, trained="dense", agent=0, mode=[MINUS, PLUS], truncation=MAIN_TRUNCATION
    ).values.tolist() == largest.tolist()  # fmt: skip


def test_a_part_of_the_figures_has_a_part_of_the_data(plume, store, whole):
    part = reproduce(Study(plume, TINY), store, ["fig3"]).datasets
    assert part.facts["figures"] == ["fig3"]
    assert part.usage is None
    assert part.branches is None
    single = {"kind": SINGLE, "trained": "dense", "tested": "dense"}
    xr.testing.assert_equal(part.searches["mean"].sel(single), whole.datasets.searches["mean"].sel(single))
    assert part.searches["mean"].sel(kind=HEURISTIC).isnull().all()
    words = {verdict.claim.id: verdict.verdict for verdict in judge(part)}
    assert words["C2"] == "not tested"
    assert words["C5"] != "not tested"


def test_every_figure_needs_what_there_is():
    for figure in FIGURES:
        assert {need.kind for need in drawing(figure).NEEDS} <= {*KINDS}
    assert needs_of(["s4"])[0] == Need(SCAN, "trained")
    assert Need(SCAN, "trained") not in needs_of(["fig3"])


def test_figures_are_named_in_any_order():
    assert parse_figures("s1, fig3") == ["fig3", "s1"]
    assert parse_figures(None) == [*FIGURES, *BEYOND]
    for bad in ("fig9", "", "fig1,s9"):
        with pytest.raises(InputError, match="--only"):
            parse_figures(bad)


def test_a_profile_s_name_does_not_determine_anything(plume):
    renamed = Study(plume, replace(TINY, name="other"))
    same = [[job.key for job in jobs(study, at_home(SINGLE))] for study in (renamed, Study(plume, TINY))]
    assert same[0] == same[1]
    assert PROFILES["paper"].seeds == 20
    assert PROFILES["paper"].episodes == 3_000_001
    assert PROFILES["paper"].taus == TAUS
    assert Profile.from_dict(TINY.to_dict()) == TINY


def test_the_report_is_made_from_a_whole_reproduction(whole, tmp_path, plain_figures):
    page = write_report(whole.datasets, tmp_path / "out")
    text = page.read_text()
    assert all(f'<figure id="{figure}">' in text for figure in FIGURES)
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())["claims"]
    assert {claim["verdict"] for claim in claims} == {"undecided"}


COMMAND = [sys.executable, "-c", "from whiffclock.cli import main; main()", "reproduce"]


def test_the_command_stops_cleanly(plume, tmp_path):
    write_plume(plume, tmp_path / "plume.npz")
    words = ["--only", "fig3", "--plume", tmp_path / "plume.npz", "--out", tmp_path / "out", "--workers", "1"]
    # A job in the background of a shell ignores Ctrl-C unless it is told otherwise.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + COMMAND[2]
    process = subprocess.Popen(
        [*COMMAND[:2], heeding, *COMMAND[3:], *map(str, words)], stderr=subprocess.PIPE, text=True
    )
    policies = tmp_path / "out" / "runs" / "policy"
    deadline = time.time() + 60
    while not list(policies.glob("*.npz")) and process.poll() is None and time.time() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert "the same command continues" in said
    assert not list(policies.glob(".*"))


@pytest.mark.parametrize("words", [["--profile", "slow"], ["--only", "fig99"], ["--workers", "0"]])
def test_the_command_refuses_in_one_sentence(words, tmp_path):
    done = whiffclock("reproduce", *words, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words[0] in done.stderr
    assert not (tmp_path / "out").exists()


def test_paths_of_a_long_clock_do_not_overflow(plume, tmp_path):
    long = replace(TINY, seeds=1, episodes=2, scan_episodes=1, horizon=33_000, taus=(2,))
    store = JobFolder(tmp_path)
    study = Study(plume, long)
    job = study.single("dense")[0]
    policy = run(job, plume)
    store.save(job, job.pack(replace(policy, actions=np.full_like(policy.actions, 3))))
    path = Collector(study, store, trained(SINGLE), []).recoveries()["path"]
    assert path.sel(ensemble=SINGLE, trained="dense", agent=0, mode=MODE, axis="x").values[-1] == 33_000
