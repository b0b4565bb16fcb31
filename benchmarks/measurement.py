"""What a benchmark measured: printed as lines ``name value unit``, and written as JSON.

A benchmark is a file with a function ``measure(add)`` that calls ``add(name, value, unit)``, and ends with
``run(measure, __doc__)``. Its name is the first part of the names of its measurements. Options of its own are further
arguments of ``measure``.
"""

import argparse
import json
import os
import platform
import resource
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

Add = Callable[[str, float, str], None]
Parser = argparse.ArgumentParser
Measurements = dict[str, dict[str, float | str]]
PACKAGES = ("whiffclock", "numpy", "numba", "llvmlite", "scipy")


def about() -> dict[str, str]:
    """Date, machine and versions."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "processors": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def processor() -> str:
    """Name of the processor, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    names = [line for line in cpuinfo.read_text().splitlines() if "model name" in line] if cpuinfo.exists() else []
    return names[0].partition(":")[2].strip() if names else platform.processor()


def peak_memory() -> float:
    """Peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def measured(measure: Callable[..., None], **given: Any) -> Measurements:
    """Run a benchmark with these options, and print what it measures."""
    found: Measurements = {}

    def add(name: str, value: float, unit: str) -> None:
        assert name not in found, f"{name} was measured twice"
        found[name] = {"value": float(f"{value:.6g}"), "unit": unit}
        print(f"{name} {value:.4g} {unit}", flush=True)

    measure(add, **given)
    return found


def write(path: Path, found: Measurements, **more: str) -> None:
    """Write measurements to a file, with date, machine, versions, and ``more``."""
    path.write_text(json.dumps({"about": about() | more, "measurements": found}, indent=1) + "\n")


def options(description: str | None) -> Parser:
    """The options that every benchmark has."""
    parser = Parser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the measurements to this file as well")
    return parser


def run(
    measure: Callable[..., None], description: str | None, add_options: Callable[[Parser], None] = lambda parser: None
) -> None:
    """Run a benchmark as a command with the option ``--json`` and those that ``add_options`` adds."""
    parser = options(description)
    add_options(parser)
    given = vars(parser.parse_args())
    file = given.pop("json")
    found = measured(measure, **given)
    if file:
        write(file, found)
