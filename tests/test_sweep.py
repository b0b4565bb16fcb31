"""Sweeps: what files may say, the jobs they become, and the dataset that comes back."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from whiffclock.archive import ends_with_digest
from whiffclock.environments import PAPER
from whiffclock.evaluation import METRICS
from whiffclock.memory import clock, window
from whiffclock.netcdf import write_dataset
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, WorldSettings
from whiffclock.plume.reading.files import write_plume
from whiffclock.runs.jobs import JobFolder, run, threads
from whiffclock.runs.kinds import Evaluate, Train
from whiffclock.runs.sweep import Sweep, estimate, training
from whiffclock.runs.sweepfile import key_lines, known_settings, read_sweep

LINES = """\
# threshold = 1 in a comment
threshold = "sparse"   # seeds = 3
"gamma" = [
  0.9,   # episodes = 3
  # horizon = 4
  0.99,
]
'evaluation'.gamma = 0.5
evaluation . seed = 1
text = '''
n = 3
[no.table]
'''

[world.deep]
radius = 2
start = { at = { x = 1 }, y = [ 1,
  2 ] }
[[many]]
  tau = 3
"""


def test_keys_are_found_on_their_lines():
    assert key_lines(LINES) == {
        "threshold": 2,
        "gamma": 3,
        "evaluation": 8,
        "evaluation.gamma": 8,
        "evaluation.seed": 9,
        "text": 10,
        "world": 15,
        "world.deep": 15,
        "world.deep.radius": 16,
        "world.deep.start": 17,
        "world.deep.start.at": 17,
        "world.deep.start.at.x": 17,
        "world.deep.start.y": 17,
        "many": 19,
        "many.tau": 20,
    }
    assert key_lines(LINES.replace("\n", "\r\n")) == key_lines(LINES)
    assert key_lines("") == {}


@pytest.fixture
def write(tmp_path):
    def write_file(text):
        (tmp_path / "my.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "my.toml"

    return write_file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\ngama = 0.9", "line 3: there is no setting called gama; did you mean gamma?"),
        ("'evaluation'.gama = 0.9", "line 2: there is no setting called evaluation.gama; did you mean evaluation.gamm"),
        ("evaluation = {gama = 0.9}", "line 2: there is no setting called evaluation.gama; did you mean evaluation.ga"),
        ("\n[learning]\n\nepisodes = 3", "line 5: there is no setting called learning.episodes; did you mean episodes"),
        ("[learning]", "line 2: there is no setting called learning; "),
        ("environment = 'dense'", "line 2: there is no setting called environment; did you mean threshold?"),
        ("snapshots = 3", "line 2: there is no setting called snapshots; did you mean evaluation.snapshots?"),
        ("Episodes = 3", "line 2: there is no setting called Episodes; did you mean episodes?"),
        ("xyz = 1", "line 2: there is no setting called xyz; the settings are plume, threshold,"),
        ("[[evaluation]]\ngamma = 1", "line 2: there is no setting called evaluation;"),
        ("evaluation.gamma = .9\n", "line 2: this is not valid TOML: invalid value."),
        ("evaluation.gamma = 0.9\n'evaluation.gamma' = 0.8", "line 2: evaluation.gamma is given twice."),
        ("gamma = 'high'", "line 2: gamma is 'high'; it must be a number."),
        ("gamma = [\n 0.9,\n {a = 1}]", "line 2: gamma is {'a': 1}; it must be a number."),
        ("horizon = 50.0", "line 2: horizon is 50.0; it must be a whole number."),
        ("evaluation.horizon = 50.0", "line 2: evaluation.horizon is 50.0; it must be a whole number."),
        ("tau = [[3, 5.0]]", "line 2: tau is 5.0; it must be a whole number."),
        ("seeds = 2.0", "line 2: seeds is 2.0; it must be a whole number."),
        ("horizon = true", "line 2: horizon is True; it must be a whole number."),
        ("episodes = 2026-01-01", "line 2: episodes is datetime.date(2026, 1, 1); it must be a whole number."),
        ("start_on_whiff = 1", "line 2: start_on_whiff is 1; it must be True or False."),
        ("start_threshold = 'none'",
         "line 2: start_threshold is 'none'; it must be a concentration, 'own' or 'sparsest'."),
        ("end_of_record = 'stop'", "line 2: end_of_record is 'stop'; it must be 'wrap' or 'avoid'."),
        ("memory = 3", "line 2: memory is 3; it must be a text."),
        ("memory = 'hourglass'", "line 2: There is no memory called 'hourglass'; there are clock, window, controller."),
        ("tau = 'auto'", "line 2: tau is 'auto', but a sweep has no choice of tau;"),
        ("tau = [2.5]", "line 2: tau is 2.5; it must be a whole number."),
        ("tau = ['soon']", "line 2: tau is ['soon']; it must be a whole number, 'none', or a list of whole numbers."),
        ("gamma = 2", "line 2: The discount gamma is 2; it must "),
        ("gamma = nan", "line 2: gamma is nan; it must be a finite number."),
        ("length = 9\nhorizon = 1" + "0" * 30, "line 3: "),
        ("radius = [1, -1]", "line 2: The source radius is -1"),
        ("evaluation.snapshots = 0", "line 2: The number of start snapshots per cell is 0"),
        ("episodes = []", "line 2: the list of episodes is empty; it needs one value at least."),
        ("seeds = []", "line 2: the list of seeds is empty"),
        ("seeds = 0", "line 2: seeds is 0; it must be a number of agents from 1 on, or a list of seeds."),
        ("seeds = [1, -1]", "line 2: the seed is -1; it must be 0 or more"),
        ("seeds = [1, 'a']", "line 2: seeds is 'a'; it must be a whole number."),
        ("seeds = [3, 3]", "line 2: seeds has the value 3 twice."),
        ("gamma = [0.9, 0.99, 0.90]", "line 2: gamma has the value 0.9 twice."),
        ("seeds = 9_000_000", "the sweep has 100,001 trainings; at most 100,000 are possible."),
        ("seeds = 90_000\ngamma = [0.1, 0.2]", "the sweep has 180,000 trainings"),
        ("memory = 'window'\ntau = 3", "line 3: tau is not a setting of the memory window."),
        ("memory = ['clock', 'window:2']\nn = 3\ntau = [3]", "line 4: tau is not a setting of the memory window:2."),
        ("n = 3", "line 2: n is not a setting of the memory clock."),
        ("gamma 0.9", "line 2: this is not valid TOML: expected '=' after a key in a key/value pair."),
        ("gamma = [0.9", "line 2: this is not valid TOML: unclosed array."),
        ("gamma = 0.9\ngamma = 0.8", "line 3: this is not valid TOML: cannot overwrite a value."),
        ("gamma = " + "9" * 5000, "this is not valid TOML: "),
        ("gamma = " + "[" * 5000, "this is not valid TOML: "),
        ("x." * 3000 + "x = 1", "tables are nested too deeply"),
        ("gamma = [\n" + "[1],\n" * 5000 + "]\ngama = 1", "there is no setting called gama; did"),  # too long
        ("\0", "line 2: this is not valid TOML: "),
    ],
)  # fmt: skip
def test_mistakes_are_reported_by_name_and_line(write, text, says):
    with pytest.raises(InputError) as caught:
        read_sweep(write('threshold = "sparse"\n' + text))
    assert str(caught.value).startswith(f"my.toml, {says}" if says.startswith("line") else f"my.toml: {says}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("seeds = 1", "my.toml: threshold is missing; it must be a concentration, or the name of an environment"),
        (
            "threshold = 'thick'",
            "my.toml, line 1: threshold is 'thick'; it must be one of denser, dense, sparse",
        ),
        ("threshold = [1e-6, -1]", "my.toml, line 1: The threshold is -1; it must be a positive concentration."),
        ("threshold = ['sparse', 5e-6]", "my.toml, line 1: threshold has the value 5e-6 twice."),
        ("threshold = {}", "my.toml, line 1: threshold is {}; it must be a concentration"),
    ],
)
def test_a_threshold_is_needed(write, text, says):
    with pytest.raises(InputError) as caught:
        Sweep.of(write(text))
    assert str(caught.value).startswith(says)


def test_files_that_are_none_are_refused(tmp_path, write):
    with pytest.raises(InputError, match="There is no sweep file at"):
        read_sweep(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_sweep(tmp_path)
    with pytest.raises(InputError, match=r"my\.toml is not a sweep file, .* line 2 of its text is not UTF-8\."):
        read_sweep(write(b"threshold = 1e-6\nmemory = '\xe9'"))
    (tmp_path / "long.toml").write_bytes(b"#" * 2**17)
    with pytest.raises(InputError, match="more than 65,536 bytes"):
        read_sweep(tmp_path / "long.toml")


def test_every_setting_can_be_swept():
    plain = {int: [1, 2], float: [0.25, 0.5], bool: [True, False], float | None: ["own", 1e-5], int | None: ["own", 9]}
    special = {"plume": ["builtin", "a.npz"], "memory": ["clock", "clock:9"], "tau": ["none", 3, [3, 5]]}
    special |= {"end_of_record": ["wrap", "avoid"], "threshold": ["dense", 2e-6], "n": None}
    for name, kind in known_settings().items():
        if (values := special.get(name, plain.get(kind))) is not None:
            grid = read_sweep({"threshold": "sparse"} | {name: values})
            assert len(grid.values[name]) == len(values)
            assert grid.swept == ((name,) if name != "seeds" else ())
    names = set(known_settings())
    for kind, table in ((LearningSettings, ""), (WorldSettings, ""), (EvaluationSettings, "evaluation.")):
        assert {table + name for name in kind.__dataclass_fields__} <= names
    assert read_sweep({"threshold": 1e-6, "n": [2, 3], "memory": "window"}).values["n"] == [2, 3]


@pytest.fixture
def file(plume, tmp_path):
    """A plume in a file, and one without its first snapshots."""
    write_plume(plume, tmp_path / "plume.npz")
    later = type(plume)(plume.field[50:], plume.source, "later", environments=plume.environments)
    write_plume(later, tmp_path / "later.npz")
    return tmp_path / "plume.npz"


@pytest.fixture
def small(file):
    """A sweep of two thresholds, three lengths of the clock and two seeds, in few episodes."""
    return {
        "plume": str(file), "threshold": ["dense", "sparse"], "length": [5, 20, 40], "seeds": 2,
        "episodes": 600, "horizon": 60, "evaluation": {"snapshots": 2},
    }  # fmt: skip


@pytest.fixture
def store(tmp_path):
    return JobFolder(tmp_path / "runs")


def test_a_grid_becomes_jobs(small, plume):
    sweep = Sweep.of(small)
    assert sweep.shape == {"threshold": 2, "length": 3, "seed": 2}
    learning = LearningSettings.shortened(600, horizon=60)
    expected = []
    for threshold in (3e-6, 5e-6):
        for length in (5, 20, 40):
            for seed in (0, 1):
                train = Train(plume.fingerprint, threshold, clock(length), learning, plume.settle(), seed)
                settings = EvaluationSettings(snapshots=2, horizon=60)
                expected.append(Evaluate(train, plume.fingerprint, threshold, plume.settle(), settings))
    assert sweep.tests == expected
    assert [test.key for test in sweep.tests] == [test.key for test in expected]


def test_settings_reach_the_jobs(small):
    changes = {
        "threshold": 4e-6, "length": 30, "memory": ["clock", "window:3"], "seeds": [7], "alpha_decay": 10.0,
        "start_on_whiff": True, "start_threshold": "own", "evaluation": {"gamma": 0.9, "horizon": 80},
    }  # fmt: skip
    first, second = Sweep.of(small | changes).tests
    train = training(first)
    assert train.learning == LearningSettings.shortened(600, horizon=60, alpha_decay=10.0)
    assert train.learning.epsilon_decay == pytest.approx(500)  # 5/6 of the episodes
    assert train.world == first.world == WorldSettings(start_on_whiff=True, start_threshold=None)
    assert (train.memory, training(second).memory) == (clock(30), window(3, length=30))
    assert (train.seed, train.threshold, first.threshold) == (7, 4e-6, 4e-6)
    assert first.settings == EvaluationSettings(gamma=0.9, horizon=80)
    taus = [training(test).memory.spec["taus"] for test in Sweep.of(small | {"tau": ["none", 3, [2, 4]]}).tests[:6:2]]
    assert taus == [[], [3], [2, 4]]


def test_without_lists_there_is_one_agent(small):
    sweep = Sweep.of(small | {"threshold": "dense", "length": 9, "seeds": 1})
    assert sweep.shape == {"seed": 1}
    (test,) = Sweep.of(small | {"threshold": "dense", "seeds": 1, "length": [60]}).tests
    assert test == Sweep.of({k: v for k, v in small.items() if k != "length"} | {"threshold": "dense"}).tests[0]


def test_a_sweep_in_a_notebook_may_have_arrays(small):
    changes = {"gamma": np.array([0.5, 0.75]), "seeds": range(3), "length": (5, np.int64(9)), "q_start": np.float64(0)}
    assert Sweep.of(small | changes).shape == {"threshold": 2, "length": 2, "gamma": 2, "seed": 3}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tau = [3, 60]\nlength = [50]", "my.toml: tau 60 (line 5) and length 50 (line 6): The blank thresholds tau"),
        ("\ntau = 80", "my.toml: tau 80 (line 6): The blank thresholds tau are [80]"),
        ("evaluation.snapshots = 1000", "my.toml: evaluation.snapshots 1000 (line 5): 1000 start snapshots"),
        ("radius = [2, 1e3]", "my.toml: threshold 5e-6 (line 2) and radius 1000 (line 5): No cell outside"),
        ("threshold2 = 3", "my.toml, line 5: there is no setting called threshold2; did you mean threshold?"),
        ("memory = ['window:3', 'window:4']\nn = 3\nlength=9", None),
        ("memory = ['window', 'window:4']\nlength=9", "These points of the sweep are the same: memory window; memory"),
    ],
)  # fmt: skip
def test_points_that_cannot_run_are_named(write, file, text, says):
    text = f"plume = '{file.name}'\nthreshold = 'sparse'\nhorizon = 60\nepisodes = 100\n{text}"
    if says is None:
        assert len(Sweep.of(write(text)).tests) == 2
        return
    with pytest.raises(InputError) as caught:
        Sweep.of(write(text))
    assert str(caught.value).startswith(says)


def test_plumes_are_beside_the_file(write, file, monkeypatch):
    monkeypatch.chdir("/")
    path = write("plume = ['plume.npz', 'later.npz']\nthreshold = 'dense'\nhorizon = 60\nepisodes = 100")
    assert Sweep.of(path).shape == {"plume": 2, "seed": 1}
    path = write("threshold = 'dense'\nplume = ['plume.npz', 'gone.npz']")
    with pytest.raises(InputError, match=r"my\.toml, line 2: There is no plume file at .*gone\.npz"):
        Sweep.of(path)


def test_the_dataset_is_labelled_by_the_swept_settings(small, store, plume, tmp_path):
    sweep = Sweep.of(small)
    data = sweep.run(store, threads(2))
    assert dict(data.sizes) == {"threshold": 2, "length": 3, "seed": 2}
    assert list(data.data_vars) == ["G", "T_min_over_T", "f+", "G_sum"]
    assert [data[name].attrs["metric"] for name in data.data_vars] == list(METRICS)
    for test in sweep.tests:
        train = training(test)
        here = {"threshold": test.threshold, "length": train.memory.settings["length"], "seed": train.seed}
        result = run(test, plume, store)
        for name in data.data_vars:
            assert data[name].sel(here) == result.mean(data[name].attrs["metric"])
    write_dataset(tmp_path / "sweep.nc", data)
    with xr.open_dataset(tmp_path / "sweep.nc", engine="h5netcdf") as again:
        assert ends_with_digest(tmp_path / "sweep.nc")
        assert again.identical(data)


def test_attributes_say_all_that_is_fixed(small, store, plume):
    data = Sweep.of(small | {"length": 9, "threshold": "dense", "episodes": [100, 200]}).run(store)
    fixed, plumes = json.loads(data.attrs["fixed"]), json.loads(data.attrs["plumes"])
    assert fixed.items() >= {"threshold": 3e-6, "length": 9, "horizon": 60, "gamma": 0.998, "radius": 2.0}.items()
    assert fixed["evaluation.horizon"] == 60
    assert not {"episodes", "alpha_decay", "epsilon_decay"} & set(fixed)  # these differ
    ((name, about),) = plumes.items()
    assert about.items() >= {"fingerprint": plume.fingerprint, "environments": dict(PAPER)}.items()
    assert about.keys() == {"fingerprint", "origin", "environments"}
    assert name == small["plume"]
    assert json.loads(data.attrs["sweep"])["episodes"] == [100, 200]
    assert data.attrs["version"]
    assert data["episodes"].attrs == {"setting": "episodes", "long_name": "Training episodes"}


def test_the_order_of_settings_changes_nothing(small, store):
    data = Sweep.of(small).run(store)
    turned = Sweep.of(small | {"threshold": ["sparse", "dense"], "length": [40, 5, 20], "seeds": [1, 0]})
    assert turned.work(store) == 0
    assert turned.dataset(store).sortby(["threshold", "length", "seed"]).equals(data)
    swapped = {name: small[name] for name in ("length", "threshold")} | small
    other = Sweep.of(swapped).dataset(store)
    assert other["G"].dims == ("length", "threshold", "seed")
    assert other.transpose(*data["G"].dims).equals(data)


def test_labels_that_are_not_numbers_are_texts(small, store):
    base = small | {"threshold": "dense", "length": 30, "seeds": 1, "episodes": 50}
    data = Sweep.of(base | {"tau": ["none", 3, [3, 9]], "start_on_whiff": [False, True]}).run(store)
    assert data["tau"].values.tolist() == ["none", "3", "3,9"]
    assert data["start_on_whiff"].dtype == bool
    assert data["G"].sel(tau="3", start_on_whiff=True).sizes == {"seed": 1}
    mixed = Sweep.of(base | {"start_threshold": ["own", 7e-6], "evaluation": {"snapshots": 1, "horizon": ["own", 9]}})
    data = mixed.run(store)
    assert data["start_threshold"].values.tolist() == ["own", "7e-6"]
    assert data["G"].dims == ("evaluation_horizon", "start_threshold", "seed")


class Interrupted(Exception):  # noqa: N818
    pass


def test_an_interrupted_sweep_continues(small, store, tmp_path):
    whole = Sweep.of(small).run(JobFolder(tmp_path / "whole"))
    done = 0

    def stop(amount):
        nonlocal done
        done += amount
        if done > 3000:
            raise Interrupted

    sweep = Sweep.of(small)
    total = sweep.work(store)
    with pytest.raises(Interrupted):
        sweep.run(store, threads(1), stop)
    left = sweep.work(store)
    assert 0 < left < total
    worked = []
    assert sweep.run(store, threads(1), worked.append).identical(whole)
    assert sum(worked) == left
    files = [sorted(path.relative_to(folder) for path in folder.rglob("*.npz"))
             for folder in (store.store.folder, tmp_path / "whole")]  # fmt: skip
    assert files[0] == files[1]
    assert all((tmp_path / "whole" / f).read_bytes() == (store.store.folder / f).read_bytes() for f in files[0])


def test_two_sweeps_share_a_store(small, store):
    Sweep.of(small).run(store)
    wider = Sweep.of(small | {"length": [5, 12, 20, 40], "seeds": 3})
    missing = [test for test in wider.tests if not store.has(test)]
    assert {(training(t).memory.settings["length"], training(t).seed) for t in missing} == {
        (12, 0), (12, 1), (12, 2), (5, 2), (20, 2), (40, 2),
    }  # fmt: skip
    other = Sweep.of(small | {"evaluation": {"snapshots": 3}})  # the same agents, other tests
    assert not any(store.has(test) for test in other.tests)
    assert all(store.has(training(test)) for test in other.tests)


def test_plumes_can_be_swept(small, store, file):
    changes = {"plume": [str(file), str(file.with_name("later.npz"))], "length": 9, "seeds": 1, "threshold": "dense"}
    sweep = Sweep.of(small | changes)
    worked = []
    data = sweep.run(store, threads(2), worked.append)
    assert sum(worked) > 0
    assert data["plume"].values.tolist() == changes["plume"]
    for name, plume in sweep.plumes.items():
        (test,) = (test for test in sweep.tests if test.plume == plume.fingerprint)
        assert data["G"].sel(plume=name, seed=0) == run(test, plume, store).mean("G")


def test_an_estimate_is_of_what_is_missing_and_stores_nothing(small, store):
    sweep = Sweep.of(small)
    before = estimate(sweep, store)
    assert before > 0
    assert not store.store.folder.exists()
    longer = Sweep.of(small | {"episodes": 600_000})
    assert estimate(longer, store) > 20 * before
    sweep.run(store)
    assert estimate(sweep, store) == 0


def test_environments_are_their_thresholds(small):
    grid = Sweep.of(small | {"threshold": list(PAPER)}).grid
    assert grid.values["threshold"] == list(PAPER.values())
    assert Path(grid.values["plume"][0]).exists()
