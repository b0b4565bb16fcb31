"""Datasets in NetCDF files: written whole or not at all, with a digest, and checked when read."""

import warnings
from pathlib import Path
from typing import Any, BinaryIO, cast

import xarray as xr

from whiffclock.archive import append_digest, ends_with_digest
from whiffclock.disk import reading, require_file, require_plausible, write_whole
from whiffclock.hdf5 import require_hdf5
from whiffclock.params import require

#: Larger variables, in bytes, are stored in pieces.
_WHOLE = 2**26


def write_dataset(path: Path, dataset: xr.Dataset, level: int = 4) -> None:
    """Write a dataset as NetCDF, atomically; the file ends with a digest, since NetCDF has no checksums of its own.

    ``level`` of compression: 1 (fast) to 9 (small).
    """
    packed: Any = {
        name: _packing(values) | {"complevel": level} for name, values in dataset.data_vars.items() if values.size > 1
    }

    def write(file: BinaryIO) -> None:
        dataset.to_netcdf(cast(Any, file), engine="h5netcdf", encoding=packed)
        append_digest(file)

    write_whole(path, write)


def _packing(values: xr.DataArray) -> dict[str, Any]:
    """How a variable is stored: texts as characters, since HDF5 does not compress texts; small ones in one piece."""
    text: dict[str, Any] = {"dtype": "S1"} if values.dtype.kind == "U" else {}
    whole = {} if text or values.nbytes > _WHOLE else {"chunksizes": values.shape}
    return {"zlib": True, "shuffle": True} | text | whole


def read_dataset(path: Path, what: str) -> xr.Dataset:
    """Inverse of :func:`write_dataset`; a file without its digest, or of an older version, is refused."""
    require_file(path)
    with reading(path, what):
        require(ends_with_digest(path), f"{path} is not {what} of this version, or it is damaged: its digest is wrong.")
        require_hdf5(path, what)
        with warnings.catch_warnings(action="ignore"), xr.open_dataset(path, engine="h5netcdf") as file:
            require_plausible(file.nbytes, path)
            made = file.load()
            texts = [name for name, values in made.data_vars.items() if "char_dim_name" in values.encoding]
            return made.assign({name: made[name].astype(str) for name in texts})
