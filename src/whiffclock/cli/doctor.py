"""``whiffclock doctor``: what a bug report needs, and whether this installation works."""

import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import typer

from whiffclock import __version__
from whiffclock.cli import app
from whiffclock.cli import options as opt
from whiffclock.cli.annotations import with_options
from whiffclock.params import InputError

_REQUIRED = "numpy numba llvmlite scipy matplotlib xarray pandas h5py h5netcdf msgspec typer rich"
#: Extras, and a package that each of them brings.
EXTRAS = {
    "movies": "av",
    "zarr": "zarr",
    "parquet": "pyarrow",
    "large": "dask",
    "fetch": "pooch",
    "gym": "gymnasium",
    "cluster": "distributed",
}
#: Variables of the environment that change how we run.
_VARIABLES = ("WHIFFCLOCK_", "NUMBA_", "MPL", "PYTHON")
#: A training, and the digest of its moves, which do not depend on the machine.
_EPISODES, _MOVES = 2_000, "0e29e804"
_SEARCHES = 20


@app.command()
@with_options
def doctor(*, json: opt.AsJson = False) -> None:
    """Versions, cores and folders, and a self-test of ten seconds, for bug reports.

    The first call on a machine also compiles the kernels, which takes longer.
    The exit code is 1 if a test fails.

    Example: whiffclock doctor
    """
    facts = surroundings()
    if not json:
        opt.out.print(opt.facts_table(facts))
    tests: dict[str, str] = {}
    for name, test in TESTS.items():
        passed, said = outcome(test)
        tests[name] = said if passed else f"FAILED: {said}"
        if not json:
            opt.out.print(f"{'ok    ' if passed else 'FAILED'}  {name}: {said}", soft_wrap=True)
    if json:
        opt.print_json(facts | {"tests": tests})
    raise typer.Exit(int(any(said.startswith("FAILED") for said in tests.values())))


def surroundings() -> dict[str, Any]:
    """Versions, machine and folders."""
    from whiffclock.jit import cache_place
    from whiffclock.runs.engine import cores
    from whiffclock.world.episode import rollout

    return {
        "whiffclock": f"{__version__} in {Path(__file__).parents[1]}",
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.platform()}, {platform.machine()}",
        "cores": cores(),
        "packages": {name: _version(name) for name in _REQUIRED.split()},
        "extras": {extra: _version(package) for extra, package in EXTRAS.items()},
        "compiled kernels": cache_place(rollout),
        "downloads": _downloads(),
        "variables": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_VARIABLES)},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "no"


def _downloads() -> str:
    from whiffclock.plume.reading.fetch import cache_folder

    try:
        return str(cache_folder())
    except InputError:
        return "none, without the extra fetch"


def outcome(test: Callable[[], str]) -> tuple[bool, str]:
    """Whether a test passes, and what it found; nothing that it raises ends the command."""
    start = perf_counter()
    try:
        return True, f"{test()} ({perf_counter() - start:.1f} s)"
    except Exception as error:
        return False, f"{type(error).__name__}: {' '.join(str(error).split())}"


def searches() -> str:
    """Compiled searches end as those of the search loop in Python."""
    import whiffclock as wc

    policy, plume = wc.shipped("clock-sparse"), wc.builtin_plume()
    done = wc.evaluate(policy, plume, snapshots=1)
    some = range(0, len(done.starts), len(done.starts) // _SEARCHES)
    for i in some:
        found = wc.search(policy, plume, tuple(map(int, done.starts.points[i])))
        if (found.moves if found.arrived else 0) != done.arrival[i]:
            raise AssertionError(f"the search from {done.starts.points[i]} takes {done.arrival[i]} moves, not {found}")
    return f"{len(some)} searches take the same moves compiled and in Python"


def training() -> str:
    """A training has its known result."""
    import hashlib

    import whiffclock as wc

    plume = wc.builtin_plume()
    wc.train(plume, "sparse", episodes=1)  # compiles
    start = perf_counter()
    policy = wc.train(plume, "sparse", episodes=_EPISODES)
    found = hashlib.sha256(policy.actions.astype("int8").tobytes()).hexdigest()[: len(_MOVES)]
    if found != _MOVES:
        raise AssertionError(f"the agent has learned other moves ({found}) than expected ({_MOVES})")
    return f"{_EPISODES:,} episodes in {perf_counter() - start:.2f} s, with the expected moves"


def figures() -> str:
    """A figure can be drawn."""
    from io import BytesIO

    from matplotlib.figure import Figure

    import whiffclock as wc

    figure, picture = Figure(), BytesIO()
    wc.plot_recovery_path(wc.shipped("clock-sparse"), ax=figure.subplots())
    figure.savefig(picture, format="png")
    return f"a picture of {len(picture.getvalue()):,} bytes"


def files() -> str:
    """Policies and datasets come back from files as they were."""
    from tempfile import TemporaryDirectory

    import xarray as xr

    import whiffclock as wc
    from whiffclock.netcdf import read_dataset, write_dataset

    with TemporaryDirectory() as folder:
        policy = wc.shipped("clock-sparse")
        policy.save(Path(folder) / "policy.npz")
        back = wc.load_policy(Path(folder) / "policy.npz")
        same = isinstance(back, wc.TablePolicy) and bool((back.actions == policy.actions).all())
        dataset = xr.Dataset({"moves": ("state", policy.actions.ravel())})
        write_dataset(Path(folder) / "moves.nc", dataset)
        if not (same and read_dataset(Path(folder) / "moves.nc", "a dataset").identical(dataset)):
            raise AssertionError("what was written is not what was read")
        return f"written and read in {Path(folder).parent}"


TESTS = {"searches": searches, "training": training, "figures": figures, "files": files}
