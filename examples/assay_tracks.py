"""Synthetic tracks in two conditions: agents with two modes and noise, after a dense or a sparse train of whiffs.

    python examples/assay_tracks.py conditions.csv
    whiffclock assay conditions.csv --cell 2.5 --move-s 0.5 --blank 50

Each individual has its own share of random moves. A move takes 0.5 s and is 2.5 mm long.
"""

import sys

import numpy as np
from assay_agents import two_q

import whiffclock as wc

PROTOCOL = {"blank": 100, "repeats": 3, "histories": {"dense": "20(W B) W", "sparse": "4(W B20) W"}}


def write(path: str, individuals: int = 6, seed: int = 0) -> None:
    """A row for each frame: individual, trial, condition, time, position, whiff."""
    rng = np.random.default_rng(seed)
    rows = ["individual,trial,condition,time_s,x_mm,y_mm,whiff"]
    for who in range(individuals):
        protocol = PROTOCOL | {"noise": 0.3 * rng.random(), "seed": who}
        sample = wc.assay(protocol, two_q()).tested[0].sample
        for trial, (found, condition) in enumerate(zip(sample.paths, sample.condition, strict=True)):
            places = 2.5 * (found + rng.normal(0, 0.05, found.shape))
            about = f"{sample.conditions[condition]}-{who},{trial},{sample.conditions[condition]}"
            rows += [f"{about},{t / 2},{x:.2f},{y:.2f},{int(t == 0)}" for t, (x, y) in enumerate(places)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    write(sys.argv[1])
