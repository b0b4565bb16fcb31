"""What is doubtful about a plume: each rule on a plume that is wrong in one way, and none on the right ones."""

import json

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.environments import PAPER
from whiffclock.paper.ensembles import Study
from whiffclock.paper.page.report import report_html
from whiffclock.paper.profiles import Profile
from whiffclock.paper.reproduce import reproduce
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume.doubts import doubts_of, own
from whiffclock.plume.plume import Plume
from whiffclock.plume.toy import toy_plume
from whiffclock.runs.jobs import JobMemory

HORIZON = 500
SOURCE = (0, 13)


@pytest.fixture(scope="module")
def field():
    """Turbulence: some snapshots of the built-in plume."""
    return np.asarray(wc.builtin_plume().field)[:700]


def rules(values, source=SOURCE, environments=PAPER, world=None, horizon=HORIZON, thresholds=()):
    plume = Plume.from_array(values, source, "a recording", environments)
    return [doubt.rule for doubt in doubts_of(plume, world or WorldSettings(), horizon, thresholds)]


@pytest.mark.parametrize("make", [wc.builtin_plume, toy_plume, lambda: toy_plume(500, seed=3)])
def test_there_is_no_doubt_about_plumes_of_whiffclock(make):
    assert doubts_of(make(), WorldSettings(), HORIZON) == []
    assert own(make())


def test_there_is_no_doubt_about_a_recording_whatever_its_units_and_speed(field):
    assert rules(field) == []
    tenfold = {name: 10 * value for name, value in PAPER.items()}
    assert rules(10 * field, environments=tenfold) == []
    assert rules(np.asarray(wc.builtin_plume().field)[::4]) == []  # a wind of 3.6 cells per snapshot


def test_wind_from_the_other_side(field):
    assert rules(field[:, ::-1]) == ["wind"]
    assert "wind" in rules(field[:, ::-1], (122, 13))
    assert rules(field[::-1]) == ["wind"]  # a film that runs backwards


@pytest.mark.parametrize(
    ("source", "found"), [((0, 0), "silent source"), ((30, 1), "source"), ((122, 13), "source"), ((0, 15), None)]
)
def test_a_source_outside_of_the_plume(field, source, found):
    assert rules(field, source) == ([found] if found else [])


def test_axes_in_another_order(field):
    assert rules(field.swapaxes(1, 2), (0, 61)) == ["source"]


def test_a_background_taken_for_odor(field):
    assert rules(field + 1e-5) == ["environments", "all whiffs"]
    assert rules(field.max() - field) == ["environments", "all whiffs"]


def test_thresholds_that_nothing_reaches_or_that_hardly_differ(field):
    assert rules(field, environments={"a": 0.98 * float(field.max())}) == ["no whiffs"]
    assert rules(field, environments={"a": 3e-6, "b": 3.1e-6}) == ["environments"]
    assert rules(field, environments={"a": 3e-6, "b": 3.1e-6}, thresholds=[3e-6]) == []


def test_a_record_shorter_than_a_search(field):
    assert rules(field[:400]) == ["record"]
    assert rules(field[:400], horizon=400) == []
    assert rules(field[:400], world=WorldSettings(end_of_record="avoid")) == []


@pytest.fixture
def backwards(field, tmp_path):
    """A recording with the wind from the other side, without a name of whiffclock."""
    np.save(tmp_path / "film.npy", field[::6, ::-1])
    return tmp_path / "film.npy"


TRAIN = ("train", "--episodes", "50", "--seeds", "1", "--horizon", "60", "-e", "dense", "--out")


def test_a_command_stops_before_any_work_or_goes_on_anyway(backwards, tmp_path):
    words = (*TRAIN, tmp_path / "made", "--plume", backwards, "--source", "0,13")
    done = whiffclock(*words)
    assert (done.returncode, done.stdout) == (2, "")
    wind, way_out = done.stderr.splitlines()
    assert "towards smaller x" in wind
    assert "--anyway" in way_out
    assert not (tmp_path / "made").exists()
    done = whiffclock(*words, "--anyway")
    assert done.returncode == 0
    assert wind in done.stderr
    assert "--anyway" in done.stderr.splitlines()[-1]  # the next command has it, too
    for word in ("evaluate", "compare"):
        done = whiffclock(word, tmp_path / "made", "--plume", backwards, "--source", "0,13", "--horizon", "60")
        assert (done.returncode, done.stdout) == (2, "")


def test_a_sweep_and_a_reproduction_stop_too(backwards, tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(f'plume = "{backwards.name}"\nthreshold = 3e-6\nhorizon = 60\nepisodes = [9, 10]\n')
    for words in (("sweep", path, "--out", tmp_path / "made"), ("reproduce", "--plume", backwards)):
        done = whiffclock(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "towards smaller x" in done.stderr
        assert not (tmp_path / "made").exists()


def test_functions_of_notebooks_refuse_or_go_on(field):
    plume = Plume.from_array(field[::6, ::-1], SOURCE, environments=PAPER)
    small = {"episodes": 50, "horizon": 60}
    with pytest.raises(InputError, match=r"towards smaller x.*anyway=True"):
        wc.train(plume, "dense", **small)
    assert wc.train(plume, "dense", anyway=True, **small).name == "single-Q"
    with pytest.raises(InputError, match="anyway=True"):
        wc.optimize(plume, "dense", candidates=8, horizon=60)
    with pytest.raises(InputError, match="anyway=True"):
        wc.reproduce("nowhere", plume=plume)


TINY = Profile(
    name="tiny", seeds=1, episodes=60, snapshots=1, scan_seeds=1, scan_episodes=20, bayes_backups=1, bayes_starts=5,
    bayes_trials=1, long_seeds=1, taus=(2,), horizon=20,
)  # fmt: skip


@pytest.fixture(scope="module")
def hopeless(field):
    """Searches of 20 moves from starts that are all at least 40 cells away."""
    far = np.zeros_like(field[:100])
    far[:, 60:, :] = field[:100, 60:, :]
    return Plume.from_array(far, SOURCE, "far", {"dense": 3e-6, "sparse": 5e-6})


def test_a_reproduction_stops_where_nothing_arrives(hopeless):
    store = JobMemory()
    with pytest.raises(InputError, match=r"cast-and-surge never arrive .* \(far\).*--anyway"):
        reproduce(Study(hopeless, TINY), store, ["fig2"])


def test_the_report_names_the_doubts_on_its_first_screen(hopeless, tmp_path):
    data = reproduce(Study(hopeless, TINY), JobMemory(), ["fig3"], anyway=True).datasets
    (doubt,) = data.facts["doubts"]
    assert "no whiff within" in doubt
    page = report_html(data, [], [], tmp_path)
    first_screen = page[: page.index('<section id="about">')]
    assert "Doubts about this plume" in first_screen
    assert doubt in first_screen
    assert json.loads(data.searches.attrs["facts"])["doubts"] == [doubt]
