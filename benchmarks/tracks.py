"""Tracks: how well metrics of continuous tracks agree with those of the agents that made them, and how fast it is.

python benchmarks/tracks.py accuracy
python benchmarks/tracks.py speed FOLDER    # 1,000 tracks of 10,000 frames, as .csv and .npy
"""

import importlib.util
import resource
import subprocess
import sys
import time
from dataclasses import astuple
from pathlib import Path

import numpy as np

import whiffclock as wc
from whiffclock.path_metrics import GEOMETRY, geometry
from whiffclock.tracks.recoveries import recoveries_of
from whiffclock.tracks.settings import RecoverySettings
from whiffclock.tracks.track import Track, Tracks

_spec = importlib.util.spec_from_file_location("tracks", Path(__file__).parent.parent / "examples" / "tracks.py")
synthetic = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(synthetic)


def recoveries(count: int, shortest: int = 10, seed: int = 0) -> list[np.ndarray]:
    """Paths on the grid from whiffs: half to the next whiff in the plume, half on blanks only, up to 300 moves."""
    plume, rng = wc.builtin_plume(), np.random.default_rng(seed)
    trained = [wc.train(plume, name, seeds=8, episodes=60_000) for name in ("dense", "sparse", "sparser")]
    agents = [(one, name) for some, name in zip(trained, ("dense", "sparse", "sparser"), strict=True) for one in some]
    agents += [(wc.cast_and_surge(angle), "sparse") for angle in (40, 60, 80)]
    agents += [(wc.shipped(f"clock-{name}"), name) for name in ("dense", "sparse", "sparser")]
    found: list[np.ndarray] = []
    while len(found) < count:
        policy, name = agents[rng.integers(len(agents))]
        if len(found) % 2:
            found.append(wc.recovery_path(policy, moves=int(rng.integers(60, 301))))
            continue
        cells = plume.starts(plume.environments[name], wc.WorldSettings())
        start = (*cells[rng.integers(len(cells))][:2].tolist(), int(rng.integers(2000)))
        search = wc.search(policy, plume, start, name)
        whiffs = np.flatnonzero(search.whiff)
        if not len(whiffs):
            continue
        long = [(a, b) for a, b in zip(whiffs, [*whiffs[1:], search.moves], strict=True) if b - a >= shortest]
        if long:
            a, b = long[rng.integers(len(long))]
            found.append(search.position[a : b + 1])
    return found


def continuous(paths: list[np.ndarray], noise: float, seed: int = 1) -> Tracks:
    """Each path as a track at 20 Hz, smoothed, with noise (in cells); turned and turned back."""
    rng, made = np.random.default_rng(seed), []
    for i, path in enumerate(paths):
        place = synthetic.smoothed(path, rng, noise)
        t = np.arange(len(place)) / 20
        made.append(Track(t, place, t == 0, str(i)))
    return Tracks(tuple(made), "cells", 1.0)


def accuracy(count: int = 200) -> None:
    """Medians of each metric, in the truth and in continuous tracks."""
    paths = recoveries(count)
    truth = np.array([astuple(geometry(path)) for path in paths], dtype=float)
    show("on the grid", truth, truth)
    for noise in (0.0, 0.1):
        for steps in ("time", "length"):
            found = recoveries_of(continuous(paths, noise), RecoverySettings(blank=0, steps=steps, move_s=0.5))
            show(f"noise {noise:g}, steps of equal {steps}", found.metrics, truth)


def show(label: str, found: np.ndarray, truth: np.ndarray) -> None:
    print(label)
    for at, name in enumerate(GEOMETRY):
        rows = truth[:, at] >= 1 if name == "downwind_return_length" else slice(None)  # of those that return
        ours, own = np.nanmedian(found[rows, at]), np.nanmedian(truth[rows, at])
        never, true = np.isnan(found[:, at]).mean(), np.isnan(truth[:, at]).mean()
        off = np.nanmedian(np.abs(found[:, at] - truth[:, at]))
        print(f"  {name:26} {ours:8.2f} of {own:8.2f} ({ours / own - 1:+.1%}), each off by {off:.2f}", end="")
        print(f", never {never:.0%} of {true:.0%}" if true else "")


def speed(folder: Path) -> None:
    """Time and memory of the command on synthetic walkers, in processes of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tracks.npy", "tracks.csv"):
        if not (folder / name).exists():
            make(folder / name)
        words = [sys.executable, "-m", "whiffclock", "tracks", str(folder / name), "--compare", "clock-sparse"]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([*words, "--cell", "5", "--out", str(folder / "tracks.png"), "--force"], check=True)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        size = f"{(folder / name).stat().st_size / 1e6:.0f} MB"
        used = f"CPU {cpu:.1f} s, most memory so far {after.ru_maxrss / 1024:.0f} MiB"
        print(f"{name} ({size}): {wall:.1f} s, {used}", flush=True)


def make(path: Path, tracks: int = 1000, frames: int = 10_000) -> None:
    """Walkers in all directions at 20 Hz, with a whiff in every hundred frames."""
    rng, every = np.random.default_rng(0), []
    for i in range(tracks):
        heading = np.cumsum(rng.normal(0, 0.2, frames))
        rows = np.zeros((frames, 8))
        rows[:, 0], rows[:, 1] = i, np.arange(frames) / 20
        rows[:, 2], rows[:, 3] = np.cumsum(0.5 * np.cos(heading)), np.cumsum(0.5 * np.sin(heading))
        rows[:, 7] = rng.random(frames) < 0.01
        every.append(rows)
    if path.suffix == ".npy":
        np.save(path, np.concatenate(every))
        return
    with path.open("w", encoding="utf-8") as file:
        file.write("trial,time_s,x_mm,y_mm,whiff\n")
        for rows in every:
            lines = zip(*rows[:, [0, 1, 2, 3, 7]].T.tolist(), strict=True)
            file.write("".join([f"{i:.0f},{t:.2f},{x:.3f},{y:.3f},{whiff:.0f}\n" for i, t, x, y, whiff in lines]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["speed"]:
        speed(Path(sys.argv[2]))
    else:
        accuracy()
