"""Exports in lockstep with their policy: what is written is compiled or run, on records of whiffs.

In the records whiffs come at all readings of a clock, after short blanks and long ones; then there are coin flips.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from whiffclock.disk import first_line
from whiffclock.export.nose import whiffs_of
from whiffclock.export.settings import FrontEnd
from whiffclock.policy import Policy

SEARCHES, _FLIPS, _MOST = 32, 20_000, 2_000_000
#: Moves between whiffs that come before others, which lead into different modes.
_SHORT = (np.array([1]), np.array([1, 12]), np.zeros(0, dtype=np.int64))
#: Whatever takes a first whiff bit, and then each other, and returns moves.
Walk = Callable[[Iterable[int]], list[int]]
_WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1")
_MAIN = """\
#include <stdio.h>
#include "policy.h"
int main(void) {{
  {p}_state s = {{0}}; int c, i = 0;
  while ((c = getchar()) != EOF) {{
    putchar((i == 0) ? {p}_begin(&s, (uint8_t)c) : {p}_step(&s, (uint8_t)c));
    i = (i + 1) % {length};
  }}
  return 0;
}}
"""
_NOSE_MAIN = """\
#include <stdio.h>
#include "policy.h"
int main(void) {{
  {p}_nose s = {{0}}; int low, i = 0;
  while ((low = getchar()) != EOF) {{
    const uint16_t raw = (uint16_t)(low + 256 * getchar());
    if (i == 0) {{ {p}_nose_begin(&s, raw); i = 1; }}
    putchar({p}_nose_step(&s, raw));
  }}
  return 0;
}}
"""


def whiff_records(states: int, seed: int = 0) -> np.ndarray:
    """Whiffs and blanks uint8[search, move]."""
    rng = np.random.default_rng(seed)
    gaps = [np.column_stack([np.tile(short, (states + 1, 1)), rng.permutation(states + 1) + 1]) for short in _SHORT]
    times = np.cumsum(np.concatenate([some.ravel() for some in gaps]))
    times = times[times < _MOST]
    record = np.append(np.zeros(times[-1], dtype=np.uint8), rng.integers(2, size=_FLIPS, dtype=np.uint8))
    record[times - 1] = 1
    return record[: len(record) // SEARCHES * SEARCHES].reshape(SEARCHES, -1)


def readings(seed: int = 0, samples: int = 20_000) -> np.ndarray:
    """Readings uint16[n] of a made-up sensor: noise, drift, whiffs, and values at both ends of the range."""
    rng = np.random.default_rng(seed)
    drift = 20_000 + np.cumsum(rng.normal(0, 1, samples))
    whiffs = np.repeat(rng.random(samples // 20 + 1) < 0.1, 20)[:samples] * rng.exponential(300, samples)
    wild = rng.integers(0, 2**16, samples) * (rng.random(samples) < 0.002)
    return np.clip(drift + whiffs + rng.normal(0, 10, samples) + wild, 0, 2**16 - 1).astype(np.uint16)


def moves_of(policy: Policy, records: np.ndarray) -> np.ndarray:
    """The moves of a policy on records, uint8[search, move]."""
    whiffs = records.astype(bool)
    memory = policy.begin(whiffs[:, 0])
    found = [action := policy.act(memory)]
    for whiff in whiffs.T[1:]:
        memory = policy.observe(memory, action, whiff)
        found.append(action := policy.act(memory))
    return np.stack(found, axis=1).astype(np.uint8)


def walk_json(text: str) -> Walk:
    """The moves that a file in JSON says."""
    table = json.loads(text)
    return _walk(table["action"], table["after_blank"], table["after_whiff"], table["first"].values())


def walk_csv(text: str) -> Walk:
    """The moves that a file in CSV says."""
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    order = ("upwind", "+y", "-y", "downwind")
    blank, whiff = (columns["first"].index(one) if one in columns["first"] else columns["first"].index("both")
                    for one in ("blank", "whiff"))  # fmt: skip
    successors = [list(map(int, columns[name])) for name in ("after_blank", "after_whiff")]
    return _walk([order.index(move) for move in columns["action"]], successors[0], successors[1], (blank, whiff))


def _walk(actions: list[int], blank: list[int], whiff: list[int], first: Iterable[int]) -> Walk:
    begin = tuple(first)

    def walk(record: Iterable[int]) -> list[int]:
        state, found = -1, []
        for bit in record:
            state = begin[bit] if state < 0 else whiff[state] if bit else blank[state]
            found.append(actions[state])
        return found

    return walk


def walk_python(text: str) -> Walk:
    """The moves of an exported module, run by this Python."""
    space: dict[str, type] = {}
    exec(compile(text, "export", "exec"), space)

    def walk(record: Iterable[int]) -> list[int]:
        agent = space["Agent"]()
        return [agent.step(bit) for bit in record]

    return walk


def differs(policy: Policy, walk: Walk, states: int) -> int:
    """Number of moves in which an export differs from its policy."""
    records = whiff_records(states)
    moves = np.array([walk(record) for record in records.tolist()])
    return int((moves != moves_of(policy, records)).sum())


def compiler() -> str | None:
    """The C compiler of this machine, if there is one that works."""
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if found is None:
        return None
    try:
        run_c(found, "#include <stdint.h>\n#include <stdio.h>\nint main(void) { return 0; }\n", "", b"")
    except RuntimeError:
        return None
    return found


def run_c(compiler: str, program: str, header: str, given: bytes, *options: str) -> bytes:
    """Compile a program with a header, all warnings being errors, and run it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "policy.h").write_text(header, encoding="utf-8")
        (folder / "main.c").write_text(program, encoding="utf-8")
        words = [compiler, *(options or _WARNINGS), "-o", str(folder / "main"), str(folder / "main.c")]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                raise RuntimeError(f"{compiler} refuses the exported C: {done.stderr[:2000]}")
            return subprocess.run([folder / "main"], input=given, capture_output=True, check=True, timeout=120).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise RuntimeError(f"The exported C cannot be run: {first_line(error)}") from error


def differs_c(policy: Policy, text: str, prefix: str, states: int, compiler: str, *options: str) -> int:
    """The same for a header in C."""
    records = whiff_records(states)
    main = _MAIN.format(p=prefix, length=records.shape[1])
    moves = np.frombuffer(run_c(compiler, main, text, records.tobytes(), *options), dtype=np.uint8)
    expected = moves_of(policy, records).ravel()
    return int((moves != expected).sum()) if moves.size == expected.size else expected.size


def differs_nose(front_end: FrontEnd, text: str, prefix: str, compiler: str, *options: str) -> int:
    """Number of readings for which the front end in C differs from the one in Python."""
    raw = readings()
    main = _NOSE_MAIN.format(p=prefix)
    bits = np.frombuffer(run_c(compiler, main, text, raw.astype("<u2").tobytes(), *options), dtype=np.uint8)
    return int((bits != whiffs_of(raw, front_end)).sum()) if bits.size == raw.size else raw.size
