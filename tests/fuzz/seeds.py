"""Small valid files of every kind that the program reads, made by the program itself, and a command that reads each."""

import functools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import h5py
import made_up
import numpy as np
import scipy.io
import xarray as xr
import zarr
from small_pomdps import TIGER, rover

from fuzz import damage
from fuzz.options import TRACKS
from whiffclock.agents.bayes import belief_heuristic, quasi_optimal, search_model
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.compose import heuristic_two_q
from whiffclock.agents.qlearning import Task, train
from whiffclock.memory import clock, window
from whiffclock.netcdf import write_dataset
from whiffclock.params import BayesSettings, EvaluationSettings, LearningSettings, WorldSettings
from whiffclock.plume.reading.files import write_plume
from whiffclock.plume.simulate.recipe import SimulationSettings
from whiffclock.plume.toy import toy_plume
from whiffclock.pomdp.blocks import BlockModel, to_pieces
from whiffclock.pomdp.bounds import worst_value
from whiffclock.pomdp.files import read_model
from whiffclock.pomdp.files.policyfile import write_policy
from whiffclock.pomdp.settings import SolverSettings
from whiffclock.pomdp.solver import solve
from whiffclock.recovery import BranchSettings
from whiffclock.runs.jobs import JobFolder, run
from whiffclock.runs.kinds import Branch, Evaluate, Given, Solve, Train
from whiffclock.runs.sweep import Sweep
from whiffclock.sweep_plots import load_sweep

DENSE, SPARSE, WORLD = 3e-6, 5e-6, WorldSettings(start_threshold=7e-6)
LEARNING = LearningSettings.shortened(300, horizon=30)
TESTS = ("--snapshots", "2")
SWEEP = """\
# a grid
plume = "plume.npz"
threshold = ["dense", 2e-6]
start_threshold = "own"
memory = "clock"
length = [5, 9]
tau = ["none", 4]
gamma = 0.99
horizon = 30
episodes = 50
seeds = [0, 1]

[evaluation]
snapshots = 1
"""
TARGET = """\
origin = "made up"
x = [0, 20]

[[threshold]]
c = 1e-6
amplitude = [0.9, 0.6]
width = [2.0, 4.0]
shape = [2.0, 2.0]

[[threshold]]
c = 3e-6
amplitude = [0.8, 0.3]
width = [1.5, 3.0]
shape = [2.0, 2.5]
"""


@dataclass(frozen=True)
class Seed:
    """A folder with a valid file to damage, and a command, or a function, that reads it.

    In a ``checked`` file every change must be noticed; of others, a changed number is simply another input.
    """

    kind: str
    file: str
    command: Sequence[str] | Callable[[], str]
    ways: Sequence[Callable]
    checked: bool = True
    make: Callable[[Path], Any] = field(default=lambda folder: None, repr=False)
    weight: int = 1
    long: bool = False  # a command that may take long with some values, until Ctrl-C
    warm: bool = True  # to be run once before the first fork; not if it starts threads of OpenMP


@functools.cache
def plume():
    return toy_plume(snapshots=60, length=20, width=11, seed=1)


def trained(memory, threshold=DENSE, seed=0):
    return train(Task(plume(), threshold, memory, LEARNING, WORLD, seed))


def by_hand():
    return replace(clock(20, (4,)), maker="", settings=None, name="by hand")


def old_policy(path, form):
    """A policy as earlier versions wrote it, without a digest."""
    arrays = trained(clock(30, (4,))).to_arrays()
    header = json.loads(str(arrays["header"])) | {"format": form}
    if form.endswith("1"):
        memory = header.pop("memory")
        header["clock"] = {"horizon": memory.pop("length"), **{k: v for k, v in memory.items() if k != "maker"}}
    np.savez_compressed(path, **arrays | {"header": np.array(json.dumps(header))})


def hdf5(path, key, values, **more):
    with h5py.File(path, "w", **more) as file:
        file.create_dataset(key, data=values, chunks=(10, *values.shape[1:]), compression="gzip")


def classic_netcdf(path):
    values = plume().field.astype("f4")
    with scipy.io.netcdf_file(path, "w") as file:
        for name, size in zip("txy", values.shape, strict=True):
            file.createDimension(name, size)
        file.createVariable("odor", "f4", tuple("txy"))[:] = values


def foreign_zarr(path):
    values = plume().field
    zarr.create_group(path).create_array("odor", data=values, chunks=(20, *values.shape[1:]))


def belief_policy(path, name=""):
    model = search_model(plume(), DENSE)
    made_from = {"threshold": DENSE, "plume": plume().fingerprint, "world": WORLD.to_dict()}
    solved = None if name else solve(model, SolverSettings(seconds=None, backups=20))
    made = belief_heuristic(name, model, made_from) if name else quasi_optimal(model, solved.vectors, made_from)
    made.save(path)


def checkpoint(folder):
    """Made in a child process: the flow starts threads, after which this process could not fork."""
    from whiffclock.plume.simulate.record import Simulation

    child = os.fork()
    if child == 0:
        settings = simulation()
        going = Simulation(settings)
        for _ in range(settings.spin_up + settings.fill + 1):
            going.advance()
        going.save(folder / "out.npz.checkpoint")
        os._exit(0)
    os.waitpid(child, 0)


def simulation():
    from whiffclock.plume.simulate.recipe import FlowSettings

    return SimulationSettings(
        snapshots=3, length=20, width=9, spin_up=2, fill=2, flow=FlowSettings(points=(8, 8, 8)), target="none"
    )


def go_on():
    """What ``plume simulate`` begins with."""
    from whiffclock.plume.simulate.record import Simulation

    going = Simulation.load(Path("out.npz.checkpoint"), simulation())
    return repr(
        (going.snapshot, going.rng.bit_generator.state, going.field.sum(), going.flow.u.sum(), going.odor.age.sum())
    )


# Stores


def training():
    return Train(plume().fingerprint, DENSE, clock(30), LEARNING, WORLD)


def evaluation():
    two = replace(training(), memory=clock(30, (4,)))
    return Evaluate(two, plume().fingerprint, DENSE, WORLD, EvaluationSettings(snapshots=2, horizon=30))


def solution():
    return Solve(plume().fingerprint, DENSE, WORLD, BayesSettings(), SolverSettings(seconds=None, backups=20))


def branches():
    settings = BranchSettings(trials=5, steps=10, horizon=30)
    return Branch(training(), plume().fingerprint, DENSE, WORLD, settings)


def stored(job):
    """Make a store with the result of a job, the record to damage."""

    def make(folder):
        run(job(), plume(), JobFolder(folder / "runs"))

    return make


def record_of(job):
    made = job()
    return f"runs/{made.kind}/{made.key}.npz"


def recall(job):
    """Load a stored result, and print all of it."""

    def look():
        made = job()
        store = JobFolder(Path("runs"))
        packed = made.pack(made.unpack(store.load(made), plume(), store.place(made)))
        return "\n".join(f"{name} {packed[name].dtype} {packed[name].tolist()}" for name in sorted(packed))

    return look


def look_at_sweep():
    """All that is in the result of a sweep."""
    return json.dumps(load_sweep(Path("sweep.nc")).to_dict())


def compare_store(folder):
    write_plume(plume(), folder / "plume.npz")
    trained(clock(30)).save(folder / "policy.npz")


def fly_array(path, kind):
    """The eight columns of walking flies, as an array of numbers or of arrays."""
    rows = np.array([[1, i / 9, -2 * i, i % 5, 0, 0, 0, i % 30 == 0] for i in range(90)], dtype=float)
    columns = np.empty(8, dtype=object)
    columns[:] = list(rows.T)
    np.save(path, columns if kind is object else rows, allow_pickle=kind is object)


def poses(folder):
    """Positions of two individuals as the package movement stores them."""
    place = np.stack([-np.arange(60.0), np.arange(60) % 7], axis=1)[:, :, None] + np.zeros(2)
    whiff = (np.arange(60) % 25 == 0).astype(float)
    where = {"time": np.arange(60) / 10, "space": ["x", "y"], "individual": ["a", "b"]}
    data = {"position": (("time", "space", "individual"), place), "whiff": (("time",), whiff)}
    xr.Dataset(data, where, {"time_unit": "seconds"}).to_netcdf(folder / "a.nc", engine="h5netcdf")


def seeds() -> list[Seed]:
    """All seeds; ``make`` makes their files in a folder of their own."""
    made: list[Seed] = []

    def add(kind, file, command, ways, make, **more):
        made.append(Seed(kind, file, command, ways, make=make, **more))

    inspect = ("plume", "inspect")
    add(
        "plume .npz",
        "a.npz",
        (*inspect, "a.npz"),
        damage.ARCHIVE,
        lambda d: write_plume(plume(), d / "a.npz"),
        weight=3,
    )
    add("plume .npz", "a.npz", ("info", "a.npz"), damage.ARCHIVE, lambda d: write_plume(plume(), d / "a.npz"))
    add("plume .nc", "a.nc", ("info", "a.nc"), damage.HDF5, lambda d: write_plume(plume(), d / "a.nc"), weight=3)
    zarr_ways = (damage.raw, damage.json_files)
    add("plume .zarr", "a.zarr", ("info", "a.zarr"), zarr_ways, lambda d: write_plume(plume(), d / "a.zarr"), weight=2)
    other = {"checked": False}
    add(
        "other .npy",
        "a.npy",
        ("info", "a.npy"),
        (damage.raw, damage.npy_header),
        lambda d: np.save(d / "a.npy", plume().field),
        weight=2,
        **other,
    )
    add(
        "other .npz",
        "a.npz",
        ("info", "a.npz"),
        damage.ARCHIVE,
        lambda d: np.savez(d / "a.npz", field=plume().field, source=(0, 5)),
        **other,
    )
    add(
        "other .h5",
        "a.h5",
        ("info", "a.h5"),
        damage.HDF5,
        lambda d: hdf5(d / "a.h5", "nose", plume().field.transpose(0, 2, 1)),
        weight=2,
        **other,
    )
    add(
        "other .mat",
        "a.mat",
        ("info", "a.mat"),
        damage.HDF5,
        lambda d: hdf5(d / "a.mat", "dataset2", plume().field, userblock_size=512),
        **other,
    )
    add("other .nc", "a.nc", ("info", "a.nc"), (damage.raw,), lambda d: classic_netcdf(d / "a.nc"), weight=2, **other)
    add("other .zarr", "a.zarr", ("info", "a.zarr"), zarr_ways, lambda d: foreign_zarr(d / "a.zarr"), weight=2, **other)
    on = ("--plume", "plume.npz")
    evaluate = ("evaluate", "p.npz", *on, "--json", *TESTS)

    def policy(kind, make, command=evaluate, **more):
        def both(folder):
            write_plume(plume(), folder / "plume.npz")
            make(folder / "p.npz")

        add(kind, "p.npz", command, damage.ARCHIVE, both, **more)

    for memory in (clock(30), clock(30, (4,)), window(3, 30), by_hand()):
        policy("policy", lambda path, memory=memory: trained(memory).save(path), weight=2)
        policy("policy", lambda path, memory=memory: trained(memory).save(path), ("info", "p.npz"))
    anywhere = (*evaluate, "-e", "dense")
    policy("policy", lambda path: cast_and_surge(45, 30).save(path), anywhere)
    policy(
        "policy", lambda path: heuristic_two_q(trained(clock(30)), trained(clock(30), SPARSE), 5).save(path), anywhere
    )
    for form in ("whiffclock policy 1", "whiffclock policy 2"):
        for command in (evaluate, ("info", "p.npz")):
            policy("older policy", lambda path, form=form: old_policy(path, form), command, weight=2, **other)
    policy("belief policy", belief_policy, weight=2)
    policy("belief policy", lambda path: belief_policy(path, "QMDP"))
    policy("belief policy", belief_policy, ("bayes", "solve", "-e", "dense", *on, "--start", "p.npz", "--backups", "1"))
    for job in (training, evaluation, solution, branches):
        add("record", record_of(job), recall(job), damage.ARCHIVE, stored(job), weight=3)
    for words in (("runs", "list"), ("runs", "show", training().key[:8]), ("runs", "prune", "--dry-run")):
        add("record", record_of(training), (*words, "--store", "runs"), damage.ARCHIVE, stored(training))
    retrain = (
        "train",
        "-e",
        "dense",
        *on,
        "--seeds",
        "1",
        "--episodes",
        "300",
        "--horizon",
        "30",
        "--store",
        "runs",
        "--decay",
        repr(LEARNING.alpha_decay),
        "--json",
    )

    def store_and_plume(folder):
        stored(training)(folder)
        write_plume(plume(), folder / "plume.npz")

    add("record", record_of(training), retrain, damage.ARCHIVE, store_and_plume, weight=2)
    compare = Evaluate(
        Given.of(trained(clock(30))), plume().fingerprint, DENSE, WORLD, EvaluationSettings(snapshots=2, horizon=30)
    )

    def compared(folder):
        compare_store(folder)
        run(compare, plume(), JobFolder(folder / "runs"))

    add(
        "record",
        f"runs/{compare.kind}/{compare.key}.npz",
        ("compare", "policy.npz", *on, "--json", "--store", "runs", *TESTS),
        damage.ARCHIVE,
        compared,
        weight=2,
    )
    for name in ("searches", "usage"):
        add(
            "dataset",
            f"data/{name}.nc",
            ("report", "."),
            damage.HDF5,
            lambda d: made_up.datasets(figures=["fig6"]).save(d / "data"),
            weight=2,
        )
    add("checkpoint", "out.npz.checkpoint", go_on, damage.ARCHIVE, checkpoint, warm=False)

    def calibration(folder):
        write_plume(plume(), folder / "plume.npz")
        (folder / "t.toml").write_text(TARGET)

    texts = (damage.text, damage.text, damage.raw)
    add(
        "target .toml",
        "t.toml",
        ("plume", "calibrate", "plume.npz", "out.npz", "--target", "t.toml"),
        texts,
        calibration,
        weight=2,
        **other,
    )

    def sweep_file(folder):
        write_plume(plume(), folder / "plume.npz")
        (folder / "s.toml").write_text(SWEEP)

    def swept(folder):
        given = {"plume": str(folder / "plume.npz"), "threshold": "dense", "length": [5, 9], "gamma": [0.9, 0.99]}
        write_plume(plume(), folder / "plume.npz")
        made = Sweep.of(given | {"horizon": 30, "episodes": 50, "seeds": 2, "evaluation": {"snapshots": 1}})
        write_dataset(folder / "sweep.nc", made.run(JobFolder(folder / "runs")))

    add("sweep .toml", "s.toml", ("sweep", "s.toml", "--out", "made"), texts, sweep_file, weight=3, long=True, **other)
    ways = (*damage.HDF5, damage.resealed, damage.resealed)
    add("sweep .nc", "sweep.nc", look_at_sweep, ways, swept, weight=2)
    add("sweep .nc", "sweep.nc", ("sweep", "plot", "sweep.nc", "--out", "made"), ways, swept)
    model = ("pomdp", "solve", "--seconds", "1", "--backups", "30", "--json")
    add(".pomdp", "a.pomdp", (*model, "a.pomdp"), texts, lambda d: (d / "a.pomdp").write_text(TIGER), weight=3, **other)
    add(
        ".pomdpx",
        "a.pomdpx",
        (*model, "a.pomdpx"),
        texts,
        lambda d: (d / "a.pomdpx").write_text(rover()),
        weight=3,
        **other,
    )

    def start(folder):
        (folder / "a.pomdp").write_text(TIGER)
        tables = read_model(folder / "a.pomdp")
        model = BlockModel(tables)
        pieces = to_pieces(model, solve(model, SolverSettings(seconds=None, backups=20)).vectors)
        write_policy(folder / "a.policy", tables, pieces, floor=worst_value(model))

    tracks = ("tracks", "a.csv", "--json")
    add("tracks .csv", "a.csv", tracks, texts, lambda d: (d / "a.csv").write_text(TRACKS), weight=2, **other)
    ways = (damage.raw, damage.npy_header)
    for kind in (float, object):
        add(
            "tracks .npy",
            "a.npy",
            ("tracks", "a.npy", "--json"),
            ways,
            lambda d, kind=kind: fly_array(d / "a.npy", kind),
            **other,
        )
    add(
        "tracks .nc",
        "a.nc",
        (*tracks[:1], "a.nc", "--json", "--units", "px", "--blank", "1"),
        damage.HDF5,
        poses,
        **other,
    )
    add(".policy", "a.policy", (*model, "a.pomdp", "--start", "a.policy"), texts, start, weight=2, **other)
    return made
