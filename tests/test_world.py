"""The world: whiffs, starts, the edges of the grid and of time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whiffclock.environments import PAPER
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, InputError, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.toy import toy_plume
from whiffclock.policy import TablePolicy
from whiffclock.world.episode import smell, step
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.starts import shortest_arrival


@settings(deadline=None)  # the first example compiles
@given(st.integers(1, 70), st.integers(0, 2**32))
def test_packing_keeps_every_whiff(width, seed):
    field = np.random.default_rng(seed).random((4, 3, width), dtype=np.float32) + np.float32(0.01)
    whiffs = Plume.from_array(field).whiffs(0.005)
    assert whiffs.shape == field.shape
    assert whiffs.ever().all()
    half = Plume.from_array(field).whiffs(min(0.5, float(field.max())))
    assert np.allclose(half.probability(), (field >= half.threshold).mean(axis=0))
    words, site = half.world(WorldSettings())
    for t in range(4):
        for x in range(-1, 4):
            for y in range(-1, width + 1):
                inside = 0 <= x < 3 and 0 <= y < width
                assert smell(words, site, x, y, t) == (inside and field[t, x, y] >= half.threshold)


def test_a_whiff_is_at_least_the_threshold():
    field = np.zeros((2, 3, 3), dtype=np.float32)
    field[0, 2, 0] = 3e-6
    field[1, 2, 0] = np.nextafter(np.float32(3e-6), np.float32(0))
    assert Plume.from_array(field).whiffs(3e-6).probability()[2, 0] == 0.5


@pytest.mark.parametrize("kind", [np.float64, ">f4", np.longdouble])
def test_the_same_fingerprint_means_the_same_whiffs(plume, kind):
    rounded = np.nextafter(plume.field, np.float32(1)).astype(kind)  # no longer what was rounded to single precision
    above = np.nextafter(np.float64(5e-6), 0)
    rounded[:, 3, 4] = above
    pair = [Plume.from_array(values, plume.source) for values in (rounded.astype(np.float32), rounded)]
    assert pair[0].fingerprint == pair[1].fingerprint
    for threshold in (1e-6, 5e-6, float(above)):
        assert np.array_equal(*(one.whiffs(threshold).words for one in pair))
        assert pair[1].whiffs(threshold).probability()[3, 4] == 1
    assert pair[0].highest == pair[1].highest


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.float16, np.float64])
def test_whole_numbers_give_the_same_whiffs_in_every_type(kind):
    counts = np.random.default_rng(0).integers(0, 9, (5, 6, 7))
    exact, other = Plume.from_array(counts.astype(np.float32)), Plume.from_array(counts.astype(kind))
    assert exact.fingerprint == other.fingerprint
    for threshold in (0.1, 3, 7.3):
        assert np.array_equal(exact.whiffs(threshold).words, other.whiffs(threshold).words)


def test_whiffs_of_one_snapshot(plume):
    for t in (0, 77, 199):
        assert np.array_equal(plume.whiffs(3e-6).snapshot(t), plume.field[t] >= np.float32(3e-6))


def test_what_single_precision_cannot_hold_is_refused():
    field = np.ones((2, 3, 3))
    with pytest.raises(InputError, match="in single precision, it is zero"):
        Plume.from_array(field).whiffs(1e-60)
    with pytest.raises(InputError, match="nothing reaches"):
        Plume.from_array(field).whiffs(1e60)
    with pytest.raises(InputError, match="finite"):
        Plume.from_array(1e60 * field)


def test_starts_are_the_cells_of_the_poorest_plume_outside_the_source():
    field = np.zeros((3, 5, 5))
    field[1, 4, 4] = field[2, 0, 2] = 8e-6
    field[0, 3, 0] = 4e-6
    plume = Plume.from_array(field, (0, 2), environments=PAPER)
    assert plume.starts(3e-6, WorldSettings()).tolist() == [[4, 4]]
    own = plume.starts(3e-6, WorldSettings(start_threshold=None))
    assert own.tolist() == [[3, 0], [4, 4]]


def test_a_step_moves_one_cell_and_wraps_time():
    field = np.zeros((3, 9, 9))
    field[0, 5, 4] = 1.0
    words, site = Plume.from_array(field, (0, 4)).whiffs(1.0).world(WorldSettings())
    assert step(words, site, 6, 4, 2, 0) == (5, 4, 0, False, 1)
    for action, (dx, dy) in enumerate(DISPLACEMENT.tolist()):
        assert step(words, site, 7, 7, 0, action)[:3] == (7 + dx, 7 + dy, 1)
    assert step(words, site, 3, 4, 0, 0)[3]
    assert not step(words, site, 4, 4, 0, 1)[3]


def test_the_source_disc_is_euclidean():
    cells = np.array([[2, 0], [1, 1], [2, 1], [0, 3], [3, 3], [10, -4]])
    assert shortest_arrival(cells, (0, 0), 2).tolist() == [0, 0, 1, 1, 4, 12]


@given(st.floats(0, 9), st.integers(0, 2**32))
def test_the_shortest_arrival_is_at_the_nearest_cell_of_the_disc(radius, seed):
    cells = np.random.default_rng(seed).integers(-15, 16, (20, 2))
    reach = range(-int(radius), int(radius) + 1)
    disc = [(x, y) for x in reach for y in reach if x * x + y * y <= radius**2]
    nearest = [min(abs(x - 3 - dx) + abs(y - 2 - dy) for dx, dy in disc) for x, y in cells.tolist()]
    assert shortest_arrival(cells, (3, 2), radius).tolist() == nearest


def test_mirror_symmetry_of_the_world():
    rng = np.random.default_rng(3)
    field = (rng.random((20, 12, 9)) < 0.2).astype(float)
    memory = clock(40, (4,))
    policy = TablePolicy("random", memory, rng.integers(0, 4, memory.rows).astype(np.int8))
    flipped = TablePolicy("mirror", memory, np.array([0, 2, 1, 3], dtype=np.int8)[policy.actions])
    plume, mirror = Plume.from_array(field, (0, 4)), Plume.from_array(field[:, :, ::-1], (0, 4))
    world, how = WorldSettings(start_threshold=None), EvaluationSettings(snapshots=20)
    seen, reflected = evaluate(policy, plume, 1.0, world, how), evaluate(flipped, mirror, 1.0, world, how)
    assert 0 < seen.mean("f+") < 1
    assert np.array_equal(seen.occupancy, reflected.occupancy[:, :, ::-1])


def test_a_large_wide_grid_works():
    rng = np.random.default_rng(0)
    field = rng.random((6, 1225, 280), dtype=np.float32)
    plume = Plume.from_array(field)
    assert plume.source == (0, 140)
    assert abs(plume.whiffs(0.75).probability().mean() - 0.25) < 0.01


def test_fingerprints_tell_plumes_apart(plume):
    again = toy_plume(snapshots=200, length=40, width=27, seed=1)
    other = toy_plume(snapshots=200, length=40, width=27, seed=2)
    moved = Plume.from_array(plume.field, (1, 13))
    assert plume.fingerprint == again.fingerprint
    assert len({plume.fingerprint, other.fingerprint, moved.fingerprint}) == 3
    assert "not turbulence" in plume.origin


@pytest.mark.parametrize(
    ("field", "source", "says"),
    [
        (np.full((3, 4, 5), np.nan), None, "NaN"),
        (-np.ones((3, 4, 5)), None, "must be positive"),
        (np.zeros((3, 4, 5)), None, "must be positive"),
        (np.ones((4, 5)), None, "2 dimensions"),
        (np.ones((3, 4, 5)), (4, 0), "outside the grid"),
        (np.ones((3, 4, 5)), (0, -1), "outside the grid"),
        (np.ones((1, 4, 5)), None, "two snapshots"),
        (np.ones((3, 4, 5), dtype=complex), None, "real numbers"),
    ],
)
def test_bad_fields_are_refused_in_one_sentence(field, source, says):
    with pytest.raises(InputError, match=says) as caught:
        Plume.from_array(field, source)
    assert "\n" not in str(caught.value)


def test_a_threshold_that_nothing_reaches_is_refused(plume):
    with pytest.raises(InputError, match="nothing reaches"):
        plume.whiffs(1.0)
    only_source = np.zeros((2, 5, 5))
    only_source[:, 0, 2] = 1.0
    with pytest.raises(InputError, match="no search can start"):
        Plume.from_array(only_source, (0, 2)).starts(1.0, WorldSettings(start_threshold=None))
    with pytest.raises(InputError, match="never have a whiff"):
        plume.starts(float(plume.field.max()), WorldSettings(start_threshold=1e-6, start_on_whiff=True))
