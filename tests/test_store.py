"""The run store: finished work is cached, and nothing else is taken for it."""

import json
import os
import time
from dataclasses import replace

import numpy as np
import pytest
from command import whiffclock
from hypothesis import given
from hypothesis import strategies as st

from whiffclock import __version__
from whiffclock.archive import write_npz
from whiffclock.cli.runs import headline
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.params import InputError, LearningSettings
from whiffclock.plume import Plume
from whiffclock.plume.reading.files import write_plume
from whiffclock.policy import TablePolicy
from whiffclock.runs.jobs import JobFolder, execute, threads
from whiffclock.runs.jobs import run as result_of
from whiffclock.runs.kinds import Train
from whiffclock.runs.store import FORMAT, Label, Store, plain, read_record
from whiffclock.runs.training import PolicyFolder

DESCRIPTION = {"plume": "ab12", "threshold": 3e-6, "seed": 4, "clock": {"horizon": 60, "taus": (5,)}}
POLICY = "policy"
ARRAYS = {"b": np.arange(6.0).reshape(2, 3), "a": np.array([True, False])}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_record_survives_the_store(store):
    assert not store.has("thing", DESCRIPTION)
    path = store.save("thing", DESCRIPTION, ARRAYS)
    assert files(store.folder) == [f"thing/{path.stem}.npz"]
    assert store.has("thing", DESCRIPTION)
    back = store.load("thing", DESCRIPTION)
    assert back.label == Label("thing", DESCRIPTION, FORMAT, __version__)
    assert back.label.description == DESCRIPTION | {"clock": {"horizon": 60, "taus": [5]}}
    assert sorted(back.arrays) == ["a", "b"]
    for name, values in ARRAYS.items():
        assert back.arrays[name].dtype == values.dtype
        assert np.array_equal(back.arrays[name], values)


def test_a_key_is_for_ever():
    # Worked out with sha256sum from {"description":{"seed":1},"format":1,"kind":"thing"}.
    assert Label("thing", {"seed": 1}, 1).key == "c23a0fb7ba1eb6dd0390"


def test_everything_that_determines_a_result_is_in_its_key():
    key = Label("thing", DESCRIPTION).key
    others = [
        Label("other", DESCRIPTION),
        Label("thing", DESCRIPTION, FORMAT + 1),
        Label("thing", DESCRIPTION | {"seed": 5}),
        Label("thing", DESCRIPTION | {"seed": "4"}),
        Label("thing", DESCRIPTION | {"extra": None}),
        Label("thing", DESCRIPTION | {"clock": {"horizon": 60, "taus": (6,)}}),
        Label("thing", {name: DESCRIPTION[name] for name in ("plume", "threshold", "seed")}),
    ]
    assert len({key, *(other.key for other in others)}) == len(others) + 1
    assert Label("thing", DESCRIPTION, version="0.0").key == key


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=3), values, max_size=4))
def test_labels_survive_json_and_order_does_not_matter(description):
    label = Label("thing", description)
    assert Label.from_text(label.to_text()) == label
    assert Label("thing", dict(reversed(description.items()))).key == label.key
    assert plain(label.description) == label.description


def test_a_number_is_a_number_however_it_is_written():
    key = Label("thing", {"radius": 2, "seed": 7, "off": 0}).key
    assert Label("thing", {"radius": 2.0, "seed": np.int64(7), "off": -0.0}).key == key
    assert Label("thing", {"radius": np.float32(2), "seed": 7.0, "off": 0}).key == key
    assert Label("thing", {"radius": 2, "seed": 7, "off": False}).key != key


@pytest.mark.parametrize(
    ("description", "says"),
    [({"x": float("nan")}, "finite"), ({"x": np.ones(2)}, "ndarray"), ({"x": {1: 2}}, "not a string")],
)
def test_descriptions_are_plain(store, description, says):
    with pytest.raises(InputError, match=says):
        store.save("thing", description, ARRAYS)


@pytest.mark.parametrize("kind", ["", "../thing", "a/b", "Thing", ".thing", "thing\n"])
def test_kinds_are_words(store, kind):
    with pytest.raises(InputError, match="small letters"):
        store.save(kind, {}, ARRAYS)


@pytest.mark.parametrize("name", ["file", "allow_pickle", "self", "a/b"])
def test_arrays_may_have_any_other_name(store, name):
    store.save("thing", {}, {name: np.ones(2)})
    assert store.load("thing", {}).arrays.keys() == {name}


@pytest.mark.parametrize("name", ["label", "digest"])
def test_arrays_that_could_not_be_kept_are_refused(store, name):
    with pytest.raises(InputError, match=f"called {name}"):
        store.save("thing", {}, {name: np.ones(2)})
    with pytest.raises(InputError, match="holds Python objects"):
        store.save("thing", {}, {"a": np.array([{}])})
    assert not store.folder.exists()


def test_the_same_content_makes_the_same_bytes(store, tmp_path, monkeypatch):
    first = store.save("thing", DESCRIPTION, ARRAYS).read_bytes()
    monkeypatch.setattr(time, "time", lambda: 2e9)
    reordered = {"a": ARRAYS["a"], "b": np.asfortranarray(ARRAYS["b"])}
    assert Store(tmp_path / "other").save("thing", DESCRIPTION, reordered).read_bytes() == first
    assert store.save("thing", DESCRIPTION, ARRAYS).read_bytes() == first


def job_on(plume, seed=0):
    return Train(plume.fingerprint, 3e-6, clock(60), LearningSettings.shortened(50, horizon=60), plume.settle(), seed)


def test_what_is_kept_is_not_made_again(store, plume, monkeypatch):
    first = result_of(job_on(plume), plume, JobFolder(store.folder))
    monkeypatch.setattr("whiffclock.runs.kinds.train", lambda *_: pytest.fail("made again"))
    second = result_of(job_on(plume), plume, JobFolder(store.folder))
    assert np.array_equal(first.q, second.q)


def test_a_damaged_record_is_told_never_made_again(store):
    path = store.save("thing", DESCRIPTION, {"noise": np.random.default_rng(0).random(500)})
    whole = path.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for broken in (b"", whole[:10], whole[:middle], flipped):
        path.write_bytes(broken)
        assert store.has("thing", DESCRIPTION)
        with pytest.raises(InputError, match=rf"{path.name}.* delete it"):
            store.load("thing", DESCRIPTION)
        (entry,) = store.entries()
        assert entry.damaged
        assert path.read_bytes() == broken


@pytest.mark.parametrize(
    "label",
    [
        "not json",
        "[]",
        "{}",
        '{"kind": 3, "description": {}, "format": 1}\n{"version": "1"}',
        '{"kind": "thing", "description": {}, "format": 1}',
    ],
)
def test_damaged_labels_are_told(store, label):
    path = store.path("thing", DESCRIPTION)
    write_npz(path, {"label": np.array(label)})
    with pytest.raises(InputError, match="damaged record"):
        store.load("thing", DESCRIPTION)
    write_npz(path, ARRAYS)
    with pytest.raises(InputError, match="no label"):
        store.load("thing", DESCRIPTION)
    assert [entry.label for entry in store.entries()] == [None]


def test_a_record_in_the_wrong_place_is_refused(store):
    path = store.save("thing", DESCRIPTION, ARRAYS)
    elsewhere = store.path("thing", {"seed": 5})
    path.rename(elsewhere)
    with pytest.raises(InputError, match=f"thing/{path.stem}"):
        store.load("thing", {"seed": 5})
    with pytest.raises(InputError, match=f"thing/{path.stem}"):
        store.save("thing", {"seed": 5}, ARRAYS)


def test_two_descriptions_of_one_key_are_not_confused(store, monkeypatch):
    monkeypatch.setattr(Label, "key", "0" * 20)
    store.save("thing", {"seed": 1}, ARRAYS)
    for call in (lambda: store.load("thing", {"seed": 2}), lambda: store.save("thing", {"seed": 2}, {})):
        with pytest.raises(InputError, match="another description"):
            call()
    assert sorted(store.load("thing", {"seed": 1}).arrays) == ["a", "b"]


def test_what_is_not_there_is_told(store):
    with pytest.raises(InputError, match="no thing of this description"):
        store.load("thing", DESCRIPTION)
    with pytest.raises(InputError, match="no folder of cached results"):
        store.entries()


def test_a_place_where_no_record_can_be_written_is_refused_before_the_work(store):
    store.path(POLICY, DESCRIPTION).mkdir(parents=True)
    with pytest.raises(InputError, match="cannot be written: it exists and is not a regular file"):
        store.has(POLICY, DESCRIPTION)


def test_a_damaged_result_is_not_computed_again(store, plume, monkeypatch):
    result_of(job_on(plume), plume, JobFolder(store.folder))
    (entry,) = store.entries()
    entry.path.write_bytes(entry.path.read_bytes()[:-40])
    monkeypatch.setattr("whiffclock.runs.kinds.train", lambda *_: pytest.fail("made again"))
    with pytest.raises(InputError, match="delete it"):
        result_of(job_on(plume), plume, JobFolder(store.folder))


def jobs_on(plume):
    learning, memories = LearningSettings.shortened(200, horizon=60), (clock(60), clock(60, (4,)))
    return [Train(plume.fingerprint, 3e-6, memory, learning, plume.settle(), s) for memory in memories for s in (0, 1)]


def train_into(store, jobs, plume, workers=1, progress=None):
    """Train what is not in the store; how many that were."""
    return len(execute(jobs, plume, JobFolder(store.folder), threads(workers), progress))


def test_policies_in_the_store_are_policies_in_a_folder(plume, store, tmp_path):
    jobs = jobs_on(plume)
    assert train_into(store, jobs, plume) == 4
    folder = PolicyFolder(tmp_path / "folder", jobs)
    execute(jobs, plume, folder)
    for job in jobs:
        policy = TablePolicy.load(folder.paths[job.key])
        file = TablePolicy.load(store.path(POLICY, job.description))
        assert file.name == job.agent
        assert file.memory == job.memory
        assert file.made_from == json.loads(json.dumps(policy.made_from))
        assert np.array_equal(file.q, policy.q)
        assert sorted(file.records) == sorted(policy.records)


def test_a_folder_takes_policies_from_a_store_that_has_them(plume, store, tmp_path, monkeypatch):
    jobs = jobs_on(plume)
    assert train_into(store, jobs, plume) == 4
    monkeypatch.setattr("whiffclock.runs.kinds.train", lambda *_: pytest.fail("trained again"))
    folder = PolicyFolder(tmp_path / "folder", jobs, store.folder)
    assert execute(jobs, plume, folder) == []
    for job in jobs:
        assert np.array_equal(
            TablePolicy.load(folder.paths[job.key]).q, result_of(job, plume, JobFolder(store.folder)).q
        )


def test_an_interrupted_training_goes_on_and_a_finished_one_computes_nothing(plume, store, monkeypatch):
    jobs = jobs_on(plume)
    assert train_into(store, jobs[:2], plume) == 2
    heard = []
    assert train_into(store, jobs, plume, 2, heard.append) == 2
    assert sum(heard) == 400
    bits = [store.path(POLICY, job.description).read_bytes() for job in jobs]
    monkeypatch.setattr("whiffclock.runs.kinds.train", lambda *_: pytest.fail("trained again"))
    assert train_into(store, jobs, plume) == 0
    assert [store.path(POLICY, job.description).read_bytes() for job in jobs] == bits


def test_a_policy_is_kept_by_its_odor_not_by_its_plumes_name(plume, store):
    job = jobs_on(plume)[0]
    assert train_into(store, [job], plume) == 1
    renamed = Plume(plume.field, plume.source, "by another name")
    again = replace(job, plume=renamed.fingerprint)
    assert train_into(store, [again], renamed) == 0
    assert job.description["plume"] == plume.fingerprint
    moved = Plume(plume.field, (0, 12))
    assert not store.has(POLICY, replace(job, plume=moved.fingerprint).description)
    with pytest.raises(InputError, match="cannot run on the plume"):
        result_of(job, moved)


# The command line


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"threshold": 7e-6, "agent": "single-Q", "memory": {"taus": []}, "seed": 4}, "sparser single-Q seed 4"),
        (
            {"threshold": 3e-6, "agent": "two-Q", "memory": {"taus": [2]}, "learning": {"episodes": 60_000}, "seed": 0},
            "dense two-Q tau 2 seed 0 60,000 episodes",
        ),
        (
            {"threshold": 1e-6, "agent": "single-Q", "seed": 1}
            | {"world": {"start_on_whiff": True, "start_threshold": None}},
            "denser single-Q seed 1 (starts on a whiff) (own start threshold)",
        ),
        (
            {"threshold": 5e-6, "policy": {"agent": "2Q^h", "tau": 10, "dense": {"seed": 3}, "sparse": {"seed": 3}}},
            "2Q^h tau 10 seed 3, in sparse",
        ),
        (
            {"threshold": 5e-6}
            | {"policy": {"agent": "x", "mode": 1, "policy": {"threshold": 3e-6, "agent": "two-Q", "seed": 6}}},
            "Q+ of dense two-Q seed 6, in sparse",
        ),
        (
            {"threshold": 1e-6, "policy": {"agent": "cast-and-surge", "angle": 45.0, "length": 500}},
            "cast-and-surge 45 degrees, in denser",
        ),
        (
            {"threshold": 1e-6, "agent": "Bayesian", "solver": {"backups": 20_000, "seed": 0}},
            "denser Bayesian 20,000 backups",
        ),
        ({"plume": "ab12", "profile": {"name": "unknown"}, "revision": 1}, "plume ab12, revision 1"),
    ],
)
def test_records_are_told_apart_in_a_few_words(description, words):
    assert headline(description) == words


def run(*words, answer=""):
    return whiffclock("runs", *words, answer=answer)


@pytest.fixture
def shelf(store, plume):
    """A store with a policy, two other records, one of an older format, and a leftover."""
    train_into(store, [jobs_on(plume)[2]], plume)
    for seed in (1, 2):
        store.save("thing", {"seed": seed, "threshold": 7e-6, "note": "[red]"}, ARRAYS)
    old = Label("thing", DESCRIPTION, FORMAT - 1)
    write_npz(store.folder / "thing" / f"{old.key}.npz", {"label": np.array(old.to_text())})
    left = store.folder / "thing" / f".{old.key}.npz.q1w2e3"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    (store.folder / "thing" / f".{old.key}.npz.young").write_bytes(b"still being written")
    (store.folder / "thing" / "mine.npz").write_bytes(b"not of the store")
    return store


def test_runs_are_listed_in_a_table_and_in_json(shelf):
    table = run("list", "--all", "--store", shelf.folder)
    assert table.returncode == 0, table.stderr
    assert "dense two-Q tau 4 seed 0" in table.stdout
    assert "sparser seed 1" in table.stdout
    assert "mine" not in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 80
    listed = json.loads(run("list", "--store", shelf.folder, "--json").stdout)
    assert [item["kind"] for item in listed] == [POLICY, "thing", "thing", "thing"]
    assert listed[0]["description"]["learning"]["episodes"] == 200
    things = json.loads(run("list", "thing", "--store", shelf.folder, "--json").stdout)
    assert things[0].keys() == listed[1].keys()
    assert len(things) == 3


def test_runs_are_counted_by_kind_and_environment(shelf):
    shelf.save("thing", {"at": [1e-6, 3e-6]}, ARRAYS)
    shelf.save("thing", {"at": [4e-6]}, ARRAYS)
    shelf.save("thing", {"note": "no environment"}, ARRAYS)
    table = run("list", "--store", shelf.folder)
    assert table.returncode == 0, table.stderr
    counts = [line.split()[:3] for line in table.stdout.splitlines() if line[:1] == " " and "--" not in line]
    assert counts[0] == ["kind", "environment", "results"]
    assert counts[1] == [POLICY, "dense", "1"]
    places = [row[:2] for row in counts[3:-1]]
    assert counts[2] == ["thing", "dense", "1"]
    assert places == [["sparser", "2"], ["-", "1"], ["4e-6", "1"], ["several", "1"]]
    assert counts[-1][:2] == ["all", "7"]
    only = run("list", "thing", "--store", shelf.folder).stdout
    assert POLICY not in only
    assert only.splitlines()[-1].split()[:2] == ["all", "6"]


def test_a_run_is_shown_by_the_first_digits_of_its_key(shelf):
    entry = next(e for e in shelf.entries(POLICY))
    shown = run("show", entry.key[:8], "--store", shelf.folder)
    assert shown.returncode == 0, shown.stderr
    assert "two-Q" in shown.stdout
    told = json.loads(run("show", entry.key, "--store", shelf.folder, "--json").stdout)
    assert told["description"] == entry.label.description
    assert told["arrays"]["q"] == "float64[119, 4]"
    assert told["version"] == __version__
    thing = shelf.path("thing", {"seed": 1, "threshold": 7e-6, "note": "[red]"})
    assert "[red]" in run("show", thing.stem, "--store", shelf.folder).stdout


def test_prune_says_what_it_would_remove_and_asks(shelf):
    before = files(shelf.folder)
    dry = run("prune", "--store", shelf.folder, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "interrupted" in dry.stdout
    assert f"format {FORMAT - 1}" in dry.stdout
    assert max(map(len, dry.stdout.splitlines())) <= 80
    declined = run("prune", "--store", shelf.folder, answer="n\n")
    assert declined.returncode == 1
    assert "Remove 2 files" in declined.stderr
    assert files(shelf.folder) == before
    assert run("prune", "--store", shelf.folder, answer="y\n").returncode == 0
    gone = set(before) - set(files(shelf.folder))
    assert len(gone) == 2
    assert any("q1w2e3" in name for name in gone)
    assert "nothing to remove" in run("prune", "--store", shelf.folder).stderr


def test_prune_removes_kinds_and_what_is_damaged(shelf):
    path = shelf.path("thing", {"seed": 1, "threshold": 7e-6, "note": "[red]"})
    path.write_bytes(path.read_bytes()[:-40])
    assert "damaged" in run("list", "--store", shelf.folder).stdout
    done = run("prune", "--store", shelf.folder, "--kind", POLICY, "--yes")
    assert done.returncode == 0, done.stderr
    assert "4 files removed" in done.stdout
    kept = shelf.path("thing", {"seed": 2, "threshold": 7e-6, "note": "[red]"})
    assert [entry.path for entry in shelf.entries()] == [kept]
    assert read_record(kept).arrays.keys() == ARRAYS.keys()
    assert not (shelf.folder / POLICY).exists()
    assert (shelf.folder / "thing" / "mine.npz").exists()
    assert len(files(shelf.folder)) == 3


def test_bad_input_gets_one_sentence(shelf, tmp_path):
    broken = shelf.path("thing", {"seed": 1, "threshold": 7e-6, "note": "[red]"})
    broken.write_bytes(broken.read_bytes()[:-40])
    before = files(shelf.folder)
    for words, says in [
        (["list", "--store", tmp_path / "nowhere"], "no folder of cached results"),
        (["list", "thingy", "--store", shelf.folder], "there are: policy, thing"),
        (["show", "xyz", "--store", shelf.folder], "begins with 'xyz'"),
        (["show", "", "--store", shelf.folder], "give more digits"),
        (["show", broken.stem, "--store", shelf.folder], "delete it"),
        (["prune", "--store", shelf.folder, "--kind", "../thing", "--yes"], "no results of kind ../thing"),
    ]:
        done = run(*words)
        assert done.returncode == 2, (words, done.stderr)
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert files(shelf.folder) == before


def test_a_policy_in_the_store_can_be_evaluated(shelf, plume, tmp_path):
    write_plume(plume, tmp_path / "plume.npz")
    done = whiffclock("evaluate", shelf.folder / POLICY, "--plume", tmp_path / "plume.npz", "--json")
    assert done.returncode == 0, done.stderr
    (seen,) = json.loads(done.stdout)
    assert seen["f+"]["mean"] == evaluate(result_of(jobs_on(plume)[2], plume), plume, 3e-6).mean("f+")


def test_force_replaces_only_what_is_other(plume, tmp_path):
    jobs = jobs_on(plume)
    execute(jobs, plume, PolicyFolder(tmp_path, jobs))
    paths = PolicyFolder(tmp_path, jobs).paths
    paths[jobs[0].key].write_bytes(b"damaged")
    TablePolicy.load(paths[jobs[2].key]).save(paths[jobs[1].key])
    with pytest.raises(InputError, match="damaged"):
        PolicyFolder(tmp_path, jobs)
    with pytest.raises(InputError, match="--force to replace it"):
        PolicyFolder(tmp_path, jobs[1:])
    assert execute(jobs, plume, PolicyFolder(tmp_path, jobs, force=True)) == jobs[:2]
    assert PolicyFolder(tmp_path, jobs).done == {job.key for job in jobs}


def test_a_damaged_policy_of_the_store_is_found_before_it_is_copied(plume, tmp_path):
    job = jobs_on(plume)[0]
    store = JobFolder(tmp_path / "store")
    arrays = job.pack(result_of(job, plume))
    store.save(job, arrays | {"record_clock": arrays["record_clock"] - 10**9})
    folder = PolicyFolder(tmp_path / "policies", [job], tmp_path / "store")
    with pytest.raises(InputError, match=r"store.*its clock record is wrong"):
        execute([job], plume, folder)
    assert not folder.paths[job.key].exists()


def test_policies_that_would_share_a_file_are_refused(plume, tmp_path):
    job = jobs_on(plume)[0]
    with pytest.raises(InputError, match="same file name"):
        PolicyFolder(tmp_path, [replace(job, threshold=2.00000001e-6), replace(job, threshold=2.00000002e-6)])
