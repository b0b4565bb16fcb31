"""Environments are data of a plume: names, thresholds, where they come from, and who takes them from there."""

import json
import subprocess
import sys

import made_up
import numpy as np
import pytest
from typer.testing import CliRunner

import whiffclock as wc
from whiffclock.agents.qlearning import Task, train
from whiffclock.cli import app
from whiffclock.environments import NONE, PAPER, Environments, parse_environments, trained_in
from whiffclock.memory import clock
from whiffclock.paper.claims import judge
from whiffclock.paper.claims.recoveries import _modes
from whiffclock.paper.dataset import MINUS, PLUS, TWO, Datasets
from whiffclock.paper.figures import FIGURES, drawing, picture
from whiffclock.params import InputError, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.plume import looks_like_dns
from whiffclock.plume.reading.files import read_plume, write_plume
from whiffclock.runs.kinds import Train

OWN = {"low": 0.5, "high": 2.0}
EIGHT = {name: 0.1 * (i + 1) for i, name in enumerate(("aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh"))}


@pytest.fixture(scope="module")
def field():
    return np.random.default_rng(3).exponential(1, (40, 12, 7)).astype(np.float32)


def test_they_are_ordered_from_dense_to_sparse():
    found = Environments({"high": 2.0, "low": 0.5})
    assert found.names == ("low", "high")
    assert found.sparsest == 2.0
    assert found == OWN
    assert found.name_of(0.5) == "low"
    assert found.name_of(4e-6) == "4e-6"
    assert found.threshold_of("high") == 2.0
    assert found.threshold_of("1e-3") == found.threshold_of(1e-3) == 1e-3
    assert parse_environments(found.text) == dict(found)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a": 1.0, "b": 1.0}, "the same threshold"),
        ({"two words": 1.0}, "one short word"),
        ({"../up": 1.0}, "one short word"),
        ({"nan": 1.0}, "one short word"),
        ({"own": 1.0}, "one short word"),
        ({"a": 0.0}, "positive concentration"),
        ({"a": float("nan")}, "finite number"),
        ({"a": "dense"}, "must be a number"),
        ({"a": True}, "must be a number"),
        ({f"e{i}": i + 1.0 for i in range(9)}, "at most 8"),
        (3.0, "dictionary"),
    ],
)
def test_others_are_refused_in_one_sentence(given, words):
    with pytest.raises(InputError, match=words) as found:
        Environments(given)
    assert str(found.value).endswith(".")


@pytest.mark.parametrize("text", ["dense", "dense=x", "=1", "dense=1,dense=2", ""])
def test_bad_text_is_refused(text):
    with pytest.raises(InputError):
        parse_environments(text)


@pytest.mark.parametrize(
    ("thresholds", "pair"),
    [
        ({"a": 1}, None),
        ({"a": 1, "b": 2}, ("a", "b")),
        ({"a": 1, "b": 2, "c": 3}, ("a", "c")),
        ({"a": 1, "b": 2, "c": 3, "d": 4}, ("b", "c")),
        ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, ("b", "d")),
        ({"dense": 1, "sparse": 2, "x": 3}, ("dense", "sparse")),
        (PAPER, ("dense", "sparse")),
    ],
)
def test_two_of_them_are_the_modes_of_the_heuristic(thresholds, pair):
    assert Environments(thresholds).pair == pair


def test_a_plume_has_the_papers_if_it_looks_like_the_dns(field):
    assert wc.builtin_plume().environments == PAPER
    assert Plume.from_array(5e-6 * field).environments == PAPER
    assert Plume.from_array(field).environments == NONE  # in other units
    assert Plume.from_array((field > 1).astype(np.uint8)).environments == NONE
    assert looks_like_dns([10, 8, 6, 5])
    assert not looks_like_dns([10, 8, 6, 6])
    assert not looks_like_dns([10, 8, 6, 0])


def test_who_needs_them_is_told_how_to_give_them(field):
    plume = Plume.from_array(field)
    for ask in (plume.settle, plume.environments.required, lambda: plume.environments.default):
        with pytest.raises(InputError, match="--environments") as found:
            ask()
        assert "environments=" in str(found.value)
    with pytest.raises(InputError, match=r"'dense'; it must be a number, or be among --environments"):
        wc.train(plume, "dense", episodes=10)
    assert plume.settle(WorldSettings(start_threshold="own")).start_threshold == "own"
    assert len(plume.starts(0.5, WorldSettings(start_threshold=1.0))) > 0


@pytest.mark.parametrize("form", ["npz", "nc", "zarr"])
def test_our_own_files_keep_them(field, form, tmp_path):
    plume, path = Plume.from_array(field, environments=OWN), tmp_path / f"plume.{form}"
    write_plume(plume, path)
    again = read_plume(path)
    assert again == plume
    assert again.environments == plume.environments
    other = wc.read_plume(path, environments={"only": 1.0})
    assert other.environments == {"only": 1.0}
    assert other.fingerprint == plume.fingerprint
    assert wc.read_plume(path, scale=2.0).environments == NONE  # its thresholds are of other concentrations
    assert [part.environments for part in again.split()] == [plume.environments] * 2
    assert again.with_environments(PAPER).environments == PAPER
    assert again.without_field().environments == plume.environments


def test_starts_are_those_of_the_sparsest(field):
    plume = Plume.from_array(field, environments=OWN)
    assert plume.settle() == WorldSettings(start_threshold=2.0)
    assert wc.builtin_plume().settle() == WorldSettings(start_threshold=7e-6)
    assert (plume.starts(0.5, WorldSettings()) == plume.starts(0.5, WorldSettings(start_threshold=2.0))).all()
    assert WorldSettings.from_dict({"start_threshold": None}).start_threshold == "own"  # in older files
    assert WorldSettings.from_dict({"start_threshold": 7e-06}).start_threshold == 7e-6
    with pytest.raises(InputError, match="'own' or 'sparsest'"):
        WorldSettings(start_threshold="none")
    with pytest.raises(InputError, match="settle"):
        WorldSettings().start_at(0.5)


def test_a_job_holds_the_number(field):
    plume, learning = Plume.from_array(field, environments=OWN), LearningSettings.shortened(20, horizon=10)
    with pytest.raises(InputError, match="number or 'own'"):
        Train(plume.fingerprint, 0.5, clock(10), learning)
    job = Train(plume.fingerprint, 0.5, clock(10), learning, plume.settle())
    assert job.description["world"]["start_threshold"] == 2.0
    assert job.thresholds == {0.5, 2.0}
    policy = train(Task(plume, 0.5, clock(10), learning))
    assert policy.made_from["world"]["start_threshold"] == 2.0
    assert policy.made_from["environment"] == trained_in(policy.made_from) == "low"
    assert "low" in repr(policy)
    assert trained_in({"threshold": 5e-6}) == "sparse"
    assert trained_in({"threshold": 4e-6}) == "4e-6"
    assert trained_in({}) == ""


def test_the_command_line_takes_them(field, tmp_path):
    np.save(tmp_path / "field.npy", field)
    run, file = CliRunner().invoke, str(tmp_path / "field.npy")
    short = ["--episodes", "20", "--horizon", "10", "--seeds", "1", "--out", str(tmp_path / "policies")]
    done = run(app, ["train", "--plume", file, "--environments", "low=0.5,high=2", *short])
    assert done.exit_code == 0, done.output
    assert {path.parent.name for path in (tmp_path / "policies").rglob("*.npz")} - {"policy"} >= {"low", "high"}
    assert "--environments low=0.5,high=2.0" in done.output
    with pytest.raises(InputError, match="--environments"):
        run(app, ["train", "--plume", file, *short], catch_exceptions=False)
    with pytest.raises(InputError, match=r"--environment is 'dense'; it must be one of low, high, or a number\."):
        run(app, ["train", "--plume", file, "--environments", "low=0.5,high=2", "-e", "dense"], catch_exceptions=False)
    shown = run(app, ["plume", "inspect", file, "--environments", "low=0.5,high=2", "--json"])
    assert list(json.loads(shown.stdout)["start_cells"]) == ["low", "high"]


def test_help_needs_no_numpy():
    code = "import sys, whiffclock.environments, whiffclock.cli; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.fixture(scope="module")
def run_of_four():
    return made_up.datasets()


@pytest.mark.parametrize("count", [1, 3, 8])
def test_all_figures_are_drawn_in_any_number_of_environments(run_of_four, count):
    data = made_up.in_environments(run_of_four, dict(list(EIGHT.items())[:count]))
    for figure in FIGURES:
        drawn, made = picture(figure, data), drawing(figure)
        assert drawn.axes
        assert "{" not in made.caption(data) + made.alt(data)
        rows = [name for name, _ in made.table(data).rows]
        assert all(any(name in row for row in rows) for name in data.environments)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_claim_that_needs_others_says_so(run_of_four, count):
    data = made_up.in_environments(run_of_four, dict(list(EIGHT.items())[:count]))
    found = {one.claim.id: one for one in judge(data)}
    untested = {name for name, one in found.items() if one.verdict == "not tested"}
    by_name = {"C3", "C9", "C10", "C11", "C12", "C14"}
    trends = {"C5", "C6", "C7", "C8", "C17", "C18"} if count < 3 else set()
    assert untested == by_name | trends | ({"C15"} if count == 1 else set())
    for name in untested:
        assert "the plume has aa" in found[name].why
        assert found[name].why.endswith(".")


def test_a_missing_agent_is_no_tie(run_of_four):
    part = run_of_four.recoveries.copy(deep=True)
    one = {"ensemble": TWO, "trained": "dense", "agent": 2, "mode": [MINUS, PLUS]}
    part["geometry_of"].loc[one] = np.nan
    part["steps"].loc[one] = np.nan
    rest = Datasets(run_of_four.searches, part)
    margins = {"net": {"above": 0}}
    found, full = (_modes(data, margins, np.random.default_rng(0)) for data in (rest, run_of_four))
    assert [one.draws.n for one in found.parts] == [one.draws.n - 1 for one in full.parts]


def test_datasets_of_different_runs_are_refused(run_of_four, tmp_path):
    run_of_four.save(tmp_path / "a")
    made_up.datasets(profile="other", fingerprint="beef").save(tmp_path / "b")
    assert Datasets.load(tmp_path / "a").environments == PAPER
    (tmp_path / "b" / "usage.nc").replace(tmp_path / "a" / "usage.nc")
    with pytest.raises(InputError, match="different runs"):
        Datasets.load(tmp_path / "a")


def test_a_dataset_in_the_place_of_another_is_refused(run_of_four, tmp_path):
    run_of_four.save(tmp_path)
    (tmp_path / "usage.nc").replace(tmp_path / "searches.nc")
    with pytest.raises(InputError, match=r"searches\.nc is no dataset of searches"):
        Datasets.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.drop_vars("lost_by"), "no variable lost_by"),
        (lambda data: data.assign(mean=data["mean"].isel(metric=0)), "no variable mean with the dimensions"),
        (lambda data: data.assign_attrs(facts="{}"), "no facts of a reproduction"),
        (lambda data: data.assign_attrs(facts="{"), "no facts of a reproduction"),
        (lambda data: data.assign_coords(trained=list("abcd")), "other environments along trained"),
    ],
)
def test_facts_and_variables_are_checked(run_of_four, tmp_path, change, words):
    searches = change(run_of_four.searches)
    Datasets(searches).save(tmp_path)
    with pytest.raises(InputError, match=words):
        Datasets.load(tmp_path)
