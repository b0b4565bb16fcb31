"""The reproduction as a whole: every result once, the same whatever happens on the way."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from whiffclock.experiments import agents, groups, judged
from whiffclock.experiments.measures import GEOMETRY
from whiffclock.experiments.profiles import PROFILES, Profile
from whiffclock.experiments.reproduce import FIGURES, outlook, parse_figures, reproduce, unfinished
from whiffclock.experiments.results import Result
from whiffclock.experiments.work import Work
from whiffclock.runs.pieces import Account, Piece, complete, missing, work_in

from whiffclock.evaluate import METRICS, evaluate
from whiffclock.geometry import geometry
from whiffclock.paper.page.report import write_report
from whiffclock.params import ENVIRONMENTS, InputError
from whiffclock.plume.files import write_plume
from whiffclock.recovery import void_path
from whiffclock.runs.store import Store

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
    taus=(2, 5),
    horizon=60,
)


@pytest.fixture(scope="module")
def work(plume, tmp_path_factory):
    return Work(plume, TINY, Store(tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="module")
def whole(work):
    """A reproduction in one go, with one worker."""
    return reproduce(work)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("figure", FIGURES)
def test_a_result_has_the_arrays_that_its_module_documents(whole, figure):
    documented = {}
    for names, axes in re.findall(r"^([\w<>, ]+) : float(?:32)?\[(.*)\]$", FIGURES[figure].__doc__, re.MULTILINE):
        for name in names.split(", "):
            expanded = [name.replace("<environment>", e) for e in ENVIRONMENTS] if "<" in name else [name]
            documented |= dict.fromkeys(expanded, len(axes.split(",")))
    result = whole.results[figure]
    assert documented == {name: values.ndim for name, values in result.arrays.items()}
    assert all(values.dtype in (np.float32, np.float64) for values in result.arrays.values())
    json.dumps(result.facts, allow_nan=False)


def test_results_survive_the_store(whole, work):
    assert unfinished(work, list(FIGURES)) == []
    again = reproduce(Work(work.plume, TINY, work.store)).results
    for figure, result in whole.results.items():
        assert again[figure].facts == result.facts
        for name, values in result.arrays.items():
            assert np.array_equal(again[figure][name], values, equal_nan=True)
    with pytest.raises(KeyError, match="fig3 has no array nothing"):
        whole.results["fig3"]["nothing"]


def test_an_agent_is_trained_once_and_the_second_call_computes_nothing(plume, tmp_path, monkeypatch):
    trained, tested = [], []
    train, evaluated = agents.train, judged.evaluate
    monkeypatch.setattr(agents, "train", lambda task, tick: trained.append(task) or train(task, tick))
    monkeypatch.setattr(judged, "evaluate", lambda *rest: tested.append(rest) or evaluated(*rest))
    for figure in FIGURES:  # one by one: each finds what the others left
        reproduce(Work(plume, TINY, Store(tmp_path)), [figure])
    # Scan; single-Q and two-Q ensembles; 12 other initial conditions, of which 2 are no others in the sparser plume.
    assert len(trained) == 4 * 2 * 1 + 2 * 4 * 2 + (3 * 4 - 2) * 2
    tests = 2 * 4 * 4 * 2 + 4 * 2 + 2 * 4 * 2 + 4 * 2 + 4 * 17
    assert len(tested) == tests
    reproduce(Work(plume, TINY, Store(tmp_path)))
    assert len(tested) == tests


@pytest.mark.parametrize("seed", range(3))
def test_interruptions_leave_no_trace(whole, work, tmp_path, seed):
    """Stopped at random points, again and again, a reproduction ends with the same bytes."""
    draw, ahead = random.Random(seed), outlook(Work(work.plume, TINY, Store(tmp_path)), list(FIGURES)).total
    stops = 0
    while True:
        left = draw.uniform(0.1, 0.5) * ahead

        def progress(amount):
            nonlocal left
            left -= amount
            if left < 0:
                raise KeyboardInterrupt

        try:
            reproduce(Work(work.plume, TINY, Store(tmp_path)), workers=1 + seed, progress=progress)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops >= 2
    assert contents(tmp_path) == contents(work.store.folder)


def test_the_number_of_workers_does_not_matter(whole, work, tmp_path):
    reproduce(Work(work.plume, TINY, Store(tmp_path)), workers=4)
    assert contents(tmp_path) == contents(work.store.folder)


def test_progress_tells_all_of_the_work_that_was_foretold(plume, tmp_path):
    work, heard = Work(plume, TINY, Store(tmp_path)), []
    ahead = outlook(work, list(FIGURES))
    assert ahead.done == 0
    reproduce(work, ["fig3"], progress=heard.append)
    first = sum(heard)
    later = outlook(work, list(FIGURES))
    reproduce(work, progress=heard.append)
    assert sum(heard) == ahead.total
    # fig3 is done, and what it needed serves others.
    assert 0 < later.done <= first
    assert later.total == ahead.total
    assert outlook(work, list(FIGURES)).total == 0


def test_performance_is_that_of_the_policies(whole, work):
    """Figures' numbers, recomputed from the trained policies alone."""
    fig2, fig3, s1 = (whole.results[figure] for figure in ("fig2", "fig3", "s1"))
    for i, (environment, threshold) in enumerate(ENVIRONMENTS.items()):
        for j, agent in enumerate(agents.single(work, environment)):
            policy = agent.get()
            evaluation = evaluate(policy, work.plume, threshold, settings=TINY.evaluation)
            means = [evaluation.mean(metric) for metric in METRICS]
            assert fig2["single"][i, j] == pytest.approx(means, abs=1e-12)
            assert fig2["single_strata"][i, j].mean(axis=0) == pytest.approx(means, abs=1e-12)
            assert s1["single"][i, i, j] == pytest.approx(means, abs=1e-12)
            lost = np.bincount(evaluation.lost_at(), minlength=work.plume.field.shape[1])
            assert np.array_equal(fig3["lost"][i, j], lost)
            assert fig3["failures"][i, j] == (~evaluation.arrived).sum() >= lost.sum()
            shape = geometry(void_path(policy))
            assert fig3["geometry"][i, j, GEOMETRY.index("cast_width")] == shape.cast_width
    other = evaluate(agents.two(work, "dense")[1].get(), work.plume, ENVIRONMENTS["sparser"], settings=TINY.evaluation)
    assert s1["two"][1, 3, 1, 0] == pytest.approx(other.mean("G"), abs=1e-12)


def test_records_hold_the_whole_evaluation(whole, work):
    agent = agents.two(work, "sparse")[0]
    kept = judged.load(work, agent, "sparse")
    fresh = evaluate(agent.get(), work.plume, ENVIRONMENTS["sparse"], settings=TINY.evaluation)
    assert kept.to_dict() == fresh.to_dict()
    for name, values in fresh.arrays().items():
        assert np.array_equal(kept.arrays()[name], values), name


def test_tau_divides_the_training_most_evenly(whole):
    s3 = whole.results["s3"]
    for i in range(len(ENVIRONMENTS)):
        distance = np.abs(s3["share"][i].mean(axis=1) - 0.5)
        assert s3["chosen"][i] == s3["tau"][distance.argmin()]
    assert whole.results["fig5"]["tau"].tolist() == s3["chosen"].tolist() == whole.results["fig2"].facts["tau"]


def test_cast_and_surge_has_its_best_angle(whole):
    fig2 = whole.results["fig2"]
    returns = fig2["cast_scan"][:, :, METRICS.index("G")]
    assert np.array_equal(fig2["cast"][:, METRICS.index("G"), 0], returns.max(axis=1))
    angles = np.array(fig2.facts["angles"])
    assert np.array_equal(fig2["cast_angle"], angles[returns.argmax(axis=1)])


def test_a_sample_of_starts_is_stratified(whole, work):
    starts = work.starts("dense")
    some = judged.sample(starts, 30)
    assert np.bincount(starts.stratum[some]).tolist() == [15, 15]
    assert (np.diff(some) > 0).all()
    assert np.array_equal(judged.sample(starts, 10**6), np.arange(len(starts)))
    evaluation = judged.load(work, agents.single(work, "dense")[1], "dense")
    arrived = evaluation.arrived[some].reshape(2, 15).mean(axis=1)
    assert whole.results["fig2"]["single_on_bayes_starts"][1, 1, :, METRICS.index("f+")] == pytest.approx(arrived)


def test_usage_counts_the_decisions_of_all_agents(whole, work):
    fig6 = whole.results["fig6"]
    one = judged.load(work, agents.two(work, "dense")[0], "dense")
    assert np.array_equal(fig6["by_distance"][1, 0], one.occupancy.sum(axis=2))
    assert np.array_equal(fig6["by_blank"].sum(axis=(1, 3)), fig6["decisions"].sum(axis=(2, 3)))
    assert fig6["share"][1, 0] == pytest.approx(one.mode_steps[:, 1].sum() / one.mode_steps.sum())
    went = fig6["decisions"].sum(axis=1) > 0
    assert np.array_equal(np.isfinite(fig6["usage"]), went)


def test_the_paper_s_own_condition_is_the_main_ensemble(whole):
    s5, fig3 = whole.results["s5"], whole.results["fig3"]
    assert np.array_equal(s5["geometry"][s5.facts["main"]], fig3["geometry"], equal_nan=True)
    # In the sparser plume, a mask of its own is the mask of all.
    assert np.array_equal(s5["geometry"][2, 3], s5["geometry"][3, 3], equal_nan=True)
    assert (s5["start_cells"][2] >= s5["start_cells"][3]).all()


def test_truncations_contain_the_main_one(whole):
    s2, fig7 = whole.results["s2"], whole.results["fig7"]
    for name in ("single", "minus", "plus"):
        assert np.array_equal(s2[name][s2.facts["main"]], fig7[name], equal_nan=True)


def test_waves_put_first_what_others_wait_for():
    plan = groups.waves([groups.ALONE, groups.CAST])
    assert plan == [[groups.SCAN, groups.CAST], [groups.TWO], [groups.ALONE]]
    assert groups.waves([]) == []


def test_figures_are_named_in_any_order():
    assert parse_figures("s1, fig3") == ["fig3", "s1"]
    assert parse_figures(None) == list(FIGURES)
    for bad in ("fig9", "", "fig1,s9"):
        with pytest.raises(InputError, match="--only"):
            parse_figures(bad)


def test_a_profile_s_name_does_not_determine_anything():
    assert "name" not in PROFILES["quick"].determines()
    assert PROFILES["paper"].seeds == 20
    assert PROFILES["paper"].episodes == 3_000_001
    assert Profile.from_dict(TINY.to_dict()) == TINY


def test_pieces_with_the_same_record_are_one(tmp_path):
    store, heard, account = Store(tmp_path), [], Account()

    def piece(seed, group):
        return Piece("thing", {"seed": seed}, lambda tick: tick(5) or {"a": np.array(seed)}, 5, group)

    pieces = [piece(1, "first"), piece(2, "first"), piece(1, "second")]
    assert work_in(pieces) == 10
    assert complete(store, pieces, 2, heard.append, account) == 2
    assert sum(heard) == 10
    assert account.made == {"first": 2}
    assert missing(store, pieces) == []
    assert complete(store, [*pieces, piece(3, "second")], 1, None, account) == 1
    assert account.found["first"] == 2
    assert account.made == {"first": 2, "second": 1}


def test_the_report_is_made_from_a_whole_reproduction(whole, plume, tmp_path, plain_figures):
    facts = {
        "origin": plume.origin,
        "fingerprint": plume.fingerprint,
        "shape": list(plume.field.shape),
        "source": list(plume.source),
    }
    page = write_report(whole.results, TINY, facts, tmp_path / "out")
    text = page.read_text()
    assert all(f'<figure id="{figure}">' in text for figure in FIGURES)
    claims = json.loads((tmp_path / "out" / "claims.json").read_text())["claims"]
    assert {claim["verdict"] for claim in claims} == {"not decidable"}


def test_results_refuse_what_they_cannot_hold():
    with pytest.raises(InputError, match="facts"):
        Result("fig1", {"facts": np.zeros(1)}, {}).to_arrays()


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
    assert "the same command goes on" in said
    assert not list(policies.glob(".*"))


@pytest.mark.parametrize("words", [["--profile", "slow"], ["--only", "fig99"], ["--workers", "0"]])
def test_the_command_refuses_in_one_sentence(words, tmp_path):
    done = subprocess.run(
        [*COMMAND, *words, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words[0] in done.stderr
    assert not (tmp_path / "out").exists()
