"""Files of arrays: sizes are checked before room is made, headers are typed, and nothing but a file is replaced."""

import io
import os
import stat
import struct
import threading
import zipfile
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pytest
from clock_settings import ClockSettings

from whiffclock.archive import MOST_BYTES, read_header, read_npz, write_npz
from whiffclock.cli.options import require_new
from whiffclock.disk import leftovers, write_whole
from whiffclock.params import InputError


def npy(shape, descr="<f8", data=b"", version=(1, 0)):
    """A member with a header of one's own making."""
    buffer = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    write = np.lib.format.write_array_header_1_0 if version == (1, 0) else np.lib.format.write_array_header_2_0
    write(buffer, header)
    return buffer.getvalue() + data


def forge(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        read_npz(path, "a record", **options)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("shape", [(10**12,), (10**30,), (2, 3), (-1, -2), (-16,)])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_a_shape_that_contradicts_the_size_is_refused(tmp_path, shape, version):
    path = forge(tmp_path / "forged.npz", a=npy(shape, data=bytes(16), version=version))
    assert "does not fit its 16 bytes" in refused(path)


def test_endless_empty_strings_are_refused(tmp_path):
    assert "does not fit" in refused(forge(tmp_path / "forged.npz", a=npy((10**12,), "|S0")))


def test_a_huge_header_is_not_read(tmp_path):
    content = b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b" " * 2**20
    assert "damaged" in refused(forge(tmp_path / "forged.npz", a=content))


def test_a_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    zeros = np.zeros(2**20)
    path = tmp_path / "bomb.npz"
    write_npz(path, {"a": zeros, "b": zeros})
    assert path.stat().st_size < 2**16
    assert read_npz(path, "a record").keys() == {"a", "b", "digest"}
    monkeypatch.setattr("whiffclock.archive.MOST_BYTES", zeros.nbytes + 2**10)
    assert "GiB" in refused(path)
    assert read_npz(path, "a record", only=("a",)).keys() == {"a"}
    assert MOST_BYTES == 4 * 2**30


def test_objects_encrypted_and_oddly_packed_members_are_refused(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([{}], dtype=object), allow_pickle=True)
    assert "objects" in refused(forge(tmp_path / "objects.npz", a=buffer.getvalue()))
    with zipfile.ZipFile(tmp_path / "lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.npy", npy((2,), data=bytes(16)))
    assert "packed" in refused(tmp_path / "lzma.npz")
    whole = bytearray(forge(tmp_path / "locked.npz", a=npy((2,), data=bytes(16))).read_bytes())
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "locked.npz").write_bytes(whole)
    assert "encrypted" in refused(tmp_path / "locked.npz")


@pytest.mark.filterwarnings("ignore:Reading `.npy`")
def test_any_damage_is_one_sentence(tmp_path):
    """A thousand files with random damage, behind the check sums of the archive and in front of them."""
    rng = np.random.default_rng(1)
    path = tmp_path / "damaged.npz"
    arrays = {"header": np.array('{"a": 1}'), "values": np.arange(6.0).reshape(2, 3)}
    write_npz(path, arrays)
    whole, members = path.read_bytes(), [(f"{name}.npy", io.BytesIO()) for name in arrays]
    for (_, buffer), array in zip(members, arrays.values(), strict=True):
        np.lib.format.write_array(buffer, array)
    for i in range(1000):
        if i % 2:
            path.write_bytes(_spoiled(whole, rng))
        else:
            forge(path, **{name[:-4]: _spoiled(buffer.getvalue(), rng) for name, buffer in members})
        with suppress(InputError):
            read_npz(path, "a record")


def _spoiled(content, rng):
    spoiled = np.frombuffer(content, np.uint8).copy()
    spoiled[rng.integers(len(spoiled), size=rng.integers(1, 4))] = rng.integers(256)
    return spoiled.tobytes()


class Header(msgspec.Struct):
    format: str
    clock: ClockSettings
    others: dict[str, Any] = {}


GOOD = '{"format": "record 1", "clock": {"horizon": 50}}'


def test_a_header_is_typed(tmp_path):
    header = read_header({"header": np.array(GOOD)}, tmp_path / "x.npz", "record", Header, "record 1")
    assert header == Header("record 1", ClockSettings(50))
    plain = {"header": np.array('{"a": 1}')}
    assert read_header(plain, tmp_path / "x.npz", "record", dict[str, int]) == {"a": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            GOOD.replace("50", "50.0"),
            r"damaged record \(its header is wrong: expected `int`, got `float` at `clock",
        ),
        (GOOD.replace("50", "1"), r"damaged record \(The horizon H is 1"),
        (GOOD.replace("50", "NaN"), "damaged record"),
        (GOOD.replace("50", "1e999"), "damaged record"),
        (GOOD.replace("horizon", "length"), "no setting called length"),
        ('{"format": "record 1"}', "damaged record .*`clock`"),
        (GOOD.replace("}}", '}, "others": null}'), "damaged record .*`others`"),
        (GOOD[:-3], "damaged record"),
        ("[1]", "damaged record .*not a JSON object"),
        ("[" * 100_000, "damaged record"),
        ("null", "damaged record"),
        (GOOD.replace("record 1", "record 2"), "not a record that this version of whiffclock can read"),
        ("{}", "this version"),
        ("\ud800", "damaged record"),
    ],
)
def test_a_wrong_header_is_one_sentence(tmp_path, text, reason):
    path = tmp_path / "x.npz"
    with pytest.raises(InputError, match=reason) as caught:
        read_header({"header": np.array(text)}, path, "record", Header, "record 1")
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("array", [np.array([GOOD]), np.array(3.0), np.array(GOOD.encode())])
def test_a_header_is_one_text(tmp_path, array):
    with pytest.raises(InputError, match="its header is not a text"):
        read_header({"header": array}, tmp_path / "x.npz", "record", Header, "record 1")
    with pytest.raises(InputError, match="it has no header"):
        read_header({}, tmp_path / "x.npz", "record", Header, "record 1")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_npz(tmp_path / "a.npz", {"a": np.ones(3)})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.npz").stat().st_mode) == mode


def test_file_and_folder_are_flushed_to_disk(tmp_path, monkeypatch):
    flushed = []
    keep = os.fsync

    def fsync(descriptor):
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        flushed.append(("folder", path.exists()) if folder else ("file", os.fstat(descriptor).st_size))
        keep(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "a.bin"
    write_whole(path, lambda file: file.write(b"12345"))
    assert flushed == [("file", 5), ("folder", True)]


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(b"before")

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match=r"a\.npz cannot be written: No space left on device\."):
        write_whole(path, fail)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]
    assert leftovers(tmp_path, older_than=-10) == []


def test_a_file_is_no_folder_to_write_in(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a.npz", tmp_path / "file" / "deep" / "a.npz"):
        with pytest.raises(InputError, match=r"a\.npz cannot be written: (Not a directory|File exists)\."):
            write_npz(path, {})


def test_only_regular_files_are_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    linked = tmp_path / "link.npz"
    linked.symlink_to(pipe)
    device = tmp_path / "null.npz"
    device.symlink_to("/dev/null")
    (tmp_path / "folder").mkdir()
    for path in (pipe, linked, device, tmp_path / "folder"):
        with pytest.raises(InputError, match="not a regular file"):
            write_whole(path, lambda file: None)
        with pytest.raises(InputError, match="not a regular file"):
            require_new(path, force=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert linked.is_symlink()
    assert device.is_symlink()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_link_is_replaced_and_not_the_file_behind_it(tmp_path):
    (tmp_path / "kept").write_bytes(b"kept")
    for target in ("kept", "nowhere"):
        link = tmp_path / "link"
        link.symlink_to(tmp_path / target)
        write_whole(link, lambda file: file.write(b"new"))
        assert not link.is_symlink()
        assert link.read_bytes() == b"new"
        link.unlink()
    assert (tmp_path / "kept").read_bytes() == b"kept"
    assert not (tmp_path / "nowhere").exists()


def test_threads_do_not_disturb_each_other(tmp_path):
    threads = [threading.Thread(target=write_npz, args=(tmp_path / "a.npz", {"a": np.full(9, i)})) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(read_npz(tmp_path / "a.npz", "a record")["a"])) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def test_an_error_without_a_system_message_is_told(tmp_path):
    def write(file):
        raise OSError("no room in the container")

    with pytest.raises(InputError, match="cannot be written: no room in the container"):
        write_whole(tmp_path / "file", write)
