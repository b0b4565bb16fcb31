"""Kernels stay within their arrays: a part of ``make test-bounds`` that is quick enough for every run."""

import os
import subprocess
import sys
from pathlib import Path

import whiffclock

TESTS = Path(__file__).parent

CHECKED = """
import sys
import numpy as np
import pytest
from whiffclock.pomdp import belief

one, room = np.zeros(1, dtype=np.int64), np.empty(1, dtype=np.int32)
with pytest.raises(IndexError):  # bounds are checked indeed
    belief.advance_all(one, one + 1, room, np.ones(1), one, one, one + 5, np.zeros((1, 1), dtype=np.int32),
                       np.ones((2, 1), dtype=np.float32), one, one.copy(), room.copy(), np.ones(1))
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def test_small_random_problems_with_bounds_checks(pytestconfig):
    environment = os.environ | {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_CACHE_DIR": str(pytestconfig.cache.mkdir("numba-bounds")),  # apart from the unchecked kernels
        "PYTHONPATH": str(Path(whiffclock.__file__).parents[1]),
    }
    words = ["test_pomdp_kernels.py", "test_beliefs.py", "-k", "kernels or alone or anew"]
    done = subprocess.run(
        [sys.executable, "-c", CHECKED, *words], cwd=TESTS, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
