"""Numbers as text, and NaN as null."""

import json

import numpy as np
import pytest

from whiffclock.formatting import nan_to_null, number, plainly, shared_form, short, span

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01234, "0.012"), (-0.5, "−0.500"), (-0.0001, "−0.0001"), (0.00043, "0.0004"), (-1e-17, "0"),
     (0.0, "0"), (12.345, "12.35"), (9248, "9,248"), (NAN, "–"), (INF, "∞"), (-INF, "−∞"), (None, "–")],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [(0.876, ".2f", "0.88"), (-0.001, ".2f", "0.00"), (-0.2, "+.1f", "−0.2"), (-0.01, "+.1f", "+0.0"),
     (-0.004, ".0%", "0%"), (NAN, ".2f", "unknown"), (INF, ".2f", "never")],
)  # fmt: skip
def test_numbers_in_a_sentence(value, form, text):
    assert number(value, form, nan="unknown", infinity="never") == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.47, 2, ".47"), (-0.034, 2, "-.03"), (-0.001, 2, ".00"), (1, 2, "1.00"), (0.996, 2, "1.00"), (10.5, 1, "10.5")],
)
def test_numbers_for_a_terminal_have_no_zero_before_the_point(value, digits, text):
    assert short(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3e-6, "3e-6"),
        (2.085e-6, "2.085e-6"),
        (1e30, "1e30"),
        (-1e-12, "-1e-12"),
        (0.5, "0.5"),
        (2.0, "2"),
        (1e5, "100000"),
    ],
)
def test_numbers_as_a_user_would_write_them(value, text):
    assert plainly(value) == text
    assert float(text) == value


def test_intervals():
    assert span(-0.5, 12) == "[−0.500, 12]"
    assert span(-0.05, 0.1, ".2f", terse=True) == "[-.05 .10]"
    assert span(NAN, NAN) == ""


def test_numbers_beside_each_other_share_their_digits():
    assert [shared_form(*values) for values in [(0.5, 0.001), (0.05, NAN), (0.001,), (NAN,), (0.0,)]] == [
        ".2f", ".3f", ".4f", ".2f", ".2f"]  # fmt: skip


def test_json_gets_null_for_what_is_not_a_number():
    value = {"a": np.array([1.5, NAN]), "b": (INF, np.float32(2)), 3: [np.int64(4), True, "NaN", None], "c": 1 / 3}
    plain = nan_to_null(value, digits=4)
    assert plain == {"a": [1.5, None], "b": [None, 2.0], "3": [4, True, "NaN", None], "c": 0.3333}
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert nan_to_null(1 / 3) == 1 / 3
