"""Every option and argument of every command, with bad values; the list comes from the command line itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import typer
from small_pomdps import TIGER

WHOLE = ("-1", "0", "1", str(2**31), str(2**63), str(2**64), str(10**30), f"-{10**400}", str(10**400), "1.5", "nan", "")
NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1", "1e-400", "1e-300", "1e300", "1e308", "-1e308", str(10**400), "x")
NAMES = ("", "x", "a" * 300, "\udcff", "±τ", "[/b]", "../..", "a\nb", "1e308", "nan", "own", "0")
#: For options whose text has a form of its own.
TEXTS = {
    "tau": ("", "0", "-1", "1e3", "10,5", f"{10**30}", ",".join(map(str, range(1, 100_000))), "1," * 9, "auto"),
    "memory": ("", ":", "clock:", "window:0", "window:16", "window:60", f"window:{10**30}", "clock:2:3", "nan:1",
               f"clock:{10**9}", "window:4:" + "9" * 5000, "controller:1", f"controller:{10**9}"),
    "source": ("", "0", "-1,-1", "5,99", f"{10**30},0", "nan,0", "1,2,3", "9" * 5000 + ",1"),
    "points": ("", "8,8,8", "0,0,0", "-8,8,8", "1024,1024,512", f"{10**30},8,8", "9,9,9"),
    "crop": ("", "0:1,0:1", "0:0,0:0", f"0:{10**30},0:1", "5:1,1:5", "-1:2,0:1", f"{10**30}:{10**31},0:1"),
    "frames": ("", ":", "5:1", f"0:{10**30}", f"{10**30}:", "-1:", "1:2:3", "9" * 5000 + ":"),
    "columns": ("", "=", "t", "t=", "t=t,x=x,y=y", "whiff=odor", "z=x", "x=t,y=t", "t=" + "a" * 5000, "=" * 5000),
    "axes": ("", "txy", "ttt", "xyz", "t" * 300),
}  # fmt: skip
PATHS = ("", ".", "/proc", "missing.npz", "missing/deep/er.npz", "text.txt", "text.txt/in.npz", "loop", "loop/in.npz",
         "dangling", "dangling.npz", "b" * 300 + ".npz", "d" * 300 + "/in.npz", "\udcff.npz", "/dev/null", "/dev/full",
         "/dev/zero", "pipe", "/proc/self/mem", "/sys/in.npz", "/proc/in.npz", "empty.npz", "noise.npz", "a.zarr",
         "closed.npz", "closed")  # fmt: skip
SWEEP = """\
plume = "plume.npz"
threshold = "dense"
start_threshold = "own"
horizon = 40
length = [5, 9]
episodes = 50
evaluation.snapshots = 1
"""
#: Two animals that go upwind, aside and back.
TRACKS = "fly,t,x_mm,y_mm,whiff\n" + "".join(
    f"{fly},{0.5 * i},{abs(i % 40 - 20)},{fly * (i % 5)},{int(i % 40 == 0)}\n" for fly in (1, 2) for i in range(120)
)
ASSAY = """\
blank = 20
histories = { dense = "3(W B) W", sparse = "W B9 W" }
"""


def prepare(folder: Path, compile_all: bool = True) -> None:
    """Files that the commands need, and paths that are not regular files."""
    from whiffclock.cli import app

    (folder / "text.txt").write_text("text\n")
    (folder / "tiger.pomdp").write_text(TIGER)
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "tracks.csv").write_text(TRACKS)
    (folder / "assay.toml").write_text(ASSAY)
    (folder / "empty.npz").touch()
    (folder / "noise.npz").write_bytes(os.urandom(1000))
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "dangling.npz").symlink_to("nowhere.npz")
    os.mkfifo(folder / "pipe")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for words in (  # commands that compile nearly all kernels
            "plume toy plume.npz --snapshots 40 --length 16 --width 7",
            "train --plume plume.npz -e dense --seeds 1 --episodes 50 --horizon 40 --start-threshold own",
            "train --plume plume.npz -e dense --seeds 1 --episodes 50 --horizon 40 --start-threshold own --out p "
            "--store runs",
            "optimize --plume plume.npz -e dense --candidates 20 --horizon 40 --snapshots 1 --start-threshold own",
            "bayes solve -e dense --plume plume.npz --backups 2 --start-threshold own --out bayes.npz",
            "sweep sweep.toml --out swept",
        ):
            with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
                app(words.split(), standalone_mode=False)
        # Its kernels start threads, which a process must not have when it forks; another process compiles them.
        words = (sys.executable, "-m", "whiffclock", "plume", "simulate", "s.npz", *BASES["plume", "simulate"][1:])
        if compile_all:
            subprocess.run(words, check=True, capture_output=True)
    finally:
        os.chdir(before)
    (folder / "closed").mkdir(mode=0o500)


def import_all() -> None:
    """Import what commands import, once, for all the processes that are forked."""
    for module in ("paper.page.report", "paper.figures", "paper.claims", "paper.reproduce", "notebook", "plots",
                   "viewer.page", "plume.simulate.record", "plume.statistics", "drawing.plume.tables", "pomdp.files",
                   "agents.files", "pomdp.blocks", "pomdp.solver"):  # fmt: skip
        import_module(f"whiffclock.{module}")


_PLUME = ("--plume", "plume.npz")
_OWN = ("--start-threshold", "own")
#: For each command, words that make it quick and complete.
BASES = {
    ("reproduce",): (*_PLUME, "--only", "fig1", "--out", "made"),
    ("report",): ("policies",),
    ("claims",): ("policies", "C1"),
    ("data",): ("policies", "fig2"),
    ("readings",): (*_PLUME, "--only", "R11", "--seeds", "1", "--episodes", "20", "--out", "made"),
    ("train",): (*_PLUME, *_OWN, "-e", "dense", "--seeds", "1", "--episodes", "50", "--horizon", "40", "--out", "made"),
    ("optimize",): (*_PLUME, *_OWN, "-e", "dense", "--candidates", "20", "--horizon", "40", "--snapshots", "1"),
    ("leaderboard",): ("clock-dense", "--only", *_PLUME, "--out", "made"),
    ("export",): ("clock-dense", "--to", "csv"),
    ("sweep", "run"): ("sweep.toml", "--out", "made"),
    ("sweep", "plot"): ("swept/sweep.nc", "--metric", "G", "--out", "made"),
    ("evaluate",): ("policies", *_PLUME, *_OWN, "--snapshots", "1"),
    ("compare",): ("policies", *_PLUME, *_OWN, "--snapshots", "1"),
    ("recovery",): ("policies", "--out", "made.png"),
    ("tracks",): ("tracks.csv", "--compare", "policies", "--out", "made.png"),
    ("assay",): ("assay.toml", "policies", "--out", "made"),
    ("study",): ("plume.npz", "--only", "fig1", "--out", "made"),
    ("view",): (*_PLUME, *_OWN, "--out", "made.html", "--no-open"),
    ("info",): (),
    ("demo",): ("--help",),  # two minutes otherwise
    ("doctor",): ("--json",),
    ("runs", "list"): ("--store", "runs"),
    ("runs", "show"): ("0", "--store", "runs"),
    ("runs", "export"): ("made", "--store", "runs", *_PLUME),
    ("runs", "prune"): ("--store", "runs", "--dry-run"),
    ("bayes", "solve"): ("-e", "dense", *_PLUME, *_OWN, "--backups", "1", "--out", "made.npz"),
    ("bayes", "evaluate"): ("bayes.npz", *_PLUME, *_OWN, "--snapshots", "1"),
    ("bayes", "export"): ("made.pomdp", "-e", "dense", *_PLUME, *_OWN),
    ("pomdp", "solve"): ("tiger.pomdp", "--backups", "1"),
    ("plume", "simulate"): ("made.npz", "--snapshots", "4", "--spin-up", "1", "--fill", "1", "--points", "8,8,8",
                            "--length", "8", "--width", "5", "--target", "none"),
    ("plume", "toy"): ("made.npz", "--snapshots", "20", "--length", "9", "--width", "5"),
    ("plume", "fetch"): (),
    ("plume", "check"): ("plume.npz",),
    ("plume", "inspect"): ("plume.npz",),
    ("plume", "compare"): ("plume.npz", "plume.npz"),
    ("plume", "calibrate"): ("plume.npz", "made.npz", "--target", "dns"),
    ("plume", "export"): ("plume.npz", "made.npy"),
}  # fmt: skip


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands with their names, from the command line itself."""
    from whiffclock.cli import app

    waiting: list[tuple[tuple[str, ...], Any]] = [((), typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop(0)
        if hasattr(command, "commands"):
            waiting += [((*name, word), below) for word, below in command.commands.items()]
        else:
            yield name, command


def values(option: Any) -> tuple[str, ...]:
    """Bad values for an option or argument, by its name or its metavar."""
    metavar = option.metavar or ""
    if option.name in TEXTS:
        return TEXTS[option.name]
    if metavar in ("N", "X"):
        return WHOLE if metavar == "N" else NUMBERS
    path = any(word in metavar for word in ("DIR", "FILE", "POLICY", "PLUME", "RESULT", "[A]", "[B]"))
    return PATHS if path else NAMES + NUMBERS


def every_case() -> list[tuple[str, ...]]:
    """Every option and argument of every command with every bad value, as the words of a command."""
    made = []
    for name, command in commands():
        base = BASES.get(name, ())
        for option in command.params:
            if getattr(option, "is_flag", False) or option.name in ("help", "json"):
                continue
            long = next((word for word in option.opts if word.startswith("--")), None)
            before = (*name, *(base if long else _options_of(base)))
            made += [(*before, f"{long}={value}") if long else (*before, "--", value) for value in values(option)]
    return made


def one_of(cases: list[tuple[str, ...]], start: int, turn: int) -> tuple[str, ...]:
    """All of the cases in a random order, and after that two options at a time."""
    if turn < len(cases):
        return cases[np.random.default_rng(start).permutation(len(cases))[turn]]
    rng = np.random.default_rng([start, turn])
    one = cases[rng.integers(len(cases))]
    others = [case[-1] for case in cases if case[:2] == one[:2] and case[-1].startswith("--")]
    second = () if not others else (others[rng.integers(len(others))],)
    return (*one[:-2], *second, *one[-2:]) if one[-2] == "--" else (*one, *second)


def _options_of(base: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a base without its arguments, so that a bad one can take their place."""
    first = next((i for i, word in enumerate(base) if word.startswith("-")), len(base))
    return base[first:]
