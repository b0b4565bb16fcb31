"""Every option of every command with nasty values, each in a process with little memory and little time.

``cases(folder)`` makes the cases, ``attempt(case)`` runs one. As a program: all cases, or some of them, and a table::

    python tests/fuzz/every_option.py [--every N] [--jobs N] [--only TEXT]
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

MEMORY, MOST_USED, SECONDS, PATIENCE = 6 * 2**30, 3 * 2**30, 6.0, 24.0
WHOLE = ("-1", "0", "1", str(2**31), str(2**63), str(2**64), str(10**30), f"-{10**400}", str(10**400), "1.5", "nan", "")
NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1", "1e-400", "1e-300", "1e300", "1e308", "-1e308", str(10**400), "x")
NAMES = ("", "x", "a" * 300, "\udcff", "±τ", "[/b]", "../..", "a\nb", "1e308", "nan", "own", "0")
#: For options whose text has a form of its own.
TEXTS = {
    "tau": ("", "0", "-1", "1e3", "10,5", f"{10**30}", ",".join(map(str, range(1, 100_000))), "1," * 9, "auto"),
    "memory": ("", ":", "clock:", "window:0", "window:16", "window:60", f"window:{10**30}", "clock:2:3", "nan:1",
               f"clock:{10**9}", "window:4:" + "9" * 5000),
    "source": ("", "0", "-1,-1", "5,99", f"{10**30},0", "nan,0", "1,2,3", "9" * 5000 + ",1"),
    "points": ("", "8,8,8", "0,0,0", "-8,8,8", "1024,1024,512", f"{10**30},8,8", "9,9,9"),
    "crop": ("", "0:1,0:1", "0:0,0:0", f"0:{10**30},0:1", "5:1,1:5", "-1:2,0:1", f"{10**30}:{10**31},0:1"),
    "frames": ("", ":", "5:1", f"0:{10**30}", f"{10**30}:", "-1:", "1:2:3", "9" * 5000 + ":"),
    "axes": ("", "txy", "ttt", "xyz", "t" * 300),
}  # fmt: skip
PATHS = ("", ".", "/", "missing.npz", "missing/deep/er.npz", "text.txt", "text.txt/in.npz", "loop", "loop/in.npz",
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
TIGER = """discount: 0.95
values: reward
states: a b
actions: l r
observations: x y
T: *
identity
O: *
0.8 0.2
0.2 0.8
R: l : a : * : * 1
R: r : b : * : * 1
"""


@dataclass(frozen=True)
class Case:
    """A command with one nasty value, and the folder in which it runs."""

    words: tuple[str, ...]
    folder: Path

    def __str__(self) -> str:
        return " ".join(word if len(word) < 60 else f"{word[:40]}...({len(word)})" for word in self.words)


@dataclass(frozen=True)
class Outcome:
    """How a case ended: "harmless", "refused", "long" (at work, and ended by Ctrl-C), or how it failed."""

    kind: str
    code: int
    text: str

    @property
    def failed(self) -> bool:
        return self.kind not in ("harmless", "refused", "long")


def prepare(folder: Path, compile_all: bool = True) -> None:
    """Files that the commands need, and things that are no files."""
    from whiffclock.cli import app

    (folder / "text.txt").write_text("text\n")
    (folder / "tiger.pomdp").write_text(TIGER)
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "empty.npz").touch()
    (folder / "noise.npz").write_bytes(os.urandom(1000))
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "dangling.npz").symlink_to("nowhere.npz")
    os.mkfifo(folder / "pipe")
    before, here = Path.cwd(), str(folder)
    os.chdir(here)
    try:
        for words in (
            "plume standin plume.npz --snapshots 40 --length 16 --width 7",
            "train --plume plume.npz -e dense --seeds 1 --episodes 50 --horizon 40 --start-threshold own",
            "train --plume plume.npz -e dense --seeds 1 --episodes 50 --horizon 40 --start-threshold own --out p "
            "--store runs",
            "bayes solve -e dense --plume plume.npz --backups 2 --start-threshold own --out bayes.npz",
            "sweep sweep.toml --out swept",
        ):
            app(words.split(), standalone_mode=False)
        # Its kernels start threads, which a process should not have when it is forked; so they are compiled elsewhere.
        words = (sys.executable, "-m", "whiffclock", "plume", "simulate", "s.npz", *BASES["plume", "simulate"][1:])
        if compile_all:
            subprocess.run(words, check=True, capture_output=True)
    finally:
        os.chdir(before)
    (folder / "closed").mkdir(mode=0o500)


def import_all() -> None:
    """Import what commands import, once, for all the processes that are forked."""
    for module in ("paper.page.report", "paper.figures", "paper.claims", "paper.reproduce", "notebook", "plots",
                   "plume.simulate.record", "plume.statistics", "paper.plume.tables", "pomdp.files", "agents.files",
                   "pomdp.blocks", "pomdp.solver"):  # fmt: skip
        import_module(f"whiffclock.{module}")


_PLUME = ("--plume", "plume.npz")
_OWN = ("--start-threshold", "own")
#: For each command, words that make it quick and complete.
BASES = {
    ("reproduce",): (*_PLUME, "--only", "fig1", "--out", "made"),
    ("report",): ("policies",),
    ("train",): (*_PLUME, *_OWN, "-e", "dense", "--seeds", "1", "--episodes", "50", "--horizon", "40", "--out", "made"),
    ("sweep", "run"): ("sweep.toml", "--out", "made"),
    ("sweep", "plot"): ("swept/sweep.nc", "--metric", "G", "--out", "made"),
    ("evaluate",): ("policies", *_PLUME, *_OWN, "--snapshots", "1"),
    ("compare",): ("policies", *_PLUME, *_OWN, "--snapshots", "1"),
    ("info",): (),
    ("runs", "list"): ("--store", "runs"),
    ("runs", "show"): ("0", "--store", "runs"),
    ("runs", "export"): ("made", "--store", "runs", *_PLUME),
    ("runs", "prune"): ("--store", "runs", "--dry-run"),
    ("bayes", "solve"): ("-e", "dense", *_PLUME, *_OWN, "--backups", "1", "--out", "made.npz"),
    ("bayes", "evaluate"): ("bayes.npz", *_PLUME, *_OWN, "--snapshots", "1"),
    ("pomdp", "solve"): ("tiger.pomdp", "--backups", "1"),
    ("plume", "simulate"): ("made.npz", "--snapshots", "4", "--spin-up", "1", "--fill", "1", "--points", "8,8,8",
                            "--length", "8", "--width", "5", "--target", "none"),
    ("plume", "standin"): ("made.npz", "--snapshots", "20", "--length", "9", "--width", "5"),
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
    """Nasty values for an option or argument, by its name or by how the help writes its value."""
    metavar = option.metavar or ""
    if option.name in TEXTS:
        return TEXTS[option.name]
    if metavar in ("N", "X"):
        return WHOLE if metavar == "N" else NUMBERS
    path = any(word in metavar for word in ("DIR", "FILE", "POLICY", "PLUME", "RESULT", "[A]", "[B]"))
    return PATHS if path else NAMES + NUMBERS


def cases(folder: Path) -> Iterator[Case]:
    """Every option and argument of every command, with every value that is nasty for it."""
    for name, command in commands():
        base = BASES.get(name, ())
        for option in command.params:
            if getattr(option, "is_flag", False) or option.name in ("help", "json"):
                continue
            for value in values(option):
                given = [w for w in option.opts if w.startswith("--")]
                words = (f"{given[0]}={value}",) if given else ("--", value)
                yield Case((*name, *(_without(base, option) if not given else base), *words), folder)


def _without(base: tuple[str, ...], argument: Any) -> tuple[str, ...]:
    """The words of a base without those of arguments, for a nasty argument in their place."""
    first = next((i for i, word in enumerate(base) if word.startswith("-")), len(base))
    return base[first:]


def attempt(case: Case, seconds: float = SECONDS) -> Outcome:
    """Run a case in a forked process, in a folder of links to the prepared files; Ctrl-C after ``seconds``."""
    with tempfile.TemporaryDirectory() as scratch:
        for file in case.folder.iterdir():
            if file.is_symlink() or not file.is_file():
                (Path(scratch) / file.name).symlink_to(os.readlink(file) if file.is_symlink() else file)
            else:
                os.link(file, Path(scratch) / file.name)
        said = Path(scratch) / ".said"
        child = os.fork()
        if child == 0:
            _be(case, scratch, said)
        end = _wait(child, seconds, PATIENCE)
        text = said.read_text(errors="replace") if said.exists() else ""
        parts = [p.name for p in Path(scratch).rglob(".*") if p.name not in (".said", ".runs")]
    return _judged(*end, text, parts)


def _be(case: Case, scratch: str, said: Path) -> None:
    """The child: the command line with the words of the case, as its own process would run it."""
    code = 99
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**30, 2**30))
        os.chdir(scratch)
        target = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(target, 1)
        os.dup2(target, 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        sys.argv = ["whiffclock", *case.words]
        try:
            from whiffclock.cli import main

            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _wait(child: int, seconds: float, patience: float) -> tuple[int | None, bool, float]:
    """The child's exit code (None if not even Ctrl-C ended it), whether Ctrl-C was needed, and its peak memory."""
    ends, interrupted = time.monotonic() + seconds, False
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), interrupted, used.ru_maxrss * 1024
        if time.monotonic() > ends:
            if interrupted:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None, True, 0.0
            os.kill(child, signal.SIGINT)
            interrupted, ends = True, time.monotonic() + patience
        time.sleep(0.01)


def _judged(code: int | None, interrupted: bool, memory: float, text: str, parts: list[str]) -> Outcome:
    if code is None:
        return Outcome("hang", -9, text)
    if memory > MOST_USED or "MemoryError" in text or "Unable to allocate" in text:
        return Outcome("memory", code, text)
    if code < 0:
        return Outcome("crash", code, text)
    if "Traceback (most recent call last)" in text or code == 99:
        return Outcome("traceback", code, text)
    if parts:
        return Outcome("leftover", code, f"{text}{parts}")
    if interrupted and code in (0, 130):
        return Outcome("long", code, text)
    if code == 0:
        return Outcome("harmless", code, text)
    known = text.lstrip().startswith("Usage:") or "whiffclock: " in text
    return Outcome("refused" if code in (1, 2) and known else "raw", code, text)


def main() -> None:
    """Run the cases and print a table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--every", type=int, default=1)
    asked.add_argument("--jobs", type=int, default=2)
    asked.add_argument("--only", default="")
    asked.add_argument("--verbose", action="store_true")
    how = asked.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        import_all()
        chosen = [case for case in cases(folder) if how.only in str(case)][:: how.every]
        with multiprocessing.get_context("fork").Pool(how.jobs) as pool:
            found = list(pool.imap(attempt, chosen))
    for case, outcome in zip(chosen, found, strict=True):
        if outcome.failed or how.verbose:
            last = [line for line in outcome.text.strip().splitlines() if line.strip()][-1:] or [""]
            print(f"{outcome.kind} ({outcome.code}): {case}\n    {last[0][:200]}".encode("utf-8", "replace").decode())
    counts = Counter((case.words[0], outcome.kind) for case, outcome in zip(chosen, found, strict=True))
    kinds = sorted({kind for _, kind in counts})
    print("command".ljust(12), *(kind.rjust(10) for kind in kinds))
    for command in sorted({command for command, _ in counts}):
        print(command.ljust(12), *(str(counts[command, kind]).rjust(10) for kind in kinds))
    totals = Counter(outcome.kind for outcome in found)
    print(f"{len(found)} cases".ljust(12), *(str(totals[kind]).rjust(10) for kind in kinds))


if __name__ == "__main__":
    main()
