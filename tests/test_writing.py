"""What is being written, what was left by writers that died, and disks that are full."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command import whiffclock

from whiffclock import disk
from whiffclock.archive import write_npz
from whiffclock.cli import app
from whiffclock.disk import leftovers, require_writable, temporary_place, write_whole
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, InputError
from whiffclock.plume.reading.files import read_plume
from whiffclock.plume.reading.writing import write_plume
from whiffclock.policy import TablePolicy

WHIFFCLOCK = (sys.executable, "-m", "whiffclock")
KILLED = """
import os, signal, sys
from pathlib import Path
from whiffclock.disk import write_whole
def write(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
write_whole(Path(sys.argv[1]), write)
"""


def hidden(folder):
    return sorted(path.name for path in folder.rglob(".*"))


def aged(path):
    os.utime(path, (0, 0))


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path, monkeypatch):
    how = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writer = subprocess.Popen([sys.executable, "-c", KILLED, tmp_path / "a.npz"], **how)
    writer.stdout.readline()
    (left,) = tmp_path.iterdir()
    os.utime(left, (then := time.time() - 3600, then))
    write_whole(tmp_path / "b.npz", lambda file: file.write(b"b"))
    assert left.exists()  # its writer lives, old as it is
    writer.kill()
    writer.communicate()
    monkeypatch.setattr(disk, "_cleaned", set())
    os.utime(left, (then := time.time() - 2 * 86400, then))
    write_whole(tmp_path / "b.npz", lambda file: file.write(b"b"))
    assert [path.name for path in tmp_path.iterdir()] == ["b.npz"]


def test_what_is_young_or_not_ours_is_kept(tmp_path):
    for name in (".a.npz.01234567.partial", ".profile", ".a.partial", "a.01234567.partial"):
        (tmp_path / name).touch()
    (tmp_path / ".b.01234567.partial").symlink_to("nowhere")
    assert leftovers(tmp_path) == []
    for path in tmp_path.iterdir():
        if not path.is_symlink():
            aged(path)
    assert [path.name for path in leftovers(tmp_path)] == [".a.npz.01234567.partial"]
    write_whole(tmp_path / "c", lambda file: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".a.partial",
        ".b.01234567.partial",
        ".profile",
        "a.01234567.partial",
        "c",
    ]


def test_a_folder_to_which_threads_still_write_is_removed(tmp_path, monkeypatch):
    tries = iter([True, True, False])

    def rmtree(path, ignore_errors):
        if next(tries):
            (path / "late").touch()
        else:
            (path / "late").unlink()
            path.rmdir()

    monkeypatch.setattr(disk.shutil, "rmtree", rmtree)
    monkeypatch.setattr(disk, "_PAUSE", 0)
    with pytest.raises(KeyboardInterrupt), temporary_place(tmp_path / "a.zarr", folder=True):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".npz", ".npy", ".nc", ".zarr"])
def test_an_interrupted_export_leaves_nothing(ending, tmp_path, plume):
    def stop(snapshots):
        raise KeyboardInterrupt

    path = tmp_path / f"a{ending}"
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, stop) if ending == ".npz" else write_plume(plume, path, stop)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, {"x": np.arange(3)})
    before = path.read_bytes()

    def full(file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InputError, match=r"a.npz cannot be written: No space left on device\.") as caught:
        write_whole(path, full)
    assert caught.value.__cause__.errno == errno.ENOSPC  # exit code 1
    assert path.read_bytes() == before
    assert hidden(tmp_path) == []


def test_long_names_can_be_written_as_long_as_the_system_allows(tmp_path):
    write_npz(tmp_path / ("ü" * 120 + ".npz"), {"x": np.arange(3)})
    with pytest.raises(InputError, match="File name too long"):
        write_npz(tmp_path / ("a" * 300 + ".npz"), {"x": np.arange(3)})
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("target", ["nowhere", "link"])
def test_links_to_nothing_and_to_themselves_are_no_folders(target, tmp_path):
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(InputError, match="link is not a folder"):
        require_writable(tmp_path / "link" / "deeper")


@pytest.mark.parametrize("place", ["figures", "data", "runs"])
def test_a_file_in_place_of_a_folder_is_found_before_any_work(place, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / place).touch()
    with pytest.raises(InputError) as caught:
        app(["reproduce", "--only", "fig1", "--out", str(out)], standalone_mode=False)
    assert str(caught.value) == f"{out / place} cannot be written: {out / place} is not a folder."


def test_a_file_in_place_of_a_folder_of_policies_is_found_before_any_work(tmp_path):
    (tmp_path / "dense").touch()
    with pytest.raises(InputError, match="dense is not a folder"):
        app(["train", "-e", "dense", "--seeds", "1", "--out", str(tmp_path)], standalone_mode=False)


SMALL = ("--snapshots", "6", "--spin-up", "2", "--fill", "2", "--points", "8,8,8", "--length", "8", "--width", "5")


def test_a_checkpoint_of_other_settings_does_not_block_the_corrected_command(tmp_path):
    (tmp_path / "a.npz.checkpoint").write_bytes(b"damaged")
    done = whiffclock("plume", "simulate", "a.npz", *SMALL, "--target", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a.npz.checkpoint is not a saved simulation, or it is damaged" in done.stderr
    assert "the simulation starts again and replaces it." in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_sigterm_in_a_simulation_leaves_a_checkpoint_or_nothing(tmp_path):
    words = (*WHIFFCLOCK, "plume", "simulate", "a.npz", *SMALL, "--spin-up", "1000000", "--target", "none")
    at_work = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + 300
    while not (tmp_path / "a.npz.checkpoint").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    at_work.send_signal(signal.SIGTERM)
    _, said = at_work.communicate(timeout=60)
    assert at_work.returncode == 143
    assert "the same command continues from a.npz.checkpoint" in " ".join(said.split())
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz.checkpoint"]


@pytest.mark.parametrize("stops", ["fsync", "replace"])
def test_an_export_that_is_interrupted_at_its_end_keeps_what_was_there(stops, tmp_path, plume, monkeypatch):
    path = tmp_path / "a.zarr"
    write_plume(plume, path)

    keep = getattr(os, stops)

    def stop(*words):
        if words[1:] in ((), (path,)):  # Zarr replaces files of its own
            raise KeyboardInterrupt
        keep(*words)

    with monkeypatch.context() as patch:
        patch.setattr(os, stops, stop)
        with pytest.raises(KeyboardInterrupt):
            write_plume(plume.split()[0], path)
    assert read_plume(path) == plume
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zarr"]
    write_plume(plume.split()[0], path)
    assert read_plume(path) == plume.split()[0]
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.zarr"]


def test_a_process_that_is_killed_between_two_steps_loses_at_most_the_new_folder(tmp_path, plume, monkeypatch):
    path = tmp_path / "a.zarr"
    write_plume(plume, path)
    done = subprocess.run([sys.executable, "-c", KILLED_BETWEEN, path], check=False, timeout=100)
    assert done.returncode == 9
    for left in tmp_path.iterdir():
        aged(left)
    monkeypatch.setattr(disk, "_cleaned", set())
    write_whole(tmp_path / "b", lambda file: None)
    (kept,) = (left for left in tmp_path.iterdir() if left.name != "b")
    assert read_plume(kept) == plume


KILLED_BETWEEN = """
import os, sys
from pathlib import Path
from whiffclock.plume.reading.files import read_plume, write_plume
path, keep = Path(sys.argv[1]), os.replace
os.replace = lambda a, b: os._exit(9) if b == path else keep(a, b)
write_plume(read_plume(path).split()[0], path)
"""


def test_a_link_to_itself_is_no_place_for_an_export(tmp_path, plume):
    write_plume(plume, tmp_path / "a.npz")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "b.zarr").symlink_to("b.zarr")
    for place, says in (("b.zarr", "exists and is not a Zarr store"), ("loop/b.nc", "loop is not a folder")):
        with pytest.raises(InputError, match=says):
            app(["plume", "export", str(tmp_path / "a.npz"), str(tmp_path / place)], standalone_mode=False)


@pytest.mark.parametrize("ending", [".npz", ".nc", ".zarr"])
def test_a_file_name_that_is_not_utf_8_can_be_an_origin(ending, tmp_path, plume):
    name = os.fsdecode(b"caf\xe9.npy")
    write_plume(plume, tmp_path / name)
    write_plume(read_plume(tmp_path / name), tmp_path / f"a{ending}")
    assert read_plume(tmp_path / f"a{ending}").origin == "caf?.npy"


def test_numbers_in_the_other_byte_order_are_read_in_that_of_the_machine(tmp_path, plume):
    path = tmp_path / "a.npz"
    two_modes = clock(30, (4,))
    actions = np.arange(two_modes.rows) % 4
    TablePolicy("by hand", two_modes, actions.astype(">i8")).save(path)
    read = TablePolicy.load(path)
    assert read.actions.dtype.isnative
    assert np.array_equal(read.actions, actions)
    assert evaluate(read, plume, 3e-6, settings=EvaluationSettings(snapshots=1, horizon=30))


def test_a_place_that_takes_no_files_is_found_before_any_work(tmp_path):
    with pytest.raises(InputError, match=r"^/proc/deep cannot be written: no file can be made in /proc\.$"):
        require_writable(Path("/proc/deep"))
    require_writable(tmp_path)
    assert not any(tmp_path.iterdir())
