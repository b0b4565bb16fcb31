"""Plume files of every layout that is around, small, made here; and files that are broken on purpose."""

import json
import os
import tracemalloc

import dask.array
import h5py
import numpy as np
import pytest
import scipy.io
import xarray
import zarr

from whiffclock.archive import write_npz
from whiffclock.params import InputError
from whiffclock.plume import Plume
from whiffclock.plume.reading import files
from whiffclock.plume.reading.containers import VARIABLE
from whiffclock.plume.reading.files import ReadSettings, read_plume, write_plume
from whiffclock.plume.reading.layouts import LAYOUTS, PAPER_SHAPE, Layout, grid_axes, named_axes, shape_axes
from whiffclock.plume.toy import toy_plume

FIELD = np.random.default_rng(0).random((30, 12, 7)).astype(np.float32)
TYX = np.swapaxes(FIELD, 1, 2)


def hdf5(path, user_block=0, **arrays):
    with h5py.File(path, "w", userblock_size=user_block) as file:
        for name, values in arrays.items():
            file[name] = values
    if user_block:
        with path.open("r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))
    return path


def nose(folder):
    return hdf5(folder / "nose_data.mat", 512, nose=TYX)


def ground(folder):
    return hdf5(folder / "ground_data.mat", 512, ground=TYX.astype(np.float64))


def plif(folder):
    return hdf5(folder / "10302017_10cms_bounded_2.h5", dataset2=FIELD, dataset1=FIELD[0])


def frame_by_frame(folder):
    return hdf5(folder / "frames.h5", **{str(t): FIELD[t] for t in reversed(range(30))})


def plif_movies(folder, across_first=True):
    x, y = np.meshgrid(np.arange(12) * 0.74, np.arange(7) * 0.74)
    if not across_first:
        x, y = x.T, y.T
    movie = TYX if across_first else FIELD
    path = hdf5(folder / "a0004.h5", xGrid=x, yGrid=y)
    with h5py.File(path, "a") as file:
        file["Attributes/imagingParameters/frameRate"] = [[15.0]]
        for n in (10, 2, 1):
            file[f"Plume Data/dataset_{n:03d}"] = movie * (1 if n == 1 else 2)
    return path


def movies_across_last(folder):
    return plif_movies(folder, across_first=False)


def zarr_without_names(folder):
    group = zarr.create_group(folder / "plume.zarr", zarr_format=2)
    group.create_array("concentration", shape=TYX.shape, dtype="f4")[:] = TYX
    group.create_array("timestamps", shape=(30,), dtype="f4")[:] = 0
    return folder / "plume.zarr"


def zarr_with_names(folder):
    data = xarray.Dataset({"odor": (("y", "time", "x"), TYX.swapaxes(0, 1))})
    data.to_zarr(folder / "named.zarr", consolidated=False)
    return folder / "named.zarr"


def zarr_array(folder):
    zarr.create_array(folder / "one.zarr", shape=FIELD.shape, dtype="f4")[:] = FIELD
    return folder / "one.zarr"


def netcdf(folder):
    data = xarray.Dataset({"odor": (("x", "y", "t"), FIELD.transpose(1, 2, 0)), "wind": (("t",), np.zeros(30))})
    data.to_netcdf(folder / "odor.nc", engine="h5netcdf")
    return folder / "odor.nc"


def netcdf_by_another_name(folder):
    return netcdf(folder).rename(folder / "odor.h5")


def old_netcdf(folder):
    xarray.Dataset({"odor": (("time", "y", "x"), TYX)}).to_netcdf(folder / "old.nc", engine="scipy")
    return folder / "old.nc"


def npy(folder):
    np.save(folder / "field.npy", FIELD)
    return folder / "field.npy"


def generic(folder):
    return hdf5(folder / "any.h5", **{"deep/down": FIELD, "coordinates": np.arange(12)})


ALL = [
    nose, ground, plif, frame_by_frame, plif_movies, movies_across_last, zarr_without_names, zarr_with_names,
    zarr_array, netcdf, netcdf_by_another_name, old_netcdf, npy, generic,
]  # fmt: skip


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("in_file", [False, True])
def test_every_layout_gives_the_same_field(tmp_path, monkeypatch, make, in_file):
    path = make(tmp_path)
    if in_file:
        monkeypatch.setattr(files, "LOAD_BYTES", 0)
    plume = read_plume(path)
    assert isinstance(plume.field, dask.array.Array) == in_file
    assert plume.field.shape == FIELD.shape
    assert np.array_equal(np.asarray(plume.field), FIELD)
    assert plume.source == (0, 3)
    assert path.name in plume.origin
    assert np.allclose(plume.whiffs(0.5).probability(), (FIELD >= 0.5).mean(axis=0))


def test_layouts_say_what_they_know(tmp_path):
    assert "15 Hz" in read_plume(plif_movies(tmp_path)).origin
    assert shape_axes(PAPER_SHAPE) == "tyx"
    assert shape_axes((2598, 123, 27)) == "txy"
    assert named_axes(["Time", "crosswind", "downwind"]) == "tyx"
    assert named_axes(["time", "lat", "lon"]) is None
    assert grid_axes((7, 12), np.zeros((12, 1))) == "tyx"
    assert grid_axes((7, 7), np.zeros(7)) is None


def test_the_array_of_the_paper_is_known_by_its_shape(tmp_path):
    values = np.zeros(PAPER_SHAPE, dtype=np.float32)
    values[5, 13, 40] = 1e-5
    np.save(tmp_path / "nose_data_27_123.npy", values)
    plume = read_plume(tmp_path / "nose_data_27_123.npy")
    assert plume.source == (0, 13)
    assert plume.field[5, 40, 13] == np.float32(1e-5)


def test_smoke_loses_the_mean_of_its_first_200_frames(tmp_path):
    rng = np.random.default_rng(1)
    frames = rng.integers(3, 200, (230, 8, 6)).astype(np.uint8)
    path = hdf5(tmp_path / "smoke.mat", 512, frames=frames)
    plume = read_plume(path)
    assert np.allclose(plume.field, frames - frames[:200].mean(axis=0), atol=1e-4)
    assert "first 200" in plume.origin
    raw = read_plume(path, ReadSettings(background=0))
    assert raw.field.dtype == np.uint8
    assert np.array_equal(raw.field, frames)


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("method", ["mean", "point"])
def test_a_field_is_what_its_settings_say(tmp_path, monkeypatch, in_file, method):
    monkeypatch.setattr("whiffclock.plume.reading.files.READ_BYTES", 1000)  # a few snapshots per read
    if in_file:
        monkeypatch.setattr(files, "LOAD_BYTES", 0)
    np.save(tmp_path / "f.npy", TYX)
    how = ReadSettings(
        axes="tyx", first=4, end=29, crop=(1, 12, 0, 7), downsample=2, downsample_method=method, background=9,
        scale=3.0, clip=True, source=(1, 2),
    )  # fmt: skip
    cells = FIELD[:, 1:12].astype(np.float64)
    blocks = cells[:, :10, :6].reshape(30, 5, 2, 3, 2)
    small = blocks.mean(axis=(2, 4)) if method == "mean" else cells[:, ::2, ::2]
    expected = np.maximum((small - small[:9].mean(axis=0))[4:29] * 3, 0)
    plume = read_plume(tmp_path / "f.npy", how)
    assert np.allclose(np.asarray(plume.field), expected, atol=1e-6)
    assert plume.source == (1, 2)
    whole = np.asarray(plume.field)
    for index in (7, -1, slice(3, 20), slice(None, 9, 2), slice(5, 5), (slice(None, 11), 2, 1), (3, 2), (4, 1, 2)):
        assert np.array_equal(np.asarray(plume.field[index]), whole[index])
    with pytest.raises(IndexError):
        plume.field[25]


def test_the_source_moves_with_the_cells(tmp_path, plume):
    write_plume(plume, tmp_path / "p.nc")
    kept = read_plume(tmp_path / "p.nc", ReadSettings(crop=(0, 40, 3, 23), downsample=2))
    assert kept.source == (0, 5)
    with pytest.raises(InputError, match="name a source"):
        read_plume(tmp_path / "p.nc", ReadSettings(crop=(1, 40, 3, 23)))


@pytest.mark.parametrize("ending", ["npy", "npz", "nc", "zarr"])
def test_what_is_written_is_read_again(tmp_path, monkeypatch, plume, ending):
    path = tmp_path / f"p.{ending}"
    write_plume(plume, path)
    write_plume(plume, path)
    again = read_plume(path)
    assert again.fingerprint == plume.fingerprint
    assert again.source == plume.source
    assert again.field.dtype == plume.field.dtype
    assert ending == "npy" or again.origin == plume.origin
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    monkeypatch.setattr(files, "LOAD_BYTES", 0)
    lazy = read_plume(path)
    write_plume(lazy, tmp_path / "copy.npy")
    assert np.array_equal(np.load(tmp_path / "copy.npy"), plume.field)
    with pytest.raises(InputError, match=r"too large for copy\.npz"):
        write_plume(lazy, tmp_path / "copy.npz")


def lose_chunk(path):
    (path / "concentration/c/1/0/0").unlink()


def flip_bit(path):
    chunk = path / "concentration/c/1/0/0"
    stored = bytearray(chunk.read_bytes())
    stored[len(stored) // 2] ^= 1
    chunk.write_bytes(stored)


def change_netcdf(path):
    with h5py.File(path, "a") as file:
        file["concentration"][100, 20, 13] += 1e-6


def change_npz(path):
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["field"][100, 20, 13] += 1e-6
    np.savez(path, **arrays)


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize(
    "how", [{}, {"crop": (0, 9, 0, 27), "end": 5}, {"downsample": 3}, {"source": (0, 0)}, {"key": "concentration"}]
)
@pytest.mark.parametrize(
    ("damage", "ending"), [(lose_chunk, "zarr"), (flip_bit, "zarr"), (change_netcdf, "nc"), (change_npz, "npz")]
)
def test_what_was_damaged_after_it_was_written_is_refused(tmp_path, monkeypatch, in_file, how, damage, ending):
    if in_file:
        monkeypatch.setattr(files, "LOAD_BYTES", 0)
    path = tmp_path / f"p.{ending}"
    write_plume(toy_plume(snapshots=300, length=60, width=27), path)
    if "key" in how and ending == "npz":
        how = {"key": "field"}
    read_plume(path, ReadSettings(**how))
    damage(path)
    with pytest.raises(InputError, match=rf"p\.{ending}.* is damaged") as caught:
        read_plume(path, ReadSettings(**how))
    assert "\n" not in str(caught.value)


def test_snapshots_without_odor_are_no_damage(tmp_path, plume):
    field = np.array(plume.field)
    field[:150] = 0
    write_plume(Plume.from_array(field), tmp_path / "p.zarr")
    assert np.array_equal(read_plume(tmp_path / "p.zarr").field, field)


def test_a_layout_is_one_entry(tmp_path, monkeypatch):
    monkeypatch.setitem(LAYOUTS, r"tunnel/run\d+", Layout("yxt", "wind tunnel", background=2))
    runs = {f"tunnel/run{n}": FIELD.T * (1 if n == 3 else 5) for n in (11, 3)}
    plume = read_plume(hdf5(tmp_path / "tunnel.h5", other=FIELD, **runs))
    assert plume.origin == "wind tunnel, tunnel.h5, minus the mean of the first 2"
    assert np.allclose(plume.field, FIELD - FIELD[:2].mean(axis=0), atol=1e-6)


def test_other_tools_read_what_is_written(tmp_path, plume):
    write_plume(plume, tmp_path / "p.nc")
    write_plume(plume, tmp_path / "p.zarr")
    for data in (
        xarray.open_dataset(tmp_path / "p.nc", engine="h5netcdf"),
        xarray.open_dataset(tmp_path / "p.zarr", engine="zarr", consolidated=False),
    ):
        with data:
            assert data["concentration"].dims == ("t", "x", "y")
            assert np.array_equal(data["concentration"], plume.field)
            assert data.attrs["fingerprint"] == plume.fingerprint
            assert list(data.attrs["source"]) == list(plume.source)


def test_a_large_file_is_thresholded_in_little_memory(tmp_path):
    path = tmp_path / "nose_data.mat"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("nose", (2600, 120, 250), "f4", chunks=(20, 60, 125), compression="gzip")
        for t in range(0, 2600, 400):
            data[t, 60, 100] = 1.0
    tracemalloc.start()
    plume = read_plume(path)
    whiffs = plume.whiffs(0.5)
    train, test = plume.split(0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(plume.field, dask.array.Array)
    assert plume.field.nbytes > 300e6
    assert whiffs.series(100, 60).sum() == 7
    assert train.whiffs(0.5).series(100, 60).sum() + test.whiffs(0.5).series(100, 60).sum() == 7
    assert peak < 120e6


def cut_short(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 5])
    return path


def with_nan(folder):
    values = FIELD.copy()
    values[17, 3, 3] = np.nan
    np.save(folder / "nan.npy", values)
    return folder / "nan.npy"


def text(folder, content=b"version https://git-lfs.github.com/spec/v1\nsize 6800000000\n"):
    (folder / "pointer.mat").write_bytes(content)
    return folder / "pointer.mat"


def old_matlab(folder):
    scipy.io.savemat(folder / "coordinates.mat", {"X": np.ones((3, 4))})
    return folder / "coordinates.mat"


def several(folder):
    return hdf5(folder / "two.h5", a=FIELD, b=FIELD)


def plain_folder(folder):
    (folder / "plain").mkdir()
    return folder / "plain"


def lossy(folder):
    return hdf5(folder / "lossy.h5", **{str(t): FIELD[t] for t in range(12) if t != 9})


@pytest.mark.parametrize(
    ("make", "how", "says"),
    [
        (lambda d: cut_short(npy(d)), {}, "damaged"),
        (lambda d: cut_short(nose(d)), {}, "damaged: it is cut short"),
        (lambda d: cut_short(netcdf(d)), {}, "damaged"),
        (nose, {"key": "Nose"}, r"no array called 'Nose'; found: nose \(30, 7, 12\)"),
        (netcdf, {"key": "smell"}, "no array called 'smell'; found: .*odor"),
        (zarr_without_names, {"key": "smell"}, "no array called 'smell'; found: .*concentration"),
        (npy, {"key": "field"}, "leave out the key"),
        (several, {}, "several arrays"),
        (with_nan, {}, "NaN"),
        (lambda d: hdf5(d / "flat.h5", field=FIELD[0]), {}, r"no array with three dimensions.*field \(12, 7\)"),
        (lambda d: hdf5(d / "flat.h5", field=FIELD[0]), {"key": "field"}, "2 dimensions"),
        (lambda d: hdf5(d / "words.h5", field=np.full((3, 4, 5), b"a")), {}, "real numbers"),
        (lambda d: hdf5(d / "wind.mat", 512, uu=FIELD), {}, "wind velocities"),
        (lambda d: hdf5(d / "none.h5"), {}, "no arrays at all"),
        (lossy, {}, "number 9 is missing"),
        (npy, {"axes": "ytx", "source": (29, 0)}, "outside the grid"),
        (npy, {"crop": (0, 13, 0, 7)}, "reaches beyond"),
        (npy, {"downsample": 8}, "leaves none"),
        (npy, {"first": 30}, "30 snapshots"),
        (npy, {"end": 31}, "30 snapshots"),
        (npy, {"first": 29}, "two snapshots"),
        (npy, {"background": 31}, "background of the first 31"),
        (lambda d: hdf5(d / "short.mat", 512, frames=FIELD), {}, "background of the first 200"),
        (text, {}, "begins with 'version https://git-lfs"),
        (lambda d: text(d, b""), {}, "it is empty"),
        (lambda d: text(d, b"\xff\xd8\xfe\xe0"), {}, "bytes ff d8"),
        (old_matlab, {}, "no array with three dimensions"),
        (plain_folder, {}, "not a Zarr store"),
    ],
)
def test_a_bad_file_gets_one_sentence_with_its_name(tmp_path, make, how, says):
    path = make(tmp_path)
    with pytest.raises(InputError, match=says) as caught:
        read_plume(path, ReadSettings(**how))
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message


def test_damage_inside_a_file_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LOAD_BYTES", 0)
    with h5py.File(tmp_path / "packed.h5", "w") as file:
        data = file.create_dataset("field", data=FIELD, chunks=(10, 12, 7), compression="gzip")
        where = data.id.get_chunk_info(1)
    with (tmp_path / "packed.h5").open("r+b") as raw:
        raw.seek(where.byte_offset)
        raw.write(b"\0" * where.size)
    with pytest.raises(InputError, match=r"packed.h5: field is damaged or cut short at snapshots"):
        read_plume(tmp_path / "packed.h5")


def test_no_permission_and_no_room_get_one_sentence(tmp_path, monkeypatch, plume):
    def forbidden(self, *_args):
        raise PermissionError(13, "Permission denied")

    path = npy(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.open", forbidden)
        with pytest.raises(InputError, match=r"field.npy cannot be read: Permission denied"):
            read_plume(path)

    monkeypatch.setattr("shutil.disk_usage", lambda _path: (10, 10, 0))
    for ending in ("npy", "nc", "zarr"):
        with pytest.raises(InputError, match=r"out\..* cannot be written: No space left on device"):
            write_plume(plume, tmp_path / f"out.{ending}")
        assert os.listdir(tmp_path) == ["field.npy"]


def test_a_folder_is_not_replaced(tmp_path, plume):
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.npy").mkdir()
    for path, says in (("a.zarr", "not a Zarr store"), ("a.npy", "is a folder"), ("a.csv", "ending")):
        with pytest.raises(InputError, match=says):
            write_plume(plume, tmp_path / path)


@pytest.mark.parametrize(
    "how",
    [
        {"axes": "txx"}, {"axes": "zyx"}, {"first": -1}, {"first": 5, "end": 5}, {"crop": (3, 3, 0, 1)},
        {"downsample": 0}, {"downsample_method": "median"}, {"background": -1}, {"scale": 0.0},
        {"scale": float("nan")},
    ],
)  # fmt: skip
def test_bad_settings_are_refused(how):
    with pytest.raises(InputError) as caught:
        ReadSettings(**how)
    assert "\n" not in str(caught.value)
    good = ReadSettings(crop=(0, 1, 2, 3))
    assert ReadSettings.from_dict(good.to_dict()) == good


def test_zeros_of_zarr_version_2_are_values(tmp_path):
    group = zarr.create_group(tmp_path / "a.zarr", zarr_format=2)
    how = {"chunks": (10, *FIELD.shape[1:]), "fill_value": 0, "attributes": {"_ARRAY_DIMENSIONS": ["t", "x", "y"]}}
    values = np.where(np.median(FIELD) < FIELD, FIELD, 0)
    group.create_array("odor", shape=FIELD.shape, dtype=FIELD.dtype, **how)[:] = values
    assert read_plume(tmp_path / "a.zarr") == Plume.from_array(values)


def test_our_zarr_without_names_of_dimensions_is_read_as_it_was_written_and_checked(tmp_path):
    before, path = Plume.from_array(FIELD, (1, 2), "mine"), tmp_path / "a.zarr"
    write_plume(before, path)
    about = path / VARIABLE / "zarr.json"
    facts = json.loads(about.read_text())
    del facts["dimension_names"]
    about.write_text(json.dumps(facts))
    read = read_plume(path)
    assert (read, read.source, read.origin) == (before, (1, 2), "mine")
    zarr.open(path, mode="r+")[VARIABLE][0, 0, 0] = 7
    with pytest.raises(InputError, match="its values have the fingerprint"):
        read_plume(path)


def test_an_origin_is_one_line_of_a_moderate_length(tmp_path):
    with pytest.raises(InputError, match="origin of a plume has 100,000 characters, and 2,000 are allowed"):
        Plume.from_array(FIELD, origin="o" * 100_000)
    write_npz(tmp_path / "a.npz", {"field": FIELD, "source": np.array([0, 1]), "origin": np.array("o" * 100_000)})
    with pytest.raises(InputError, match=r"a\.npz: The origin of a plume has 100,000 characters"):
        read_plume(tmp_path / "a.npz")


# Arrays


def test_a_plume_keeps_its_own_copy_of_an_array():
    values = FIELD.copy()
    plume = Plume.from_array(values)
    before = plume.whiffs(1e-6).words.copy()
    values[:] = 0
    again = Plume.from_array(FIELD)
    assert plume.field.max() > 0
    assert np.array_equal(plume.whiffs(1e-6).words, before)
    assert np.array_equal(plume.field, again.field)


def test_an_array_that_is_mapped_from_a_file_to_be_read_stays_there(tmp_path):
    np.save(tmp_path / "a.npy", FIELD)
    assert isinstance(Plume.from_array(np.load(tmp_path / "a.npy", mmap_mode="r")).field, np.memmap)
    assert not isinstance(Plume.from_array(np.load(tmp_path / "a.npy", mmap_mode="r+")).field, np.memmap)


def test_names_of_dimensions_say_their_order():
    plume = Plume.from_array(FIELD)
    for names in (("time", "y", "x"), ("y", "t", "x"), ("x", "y", "frame")):
        letters = ["t" if name in ("time", "frame") else name for name in names]
        turned = FIELD.transpose(["txy".index(letter) for letter in letters])
        assert Plume.from_array(xarray.DataArray(turned, dims=names)) == plume
    assert Plume.from_array(xarray.DataArray(FIELD)) == plume
    with pytest.raises(InputError, match="dimensions of the field are time, row, column; they must be t, x and y"):
        Plume.from_array(xarray.DataArray(FIELD, dims=("time", "row", "column")))


def test_masked_values_are_refused():
    with pytest.raises(InputError, match="masked values"):
        Plume.from_array(np.ma.masked_less(FIELD, np.median(FIELD)))
    assert Plume.from_array(np.ma.array(FIELD)) == Plume.from_array(FIELD)


@pytest.mark.parametrize("source", [(1, 2, 3), (1,), 1, "12", (1.5, 2), (None, 2), (float("nan"), 1)])
def test_a_source_is_a_cell(source):
    with pytest.raises(InputError, match="must be a cell: two whole numbers"):
        Plume.from_array(FIELD, source)
    assert Plume.from_array(FIELD, np.array([1, 2])).source == (1, 2)


def test_cells_that_no_memory_holds_are_refused_before_any_work():
    with pytest.raises(InputError, match=r"A copy of the field would take .* GiB of memory"):
        Plume.from_array(np.broadcast_to(np.float32(1), (10**6, 10**4, 10**4)))
