"""How fast the bounds come together, on problem files and on a search model of the paper's size.

    python benchmarks/pomdp.py [FILE ...] [--alone] [--seconds 3 10 30 60] [--cpu] [--json OUT]

One core, one process for each problem: eight of Cassandra's collection, from a package on PyPI, the search model, and
the files given; with ``--alone`` only these. Where the reference solver ``pomdpsol`` is on the PATH, it runs beside
ours for as long, with the same precision. ``--cpu`` counts CPU seconds, for machines that are not idle.

The search model: p(whiff) = min(.9, .25 / (1 + x/20)) exp(-(y / (2 + .06 x))^2) for 0 <= x < 123; its policies are
then simulated, beside three that need no solver.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measurement import Add, Parser, peak_memory, run

if TYPE_CHECKING:
    from whiffclock.pomdp.gridsearch import GridSearch

#: The package with the collection, and what is taken from it: small and large, discounts from .9 to .999.
COLLECTION = "pomdp-toolkit==0.0.4"
PROBLEMS = ("tiger.95", "hallway", "hallway2", "tiger-grid", "mit", "iff", "aloha.10", "machine")
MARKS = (3.0, 10.0, 30.0, 60.0)
PRECISION = 1e-3
_NUMBER = r"(-?[\d.]+(?:e[-+]?\d+)?|-?inf|nan)"
#: A line of the reference's log: time, trials, backups, lower bound, upper bound, precision, vectors, beliefs.
_LOG = re.compile(r"^\s*" + r"\s+".join([_NUMBER] * 8) + r"\s*$", re.MULTILINE)


def search_model(strength: float = 0.25) -> GridSearch:
    """The search model of the paper's size."""
    import numpy as np

    from whiffclock.pomdp.gridsearch import GridSearch
    from whiffclock.world.moves import MOVES

    x, y = np.arange(-122, 123)[:, None], np.arange(-26, 27)[None]
    ahead = np.maximum(x, 0)
    chance = np.minimum(0.9, strength / (1 + ahead / 20)) * np.exp(-((y / (2 + 0.06 * ahead)) ** 2))
    chance = np.where(x >= 0, chance, 0.0)
    target = x**2 + y**2 <= 4
    initial = (~target & (chance > 0.01)).astype(float)
    return GridSearch(np.stack([1 - chance, chance]), target, initial / initial.sum(), MOVES)


def solved(name: str, seconds: float) -> dict[str, Any]:
    """Read and solve the problem in a file, or "search"; records are time, bounds, vectors, backups."""
    from whiffclock.params import InputError
    from whiffclock.pomdp.blocks import BlockModel
    from whiffclock.pomdp.files import read_model
    from whiffclock.pomdp.solver import SolverSettings, solve

    begun = time.perf_counter()
    try:
        model = search_model() if name == "search" else BlockModel(read_model(Path(name)))
        ready = time.perf_counter() - begun
        solution = solve(model, SolverSettings(seconds=seconds, gap=PRECISION))
    except InputError as error:
        return {"error": str(error)}
    history = [[s.seconds, s.lower, s.upper, s.vectors, s.backups] for s in solution.history]
    found = {"ready": ready, "history": history, "peak_memory": peak_memory()}
    return found | ({"simulated": simulated(model, solution)} if name == "search" else {})


def simulated(model: Any, solution: Any) -> dict[str, float]:
    """Discounted reward of policies in their own model."""
    from whiffclock.agents import bayes, beliefs

    choices = {"QMDP": beliefs.by_qmdp, "infotaxis": beliefs.by_infotaxis}
    choices["space-aware"] = beliefs.by_space_aware_infotaxis
    policies = [bayes.quasi_optimal(model, solution.vectors)]
    policies += [bayes.BeliefPolicy(name, model, choose) for name, choose in choices.items()]
    return {policy.name: float(bayes.discounted_rewards(policy).mean()) for policy in policies}


def reference(program: str, name: str, seconds: float) -> dict[str, Any]:
    """Records of the reference solver on the same problem; it counts its own CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        link, log = Path(folder, "problem" + Path(name).suffix.lower()), Path(folder, "log")
        link.symlink_to(Path(name).resolve())
        options = ["--timeout", f"{seconds:g}", "--precision", f"{PRECISION:g}", "-o", f"{folder}/out.policy"]
        with log.open("w") as file:
            running = subprocess.Popen([program, *options, str(link)], stdout=file, stderr=subprocess.STDOUT)
            _, _, used = os.wait4(running.pid, 0)
        rows = [[float(word) for word in row] for row in _LOG.findall(log.read_text(errors="replace"))]
    history = [[row[0], row[3], row[4], row[6], row[2]] for row in rows]
    return {"history": history, "peak_memory": used.ru_maxrss / 2**10}


def report(add: Add, name: str, found: dict[str, Any], marks: list[float]) -> None:
    """Measurements of one problem and one solver: bounds at each mark up to its end."""
    history = found.get("history")
    if not history:
        print(f"# {name}: {found.get('error', 'no result')}", flush=True)
        return
    if "ready" in found:
        add(f"{name}.ready", found["ready"], "s")
    add(f"{name}.first_bounds", history[0][0], "s")
    for mark in marks:
        last = [record for record in history if record[0] <= 1.02 * mark + 0.05][-1:]
        for _, lower, upper, vectors, backups in last:
            add(f"{name}.{mark:g}s.lower", lower, "reward")
            add(f"{name}.{mark:g}s.upper", upper, "reward")
            add(f"{name}.{mark:g}s.vectors", vectors, "vectors")
            add(f"{name}.{mark:g}s.backups", backups, "backups")
    add(f"{name}.ended", history[-1][0], "s")
    add(f"{name}.peak_memory", found["peak_memory"], "MB")
    for policy, reward in found.get("simulated", {}).items():
        add(f"{name}.simulated.{policy}", reward, "reward")


def collection(folder: Path) -> list[Path]:
    """Problems of the collection; none without a connection to PyPI."""
    options = ["--no-deps", "--no-binary", ":all:", "--quiet", "--dest", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", COLLECTION, *options], check=False)
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
    files = {path.stem: path for path in folder.rglob("*.POMDP")}
    return [files[name] for name in PROBLEMS if name in files]


def measure(add: Add, files: list[str], alone: bool, seconds: list[float], cpu: bool) -> None:
    program, longest = shutil.which("pomdpsol"), max(seconds)
    again = [sys.executable, __file__, "--seconds", str(longest), *(["--cpu"] if cpu else []), "--one"]
    with tempfile.TemporaryDirectory() as folder:
        standard = [] if alone else [*map(str, collection(Path(folder))), "search"]
        for name in [*standard, *files]:
            child = subprocess.run([*again, name], stdout=subprocess.PIPE, text=True, check=False)
            report(add, f"pomdp.{Path(name).stem}", json.loads(child.stdout or "{}"), seconds)
            if program and name != "search":
                report(add, f"pomdp.{Path(name).stem}.pomdpsol", reference(program, name, longest), seconds)


def add_options(parser: Parser) -> None:
    parser.add_argument("files", nargs="*", help='.pomdp and .pomdpx files, or "search"')
    parser.add_argument("--alone", action="store_true", help="leave out the standard problems")
    parser.add_argument("--seconds", type=float, nargs="+", default=MARKS, help="solve for the longest")
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if "--cpu" in sys.argv:
        time.perf_counter = time.process_time  # before the solver looks for its clock
    if "--one" in sys.argv:
        print(json.dumps(solved(sys.argv[-1], float(sys.argv[sys.argv.index("--seconds") + 1]))))
    else:
        run(measure, __doc__, add_options)
