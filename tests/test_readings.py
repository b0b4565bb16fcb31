"""Readings of the paper: options of reproduce, what they change in the jobs, and the study of all of them."""

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command import whiffclock
from handmade import as_in_the_paper, with_facts
from rich.console import Console

from whiffclock.agents.qlearning import Task, Training, best_late, checkpoints, train
from whiffclock.evaluation import METRICS
from whiffclock.memory import clock
from whiffclock.netcdf import read_dataset
from whiffclock.paper import dataset as ds
from whiffclock.paper import ensembles
from whiffclock.paper.ensembles import Study
from whiffclock.paper.profiles import PROFILES, Profile
from whiffclock.paper.readings import study as of_readings
from whiffclock.paper.readings.alternatives import ALTERNATIVES, SCOPES, alternatives_named
from whiffclock.paper.readings.settings import Readings
from whiffclock.paper.readings.study import ReadingsStudy, change
from whiffclock.paper.readings.table import (
    changed_verdicts,
    each_reading,
    largest,
    readings_json,
    readings_table,
    with_effects,
)
from whiffclock.paper.reproduce import reproduce
from whiffclock.params import InputError, LearningSettings
from whiffclock.plume.reading.files import write_plume
from whiffclock.progress import Bar
from whiffclock.runs.jobs import JobMemory, run, threads
from whiffclock.runs.kinds import Train
from whiffclock.world.moves import ACTIONS

TINY = Profile("tiny", 2, 300, 2, 1, 100, 1, 30, 1, (2, 5), 60)
PAGE = Path(__file__).parents[1] / "docs" / "paper.md"


def differences(one, other, at=""):
    """Where two descriptions of jobs differ, and the value in the second."""
    found = {}
    for name in {**one, **other}:
        a, b = one.get(name), other.get(name)
        if isinstance(a, dict) and isinstance(b, dict):
            found |= differences(a, b, f"{at}{name}.")
        elif a != b:
            found[at + name] = b
    return found


def asked(monkeypatch, *words):
    """The study that ``reproduce WORDS`` would compute."""
    seen = []

    def stop(folder, study, *_):
        seen.append(study)
        raise InputError("Stopped by the test.")

    monkeypatch.setattr("whiffclock.paper.reproduce.reproduce_into", stop)
    done = whiffclock("reproduce", *words)
    assert "Stopped by the test." in done.stderr, done.stderr
    return replace(seen[0], taus=dict.fromkeys(seen[0].environments, 5), heuristic_tau=5)


_LEARNING, _WORLD = "policy.learning", "policy.world"
OPTIONS = [
    (["--split-zero"], {}, {"policy.memory.split_zero": True}),
    (["--literal-tau"], {}, {"policy.memory.literal_tau": True}),
    (["--clock-states", "100"], *[{"policy.memory.length": 100}] * 2),
    (["--no-bootstrap"], *[{f"{_LEARNING}.bootstrap_at_horizon": False}] * 2),
    (["--tie-order", "-y,upwind,downwind,+y"], *[{f"{_LEARNING}.tie_order": "-y,upwind,downwind,+y"}] * 2),
    (["--keep", "best"], *[{f"{_LEARNING}.keep": "best"}] * 2),
    (["--trace", "0.9"], *[{f"{_LEARNING}.trace": 0.9}] * 2),
    (["--alpha-start", "0.01"], *[{f"{_LEARNING}.alpha_start": 0.01}] * 2),
    (["--alpha-end", "0.001"], *[{f"{_LEARNING}.alpha_end": 0.001}] * 2),
    (["--end-of-record", "avoid"], *[{f"{_WORLD}.end_of_record": "avoid", "world.end_of_record": "avoid"}] * 2),
    (["--start-on-whiff"], *[{f"{_WORLD}.start_on_whiff": True, "world.start_on_whiff": True}] * 2),
    (["--start-threshold", "own"], *[{f"{_WORLD}.start_threshold": "own", "world.start_threshold": "own"}] * 2),
    (["--start-seed", "3"], *[{"settings.seed": 3}] * 2),
    (["--truncation", "none"], {}, {}),
    (["--heuristic-tau", "7"], {}, {}),
]


@pytest.mark.parametrize(("words", "single", "two"), OPTIONS, ids=[words[0] for words, *_ in OPTIONS])
def test_an_option_changes_in_the_jobs_what_was_asked_for_alone(monkeypatch, tmp_path, words, single, two):
    ours, other = (asked(monkeypatch, "--out", tmp_path, *some) for some in ([], words))
    for kind, expected in ((Study.single, single), (Study.two, two)):
        tests = (study.tests(kind(study, "dense"), "dense")[0].description for study in (ours, other))
        assert {name: value for name, value in differences(*tests).items() if "start_threshold" not in name} == {
            name: value for name, value in expected.items() if "start_threshold" not in name
        }
    assert other.world.start_threshold == ("own" if words[0] == "--start-threshold" else 7e-6)


def test_defaults_change_no_key(plume):
    study = Study(plume, TINY, dict.fromkeys(plume.environments, 5))
    learning = LearningSettings.shortened(300, horizon=60)
    place = plume.fingerprint, plume.environments["dense"]
    assert study.single("dense")[1].key == Train(*place, clock(60), learning, plume.settle(), 1).key
    assert study.two("dense")[1].key == Train(*place, clock(60, (5,)), learning, plume.settle(), 1).key
    scan = Train(*place, clock(60, (2,)), LearningSettings.shortened(100, horizon=60), plume.settle(), 0)
    assert study.scan("dense")[2][0].key == scan.key
    assert all(profile.readings == Readings() for profile in PROFILES.values())


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["--tie-order", "upwind,down"], "all of upwind,+y,-y,downwind"),
        (["--heuristic-tau", "often"], "a whole number or auto"),
        (["--heuristic-tau", "500"], "between 1 and H-1 = 499"),
        (["--clock-states", "1"], "at least 2"),
        (["--truncation", "short"], "one of: none, largest clock reading"),
        (["--keep", "first"], "'last' or 'best'"),
        (["--start-seed", "-1"], "0 or more"),
        (["--trace", "2"], "at least 0 and at most 1"),
        (["--sampling", "often"], "'mixed', 'published' or 'policy'"),
        (["--start-threshold", "low"], "a number, own or sparsest"),
    ],
)
def test_a_bad_reading_is_refused_in_one_sentence(words, right, tmp_path):
    done = whiffclock("reproduce", *words, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert right in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_starts_on_a_whiff_wrap_in_fig_s5(plume):
    """Some cells have whiffs at the end of the record alone, so training there could not avoid it."""
    world = replace(plume.settle(), end_of_record="avoid")
    study = Study(plume, replace(TINY, readings=Readings(world=world)))
    ends = {name: study.initial("dense", name)[0].world.end_of_record for name in ensembles.STARTS}
    assert {name for name, end in ends.items() if end == "wrap"} == {n for n in ends if n.startswith("on a whiff")}


def test_the_facts_of_a_run_name_other_readings_and_no_others(plume):
    store, profile = JobMemory(), replace(TINY, readings=Readings(truncation="none", keep="best", heuristic_tau=3))
    facts = reproduce(Study(plume, profile), store, ["fig2", "fig3"]).datasets.facts
    assert facts["readings"] == {"truncation": "none", "keep": "best", "heuristic_tau": 3}
    assert facts["heuristic_tau"] == 3
    assert reproduce(Study(plume, TINY), store, ["fig3"]).datasets.facts["readings"] == {}


def test_the_truncation_of_the_main_text_is_a_reading():
    data = as_in_the_paper()
    for name in ("none", "mean blank"):
        found = ds.recovery(with_facts(data, readings={"truncation": name}), ds.SINGLE, ds.MODE)
        assert found["truncation"] == name
    assert ds.recovery(data, ds.SINGLE, ds.MODE)["truncation"] == "largest clock reading"


@pytest.mark.parametrize("order", ["upwind,+y,-y,downwind", "downwind,-y,+y,upwind", "-y,upwind,downwind,+y"])
def test_ties_go_to_the_first_action_of_the_order(plume, order):
    """An agent that never explores and never arrives walks in one direction, however often it has tried."""
    still = LearningSettings(500, horizon=20, tie_order=order, epsilon_start=0.0, epsilon_end=0.0)
    far = replace(plume.settle(), radius=0.0)
    training = Training(Task(plume, 5e-6, clock(20), still, far))
    training.cells = np.array([[39, 26]], dtype=np.int32)
    training.advance(500)
    assert {ACTIONS[action] for action in training.policy().actions} == {order.split(",")[0]}
    assert np.abs(training.q + 1).max() < 1e-14
    second = training.q.copy()
    second[:, ACTIONS.index(order.split(",")[0])] = -2
    assert {ACTIONS[action] for action in second.argmax(axis=1)} == {order.split(",")[1]}


def test_the_best_of_a_hand_made_curve():
    ends = [50, 60, 70, 80]
    assert best_late(ends, [0, 9, 12, 15]) == 1  # after episode 60, with nine of ten
    assert best_late(ends, [0, 5, 14, 20]) == 2
    assert best_late(ends, [0, 8, 11, 19]) == 3  # of equal ones, the latest
    assert best_late([50, 60, 64], [40, 48, 52]) == 2  # four of four are more than eight of ten


def test_the_best_late_matrix_is_one_of_the_training_that_keeps_the_last(plume):
    settings = LearningSettings.shortened(3001, horizon=50)
    last, best = (Task(plume, 5e-6, clock(50), replace(settings, keep=keep)) for keep in ("last", "best"))
    kept = train(best)
    ends = checkpoints(3001)
    assert ends[0] == 2501
    assert len(ends) == 11
    assert kept.made_from["kept_at"] in ends[1:]
    training, arrivals = Training(last), []
    for end in ends:
        training.advance(end - training.episode)
        arrivals.append(training.curve[:, 1].sum())
        if end == kept.made_from["kept_at"]:
            assert np.array_equal(kept.q, training.q)
    assert kept.made_from["kept_at"] == ends[best_late(ends, arrivals)]
    assert np.array_equal(kept.records["curve"], training.policy().records["curve"])
    assert np.array_equal(train(best, parts=7).q, kept.q)  # whatever the parts


def test_a_training_without_late_episodes_keeps_its_last_matrix(plume):
    few = LearningSettings.shortened(3, horizon=50)
    one, other = (train(Task(plume, 5e-6, clock(50), replace(few, keep=keep))) for keep in ("last", "best"))
    assert np.array_equal(one.q, other.q)


@pytest.mark.parametrize(
    ("shares", "chosen"),
    [
        ({2: (0.9, 0.1, 0.5, 0.4), 5: (0.5, 0.5, 0.4, 0.4)}, 2),  # 0.475 and 0.45: means over environments
        ({2: (0.9, 0.9, 0.5, 0.5), 5: (0.4, 0.4, 0.5, 0.6)}, 5),
        ({2: (0.75, 0.75, 0.25, 0.75), 5: (0.25, 0.25, 0.75, 0.25)}, 2),  # equally close: the smaller
    ],
)
def test_tau_of_2qh_divides_decisions_most_evenly(plume, monkeypatch, shares, chosen):
    places = list(plume.environments.values())

    def tested(job, *_):
        plus = round(1000 * shares[job.policy.tau][places.index(job.threshold)])
        return SimpleNamespace(mode_steps=np.array([[1000 - plus, plus]]))

    monkeypatch.setattr(ensembles, "run", tested)
    assert Study(plume, TINY).with_heuristic_tau(JobMemory()).heuristic_tau == chosen


def test_a_reproduction_keeps_the_scan_of_2qh(plume):
    data = reproduce(Study(plume, TINY), JobMemory(), ["fig2"]).datasets
    shares = data.searches["heuristic_share"].mean("tested")
    assert data.facts["heuristic_tau"] == int(shares.tau_scanned[np.abs(shares.values - 0.5).argmin()])
    at = {"tau_scanned": data.facts["heuristic_tau"], "tested": "sparse", "metric": "G"}
    agents = ds.where_trained(data.searches["mean"], ds.HEURISTIC).sel(environment="sparse", metric="G")
    assert float(data.searches["heuristic_mean"].sel(at)) == pytest.approx(float(agents.mean()))


@pytest.fixture(scope="module")
def small(plume):
    return ReadingsStudy(plume, replace(TINY, seeds=5), alternatives_named(taus=TINY.taus))


@pytest.fixture(scope="module")
def measured(small):
    store = JobMemory()
    return small.run(store, threads(2), Bar("searches")), store


def test_every_reading_is_measured_beside_ours(measured, small):
    data, _ = measured
    labels = [one.label for one in small.alternatives]
    chosen = json.loads(data.attrs["facts"])["heuristic_tau"]
    labels.remove(f"R18: 2Q^h, tau = {chosen}")  # ours
    assert data["reading"].values.tolist() == labels
    assert {"R1", "R3", "R5", "R6", "R6'", "R8", "R9", "R11", "R12", "R17", "R18", "X1", "X2"} == {
        *data["number"].values.tolist()
    }
    one_agent = data["number"] == "X2"  # its interval is over time blocks, of which there are too few here
    assert data["searches"].where(~one_agent, drop=True).notnull().all()
    assert data["searches"].where(one_agent, drop=True).sel(value=["ours", "other", "change"]).notnull().all()
    for one in each_reading(data):
        scope = SCOPES[one["agents"].item()]
        assert one["paths"].dropna("mode", how="all")["mode"].values.tolist() == list(scope.modes)
        assert one["claim"].values[(one["verdict"] != "").all("whose")].tolist() == list(scope.claims)


def test_the_same_agents_have_the_same_paths(measured, small):
    data, store = measured
    for label in ("R11: other start times", "R12: plain sum as G"):
        assert (data["paths"].sel(reading=label, mode=ds.MODE, value="change") == 0).all()
    assert (data["searches"].sel(reading="R11: other start times", value="change") != 0).any()
    # The plain sum is that of the same searches.
    policies = Study(small.plume, small.profile).single("dense")
    tests = [run(job, small.plume, store) for job in Study(small.plume, small.profile).tests(policies, "dense")]
    here = data["searches"].sel(reading="R12: plain sum as G", environment="dense", metric="G")
    assert float(here.sel(value="ours")) == pytest.approx(np.median([test.mean("G") for test in tests]))
    assert float(here.sel(value="other")) == pytest.approx(np.median([test.mean("G_sum") for test in tests]))
    assert "G_sum" in METRICS


def test_a_second_study_computes_nothing(measured, small):
    data, store = measured

    def idle(jobs, *_):
        assert not jobs
        return []

    assert small.run(store, idle, Bar("searches")).identical(data)


def test_changes_are_paired_by_seed():
    """Agents of one seed are resampled together, so a shift that is the same for all has no uncertainty."""
    values = np.array([0.0, 1.0, 5.0, 9.0, 30.0, 31.0])
    assert change(values, values + 2) == pytest.approx([7, 9, 2, 2, 2])
    ours, other, moved, low, high = change(values, values[::-1])
    assert (ours, other, moved) == (7, 7, 0)
    assert low < 0 < high
    assert np.isnan(change(values[:3], values[:3])[3:]).all()  # too few for an interval


def test_results_are_told_in_80_columns_and_in_json(measured):
    data, _ = measured
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(readings_table(data))
    text = console.export_text()
    assert all(len(line) <= 80 for line in text.splitlines())
    assert all(label in text for label in data["reading"].values)
    told = json.loads(readings_json(data))
    first, here = told["readings"][0], data.isel(reading=0)
    number = first["searches"]["sparse"]["f+"]["change"]
    assert number == pytest.approx(float(here["searches"].sel(environment="sparse", metric="f+", value="change")))
    assert set(first["verdicts"]) == set(SCOPES[ds.SINGLE].claims)
    assert set(first["paths"]["sparse"]) == {ds.MODE}


def test_a_sure_change_is_shown_before_a_larger_one_that_is_not(measured):
    one = measured[0].isel(reading=0).copy(deep=True)
    one["searches"].loc[{"metric": "G"}] = 0.0
    one["searches"].loc[{"metric": "G", "environment": "dense"}] = [0.5, 0.7, 0.2, -0.1, 0.4]
    assert largest(one, "G").place == "dense"
    one["searches"].loc[{"metric": "G", "environment": "sparse"}] = [0.5, 0.4, -0.1, -0.2, -0.05]
    assert largest(one, "G").place == "sparse"
    one["verdict"].loc[{"claim": "C5"}] = ["holds", "does not hold"]
    assert "C5 ✓→✗" in changed_verdicts(one)


def test_effects_are_written_into_the_page(measured):
    page = PAGE.read_text(encoding="utf-8")
    written = with_effects(page, measured[0])
    assert with_effects(written, measured[0]) == written
    before, after = (text.splitlines() for text in (page, written))
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    numbers = {line.split("|")[1].strip() for line in changed if line.startswith(("| R", "| X"))}
    assert numbers <= {one.number for one in ALTERNATIVES} | {"R18"}
    for number in {one.number for one in ALTERNATIVES} | {"R18"}:
        (line,) = (line for line in after if line.startswith(f"| {number} |"))
        assert " G " in line.split("|")[5]
        assert line.count("|") == 6


def test_the_command(plume, tmp_path, monkeypatch):
    monkeypatch.setattr(of_readings, "small_profile", lambda seeds, episodes: replace(TINY, seeds=seeds))
    write_plume(plume, tmp_path / "plume.npz")
    words = ["--plume", tmp_path / "plume.npz", "--out", tmp_path / "out", "--seeds", "2", "--only", "R8,R11"]
    done = whiffclock("readings", *words)
    assert done.returncode == 0, done.stderr
    assert "R8: no bootstrap" in done.stdout
    data = read_dataset(tmp_path / "out" / "readings.nc", "a result")
    assert data["number"].values.tolist() == ["R8", "R11"]
    assert (tmp_path / "out" / "readings.json").read_text() == readings_json(data)


def test_2qh_needs_two_environments(plume):
    alone = plume.with_environments({"dense": 3e-6})
    with pytest.raises(InputError, match=r"R18 is not possible here; leave it out by --only\. 2Q\^h is made of"):
        ReadingsStudy(alone, TINY, alternatives_named("R18", TINY.taus))
    store = JobMemory()
    data = ReadingsStudy(alone, TINY, alternatives_named("R11,R5")).run(store, threads(1), Bar("searches"))
    assert data["number"].values.tolist() == ["R5", "R11"]
    assert set(data["verdict"].sel(claim="C5", reading="R11: other start times").values) == {"not tested"}


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["--only", "R99"], "must be readings among R1, R3"),
        (["--only", ""], "must be readings among R1, R3"),
        (["--seeds", "0"], "at least one agent"),
        (["--episodes", "0"], "must be positive"),
        (["--only", "R1"], "R1 is not possible here"),  # a record of 200 snapshots, and searches of 500
    ],
)
def test_a_bad_study_is_refused_before_the_work(plume, tmp_path, words, right):
    write_plume(plume, tmp_path / "plume.npz")
    done = whiffclock("readings", "--plume", tmp_path / "plume.npz", "--out", tmp_path / "out", *words)
    assert done.returncode == 2
    assert right in done.stderr
    assert not (tmp_path / "out").exists()
