"""Golden episodes of the memory, worked by hand from the equations of the paper's Methods."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whiffclock.memory import Memory, clock, make_memory, parse_memory, window
from whiffclock.params import InputError


def states(observations, **settings):
    """Rows of the Q-matrix along a string of whiffs (w) and blanks (.)."""
    return rows_along(clock(length=settings.pop("horizon"), **settings), observations)


def rows_along(memory, observations):
    whiffs = [o == "w" for o in observations]
    node = memory.first[int(whiffs[0])]
    seen = [int(memory.row[node])]
    for whiff in whiffs[1:]:
        node = memory.next_node[node, int(whiff)]
        seen.append(int(memory.row[node]))
    return seen


def test_single_q_counts_steps_since_the_last_whiff():
    assert states("..w.w...", horizon=500) == [1, 2, 0, 1, 0, 1, 2, 3]
    assert states("w.", horizon=500) == [0, 1]


def test_clock_saturates_at_its_last_state():
    assert states("......w.", horizon=4) == [1, 2, 3, 3, 3, 3, 0, 1]


def test_an_all_blank_episode_of_500_steps_stays_in_range():
    seen = states("." * 501, horizon=500)
    assert seen[:3] == [1, 2, 3]
    assert seen[-3:] == [499, 499, 499]
    two = states("." * 501, horizon=500, taus=(10,))
    assert two[0] == 500
    assert two[-1] == 998 == clock(500, (10,)).rows - 1


def test_two_q_switches_mode_by_the_blank_that_a_whiff_ends():
    # H = 10, tau = 3: Q- owns rows 1..9, Q+ owns rows 10..18, both share row 0.
    # Starts in Q+. The first blank has length 2 < 3: Q-. Then a blank of 3 >= 3: Q+. Two whiffs in a
    # row end a blank of length 0: Q-.
    assert states("..w...w.ww..", horizon=10, taus=(3,)) == [10, 11, 0, 1, 2, 3, 0, 10, 0, 0, 1, 2]


def test_two_q_starts_in_q_plus_even_on_a_whiff():
    # tau_0 = tau + 1, and the first observation ends no blank.
    assert states("w..w", horizon=10, taus=(5,)) == [0, 10, 11, 0]


def test_equality_counts_as_long():
    assert states("w...w.", horizon=10, taus=(3,))[-1] == 10
    assert states("w...w.", horizon=10, taus=(4,))[-1] == 1


def test_split_zero_gives_each_mode_a_whiff_state():
    # Rows 0..9 are Q-, rows 10..19 are Q+.
    assert states("..w...w.ww.", horizon=10, taus=(3,), split_zero=True) == [11, 12, 0, 1, 2, 3, 10, 11, 0, 0, 1]


def test_literal_tau_never_leaves_q_plus_by_a_blank():
    # s_{t-1} = 10 or more in the Q+ family, whatever the length; only whiffs in a row lead to Q-.
    assert states(".w.w.ww.", horizon=10, taus=(3,), literal_tau=True) == [10, 0, 10, 0, 10, 0, 0, 1]


def test_three_modes():
    # tau = 2, 4; modes own rows 1..9, 10..18, 19..27.
    seen = states(".w...w.....w.", horizon=10, taus=(2, 4))
    assert seen == [19, 0, 1, 2, 3, 0, 10, 11, 12, 13, 14, 0, 19]


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("taus", [(), (3,), (2, 5)])
def test_every_row_belongs_to_some_node(split, taus):
    memory = clock(8, taus, split)
    assert np.array_equal(np.unique(memory.row), np.arange(memory.rows))
    of_modes = np.concatenate([memory.row[memory.blank_nodes(m)] for m in range(memory.modes)])
    assert np.array_equal(np.unique(of_modes), np.arange(memory.rows))


def window_states(observations, n, length=20):
    """Rows along a string of whiffs (w) and blanks (.) for a memory of the last n observations."""
    return rows_along(window(n, length), observations)


def test_a_window_remembers_the_last_observations():
    # n = 3: rows 0..6 are the bits 001..111 minus one, the latest observation lowest; rows 7.. are clocks 3, 4, ...
    assert window_states("w", 3) == [0b001 - 1]
    assert window_states("w.", 3)[-1] == 0b010 - 1
    assert window_states("w..", 3)[-1] == 0b100 - 1
    assert window_states("w...", 3)[-1] == 7
    assert window_states("w....", 3)[-1] == 8
    assert window_states("ww.", 3)[-1] == 0b110 - 1
    assert window_states("w.w", 3)[-1] == 0b101 - 1
    assert window_states("www", 3)[-1] == window_states("wwww", 3)[-1] == 0b111 - 1
    assert window_states("w....w", 3)[-1] == 0b001 - 1
    # What came before a search counts as blanks; the clock stays at its end.
    assert window_states("...", 3) == [7, 8, 9]
    assert window_states("w" + "." * 40, 3, length=6)[-1] == window(3, 6).rows - 1


@given(st.integers(1, 5), st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_window_is_what_its_words_say(n, whiffs):
    memory = window(n, 30)
    node = memory.first[int(whiffs[0])]
    for whiff in whiffs[1:]:
        node = memory.next_node[node, int(whiff)]
    recent = ([False] * n + whiffs)[-n:]
    row = int(memory.row[node])
    if any(recent):
        assert row == sum(2**i for i, smelled in enumerate(reversed(recent)) if smelled) - 1
    elif any(whiffs):
        since = list(reversed(whiffs)).index(True)
        assert row == 2**n - 1 + min(since, 29) - n
    else:
        assert row == 2**n - 1 + min(n + len(whiffs) - 1, 29) - n


def test_a_window_of_one_observation_is_the_clock():
    one, two = window(1, 50), clock(50)
    assert np.array_equal(one.row, two.row)
    assert np.array_equal(one.next_node, two.next_node)
    assert np.array_equal(one.first, two.first)
    assert one != two  # but it is another memory by name


def test_memories_are_equal_by_what_made_them():
    assert clock(50, (3,)) == clock(length=50, taus=(3,))
    assert hash(clock(50)) == hash(clock(50))
    assert clock(50) != clock(51)
    assert make_memory(clock(50, (3,), split_zero=True).spec) == clock(50, (3,), True)
    assert pickle.loads(pickle.dumps(window(3, 40))) == window(3, 40)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"maker": "sundial"}, "there are clock, window"),
        ({"maker": "clock", "length": 50.0}, "length"),
        ({"maker": "clock", "lenght": 50}, "no setting called lenght"),
        ({"maker": "clock", "taus": ["3"]}, "taus"),
        ({"maker": "clock", "length": 1}, "horizon H is 1"),
        ({"maker": "window", "n": 0}, "must hold 1 to 16"),
        ({"maker": "window", "n": 4, "length": 4}, "more than that"),
    ],
)
def test_impossible_memories_are_refused(spec, says):
    with pytest.raises(InputError, match=says):
        make_memory(spec)


def test_memories_from_the_command_line():
    assert parse_memory("window:4", length=60, taus=(3,)) == window(4, 60)
    assert parse_memory("clock", length=60, taus=(3,)) == clock(60, (3,))
    assert parse_memory("clock:30", length=60) == clock(30)
    for bad in ("clockwork", "window:four", "window:4:60:1"):
        with pytest.raises(InputError, match="memory"):
            parse_memory(bad)


def test_tables_that_do_not_fit_together_are_refused():
    good = {
        "next_node": np.array([[1, 0], [1, 0]]),
        "row": np.array([0, 1]),
        "mode": np.zeros(2, int),
        "first": np.array([1, 0]),
        "after_whiff": np.array([0]),
    }
    assert Memory("by hand", **good).rows == 2
    for name, bad in [
        ("next_node", np.array([[2, 0], [1, 0]])),
        ("next_node", np.array([[1, 0]])),
        ("row", np.array([0, 2])),
        ("row", np.array([0.0, 1.0])),
        ("mode", np.array([0, 1])),
        ("first", np.array([0])),
        ("after_whiff", np.array([-1])),
    ]:
        with pytest.raises(InputError, match="memory"):
            Memory("by hand", **(good | {name: bad}))


def test_tables_from_a_file_are_checked_before_they_are_narrowed():
    tables = {"memory_next_node": [[1, 0], [1, 0]], "memory_row": [0, 1], "memory_mode": [0, 0]}
    tables |= {"memory_first": [1, 0], "memory_after_whiff": [0]}
    good = {name: np.array(values) for name, values in tables.items()}
    spec = {"maker": "", "name": "by hand"}
    made = Memory.from_arrays(spec, good)
    assert Memory.from_arrays(made.spec, made.to_arrays()) == made
    for bad in (
        {"memory_row": np.array(3)},
        {"memory_row": np.array([0, 2**32 + 1])},
        {"memory_first": np.array([2**32, 0])},
        {"memory_after_whiff": np.array(0)},
    ):
        with pytest.raises(InputError, match="memory"):
            Memory.from_arrays(spec, good | bad)


def test_tables_of_other_shapes_are_another_memory():
    """The same numbers in a row: one node with five modes, two nodes with one."""
    one = Memory("flat", *(np.zeros(shape, int) for shape in ((1, 2), 1, 1, 2, 5)))
    two = Memory("flat", *(np.zeros(shape, int) for shape in ((2, 2), 2, 2, 2, 1)))
    assert one != two


def test_settings_from_numpy_are_plain():
    memory = clock(np.int64(40), tuple(np.array([3, 5])))
    assert memory == clock(40, (3, 5))
    assert hash(memory) == hash(clock(40, (3, 5)))
    assert json.loads(json.dumps(memory.spec)) == memory.spec


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: clock(50, (1.5,)), "The setting taus of the memory clock is .*1.5.*expected `int`"),
        (lambda: clock(50.0), "The setting length of the memory clock is 50.0"),
        (lambda: clock(50, 5), "The setting taus of the memory clock is 5"),
        (lambda: clock(50, {3}), "The setting taus of the memory clock"),
        (lambda: clock(50, split_zero="no"), "The setting split_zero of the memory clock is 'no'"),
        (lambda: window("3"), "The setting n of the memory window is '3'"),
        (lambda: window(True), "The setting n of the memory window is True"),
    ],
)
def test_settings_of_another_type_are_refused(make, says):
    with pytest.raises(InputError, match=says):
        make()
