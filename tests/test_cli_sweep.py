"""``whiffclock sweep`` as a user meets it."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import whiffclock as wc
from whiffclock.archive import ends_with_digest
from whiffclock.cli import main
from whiffclock.plume.reading.files import write_plume
from whiffclock.runs.sweep import Sweep
from whiffclock.runs.sweepfile import known_settings

ROOT = Path(__file__).parent.parent
SWEEP = """\
plume = "plume.npz"
threshold = ["dense", "sparse"]
length = [5, 20, 40]
horizon = 60
episodes = 600
seeds = 2
evaluation.snapshots = 2
"""


@pytest.fixture
def here(plume, tmp_path, monkeypatch):
    """A folder with a plume and a sweep."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write_plume(plume, tmp_path / "plume.npz")
    (tmp_path / "small.toml").write_text(SWEEP)
    return tmp_path


@pytest.fixture
def whiffclock(monkeypatch, capsys):
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["whiffclock", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        printed = capsys.readouterr()
        return caught.value.code or 0, printed.out, printed.err

    return call


def test_a_sweep_gives_one_dataset(here, whiffclock):
    code, out, err = whiffclock("sweep", "small.toml", "--workers", 2)
    assert (code, out) == (0, "small/sweep.nc: G, T_min_over_T, f+, G_sum by threshold (2), length (3), seed (2).\n")
    assert "Next: whiffclock sweep plot small/sweep.nc" in err
    assert ends_with_digest(here / "small" / "sweep.nc")
    with xr.open_dataset(here / "small" / "sweep.nc", engine="h5netcdf") as data:
        assert data.identical(wc.sweep("small.toml", "small"))
    first = (here / "small" / "sweep.nc").read_bytes()
    assert whiffclock("sweep", "run", "small.toml")[0] == 0  # nothing is left to do
    assert (here / "small" / "sweep.nc").read_bytes() == first
    assert len(list((here / "small" / "runs").rglob("*.npz"))) == 24


def test_a_dry_run_shows_jobs_and_time_and_writes_nothing(here, whiffclock):
    code, out, _ = whiffclock("sweep", "--dry-run", "small.toml")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["length", "3", "5,", "20,", "40"] in rows
    assert ["seeds", "2", "0,", "1"] in rows
    assert ["trainings", "12", "0", "of", "them", "cached"] in rows
    assert re.search(r"about \d+ s on one core.*an\s+estimate", out, re.DOTALL)
    assert max(map(len, out.splitlines())) <= 80
    assert sorted(path.name for path in here.iterdir()) == ["plume.npz", "small.toml"]
    whiffclock("sweep", "small.toml", "--store", "kept")
    rows = [line.split() for line in whiffclock("sweep", "small.toml", "--store", "kept", "--dry-run")[1].splitlines()]
    assert ["trainings", "12", "12", "of", "them", "cached"] in rows
    assert ["tests", "12", "12", "of", "them", "cached"] in rows
    (here / "wide.toml").write_text(SWEEP.replace("seeds = 2", "seeds = 100"))
    code, out, _ = whiffclock("sweep", "wide.toml", "--dry-run")
    assert max(map(len, out.splitlines())) <= 80
    assert "..., 99" in " ".join(out.split())


def test_mistakes_get_one_sentence_and_write_nothing(here, whiffclock):
    (here / "wrong.toml").write_text(SWEEP + "gama = 0.9\n")
    not_one = "not the result of a sweep of this version"
    for words, says in (
        (["wrong.toml"], "wrong.toml, line 8: there is no setting called gama; did you mean gamma?"),
        (["none.toml"], "There is no sweep file at none.toml."),
        (["small.toml", "--workers", 0], "--workers is 0; it must lie between 1 and 1024."),
        (["small.toml", "--out", "plume.npz"], "plume.npz cannot be written: plume.npz is not a folder."),
        (
            ["plot", "small.toml"],
            f"small.toml is {not_one}, or it is damaged: its digest is wrong.",
        ),
    ):
        assert whiffclock("sweep", *words) == (2, "", f"whiffclock: {says}\n")
    assert sorted(path.name for path in here.iterdir()) == ["plume.npz", "small.toml", "wrong.toml"]


def test_results_are_drawn(here, whiffclock):
    whiffclock("sweep", "small.toml")
    code, out, _ = whiffclock("sweep", "plot", "small/sweep.nc", "--metric", "f+")
    files = ["small/lines.png", "small/lines.pdf", "small/map.png", "small/map.pdf"]
    assert (code, out.split()) == (0, files)
    assert all((here / name).stat().st_size > 5000 for name in files)
    first = (here / "small/lines.png").read_bytes()
    whiffclock("sweep", "plot", "small/sweep.nc", "--metric", "f+", "--out", "again")
    assert (here / "again/lines.png").read_bytes() == first
    _, out, _ = whiffclock("sweep", "plot", "small/sweep.nc", "--at", "threshold=dense", "--out", "one")
    assert out.split() == ["one/lines.png", "one/lines.pdf"]
    assert whiffclock("sweep", "plot", "small/sweep.nc", "--at", "length")[2].startswith("whiffclock: --at is 'length'")


def test_help_names_both_commands(whiffclock):
    code, out, _ = whiffclock("sweep", "--help")
    assert code == 0
    assert re.findall(r"^  (run|plot) ", out, re.MULTILINE) == ["run", "plot"]
    assert "--engine" in whiffclock("sweep", "run", "-h")[1]


def test_the_usage_of_a_sweep_is_the_command_without_the_word_run(whiffclock):
    usage, *others = whiffclock("sweep", "--help")[1].splitlines()
    assert usage.endswith(" sweep [OPTIONS] FILE")
    assert others[0].endswith(" sweep plot [OPTIONS] RESULT")
    assert any(line.startswith("  --dry-run ") for line in others)


def test_a_killed_sweep_continues(here, whiffclock):
    long = SWEEP.replace("episodes = 600", "episodes = 40_000").replace('"dense", "sparse"', '"dense"')
    (here / "long.toml").write_text(long)
    command = [sys.executable, "-m", "whiffclock", "sweep", "long.toml", "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    runs = here / "long" / "runs"
    while process.poll() is None and len(list(runs.glob("*/*.npz"))) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stderr.close()
    kept = {path: path.stat().st_mtime_ns for path in runs.glob("*/*.npz")}
    assert 2 <= len(kept) < 12
    assert not (here / "long" / "sweep.nc").exists()
    assert whiffclock("sweep", "long.toml")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    whiffclock("sweep", "long.toml", "--out", "whole")
    for path in (here / "whole").rglob("*.n[pc]*"):
        assert (here / "long" / path.relative_to(here / "whole")).read_bytes() == path.read_bytes()


def test_the_example_in_the_documentation_runs(here, plume, whiffclock):
    text = (ROOT / "docs" / "sweeps.md").read_text()
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]
    few = re.sub(r"^episodes = [\d_]+", "episodes = 200", example, flags=re.MULTILINE)
    few = re.sub(r"^snapshots = \d+", "snapshots = 1", few, flags=re.MULTILINE)
    assert "episodes = 200\n" in few
    write_plume(plume, here / "my_plume.npz")
    (here / "example.toml").write_text(few)
    assert whiffclock("sweep", "example.toml")[0] == 0
    with xr.open_dataset(here / "example" / "sweep.nc", engine="h5netcdf") as data:
        assert dict(data.sizes) == Sweep.of("example.toml").shape
        assert np.isfinite(data["G"]).all()


@pytest.mark.parametrize("name", ["clock_length", "threshold_gamma"])
def test_examples_are_sweeps(name):
    path = ROOT / "examples" / f"{name}.toml"
    sweep = Sweep.of(path)
    assert len(sweep.shape) == 3
    assert 50 <= len(sweep.tests) <= 200
    episodes = tomllib.loads(path.read_text())["episodes"]
    assert len(sweep.tests) * episodes < 3e7  # some minutes on two cores
    assert os.fspath(path.name) in path.read_text()


def test_the_documentation_names_every_setting():
    text = (ROOT / "docs" / "sweeps.md").read_text()
    assert [name for name in known_settings() if f"`{name}`" not in text] == []
