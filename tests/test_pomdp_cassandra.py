"""Cassandra's format: every form of its grammar, and files broken on purpose, refused with the line at fault."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from small_pomdps import TIGER, dense, refused, same, saved

from whiffclock.pomdp.files import read_model

THREE = "discount: 0.9\nvalues: reward\nstates: 3\nactions: go stay\nobservations: lo hi\n"
THREE_ENTRIES = "T: * identity\nO: * uniform\n"


def test_tiger(tmp_path: Path) -> None:
    tiger = read_model(saved(tmp_path, TIGER))
    np.testing.assert_array_equal(dense(tiger.transition), [np.eye(2), np.full((2, 2), 0.5), np.full((2, 2), 0.5)])
    np.testing.assert_array_equal(tiger.observation[0].toarray(), [[0.85, 0.15], [0.15, 0.85]])
    np.testing.assert_array_equal(tiger.reward, [[-1, -1], [-100, 10], [10, -100]])
    np.testing.assert_array_equal(tiger.initial, [0.5, 0.5])
    assert tiger.discount == 0.95
    assert tiger.states == ("left", "right")
    assert tiger.actions == ("listen", "open-left", "open-right")
    assert tiger.observations == ("hear-left", "hear-right")
    assert tiger.visible is None


def test_cost_counts_against(tmp_path: Path) -> None:
    reward = read_model(saved(tmp_path, TIGER)).reward
    cost = read_model(saved(tmp_path, TIGER.replace("values: reward", "values: cost"))).reward
    np.testing.assert_array_equal(cost, -reward)


def test_layout_and_order_of_the_preamble_mean_nothing(tmp_path: Path) -> None:
    lines = TIGER.splitlines()
    shuffled = "# Tiger\n" + "\n".join(lines[4::-1] + lines[5:])
    spread = re.sub(r"[ \n]+", "  # a comment\n\t", shuffled.replace("# Tiger", "").replace(":", " : "))
    spread = re.sub(r"discount\s+#[^\n]*\s+:", "discount :", spread)
    same(read_model(saved(tmp_path, TIGER)), read_model(saved(tmp_path, spread)))


@pytest.mark.parametrize(
    ("start", "belief"),
    [
        ("", [1 / 3, 1 / 3, 1 / 3]),
        ("start: uniform", [1 / 3, 1 / 3, 1 / 3]),
        ("start: 0.2 0.3\n0.5", [0.2, 0.3, 0.5]),
        ("start: 0.333333 0.333333 0.333333", [1 / 3, 1 / 3, 1 / 3]),
        ("start: b", [0, 1, 0]),
        ("start: 2", [0, 0, 1]),
        ("start include: a 2", [0.5, 0, 0.5]),
        ("start exclude: a", [0, 0.5, 0.5]),
    ],
)
def test_starts(tmp_path: Path, start: str, belief: list[float]) -> None:
    text = THREE.replace("states: 3", "states: a b c") + start + "\n" + THREE_ENTRIES
    np.testing.assert_allclose(read_model(saved(tmp_path, text)).initial, belief, atol=1e-15)


@pytest.mark.parametrize(
    ("entries", "rows"),
    [
        ("T: go 0 1 0  0 0 1  1 0 0", [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        ("T: go uniform", np.full((3, 3), 1 / 3)),
        ("T: 0 identity", np.eye(3)),
        ("T: go : 1\n0.25 0.25 0.5", [[1, 0, 0], [0.25, 0.25, 0.5], [0, 0, 1]]),
        ("T: go : * uniform", np.full((3, 3), 1 / 3)),
        ("T: go : 2 uniform", [[1, 0, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]),
        ("T: go : 0 reset", [[0, 0, 1], [0, 1, 0], [0, 0, 1]]),
        ("T: * : * : * 0.0\nT: go : * : 1 1.0\nT: stay identity", [[0, 1, 0], [0, 1, 0], [0, 1, 0]]),
        ("T: go : 0 : 0 0.5\nT: go : 0 : 2 0.5", [[0.5, 0, 0.5], [0, 1, 0], [0, 0, 1]]),
        (
            "T: go : 0 : 1 0.3\nT: go : 0 uniform\nT: go identity\nT: go : 0 : 0 0\nT: go : 0 : 2 1",
            [[0, 0, 1], [0, 1, 0], [0, 0, 1]],
        ),
    ],
)
def test_transitions_in_every_form_and_later_ones_override(tmp_path: Path, entries: str, rows: np.ndarray) -> None:
    model = read_model(saved(tmp_path, f"{THREE}start: 2\n{THREE_ENTRIES}{entries}\n"))
    np.testing.assert_allclose(model.transition[0].toarray(), rows, atol=1e-15)
    np.testing.assert_array_equal(model.transition[1].toarray(), np.eye(3))


@pytest.mark.parametrize(
    ("entries", "rows"),
    [
        ("O: go 1 0 0 1 0.5 0.5", [[1, 0], [0, 1], [0.5, 0.5]]),
        ("O: go : 1 0.1 0.9", [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]]),
        ("O: * : 0 : lo 1\nO: * : 0 : 1 0", [[1, 0], [0.5, 0.5], [0.5, 0.5]]),
    ],
)
def test_observations_in_every_form(tmp_path: Path, entries: str, rows: np.ndarray) -> None:
    model = read_model(saved(tmp_path, THREE + THREE_ENTRIES + entries))
    np.testing.assert_array_equal(model.observation[0].toarray(), rows)


@pytest.mark.parametrize(
    "entries",
    [
        ["* * * * 2"],
        ["0 1 * * 2", "0 1 * 1 5"],
        ["0 * 2 * 3", "* 0 * 0 -1"],
        ["0 0 1 : 4 8"],
        ["0 1 : 1 2 3 4 5 6", "0 1 2 1 60"],
        ["1 * : 1 2 3 4 5 6", "1 1 * * 7"],
        ["0 2 1 0 9", "* * * * 1", "* * * 1 2"],
    ],
)
def test_rewards_are_averaged_as_a_plain_sum_would(tmp_path: Path, entries: list[str]) -> None:
    text = THREE + "T: go 0.1 0.2 0.7  0.5 0.5 0  0 0.6 0.4\nT: stay identity\nO: * 0.9 0.1 0.4 0.6 0 1\n"
    paid = np.zeros((2, 3, 3, 2))
    for entry in entries:
        names, _, numbers = entry.partition(" : ") if ":" in entry else entry.rpartition(" ")
        text += f"R: {' : '.join(names.split())} {numbers}\n"
        where = tuple(slice(None) if name == "*" else int(name) for name in names.split())
        paid[where] = np.reshape([float(number) for number in numbers.split()], paid.shape[len(where) :])
    model = read_model(saved(tmp_path, text))
    expected = np.einsum("asn,ano,asno->as", dense(model.transition), dense(model.observation), paid)
    np.testing.assert_allclose(model.reward, expected, atol=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("discount: 0.95", "discount: 1.5", 1, "must lie between 0 and 1"),
        ("discount: 0.95", "discount: 1", 1, "for a task without discounting choose one close to 1, such as 0.999."),
        ("discount: 0.95", "discount: nan", 1, "'nan' is not a finite number"),
        ("discount: 0.95", "discount 0.95", 1, "a colon"),
        ("discount: 0.95\n", "", 5, "before 'discount:' is given"),
        ("values: reward", "values: money", 2, "'money'"),
        ("states: left right", "states:", 3, "no states"),
        ("states: left right", "states: left left", 3, "listed twice"),
        ("states: left right", "states: 0", 3, "it must be 1 to"),
        ("states: left right", "states: 99999999999", 3, "it must be 1 to"),
        ("states: left right", "states: left right\nstates: 2", 4, "was given in line 3"),
        ("T: listen identity", "T: listen identify", 6, "'identify'"),
        ("T: listen identity", "T: hearken identity", 6, "'hearken' is not a known action"),
        ("T: listen identity", "T: 3 identity", 6, "'3' is not a known action"),
        ("T: listen identity", "T: listen 1 0 0", 6, "has 3 numbers; it must have 4"),
        ("T: listen identity", "T: listen 1 0 0 1 1", 6, "has 5 numbers; it must have 4"),
        ("T: listen identity", "T: listen 1 0 0 1.2", 6, "a probability is 1.2"),
        ("T: listen identity", "T: listen 1 0 nan 1", 6, "'nan'"),
        ("T: listen identity", "T: listen : left : middle 1", 6, "'middle' is not a known state"),
        ("T: listen identity\n", "", None, "no probabilities are given for moving from state left under action listen"),
        ("0.85 0.15\n", "0.85 0.25\n", 9, "observing in state left under action listen sum to 1.1"),
        ("0.15 0.85\n", "0.15\n", 9, "has 3 numbers; it must have 4"),
        ("O: open-left uniform", "O: open-left identity", 12, "'identity'"),
        ("R: listen : * : * : * -1", "R: listen : * : * : * inf", 14, "'inf'"),
        ("R: listen : * : * : * -1", "R: listen -1", 14, "an action and a state"),
        ("R: listen : * : * : * -1", "R: listen : * : * : hear -1", 14, "'hear' is not a known observation"),
        ("right : * : * -100\n", "right : * : * -100\nthe end", 19, "'the'"),
        ("right : * : * -100\n", "right : * :", 18, "the file ends"),
        ("right : * : * -100\n", "right : * : *", 18, "has 0 numbers; it must have 1"),
        (
            "observations: hear-left hear-right\n",
            "observations: hear-left hear-right\nstart: 0.5 0.6\n",
            6,
            "sums to 1.1",
        ),
        ("observations: hear-left hear-right\n", "observations: hear-left hear-right\nstart: middle\n", 6, "'middle'"),
        (
            "observations: hear-left hear-right\n",
            "observations: hear-left hear-right\nstart exclude: 0 1\n",
            6,
            "every",
        ),
    ],
)
def test_broken_pomdp(tmp_path: Path, old: str, new: str, line: int | None, reason: str) -> None:
    assert old in TIGER
    refused(
        saved(tmp_path, TIGER.replace(old, new, 1) if "right : *" not in old else tail(TIGER, old, new)), line, reason
    )


def tail(text: str, old: str, new: str) -> str:
    head, _, rest = text.rpartition(old)
    return head + new + rest


@pytest.mark.parametrize("suffix", [".pomdp", ".pomdpx"])
@pytest.mark.parametrize("content", [b"", b" \n", b"\x00\x01\x02\xff" * 9, b"\x89PNG\r\n\x1a\n", b"hello\n", b"<a/>"])
def test_what_is_no_model_at_all(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    refused(path, None, "")


def test_paths_that_hold_no_model(tmp_path: Path) -> None:
    refused(tmp_path / "absent.pomdp", None, "There is no file")
    refused(tmp_path, None, "is a folder")
    refused(saved(tmp_path, TIGER, "tiger.txt"), None, "must end in .pomdp or .pomdpx")


@pytest.mark.parametrize("keep", range(0, TIGER.index("O: open-right"), 13))
def test_truncated_pomdp(tmp_path: Path, keep: int) -> None:
    refused(saved(tmp_path, TIGER[:keep]), None, "")
