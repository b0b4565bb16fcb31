"""Writing plumes: some snapshots at a time, to a temporary file that is renamed at the end.

``.npz`` and ``.npy`` hold the field (the latter without source and origin), ``.nc`` and ``.zarr`` a variable
``concentration`` with dimensions (t, x, y), and source and origin as attributes.
"""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock import __version__
from whiffclock.archive import DIGEST, append_digest, write_npz
from whiffclock.disk import first_line, put_in_place, temporary_place
from whiffclock.params import InputError, needing, require
from whiffclock.plume.plume import Plume
from whiffclock.plume.reading.containers import VARIABLE, described, is_zarr
from whiffclock.plume.whiffs import time_chunks

#: Disk space for the overhead of a format.
SPARE_BYTES = 2**20

#: Called with the number of snapshots after each part is written.
Progress = Callable[[int], None]


def write_plume(plume: Plume, path: Path, progress: Progress = lambda snapshots: None) -> None:
    """Write ``plume`` to ``path`` in the format of its ending: .npz, .npy, .nc or .zarr."""
    known = path.suffix in (".npz", ".npy", ".nc", ".zarr")
    require(known, f"{path} has the ending {path.suffix!r}; a plume is written as .npy, .npz, .nc or .zarr.")
    if path.suffix == ".npz":
        too_large = f"{plume.origin} is too large for {path.name}, which is written in one piece"
        require(isinstance(plume.field, np.ndarray), f"{too_large}; take .npy, .nc or .zarr.")
        about = {name: np.array(getattr(plume, name)) for name in ("source", "origin", "fingerprint")}
        about |= {name: np.array(value) for name, value in _more_of(plume).items()}
        write_npz(path, {"field": np.asarray(plume.field), **about})
        return
    if path.suffix == ".zarr":
        replaced = not os.path.lexists(path) or is_zarr(path)
        require(replaced, f"{path} exists and is not a Zarr store; it is not replaced.")
    else:
        require(not path.is_dir(), f"{path} is a folder; it cannot be replaced by a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_place(path, folder=True) as folder:
            temporary = folder / path.name
            _write_parts(plume, temporary, progress)
            put_in_place(temporary, path)
    except (OSError, RuntimeError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number else first_line(error)
        raise InputError(f"{path} cannot be written: {reason}.") from error


def _write_parts(plume: Plume, path: Path, progress: Progress) -> None:
    """Write some snapshots at a time, if there is disk space for them.

    The libraries behind .nc and .zarr crash on a full disk, so free space is checked first.
    """
    kind = plume.field.dtype.newbyteorder("=")
    if kind.kind == "f":  # or the nearest type that every format knows
        kind = np.dtype(np.float64 if kind.itemsize >= 8 else np.float32)
    with _created(plume, path, kind) as write:
        for part in time_chunks(plume.field):
            values = np.ascontiguousarray(plume.field[part], dtype=kind)
            if shutil.disk_usage(path.parent)[2] < values.nbytes + SPARE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write(part, values)
            progress(part.stop - part.start)


@contextmanager
def _created(plume: Plume, path: Path, kind: np.dtype) -> Iterator[Callable[[slice, np.ndarray], Any]]:
    """A new file for values of a ``kind``: a function that writes snapshots to it, in order.

    .nc and .zarr are stored in blocks of whole snapshots, about a megabyte each.
    """
    shape, dimensions = plume.field.shape, ("t", "x", "y")
    blocks = max(1, min(shape[0], 2**20 // (shape[1] * shape[2] * plume.field.itemsize))), *shape[1:]
    about = described(plume.origin, plume.fingerprint, plume.source, __version__, _more_of(plume))
    if path.suffix == ".npy":
        with path.open("wb") as file:
            header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_2_0(file, header)
            yield lambda part, values: file.write(values.data)
    elif path.suffix == ".nc":
        import h5netcdf

        with h5netcdf.File(path, "w") as data:
            data.dimensions = dict(zip(dimensions, shape, strict=True))
            data.attrs.update(about)
            packing = {"compression": "gzip", "compression_opts": 1}
            variable = data.create_variable(VARIABLE, dimensions, kind, chunks=blocks, **packing)
            variable.attrs[DIGEST] = about[DIGEST]
            yield variable.__setitem__
        with path.open("r+b") as file:
            append_digest(file)
    else:
        with needing("zarr", f"{path.name} is to be a Zarr store; zarr writes it"):
            import zarr

        group = zarr.create_group(path, attributes=about)
        how: Any = {"dimension_names": dimensions, "attributes": {DIGEST: about[DIGEST]}}
        yield group.create_array(VARIABLE, shape=shape, chunks=blocks, dtype=kind, **how).__setitem__


def _more_of(plume: Plume) -> dict[str, Any]:
    """What our own files say of a plume, if it is known: environments and units."""
    known = {"environments": plume.environments.text, "cell_mm": plume.cell_mm, "frame_s": plume.frame_s}
    return {name: value for name, value in known.items() if value}
