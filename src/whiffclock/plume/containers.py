"""Opening files of every kind: each function finds the odor in one kind of file, without reading it yet.

What must be closed after reading is entered in ``files``.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.archive import read_npz
from whiffclock.params import require
from whiffclock.plume.layouts import array_axes, choose_key, known_layout, numbered_frames, shape_axes

#: What our own files call the field.
VARIABLE = "concentration"


@dataclass(frozen=True)
class Found:
    """The odor in a file, and what the layout or the file says of it."""

    name: str  # the file, and where in it, for messages
    values: Any  # the stored array: anything with a shape and a type that can be sliced
    axes: str
    blocks: tuple[int, ...] | None = None  # extent of the blocks it is stored in, per axis
    background: int = 0
    source: tuple[int, int] | None = None
    origin: str | None = None
    fingerprint: str | None = None


def open_npy(path: Path, key: str | None, files: ExitStack) -> Found:
    """A single array, mapped into memory."""
    require(key is None, f"{path} holds one array without a name; leave out the key {key!r}.")
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return Found(str(path), values, shape_axes(values.shape))


def open_npz(path: Path, key: str | None, files: ExitStack) -> Found:
    """An archive: our own with field, source and origin, or any other with a key."""
    arrays = read_npz(path, "a plume file")
    require(
        key is not None or "field" in arrays,
        f"{path} holds {', '.join(sorted(arrays))}; a plume file needs an array called 'field', or a key.",
    )
    name = choose_key(str(path), key or "field", {name: values.shape for name, values in arrays.items()})
    if name != "field":
        return Found(str(path), arrays[name], shape_axes(arrays[name].shape))
    source = None
    if "source" in arrays:
        cell = arrays["source"]
        require(cell.shape == (2,), f"{path} has a source of shape {cell.shape}; it needs x and y.")
        source = int(cell[0]), int(cell[1])
    said = {name: str(arrays[name]) for name in ("origin", "fingerprint") if name in arrays}
    return Found(str(path), arrays["field"], "txy", source=source, **said)  # type: ignore[arg-type]


class _Frames:
    """Snapshots with an array each, as one array."""

    def __init__(self, file: Any, keys: list[str]) -> None:
        self.file, self.keys = file, keys
        self.shape, self.dtype = (len(keys), *file[keys[0]].shape), file[keys[0]].dtype

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        return np.stack([self.file[key][index[1:]] for key in self.keys[index[0]]])


def open_hdf5(path: Path, key: str | None, files: ExitStack) -> Found:
    """HDF5 and MATLAB v7.3: a known layout, one array per snapshot, or one array with three dimensions."""
    import h5py

    file = files.enter_context(h5py.File(path, "r"))
    shapes: dict[str, tuple[int, ...]] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None and not name.startswith("#"):
            shapes[name] = item.shape

    file.visititems(note)
    frames = numbered_frames(str(path), shapes) if key is None else []
    if frames:
        movie = _Frames(file, frames)
        return Found(str(path), movie, shape_axes(movie.shape))
    name = choose_key(str(path), key, shapes)
    data, layout, where = file[name], known_layout(name), f"{path}: {name}"
    if layout is None:
        return Found(where, data, shape_axes(data.shape), data.chunks)
    axes, more = layout.details(file, name)
    origin = f"{layout.about}, {path.name}{more}"
    return Found(where, data, axes or layout.axes, data.chunks, layout.background, origin=origin)


def open_netcdf(path: Path, key: str | None, files: ExitStack) -> Found:
    """NetCDF 3 or 4; its dimension names say what the axes are."""
    import xarray

    with path.open("rb") as file:
        engine = "scipy" if file.read(3) == b"CDF" else "h5netcdf"
    data = xarray.open_dataset(path, engine=engine, decode_times=False, cache=False)
    return _from_dataset(path, files.enter_context(data), key)


def open_zarr(path: Path, key: str | None, files: ExitStack) -> Found:
    """A Zarr folder, with or without dimension names."""
    import xarray
    import zarr

    try:
        data = xarray.open_dataset(path, engine="zarr", decode_times=False, cache=False, consolidated=False)
    except (KeyError, ValueError, FileNotFoundError):  # no dimension names, or a single array
        data = xarray.Dataset()
    if data.variables:
        return _from_dataset(path, files.enter_context(data), key)
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        require(key is None, f"{path} holds one array without a name; leave out the key {key!r}.")
        return Found(str(path), node, shape_axes(node.shape), node.chunks)
    arrays = {name: item for name, item in node.members(max_depth=None) if isinstance(item, zarr.Array)}
    name = choose_key(str(path), key, {name: item.shape for name, item in arrays.items()})
    values = arrays[name]
    return Found(f"{path}: {name}", values, array_axes(name, values.shape, []), values.chunks)


def _from_dataset(path: Path, data: Any, key: str | None) -> Found:
    name = choose_key(str(path), key, {str(name): variable.shape for name, variable in data.variables.items()})
    variable = data[name].variable
    axes = array_axes(name, variable.shape, [str(dimension) for dimension in variable.dims])
    blocks = variable.encoding.get("chunksizes") or variable.encoding.get("chunks")
    said: dict[str, Any] = {}
    if "whiffclock_version" in data.attrs:
        x, y = (int(value) for value in data.attrs["source"])
        said = {"source": (x, y), "origin": str(data.attrs["origin"])}
        if name == VARIABLE:
            said["fingerprint"] = data.attrs.get("fingerprint")
    return Found(f"{path}: {name}", variable, axes, blocks, **said)
