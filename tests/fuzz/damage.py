"""Ways to damage a file. Each takes the file and a random generator, and changes the file in place.

Damage that does not update a digest must be noticed. :data:`DELIBERATE` are edits on purpose that update every digest:
they cannot be noticed, but must do no harm.
"""

import io
import json
import os
import re
import shutil
import socket
import struct
import tokenize
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

from whiffclock.archive import write_npz
from whiffclock.netcdf import write_dataset

NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e999",
    "1e308",
    "-0.0",
    "9" * 30,
    "9" * 5000,
    "18446744073709551616",
    "0.5",
    "2147483648",
    "1e-320",
    "٣",
    "0x10",
    "1_000",
    "",
    "--",
    "x",
)
VALUES = (
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    3.5,
    -0.5,
    1e300,
    5e-324,
    10**6,
    2**31,
    2**63,
    2**64,
    10**30,
    "",
    "x",
    "\ud7ff\0",
    "x" * 5000,
    [],
    {},
    [1],
    {"a": 1},
    [[[[]]]],
    {"maker": "clock"},
)

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def flip(content, rng):
    """A few bits are flipped."""
    for place in rng.integers(len(content), size=rng.integers(1, 9)):
        content[place] ^= 1 << int(rng.integers(8))


def overwrite(content, rng):
    """Some bytes are replaced by one value, or by random ones."""
    a, b = _part(content, rng, 64)
    content[a:b] = bytes([rng.choice([0, 255, 32, 48])]) * (b - a) if rng.random() < 0.5 else rng.bytes(b - a)


def cut(content, rng):
    """The end is missing."""
    del content[int(rng.integers(len(content))) :]


def splice(content, rng):
    """A part of the file is copied over another one."""
    (a, b), at = _part(content, rng), int(rng.integers(len(content)))
    content[at : at + b - a] = content[a:b]


def repeat(content, rng):
    """A part is repeated."""
    a, b = _part(content, rng)
    content[a:a] = content[a:b] * int(rng.integers(1, 20))


def remove(content, rng):
    """A part in the middle is missing."""
    a, b = _part(content, rng)
    del content[a:b]


def insert(content, rng):
    """Random bytes are inserted."""
    at = int(rng.integers(len(content) + 1))
    content[at:at] = rng.bytes(int(rng.integers(1, 200)))


def header(content, rng):
    """A number near the beginning is replaced by an extreme one."""
    size, at = int(rng.choice([1, 2, 4, 8])), int(rng.integers(min(len(content), 512)))
    value = int(rng.choice([0, 1, 2 ** (8 * size - 1) - 1, -1]))
    content[at : at + size] = value.to_bytes(size, rng.choice(["little", "big"]), signed=value < 0)


def _part(content, rng, longest=4096):
    a = int(rng.integers(len(content)))
    return a, min(len(content), a + int(rng.integers(1, longest)))


RAW = (flip, flip, overwrite, cut, splice, repeat, remove, insert, header)


def raw(path, rng):
    """Damage bytes of the file, or of a file in the folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        path = files[rng.integers(len(files))]
        if rng.random() < 0.15:
            path.unlink()
            return "a file is missing"
    content = bytearray(path.read_bytes())
    how = RAW[rng.integers(len(RAW))]
    if content:
        how(content, rng)
    path.write_bytes(content)
    return how.__doc__


# Archives of arrays


def member(path, rng):
    """A member of the zip file is damaged, with a correct checksum."""
    with zipfile.ZipFile(path) as archive:
        found = [(item.filename, bytearray(archive.read(item))) for item in archive.infolist()]
    chosen = int(rng.integers(len(found)))
    name, content = found[chosen]
    what = rng.integers(6)
    if what == 0:
        del found[chosen]
    elif what == 1:
        found[chosen] = (str(rng.choice(["x.npy", "label.npy", "../x.npy", name[:-4], name.upper()])), content)
    elif what == 2:
        found.append((str(rng.choice([name, "extra.npy", "a" * 300 + ".npy", "pickle.pkl"])), content))
    elif what == 3:
        found[chosen] = (name, _npy_header(content, rng))
    else:
        RAW[rng.integers(len(RAW))](content, rng)
    packing = int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA]))
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in found:
            archive.writestr(name, bytes(content))
    return member.__doc__


def npy_header(path, rng):
    """The header of an array is changed."""
    path.write_bytes(_npy_header(bytearray(path.read_bytes()), rng))
    return npy_header.__doc__


def _npy_header(content, rng):
    shapes = [(), (0,), (1,), (-1,), (10**12,), (10**30,), (2, 3), (3, 4, 5), (30, 12, 7), "x", None, (2.5,), (True,)]
    types = ["<f8", "<f4", ">f8", "|O", "<U7", "|S0", "<i8", "|b1", "<c16", "<M8[s]", [("a", "<f8")], "|V8", "f" * 9, 7]
    shape, kind = shapes[rng.integers(len(shapes))], types[rng.integers(len(types))]
    said = {"descr": kind, "fortran_order": bool(rng.integers(2)), "shape": shape}
    with suppress(ValueError, EOFError, KeyError, SyntaxError, struct.error, tokenize.TokenError):
        magic = io.BytesIO(bytes(content))
        version = np.lib.format.read_magic(magic)
        before, _, dtype = _HEADERS[version](magic)
        said |= {} if rng.random() < 0.5 else {"descr": np.lib.format.dtype_to_descr(dtype)}
        said |= {"shape": before} if rng.random() < 0.3 else {}
        content = content[magic.tell() :]
    text = repr(said) if rng.random() < 0.8 else str(rng.choice(["{", "(" * 500, "{'descr': __import__('os')}", ""]))
    text = text.encode() + b"\n"
    return bytearray(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(content))


def bomb(path, rng):
    """An array of zeros that is much larger than its file."""
    size = int(rng.choice([2**28, 2**31, 2**33]))
    head = io.BytesIO()
    np.lib.format.write_array_header_2_0(head, {"descr": "|u1", "fortran_order": False, "shape": (size,)})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        written = min(size, 2**24)  # the rest is only declared
        archive.writestr("zeros.npy", head.getvalue() + bytes(written))
        archive.filelist[-1].file_size += size - written
    return bomb.__doc__


def values(path, rng, deliberate=False):
    """Values of an array are changed, with a correct checksum."""
    with np.load(path) as archive:
        arrays = dict(archive)
        label = archive.zip.comment
    arrays |= {"label": np.array(label.decode())} if label else {}
    names = sorted(name for name in arrays if name != "digest")
    name = names[rng.integers(len(names))]
    array = arrays[name]
    if array.dtype.kind == "U" and array.shape == ():
        arrays[name] = np.array(_edited_text(str(array), rng))
    else:
        arrays[name] = _edited_array(array, rng)
    if deliberate:
        write_npz(path, arrays)
    else:
        label = str(arrays.pop("label", "")).encode()
        np.savez_compressed(path, **arrays)
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = label
    return f"{name}: {values.__doc__}"


def deliberate(path, rng):
    """The same with a new digest."""
    return "deliberate: " + values(path, rng, deliberate=True)


def _edited_array(array, rng):
    what, array = rng.integers(7), array.copy()
    if what == 0:
        return array.astype(rng.choice(["f4", "f8", "i2", "i8", "u1", "U5", "b1", "c16"]))
    if what == 1:
        return array[..., None] if rng.random() < 0.5 else array.reshape(-1)
    if what == 2:
        return array[: len(array) // 2] if array.ndim else np.array([array, array])
    if what == 3:
        return np.concatenate([array, array]) if array.ndim else array
    if array.size and array.dtype.kind in "iufb":
        flat = array.reshape(-1)
        some = rng.integers(flat.size, size=int(rng.choice([1, 1, 5, flat.size])))
        extreme = [np.nan, np.inf, -np.inf, 1e300] if array.dtype.kind == "f" else [127, -128, 255]
        with np.errstate(all="ignore"):
            flat[some] = np.asarray(rng.choice([0, 1, -1, 3, *extreme])).astype(array.dtype)
    return array


def _edited_text(text, rng):
    try:
        tree = json.loads(text)
    except ValueError:
        return _edited_words(text, rng)
    what = rng.integers(12)
    if what == 0:
        return "[" * int(rng.choice([10, 5000, 200_000]))
    if what == 1:
        return _edited_words(text, rng)
    if what == 2:
        return json.dumps(tree).replace(":", ": NaN,", 1)
    places = list(_places(tree))
    holder, key = places[rng.integers(len(places))]
    if what == 3:
        del holder[key]
    elif what == 4 and isinstance(holder, dict):
        holder[str(rng.choice(["policy", "memory", "extra", "format", "key", "learning"]))] = _value(rng)
    elif what == 5:
        deep = []
        for _ in range(int(rng.choice([50, 900]))):
            deep = [deep]
        holder[key] = deep
    else:
        holder[key] = _value(rng)
    return json.dumps(tree)


def _value(rng):
    return VALUES[rng.integers(len(VALUES))]


def _places(tree):
    for key, value in list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)):
        yield tree, key
        if isinstance(value, dict | list) and value:
            yield from _places(value)


# Texts


def text(path, rng):
    """Words or lines are changed, repeated or removed."""
    before = path.read_text("utf-8", "surrogateescape")
    path.write_text(_edited_words(before, rng), "utf-8", "surrogateescape")
    return text.__doc__


def _edited_words(before, rng):
    what, lines = rng.integers(8), before.split("\n")
    line = int(rng.integers(len(lines)))
    if what < 3:
        found = list(re.finditer(r"[-+]?\d[\w.+-]*", before))
        if found:
            match = found[rng.integers(len(found))]
            return before[: match.start()] + str(rng.choice(NUMBERS)) + before[match.end() :]
    if what == 3:
        del lines[line]
    elif what == 4:
        lines.insert(int(rng.integers(len(lines) + 1)), lines[line])
    elif what == 5:
        words = lines[line].split(" ")
        words[rng.integers(len(words))] = str(
            rng.choice(["", "*", "x", ":", "[", "]", "é", "\0", "#", "<a>", "&b;", "identity"])
        )
        lines[line] = " ".join(words)
    elif what == 6:
        lines[line] = str(rng.choice(["[", "{", "<a>", "(", "x = ", "R: * : * : * : * "])) * int(
            rng.choice([1, 50, 20_000])
        )
    else:
        lines[line] = lines[line][: rng.integers(len(lines[line]) + 1)]
    return "\n".join(lines)


def json_files(path, rng):
    """A value in a JSON file of a folder is changed."""
    files = sorted(path.rglob("*.json")) + sorted(path.rglob(".z*"))
    file = files[rng.integers(len(files))]
    file.write_text(_edited_text(file.read_text(), rng))
    return json_files.__doc__


# HDF5


def hdf5(path, rng):
    """A value, an attribute, a name or a shape in an HDF5 file is changed."""
    with h5py.File(path, "r+") as file:
        names = []
        file.visit(names.append)
        name = names[rng.integers(len(names))]
        item, what = file[name], rng.integers(6)
        holder = item if rng.random() < 0.5 and item.attrs else file
        if what == 0:
            del file[name]
        elif what == 1 and isinstance(item, h5py.Dataset):
            before = item[()]
            del file[name]
            made = file.create_dataset(name, data=_edited_array(np.asarray(before), rng) if np.size(before) else 0)
            for key, value in item.attrs.items() if item else ():
                made.attrs[key] = value
        elif what == 2:
            file.move(name, f"{name}2")
        elif what == 3 and holder.attrs:
            del holder.attrs[sorted(holder.attrs)[0]]
        elif what == 4 and holder.attrs:
            holder.attrs[sorted(holder.attrs)[rng.integers(len(holder.attrs))]] = rng.choice([-1, 10**9, 7])
        elif isinstance(item, h5py.Dataset) and item.size and item.dtype.kind in "iuf":
            at = tuple(int(rng.integers(n)) for n in item.shape)
            item[at] = rng.choice([0, -1, 3, 100])
    return hdf5.__doc__


def resealed(path, rng):
    """A value, a name, a dimension or an attribute of a dataset is changed, with a new digest."""
    data = xr.load_dataset(path, engine="h5netcdf")
    names, what = sorted(map(str, data.variables)), rng.integers(7)
    name, dim = names[rng.integers(len(names))], sorted(map(str, data.sizes))[rng.integers(len(data.sizes))]
    if what == 0:
        data = data.drop_vars(name)
    elif what == 1:
        data = data.rename({name: str(rng.choice(["x", "seed2", "a" * 300]))})
    elif what == 2:
        data = data.isel({dim: slice(int(rng.integers(2)))})
    elif what == 3:
        data.attrs[sorted(data.attrs)[rng.integers(len(data.attrs))]] = str(_value(rng))
    elif what == 4:
        data[name].attrs["metric" if rng.random() < 0.5 else "long_name"] = rng.choice([7, "x", ""])
    else:
        edited = _edited_array(data[name].values, rng)
        same = np.shape(edited) == data[name].shape and edited.dtype.kind != "c"
        data = data.assign_coords({name: (data[name].dims, edited, data[name].attrs)}) if same else data.mean(dim)
    write_dataset(path, data)
    return "deliberate: " + resealed.__doc__


def enormous(path, rng):
    """An array, or its blocks, is declared much larger than the HDF5 file."""
    with h5py.File(path, "r+") as file:
        name = next(
            (name for name in file if isinstance(file[name], h5py.Dataset) and len(file[name].shape) == 3), None
        )
        if name is not None:
            del file[name]
            shape, chunks = (10**9, 1000, 1000), (1, 1000, 1000)
            if rng.random() < 0.5:
                shape, chunks = (3, 30_000, 30_000), (1, 30_000, 30_000)
            file.create_dataset(name, shape, "f4", chunks=chunks, compression="gzip")
    return enormous.__doc__


# Not a regular file


def special(path, rng):
    """The file is replaced by a pipe, a device, a folder, a link, or nothing."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    what = rng.integers(8)
    if what == 0:
        os.mkfifo(path)
    elif what == 1:
        path.symlink_to("/dev/zero")
    elif what == 2:
        path.mkdir()
    elif what == 3:
        path.symlink_to("nowhere")
    elif what == 4:
        path.symlink_to(path.name)
    elif what == 5:
        bound = socket.socket(socket.AF_UNIX)
        here = os.getcwd()
        os.chdir(path.parent)  # names of sockets are short
        bound.bind(path.name)
        os.chdir(here)
        bound.close()
    elif what == 6:
        path.write_bytes(b"")
    return f"{special.__doc__} ({what})"


DELIBERATE = {"deliberate", "resealed"}
ARCHIVE = (raw, member, values, values, deliberate, bomb)
HDF5 = (raw, raw, raw, hdf5, hdf5, enormous)


def damage(path: Path, ways, rng) -> tuple[str, bool]:
    """Damage a file in one of some ways; how, and whether every digest was restored."""
    if rng.random() < 0.03:
        return special(path, rng), True  # a missing result may be computed again
    way = ways[rng.integers(len(ways))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of zipfile, about two members with the same name
        return way(path, rng), way.__name__ in DELIBERATE
