"""``whiffclock plume export`` and the parts of a record, as a user meets them."""

import json

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.params import InputError
from whiffclock.plume.reading.files import read_plume, write_plume

COMMAND = CliRunner()


def run(*words):
    done = COMMAND.invoke(app, [str(word) for word in words])
    if isinstance(done.exception, InputError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout if "--json" in words else done.output


@pytest.fixture
def raw(tmp_path, plume):
    """A recording as it may lie around: (t, y, x) in HDF5, in other units, on an offset."""
    path = tmp_path / "raw.h5"
    with h5py.File(path, "w") as file:
        file["smell"] = 100 + 1e6 * np.swapaxes(plume.field.astype(np.float64), 1, 2)
        file["other"] = np.ones((4, 5, 6))
    return path


def test_a_raw_recording_becomes_a_small_file(tmp_path, plume, raw):
    small = tmp_path / "small.nc"
    told = run(
        "plume", "export", raw, small, "--key", "smell", "--axes", "tyx", "--frames", "10:110", "--crop", "0:40,3:23",
        "--downsample", 2, "--scale", 1e-6, "--background", 1, "--clip", "--source", "0,5", "--json",
    )  # fmt: skip
    made = read_plume(small)
    blocks = plume.field[:, :, 3:23].reshape(200, 20, 2, 10, 2).mean(axis=(2, 4), dtype=np.float64)
    assert np.allclose(made.field, np.maximum(blocks[10:110] - blocks[0], 0), atol=1e-12)
    assert made.source == (0, 5)
    told = json.loads(told)
    assert told["shape"] == [100, 20, 10]
    assert told["fingerprint"] == made.fingerprint
    for step in ("raw.h5", "10:110", "0:40,3:23", "every 2 cells (mean)", "first 1", "1e-6", "clipped"):
        assert step in made.origin


@pytest.mark.parametrize("ending", ["npy", "npz", "zarr"])
def test_export_writes_every_kind_and_replaces_only_if_told(tmp_path, plume, ending):
    write_plume(plume, tmp_path / "plume.npz")
    target = tmp_path / f"copy.{ending}"
    said = run("plume", "export", tmp_path / "plume.npz", target)
    assert ("--source" in said) == (ending == "npy")
    assert read_plume(target).fingerprint == plume.fingerprint
    with pytest.raises(InputError, match="--force"):
        run("plume", "export", tmp_path / "plume.npz", target)
    run("plume", "export", tmp_path / "plume.npz", target, "--force")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["x.csv"], "ending '.csv'"),
        (["raw.h5", "x.npy"], "several arrays"),
        (["none.h5", "x.npy"], "no plume file"),
        (["x.npy", "x.npy"], "the file to read"),
        (["x.npy", "--downsample", "2"], "need a plume file"),
        (["x.npy", "--source", "0,1"], "source of its own"),
        (["raw.h5", "x.npy", "--frames", "10-20"], "FIRST:END"),
        (["raw.h5", "x.npy", "--crop", "1,2,3,4"], "X0:X1,Y0:Y1"),
        (["raw.h5", "x.npy", "--axes", "zyx"], "letters t, x and y"),
        (["raw.h5", "x.npy", "y.npy"], "at most two"),
    ],
)
def test_bad_export_gets_one_sentence_and_writes_nothing(tmp_path, monkeypatch, raw, words, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=says):
        run("plume", "export", *words)
    assert [p.name for p in tmp_path.iterdir()] == [raw.name]


def test_the_parts_of_a_record_are_plumes_of_their_own(plume):
    train, test = plume.split(0.75)
    assert np.array_equal(np.concatenate([train.field, test.field]), plume.field)
    assert train.field.shape[0] == 150
    assert len({plume.fingerprint, train.fingerprint, test.fingerprint}) == 3
    assert "training part: snapshots 0:150 of 200" in train.origin
    assert "test part: snapshots 150:200 of 200" in test.origin
    assert test.held_out_from == train.fingerprint
    assert train.source == test.source == plume.source
    for share in (0, 1, -0.1, float("nan"), 0.001, 0.999):
        with pytest.raises(InputError, match="share"):
            plume.split(share)


def test_train_on_one_part_and_test_on_the_other(tmp_path, plume):
    write_plume(plume, tmp_path / "plume.npz")
    record = ["--plume", tmp_path / "plume.npz", "--train-share", 0.6]
    run(
        "train", *record, "--part", "train", "-e", "dense", "--seeds", 1, "--episodes", 100, "--horizon", 40,
        "--out", tmp_path / "policies", "--start-threshold", "own",
    )  # fmt: skip
    train, test = plume.split(0.6)
    policy = json.loads(run("info", tmp_path / "policies/dense/single-q-seed00.npz", "--json"))
    assert policy["plume"] == train.fingerprint
    words = [tmp_path / "policies", *record, "--start-threshold", "own", "--part"]
    seen = json.loads(run("evaluate", *words, "test", "--json"))
    assert seen[0]["plume"] == test.fingerprint
    told = COMMAND.invoke(app, [str(word) for word in ["evaluate", *words, "test"]])
    assert "another plume" not in told.output
    told = COMMAND.invoke(app, [str(word) for word in ["evaluate", *words, "all"]])
    assert "another plume" in told.output
    rows = json.loads(run("compare", *words, "test", "--heuristic-tau", 0, "--json"))
    assert "test part" in rows["plume"]
    with pytest.raises(InputError, match="all, train or test"):
        run("evaluate", *words, "half")


@pytest.mark.parametrize("share", ["nan", "0", "1", "-0.5", "inf"])
@pytest.mark.parametrize("part", [[], ["--part", "all"], ["--part", "test"]])
def test_a_share_that_is_none_is_refused(tmp_path, plume, share, part):
    write_plume(plume, tmp_path / "plume.npz")
    record = ["--plume", tmp_path / "plume.npz", *part, "--train-share", share]
    short = ["--seeds", 1, "--episodes", 10, "--horizon", 40, "--out", tmp_path / "policies"]
    for command in (["train", *short], ["bayes", "solve", "--backups", 1]):
        with pytest.raises(InputError, match="The share of the record to train on"):
            run(*command, *record, "-e", "dense", "--start-threshold", "own")
    assert [path.name for path in tmp_path.iterdir()] == ["plume.npz"]
