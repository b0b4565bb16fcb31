"""Every block of the pages runs: README and docs, shell and Python, in order, each page in a folder of its own.

Numbers are made smaller (:data:`SMALLER`), so that a page takes seconds. A block of Python or TOML whose first line
is a comment with a name is that file. Blocks marked ``console`` are transcripts, those marked ``py`` need a cluster.
"""

import contextlib
import io
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import made_up
import matplotlib.pyplot as plt
import pytest
from command import whiffclock

from whiffclock.paper import profiles
from whiffclock.paper.profiles import Profile
from whiffclock.plume.reading.writing import write_plume

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TINY = {
    "seeds": 2, "episodes": 300, "snapshots": 1, "scan_seeds": 1, "scan_episodes": 100, "bayes_backups": 1,
    "bayes_starts": 30, "bayes_trials": 1, "taus": (2, 5), "horizon": 60, "programs": 1, "candidates": 20,
    "memories": ("clock 5",),
}  # fmt: skip
#: A pattern of a command, and what takes its place.
SMALLER = [
    (r"whiffclock optimize(.*?)(?: --seconds \d+)?$", r"whiffclock optimize\1 --candidates 20"),
    (r"--seconds \d+", "--seconds 1"),
    (r"whiffclock reproduce(?!.*--only)", "whiffclock reproduce --only fig2"),
    (r"--seeds \d+", "--seeds 1"),
    (r"--episodes \d+", "--episodes 2000"),
    (r"whiffclock train(?!.*--episodes)", "whiffclock train --episodes 2000"),
    (r"whiffclock (bayes evaluate|evaluate|compare)(?!.*--snapshots)", r"whiffclock \1 --snapshots 1"),
    (r"^whiffclock (plume )?export(.*)$", r"whiffclock \1export\2 --force"),
    (r"plume simulate (\S+)", r"plume simulate \1 --snapshots 20 --spin-up 1 --fill 1 --points 24,24,8 --target none"),
    (r"whiffclock view(?!.*--no-open)", "whiffclock view --no-open --small"),
]
#: Commands that are not run, and why.
NOT_RUN = {
    "pip install": "needs the network",
    "make ": "has this test in it",
    "source ": "sets up a shell",
    "uvx ": "needs the network",
    "pipx ": "needs the network",
    "python examples/film.py": "tests/test_film.py runs it",
    "python benchmarks/": "takes minutes; tests/test_benchmarks.py runs them",
}
#: Commands that take longest run on the first page that has them; on the others, only their options are checked. Those
#: of :data:`CHECKED` run in other tests.
LONG = re.compile("whiffclock (demo|reproduce|report|leaderboard|readings)")
CHECKED = {"whiffclock leaderboard", "whiffclock readings", "whiffclock demo"}
BLOCK = re.compile(r"^```(sh|python|toml)\n(?:# (\w+\.(?:py|toml))\n)?(.*?)^```", re.DOTALL | re.MULTILINE)


def smaller(sweep):
    """The settings of a sweep with the least work."""
    return re.sub(r"(seeds|episodes|snapshots) *= *[\d_]+", r"\1 = 1", sweep)


@pytest.fixture
def folder(tmp_path, monkeypatch, plume):
    """A folder with the examples and a small plume, in which all profiles are tiny."""
    for name in profiles.PROFILES:
        monkeypatch.setitem(profiles.PROFILES, name, Profile(name=name, **TINY))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for sweep in (tmp_path / "examples").glob("*.toml"):
        sweep.write_text(smaller(sweep.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("plume.nc", "my_plume.npz"):
        write_plume(plume, Path(name))
    for run in ("reproduction", "demo"):
        made_up.datasets(figures=["fig2", "fig3"]).save(tmp_path / run / "data")
    before = set(sys.modules)
    yield tmp_path
    plt.close("all")
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def commands(block):
    """The commands of a block, without comments, made smaller."""
    for line in block.replace("\\\n", " ").splitlines():
        command = line.partition(" #")[0].strip()
        if command and not command.startswith(("#", *NOT_RUN)):
            for pattern, less in SMALLER:
                command = re.sub(pattern, less, command)
            yield command


def run_command(command):
    """A command of a page; one that names a file of the reader's may end because there is none."""
    program, *words = shlex.split(command)
    if program == "python":
        sys.argv = words
        sys.path.insert(0, str(Path(words[0]).parent))
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(words[0], run_name="__main__")
        finally:
            sys.path.pop(0)
        return
    assert program.rpartition("/")[2] == "whiffclock", command
    if long := LONG.match(command):
        words += ["--help"] * (long[0] in CHECKED)
        CHECKED.add(long[0])
    done = whiffclock(*words)
    theirs = re.match(r"whiffclock: There is no .*\b(?:at|file|folder) (\S+)\.\n$", done.stderr)
    assert done.returncode == 0 or (theirs and theirs[1] in command), f"{command}: {done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_every_block_runs(page, folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", sys.argv)
    names = {"__name__": "__main__"}
    for language, file, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if file:
            (folder / file).write_text(smaller(block) if language == "toml" else block, encoding="utf-8")
        if language == "python":
            exec(compile(block, page.name, "exec"), names)
        for command in commands(block) if language == "sh" else ():
            run_command(command)
