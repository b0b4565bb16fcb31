"""What other systems lack, and what is done instead: tried here by taking it away."""

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

from whiffclock import disk, jit
from whiffclock.params import InputError
from whiffclock.runs import engine, remote


def refusing(monkeypatch, times):
    """``os.replace`` as on Windows, where a scanner has the file open for some time."""
    replace, left = os.replace, [times]

    def refuse(old, new):
        if left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(new))
        replace(old, new)

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(disk, "_PAUSE", 0)
    return left


@pytest.mark.parametrize(("windows", "times", "written"), [(True, 7, True), (True, 99, False), (False, 1, False)])
def test_a_file_that_is_open_elsewhere_is_replaced_later_on_windows(windows, times, written, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_WINDOWS", windows)
    left = refusing(monkeypatch, times)
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    if written:
        disk.write_whole(path, lambda file: file.write(b"new"))
    else:
        with pytest.raises(InputError, match=r"a\.txt cannot be written: Permission denied\.$"):
            disk.write_whole(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == (b"new" if written else b"old")
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]
    assert times - left[0] == (min(times, disk._TRIES) if windows else 1)


def test_a_folder_is_replaced_although_it_is_open_for_a_moment(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_WINDOWS", True)
    (tmp_path / "a").mkdir()
    with disk.temporary_place(tmp_path / "a", folder=True) as place:
        (place / "a").mkdir()
        (place / "a" / "new").touch()
        refusing(monkeypatch, 5)
        disk.put_in_place(place / "a", tmp_path / "a")
    assert [found.name for found in tmp_path.rglob("*")] == ["a", "new"]


def test_folders_that_cannot_be_opened_are_not_flushed(tmp_path, monkeypatch):
    opened = os.open

    def refuse(path, *how, **more):
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", refuse)
    disk.write_whole(tmp_path / "a", lambda file: file.write(b"new"))
    assert (tmp_path / "a").read_bytes() == b"new"


def test_compiled_kernels_have_one_temporary_folder_without_owners(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = jit._temporary_folder()
    first.chmod(0o777)  # as Windows shows every folder
    assert jit._temporary_folder() == first == tmp_path / "whiffclock-kernels-cache"


def test_the_number_of_cores_is_known_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert engine.cores() == 7


def test_the_command_line_starts_without_some_errors():
    code = "import errno; del errno.EDQUOT, errno.ETXTBSY, errno.ELOOP; import whiffclock.entry as e; print(e._MACHINE)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert str(errno.ENOSPC) in done.stdout


def test_a_local_cluster_starts_without_masks_of_signals(monkeypatch):
    monkeypatch.delattr(signal, "pthread_sigmask")
    monkeypatch.setattr(remote.resource_tracker, "ensure_running", lambda: pytest.fail("there is none on Windows"))
    found = remote._local_cluster(SimpleNamespace(LocalCluster=lambda *_, **how: how["host"]), 2)
    assert found == remote._HERE


def test_a_scheduler_file_may_have_a_colon_in_its_path(tmp_path):
    (tmp_path / "C:").mkdir()
    file = tmp_path / "C:" / "scheduler.json"
    file.write_text(json.dumps({}))
    with pytest.raises(InputError, match="is not a scheduler file of Dask"):
        remote._scheduler_address(SimpleNamespace(), str(file))
