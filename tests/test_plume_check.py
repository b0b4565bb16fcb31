"""What a recording is: motion, orientation, thresholds and guesses, on synthetic films made from the built-in plume."""

import json
from functools import partial

import numpy as np
import pytest
from command import whiffclock
from scipy.ndimage import zoom

import whiffclock as wc
from whiffclock.environments import PAPER
from whiffclock.params import InputError
from whiffclock.plume import suggest
from whiffclock.plume.check import option_words
from whiffclock.plume.glance import glance, hot_pixels
from whiffclock.plume.guess import of_moves
from whiffclock.plume.motion import _OVERLAP, _Pairs, anomalies, motion
from whiffclock.plume.orientation import WINDS, orientation, time_chances, wind_of
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.reading.turning import turned

#: Speed of structures in the built-in plume, in cells per snapshot (0.87 in the DNS).
SPEED = 0.89
SOURCE = np.array([0, 13])


@pytest.fixture(scope="module")
def whole():
    return wc.builtin_plume()


@pytest.fixture(scope="module")
def part(whole):
    """A part of the built-in plume, c[t, x, y], with a highest value of 1."""
    values = np.asarray(whole.field[600:840])
    return values / values.max()


def blobs(speed, snapshots=60, length=80, width=40, size=3.0, seed=0):
    """Synthetic: blobs that move along the first axis of the frame."""
    rng, reach = np.random.default_rng(seed), abs(speed) * snapshots + 20
    x0, y0 = rng.uniform(-reach, length + reach, int(0.4 * (length + 2 * reach))), rng.uniform(0, width, 10_000)
    a, b = np.arange(length)[:, None], np.arange(width)
    film = np.zeros((snapshots, length, width))
    for t in range(snapshots):
        for x, y in zip(x0 + speed * t, y0, strict=False):
            if -10 < x < length + 10:
                film[t] += np.exp(-((a - x) ** 2) / 2 / size**2) * np.exp(-((b - y) ** 2) / 2 / size**2)
    return film


# Motion


def slow_correlation(values, lag, d, e):
    """The definition, pair by pair."""
    _, length, width = values.shape
    total = earlier = later = 0.0
    squares = (values[:-lag] ** 2).sum(), (values[lag:] ** 2).sum()
    for t in range(len(values) - lag):
        for a in range(length):
            for b in range(width):
                if 0 <= a + d < length and 0 <= b + e < width:
                    here, there = values[t, a, b], values[t + lag, a + d, b + e]
                    total, earlier, later = total + here * there, earlier + here**2, later + there**2
    return total / max(np.sqrt(earlier * later), _OVERLAP * np.sqrt(squares[0] * squares[1]))


def test_correlation_is_that_of_the_definition():
    values = anomalies(np.random.default_rng(0).normal(size=(6, 7, 8)))
    rho = _Pairs(values).correlation(2)
    assert rho.shape == (7, 9)  # displacements of up to half of the frame
    found = {(d, e): rho[d + 3, e + 4] for d in (-3, -1, 0, 2, 3) for e in (-4, 0, 1, 4)}
    expected = {place: slow_correlation(values.astype(float), 2, *place) for place in found}
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("speed", "snapshots"), [(6, 40), (-3.4, 60), (15, 40), (0.9, 60), (0.1, 400)])
def test_blobs_are_followed_at_their_speed(speed, snapshots):
    seen = motion(blobs(speed, snapshots))
    assert seen.velocity == pytest.approx((speed, 0), abs=0.02 * abs(speed) + 0.005)
    assert (seen.inside, seen.moves, seen.agreeing) == (True, True, 1)


@pytest.mark.parametrize("seed", range(5))
def test_nothing_moves_in_noise_and_where_blobs_stand(seed):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(60, 40, 30))
    standing = rng.normal(size=(60, 1, 1)) * blobs(0, 1, 40, 30, seed=seed) + 0.1 * noise
    for film in (noise, standing, np.zeros((60, 40, 30))):
        seen = motion(film)
        assert (seen.moves, seen.velocity, seen.confidence) == (False, (0, 0), "unclear")


def test_a_few_snapshots_are_enough_and_three_are_refused(part):
    assert motion(part[:20]).velocity == pytest.approx((SPEED, 0), rel=0.1, abs=0.05)
    with pytest.raises(InputError, match="3 snapshots; a motion needs four"):
        motion(part[:3])


# Orientation


def test_a_turned_film_is_never_mirrored_and_blows_to_the_right(part):
    film = part[:40, :60]
    cells = np.arange(film[0].size).reshape(film[0].shape)[None]
    for i, wind in enumerate(WINDS):
        stored = np.rot90(film, -i, axes=(1, 2))
        assert np.shares_memory(turned(stored, wind), stored)
        assert np.array_equal(turned(stored, wind), film)
        vx, vy = motion(stored).velocity
        assert wind_of("txy", (vx, vy)) == wind
        assert turned(np.rot90(cells, -i, axes=(1, 2)), wind)[0, 2, 5] == cells[0, 2, 5]
    assert wind_of("tyx", (1.0, 0.0)) == "down"  # rows of a picture grow downwards
    assert wind_of("tyx", (0.0, -1.0)) == "left"
    with pytest.raises(InputError, match="must be one of right, up, left, down"):
        turned(film, "north")


def test_a_diagonal_wind_is_refused():
    with pytest.raises(InputError, match=r"diagonal.* rotate the film by 45 degrees first"):
        wind_of("tyx", (1.0, 1.0))
    assert wind_of("tyx", (0.3, 1.0)) == "right"


@pytest.mark.parametrize(
    ("order", "axes", "wind"),
    [((0, 1, 2), "tyx", "down"), ((0, 2, 1), "tyx", "right"), ((1, 2, 0), "yxt", "down"), ((2, 0, 1), "ytx", "right")],
)
@pytest.mark.parametrize("cut", [np.s_[:], np.s_[:60], np.s_[:64, :64], np.s_[:27, :27], np.s_[:, 30:70, 5:20]])
def test_time_is_found_by_stationarity_wherever_it_is_stored(part, order, axes, wind, cut):
    found = orientation(part[cut].transpose(order))
    assert (found.best.axes, found.best.wind, found.ambiguous) == (axes, wind, False)
    assert found.second.probability < found.best.probability


def test_noise_has_no_orientation():
    found = orientation(np.random.default_rng(0).normal(size=(60, 40, 30)))
    assert found.ambiguous
    assert found.best.probability < 0.5
    assert max(time_chances(np.zeros((40, 40, 40)))) == pytest.approx(0.6)  # only the prior is left


# Thresholds


@pytest.mark.parametrize("snapshots", [100, 2598])
def test_the_constants_are_those_of_the_built_in_plume(whole, snapshots):
    assert suggest.measure(whole, snapshots) == pytest.approx(suggest.PAPER_PROBABILITIES[snapshots], abs=6e-4)


@pytest.mark.parametrize("units", [1.0, 1e4])
def test_thresholds_of_the_built_in_plume_are_those_of_the_paper(whole, units):
    found = suggest.suggest_environments(whole.field * np.float32(units), whole.source)
    assert found.environments.names == PAPER.names
    assert [*found.environments.values()] == pytest.approx([units * c for c in PAPER.values()], rel=0.03)
    assert found.start_cells == pytest.approx(1259, rel=0.01)
    assert suggest.suggested(whole) == pytest.approx(PAPER, rel=0.03)


def test_other_whiff_probabilities_are_met_in_the_start_region(part):
    wanted = (0.2, 0.1, 0.05, 0.02)
    found = suggest.suggest_environments(part, (0, 13), wanted)
    thresholds = [*found.environments.values()]
    start = part.max(axis=0) >= thresholds[-1]
    start[0:3, 12:15] = start[0, 11:16] = False  # the source disc
    assert start.sum() == found.start_cells
    assert [(part[:, start] >= c).mean() for c in thresholds] == pytest.approx(wanted, rel=0.1)
    assert np.all(np.diff(found.blanks) > 0)
    assert [*suggest.suggest_environments(part, (0, 13), (0.1, 0.05)).environments] == ["dense", "sparse"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (np.ones((50, 9, 9)), "All values are 1,"),
        (-np.random.default_rng(0).random((50, 9, 9)), "thresholds are positive"),
        (np.random.default_rng(0).random((50, 20, 20)) < 0.5, "The whiff probability jumps"),
    ],
)
def test_plumes_without_such_thresholds_are_refused_in_a_sentence(values, sentence):
    with pytest.raises(InputError, match=sentence):
        suggest.suggest_environments(values.astype(np.float32))
    with pytest.raises(InputError, match=r"0.1, 0.2; they must be .* falling"):
        suggest.suggest_environments(values, None, (0.1, 0.2))


# Guesses


def as_film(part, seed=0):
    """Synthetic: 8 bits, a background of 20, noise, and a saturated core."""
    noise = np.random.default_rng(seed).normal(size=part.shape)
    return np.clip(600 * part + 20 + 3 * noise, 0, 255).astype(np.uint8)


def _uneven(part):
    x, y = np.indices(part.shape[1:])
    return 0.5 + 0.3 * x / x.max() + 0.2 * y / y.max()


SYNTHETIC = {
    "as it is": lambda c: (c, "tyx", "down"),
    "transposed": lambda c: (c.transpose(2, 1, 0), "yxt", "right"),
    "flipped, with a background": lambda c: (c[:, ::-1] + 0.5, "tyx", "up"),
    "turned, uneven background": lambda c: (np.rot90(c + _uneven(c), -1, axes=(1, 2)), "tyx", "left"),
    "turned, noise": lambda c: (
        np.rot90(c + 0.02 * np.random.default_rng(1).normal(size=c.shape), 1, axes=(1, 2)),
        "tyx",
        "right",
    ),
    "noise and saturation": lambda c: (as_film(c), "tyx", "down"),
}


@pytest.mark.parametrize("film", SYNTHETIC)
def test_axes_wind_speed_and_source_are_found(part, film):
    values, axes, wind = SYNTHETIC[film](part)
    seen = wc.check_plume(np.ascontiguousarray(values))
    assert (seen.guesses["axes"].value, seen.guesses["wind"].value, seen.ambiguous) == (axes, wind, False)
    assert seen.guesses["wind"].confidence == "sure"
    assert seen.guesses["speed"].value == pytest.approx(SPEED, rel=0.1)
    assert np.abs(np.array(seen.guesses["source"].value) - SOURCE).max() <= 3  # the axis is the middle row
    assert seen.guesses["odor"].value == "bright"
    assert ("background" in seen.settings) == ("uneven" in film)
    moves = seen.guesses["moves"].value
    assert (moves["downsample"], moves["every"]) == (1, 1)
    assert seen.suggestion is not None
    assert seen.view.frames.shape[1:] == part.shape[1:]  # turned


@pytest.mark.parametrize("dark", [lambda c: 255 - as_film(c), lambda c: 1 - c])
def test_dark_odor_on_white_is_recognised(part, dark):
    seen = wc.check_plume(dark(part))
    assert (seen.guesses["odor"].value, seen.guesses["odor"].confidence) == ("dark", "sure")
    assert seen.settings["invert"]
    assert seen.guesses["wind"].value == "down"
    assert np.abs(np.array(seen.guesses["source"].value) - SOURCE).max() <= 3
    assert seen.view.frames.mean() > 0
    assert 0 < max(share.max() for share in seen.maps.values()) < 1


def test_noise_gives_no_direction():
    seen = wc.check_plume(np.random.default_rng(0).normal(size=(80, 40, 30)))
    assert seen.ambiguous
    assert seen.guesses["speed"].value == 0
    assert {seen.guesses[name].confidence for name in ("wind", "speed", "source", "moves")} == {"unclear"}
    assert any("cannot be told" in sentence for sentence in seen.odd)


def test_a_source_with_an_empty_part_upwind_and_one_outside_the_frame(part):
    empty = np.pad(part, ((0, 0), (30, 0), (0, 0)))
    assert np.abs(np.array(wc.check_plume(empty).guesses["source"].value) - SOURCE - (30, 0)).max() <= 3
    outside = wc.check_plume(part[:, 40:])
    assert outside.guesses["source"].confidence == "unclear"
    assert any("outside the frame" in sentence for sentence in outside.odd)


def test_hot_pixels_are_found_and_whiffs_are_not(part):
    film = as_film(part)
    assert len(hot_pixels(film)) == 0
    film[:, 40, 20] = 255
    film[:, 100, 3] = 0
    assert {tuple(cell) for cell in hot_pixels(film).tolist()} == {(40, 20), (100, 3)}


@pytest.mark.parametrize(
    ("speed", "grid", "snapshots", "merged", "every"),
    [
        (0.9, (123, 27), 2598, 1, 1),
        (3.4, (2048, 1216), 90, 4, 1),
        (9.0, (1225, 280), 2600, 10, 1),
        (0.1, (123, 27), 2600, 1, 9),
    ],
)
def test_moves_are_suggested_for_the_wind_of_the_paper(speed, grid, snapshots, merged, every):
    found = of_moves(speed, grid, snapshots).value
    assert (found["downsample"], found["every"]) == (merged, every)
    assert found["wind"] == pytest.approx(speed * every / merged)


def test_a_large_film_is_looked_at_in_blocks(part):
    large = zoom(part[:100], (1, 4, 4), order=1)
    view = glance(large)
    assert (view.factor, view.frames.shape) == (2, (100, 246, 54))
    assert np.allclose(view.frames, large.reshape(100, 246, 2, 54, 2).mean(axis=(2, 4)), atol=1e-6)
    seen = wc.check_plume(large)
    assert seen.guesses["speed"].value == pytest.approx(4 * SPEED, rel=0.1)
    assert seen.merged == 4
    assert np.abs(np.array(seen.settings["source"]) - SOURCE).max() <= 3


def test_what_is_given_is_not_guessed(part):
    seen = wc.check_plume(part, axes="txy", source=(1, 12))
    assert (seen.guesses["axes"].confidence, seen.guesses["wind"].value) == ("given", "right")
    assert seen.guesses["source"].value == (1, 12)
    plume = wc.check_plume(wc.Plume.from_array(part[:60], (0, 13)))
    assert (plume.guesses["source"].value, plume.guesses["source"].confidence) == ((0, 13), "given")
    with pytest.raises(InputError, match="2 dimensions"):
        wc.check_plume(part[0])


# The command


@pytest.fixture(scope="module")
def film_file(part, tmp_path_factory):
    path = tmp_path_factory.mktemp("films") / "synthetic film.npy"
    np.save(path, as_film(part).transpose(0, 2, 1)[:, :, ::-1])
    return path


def test_the_command_fits_a_screen_draws_a_picture_and_says_what_is_next(film_file, tmp_path):
    run = partial(whiffclock, "plume", "check", film_file)
    done = run("--out", tmp_path / "film.png")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 30
    assert (tmp_path / "film.png").read_bytes()[:4] == b"\x89PNG"
    assert (
        f"Next: whiffclock study '{film_file}'\n"
        f"      whiffclock plume export '{film_file}' 'synthetic film-plume.nc' --axes tyx --wind left" in done.stderr
    )
    seen = json.loads(run("--json").stdout, parse_constant=pytest.fail)
    assert seen["guesses"]["wind"] | {"because": ""} == {
        "value": "left",
        "confidence": "sure",
        "because": "",
        "option": "--wind",
    }
    assert seen["settings"]["environments"] == seen["environments"]
    assert seen["next"][0] == f"whiffclock study '{film_file}'"
    refused = run("--out", "film.txt")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_two_readings_are_both_shown(tmp_path):
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).normal(size=(60, 40, 30)))
    done = whiffclock("plume", "check", tmp_path / "noise.npy", "--out", tmp_path / "noise.pdf")
    assert done.returncode == 0
    assert "It cannot be told how to read this" in done.stdout
    assert done.stderr.count("--axes") == 2


def test_settings_become_the_options_of_a_command():
    how = ReadSettings(
        axes="tyx", first=10, crop=(0, 9, 1, 5), downsample=2, source=(0, 3), environments={"dense": 1e-3}
    )
    given = {name: value for name, value in vars(how).items() if value != getattr(ReadSettings(), name)}
    words = option_words(given | {"invert": True, "background": "median"})
    expected = "--frames 10: --axes tyx --crop 0:9,1:5 --downsample 2 --source 0,3 --environments dense=0.001"
    assert words == [*expected.split(), "--invert", "--background", "median"]
