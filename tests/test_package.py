"""The package: its metadata, and a sentence that names the extra wherever an optional package is missing."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import whiffclock as wc
from whiffclock.params import InputError
from whiffclock.plume.reading import files, writing
from whiffclock.plume.reading.fetch import cache_folder
from whiffclock.plume.toy import toy_plume
from whiffclock.runs.remote import Cluster

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
#: What each extra brings, and what needs it.
MISSING = {
    "movies": ("av", lambda folder: wc.read_plume(named(folder / "a.mkv", b"\x1aE\xdf\xa3" + bytes(99)))),
    "parquet": ("pyarrow", lambda folder: wc.read_plume(named(folder / "a.parquet", b"PAR1" + bytes(99)))),
    "zarr": ("zarr", lambda folder: wc.read_plume(named(folder / "a.zarr" / "zarr.json", b"{}").parent)),
    "large": ("dask.array", lambda folder: wc.read_plume(array(folder / "a.npy"))),
    "fetch": ("pooch", lambda folder: cache_folder()),
    "cluster": ("distributed", lambda folder: Cluster(1, None, print).__enter__()),
}


def named(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def array(path):
    np.save(path, np.ones((4, 9, 5)))
    return path


@pytest.mark.parametrize("extra", MISSING)
def test_a_missing_package_is_a_sentence_with_its_extra(extra, tmp_path, monkeypatch):
    package, ask = MISSING[extra]
    monkeypatch.setattr(files, "LOAD_BYTES", 1)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delenv("WHIFFCLOCK_CACHE", raising=False)
    with pytest.raises(InputError, match=rf": pip install 'whiffclock\[{extra}\]'\.$"):
        ask(tmp_path)
    assert package.partition(".")[0] in {re.match(r"[a-z]+", one)[0] for one in EXTRAS[extra]}


def test_a_zarr_store_is_not_written_without_zarr(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(InputError, match=r"^a\.zarr .*whiffclock\[zarr\]"):
        writing.write_plume(toy_plume(), tmp_path / "a.zarr")
    assert not list(tmp_path.iterdir())


def test_the_gym_names_its_extra():
    code = "import sys; sys.modules['gymnasium'] = None; import whiffclock.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("ImportError: whiffclock.gym needs Gymnasium: pip install 'whiffclock[gym]'.\n")


def test_every_extra_is_named_where_it_is_missing():
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    used = {*re.findall(r"needing\(\"(\w+)\"", text), *re.findall(r"whiffclock\[(\w+)\]", text)}
    assert used == EXTRAS.keys() - {"all", "docs", "bench", "dev"}
    assert used == {*re.findall(r"\w+", EXTRAS["all"][0])} - {"whiffclock"}


def test_training_and_reproducing_import_no_extra():
    """Whatever is imported by all modules of the package, but for the rooms of the extras, is required."""
    optional = {"av", "zarr", "dask", "pooch", "gymnasium", "distributed", "bokeh", "pyarrow", "requests", "sphinx"}
    code = "import sys, whiffclock.paper.reproduce, whiffclock.notebook, whiffclock.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not optional & {*done.stdout.split()}


def test_one_version_everywhere():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited[1] == wc.__version__
    archived = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert archived["version"] == wc.__version__
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert changes[0] == wc.__version__


def test_groups_are_the_extras_of_the_same_name():
    groups = PROJECT["dependency-groups"]
    assert groups == {name: [f"whiffclock[{name}]"] for name in groups}
    assert groups.keys() <= EXTRAS.keys()


def test_the_pinned_versions_are_allowed_by_the_ranges():
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().split())
    pinned = {re.sub(r"[-_.]+", "-", name).lower(): number for name, number in pinned.items()}
    requirement = pytest.importorskip("packaging.requirements").Requirement
    wanted = [requirement(one) for one in sum(EXTRAS.values(), PROJECT["project"]["dependencies"])]
    wrong = [str(one) for one in wanted if not one.specifier.contains(pinned.get(one.name, "0"))]
    assert [one for one in wrong if "pompy" not in one] == []


def test_the_workflow_says_that_it_was_not_run_and_calls_what_exists():
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8")
    assert text.startswith("# This file has never been run")
    commands = [step["run"] for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"] if "run" in step]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for command in commands:
        words = command.split()
        assert words[0] in ("python", "uv", "make", "whiffclock") or (ROOT / words[0]).is_file()
        assert words[0] != "make" or words[1] in targets
    for extra in re.findall(r"\.\[(\w+)\]", text):
        assert extra in EXTRAS


def test_the_page_of_the_installation_has_all_extras():
    table = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    named = {name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == EXTRAS.keys() - {"bench"}
