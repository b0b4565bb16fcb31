"""What the command line does before and around its commands: imports, names with brackets, Ctrl-C."""

import os
import subprocess
import sys

import pytest
import typer
from command import whiffclock

from whiffclock.cli import options as opt

HEAVY = (
    "numba",
    "numpy",
    "scipy",
    "matplotlib",
    "xarray",
    "dask",
    "h5py",
    "zarr",
    "msgspec",
    "jinja2",
    "rich.progress",
)


def imported_by(code):
    listing = f"import sys\n{code}\nprint(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return done.stderr.split()


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["train"],
        ["plume"],
        ["plume", "export"],
        ["bayes"],
        ["pomdp"],
        ["runs"],
        ["sweep"],
        ["sweep", "run"],
        ["sweep", "plot"],
    ],
)
def test_help_imports_nothing_heavy(command):
    words = [*command, "--help"]
    assert imported_by(f"from whiffclock.cli import app\napp({words}, standalone_mode=False)") == []


def test_the_package_imports_nothing_heavy():
    assert imported_by("import whiffclock") == []


def interrupted(folder, capsys):
    with pytest.raises(typer.Exit) as caught, opt.job_bar(folder, "episodes"):
        raise KeyboardInterrupt
    assert caught.value.exit_code == 130
    return capsys.readouterr().err


def test_ctrl_c_names_a_folder_only_if_something_is_in_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(opt, "messages", opt.Terminal(stderr=True))
    folder = tmp_path / "[a] policies"
    assert "stopped; nothing was finished." in interrupted(folder, capsys)
    (folder / "dense").mkdir(parents=True)
    assert "stopped; nothing was finished." in interrupted(folder, capsys)
    (folder / "dense" / "agent.npz").touch()
    assert f"finished work is in {folder}; the same command continues" in interrupted(folder, capsys)


def test_brackets_in_names_are_printed_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    name = "[/c].npz"
    small = ["--snapshots", "40", "--length", "12", "--width", "7"]
    done = whiffclock("plume", "toy", name, *small, cwd=tmp_path)
    assert done.returncode == 0
    assert name in done.stdout
    assert (tmp_path / "[" / "c].npz").exists()
    done = whiffclock("info", name, cwd=tmp_path)
    assert done.returncode == 0
    assert "toy plume" in done.stdout


def test_a_pipe_is_never_replaced(tmp_path):
    pipe = tmp_path / "pipe.npz"
    os.mkfifo(pipe)
    done = whiffclock("plume", "toy", pipe, "--force")
    assert done.returncode == 2
    assert done.stderr == f"whiffclock: {pipe} cannot be written: it exists and is not a regular file.\n"
    assert pipe.is_fifo()
