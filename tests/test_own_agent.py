"""Agents from outside: ``module:object`` on the command line, entry points of another package, docs/own-agent.md."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.agents.own import policy_named
from whiffclock.params import InputError
from whiffclock.plume.reading.writing import write_plume
from whiffclock.runs.comparison import find_policies, label_of

PAGE = Path(__file__).parent.parent / "docs" / "own-agent.md"
SMALL = ("--plume", "plume.npz", "-e", "dense", "--snapshots", "1", "--horizon", "60")


@pytest.fixture
def folder(tmp_path, monkeypatch, plume):
    """The current folder, with a small plume; modules that are imported from it are forgotten."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    known = set(sys.modules)
    write_plume(plume, Path("plume.npz"))
    yield tmp_path
    for name in set(sys.modules) - known:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_every_block_of_the_page_runs(folder):
    for code in blocks("python"):
        if named := re.match(r"# (\w+\.py)\n", code):
            (folder / named[1]).write_text(code)
    for line in "".join(blocks("sh")).splitlines():
        done = whiffclock(*line.split()[1:], *("--plume", "plume.npz") * ("-e" in line).real)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout
    sys.path.insert(0, str(folder))
    for code in blocks("python"):
        exec(compile(code, "page", "exec"), {})


def test_the_page_says_what_its_controller_reaches(folder):
    (code,) = [code for code in blocks("python") if code.startswith("# loop.py")]
    space = {}
    exec(code, space)
    assert len(space["loop"].actions) == 31
    quoted = re.search(r"reward G is (\S+)\s+in sparse odor and (\S+) in dense", PAGE.read_text())
    for place, said in zip(("sparse", "dense"), quoted.groups(), strict=True):
        found = wc.evaluate(space["loop"], wc.builtin_plume(), place, snapshots=4)
        assert f"{found.mean('G'):.3f}" == said


AGENTS = """\
import numpy as np
import whiffclock as wc
def zigzag(clock):
    return "upwind" if clock < 2 else "+y"
def made():
    return wc.cast_and_surge(40, 50)
class Derived(wc.Policy):
    def act(self, memory):
        return np.where(memory, 0, 1)
class Plain:
    def act(self, memory):
        return np.where(memory, 0, 1)
class Needs(Plain):
    def __init__(self, width):
        pass
class Actless:
    pass
class Inside:
    cast = made()
number = 3
def broken(clock):
    return clock and 1 // (clock - 1)
"""


def test_an_object_of_a_module_is_a_policy(folder, plume):
    (folder / "agents_here.py").write_text(AGENTS)
    cast = wc.cast_and_surge(40, 50)
    assert policy_named("agents_here:made") == cast
    assert policy_named("agents_here:Inside.cast") == cast
    assert policy_named("agents_here:zigzag").actions[:4].tolist() == [0, 0, 1, 1]
    derived, plain = policy_named("agents_here:Derived"), policy_named("agents_here:Plain")
    assert (derived.name, plain.name) == ("Derived", "Plain")
    both = [wc.evaluate(one, plume, "dense", snapshots=1).arrival for one in (derived, plain)]
    assert np.array_equal(*both)
    assert policy_named("clock-sparse") == wc.shipped("clock-sparse")


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("agents_here:nothing", "There is no nothing in agents_here"),
        ("agents_here:number", "A int is not a policy, since it has no method act"),
        ("agents_here:Actless", "agents_here:Actless is a class without a method act"),
        ("agents_here:Needs", r"agents_here:Needs\(\) fails with TypeError: .*missing 1 required positional"),
        ("agents_here:broken", r"agents_here:broken fails with ZeroDivisionError: .* \(agents_here.py, line 22\)"),
        ("not_there:zigzag", "The module not_there fails with ModuleNotFoundError: No module named 'not_there'"),
        ("wrong_here:zigzag", r"The module wrong_here fails with NameError: name 'x' .*\(wrong_here.py, line 2"),
        ("clock-thick", "There is no file at clock-thick"),
        ("a/b:c", "There is no file at a/b:c"),
    ],
)  # fmt: skip
def test_what_names_no_policy_gets_one_sentence(folder, word, says):
    (folder / "agents_here.py").write_text(AGENTS)
    (folder / "wrong_here.py").write_text("\nx\n")
    with pytest.raises(InputError, match=says):
        policy_named(word)
    done = whiffclock("evaluate", word, *SMALL)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_a_file_comes_before_an_object_of_that_name(folder):
    (folder / "agents_here.py").write_text(AGENTS)
    wc.cast_and_surge(20, 30).save("agents_here:made")
    assert policy_named("agents_here:made") == wc.cast_and_surge(20, 30)
    assert label_of(Path("policies/sparse/one.npz")) == "sparse/one"
    assert label_of(Path("clock-robust")) == "clock-robust"


def test_records_of_objects_have_files_of_their_own(folder):
    (folder / "agents_here.py").write_text(AGENTS)
    words = ("agents_here:zigzag", "agents_here:Plain", "clock-robust")
    done = whiffclock("evaluate", *words, *SMALL, "--records", "out", "--json")
    assert done.returncode == 0, done.stderr
    assert [row["file"] for row in json.loads(done.stdout)] == list(words)
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "agents_here-Plain-in-dense.npz", "agents_here-zigzag-in-dense.npz", "clock-robust-in-dense.npz",
    ]  # fmt: skip


READER = """\
import numpy as np
from whiffclock.plume.reading.containers import Found
def read(path):
    return np.fromfile(path, dtype=np.float32).reshape(50, 20, 9)
def read_more(path):
    return Found(str(path), read(path), "txy", source=(1, 2), origin="a sniffer")
def read_text(path):
    return path.read_text()
"""
ENTRIES = """\
[whiffclock.agents]
slalom = smellpack:zigzag
hollow = smellpack:absent

[whiffclock.plumes]
sniff = smellread:read
sniffer = smellread:read_more
sniffle = smellread:read_text
"""


@pytest.fixture
def package(folder):
    """Another package, installed: its modules, and its entry points in a folder of metadata."""
    place = folder / "site"
    info = place / "smellpack-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: smellpack\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (place / "smellpack.py").write_text(AGENTS)
    (place / "smellread.py").write_text(READER)
    sys.path.insert(0, str(place))
    importlib.invalidate_caches()
    return place


def test_another_package_adds_agents(folder, package):
    assert policy_named("slalom").name == "zigzag"
    done = whiffclock("compare", "slalom", *SMALL)
    assert done.returncode == 0, done.stderr
    assert "zigzag" in done.stdout
    with pytest.raises(InputError, match="The agent hollow fails with AttributeError"):
        policy_named("hollow")
    assert [str(path) for path, _ in find_policies([Path("slalom")])] == ["slalom"]


def test_another_package_adds_readers_of_plumes(folder, package):
    values = np.random.default_rng(0).random((50, 20, 9)).astype(np.float32)
    for ending in ("sniff", "sniffer", "sniffle"):
        values.tofile(folder / f"lab.{ending}")
    (folder / "lab.sniffle").write_text("text")
    plain, more = wc.read_plume("lab.sniff", source=(0, 4)), wc.read_plume("lab.sniffer")
    assert np.array_equal(plain.field, values)
    assert (more.source, more.origin) == ((1, 2), "a sniffer")
    assert wc.read_plume("lab.sniff", axes="tyx").field.shape == (50, 9, 20)
    with pytest.raises(InputError, match="smellread:read_text returned a str; it must return an array"):
        wc.read_plume("lab.sniffle")
    with pytest.raises(InputError, match="takes no key"):
        wc.read_plume("lab.sniff", key="odor")
