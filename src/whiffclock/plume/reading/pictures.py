"""Pictures as frames, with Pillow: animated GIF, TIFF with several pages, folders; and masks."""

import re
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from whiffclock.archive import require_npy
from whiffclock.disk import reading, require_file
from whiffclock.params import InputError, require, require_memory
from whiffclock.plume.reading.containers import Found

#: Endings of pictures in a folder.
ENDINGS = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".bmp", ".pgm")
_FORMATS = ("PNG", "TIFF", "JPEG", "BMP", "PPM", "GIF")


class Frames:
    """Pictures of one size as an array (t, y, x) of grey values; ``frame(t)`` gives one, ``name(t)`` names it."""

    def __init__(self, count: int, frame: Callable[[int], np.ndarray], name: Callable[[int], str]) -> None:
        self._frame, self._name, self._lock = frame, name, RLock()
        first = frame(0)
        self.shape, self.dtype = (count, *first.shape), first.dtype

    def __getitem__(self, index: tuple[slice, slice, slice]) -> np.ndarray:
        with self._lock:  # dask has several threads
            return np.stack([self._whole(t)[index[1:]] for t in range(self.shape[0])[index[0]]])

    def _whole(self, t: int) -> np.ndarray:
        frame = self._frame(t)
        same = (frame.shape, frame.dtype) == (self.shape[1:], self.dtype)
        if not same:
            sizes = [f"{shape[1]} x {shape[0]} {kind}" for shape, kind in ((frame.shape, frame.dtype), self._first())]
            raise InputError(f"{self._name(t)} is {sizes[0]}, and {self._name(0)} is {sizes[1]}; all must be alike.")
        return frame

    def _first(self) -> tuple[tuple[int, ...], np.dtype]:
        return self.shape[1:], self.dtype


def open_pages(path: Path, key: str | None, files: ExitStack) -> Found:
    """GIF and TIFF: one frame per page."""
    from PIL import Image

    require(key is None, f"{path} has no named arrays; leave out the key {key!r}.")
    image = files.enter_context(Image.open(path, formats=("GIF", "TIFF")))
    pages = getattr(image, "n_frames", 1)
    require(pages > 1, f"{path} has one page; a plume needs one for each snapshot.")

    def frame(t: int) -> np.ndarray:
        image.seek(t)
        return grey(image)

    frames = Frames(pages, frame, lambda t: f"page {t + 1} of {path}")
    weakref.finalize(frames, image.close)  # where they outlive ``files``
    return _found(path, frames)


def open_folder(path: Path, key: str | None, files: ExitStack) -> Found:
    """A folder of pictures, one per snapshot, in the order of the numbers in their names."""
    require(key is None, f"{path} is a folder of pictures without named arrays; leave out the key {key!r}.")
    names = (p for p in path.iterdir() if p.suffix.lower() in ENDINGS and not p.name.startswith("."))
    pictures = sorted(names, key=lambda p: [(int(n or 0), text) for text, n in re.findall(r"(\D*)(\d*)", p.name)])
    some = f"no pictures ({', '.join(ENDINGS)})" if not pictures else "one picture"
    require(len(pictures) > 1, f"{path} is a folder with {some} in it, and not a Zarr store.")
    return _found(path, Frames(len(pictures), lambda t: read_picture(pictures[t]), lambda t: str(pictures[t])))


def _found(path: Path, frames: Frames) -> Found:
    values: Any = frames
    return Found(str(path), values, "tyx", streamed=True)


def read_picture(path: Path) -> np.ndarray:
    """The grey values of one picture."""
    from PIL import Image

    require_file(path, "picture")
    with reading(path, "a readable picture"), Image.open(path, formats=_FORMATS) as image:
        return grey(image)


def grey(image: Any) -> np.ndarray:
    """The grey values of a picture, in the type they are stored in; colours become grey of 8 bits."""
    require_memory(image.width * image.height * 4, "A picture")
    if image.mode == "F":
        return np.array(image, dtype=np.float32)
    if image.mode.startswith("I"):  # 16 bits, of which some kinds are unpacked into 32
        return np.array(image).astype(np.uint16 if image.mode.startswith("I;16") else np.int32)
    return np.array(image if image.mode == "L" else image.convert("L"))


def read_mask(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The bad cells of a stored frame: those that are not zero in an image or a .npy of its ``shape``."""
    require_file(path, "mask")
    with reading(path, "a readable mask (an image or .npy)"):
        with path.open("rb") as file:
            plain = file.read(6) == b"\x93NUMPY"
        if plain:
            with path.open("rb") as file:
                require_npy(file, path.stat().st_size, "the mask")
        bad = (np.load(path, allow_pickle=False) if plain else read_picture(path)) != 0
    require(bad.shape == shape, f"The mask {path} has shape {bad.shape}, and a stored frame {shape}; they must agree.")
    return bad
