"""Opening files of every kind: each function finds the odor in one kind of file, without reading it yet.

What must be closed after reading is entered in ``files``.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from whiffclock.archive import DIGEST, digest_of, ends_with_digest, read_npz, require_digest, require_npy
from whiffclock.disk import reading, require_plausible
from whiffclock.environments import NONE, parse_environments
from whiffclock.hdf5 import DEEPEST, require_hdf5
from whiffclock.params import POSITIVE, checked, needing, require, require_memory
from whiffclock.plume.reading.layouts import array_axes, choose_key, known_layout, numbered_frames, shape_axes

_MATLAB_TYPES = {"double": "f8", "single": "f4"}
_MATLAB_TYPES |= {f"{sign}int{8 * n}": f"{sign or 'i'}{n}" for sign in ("", "u") for n in (1, 2, 4, 8)}
_UNITS = ("cell_mm", "frame_s")
_Unit = Annotated[float, POSITIVE]
#: Name of the field in our own files.
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
    others: Sequence[Path] = ()  # further files that the values are in
    environments: Mapping[str, float] = NONE
    cell_mm: float | None = None
    frame_s: float | None = None
    streamed: bool = False  # frames are decoded one by one, so that their number needs no limit


def open_npy(path: Path, key: str | None, files: ExitStack) -> Found:
    """A single array, mapped into memory."""
    require(key is None, f"{path} holds one array without a name; leave out the key {key!r}.")
    with reading(path, "a readable plume file"), path.open("rb") as file:
        require_npy(file, path.stat().st_size, "the array")
    values = np.load(path, mmap_mode="r", allow_pickle=False)
    return Found(str(path), values, shape_axes(values.shape))


def open_npz(path: Path, key: str | None, files: ExitStack) -> Found:
    """An archive: our own with field, source and origin, or any other with a key."""
    arrays = read_npz(path, "a plume file")
    name = choose_key(path, "field" if key is None and "field" in arrays else key, arrays)
    if name != "field":
        return Found(str(path), arrays[name], shape_axes(arrays[name].shape))
    if "fingerprint" in arrays:  # which does not cover the origin
        require_digest(arrays, path, "whiffclock plume")
    return Found(str(path), arrays["field"], "txy", **_source_and_origin(path, arrays))


def described(
    origin: str, fingerprint: str, source: Sequence[int], version: str, more: Mapping[str, Any]
) -> dict[str, Any]:
    """The attributes of our own files, with a digest of them: the fingerprint does not cover the origin."""
    about = {"origin": origin, "fingerprint": fingerprint, "source": [int(value) for value in source]}
    about["whiffclock_version"] = version
    about |= more
    return about | {DIGEST: digest_of({name: np.array(value) for name, value in about.items()})}


def _attributes(found: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of one of our files, all of them, and as they were written."""
    missing = [name for name in ("origin", "fingerprint", "source", "whiffclock_version") if name not in found]
    require(not missing, f"it was written by whiffclock, and has no attribute {', '.join(missing)}.")
    origin, fingerprint, version = (str(found[name]) for name in ("origin", "fingerprint", "whiffclock_version"))
    more: dict[str, Any] = {name: float(found[name]) for name in _UNITS if name in found}
    more |= {"environments": str(found["environments"])} if "environments" in found else {}
    again = described(origin, fingerprint, np.atleast_1d(found["source"]).tolist(), version, more)
    require(found.get(DIGEST) in (None, again[DIGEST]), "its attributes do not agree with their digest.")  # older: none
    return again


def _source_and_origin(path: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Source, origin and fingerprint in our own files."""
    known: dict[str, Any] = {name: str(facts[name]) for name in ("origin", "fingerprint") if name in facts}
    plain = known.get("fingerprint", "0").isalnum() and "\n" not in known.get("origin", "")
    require(plain, f"{path} has an origin or a fingerprint that is not one line.")
    if "source" in facts:
        shape = np.shape(facts["source"])
        require(shape == (2,), f"{path} has a source of shape {shape}; it needs x and y.")
        known["source"] = tuple(int(value) for value in facts["source"])
    if text := str(facts.get("environments", "")):
        known["environments"] = parse_environments(text, f"{path}: the text of its environments")
    known |= {name: checked(f"{path}: {name}", facts[name], _Unit) for name in _UNITS if name in facts}
    return known


class _Frames:
    """Snapshots with an array each, as one array."""

    def __init__(self, frames: list[Any]) -> None:
        self.frames, self.shape, self.dtype = frames, (len(frames), *frames[0].shape), frames[0].dtype

    def __getitem__(self, index: tuple[slice, ...]) -> np.ndarray:
        return np.stack([frame[index[1:]] for frame in self.frames[index[0]]])


def open_matlab(path: Path, key: str | None, files: ExitStack) -> Found:
    """MATLAB before v7.3: the array is read as a whole."""
    from scipy.io import loadmat, whosmat

    types = {name: np.dtype(_MATLAB_TYPES[kind]) for name, _, kind in whosmat(path) if kind in _MATLAB_TYPES}
    shapes = {name: np.broadcast_to(types[name].type(0), shape) for name, shape, _ in whosmat(path) if name in types}
    name = choose_key(path, key, shapes)
    size = math.prod(shapes[name].shape) * types[name].itemsize
    require_plausible(size, path, name)
    require_memory(size, f"{path}: {name}")
    values = np.asarray(loadmat(path, variable_names=[name])[name])
    layout = known_layout(name)
    background = layout.background if layout else 0
    axes = layout.axes if layout else shape_axes(values.shape)
    origin = f"{layout.about}, {path.name}" if layout else None
    return Found(f"{path}: {name}", values, axes, None, background, origin=origin)


def open_hdf5(path: Path, key: str | None, files: ExitStack) -> Found:
    """HDF5 and MATLAB v7.3: a known layout, one array per snapshot, or one array with three dimensions."""
    import h5py

    others = require_hdf5(path, "a readable plume file")
    file = files.enter_context(h5py.File(path, "r"))
    arrays: dict[str, Any] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.shape is not None and not name.startswith("#"):
            arrays[name] = item

    file.visititems(note)
    if key is None and (frames := numbered_frames(path, arrays)):
        movie = _Frames(frames)
        return Found(str(path), movie, shape_axes(movie.shape))
    name = choose_key(path, key, arrays)
    data, layout, where = arrays[name], known_layout(name), f"{path}: {name}"
    if layout is None:
        return Found(where, data, shape_axes(data.shape), data.chunks, others=others)
    axes, more = layout.details(file, name)
    origin = f"{layout.about}, {path.name}{more}"
    return Found(where, data, axes or layout.axes, data.chunks, layout.background, origin=origin, others=others)


def open_netcdf(path: Path, key: str | None, files: ExitStack) -> Found:
    """NetCDF 3 or 4; its dimension names say what the axes are."""
    import xarray

    with path.open("rb") as file:
        engine = "scipy" if file.read(3) == b"CDF" else "h5netcdf"
    others: Sequence[Path] = ()
    if engine == "h5netcdf":
        ends_with_digest(path)
        others = require_hdf5(path, "a readable plume file")
    data = xarray.open_dataset(path, engine=engine, decode_times=False, cache=False)
    return replace(_from_dataset(path, files.enter_context(data), key), others=others)


def is_zarr(folder: Path) -> bool:
    """Whether a folder is a Zarr store."""
    return any((folder / mark).exists() for mark in ("zarr.json", ".zgroup", ".zarray"))


def open_zarr(path: Path, key: str | None, files: ExitStack) -> Found:
    """A Zarr folder, with or without dimension names."""
    import xarray

    with needing("zarr", f"{path} is a Zarr store; zarr reads it"):
        import zarr

    try:
        raw = xarray.open_dataset(path, engine="zarr", decode_cf=False, cache=False, consolidated=False)
        for variable in raw.variables.values():
            if not variable.attrs.get("_FillValue", 1):  # in version 2 zeros are the default of Zarr, not missing
                del variable.attrs["_FillValue"]
        data = xarray.decode_cf(raw, decode_times=False)
    except (KeyError, ValueError, FileNotFoundError):  # no dimension names, or a single array
        data = xarray.Dataset()
    if data.variables:
        return _from_dataset(path, files.enter_context(data), key)
    node = zarr.open(path, mode="r")
    if isinstance(node, zarr.Array):
        require(key is None, f"{path} holds one array without a name; leave out the key {key!r}.")
        return Found(str(path), node, shape_axes(node.shape), node.chunks)
    arrays = {name: item for name, item in node.members(max_depth=DEEPEST) if isinstance(item, zarr.Array)}
    name = choose_key(path, key, arrays)
    array = arrays[name]
    known = _known(path, name, dict(array.attrs), dict(node.attrs))
    return Found(f"{path}: {name}", array, "txy" if known else array_axes(name, array.shape), array.chunks, **known)


def _from_dataset(path: Path, data: Any, key: str | None) -> Found:
    name = choose_key(path, key, {str(name): variable for name, variable in data.variables.items()})
    variable = data[name].variable
    axes = array_axes(name, variable.shape, variable.dims)
    blocks = variable.encoding.get("chunksizes") or variable.encoding.get("chunks")
    return Found(f"{path}: {name}", variable, axes, blocks, **_known(path, name, variable.attrs, data.attrs))


def _known(path: Path, name: str, of_array: Mapping[str, Any], of_file: Mapping[str, Any]) -> dict[str, Any]:
    """What the attributes of an array and of its file say, if the file is ours."""
    again = {DIGEST: of_array[DIGEST]} if name == VARIABLE and DIGEST in of_array else {}
    if not again and len({"origin", "fingerprint", "source", "whiffclock_version"} & of_file.keys()) < 3:
        return {}
    known = _source_and_origin(path, _attributes(again | dict(of_file)))
    if name != VARIABLE:
        known.pop("fingerprint")
    return known
