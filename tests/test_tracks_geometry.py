"""The metrics of diagonal and continuous paths: by the rules of the grid, whatever the steps and the direction."""

import math
from dataclasses import astuple
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whiffclock.path_metrics import GEOMETRY, equal_steps, geometry
from whiffclock.tracks.recoveries import equal_times
from whiffclock.world.moves import DISPLACEMENT

paths = st.lists(st.integers(0, 3), max_size=60).map(
    lambda actions: np.cumsum([[0, 0], *DISPLACEMENT[np.array(actions, dtype=int)]], axis=0)
)


@given(paths)
def test_a_path_on_the_grid_has_the_same_metrics_as_floats(path):
    expected = pytest.approx(astuple(geometry(path)), nan_ok=True)
    assert astuple(geometry(path.astype(float))) == expected
    assert astuple(geometry(path.astype(float), equal_times(path, np.arange(len(path)), 1.0))) == expected
    assert np.array_equal(equal_steps(path.astype(float)), path)


@given(paths, st.floats(-180, 180), st.floats(0.1, 50))
def test_turning_there_and_back_and_scaling_change_nothing(path, degrees, cell):
    turn = np.exp(1j * math.radians(degrees))
    stored = np.round((path @ [1, 1j]) * turn * cell, 4)  # as a file has it
    seen = stored / turn / cell
    back = np.stack([seen.real, seen.imag], axis=1)
    assert astuple(geometry(back)) == pytest.approx(astuple(geometry(path)), abs=0.02, nan_ok=True)


@given(paths, st.integers(2, 9))
def test_frames_between_the_corners_change_nothing(path, frames):
    t = np.arange((len(path) - 1) * frames + 1) / frames
    fine = np.stack([np.interp(t, np.arange(len(path)), axis) for axis in path.T], axis=1)
    assert equal_steps(fine) == pytest.approx(path)
    assert astuple(geometry(fine)) == pytest.approx(astuple(geometry(path)), nan_ok=True)


def slow_steps(path, length):
    """The steps with a ruler: along each line, in small pieces."""
    made, here = [path[0]], path[0]
    for a, b in pairwise(path):
        for share in np.linspace(0, 1, 4001)[1:]:
            there = a + share * (b - a)
            if np.hypot(*(there - here)) >= length:
                here = there
                made.append(there)
    return np.array(made)


@pytest.mark.parametrize("seed", range(5))
def test_steps_of_any_path_have_one_length_and_are_those_of_a_ruler(seed):
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(size=(12, 2)), axis=0)
    steps = equal_steps(path, 0.7)
    assert np.hypot(*np.diff(steps, axis=0).T) == pytest.approx(0.7, rel=0.021)
    slow = slow_steps(path, 0.7)
    assert len(steps) == pytest.approx(len(slow), abs=1)
    few = min(len(steps), 8)
    assert steps[:few] == pytest.approx(slow[:few], abs=0.05)


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([(-1, 1)] * 4, {"surge_length": 4, "cast_width": 4, "upwind_search": 4}),
        ([(-1, 1), (-1, -1), (1, 1), (0, 1), (1, 0)], {"surge_length": 2, "downwind_return_length": 2}),
        ([(0, 1), (-1, 1), (0, 1), (0, 1), (-1, 0)], {"surge_length": 1}),
        ([(1, 1)] * 3, {"downwind_return_start": math.nan}),  # half of the way aside is no return
        ([(-1, 1), (1, 0), (1, 0), (1, 0)], {"downwind_return_start": 1}),
    ],
)
def test_diagonal_moves_are_measured(moves, expected):
    shape = geometry(np.cumsum([(0, 0), *moves], axis=0))
    assert {name: getattr(shape, name) for name in expected} == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(("degrees", "surges"), [(0, True), (50, True), (-50, True), (60, False), (90, False)])
def test_a_straight_way_is_a_surge_within_a_limit(degrees, surges):
    ahead = np.arange(10)[:, None] * [[-math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]]
    shape = geometry(ahead)
    assert shape.surge_length == pytest.approx(9 * math.cos(math.radians(degrees)) if surges else 0)
    assert (geometry(-ahead).downwind_return_start == 0) == (abs(degrees) < 23)


def test_who_stands_still_has_no_direction():
    still = np.zeros((5, 2)) + 0.01 * np.arange(5)[:, None]
    shape = geometry(still, still)
    assert shape.surge_length == 0
    assert math.isnan(shape.downwind_return_start)


def test_jitter_smaller_than_a_step_adds_no_steps():
    rng = np.random.default_rng(3)
    line = np.stack([-np.arange(0, 20, 0.1), np.zeros(200)], axis=1)
    shape = geometry(line + 0.1 * rng.normal(size=line.shape))
    assert shape.surge_length == pytest.approx(20, rel=0.05)
    assert len(GEOMETRY) == 6
