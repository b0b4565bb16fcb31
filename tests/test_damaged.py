"""Damaged and hostile files: one sentence in our words, nothing believed that a checksum or a type could tell."""

import gc
import json
import os
import re
import socket
import subprocess
import sys
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import h5py
import made_up
import numpy as np
import pytest
import scipy.io
import xarray as xr
import zarr
from typer.testing import CliRunner

from whiffclock.agents.files import load_policy
from whiffclock.archive import DIGEST, digest_of, read_npz, write_npz
from whiffclock.cli import app
from whiffclock.disk import read_toml, reading, require_file
from whiffclock.memory import clock
from whiffclock.netcdf import write_dataset
from whiffclock.paper.dataset import Datasets
from whiffclock.params import EvaluationSettings, InputError, LearningSettings
from whiffclock.plume.calibration import read_target
from whiffclock.plume.reading.files import read_plume, write_plume
from whiffclock.policy import TablePolicy
from whiffclock.recovery import BranchSettings
from whiffclock.runs.jobs import JobFolder, run
from whiffclock.runs.kinds import Branch, Evaluate, Train
from whiffclock.runs.store import read_record
from whiffclock.sweep_plots import load_sweep

RAW = re.compile(r"\b[A-Z]\w*Error\b|Errno|Traceback|object has|dtype\(|<class|0x[0-9a-f]{6}")
LEARNING = LearningSettings.shortened(100, horizon=30)


def sentence(path, read, *words):
    """The one sentence with which ``read`` refuses ``path``."""
    with pytest.raises(InputError) as caught:
        read(path, *words)
    said = str(caught.value)
    assert str(path) in said
    assert "\n" not in said
    assert said.endswith(".")
    assert not RAW.search(said), said
    return said


@pytest.fixture
def policy(plume, tmp_path):
    made = Train(plume.fingerprint, 3e-6, clock(30, (4,)), LEARNING, plume.settle()).compute(plume, {}, lambda n: None)
    made.save(tmp_path / "policy.npz")
    return tmp_path / "policy.npz"


# What is no file


def specials(folder):
    os.mkfifo(folder / "pipe")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    here = Path.cwd()
    os.chdir(folder)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    os.chdir(here)
    return [folder / name for name in ("pipe", "zero", "folder", "loop", "dangling", "socket", "missing", "x" * 300)]


def test_only_regular_files_are_opened(tmp_path):
    def target(path):
        return read_target(str(path))

    for path in specials(tmp_path):
        for read in (require_file, read_plume, load_policy, read_toml, target, lambda path: read_npz(path, "a thing")):
            assert re.search("no .*at|folder|regular file|cannot be read", sentence(path, read)), path


# One sentence for whatever a library raises


@pytest.mark.parametrize(
    "error",
    [
        zipfile.BadZipFile("File is not a zip file"),
        NotImplementedError("zip file version 9.9"),
        IndexError("list index"),
        OverflowError("int too large"),
        RecursionError("maximum recursion depth"),
        MemoryError(),
        KeyError("a"),
        EOFError(),
        SystemError("null argument"),
        AttributeError("'X' object has no attribute 'y'"),
        AssertionError(),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid"),
        OSError("Unable to open file (truncated file: eof = 96)"),
        OSError(5, "Can't read data (inflate() failed)"),
    ],
)
def test_every_failure_is_one_sentence(tmp_path, error):
    def read(path):
        with reading(path, "a thing"):
            raise error

    assert "is not a thing, or it is damaged" in sentence(tmp_path / "file", read)


def test_the_system_s_own_words_are_kept(tmp_path):
    def read(path):
        with reading(path, "a thing"):
            raise PermissionError(13, "Permission denied")

    assert sentence(tmp_path / "file", read).endswith("file cannot be read: Permission denied.")


# Plumes


def classic(folder, values):
    with scipy.io.netcdf_file(folder / "a.nc", "w") as file:
        for name, size in zip("txy", values.shape, strict=True):
            file.createDimension(name, size)
        file.createVariable("odor", "f4", tuple("txy"))[:] = values
    return folder / "a.nc"


def test_a_classic_netcdf_file_may_be_cut_anywhere(tmp_path, plume):
    path = classic(tmp_path, plume.field[:6].astype("f4"))
    whole = path.read_bytes()
    assert read_plume(path).field.shape == (6, 40, 27)
    with warnings.catch_warnings(action="ignore"):  # scipy leaves the file to the garbage collector
        for size in (4, 8, 33, 60, 90, 120, len(whole) // 2, len(whole) - 9):
            path.write_bytes(whole[:size])
            sentence(path, read_plume)
        gc.collect()


@pytest.mark.parametrize(
    "header", [b"(" * 300, b"{'descr': '<f8', 'shape': (3", b"{'descr': 7}", b"__import__('os')", b"\xff"]
)
def test_a_bad_npy_header_is_one_sentence(tmp_path, header):
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    sentence(path, read_plume)


def test_an_npy_file_has_the_size_its_header_says(tmp_path, plume):
    np.save(tmp_path / "a.npy", plume.field[:6])
    whole = (tmp_path / "a.npy").read_bytes()
    for damaged in (whole[:-1], whole + b"more"):
        (tmp_path / "a.npy").write_bytes(damaged)
        assert "does not fit" in sentence(tmp_path / "a.npy", read_plume)


def test_sizes_that_no_file_of_its_size_has_are_refused_before_reading(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("odor", (10**9, 1000, 1000), "f4", chunks=(1, 1000, 1000))
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file.create_dataset("odor", (3, 30_000, 30_000), "f4", chunks=(1, 30_000, 30_000), compression="gzip")
    group = zarr.create_group(tmp_path / "c.zarr")
    group.create_array("odor", shape=(4, 50_000, 50_000), chunks=(1, 50_000, 50_000), dtype="f4")
    for name in ("a.h5", "b.h5", "c.zarr"):
        assert "GiB, and the file has" in sentence(tmp_path / name, read_plume)


def test_deep_or_long_toml_is_one_sentence(tmp_path):
    for text in ("x = " + "[" * 100_000, "x = 1\nx = 2", "\ud7ff" * 2**20, "x = \x00"):
        (tmp_path / "a.toml").write_text(text)
        sentence(tmp_path / "a.toml", read_toml)
    (tmp_path / "a.toml").write_bytes(b"x = '\xff'")
    assert "not UTF-8" in sentence(tmp_path / "a.toml", read_toml)


# Digests


def edited(path, change, seal):
    """``path`` with other arrays, under zip checksums that are right, and with or without a new digest."""
    with zipfile.ZipFile(path) as archive:
        label = archive.comment
    with np.load(path) as archive:
        arrays = change(dict(archive) | ({"label": np.array(label.decode())} if label else {}))
    if seal:
        write_npz(path, arrays)
        return path
    label = str(arrays.pop("label", "")).encode()
    np.savez(path, **arrays)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = label
    return path


def header_edit(**changes):
    def change(arrays):
        header = json.loads(str(arrays["header"]))
        header["made_from"] |= changes
        return arrays | {"header": np.array(json.dumps(header))}

    return change


def test_a_digest_changes_with_everything(plume):
    arrays = {"a": np.arange(6.0), "b": np.array("text")}
    others = [
        arrays | {"a": np.arange(6.0).reshape(2, 3)},
        arrays | {"a": np.arange(6)},
        arrays | {"a": -np.arange(6.0)},
        arrays | {"b": np.array("texu")},
        {"a": arrays["a"], "c": arrays["b"]},
        {"a": arrays["a"]},
    ]
    assert len({digest_of(one) for one in (arrays, *others)}) == 7
    assert digest_of(arrays | {DIGEST: np.array("x")}) == digest_of(arrays)
    assert digest_of({"a": np.asfortranarray(np.eye(3)[:, ::-1])}) == digest_of({"a": np.eye(3)[:, ::-1].copy()})


@pytest.mark.parametrize(
    "change",
    [
        header_edit(seed=7),
        header_edit(threshold=5e-6),
        lambda arrays: arrays | {"actions": np.roll(arrays["actions"], 1)},
        lambda arrays: arrays | {"extra": np.zeros(2)},
        lambda arrays: {name: values for name, values in arrays.items() if name != "q"},
        lambda arrays: {name: values for name, values in arrays.items() if name != DIGEST},
    ],
)
def test_an_edit_of_a_policy_is_noticed(policy, change):
    assert "digest" in sentence(edited(policy, change, seal=False), load_policy)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": -1},
        {"seed": "x"},
        {"seed": 1.5},
        {"threshold": 0},
        {"threshold": "dense"},
        {"learning": [1]},
        {"angle": "x"},
        {"learning": {"horizon": 10**18}},
        {"learning": {"horizon": "x"}},
        {"world": {"radius": -1}},
        {"world": {"radius": []}},
        {"plume": 3},
        {"dense": {"seed": "x"}},
        {"episodes_played": "x"},
        {"tau": 0},
    ],
)
def test_types_and_ranges_of_a_header_are_checked_behind_a_digest(policy, changes):
    assert re.search(
        "origin is wrong|source radius", sentence(edited(policy, header_edit(**changes), seal=True), load_policy)
    )


def test_names_of_the_origin_do_not_hide_those_of_the_policy(policy):
    edited(policy, header_edit(memory=3, policy=[1]), seal=True)
    for words in (["info", str(policy)], ["info", str(policy), "--json"]):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.exception
        assert "two-Q" in done.output


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("curve", np.zeros((0, 4))),
        ("curve", np.zeros(4)),
        ("curve", np.full((2, 4), np.nan)),
        ("curve", np.array("x")),
        ("usage", np.zeros(2, dtype=int)),
        ("usage", np.array([1, -1])),
        ("usage", np.array([1, 2, 3])),
        ("clock", np.zeros((2, 6))),
        ("clock", np.full((2, 6), -1)),
    ],
)
def test_records_of_a_training_are_checked(policy, name, value):
    edited(policy, lambda arrays: arrays | {f"record_{name}": value}, seal=True)
    assert f"its {name} record" in sentence(policy, load_policy)


def test_policies_of_earlier_formats_are_read_without_a_digest(policy):
    before = TablePolicy.load(policy)

    def older(arrays):
        header = json.loads(str(arrays["header"]))
        assert header["format"] == TablePolicy.FORMAT == "whiffclock policy 3"
        header["format"] = "whiffclock policy 2"
        return {name: values for name, values in arrays.items() if name != DIGEST} | {
            "header": np.array(json.dumps(header))
        }

    again = load_policy(edited(policy, older, seal=False))
    assert again == before
    assert again.made_from == before.made_from


def test_hand_made_tables_are_those_that_were_written(plume, tmp_path):
    memory = replace(clock(20, (4,)), maker="", settings=None, name="by hand")
    path = tmp_path / "policy.npz"
    TablePolicy("by hand", memory, np.zeros(memory.rows, dtype=np.int8)).save(path)
    assert load_policy(path).memory == memory
    edited(path, lambda arrays: arrays | {"memory_mode": 1 - arrays["memory_mode"]}, seal=True)
    assert "not those that it was written with" in sentence(path, load_policy)


# Run stores


def jobs_on(plume):
    training = Train(plume.fingerprint, 3e-6, clock(30, (4,)), LEARNING, plume.settle())
    settings = EvaluationSettings(snapshots=2, horizon=30)
    evaluation = Evaluate(training, plume.fingerprint, 3e-6, plume.settle(), settings)
    branches = Branch(training, plume.fingerprint, 3e-6, plume.settle(), BranchSettings(5, 10, 30))
    return training, evaluation, branches


@pytest.fixture
def store(plume, tmp_path):
    store = JobFolder(tmp_path / "runs")
    for job in jobs_on(plume):
        run(job, plume, store)
    return store


def file_of(store, job):
    return store.store.path(job.kind, job.description)


def test_an_array_of_a_record_that_was_edited_is_noticed(store, plume):
    for job in jobs_on(plume):
        path = file_of(store, job)
        whole = path.read_bytes()
        for name in read_record(path).arrays:
            edited(path, lambda arrays, name=name: arrays | {name: _other(arrays[name])}, seal=False)
            assert "digest; delete it" in sentence(path, lambda _, job=job: run(job, plume, store))
            path.write_bytes(whole)
        edited(path, lambda arrays: {k: v for k, v in arrays.items() if k != DIGEST}, seal=False)
        assert "no digest" in sentence(path, read_record)


def _other(array):
    return np.array(f"{array} ") if array.dtype.kind == "U" else array + np.ones((), array.dtype)


def test_records_are_read_if_they_can_be_right(store, plume):
    wrong = {
        "arrival": (
            lambda a: a[1:],
            lambda a: a - 1,
            lambda a: a + 31,
            lambda a: a.astype(float),
            lambda a: a[:, None],
        ),
        "last_whiff": (lambda a: a + 100, lambda a: a - 2, lambda a: a[:, :2]),
        "mode_steps": (lambda a: a[:, :0], lambda a: -a - 1, lambda a: a[:, 0]),
        "occupancy": (lambda a: a[:1], lambda a: a - 10**6, lambda a: a.astype(str)),
        "metrics": (lambda a: a[:, 1:], lambda a: a > 0),
        "weight": (lambda a: a * np.nan, lambda a: a + 2),
        "trial": (lambda a: a + 5, lambda a: a.astype(float)),
        "step": (lambda a: a[1:], lambda a: a - 50),
    }
    for job in jobs_on(plume):
        path, before = file_of(store, job), job.pack(run(job, plume, store))
        edited(path, lambda arrays: arrays, seal=True)
        after = job.pack(run(job, plume, store))
        for name in before.keys() - {"header"}:
            np.testing.assert_array_equal(before[name], after[name])
        whole = path.read_bytes()
        for name in wrong.keys() & before.keys():
            for change in wrong[name]:
                edited(path, lambda arrays, name=name, change=change: arrays | {name: change(arrays[name])}, seal=True)
                assert "delete it" in sentence(path, lambda _, job=job: run(job, plume, store)), name
                path.write_bytes(whole)
            edited(path, lambda arrays, name=name: {k: v for k, v in arrays.items() if k != name}, seal=True)
            if name != "occupancy":  # which policies with one mode do not have
                sentence(path, lambda _, job=job: run(job, plume, store))
            path.write_bytes(whole)


def test_a_record_holds_the_training_that_its_label_says(store, plume):
    training = jobs_on(plume)[0]
    path = file_of(store, training)
    lost = edited(path, lambda arrays: {k: v for k, v in arrays.items() if k != "record_usage"}, seal=True)
    assert "lacks records" in sentence(lost, lambda _: run(training, plume, store))
    other = clock(30, (5,))

    def exchanged(arrays):
        header = json.loads(str(arrays["header"])) | {"memory": other.spec}
        return arrays | {"header": np.array(json.dumps(header))}

    assert "another memory" in sentence(edited(path, exchanged, seal=True), lambda _: run(training, plume, store))


def test_a_label_is_checked_without_the_arrays(store, plume):
    path = file_of(store, jobs_on(plume)[0])

    def renamed(arrays):
        return arrays | {"label": np.array(str(arrays["label"]).replace('"episodes":', '"episodes":9'))}

    edited(path, renamed, seal=True)
    (entry,) = store.store.entries("policy")
    assert entry.label is None


def test_stores_with_damaged_records_and_links_are_listed_and_pruned(store, plume):
    paths = [file_of(store, job) for job in jobs_on(plume)]
    whole = paths[0].read_bytes()
    paths[0].unlink()
    paths[0].symlink_to("nowhere")
    paths[1].unlink()
    paths[1].symlink_to(paths[1].name)
    paths[2].write_bytes(whole)
    (store.store.folder / "loop").symlink_to("loop")
    (store.store.folder / "policy" / f"{'0' * 20}.npz").mkdir()
    words = ["--store", str(store.store.folder)]
    for command in (["list"], ["list", "--json"], ["show", paths[0].stem], ["prune", "--dry-run"]):
        done = CliRunner().invoke(app, ["runs", *command, *words])
        assert done.exception is None or isinstance(done.exception, InputError | SystemExit), done.exception
        assert "show" in command or done.exit_code == 0
    assert not store.has(jobs_on(plume)[0])
    assert run(jobs_on(plume)[0], plume, store)  # computed again, in place of the link
    assert paths[0].is_file()


# Datasets


def test_an_edit_of_a_dataset_is_noticed(tmp_path):
    made_up.datasets(figures=["fig2"]).save(tmp_path)
    whole = (tmp_path / "searches.nc").read_bytes()

    def edit(change):
        (tmp_path / "searches.nc").write_bytes(whole)
        with h5py.File(tmp_path / "searches.nc", "r+") as file:
            change(file)
        return sentence(tmp_path / "searches.nc", lambda path: Datasets.load(path.parent))

    def value(file):
        file["mean"][0, 0, 0, 0, 0] = 0.123

    assert "digest is wrong" in edit(value)
    assert "digest is wrong" in edit(
        lambda file: file.attrs.update(facts=file.attrs["facts"].replace("quick", "paper"))
    )
    edit(lambda file: file.__delitem__("mean"))
    edit(lambda file: file.move("mean", "means"))
    edit(lambda file: file.attrs.__delitem__("facts"))
    for size in (0, 100, len(whole) // 2):
        (tmp_path / "searches.nc").write_bytes(whole[:size])
        sentence(tmp_path / "searches.nc", lambda path: Datasets.load(path.parent))
    (tmp_path / "searches.nc").write_bytes(whole)
    Datasets.load(tmp_path)


def test_an_edit_of_the_result_of_a_sweep_is_noticed(tmp_path):
    values = (("gamma", "seed"), np.array([[0.1, 0.2], [0.3, 0.4]]), {"metric": "G"})
    data = xr.Dataset({"G": values}, {"gamma": [0.9, 0.99], "seed": [0, 1]}, {"sweep": "{}"})
    path = tmp_path / "sweep.nc"
    write_dataset(path, data)
    assert load_sweep(path).identical(data)
    whole = path.read_bytes()
    for change in (
        lambda file: file["G"].__setitem__((0, 0), 0.5),
        lambda file: file["gamma"].__setitem__(0, 0.8),
        lambda file: file["G"].attrs.__setitem__("metric", "f+"),
        lambda file: file.attrs.__setitem__("sweep", "{ }"),
        lambda file: file.attrs.__delitem__("sweep"),
        lambda file: None,  # opened to be written, which drops the digest
    ):
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            change(file)
        assert "digest is wrong" in sentence(path, load_sweep)


def test_a_heap_in_which_hdf5_would_never_end_is_refused(plume, tmp_path):
    path = tmp_path / "a.nc"
    write_plume(plume, path)
    content = bytearray(path.read_bytes())
    first = content.index(b"GCOL") + 16
    content[first : first + 16] = bytes(16)
    path.write_bytes(content)
    assert "its digest is wrong" in sentence(path, read_plume)


def test_dimensions_with_which_hdf5_would_overwrite_memory_are_refused(plume, tmp_path):
    path = tmp_path / "a.nc"
    write_plume(plume, path)
    with h5py.File(path, "r+") as file:
        before = file["concentration"]
        flat, names = before[()].reshape(-1), before.attrs["DIMENSION_LIST"]
        kind = before.attrs.get_id("DIMENSION_LIST").dtype
        del file["concentration"]
        file.create_dataset("concentration", data=flat).attrs.create("DIMENSION_LIST", names, dtype=kind)
    assert "the dimensions of concentration are damaged" in sentence(path, read_plume)


def test_our_plumes_are_known_without_their_attributes(plume, tmp_path):
    write_plume(plume, tmp_path / "a.zarr")
    about = tmp_path / "a.zarr" / "zarr.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"attributes": {}}))
    write_plume(plume, tmp_path / "a.nc")
    with h5py.File(tmp_path / "a.nc", "r+") as file:
        for name in ("origin", "fingerprint", "source", "whiffclock_version", DIGEST):
            del file.attrs[name]
    for name in ("a.zarr", "a.nc"):
        assert "written by whiffclock, and has no attribute origin" in sentence(tmp_path / name, read_plume)


def test_a_hundred_cases_of_the_fuzzer():
    kinds = [
        word for kind in ("policy", "record", "plume .npz", "other .npy", "target .toml") for word in ("--kind", kind)
    ]
    command = [sys.executable, "-m", "fuzz", "--quick", "--cases", "250", "--seed", "2026", *kinds]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all             250" in done.stdout


def test_a_plume_without_its_digest_is_refused(plume, tmp_path):
    """Otherwise its origin could be changed: the fingerprint does not cover it."""
    write_plume(plume, path := tmp_path / "plume.npz")
    with np.load(path) as file:
        arrays = dict(file)
    del arrays["digest"]
    np.savez(path, **arrays | {"origin": np.array("elsewhere")})
    with pytest.raises(InputError, match=r"plume\.npz is a damaged whiffclock plume \(it has no digest\)\.$"):
        read_plume(path)
