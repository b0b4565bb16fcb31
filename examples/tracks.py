"""Synthetic tracks: searches of our own agents, as a camera at 20 Hz would see walking animals.

    python examples/tracks.py tracks.csv

Each individual is one agent. Its grid moves of 0.5 s and 2.5 mm are smoothed, turned, and get noise of a tenth of a
cell.
"""

import sys

import numpy as np

import whiffclock as wc

FRAMES, MOVE_S, CELL = 10, 0.5, 2.5  # frames per move, seconds per move, mm per cell


def smoothed(path, rng, noise=0.1):
    """A path on the grid at 20 Hz: the mean over the time of one move, and noise in every frame, in cells."""
    t = np.arange((len(path) - 1) * FRAMES + 1) / FRAMES
    fine = np.stack([np.interp(t, np.arange(len(path)), axis) for axis in path.T], axis=1)
    padded = np.pad(fine, ((FRAMES // 2, FRAMES // 2), (0, 0)), mode="edge")
    mean = np.stack([np.convolve(axis, np.ones(FRAMES + 1) / (FRAMES + 1), "valid") for axis in padded.T], axis=1)
    return mean + noise * rng.standard_normal(mean.shape)


def trial(policy, plume, threshold, rng, degrees=0.0, noise=0.1, grid=False):
    """One search as columns: time in s, x and y in mm, whiff as 0 or 1."""
    cells = plume.starts(plume.environments.threshold_of(threshold, "threshold"), wc.WorldSettings())
    start = cells[rng.integers(len(cells))].tolist()
    found = wc.search(policy, plume, (*start[:2], int(rng.integers(len(plume.field)))), threshold)
    path, whiff = found.position, found.whiff.astype(int)
    if not grid:
        frames = np.zeros((len(path) - 1) * FRAMES + 1, dtype=int)
        for before in range(3):  # a whiff lasts for three frames
            frames[np.maximum(np.flatnonzero(whiff) * FRAMES - before, 0)] = 1
        path, whiff = smoothed(path, rng, noise), frames
    turn = CELL * np.exp(1j * np.radians(degrees))
    seen = (path @ [1, 1j]) * turn
    return np.arange(len(path)) * (MOVE_S if grid else MOVE_S / FRAMES), seen.real, seen.imag, whiff


def write(path, policies, threshold="sparse", trials=5, degrees=0.0, seed=0, plume=None, **how):
    """A table of all trials of all agents; the wind blows towards ``degrees``."""
    plume, rng = plume or wc.builtin_plume(), np.random.default_rng(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write("individual,trial,time_s,x_mm,y_mm,whiff\n")
        for who, policy in enumerate(policies):
            for n in range(trials):
                for t, x, y, whiff in zip(*trial(policy, plume, threshold, rng, degrees, **how), strict=True):
                    file.write(f"{who},{n},{t:.2f},{x:.3f},{y:.3f},{whiff}\n")


if __name__ == "__main__":
    agents = [wc.shipped("clock-sparse"), *(wc.cast_and_surge(angle) for angle in (40, 50, 60, 70, 80))]
    write(sys.argv[1], agents)
