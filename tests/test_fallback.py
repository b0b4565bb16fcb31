"""Kernels where Numba lacks what makes them fast: the same results, to the bit."""

import os
import subprocess
import sys

import pytest

TRAIN = """
import hashlib
from whiffclock.agents.qlearning import Task, train
from whiffclock.world.episode import learn_row
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.params import LearningSettings, WorldSettings
from whiffclock.plume.toy import toy_plume

digest = hashlib.sha256()
for taus, width, on_whiff, how in [
    ((), 9, False, {}),
    ((2, 5), 40, True, {"bootstrap_at_horizon": False}),
    ((2, 5), 40, True, {"trace": 0.9}),
]:
    learning = LearningSettings.shortened(300, horizon=40, record_last=100, **how)
    world = WorldSettings(1.0, start_threshold=None, start_on_whiff=on_whiff)
    plume = toy_plume(60, 20, width)
    policy = train(Task(plume, 1e-6, clock(40, taus), learning, world, seed=2))
    assert policy.records["usage"].min() > 0
    for values in (policy.q, *policy.records.values(), *evaluate(policy, plume, 1e-6, world).arrays().values()):
        digest.update(values.tobytes())
digest = digest.hexdigest()
vector = type(learn_row).__name__ == "_Intrinsic"
"""
NO_RUNTIME_OPTION = """
from numba.core.cpu import CPUTargetOptions
for kind in CPUTargetOptions.__mro__:
    if "_nrt" in vars(kind):
        delattr(kind, "_nrt")
"""
NO_INTRINSIC = """
import numba.extending
del numba.extending.intrinsic
"""


NO_CACHE = """
import numba
from numba.core import caching
numba.njit(lambda x: x)(2)  # numba itself has imported all that it needs
del caching.FunctionCache
"""
OTHER_CACHE = """
from numba.core import caching
caching.FunctionCache.__init__ = lambda self, function: None
"""
DOUBLE = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from whiffclock.jit import kernel
    @kernel(calls=(__file__,))
    def double(x):
        return 2 * x
print(double(2), *[one.message for one in said])
"""


@pytest.mark.parametrize("missing", [NO_CACHE, OTHER_CACHE], ids=["none", "another"])
def test_kernels_work_where_the_cache_of_numba_is_another(missing, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(missing + DOUBLE)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    said = "This version of Numba has no cache that can be used; every process compiles its kernels."
    assert (done.stdout, done.stderr) == (f"4 {said}\n", "")


@pytest.fixture(scope="module")
def here():
    names = {}
    exec(TRAIN, names)
    assert names["vector"]
    return names["digest"]


@pytest.mark.parametrize(
    ("missing", "warnings", "vector"),
    [(NO_RUNTIME_OPTION, 1, "True"), (NO_INTRINSIC, 0, "False")],
    ids=["the option _nrt", "intrinsics"],
)
def test_kernels_give_the_same_bits_without(missing, warnings, vector, here, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", f"{missing}{TRAIN}print(digest, vector)"],
        capture_output=True, text=True, check=False, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning: This version of Numba has no option _nrt") == warnings
    assert done.stdout.split() == [here, vector]
