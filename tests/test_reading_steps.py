"""The steps from a stored array to a field, against a slow and obvious version; and settings files."""

import tomllib

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import whiffclock as wc
from whiffclock.cli import app
from whiffclock.environments import PAPER, numbered
from whiffclock.params import InputError
from whiffclock.plume.reading import files
from whiffclock.plume.reading.files import ReadSettings, read_plume, write_plume
from whiffclock.plume.reading.settings_file import with_settings_files, write_settings
from whiffclock.plume.reading.turning import stored_part, turned, turned_cell

STORED = np.random.default_rng(1).integers(1, 250, (40, 9, 14)).astype(np.uint8)  # (t, y, x), a picture
MASK = np.random.default_rng(2).random((9, 14)) < 0.1


def sentence(function, *given, **named):
    with pytest.raises(InputError) as caught:
        function(*given, **named)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith((".", "?"))
    return said


def slowly(how):
    """The field that the settings say, one step after the other on the whole array."""
    c = STORED.astype(float).copy()
    if how.invert and not how.background:
        c = 255 - c
    if how.mask:
        c[:, MASK] = 0
    c = c.transpose(0, 2, 1)
    downwind = {"right": (1, 0), "left": (-1, 0), "up": (0, -1), "down": (0, 1)}[how.wind]
    across = -downwind[1], downwind[0]  # a quarter turn from x to y, as y is from x
    cells = [(x, y) for x in range(c.shape[1]) for y in range(c.shape[2])]
    places = {xy: (int(np.dot(xy, downwind)), int(np.dot(xy, across))) for xy in cells}
    low = np.min([*places.values()], axis=0)
    new = np.zeros((len(c), *(np.max([*places.values()], axis=0) - low + 1)))
    for (x, y), place in places.items():
        new[:, place[0] - low[0], place[1] - low[1]] = c[:, x, y]
    x0, x1, y0, y1 = how.crop or (0, new.shape[1], 0, new.shape[2])
    new, n = new[:, x0:x1, y0:y1], how.downsample
    x, y = new.shape[1] // n, new.shape[2] // n
    new = new[:, : x * n, : y * n].reshape(len(new), x, n, y, n).mean(axis=(2, 4))
    kept = new[how.first : how.end : how.every]
    if how.background:
        share = {"median": 0.5, "low": 0.9 if how.invert else 0.1}.get(str(how.background))
        behind = new[: how.background].mean(axis=0) if share is None else np.quantile(kept, share, axis=0)
        kept = behind - kept if how.invert else kept - behind
    return kept * how.scale


@pytest.mark.parametrize("in_file", [False, True])
@pytest.mark.parametrize("wind", ["right", "left", "up", "down"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"crop": (1, 8, 2, 9), "source": (2, 3)},
        {"crop": (0, 9, 1, 9), "downsample": 2, "mask": "mask.npy"},
        {"every": 3, "first": 2, "end": 33},
        {"background": "median", "every": 7, "first": 1},
        {"background": "first:5", "invert": True, "mask": "mask.png", "scale": 0.5},
        {"background": "median", "invert": True, "downsample": 3, "end": 17},
        {"invert": True, "mask": "mask.npy", "every": 2},
        {"invert": True, "background": "none", "downsample": 2},
        {"background": "low", "every": 2},
        {"background": "low", "invert": True},
    ],
)
def test_a_field_is_what_its_settings_say(tmp_path, monkeypatch, how, wind, in_file):
    np.save(tmp_path / "mask.npy", MASK)
    Image.fromarray((MASK * 200).astype(np.uint8)).save(tmp_path / "mask.png")
    np.save(tmp_path / "a.npy", STORED)
    monkeypatch.setattr(files, "READ_BYTES", 5 * STORED[0].size)  # a few snapshots per read
    if in_file:
        monkeypatch.setattr(files, "LOAD_BYTES", 0)
    given = how | {"mask": str(tmp_path / how["mask"])} if "mask" in how else how
    settings = ReadSettings(axes="tyx", wind=wind, **given)
    plume = read_plume(tmp_path / "a.npy", settings)
    expected = slowly(settings)
    assert plume.field.shape == expected.shape
    assert np.allclose(np.asarray(plume.field), expected, atol=1e-3)
    middle = (14 if wind in ("up", "down") else 9) // 2
    y0 = settings.crop[2] if settings.crop else 0
    assert plume.source == (settings.source or (0, (middle - y0) // settings.downsample))
    said = {"wind": wind != "right", "bad cells by mask": "mask" in how}
    said |= {"one snapshot of": "every" in how, "inverted": "invert" in how}
    assert {word: word in plume.origin for word in said} == said


def test_the_background_of_few_snapshots_of_many_is_near(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", STORED)
    monkeypatch.setattr(files, "LEVEL_SNAPSHOTS", 10)
    plume = read_plume(tmp_path / "a.npy", ReadSettings(background="median"))
    expected = STORED - np.median(STORED[[0, 4, 9, 13, 17, 22, 26, 30, 35, 39]], axis=0)
    assert np.allclose(plume.field, expected)
    assert "minus the median of 10 snapshots" in plume.origin


@pytest.mark.parametrize("wind", ["right", "left", "up", "down"])
def test_turning_moves_cells_and_parts_alike_and_never_mirrors(wind):
    values = np.arange(12.0).reshape(1, 4, 3)  # (t, x, y)
    for cell in np.ndindex(4, 3):
        assert turned(values, wind)[(0, *turned_cell(cell, (4, 3), wind))] == values[(0, *cell)]
    part = stored_part((0, 2, 1, 3), (4, 3), wind)
    assert np.array_equal(turned(values[:, part["x"], part["y"]], wind), turned(values, wind)[:, 0:2, 1:3])
    steps = [np.subtract(turned_cell(c, (4, 3), wind), turned_cell((0, 0), (4, 3), wind)) for c in ((1, 0), (0, 1))]
    assert np.linalg.det(np.array(steps)) == 1


def test_a_crop_reads_only_what_it_needs(tmp_path):
    class Stored:
        shape, dtype, asked = STORED.shape, STORED.dtype, []

        def __getitem__(self, index):
            self.asked.append(index)
            return STORED[index]

    found = files.Found("a", values := Stored(), "tyx")
    reader = files.Reader(found, ReadSettings(wind="down", crop=(0, 3, 0, 4), every=10))
    assert np.array_equal(reader.field(), STORED[::10, :3, 10:][:, :, ::-1])
    assert values.asked == [(slice(0, 31, 10), slice(0, 3), slice(10, 14))]


def test_the_source_of_a_file_is_turned_and_units_are_kept(tmp_path):
    field = np.ascontiguousarray(STORED.transpose(0, 2, 1)).astype(np.float32)
    np.save(tmp_path / "a.npy", field)
    small = read_plume(tmp_path / "a.npy", ReadSettings(source=(2, 3), cell_mm=0.5, frame_s=0.01))
    assert (small.cell_mm, small.frame_s) == (0.5, 0.01)
    assert "stored cells of 0.5 mm, 0.01 s between stored snapshots" in small.origin
    for name in ("a.nc", "a.zarr", "a.npz"):
        write_plume(small, tmp_path / name)
        again = read_plume(tmp_path / name, ReadSettings(wind="left", downsample=2, every=4))
        assert (again.cell_mm, again.frame_s) == (1.0, 0.04)
        assert again.source == ((13 - 2) // 2, (8 - 3) // 2)
    assert small.split()[1].cell_mm == 0.5


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"wind": "east"}, "wind is 'east'; it must be 'right', 'left', 'up', 'down' or 'auto'"),
        ({"every": 0}, "every is 0; it must be positive"),
        ({"background": "mode"}, "background is 'mode'; it must be median, low, none, or a number"),
        ({"background": "first:-2"}, "background is 'first:-2'"),
        ({"cell_mm": 0}, "cell_mm is 0"),
        ({"whiff_probability": (0.2, 0.2)}, "different numbers"),
        ({"whiff_probability": (1.5,)}, "whiff probability is 1.5; it must lie between 0 and 1"),
        ({"whiff_probability": ()}, "1 to 8 different numbers"),
        ({"whiff_probability": (0.1,), "environments": "auto"}, "given twice"),
        ({"environments": "best"}, "environments is 'best'"),
    ],
)
def test_bad_settings_are_refused(how, says):
    assert says in sentence(ReadSettings, **how)


def test_what_does_not_fit_a_file_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", STORED.astype(np.float32))
    np.save(tmp_path / "mask.npy", MASK.T)
    np.save(tmp_path / "bad.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "text.png").write_text("no")

    def said(**how):
        return sentence(read_plume, tmp_path / "a.npy", ReadSettings(**how))

    assert "give a background" in said(invert=True)
    assert "has shape (14, 9), and a stored frame (9, 14)" in said(mask=tmp_path / "mask.npy")
    assert "Python objects" in said(mask=tmp_path / "bad.npy")
    assert "text.png is not a readable" in said(mask=tmp_path / "text.png")
    assert "no mask at" in said(mask="none.png")
    assert "9 x 14 cells with axes txy" in said(crop=(0, 10, 0, 5))
    assert "14 x 9 cells with axes txy and the wind up" in said(crop=(0, 10, 0, 10), wind="up")


# Thresholds


def test_thresholds_without_names_get_them_by_their_number(tmp_path):
    assert numbered([28, 4, 20, 12]) == {"denser": 4, "dense": 12, "sparse": 20, "sparser": 28}
    for count in range(1, 9):
        assert len(numbered(range(1, count + 1))) == count
    assert "at most 8" in sentence(numbered, range(1, 10))
    np.save(tmp_path / "a.npy", STORED)
    command = ["plume", "inspect", str(tmp_path / "a.npy"), "--json"]
    for option in ("--thresholds", "--environments"):
        for text in ("100,200", "dense=100,sparse=200"):
            assert CliRunner().invoke(app, [*command, option, text, "--threshold", "sparse"]).exit_code == 0
    done = CliRunner().invoke(app, [*command, "--thresholds", "100,x"])
    assert str(done.exception) == "--thresholds is '100,x'; it must be numbers, such as 4,12,20,28."


def test_thresholds_of_the_record_are_asked_of_one_function(tmp_path, monkeypatch):
    asked = []

    def suggested(plume, probabilities=None):
        asked.append((plume.fingerprint, probabilities))
        return wc.Plume.from_array(STORED, environments={"few": 200.0}).environments

    monkeypatch.setattr("whiffclock.plume.suggest.suggested", suggested)
    np.save(tmp_path / "a.npy", STORED)
    plume = wc.read_plume(tmp_path / "a.npy", environments="auto")
    assert plume.environments == {"few": 200.0}
    wc.read_plume(tmp_path / "a.npy", whiff_probability=(0.2, 0.1))
    assert asked == [(plume.fingerprint, None), (plume.fingerprint, (0.2, 0.1))]


# Settings files


EVERYTHING = ReadSettings(
    axes="tyx", mask="mask.npy", wind="up", first=1, end=39, every=2, crop=(0, 8, 0, 14), downsample=2,
    downsample_method="point", background="median", invert=True, scale=2.5, clip=True, source=(1, 4), cell_mm=0.74,
    frame_s=1 / 15, environments={"dense": 1.0, "sparse": 30.5},
)  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        ReadSettings(),
        EVERYTHING,
        ReadSettings(environments="auto", key='a "b"\\é\n'),
        ReadSettings(whiff_probability=(0.2, 0.05), background=0),
    ],
)
def test_settings_are_read_as_they_were_written(tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", STORED)
    np.save("mask.npy", MASK)
    (tmp_path / "sub").mkdir()
    for path, file in ((tmp_path / "sub/my.toml", tmp_path / "a.npy"), (tmp_path / "a.npy.toml", None)):
        write_settings(path, file, settings)
        text = path.read_text()
        assert text.count("\n# ") == len(tomllib.loads(text))
        named, read, used = with_settings_files(path if file else tmp_path / "a.npy", ReadSettings())
        assert named.samefile("a.npy")
        mask = read.mask and str((tmp_path / read.mask).resolve().relative_to(tmp_path))
        assert ReadSettings(**vars(read) | {"mask": mask}) == settings
        assert used == f", with {path.name}"
        path.unlink()


def test_a_settings_file_is_taken_wherever_a_plume_is(tmp_path):
    np.save(tmp_path / "a.npy", STORED)
    np.save(tmp_path / "mask.npy", MASK)
    whole = ReadSettings(**vars(EVERYTHING) | {"mask": str(tmp_path / "mask.npy")})
    expected = read_plume(tmp_path / "a.npy", whole)
    write_settings(tmp_path / "my.toml", tmp_path / "a.npy", whole)
    plume = wc.read_plume(tmp_path / "my.toml")
    assert plume == expected
    assert plume.environments == expected.environments == EVERYTHING.environments
    assert plume.origin == f"{expected.origin}, with my.toml"
    for words in (["info", tmp_path / "my.toml"], ["plume", "inspect", tmp_path / "my.toml"]):
        done = CliRunner().invoke(app, [*map(str, words), "--json"])
        assert done.exit_code == 0, done.exception
        assert "with my.toml" in done.output


def test_options_win_over_a_file_beside_a_recording_also_at_their_defaults(tmp_path):
    np.save(tmp_path / "a.npy", STORED)
    beside = tmp_path / "a.npy.toml"
    beside.write_text('axes = "tyx"\ndownsample = 2\nwind = "left"\nthresholds = [100, 150]\nsource = [1, 1]')

    def exported(*words):
        command = ["plume", "export", tmp_path / "a.npy", tmp_path / "b.nc", "--force", *words]
        done = CliRunner().invoke(app, list(map(str, command)))
        assert done.exit_code == 0, done.exception
        return read_plume(tmp_path / "b.nc")

    plume = exported()
    assert plume.field.shape == (40, 7, 4)
    assert dict(plume.environments) == {"dense": 100, "sparse": 150}
    assert "with a.npy.toml" in plume.origin
    assert exported("--downsample", 1).field.shape == (40, 14, 9)
    assert np.allclose(exported("--downsample", 1, "--wind", "right").field, STORED.transpose(0, 2, 1))
    assert exported("--source", "3,2").source == (3, 2)
    assert len(exported("--whiff-probability", ".3,.1,.2").environments) == 3
    assert exported("--frames", "0:20").field.shape[0] == 20
    assert wc.read_plume(tmp_path / "a.npy", wind="right", downsample=1).field.shape == (40, 14, 9)
    (tmp_path / "my.toml").write_text('file = "a.npy"\ndownsample = 3')
    both = wc.read_plume(tmp_path / "my.toml")
    assert both.field.shape == (40, 4, 3)
    assert "with a.npy.toml and my.toml" in both.origin
    command = ["plume", "export", tmp_path / "my.toml", tmp_path / "a.npy", "--force"]
    assert "is the file to read" in str(CliRunner().invoke(app, list(map(str, command))).exception)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('file = "a.npy"\nwinds = "up"', "my.toml has an unknown key 'winds'; did you mean wind?"),
        ('file = "a.npy"\nwind = 3', "my.toml: wind is 3; it must be 'right', 'left', 'up', 'down' or 'auto'."),
        ('file = "a.npy"\ncrop = [1, 2]', "my.toml: crop is [1, 2]; it must be"),
        ('file = "a.npy"\nmask = 7', "my.toml: mask is 7; it must be a text."),
        ('file = "a.npy"\nthresholds = "low"', "my.toml: environments is 'low'"),
        ('file = "a.npy"\nthresholds = [1, "a"]', "my.toml: thresholds is [1, 'a']"),
        ('file = "a.npy"\nthresholds = [1]\nenvironments = "auto"', "both thresholds and environments"),
        ('file = "a.npy"\nmask = "m.png"', "There is no mask at"),
        ('file = "none.npy"', "my.toml: there is no file at"),
        ("file = 3", "my.toml: file is 3; it must be a text."),
        ('file = "my.toml"', "not another TOML file"),
        ('wind = "up"', "my.toml does not name its recording; add a line such as file"),
        ("file = ", "my.toml is not a TOML file"),
        ('file = "a.npy"\ncrop = [0, 99, 0, 3]', "reaches beyond"),
    ],
)
def test_a_wrong_settings_file_gets_one_sentence_with_the_key(tmp_path, text, says):
    np.save(tmp_path / "a.npy", STORED)
    (tmp_path / "my.toml").write_text(text)
    assert says in sentence(read_plume, tmp_path / "my.toml")
    if "file" in text and "none" not in text and text.startswith('file = "a'):
        (tmp_path / "a.npy.toml").write_text(text.replace('file = "a.npy"', 'file = "my.toml"'))
        assert "it lies beside a.npy" in sentence(read_plume, tmp_path / "a.npy") or "a.npy.toml" in sentence(
            read_plume, tmp_path / "a.npy"
        )
    sentence(read_plume, tmp_path / "missing.toml")


def test_the_paper_has_its_names():
    assert tuple(numbered([*PAPER.values()])) == PAPER.names
