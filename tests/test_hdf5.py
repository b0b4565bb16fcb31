"""HDF5 files that reach other files: only what lies beside them, is a file, and has the values is read."""

import os

import h5py
import numpy as np
import pytest

from whiffclock.params import InputError
from whiffclock.plume import Plume
from whiffclock.plume.reading.files import read_plume

FIELD = np.random.default_rng(3).random((60, 8, 5)).astype("f4")


@pytest.fixture
def parts(tmp_path):
    """Two files with half of the field each."""
    for i in range(2):
        with h5py.File(tmp_path / f"part{i}.h5", "w") as file:
            file["odor"] = FIELD[30 * i : 30 * i + 30]
    return tmp_path


def virtual(path, *names, key="odor", shape=FIELD.shape, rows=slice(None)):
    layout = h5py.VirtualLayout(shape=shape, dtype="f4")
    for i, name in enumerate(names):
        layout[30 * i : 30 * i + 30, :8, :5] = h5py.VirtualSource(name, key, shape=(30, 8, 5))[rows]
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("odor", layout)
    return path


def refused(path, says):
    with pytest.raises(InputError, match=says) as caught:
        read_plume(path)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("rows", [slice(None), slice(0, 30)])
def test_a_virtual_array_of_files_beside_it_is_read(parts, rows):
    assert read_plume(virtual(parts / "whole.h5", "part0.h5", "part1.h5", rows=rows)) == Plume.from_array(FIELD)


@pytest.mark.parametrize("name", ["whole.h5", "whole.nc"])
def test_a_missing_part_is_named_and_not_read_as_zeros(parts, name):
    refused(virtual(parts / name, "part0.h5", "gone.h5"), "There is no file with a part of odor .* at .*gone.h5")


def test_parts_are_regular_files_of_the_same_folder(parts):
    os.mkfifo(parts / "pipe.h5")
    refused(virtual(parts / "a.h5", "part0.h5", "pipe.h5"), "pipe.h5 is not a regular file")
    refused(virtual(parts / "b.h5", "part0.h5", str(parts / "part1.h5")), "only files in the same folder")
    refused(virtual(parts / "c.h5", "../part0.h5"), "only files in the same folder")
    (parts / "text.h5").write_text("text")
    refused(virtual(parts / "text.h5.h5", "text.h5"), "is not a readable plume file")


def test_parts_have_the_values_that_are_taken(parts):
    refused(virtual(parts / "a.h5", "part0.h5", key="smell"), "takes values from smell in .*part0.h5, which does not")
    with h5py.File(parts / "short.h5", "w") as file:
        file["odor"] = FIELD[:10]
    refused(virtual(parts / "b.h5", "short.h5"), "does not have them")
    refused(virtual(parts / "c.h5", "short.h5", rows=slice(0, 30)), "does not have them")
    virtual(parts / "whole.h5", "part0.h5", "part1.h5")
    refused(virtual(parts / "d.h5", "whole.h5"), "consists of other arrays")


def test_a_virtual_array_is_not_much_larger_than_its_parts(parts):
    refused(virtual(parts / "a.h5", "part0.h5", shape=(10**9, 1000, 1000)), "GiB, and the file has")


@pytest.mark.parametrize("name", ["raw.h5", "raw.nc"])
def test_raw_storage_in_other_files_is_refused(tmp_path, name):
    (tmp_path / "secret").write_bytes(FIELD.tobytes())
    with h5py.File(tmp_path / name, "w") as file:
        file.create_dataset("odor", FIELD.shape, "f4", external=[("secret", 0, h5py.h5f.UNLIMITED)])
    refused(tmp_path / name, "the values of odor are in a file of no format")


@pytest.mark.parametrize("name", ["link.h5", "link.nc"])
def test_links_to_other_files_are_refused(parts, name):
    with h5py.File(parts / name, "w") as file:
        file["more/odor"] = h5py.ExternalLink("part0.h5", "odor")
        file["odor"] = FIELD
    refused(parts / name, "more/odor is a link to another file")


@pytest.mark.parametrize("name", ["deep.h5", "deep.nc"])
def test_thousands_of_groups_in_groups_are_refused(tmp_path, name):
    with h5py.File(tmp_path / name, "w") as file:
        group = file
        for _ in range(3000):
            group = group.create_group("g")
        group["odor"] = FIELD
    refused(tmp_path / name, "more than 100 levels")
