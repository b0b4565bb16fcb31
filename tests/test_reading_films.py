"""Films, pictures and tables, made here from a small plume and read back."""

import gzip
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

from whiffclock.params import InputError
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.reading import files, movies
from whiffclock.plume.reading.files import ReadSettings, read_plume

av = pytest.importorskip("av")
SNAPSHOTS, LENGTH, WIDTH = 30, 48, 26


@pytest.fixture(scope="module")
def picture_plume():
    """A part of the built-in plume in grey values of 8 bits, uint8[t, x, y]."""
    part = builtin_plume().field[:SNAPSHOTS, :LENGTH, :WIDTH]
    return np.clip(np.asarray(part) / 1e-5 * 255, 0, 255).astype(np.uint8)


def film(path, frames, codec="ffv1", kind="gray", rate=25, **options):
    """A film of pictures[t, row, column]."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream(codec, rate=rate, options=options)
        stream.height, stream.width = frames.shape[1:]
        stream.pix_fmt = kind
        for frame in frames:
            made = av.VideoFrame.from_ndarray(frame, format="gray16le" if frame.dtype.itemsize == 2 else "gray")
            file.mux(stream.encode(made))
        file.mux(stream.encode())
    return path


def pictures(c):
    return np.ascontiguousarray(c.transpose(0, 2, 1))


def gif(path, frames):
    images = [Image.fromarray(frame) for frame in frames]
    images[0].save(path, save_all=True, append_images=images[1:])
    return path


def folder(path, frames, ending="png"):
    path.mkdir()
    for t, frame in enumerate(frames):
        Image.fromarray(frame).save(path / f"run3_{t}.{ending}")
    (path / "notes.txt").write_text("no picture")
    return path


def table(path, c, separator=",", names=("t", "x", "y", "c")):
    rows = [separator.join(names)]
    rows += [separator.join(map(repr, (t * 0.1, x * 2.5, y * 2.5, float(v)))) for (t, x, y), v in np.ndenumerate(c)]
    text = "\n".join(rows) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def tiff(path, frames):
    return gif(path, frames)


LOSSLESS = {
    "ffv1.mkv": lambda p, c: film(p, pictures(c)),
    "raw.avi": lambda p, c: film(p, pictures(c), "rawvideo"),
    "ffv1.avi": lambda p, c: film(p, pictures(c), "ffv1"),
    "png.mov": lambda p, c: film(p, pictures(c), "png"),
    "a.gif": lambda p, c: gif(p, pictures(c)),
    "a.tif": lambda p, c: tiff(p, pictures(c)),
    "pngs": lambda p, c: folder(p, pictures(c)),
    "pgms": lambda p, c: folder(p, pictures(c), "pgm"),
    "bmps": lambda p, c: folder(p, pictures(c), "bmp"),
    "misnamed.dat": lambda p, c: film(p.with_suffix(".mkv"), pictures(c)).rename(p),
    "a.csv": table,
    "a.tsv": lambda p, c: table(p, c, "\t"),
    "a.csv.gz": lambda p, c: table(p, c, ";", ("Time", "downwind", "crosswind", "Odor")),
    "words.txt": lambda p, c: table(p, c, ", ", ("frame", "x", "y", "signal")),
}


@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("in_file", [False, True])
def test_what_is_stored_without_loss_is_read_as_it_was(tmp_path, monkeypatch, picture_plume, name, in_file):
    if in_file:
        monkeypatch.setattr(files, "LOAD_BYTES", 0)
    plume = read_plume(LOSSLESS[name](tmp_path / name, picture_plume))
    assert np.array_equal(np.asarray(plume.field), picture_plume)
    assert plume.source == (0, WIDTH // 2)
    assert name in plume.origin
    assert np.array_equal(np.asarray(plume.field[7:9]), picture_plume[7:9])


@pytest.mark.parametrize(
    ("name", "codec"), [("a.mp4", "mpeg4"), ("a.webm", "libvpx"), ("b.webm", "libvpx-vp9"), ("b.mp4", "libx264")]
)
def test_films_with_loss_are_nearly_what_they_were(tmp_path, picture_plume, name, codec):
    try:
        av.codec.Codec(codec, "w")
    except av.codec.codec.UnknownCodecError:
        pytest.skip(f"no encoder {codec}")
    path = film(tmp_path / name, pictures(picture_plume), codec, "yuv420p", b="8000000")
    plume = read_plume(path)
    assert plume.field.shape == picture_plume.shape
    off = np.abs(np.asarray(plume.field, dtype=float) - picture_plume)
    assert off.mean() < 6
    assert np.corrcoef(np.asarray(plume.field).ravel(), picture_plume.ravel())[0, 1] > 0.97


def test_deep_films_and_pictures_keep_their_depth(tmp_path):
    values = np.random.default_rng(0).integers(0, 2**16, (6, 8, 10)).astype(np.uint16)
    deep = [
        film(tmp_path / "a.mkv", pictures(values), "ffv1", "gray16le"),
        folder(tmp_path / "png", pictures(values)),
        tiff(tmp_path / "a.tif", pictures(values)),
    ]
    for path in deep:
        assert np.array_equal(read_plume(path).field, values), path
    fractions = values.astype(np.float32) / 7
    assert np.array_equal(read_plume(tiff(tmp_path / "b.tif", pictures(fractions))).field, fractions)


def test_colours_become_grey(tmp_path, picture_plume):
    colours = [np.repeat(frame[:, :, None], 3, axis=2) for frame in pictures(picture_plume)]
    assert np.array_equal(read_plume(folder(tmp_path / "a", colours)).field, picture_plume)


def test_pictures_are_in_the_order_of_their_numbers(tmp_path):
    values = np.arange(1, 13, dtype=np.uint8)[:, None, None] * np.ones((1, 4, 3), np.uint8)
    assert np.array_equal(read_plume(folder(tmp_path / "a", pictures(values))).field, values)


def test_a_film_is_decoded_once_per_pass_and_in_parts(tmp_path, monkeypatch, picture_plume):
    path, decoded, opened = film(tmp_path / "a.mkv", pictures(picture_plume)), [], []
    before, restart = movies.Film._decoded, movies.Film._restart

    def counted(self):
        for frame in before(self):
            decoded.append(1)
            yield frame

    monkeypatch.setattr(movies.Film, "_decoded", counted)
    monkeypatch.setattr(movies.Film, "_restart", lambda self: (opened.append(self), restart(self)))
    monkeypatch.setattr(files, "READ_BYTES", 3 * LENGTH * WIDTH)
    read_plume(path, ReadSettings(downsample=2))
    assert len(decoded) == SNAPSHOTS
    assert len(opened) == 2  # to count frames, and to decode them
    decoded.clear()
    read_plume(path, ReadSettings(background="median"))
    assert len(decoded) == 2 * SNAPSHOTS
    decoded.clear()
    read_plume(path, ReadSettings(first=4, end=10, every=2))
    assert len(decoded) == 9  # the last one kept is frame 8
    decoded.clear()
    monkeypatch.setattr(files, "LOAD_BYTES", 0)
    plume = read_plume(path)
    plume.whiffs(100.0)
    assert len(decoded) == 2 * SNAPSHOTS
    assert isinstance(opened[-1].shape, tuple)


def test_cells_that_a_table_leaves_out_are_zero(tmp_path, picture_plume):
    c = np.where(picture_plume > 30, picture_plume, 0)
    c[:, :, 3] = 0  # a whole row of the grid
    path = table(tmp_path / "a.csv", c)
    lines = path.read_text().splitlines()
    some = [lines[0], *(line for line in reversed(lines[1:]) if not line.endswith(",0.0"))]
    path.write_text("\n".join(some))
    plume = read_plume(path)
    kept = [np.flatnonzero(c.any(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1))]
    smaller = c[tuple(slice(k[0], k[-1] + 1) for k in kept)]
    assert np.array_equal(plume.field, smaller)
    share = round(100 * (1 - (c > 0).sum() / smaller.size), 1)
    assert f"{share:g} % of the cells not in the table, and taken as 0" in plume.origin


def test_parquet_is_read_where_pyarrow_is(tmp_path, monkeypatch, picture_plume):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    t, x, y = (axis.ravel() for axis in np.indices(picture_plume.shape))
    data = pyarrow.table({"value": picture_plume.ravel(), "y": y, "x": x, "time": t, "other": ["a"] * len(t)})
    parquet.write_table(data, tmp_path / "a.parquet")
    assert np.array_equal(read_plume(tmp_path / "a.parquet").field, picture_plume)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"a\.parquet is a Parquet table; .*whiffclock\[parquet\]'\.$"):
        read_plume(tmp_path / "a.parquet")


def test_without_pyav_the_extra_is_named(tmp_path, monkeypatch, picture_plume):
    path = film(tmp_path / "a.mkv", pictures(picture_plume))
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(InputError, match=r"a\.mkv is a film; .*whiffclock\[movies\]"):
        read_plume(path)


def cut(path, share=0.6):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    return path


def two_sizes(path):
    """Two films of different sizes as one: AVI with packets of the second in the first."""
    frames = np.random.default_rng(0).integers(0, 255, (4, 16, 16)).astype(np.uint8)
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mjpeg", rate=25)
        stream.height = stream.width = 16
        stream.pix_fmt = "yuvj420p"
        for size in (16, 32):
            other = av.codec.CodecContext.create("mjpeg", "w")
            other.height = other.width = size
            other.pix_fmt, other.time_base = "yuvj420p", Fraction(1, 25)
            for t, frame in enumerate(frames):
                big = np.kron(frame, np.ones((size // 16,) * 2, np.uint8))
                made = av.VideoFrame.from_ndarray(big, format="gray").reformat(format="yuvj420p")
                made.pts = t
                for packet in other.encode(made):
                    packet.stream = stream
                    packet.pts = packet.dts = t + 4 * (size == 32)
                    file.mux(packet)
    return path


def lines(path, *rows):
    path.write_text("\n".join(rows) + "\n")
    return path


def odd_folder(path, frames):
    folder(path, frames)
    Image.fromarray(frames[0][1:]).save(path / "run3_5.png")
    return path


def empty(path):
    path.mkdir()
    return path


GRID = [f"{t},{x},{y},{t + x + y}" for t in range(2) for x in range(2) for y in range(2)]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda d, c: cut(film(d / "a.avi", pictures(c), "rawvideo")), "cut short|damaged"),
        (lambda d, c: cut(film(d / "a.mp4", pictures(c), "mpeg4", "yuv420p")), "damaged"),
        (lambda d, c: cut(film(d / "a.mkv", pictures(c)), 0.01), "not a readable|without frames|damaged"),
        (lambda d, c: cut(gif(d / "a.gif", pictures(c))), "damaged|cut short"),
        (lambda d, c: cut(tiff(d / "a.tif", pictures(c))), "damaged|one page|cut short"),
        (lambda d, c: two_sizes(d / "a.avi"), "changes its size: frame 4 is 32 x 32, not 16 x 16"),
        (lambda d, c: gif(d / "a.gif", pictures(c)[:1]), "one page"),
        (lambda d, c: empty(d / "a"), "folder with no pictures"),
        (lambda d, c: folder(d / "a", pictures(c)[:1]), "folder with one picture"),
        (lambda d, c: odd_folder(d / "a", pictures(c)), r"run3_5\.png is 48 x 25 uint8, and .*run3_0\.png is 48 x 26"),
        (lambda d, c: cut(folder(d / "a", pictures(c)) / "run3_7.png", 0.5).parent, "run3_7.png"),
        (lambda d, c: folder(d / "b", pictures(c)) / "run3_7.png", "one picture"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c", *GRID, "2,0,0,much"), "line 10: c is 'much'; it must be a finite"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c", *GRID, "2,0,0,"), "line 10: c is empty"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c", *GRID, GRID[2]), "the same cell twice: in lines 4 and 10"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c", *GRID, "2.5,0,0,1"), "column t is not on a regular grid"),
        (lambda d, c: lines(d / "a.csv", "t,x,c", *GRID), "needs the columns t, x, y and c .*'t', 'x', 'c'"),
        (lambda d, c: lines(d / "a.csv", "time,signal", "0,1", "1,2"), "a trace at one place, not a field"),
        (lambda d, c: lines(d / "a.csv", "time,volt", "0,1", "1,2"), "a trace at one place, not a field"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c,odor", *GRID), "several columns for the same: 'c', 'odor'"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c"), "without rows"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c", "0,0,0,1", "1,1e5,1,2", "2,1,1e5,1"), "The grid .* would take"),
        (lambda d, c: lines(d / "a.csv", "t,x,y,c", '0,0,0,"'), "damaged|finite"),
        (lambda d, c: np.save(d / "a.npy", np.ones(50)) or d / "a.npy", "a trace at one place"),
    ],
)
def test_what_is_damaged_or_no_plume_gets_one_sentence(tmp_path, picture_plume, make, says):
    path = make(tmp_path, picture_plume)
    with pytest.raises(InputError, match=says) as caught:
        read_plume(path)
    said = str(caught.value)
    assert path.name in said
    assert "\n" not in said
    assert said.endswith(".")


def test_a_pipe_in_a_folder_is_not_opened(tmp_path, picture_plume):
    import os

    path = folder(tmp_path / "a", pictures(picture_plume))
    os.mkfifo(path / "run3_2_pipe.png")
    with pytest.raises(InputError, match="not a regular file"):
        read_plume(path)


def test_pompys_arrays_need_no_key(tmp_path, picture_plume):
    np.savez(tmp_path / "a.npz", picture_plume)
    np.savez(tmp_path / "b.npz", conc=picture_plume, x=np.arange(5))
    np.save(tmp_path / "a.npy", np.stack(list(picture_plume)))
    for name in ("a.npz", "b.npz", "a.npy"):
        assert np.array_equal(read_plume(tmp_path / name).field, picture_plume)
