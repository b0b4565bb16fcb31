"""Kernels where Numba no longer has the option that they are compiled with: a warning, and the same results."""

import os
import subprocess
import sys

TRAIN = """
import hashlib
from whiffclock.agents.qlearning import Task, train
from whiffclock.memory import clock
from whiffclock.params import LearningSettings, WorldSettings
from whiffclock.plume.standin import standin_plume

plume = standin_plume(60, 20, 9)
task = Task(plume, 1e-6, clock(40, (3,)), LearningSettings.shortened(300, horizon=40), WorldSettings(1.0), seed=2)
digest = hashlib.sha256(train(task).q.tobytes()).hexdigest()
"""
GONE = """
from numba.core.cpu import CPUTargetOptions
for kind in CPUTargetOptions.__mro__:
    if "_nrt" in vars(kind):
        delattr(kind, "_nrt")
"""


def test_without_the_option_training_warns_and_gives_the_same_bits(tmp_path):
    here = {}
    exec(TRAIN, here)
    done = subprocess.run(
        [sys.executable, "-c", f"{GONE}{TRAIN}print(digest)"],
        capture_output=True, text=True, check=False, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning: This version of Numba has no option _nrt") == 1
    assert done.stdout.split() == [here["digest"]]
