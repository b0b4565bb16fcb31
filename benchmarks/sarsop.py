"""How fast the bounds come together, on any problem files and on a search model of the paper's size.

    python benchmarks/sarsop.py FILE... [--seconds 3 10 30] [--search] [--cpu] [--json OUT]

One core, one process for each problem. Prints lines ``name value unit``; the JSON file has the bounds over time, the
numbers of vectors and backups, and the memory. Where the reference solver ``pomdpsol`` is on the PATH, it runs beside
ours for as long, with the same precision. ``--cpu`` counts CPU seconds, for machines that are not idle.

The search model: p(whiff) = min(.9, .25 / (1 + x/20)) exp(-(y / (2 + .06 x))^2) for 0 <= x < 123; its policies are
then simulated, beside three that need no solver.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whiffclock.pomdp.gridsearch import GridSearch

PRECISION = 1e-3
_NUMBER = r"(-?[\d.]+(?:e[-+]?\d+)?|-?inf|nan)"
#: A line of the reference's log: time, trials, backups, lower bound, upper bound, precision, vectors, beliefs.
_LOG = re.compile(r"^\s*" + r"\s+".join([_NUMBER] * 8) + r"\s*$", re.MULTILINE)


def search_model(strength: float = 0.25) -> GridSearch:
    """The search model of the paper's size."""
    import numpy as np

    from whiffclock.policy import MOVES
    from whiffclock.pomdp.gridsearch import GridSearch

    x, y = np.arange(-122, 123)[:, None], np.arange(-26, 27)[None]
    ahead = np.maximum(x, 0)
    chance = np.minimum(0.9, strength / (1 + ahead / 20)) * np.exp(-((y / (2 + 0.06 * ahead)) ** 2))
    chance = np.where(x >= 0, chance, 0.0)
    target = x**2 + y**2 <= 4
    initial = (~target & (chance > 0.01)).astype(float)
    return GridSearch(np.stack([1 - chance, chance]), target, initial / initial.sum(), MOVES)


def solved(name: str, seconds: float, sampling: str) -> dict[str, Any]:
    """Read and solve the problem in a file, or "search"."""
    from whiffclock.params import InputError
    from whiffclock.pomdp.blocks import BlockModel
    from whiffclock.pomdp.files import read_model
    from whiffclock.pomdp.solver import SolverSettings, solve

    clock, found = time.perf_counter, {}
    begun = clock()
    try:
        model = search_model() if name == "search" else read_model(Path(name))
        found["read_seconds"] = clock() - begun
        if name != "search":
            sizes = ("states", "actions", "observations")
            found |= {size: len(getattr(model, size)) for size in sizes} | {"discount": model.discount}
            model = BlockModel(model)
            found |= {"blocks": model.n_blocks, "build_seconds": clock() - begun - found["read_seconds"]}
        solution = solve(model, SolverSettings(seconds=seconds, gap=PRECISION, sampling=sampling))
    except InputError as error:
        return {"error": str(error)}
    history = [[s.seconds, s.lower, s.upper, s.vectors, s.backups] for s in solution.history]
    found |= {"ended": solution.ended, "loose_first_bounds": solution.loose_first_bounds, "history": history}
    found |= {"megabytes": solution.history[-1].megabytes, "model_megabytes": getattr(model, "megabytes", 0.0)}
    found["peak_megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    if name == "search":
        found["simulated"] = simulated(model, solution)
    return found


def simulated(model: Any, solution: Any) -> dict[str, list[float]]:
    """Discounted reward of policies in their own model, and its standard error."""
    from whiffclock.agents import bayes

    choices = {"QMDP": bayes.qmdp, "infotaxis": bayes.infotaxis, "space-aware": bayes.space_aware_infotaxis}
    policies = [bayes.quasi_optimal(model, solution.vectors)]
    policies += [bayes.BeliefPolicy(name, model, choose) for name, choose in choices.items()]
    rewards = {policy.name: bayes.discounted_rewards(policy) for policy in policies}
    return {name: [reward.mean(), reward.std() / len(reward) ** 0.5] for name, reward in rewards.items()}


def reference(program: str, name: str, seconds: float) -> dict[str, Any]:
    """What the reference solver says of the same problem; it counts its own CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        link, log = Path(folder, "problem" + Path(name).suffix.lower()), Path(folder, "log")
        link.symlink_to(Path(name).resolve())
        options = ["--timeout", f"{seconds:g}", "--precision", f"{PRECISION:g}", "-o", f"{folder}/out.policy"]
        with log.open("w") as file:
            running = subprocess.Popen([program, *options, str(link)], stdout=file, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(running.pid, 0)
        rows = [[float(word) for word in row] for row in _LOG.findall(log.read_text(errors="replace"))]
    history = [[row[0], row[3], row[4], row[6], row[2]] for row in rows]
    return {"exit_status": status, "history": history, "peak_megabytes": used.ru_maxrss / 1e3}


def at(history: list[list[float]], seconds: float) -> list[float]:
    """The last record up to a time; the first one where there is none."""
    return [record for record in history if record[0] <= 1.02 * seconds + 0.05][-1:] + history[:1]


def tell(name: str, found: dict[str, Any], marks: list[float]) -> None:
    """Print what was found as lines ``name value unit``."""
    if not found.get("history"):
        print(f"# {name}: {found.get('error', 'no result')}", flush=True)
        return
    history = found["history"]
    lines = [("read", found.get("read_seconds"), "s"), ("build", found.get("build_seconds"), "s")]
    lines += [("first_bounds", history[0][0], "s")]
    for mark in marks:
        _, lower, upper, vectors, backups = at(history, mark)[0]
        lines += [(f"lower.{mark:g}s", lower, "reward"), (f"upper.{mark:g}s", upper, "reward")]
        lines += [(f"vectors.{mark:g}s", vectors, "vectors"), (f"backups.{mark:g}s", backups, "backups")]
    lines += [("peak_memory", found["peak_megabytes"], "MB")]
    lines += [(f"simulated.{who}", mean, "reward") for who, (mean, _) in found.get("simulated", {}).items()]
    for what, value, unit in lines:
        if value is not None:
            print(f"{name}.{what} {value:.6g} {unit}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help=".pomdp and .pomdpx files")
    parser.add_argument("--seconds", type=float, nargs="+", default=[3.0, 10.0, 30.0], help="solve for the longest")
    parser.add_argument("--search", action="store_true", help="solve the search model as well; without files, alone")
    parser.add_argument("--sampling", default="mixed")
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    longest = max(arguments.seconds)
    if arguments.one:
        print(json.dumps(solved(arguments.files[0], longest, arguments.sampling)))
        return
    program, results = shutil.which("pomdpsol"), {}
    again = [sys.executable, __file__, "--one", "--seconds", str(longest), "--sampling", arguments.sampling]
    for name in [*arguments.files, *(["search"] if arguments.search or not arguments.files else [])]:
        child = subprocess.run([*again, *(["--cpu"] if arguments.cpu else []), name], stdout=subprocess.PIPE, text=True)
        found = json.loads(child.stdout or "{}")
        short = "search" if name == "search" else Path(name).stem
        tell(f"sarsop.{short}", found, arguments.seconds)
        results[short] = found
        if program and name != "search":
            found["reference"] = reference(program, name, longest)
            tell(f"pomdpsol.{short}", found["reference"], arguments.seconds)
    if arguments.json:
        date = datetime.now(UTC).isoformat(timespec="seconds")
        host = {"machine": platform.machine(), "processors": os.cpu_count(), "python": platform.python_version()}
        about = {**host, "whiffclock": version("whiffclock"), "numba": version("numba"), "date": date}
        about["clock"] = "CPU" if arguments.cpu else "wall"
        arguments.json.write_text(json.dumps({"about": about, "sarsop": results}) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if "--cpu" in sys.argv:
        time.perf_counter = time.process_time  # before the solver looks for its clock
    main()
