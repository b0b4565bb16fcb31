"""Policy files: whole, small, honest about their origin, and never foreign."""

import io
import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from trainings import clock_task

from whiffclock import __version__
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.qlearning import train
from whiffclock.archive import write_npz
from whiffclock.evaluation import own_horizon, require_fit
from whiffclock.memory import clock
from whiffclock.params import InputError, LearningSettings, WorldSettings
from whiffclock.policy import TablePolicy


@pytest.fixture(scope="module")
def policy(plume):
    return train(clock_task(plume, 3e-6, clock(100, (5,)), LearningSettings.shortened(200), seed=4))


def test_a_policy_survives_its_file(policy, plume, tmp_path):
    path = tmp_path / "deep" / "policy.npz"
    policy.save(path)
    back = TablePolicy.load(path)
    assert back.name == "two-Q"
    assert back.memory == policy.memory
    assert np.array_equal(back.actions, policy.actions)
    assert np.array_equal(back.q, policy.q)
    assert back.made_from == json.loads(json.dumps(policy.made_from))
    assert back.made_from["plume"] == plume.fingerprint
    assert back.made_from["seed"] == 4
    assert back.made_from["version"] == __version__
    assert back.made_from["learning"]["episodes"] == 200
    for key, value in policy.records.items():
        assert np.array_equal(back.records[key], value)
    assert path.stat().st_size < 40_000


def test_the_same_policy_makes_the_same_bytes(policy, tmp_path):
    policy.save(tmp_path / "a.npz")
    policy.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "b.npz"]


def test_damaged_files_are_refused(policy, tmp_path):
    path = tmp_path / "policy.npz"
    policy.save(path)
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError, match=r"policy\.npz"):
            TablePolicy.load(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    with pytest.raises(InputError, match=r"policy\.npz"):
        TablePolicy.load(path)


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "foreign.npz"
    np.savez(path, field=np.ones(3))
    with pytest.raises(InputError, match="not a whiffclock policy"):
        TablePolicy.load(path)
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(InputError, match="not a whiffclock policy"):
        TablePolicy.load(tmp_path / "array.npy")
    np.savez(path, header=np.array(json.dumps({"format": "whiffclock policy 99"})))
    with pytest.raises(InputError, match="this version"):
        TablePolicy.load(path)
    with pytest.raises(InputError, match="no file"):
        TablePolicy.load(tmp_path / "nowhere.npz")


def test_pickles_are_never_opened(tmp_path):
    path = tmp_path / "evil.npz"
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array({"a": 1}, dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", buffer.getvalue())
    with pytest.raises(InputError, match="not a whiffclock policy"):
        TablePolicy.load(path)
    path.write_bytes(pickle.dumps({"actions": [0]}))
    with pytest.raises(InputError, match="not a whiffclock policy"):
        TablePolicy.load(path)


def test_impossible_contents_are_refused(policy, tmp_path):
    path = tmp_path / "policy.npz"
    policy.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["actions"] = arrays["actions"][:-1]
    write_npz(path, arrays)
    with pytest.raises(InputError, match="damaged"):
        TablePolicy.load(path)
    arrays["actions"] = np.full(policy.memory.rows, 7, np.int8)
    write_npz(path, arrays)
    with pytest.raises(InputError, match="damaged"):
        TablePolicy.load(path)


@pytest.fixture
def change(policy, tmp_path):
    """Write the policy with a changed header and other arrays; give the one sentence with which it is refused."""

    def changed(header=lambda header: None, **arrays):
        values = policy.to_arrays()
        content = json.loads(str(values["header"]))
        header(content)
        path = tmp_path / "policy.npz"
        write_npz(path, (values | {"header": np.array(json.dumps(content))} | arrays))
        with pytest.raises(InputError) as caught:
            TablePolicy.load(path)
        sentence = str(caught.value)
        assert sentence.startswith(f"{path} is a damaged whiffclock policy (")
        assert sentence.endswith(").")
        assert "\n" not in sentence
        return sentence

    return changed


@pytest.mark.parametrize(
    ("where", "value", "word"),
    [
        (("memory", "length"), 100.0, "length"),
        (("memory", "length"), "100", "length"),
        (("memory", "taus"), [5.0], "taus"),
        (("memory", "hand"), 1, "hand"),
        (("memory", "maker"), "hand", "hand"),
        (("memory", "maker"), None, "table"),
        (("memory", "maker"), ["clock"], "clock"),
        (("memory",), None, "memory"),
        (("made_from", "learning"), {"horizon": 50.0}, "learning.horizon"),
        (("name",), None, "name"),
        (("name",), "", "name"),
        (("made_from",), None, "made_from"),
        (("made_from",), [], "made_from"),
        (("made_from", "world"), [], "world"),
        (("made_from", "world", "radius"), "2", "world.radius"),
        (("made_from", "threshold"), "dense", "threshold"),
        (("made_from", "threshold"), 0, "threshold"),
        (("made_from", "threshold"), float("nan"), "JSON"),
        (("made_from", "seed"), 1.5, "seed"),
        (("made_from", "plume"), 3, "plume"),
        (("made_from", "dense"), {"world": 3}, "dense.world"),
    ],
)
def test_headers_are_typed(change, where, value, word):
    def header(content):
        for name in where[:-1]:
            content = content[name]
        content[where[-1]] = value

    assert word in change(header)


def test_a_header_needs_all_its_parts(change):
    for name in ("name", "memory", "made_from"):
        assert name in change(lambda header, name=name: header.pop(name))


def test_actions_are_whole_numbers_and_values_are_finite(change, policy):
    assert "actions" in change(actions=policy.actions + 0.5)
    assert "actions" in change(actions=policy.actions.astype(float))
    for value in (np.nan, np.inf):
        q = policy.q.copy()
        q[3, 2] = value
        assert "finite" in change(q=q)
    assert "finite" in change(q=policy.q.astype(str))


def test_an_empty_world_has_the_defaults(policy, plume, tmp_path):
    bare = replace(policy, made_from=policy.made_from | {"world": {}})
    bare.save(tmp_path / "policy.npz")
    require_fit(TablePolicy.load(tmp_path / "policy.npz"), WorldSettings())
    with pytest.raises(InputError, match="radius of 2, but the world has 3"):
        require_fit(bare, WorldSettings(3.0))


def test_a_policy_of_the_first_format_searches_as_long_as_its_clock(tmp_path):
    made = cast_and_surge(45, 60)
    header = {"format": "whiffclock policy 1", "version": "0.1", "name": made.name, "made_from": made.made_from}
    header["clock"] = {"horizon": 60, "taus": [], "split_zero": False, "literal_tau": False}
    np.savez(tmp_path / "policy.npz", header=np.array(json.dumps(header)), actions=made.actions)
    back = TablePolicy.load(tmp_path / "policy.npz")
    assert back.memory == clock(60)
    assert own_horizon(back) == 60


def test_clock_records_are_whole_numbers(change, policy):
    for name in ("record_clock", "record_void"):
        assert "clock record" in change(**{name: policy.records["clock"].astype(str)})
        assert "clock record" in change(**{name: policy.records["clock"][:, :5]})


def test_clock_records_have_another_name_in_older_files(policy, tmp_path):
    arrays = policy.to_arrays()
    arrays["record_void"] = arrays.pop("record_clock")
    write_npz(tmp_path / "old.npz", arrays)
    back = TablePolicy.load(tmp_path / "old.npz")
    assert back.records.keys() == policy.records.keys()
    assert back.clock_record(0) == policy.clock_record(0)
