"""Golden episodes of the memory, worked by hand from the equations of the paper's Methods."""

import numpy as np
import pytest

from whiffclock.memory import clock


def states(observations, **settings):
    """Rows of the Q-matrix along a string of whiffs (w) and blanks (.)."""
    memory = clock(length=settings.pop("horizon"), **settings)
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
