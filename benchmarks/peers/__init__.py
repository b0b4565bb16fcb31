"""What others offer on PyPI: each is installed into a throwaway environment, and measured there by a script.

The scripts in this folder run in that environment, know nothing of whiffclock, and print lines ``name value unit``.
"""

import os
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measurement import Add

from whiffclock.agents.qlearning import Task


@dataclass(frozen=True)
class Peer:
    """A package, what is measured of it, and the script that does so, with its arguments."""

    name: str
    what: str
    script: str
    packages: tuple[str, ...]
    arguments: tuple[str, ...] = ()


_GYMNASIUM = ("gymnasium==1.4.0", "numpy==2.4.6")
_OLFACTORY = (
    "olfactory-navigation==1.0.9", "numpy==2.4.6", "scipy==1.17.1", "h5py==3.16.0", "pandas==3.1.1",
    "matplotlib==3.11.2", "tqdm==4.70.1", "opencv-python-headless==5.0.0.93",
)  # fmt: skip
LEARNERS = (
    Peer("gymnasium", "the loop of many tutorials: Gymnasium, Q-matrix in numpy", "gymnasium_loop.py", _GYMNASIUM),
    Peer("simple-rl", "its Q-learner on the same task", "learn_simple_rl.py",
         ("simple-rl==0.811", "numpy==2.4.6", "matplotlib==3.11.2")),
    Peer("table-rl", "its Q-learner on the same task", "learn_table_rl.py", ("table-rl==0.3.0", *_GYMNASIUM)),
    Peer("bettermdptools", "its Q-learner on the same task", "learn_bettermdptools.py", ("bettermdptools==0.9.0",)),
    Peer("pymdptoolbox", "its Q-learner on matrices of as many states", "learn_pymdptoolbox.py",
         ("pymdptoolbox==4.0b3", "numpy==2.4.6", "scipy==1.17.1")),
    Peer("olfactory-navigation", "its Q-learner in the same record, with its own states", "olfactory.py",
         _OLFACTORY, ("learn",)),
    Peer("plume-nav-sim", "random steps in its own environment, without learning", "step_plume_nav_sim.py",
         ("plume-nav-sim==0.1.0", *_GYMNASIUM)),
)  # fmt: skip
SEARCHERS = (
    Peer("olfactory-navigation", "its FSVI and infotaxis agents from the same starts", "olfactory.py",
         _OLFACTORY, ("search",)),
)  # fmt: skip
#: Packages that are not measured, and why.
NOT_MEASURED = {
    "mothpy 0.0.1": "import fails",
    "msdm 0.11": "needs torch, Julia and cvxpy",
    "mushroom-rl 1.10.2": "needs torch 2.5.1 and numpy 1.24.4",
    "olfactory-navigation 1.1.0": "contains no agents; version 1.0.9 is measured",
    "otto 1.2": "does not build; its set-up is written for Python 2",
    "pyqlearning 1.2.7": "fails with pandas 3",
    "qlearning 1.0.0": "needs tensorflow 1 and a video game",
    "rl-agents 0.1.1": "needs gym 0.17 and numpy before 2",
    "rlberry-scool 0.7.3": "its Q-learner comes with 1.2 GB of other packages",
    "rlmini 0.1.0": "contains no module",
    "tabular-rl 0.1.0": "has double Q-learning only",
}


def write_world(path: Path, task: Task, starts: np.ndarray) -> None:
    """Write what the scripts need of a task, and starts int[n, 3] of searches."""
    whiffs, memory = task.plume.whiffs(task.threshold), task.memory
    np.savez(
        path,
        whiffs=np.moveaxis(whiffs.record(slice(None)), 1, 0),
        cells=task.plume.starts(task.threshold, task.world),
        next_node=memory.next_node,
        row=memory.row,
        first=memory.first,
        source=[*whiffs.source, int(task.world.radius**2), task.learning.horizon],
        gamma=task.learning.gamma,
        starts=starts,
    )


def measure_peers(add: Add, benchmark: str, peers: tuple[Peer, ...], task: Task, starts: np.ndarray) -> None:
    """Measure ``peers``; where one cannot be installed or fails, say so and go on."""
    for peer in peers:
        with tempfile.TemporaryDirectory() as folder:
            world = Path(folder) / "world.npz"
            write_world(world, task, starts)
            python = _installed(peer, Path(folder) / "environment")
            if python is None:
                print(f"# {peer.name} could not be installed", flush=True)
                continue
            found = _run([python, "-B", Path(__file__).with_name(peer.script), world, *peer.arguments])
        for line in found.stdout.splitlines():
            if line.startswith(peer.name):
                name, value, unit = line.split()
                add(f"{benchmark}.{name}", float(value), unit)
        if found.returncode:
            print(f"# {peer.name} failed: {found.stderr.strip().splitlines()[-1]}", flush=True)


def _installed(peer: Peer, folder: Path) -> Path | None:
    """Python of a new environment with the packages of a peer; None where they cannot be installed."""
    venv.create(folder)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    return python if _run([*pip, "--no-compile", "--retries", "0", *peer.packages]).returncode == 0 else None


def _run(command: list) -> subprocess.CompletedProcess:
    one_core = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, env=os.environ | one_core)
