"""Make a synthetic film to try ``whiffclock study`` on: dark smoke on a bright wall, with the wind blowing upwards.

    python examples/film.py film.mkv

The smoke is the built-in plume (turbulence simulated by whiffclock), every cell as 2 x 2 pixels. The wall is brighter
on one side, the camera is noisy, and the strongest smoke is saturated.
"""

import sys

import av
import numpy as np

import whiffclock as wc

SNAPSHOTS, PIXELS, SATURATED = 1500, 2, 3e-5


def frames(seed: int = 0) -> np.ndarray:
    """uint8[t, rows, columns]."""
    rng = np.random.default_rng(seed)
    odor = np.asarray(wc.builtin_plume().field[:SNAPSHOTS])  # c[t, x, y]
    upwards = np.rot90(odor.transpose(0, 2, 1), axes=(1, 2))
    shade = np.clip(upwards / SATURATED, 0, 1).repeat(PIXELS, axis=1).repeat(PIXELS, axis=2)
    wall = np.linspace(235, 215, shade.shape[2])
    return np.clip(wall - 190 * shade + rng.normal(0, 1.5, shade.shape), 0, 255).round().astype(np.uint8)


def write_film(path: str, film: np.ndarray) -> None:
    """A film with a lossless code."""
    with av.open(path, "w") as out:
        stream = out.add_stream("ffv1", rate=30)
        stream.height, stream.width, stream.pix_fmt = *film.shape[1:], "gray"
        for frame in film:
            out.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="gray")))
        out.mux(stream.encode())


if __name__ == "__main__":
    write_film(sys.argv[1], frames())
