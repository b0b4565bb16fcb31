"""Recovery paths and their geometry: paths drawn by hand, and what must hold for all of them."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from blanks import follow_blanks
from hypothesis import given
from hypothesis import strategies as st
from trainings import clock_task

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.compose import heuristic_two_q
from whiffclock.agents.qlearning import train
from whiffclock.memory import clock
from whiffclock.params import InputError, LearningSettings, WorldSettings
from whiffclock.path_metrics import Geometry, geometry
from whiffclock.policy import Policy, TablePolicy
from whiffclock.quantiles import weighted_quantiles
from whiffclock.recovery import BranchSettings, forced_blanks, recovery_path
from whiffclock.world.moves import DISPLACEMENT

LETTERS = "U+-D"  # upwind, +y, -y, downwind: the order of the actions
paths = st.lists(st.integers(0, 3), max_size=60).map(lambda actions: walk_actions(actions))


def walk_actions(actions):
    return np.cumsum([[0, 0], *DISPLACEMENT[np.array(actions, dtype=int)]], axis=0)


def walk(letters):
    return walk_actions([LETTERS.index(letter) for letter in letters])


def test_old_names_of_metrics_still_work_with_a_warning():
    shape = geometry(walk("UUDDD"))
    with pytest.warns(DeprecationWarning, match="backtracking is called downwind_return_printed now"):
        assert shape.backtracking == 3
    with pytest.warns(DeprecationWarning, match="backtracking_after_extreme is called downwind_return_length now"):
        assert shape.backtracking_after_extreme == 3
    with pytest.warns(DeprecationWarning, match="backtracking_initiation is called downwind_return_start now"):
        assert shape.backtracking_initiation == 2
    with pytest.raises(AttributeError, match="A geometry has no 'length'; it has surge_length"):
        assert shape.length


def test_a_whole_recovery():
    #             surge, cast, upwind, cast the other way, return beyond the start
    path = walk("UUUU" + "++" + "U" + "-----" + "DDDDDDDD")
    assert geometry(path) == Geometry(
        surge_length=4,
        cast_width=5,
        upwind_search=5,
        downwind_return_printed=8,
        downwind_return_length=8,
        downwind_return_start=12.0,
    )


@pytest.mark.parametrize(
    ("moves", "length"),
    [
        ("", 0),
        ("U", 1),
        ("UUU", 3),
        ("UUU++U", 3),
        ("UUU+-U", 3),
        ("UUUDDU", 3),
        ("UUU+DU", 3),
        ("UU+UU--", 4),  # a sidestep neither ends the surge nor counts
        ("UUDUU--", 4),  # nor does one step back, which is not subtracted
        ("U+U-U+U--U", 4),
        ("+UU--", 2),
        ("++UUU", 0),  # never surges
        ("DDUUU", 0),
        ("UU+", 2),  # the path ends before a second sidestep
        ("U+U+", 2),
    ],
)
def test_a_surge_ends_with_two_moves_in_a_row_that_are_not_upwind(moves, length):
    assert geometry(walk(moves)).surge_length == length


@pytest.mark.parametrize(
    ("moves", "width"),
    [("", 0), ("UUDD", 0), ("+++", 3), ("---", 3), ("++----", 4), ("+-+-", 1), ("++UU--DD", 2)],
)
def test_cast_width_is_the_whole_extent_across_the_wind(moves, width):
    assert geometry(walk(moves)).cast_width == width


@pytest.mark.parametrize(
    ("moves", "reach"), [("", 0), ("UU+UD", 3), ("DDD", 0), ("DDDUUUU", 1), ("DDU", 0), ("+-+-", 0)]
)
def test_upwind_search_is_measured_from_the_start(moves, reach):
    assert geometry(walk(moves)).upwind_search == reach


@pytest.mark.parametrize(
    ("moves", "printed", "drawn"),
    [
        ("", 0, 0),
        ("UUU", 3, 0),  # never returns
        ("UUUDD", 3, 2),
        ("UUUDDDDD", 5, 5),
        ("DDUUU", 3, 0),  # goes downwind before the extreme, and not after
        ("DDDDUUUUUDD", 5, 2),
        ("DDD", 3, 3),  # the extreme is the start
        ("UUDDUUD", 2, 2),  # from the first of two visits to the extreme
        ("++", 0, 0),
    ],
)
def test_the_downwind_return_as_printed_and_as_drawn(moves, printed, drawn):
    seen = geometry(walk(moves))
    assert (seen.downwind_return_printed, seen.downwind_return_length) == (printed, drawn)


@pytest.mark.parametrize(
    ("moves", "begins"),
    [
        ("DDD", 0),
        ("UU+DDD", 3),
        ("UUDDUDDD", 5),  # two in a row are not a return
        ("UUDD+DDD", 5),
        ("DDDUUDDD", 0),
        ("UDDDDD", 1),
        ("", math.nan),
        ("UUUU", math.nan),
        ("UUDDUDD", math.nan),  # ends in the middle of what may have been one
    ],
)
def test_the_return_begins_with_three_downwind_moves_in_a_row(moves, begins):
    assert geometry(walk(moves)).downwind_return_start == pytest.approx(begins, nan_ok=True)


def test_a_return_that_never_begins_is_null_in_json():
    never, soon = geometry(walk("UU")).to_dict(), geometry(walk("UUDDD")).to_dict()
    assert never["downwind_return_start"] is None
    assert soon["downwind_return_start"] == 2
    assert json.loads(json.dumps(soon, allow_nan=False)) == soon


@given(paths, st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_geometry_does_not_depend_on_where_a_path_starts(path, x, y):
    assert repr(geometry(path + np.array([x, y]))) == repr(geometry(path))


@given(paths)
def test_geometry_cannot_tell_left_from_right(path):
    assert repr(geometry(path * [1, -1])) == repr(geometry(path))


def slow_geometry(path):
    """The metrics as the paper tells them, move by move."""
    surge, others, surging, downwind, begins = 0, 0, True, 0, math.nan
    lowest, after = path[0][0], 0
    for i, ((x0, _), (x, _)) in enumerate(pairwise(path)):
        others = 0 if x < x0 else others + 1
        surging = surging and others < 2
        surge += surging and x < x0
        downwind = downwind + 1 if x > x0 else 0
        if downwind == 3 and math.isnan(begins):
            begins = float(i - 2)
        lowest, after = (x, 0) if x < lowest else (lowest, max(after, x - lowest))
    xs, ys = [x for x, _ in path], [y for _, y in path]
    return Geometry(surge, max(ys) - min(ys), path[0][0] - min(xs), max(xs) - min(xs), after, begins)


@given(paths)
def test_geometry_is_what_a_reader_of_the_paper_would_count(path):
    assert repr(geometry(path)) == repr(slow_geometry(path.tolist()))


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ([], "positions"),
        ([0, 0], "positions"),
        ([[0, 0, 0]], "positions"),
        ([["0", "1"]], "<U1"),
        ([[0.5, 0.0], [math.nan, 1.0]], "1 positions of the path are not finite"),
        ([[0, 0], [1, 2]], "one cell"),
        ([[0, 0], [0, 0]], "one cell"),
        ([[0, 0], [-1, 0], [-3, 0]], r"Move 1 .* \[-2, 0\]"),
    ],
)
def test_what_is_not_a_path_is_refused(path, says):
    with pytest.raises(InputError, match=says):
        geometry(path)


class OnlyTheFace(Policy):
    """A clock policy of which nothing but the four methods of a policy can be seen."""

    name = "masked"

    def __init__(self, policy):
        self.modes, self.begin, self.act = policy.modes, policy.begin, policy.act
        self.observe, self.mode = policy.observe, policy.mode


@pytest.mark.parametrize("split", [False, True])
def test_the_path_in_the_table_is_the_path_walked(plume, split):
    memory = clock(60, (3, 9), split_zero=split)
    policy = train(clock_task(plume, 3e-6, memory, LearningSettings.shortened(300)))
    whiff_nodes = np.arange(3) * 60
    walked = follow_blanks(OnlyTheFace(policy), whiff_nodes, 60)
    for mode in range(3):
        assert np.array_equal(walked[mode], recovery_path(policy, mode, "none"))
    begun = follow_blanks(OnlyTheFace(policy), policy.begin(np.ones(1, dtype=bool)), 7)
    assert np.array_equal(begun[0], recovery_path(policy, truncation="none")[:8])


def test_a_saturated_clock_goes_on_as_it_does_in_its_last_state():
    actions = np.array([LETTERS.index(letter) for letter in "UU+D"], dtype=np.int8)
    policy = TablePolicy("by hand", clock(4), actions)
    (path,) = follow_blanks(policy, policy.begin(np.ones(1, dtype=bool)), 9)
    assert np.array_equal(path, walk("UU+D" + "DDDDD"))
    assert math.isnan(geometry(recovery_path(policy)).downwind_return_start)
    assert geometry(path).downwind_return_start == 3


def test_a_memory_that_counts_its_own_moves_is_followed():
    class Counting(Policy):
        """Goes upwind for as many moves as its memory says, then downwind."""

        def begin(self, whiff):
            return np.where(whiff, 5, 1)

        def act(self, memory):
            return np.where(memory > 0, 0, 3)

        def observe(self, memory, action, whiff):
            assert not whiff.any()
            return memory - (action == 0)

    three = follow_blanks(Counting(), np.array([5, 0, 2]), 6)
    assert [geometry(path).surge_length for path in three] == [5, 0, 2]
    assert [geometry(path).downwind_return_start for path in three[1:]] == [0, 2]
    assert follow_blanks(Counting(), np.array([5]), 0).tolist() == [[[0, 0]]]


def test_each_mode_has_a_geometry_of_its_own():
    dense, sparse = cast_and_surge(20, 50), cast_and_surge(70, 50)
    both = heuristic_two_q(dense, sparse, 7)
    assert geometry(recovery_path(both, 0)).cast_width == geometry(recovery_path(dense)).cast_width
    assert geometry(recovery_path(both, 1)).cast_width > geometry(recovery_path(both, 0)).cast_width


@pytest.mark.parametrize(
    ("values", "weights", "q", "expected"),
    [
        ([3, 1, 2], [1, 1, 1], 0.5, 2),
        ([4, 1, 2, 3], [1, 1, 1, 1], 0.5, 2),  # one of the values, never between two
        ([1, 2, 3], [1, 1, 8], 0.5, 3),
        ([1, 2, 3], [8, 1, 1], [0.5, 0.8, 0.85, 1], [1, 1, 2, 3]),
        ([1, 2, 3], [0, 1, 0], [0, 0.5, 1], [2, 2, 2]),  # values without weight are not there
        ([5, 5, 7], [1, 1, 2], [0.5, 0.51], [5, 7]),
        ([1, math.nan, 2], [1, 1, 2], [0.25, 0.75, 0.76], [1, 2, math.nan]),
        ([1, 2], [1e308, 1e308], [0.5, 1], [1, 2]),
    ],
)
def test_weighted_quantiles_by_hand(values, weights, q, expected):
    assert weighted_quantiles(values, weights, q) == pytest.approx(np.array(expected, dtype=float), nan_ok=True)


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 5)), min_size=1, max_size=30),
    st.integers(0, 100),
)
def test_whole_weights_are_repetitions(pairs, percent):
    values, weights = np.array(pairs).T
    if not weights.any():
        return
    expected = np.quantile(np.repeat(values, weights), percent / 100, method="inverted_cdf")
    assert weighted_quantiles(values, weights / 7, percent / 100) == expected


@pytest.mark.parametrize(
    ("values", "weights", "q", "says"),
    [
        ([1, 2], [1], 0.5, "one weight"),
        ([], [], 0.5, "positive"),
        ([1, 2], [0, 0], 0.5, "positive"),
        ([1, 2], [1, -1], 0.5, "negative"),
        ([1, 2], [1, math.inf], 0.5, "finite"),
        ([1, 2], [1, 1], 1.5, "outside 0 to 1"),
        ([1, 2], [1, 1], math.nan, "outside 0 to 1"),
    ],
)
def test_impossible_quantiles_are_refused(values, weights, q, says):
    with pytest.raises(InputError, match=says):
        weighted_quantiles(values, weights, q)


def test_branches_of_searches_that_start_on_a_whiff_begin_there(plume):
    settings = BranchSettings(trials=12, steps=1, horizon=20)
    found = forced_blanks(cast_and_surge(45, 20), plume, 3e-6, WorldSettings(start_on_whiff=True), settings)
    assert sorted(found.trial[found.step == 0]) == list(range(12))
