"""Benchmarks: pages quote what was measured; the guard of the hot loops names grown ones, and its loops run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    import instructions
    import loops
finally:
    sys.path.remove(str(BENCHMARKS))


def test_pages_quote_what_was_measured():
    done = subprocess.run([sys.executable, BENCHMARKS / "page.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def per_step(**values):
    return {name: {"value": value, "unit": "instructions/step"} for name, value in values.items()}


def test_a_loop_that_grows_is_named():
    found = per_step(rollout=112.0, training=109.9, search=80.0, fresh=1.0)
    kept = per_step(rollout=95.0, training=100.0, search=100.0, gone=1.0)
    grown, notes = instructions.compared(found, kept)
    assert grown == [
        "rollout: 112 per step, 95 kept: +18%",
        "fresh: not in instructions.json; --keep adds it",
    ]
    assert notes == ["search: 80 per step, 100 kept: -20%; --keep guards the gain"]


def test_other_versions_are_named():
    kept = dict.fromkeys(instructions.DECISIVE, "1.0")
    assert instructions.other_versions(kept | {"date": "later"}, kept) == []
    assert instructions.other_versions(kept | {"numba": "2.0"}, kept) == [
        "The kept numbers are of other versions: numba 1.0, now 2.0."
    ]


def test_every_loop_is_kept():
    kept = json.loads(instructions.KEPT.read_text())["measurements"]
    plain = [f"instructions.{name}.plain" for name in instructions.PLAIN]
    assert list(kept) == [f"instructions.{name}" for name in loops.LOOPS] + plain
    for name, loop in loops.LOOPS.items():
        assert kept[f"instructions.{name}"]["unit"] == f"instructions/{loop.unit}"


@pytest.mark.parametrize("name", loops.LOOPS)
def test_twice_the_size_is_about_twice_the_work(name):
    loop = loops.LOOPS[name]
    work = loop.prepare()
    once = work(loop.size)
    assert 1.5 * once < work(2 * loop.size) < 2.5 * once
