"""Writing plumes: some snapshots at a time, under a temporary name, which becomes the real one at the end.

``.npz`` and ``.npy`` hold the field (the latter without source and origin), ``.nc`` and ``.zarr`` a variable
``concentration`` with dimensions (t, x, y) and where it comes from as attributes.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.archive import first_line, put_in_place, write_npz
from whiffclock.params import InputError, require
from whiffclock.plume.containers import VARIABLE, is_zarr
from whiffclock.plume.plume import Plume
from whiffclock.plume.whiffs import time_chunks

DIMENSIONS = ("t", "x", "y")

#: Room on disk that is left for what a format adds to the values.
SPARE_BYTES = 2**20

#: What is called with the number of snapshots after each part is written.
Progress = Callable[[int], None]


def write_plume(plume: Plume, path: Path, progress: Progress = lambda snapshots: None) -> None:
    """Write ``plume`` to ``path``, whose ending says how: .npz, .npy, .nc or .zarr."""
    if path.suffix == ".npz":
        require(
            isinstance(plume.field, np.ndarray),
            f"{plume.origin} is too large for {path.name}, which is written in one piece; take .npy, .nc or .zarr.",
        )
        said = {name: np.array(getattr(plume, name)) for name in ("source", "origin", "fingerprint")}
        write_npz(path, {"field": np.asarray(plume.field), **said})
        return
    require(
        path.suffix in WRITERS,
        f"{path} has the ending {path.suffix!r}; a plume is written as .npy, .npz, .nc or .zarr.",
    )
    if path.suffix == ".zarr":
        replaced = not path.exists() or is_zarr(path)
        require(replaced, f"{path} is there already and is not a Zarr store; it is not replaced.")
    else:
        require(not path.is_dir(), f"{path} is a folder; it cannot be replaced by a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
            partial = Path(folder) / path.name
            WRITERS[path.suffix](plume, partial, progress)
            if path.is_dir():
                path.rename(Path(folder) / "replaced")
            put_in_place(partial, path)
    except (OSError, RuntimeError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else first_line(error)
        raise InputError(f"{path} cannot be written: {reason}.") from error


def _provenance(plume: Plume) -> dict[str, Any]:
    """What a file says of the plume in it."""
    said = {"origin": plume.origin, "fingerprint": plume.fingerprint, "source": list(plume.source)}
    return {**said, "whiffclock_version": __version__}


def _written_type(plume: Plume) -> np.dtype:
    """The type of the field's values, or the nearest that every format knows."""
    kind = plume.field.dtype
    if kind.kind in "iu":
        return kind.newbyteorder("=")
    return np.dtype(np.float64 if kind.itemsize >= 8 else np.float32)


def _parts(plume: Plume, path: Path, progress: Progress) -> Iterator[tuple[slice, np.ndarray]]:
    """Some snapshots after the other, each only if there is room for it.

    The libraries behind .nc and .zarr do not survive a full disk, so it must not come to that.
    """
    kind = _written_type(plume)
    for part in time_chunks(plume.field):
        values = np.ascontiguousarray(plume.field[part], dtype=kind)
        if shutil.disk_usage(path.parent)[2] < values.nbytes + SPARE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield part, values
        progress(part.stop - part.start)


def _write_npy(plume: Plume, path: Path, progress: Progress) -> None:
    kind = np.lib.format.dtype_to_descr(_written_type(plume))
    with path.open("wb") as file:
        header = {"descr": kind, "fortran_order": False, "shape": plume.field.shape}
        np.lib.format.write_array_header_2_0(file, header)
        for _, values in _parts(plume, path, progress):
            file.write(values.data)


def _write_netcdf(plume: Plume, path: Path, progress: Progress) -> None:
    import h5netcdf

    with h5netcdf.File(path, "w") as file:
        file.dimensions = dict(zip(DIMENSIONS, plume.field.shape, strict=True))
        variable = file.create_variable(
            VARIABLE, DIMENSIONS, _written_type(plume), chunks=_blocks(plume), compression="gzip", compression_opts=1
        )
        file.attrs.update(_provenance(plume))
        for part, values in _parts(plume, path, progress):
            variable[part] = values


def _write_zarr(plume: Plume, path: Path, progress: Progress) -> None:
    import zarr

    group = zarr.create_group(path, attributes=_provenance(plume))
    array = group.create_array(
        VARIABLE, shape=plume.field.shape, chunks=_blocks(plume), dtype=_written_type(plume), dimension_names=DIMENSIONS
    )
    for part, values in _parts(plume, path, progress):
        array[part] = values


def _blocks(plume: Plume) -> tuple[int, int, int]:
    """Storage blocks of whole snapshots, about a megabyte each."""
    snapshots, length, width = plume.field.shape
    return max(1, min(snapshots, 2**20 // (length * width * plume.field.itemsize))), length, width


WRITERS: dict[str, Callable[[Plume, Path, Progress], None]] = {
    ".npy": _write_npy,
    ".nc": _write_netcdf,
    ".zarr": _write_zarr,
}
