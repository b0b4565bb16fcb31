"""Datasets in NetCDF files: written whole or not at all, with a digest, and checked when read."""

import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import xarray as xr

from whiffclock.archive import DIGEST, digest_of, reading, require_file, require_hdf5, require_plausible, write_whole
from whiffclock.params import require


def write_dataset(path: Path, dataset: xr.Dataset) -> None:
    """Write a dataset as NetCDF, atomically, with a digest among its attributes."""
    packed: Any = {name: {"zlib": True} for name, values in dataset.data_vars.items() if values.size > 1}
    complete = dataset.assign_attrs({DIGEST: dataset_digest(dataset)})
    write_whole(path, lambda file: complete.to_netcdf(cast(Any, file), engine="h5netcdf", encoding=packed))


def read_dataset(path: Path, what: str) -> xr.Dataset:
    """Inverse of :func:`write_dataset`; it must agree with its digest, since NetCDF has no checksums of its own."""
    require_file(path)
    require_hdf5(path, what)
    with (
        warnings.catch_warnings(action="ignore"),
        reading(path, what),
        xr.open_dataset(path, engine="h5netcdf") as file,
    ):
        require_plausible(file.nbytes, path)
        loaded = file.load()
        written = loaded.attrs.pop(DIGEST, None)
        require(written == dataset_digest(loaded), f"{path} is not {what}, or it is damaged: its digest is wrong.")
    return loaded


def dataset_digest(dataset: xr.Dataset) -> str:
    """A digest of all names, dimensions, values and attributes of the dataset."""
    arrays = {f"{name} {variable.dims}": variable.values for name, variable in dataset.variables.items()}
    arrays |= {f"attribute {name}": np.asarray(value) for name, value in dataset.attrs.items()}
    for name, variable in dataset.variables.items():
        arrays |= {f"{name} attribute {about}": np.asarray(value) for about, value in variable.attrs.items()}
    return digest_of({name: _in_one_type(values) for name, values in arrays.items()})


def _in_one_type(values: np.ndarray) -> np.ndarray:
    """Values in a type that NetCDF preserves: texts may be read as objects, small integers as large ones."""
    if values.dtype.kind in "iub":
        return values.astype(np.int64)
    return values.astype(np.float64) if values.dtype.kind == "f" else values.astype(str)
