"""Opening files of every kind: each function finds the odor in one kind of file, without reading it yet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.archive import read_npz
from whiffclock.params import require
from whiffclock.plume.layouts import choose_key, grid_axes, known_layout, named_axes, numbered_frames, shape_axes
from whiffclock.plume.lazy import Stored

PLIF_GROUP = "Plume Data"


@dataclass(frozen=True)
class Found:
    """The odor in a file: the stored array, its axes, and what else the file says."""

    stored: Stored
    axes: str
    background: int = 0
    source: tuple[int, int] | None = None
    origin: str | None = None


def open_npy(path: Path, key: str | None = None) -> Found:
    """A single array, mapped into memory."""
    require(key is None, f"{path} holds one array without a name; leave out the key {key!r}.")
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return Found(Stored(str(path), values.shape, values.dtype, values.__getitem__), shape_axes(values.shape))


def open_npz(path: Path, key: str | None = None) -> Found:
    """An archive: our own with field, source and origin, or any other with a key."""
    arrays = read_npz(path, "a plume file")
    require(
        key is not None or "field" in arrays,
        f"{path} holds {', '.join(sorted(arrays))}; a plume file needs an array called 'field', or a key.",
    )
    name = choose_key(str(path), key or "field", {name: values.shape for name, values in arrays.items()})
    values = arrays[name]
    stored = Stored(str(path), values.shape, values.dtype, values.__getitem__)
    if name != "field":
        return Found(stored, shape_axes(values.shape))
    source = None
    if "source" in arrays:
        cell = arrays["source"]
        require(cell.shape == (2,), f"{path} has a source of shape {cell.shape}; it needs x and y.")
        source = int(cell[0]), int(cell[1])
    origin = str(arrays["origin"]) if "origin" in arrays else None
    return Found(stored, "txy", source=source, origin=origin)


def open_hdf5(path: Path, key: str | None = None) -> Found:
    """HDF5 and MATLAB v7.3: a known layout, one array per snapshot, or one array with three dimensions."""
    import h5py

    file = h5py.File(path, "r")
    try:
        shapes = _hdf5_shapes(file)
        frames = numbered_frames(str(path), shapes) if key is None else []
        if frames:
            return _frame_by_frame(path, file, frames)
        movies = sorted((name for name in shapes if re.fullmatch(PLIF_GROUP + r"/dataset_\d+", name)), key=_number)
        name = movies[0] if movies and key is None else choose_key(str(path), key, shapes)
        data = file[name]
        stored = Stored(f"{path}: {name}", data.shape, data.dtype, data.__getitem__, data.chunks, file.close)
        if name in movies:
            return _plif(path, file, stored, name)
        layout = known_layout([name])
        if layout is not None:
            return Found(stored, layout.axes, layout.background, origin=f"{layout.about}, {path.name}")
        return Found(stored, shape_axes(data.shape))
    except BaseException:
        file.close()
        raise


def _hdf5_shapes(file: Any) -> dict[str, tuple[int, ...]]:
    import h5py

    shapes: dict[str, tuple[int, ...]] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None and not name.startswith("#"):
            shapes[name] = item.shape

    file.visititems(note)
    return shapes


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def _frame_by_frame(path: Path, file: Any, frames: list[str]) -> Found:
    first = file[frames[0]]

    def read(index: tuple[slice, ...]) -> np.ndarray:
        return np.stack([file[key][index[1:]] for key in frames[index[0]]])

    shape = (len(frames), *first.shape)
    return Found(Stored(str(path), shape, first.dtype, read, close=file.close), shape_axes(shape))


def _plif(path: Path, file: Any, stored: Stored, name: str) -> Found:
    """One movie of a file with coordinates and imaging parameters."""
    require(len(stored.shape) == 3, f"{stored.name} has {len(stored.shape)} dimensions {stored.shape}; it needs three.")
    axes, origin = None, f"PLIF, {path.name}, {name}"
    grids: list[str] = []
    file.visit(lambda item: grids.append(item) if item.rpartition("/")[2] == "xGrid" else None)
    if grids:
        x = np.asarray(file[grids[0]])
        varies = None if x.ndim != 2 or x.size < 2 else int(np.ptp(x, axis=1).max() > np.ptp(x, axis=0).max())
        axes = grid_axes((stored.shape[1], stored.shape[2]), x.shape, varies)
    rate = file.get("Attributes/imagingParameters/frameRate")
    if rate is not None and np.size(rate) == 1:
        origin += f", {float(np.ravel(rate)[0]):g} Hz"
    return Found(stored, axes or "txy", origin=origin)


def open_netcdf(path: Path, key: str | None = None) -> Found:
    """NetCDF 3 or 4; its dimension names say what the axes are."""
    import xarray

    with path.open("rb") as file:
        engine = "scipy" if file.read(3) == b"CDF" else "h5netcdf"
    data = xarray.open_dataset(path, engine=engine, decode_times=False, cache=False)
    try:
        return _from_dataset(path, data, key)
    except BaseException:
        data.close()
        raise


def open_zarr(path: Path, key: str | None = None) -> Found:
    """A Zarr folder, with or without dimension names."""
    import xarray
    import zarr

    try:
        data = xarray.open_dataset(path, engine="zarr", decode_times=False, cache=False, consolidated=False)
    except (KeyError, ValueError, FileNotFoundError):  # no dimension names, or a single array
        data = xarray.Dataset()
    if data.variables:
        return _from_dataset(path, data, key)
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        require(key is None, f"{path} holds one array without a name; leave out the key {key!r}.")
        arrays: dict[str, Any] = {"": node}
        name = ""
    else:
        arrays = {name: item for name, item in node.members(max_depth=None) if isinstance(item, zarr.Array)}
        name = choose_key(str(path), key, {name: item.shape for name, item in arrays.items()})
    values = arrays[name]
    stored = Stored(f"{path}: {name}".removesuffix(": "), values.shape, values.dtype, values.__getitem__, values.chunks)
    layout = known_layout([name])
    return Found(stored, layout.axes if layout else shape_axes(values.shape))


def _from_dataset(path: Path, data: Any, key: str | None) -> Found:
    name = choose_key(str(path), key, {str(name): variable.shape for name, variable in data.variables.items()})
    variable = data[name].variable
    encoded = variable.encoding.get("chunksizes") or variable.encoding.get("chunks")
    stored = Stored(
        f"{path}: {name}",
        variable.shape,
        variable.dtype,
        lambda index: variable[index].values,
        tuple(encoded) if encoded else None,
        data.close,
    )
    layout = known_layout([name])
    fallback = layout.axes if layout else shape_axes(variable.shape)
    axes = named_axes([str(dimension) for dimension in variable.dims]) or fallback
    if "whiffclock_version" not in data.attrs:
        return Found(stored, axes)
    x, y = (int(value) for value in data.attrs["source"])
    return Found(stored, axes, source=(x, y), origin=str(data.attrs["origin"]))
