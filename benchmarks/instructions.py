"""Has a hot loop become slower? Instructions per unit of work, beside those kept in instructions.json.

    python benchmarks/instructions.py [--only NAME] [--keep] [--json OUT]

Prints lines ``name value unit``. Ends with 1, and a line for each, if a loop needs over 10% more instructions than
kept; ``--keep`` keeps the new numbers. Unlike times, they do not depend on other load.

The loops (loops.py) are compiled for one processor with AVX2, whatever the machine has, and run under valgrind's
callgrind. A loop is counted with some work and with twice as much; the difference is free of what does not grow with
the work. Those called plain run without intrinsics. Needs valgrind with its header callgrind.h, a C compiler and Linux
on x86-64.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measurement import Add, Measurements, about, measured, options, write

HERE = Path(__file__).parent
KEPT, COUNTER = HERE / "instructions.json", HERE / "callgrind.c"
TOLERANCE = 0.10
#: The processor that is compiled for; valgrind knows AVX2, and nothing newer.
TARGET = {"compiled for": "haswell"}
#: What the instructions depend on, besides the code.
DECISIVE = ("python", "numpy", "numba", "llvmlite", "scipy", "compiled for")
#: Loops that are counted without intrinsics, too.
PLAIN = ("training", "rollout")
NO_INTRINSIC = "import numba.extending; del numba.extending.intrinsic; "


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--keep", action="store_true", help="keep these numbers in instructions.json")
    parser.add_argument("--only", default="", metavar="NAME", help="only loops whose names begin with this")
    given = parser.parse_args()
    if missing := what_is_missing():
        parser.error(f"Instructions cannot be counted here: {missing}.")
    if given.keep and given.only:
        parser.error("--keep keeps all loops; leave out --only.")
    found = measured(measure, only=given.only.removeprefix("instructions."))
    if not found:
        parser.error(f"There is no loop whose name begins with {given.only!r}.")
    kept = json.loads(KEPT.read_text())
    grown, notes = compared(found, kept["measurements"])
    for line in grown + notes + other_versions(about() | TARGET, kept["about"]):
        print(line, file=sys.stderr)
    if given.json:
        write(given.json, found, **TARGET)
    if given.keep:
        write(KEPT, found, **TARGET)
    return 1 if grown and not given.keep else 0


def what_is_missing() -> str:
    """What counting needs and this machine lacks, or nothing."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return f"the kept numbers are of Linux on x86-64, and this is {platform.system()} on {platform.machine()}"
    for program in ("valgrind", "cc"):
        if not shutil.which(program):
            return f"{program} is not on the PATH"
    header = subprocess.run(["cc", "-fsyntax-only", str(COUNTER)], stderr=subprocess.DEVNULL).returncode == 0
    return "" if header else "valgrind's header callgrind.h is not installed"


def compared(found: Measurements, kept: Measurements) -> tuple[list[str], list[str]]:
    """A line for each loop that has grown, or was never kept; and for each that has shrunk."""
    grown, notes = [], []
    for name, new in found.items():
        if name not in kept:
            grown.append(f"{name}: not in {KEPT.name}; --keep adds it")
            continue
        value, before = float(new["value"]), float(kept[name]["value"])
        change = value / before - 1
        line = f"{name}: {value:.4g} per {str(new['unit']).partition('/')[2]}, {before:.4g} kept: {change:+.0%}"
        if change > TOLERANCE:
            grown.append(line)
        elif change < -TOLERANCE:
            notes.append(f"{line}; --keep guards the gain")
    return grown, notes


def other_versions(now: dict[str, str], kept: dict[str, str]) -> list[str]:
    """A line if the kept numbers are of other versions."""
    other = [f"{name} {kept.get(name)}, now {now[name]}" for name in DECISIVE if kept.get(name) != now[name]]
    return [f"The kept numbers are of other versions: {'; '.join(other)}."] if other else []


def measure(add: Add, only: str = "") -> None:
    """Instructions per unit of work of all loops, or of those whose names begin with ``only``."""
    from loops import LOOPS

    chosen = [name for name in LOOPS if name.startswith(only)]
    plain = [name for name in chosen if name in PLAIN]
    for suffix, names, before in (("", chosen, ""), (".plain", plain, NO_INTRINSIC)):
        for name, value in counted(names, before).items() if names else ():
            add(f"instructions.{name}{suffix}", value, f"instructions/{LOOPS[name].unit}")


def counted(names: list[str], before: str = "") -> dict[str, float]:
    """Instructions per unit of work, of some loops; ``before`` is run first, before the package is imported.

    The first run compiles, into a new cache, since a cached kernel does not notice every change. The second one loads
    what is compiled, and is counted.
    """
    with tempfile.TemporaryDirectory() as folder:
        library, out = Path(folder) / "callgrind.so", Path(folder) / "out"
        subprocess.run(["cc", "-shared", "-fPIC", str(COUNTER), "-o", str(library)], check=True)
        work = [sys.executable, "-c", f"{before}import loops; loops.count({str(library)!r}, {names!r})"]
        valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        settings = {f"{name}_NUM_THREADS": "1" for name in ("NUMBA", "OMP", "OPENBLAS")}
        settings |= {"NUMBA_CPU_NAME": TARGET["compiled for"], "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
        settings |= {"PYTHONHASHSEED": "0"}
        settings["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")]))
        for command in (work, valgrind + work):
            done = subprocess.run(command, env=os.environ | settings, stdout=subprocess.PIPE, text=True, check=True)
        said = json.loads(done.stdout)
        assert said["compilations"] == 0, "something was compiled while instructions were counted"
        totals = dict(total(path) for path in Path(folder).glob("out.*"))
    return {name: per_unit(name, said["units"], totals) for name in names}


def total(path: Path) -> tuple[str, int]:
    """Name and number of instructions of one of callgrind's files."""
    text = path.read_text()
    (name,) = re.findall(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    (instructions,) = re.findall(r"^totals: (\d+)$", text, re.MULTILINE)
    return name, int(instructions)


def per_unit(name: str, units: dict[str, int], totals: dict[str, int]) -> float:
    less, more = sorted((key for key in units if key.split()[0] == name), key=units.__getitem__)
    return (totals[more] - totals[less]) / (units[more] - units[less])


if __name__ == "__main__":
    sys.exit(main())
