"""Cases of the fuzzer: each runs the real command in a forked child, in a folder of its own, within limits.

All is imported, and every command was run once, before the first fork, so that a case takes milliseconds.
"""

import contextlib
import faulthandler
import functools
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuzz import options
from fuzz.damage import damage
from fuzz.seeds import Seed, seeds
from whiffclock.entry import _prepare_streams, _run
from whiffclock.params import InputError

SECONDS, MEMORY, LARGEST_FILE = 30, 6 * 2**30, 2**30
#: What may work for long gets Ctrl-C after some seconds, and must stop within some.
STOP_AFTER, STOP_WITHIN = 4, 2
#: Outcomes that are allowed, and those that are not.
GOOD = ("refused", "harmless", "other input", "stopped")
BAD = ("believed", "traceback", "crash", "hang", "memory", "untidy", "leftover")
_RAW = re.compile(
    r"\b[A-Z]\w*(Error|Exception)\b|Errno|Traceback|object has no attribute|\bdtype\(|<class|0x[0-9a-f]{6}"
)
_NOISE = re.compile(
    r"\s+|-{3,}|\d+(\.\d+)? (bytes|[kMG]B)|\b(bytes|seconds) +[\d.e-]+|\"(seconds|microseconds\w*)\": [\d.e-]+"
)
_RECORD = re.compile(r"runs/[a-z]+(/[0-9a-f]{20}\.npz)?|policies(/[a-z]+(/[a-z][^/]*)?)?|made/dense/single-q[^/]*\.npz")
_MOMENT = (10**9, 10**9)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""

    name: str
    how: str
    said: str
    seconds: float


@dataclass(frozen=True)
class Child:
    """Result of a child process: exit code (or minus the signal that ended it), outputs, new files, and so on."""

    code: int
    out: str
    err: str
    added: list[str]
    memory: int
    seconds: float
    interrupted: bool


class Bench:
    """Seeds with their files, made once, and the output for undamaged files."""

    def __init__(self, folder: Path, kinds: list[str] | None = None, every: bool = True) -> None:
        self.folder = folder
        found = [seed for seed in seeds() if not kinds or seed.kind in kinds]
        if not every:  # one of each kind, for a quick look
            found = list({seed.kind: seed for seed in reversed(found)}.values())
        self.seeds = [seed for seed in found for _ in range(seed.weight if every else 1)]
        self.templates = {id(seed): self._template(seed, i) for i, seed in enumerate(found)}
        self.option_cases = options.every_case() if not kinds or "options" in kinds else []
        if self.option_cases:
            make = functools.partial(options.prepare, compile_all=every)
            self.option = Seed("options", "plume.npz", (), (), checked=False, make=make, long=True)
            self.templates[id(self.option)] = self._template(self.option, len(found))
            options.import_all()
        self.normal: dict[int, Child] = {}
        for seed in {id(seed): seed for seed in self.seeds}.values():
            if seed.warm:
                with self._copy(seed) as place:
                    _warm_up(seed.command, place)
            with self._copy(seed) as place:
                _same_time(place)
                self.normal[id(seed)] = run(seed.command, place)
            assert self.normal[id(seed)].code == 0, (seed, self.normal[id(seed)])

    def _template(self, seed: Seed, i: int) -> Path:
        folder = self.folder / f"template{i}"
        folder.mkdir(parents=True)
        seed.make(folder)
        assert (folder / seed.file).exists(), seed
        return folder

    @contextlib.contextmanager
    def _copy(self, seed: Seed):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            place = Path(folder) / "case"
            shutil.copytree(self.templates[id(seed)], place, symlinks=True, copy_function=_copied)
            yield place

    def case(self, start: int, number: int, only: int | None = None) -> Outcome:
        """Case ``number`` of the sequence ``start``, or ``only`` one of its steps."""
        if self._is_option(number):
            turn = number // 4 * 2 + number % 4 if self.seeds else number
            return self.attempt(options.one_of(self.option_cases, start, turn))
        rng = np.random.default_rng([start, number])
        seed = self.seeds[rng.integers(len(self.seeds))]
        with self._copy(seed) as place:
            made = []
            for step in range(int(rng.choice([1, 1, 1, 2]))):
                if only in (None, step):
                    made += _damaged(place / seed.file, seed, np.random.default_rng([start, number, step]))
            _same_time(place)
            how = f"{seed.file}, read by {_shown(seed.command)}: {'; then '.join(how for how, _ in made)}"
            checked = seed.checked and not any(deliberate for _, deliberate in made)
            return _outcome(run(seed.command, place, seed.long), seed, self.normal[id(seed)], how, checked)

    def attempt(self, words: Sequence[str]) -> Outcome:
        """A command beside the files that :func:`options.prepare` makes."""
        with self._copy(self.option) as place:
            how = " ".join(word if len(word) < 60 else f"{word[:40]}...({len(word)})" for word in map(repr, words))
            return _outcome(run(words, place, long=True), self.option, None, how, checked=False)

    def _is_option(self, number: int) -> bool:
        """Two of four cases are of options, so that two workers have the same work."""
        return bool(self.option_cases) and (number % 4 < 2 or not self.seeds)

    def kind(self, start: int, number: int) -> str:
        """The kind of a case."""
        if self._is_option(number):
            return self.option.kind
        return self.seeds[np.random.default_rng([start, number]).integers(len(self.seeds))].kind


def _damaged(path: Path, seed: Seed, rng: np.random.Generator) -> list[tuple[str, bool]]:
    """Damage a file, in a child process: HDF5 may crash on a file that is already damaged."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with contextlib.suppress(Exception):
            os.write(write, json.dumps(damage(path, seed.ways, rng)).encode())
        os._exit(0)
    os.close(write)
    with open(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return [tuple(json.loads(said))] if said else []


def _copied(source: str, target: str) -> None:
    if Path(source).is_fifo():
        os.mkfifo(target)
    else:
        shutil.copy2(source, target)


def _shown(command) -> str:
    return " ".join(command) if isinstance(command, tuple) else "a job"


def _same_time(place: Path) -> None:
    for path in [place, *place.rglob("*")]:
        with contextlib.suppress(OSError):
            os.utime(path, _MOMENT, follow_symlinks=False)


def _outcome(child: Child, seed: Seed, normal: Child | None, how: str, checked: bool) -> Outcome:
    return Outcome(_name(child, seed, normal, checked), how, child.err.strip()[-20_000:], child.seconds)


def _name(child: Child, seed: Seed, normal: Child | None, checked: bool) -> str:
    if child.code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang"
    if child.memory > MEMORY * 0.75:
        return "memory"
    if child.code < 0:
        return "crash"
    expected = (0, 1, 2, 130) if child.interrupted else (0, 1, 2)
    if "Traceback (most recent" in child.err or "KeyboardInterrupt" in child.err or child.code not in expected:
        return "traceback"
    if child.interrupted and child.code in (0, 130):
        return "leftover" if any("/." in f"/{name}" for name in child.added) else "stopped"
    if child.code:  # 1: not enough memory, and the like
        if child.added:
            return "leftover"
        lines = child.err.strip().splitlines() or [""]
        usage = not seed.command and lines[0].startswith("Usage:")
        sentence = lines[-1].startswith("whiffclock: ") and not _RAW.search(child.err)
        tidy = usage or (sentence and (seed.long or len(lines) == 1))  # lines of progress may be before it
        return "refused" if tidy else "untidy"
    if normal is None:
        return "other input"
    if _NOISE.sub("", child.out) == _NOISE.sub("", normal.out):
        return "harmless"
    if "damaged" in child.out and "damaged" not in normal.out:  # a list that says so
        return "refused"
    return "believed" if checked else "other input"


def run(command, place: Path, long: bool = False) -> Child:
    """Run a command in a child, in the folder ``place``, within limits; Ctrl-C ends what may work for ``long``."""
    before = _listing(place)
    out, err = place.parent / "out", place.parent / "err"
    began, waited, interrupted, limit = time.monotonic(), 0.0, False, STOP_AFTER if long else SECONDS
    pid = os.fork()
    if pid == 0:
        _become(command, place, out, err)
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        waited = max(waited, _waited(pid))  # threads that have ended are not counted any more
        if (worked := time.monotonic() - began - waited) > limit:
            os.kill(pid, signal.SIGKILL if interrupted or not long else signal.SIGINT)
            interrupted, limit = long, worked + STOP_WITHIN
        time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # processes that it started
    texts = (path.read_text("utf-8", "replace") for path in (out, err))
    new = _listing(place) - before
    kept = {name for name in new if _RECORD.fullmatch(name)}  # finished work is kept
    kept |= {str(folder) for name in kept for folder in Path(name).parents}
    added = sorted(new - kept)
    code, seconds = os.waitstatus_to_exitcode(status), time.monotonic() - began
    return Child(code, *texts, added, used.ru_maxrss * 1024, seconds, interrupted)


def _waited(pid: int) -> float:
    """Seconds that a process waited for a core; that of its threads which waited most."""
    with contextlib.suppress(OSError, IndexError):
        files = Path(f"/proc/{pid}/task").glob("*/schedstat")
        return max((int(file.read_text().split()[1]) for file in files), default=0) / 1e9
    return 0.0


def _listing(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


def _become(command, place: Path, out: Path, err: Path) -> None:
    """Run the command in the child process, and exit."""
    code = 1
    try:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(place)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        _prepare_streams()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.dump_traceback_later(SECONDS - 3)  # shows the cause of a hang
        code = _call(command)
        sys.stdout.flush()
        threading._shutdown()  # type: ignore[attr-defined]  # as at the end of a process: threads are waited for
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _call(command) -> int:
    """Run a command; return its exit code."""
    if callable(command):
        try:
            print(command())
        except InputError as error:
            print(f"whiffclock: {error}", file=sys.stderr)
            return 2
        return 0
    sys.argv = ["whiffclock", *command]
    return _run()


def _warm_up(command, place: Path) -> None:
    """Run a command in this process, so that children find its kernels compiled."""
    here = os.getcwd()
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        os.chdir(place)
        try:
            _call(command)
        finally:
            os.chdir(here)
