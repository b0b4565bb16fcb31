"""Films, decoded frame by frame with PyAV."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from whiffclock.params import InputError, needing, require, require_memory
from whiffclock.plume.reading.containers import Found

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame


def film_format(start: bytes) -> str | None:
    """The format of a film with these first bytes, as PyAV calls it."""
    if start[:4] == b"RIFF" and start[8:12] == b"AVI ":
        return "avi"
    if start[:4] == b"\x1aE\xdf\xa3":
        return "matroska"  # .mkv and .webm
    return "mov" if start[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip") else None  # and .mp4


class Film:
    """The frames of a film as an array (t, y, x) of grey values: 8 bits, or 16 if the film has more than 8.

    Frames can only be decoded in order. The decoder goes on where it is, and back to the start only for frames before;
    ``opened`` counts how often it began.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.opened, self._lock = path, 0, RLock()
        with path.open("rb") as file:
            self._format = film_format(file.read(64))
        self._container: InputContainer | None = None
        self._restart()
        about = self._stream.codec_context
        deep = max((part.bits for part in about.format.components), default=8) > 8 if about.format else False
        self.dtype = np.dtype(np.uint16 if deep else np.uint8)
        self.shape = self._count(), about.height, about.width
        require(self.shape[0] > 0 and min(self.shape) > 0, f"{path} is a film without frames.")
        require_memory(self.shape[1] * self.shape[2] * 2, f"A frame of {path}")

    def close(self) -> None:
        """Close the file."""
        if self._container is not None:
            self._container.close()
            self._container = None

    def __getitem__(self, index: tuple[slice, slice, slice]) -> np.ndarray:
        wanted = range(self.shape[0])[index[0]]
        with self._lock:  # dask has several threads
            if self._container is None or (wanted and wanted[0] < self._next):
                self._restart()
            return np.stack([self._frame(t)[index[1:]] for t in wanted])

    def _restart(self) -> None:
        import av

        self.close()
        # An absolute name and a known format, so that nothing but this file is opened.
        self._container = av.open(str(self.path.resolve()), format=self._format)
        require(len(self._container.streams.video) > 0, f"{self.path} has sound only, and no pictures.")
        self._stream = self._container.streams.video[0]
        self._stream.thread_type = "AUTO"
        self._frames, self._next = self._decoded(), 0
        self.opened += 1

    def _count(self) -> int:
        """The number of frames, from their packets; one that announces more is cut short."""
        assert self._container is not None
        hidden = self._stream.codec_context.name in ("vp8", "libvpx")  # some of whose packets are not shown
        if hidden:
            count = sum(1 for _ in self._frames)
            self.close()
            return count
        packets = [packet.is_discard for packet in self._container.demux(self._stream) if packet.size]
        announced = self._stream.frames
        cut = f"{self.path} is cut short: it announces {announced} frames, and has {len(packets)}"
        require(announced <= len(packets), f"{cut}.")
        self.close()
        return packets.count(False)

    def _decoded(self) -> Iterator["VideoFrame"]:
        assert self._container is not None
        yield from self._container.decode(self._stream)

    def _frame(self, wanted: int) -> np.ndarray:
        """One frame; those before are decoded and left."""
        for frame in self._frames:
            self._next += 1
            if self._next > wanted:
                size, first = (frame.height, frame.width), self.shape[1:]
                sizes = f"{size[1]} x {size[0]}, not {first[1]} x {first[0]} as it begins"
                require(size == first, f"{self.path} changes its size: frame {wanted} is {sizes}.")
                return frame.to_ndarray(format="gray16le" if self.dtype.itemsize == 2 else "gray")
        raise InputError(f"{self.path} is cut short at frame {self._next}; {self.shape[0]} were announced.")


def open_film(path: Path, key: str | None, files: ExitStack) -> Found:
    """MP4, MOV, AVI, MKV and WebM, in grey."""
    with needing("movies", f"{path} is a film; PyAV reads it"):
        import av  # noqa: F401
    require(key is None, f"{path} is a film without named arrays; leave out the key {key!r}.")
    film = Film(path)
    files.callback(film.close)
    values: Any = film
    return Found(str(path), values, "tyx", streamed=True)
