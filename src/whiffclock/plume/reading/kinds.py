"""Which kind of file a plume is in, by its first bytes."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from whiffclock.params import InputError, require
from whiffclock.plume.reading.added import added_opener
from whiffclock.plume.reading.containers import (
    Found,
    is_zarr,
    open_hdf5,
    open_matlab,
    open_netcdf,
    open_npy,
    open_npz,
    open_zarr,
)
from whiffclock.plume.reading.movies import film_format, open_film
from whiffclock.plume.reading.pictures import open_folder, open_pages
from whiffclock.plume.reading.tables import is_table, open_table

#: From a file, and the name of an array in it, to the odor in it; what must be closed is entered in the stack.
Opener = Callable[[Path, str | None, ExitStack], Found]

KINDS = "a film, pictures, a table, .npy, .npz, MATLAB, HDF5, NetCDF or Zarr"
_MAGIC: dict[bytes, Opener] = {
    b"\x93NUMPY": open_npy,
    b"PK": open_npz,
    b"CDF": open_netcdf,
    b"MATLAB 5.0": open_matlab,
    b"PAR1": open_table,
    b"GIF8": open_pages,
    **dict.fromkeys((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"), open_pages),  # TIFF, and large TIFF
}


def opener_of(path: Path) -> Opener:
    """The function that opens a file or a folder: that of another package for its ending, or one of these."""
    if added := added_opener(path):
        return added
    if path.is_dir():
        return open_zarr if is_zarr(path) else open_folder
    with path.open("rb") as file:
        start = file.read(64)
    for magic, opener in _MAGIC.items():
        if start.startswith(magic):
            return opener
    if film_format(start):
        return open_film
    import h5py

    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            named = "_NCProperties" in file.attrs
        return open_netcdf if named or path.suffix == ".nc" else open_hdf5
    one = start.startswith((b"\x89PNG", b"\xff\xd8\xff"))
    require(not one, f"{path} is one picture; a plume is a film, or a folder of pictures.")
    if is_table(path):
        return open_table
    text = start.splitlines()[0].decode("latin-1") if start else ""
    readable = text.isascii() and text.isprintable()
    begin = f"is text and begins with {text[:40]!r}" if readable else f"begins with the bytes {start[:8].hex(' ')}"
    raise InputError(f"{path} is not a readable plume file ({KINDS}): it {begin if start else 'is empty'}.")
