"""NetCDF datasets of the ``movement`` package: position with dimensions time, space, keypoint(s), individual(s)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whiffclock.disk import reading, require_plausible
from whiffclock.hdf5 import require_hdf5
from whiffclock.params import require
from whiffclock.plume.guess import Guess
from whiffclock.tracks.columns import LABELS, Raw, labelled

_SMELL = ("whiff", "signal", "odor", "odour", "concentration")
_PLURAL = {"keypoints": "keypoint", "individuals": "individual"}
_CENTRES = ("centroid", "center", "centre", "body", "thorax")


def dataset_columns(path: Path, given: Mapping[str, str], keypoint: str | None) -> Raw:
    """The tracks of all individuals, one after the other."""
    import xarray as xr

    with reading(path, "a dataset of tracks"):
        require_hdf5(path, "a dataset of tracks")
        with (
            warnings.catch_warnings(action="ignore"),
            xr.open_dataset(path, engine="h5netcdf", decode_timedelta=False) as file,
        ):
            require_plausible(file.nbytes, path)
            data = file.load()
    data = data.rename({old: new for old, new in _PLURAL.items() if old in data.dims or old in data.coords})
    have = ", ".join(map(str, data.data_vars)) or "none"
    require("position" in data, f"{path} has no variable called position; it has {have}.")
    smell = given.get("whiff") or given.get("odor") or next((name for name in _SMELL if name in data), None)
    need = f"{path} needs a variable of odor or whiffs (--columns odor=NAME) with the dimension time"
    require(smell is not None and smell in data, f"{need}; it has {have}.")
    assert smell is not None
    raw = Raw(path.name, {})
    place = _followed(path, data["position"], keypoint, raw)
    space = place["space"].values.tolist() if "space" in place.coords else ["x", "y"]
    require({"x", "y"} <= {*space}, f"{path} has the space {', '.join(map(str, space))}; it needs x and y.")
    place = place.transpose("individual", "time", "space")
    odor = data[smell].broadcast_like(place.isel(space=0, drop=True)).transpose("individual", "time")
    count, length = odor.shape
    named = "whiff" if smell in ("whiff", "signal") or "whiff" in given else "odor"
    where = {axis: place.isel(space=space.index(axis)).values.astype(np.float64).ravel() for axis in "xy"}
    raw.values = {"t": np.tile(_times(data, raw), count), **where, named: odor.values.astype(np.float64).ravel()}
    raw.labels = {
        label: _labels(path, data, label, count, length) for label in LABELS if label in data or label in data.attrs
    }
    unit = data["position"].attrs.get("units") or data.attrs.get("length_unit") or data.attrs.get("space_unit")
    raw.units |= {"x": str(unit)} if unit else {}
    raw.said["columns"] = Guess(f"position, {named}={smell}", "sure", "names of variables", "--columns")
    return raw


def _followed(path: Path, position: Any, keypoint: str | None, raw: Raw) -> Any:
    """The position of one keypoint, or the mean of all."""
    require({"time", "space"} <= {*position.dims}, f"{path}: position has the dimensions {position.dims}.")
    if "individual" not in position.dims:
        position = position.expand_dims("individual")
    extra = [str(name) for name in position.dims if name not in ("time", "space", "individual", "keypoint")]
    require(not extra, f"{path}: position has the further dimensions {', '.join(extra)}.")
    names = [str(name) for name in np.atleast_1d(position["keypoint"].values)] if "keypoint" in position.coords else []
    require(keypoint is None or keypoint in names, f"{path} has no keypoint {keypoint!r}; it has {', '.join(names)}.")
    if "keypoint" not in position.dims:
        return position
    if len(names) == position.sizes["keypoint"]:
        chosen = keypoint or next((name for name in _CENTRES if name in names), names[0] if len(names) == 1 else None)
        if chosen is not None:
            sure = "given" if keypoint else "likely"
            raw.said["keypoint"] = Guess(chosen, sure, f"of {len(names)} keypoints", "--keypoint")
            return position.isel(keypoint=names.index(chosen), drop=True)
    why = f"missing where one of {position.sizes['keypoint']} is"
    raw.said["keypoint"] = Guess("mean of all", "likely", why, "--keypoint")
    return position.mean("keypoint", skipna=False)


def _times(data: Any, raw: Raw) -> np.ndarray:
    """Times of the frames, in s or in frames, with the rate that the file states."""
    unit, fps = data.attrs.get("time_unit"), data.attrs.get("fps")
    known = fps is not None and np.ndim(fps) == 0 and float(fps) > 0
    raw.fps = float(fps) if known else None
    raw.frames = "time" not in data.coords or str(unit).startswith("frame")
    times = data["time"].values if "time" in data.coords else np.arange(data.sizes["time"])
    return np.asarray(times, dtype=np.float64)


def _labels(path: Path, data: Any, label: str, count: int, length: int) -> tuple[np.ndarray, list[str]]:
    """The label of each individual, repeated for its frames."""
    found = np.atleast_1d(np.asarray(data[label].values if label in data else data.attrs[label]))
    found = np.repeat(found, count) if found.size == 1 else found
    require(found.shape == (count,), f"{path}: {label} must have one value for each of {count} individuals.")
    codes, names = labelled(found.astype(str))
    return np.repeat(codes, length), names
