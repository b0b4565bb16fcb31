"""Cases of the fuzzer: each runs the real command in a forked child, in a folder of its own, within limits.

All is imported, and every command was run once, before the first fork, so that a case takes milliseconds.
"""

import contextlib
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from small_pomdps import TIGER

from fuzz import options
from fuzz.damage import damage
from fuzz.seeds import Seed, compare_store, seeds
from whiffclock.entry import _run
from whiffclock.params import InputError

SECONDS, MEMORY = 30, 6 * 2**30
#: Outcomes, right and wrong ones.
GOOD = ("refused", "harmless", "other input")
BAD = ("believed", "traceback", "crash", "hang", "memory", "untidy", "leftover")
_RAW = re.compile(
    r"\b[A-Z]\w*(Error|Exception)\b|Errno|Traceback|object has no attribute|\bdtype\(|<class|0x[0-9a-f]{6}"
)
_NOISE = re.compile(
    r"\s+|-{3,}|\d+(\.\d+)? (bytes|[kMG]B)|\b(bytes|seconds) +[\d.e-]+|\"(seconds|microseconds\w*)\": [\d.e-]+"
)
_RECORD = re.compile(r"runs/[a-z]+(/[0-9a-f]{20}\.npz)?|policies(/[a-z]+(/[a-z][^/]*)?)?")
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
    """What a child did: exit code (or minus the signal that ended it), outputs, new files, peak memory, seconds."""

    code: int
    out: str
    err: str
    added: list[str]
    memory: int
    seconds: float


class Bench:
    """Seeds with their files, made once, and what an undamaged file gives."""

    def __init__(self, folder: Path, kinds: list[str] | None = None, every: bool = True) -> None:
        self.folder = folder
        found = [seed for seed in seeds() if not kinds or seed.kind in kinds]
        if not every:  # one of each kind, for a quick look
            found = list({seed.kind: seed for seed in reversed(found)}.values())
        self.seeds = [seed for seed in found for _ in range(seed.weight if every else 1)]
        self.templates = {id(seed): self._template(seed, i) for i, seed in enumerate(found)}
        if not kinds or "options" in kinds:
            option = Seed("options", "plume.npz", (), (), checked=False, make=_for_options)
            self.templates[id(option)] = self._template(option, len(found))
            self.seeds += [option] * (4 if every else 1)
        self.normal: dict[int, Child] = {}
        for seed in {id(seed): seed for seed in self.seeds}.values():
            if seed.command:
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
            shutil.copytree(self.templates[id(seed)], place)
            yield place

    def case(self, start: int, number: int, only: int | None = None) -> Outcome:
        """Case ``number`` of the sequence ``start``, or ``only`` one of its steps."""
        rng = np.random.default_rng([start, number])
        seed = self.seeds[rng.integers(len(self.seeds))]
        with self._copy(seed) as place:
            if not seed.command:
                words = options.command(rng)
                return _judged(run(words, place), seed, None, " ".join(map(repr, words)), checked=False)
            made = []
            for step in range(int(rng.choice([1, 1, 1, 2]))):
                if only in (None, step):
                    with contextlib.suppress(Exception):
                        # what is damaged twice may be beyond the second damage
                        made.append(damage(place / seed.file, seed.ways, np.random.default_rng([start, number, step])))
            _same_time(place)
            how = f"{seed.file}, read by {_shown(seed.command)}: {'; then '.join(how for how, _ in made)}"
            checked = seed.checked and not any(deliberate for _, deliberate in made)
            return _judged(run(seed.command, place), seed, self.normal[id(seed)], how, checked)

    def kind(self, start: int, number: int) -> str:
        """The kind of a case."""
        return self.seeds[np.random.default_rng([start, number]).integers(len(self.seeds))].kind


def _for_options(folder: Path) -> None:
    compare_store(folder)
    (folder / "policy.npz").rename(folder / "p.npz")
    (folder / "a.pomdp").write_text(TIGER)


def _shown(command) -> str:
    return " ".join(command) if isinstance(command, tuple) else "a job"


def _same_time(place: Path) -> None:
    for path in [place, *place.rglob("*")]:
        with contextlib.suppress(OSError):
            os.utime(path, _MOMENT, follow_symlinks=False)


def _judged(child: Child, seed: Seed, normal: Child | None, how: str, checked: bool) -> Outcome:
    return Outcome(_name(child, seed, normal, checked), how, child.err.strip()[-2000:], child.seconds)


def _name(child: Child, seed: Seed, normal: Child | None, checked: bool) -> str:
    if child.code in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang"
    if child.memory > MEMORY * 0.75:
        return "memory"
    if child.code < 0:
        return "crash"
    if "Traceback (most recent" in child.err or child.code not in (0, 1, 2):
        return "traceback"
    if child.code:  # 1: not enough memory, and the like
        if child.added:
            return "leftover"
        lines = child.err.strip().splitlines()
        usage = not seed.command and lines and lines[0].startswith("Usage:")
        tidy = usage or (len(lines) == 1 and lines[0].startswith("whiffclock: ") and not _RAW.search(lines[0]))
        return "refused" if tidy else "untidy"
    if normal is None:
        return "other input"
    if _NOISE.sub("", child.out) == _NOISE.sub("", normal.out):
        return "harmless"
    if "damaged" in child.out and "damaged" not in normal.out:  # a list that says so
        return "refused"
    return "believed" if checked else "other input"


def run(command, place: Path) -> Child:
    """Run a command in a child, in the folder ``place``, within limits."""
    before = _listing(place)
    out, err = place.parent / "out", place.parent / "err"
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _become(command, place, out, err)
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        if time.monotonic() - began > 3 * SECONDS:  # of the clock; the machine may be busy
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    texts = (path.read_text("utf-8", "replace") for path in (out, err))
    new = _listing(place) - before
    added = sorted(name for name in new if not _RECORD.fullmatch(name))  # finished work is kept
    return Child(os.waitstatus_to_exitcode(status), *texts, added, used.ru_maxrss * 1024, time.monotonic() - began)


def _listing(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


def _become(command, place: Path, out: Path, err: Path) -> None:
    """The child's whole life."""
    code = 1
    try:
        os.chdir(place)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = _call(command)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _call(command) -> int:
    """The exit code of a command, which prints as it always does."""
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
