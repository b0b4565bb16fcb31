"""Files of policies: both layouts are read, what is written is read back bit for bit, broken ones are refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from small_pomdps import EXAMPLES, TIGER, needs_examples, rover, saved

from whiffclock.params import InputError
from whiffclock.pomdp.files import read_model
from whiffclock.pomdp.files.policyfile import read_policy, write_policy
from whiffclock.pomdp.tabular import PartialVector, TabularModel


def table_of(path: Path, model: TabularModel) -> tuple[np.ndarray, list[int]]:
    """The policy at ``path`` as vectors over all states, -inf where they say nothing, and their actions."""
    pieces = read_policy(path, model)
    vectors = np.full((len(pieces), len(model.states)), -np.inf)
    for vector, piece in zip(vectors, pieces, strict=True):
        vector[piece.states] = piece.values
    return vectors, [piece.action for piece in pieces]


def pieces_of(vectors: np.ndarray, actions: list[int]) -> list[PartialVector]:
    known = [np.flatnonzero(vector > -np.inf) for vector in vectors]
    return [PartialVector(states, v[states], action) for states, v, action in zip(known, vectors, actions, strict=True)]


@needs_examples
def test_policy_of_the_reference_solver() -> None:
    vectors, actions = table_of(EXAMPLES / "Tiger.policy", read_model(EXAMPLES / "Tiger.pomdp"))
    np.testing.assert_array_equal(actions, [0, 2, 1, 0, 0])
    np.testing.assert_array_equal(vectors[1], [28.4025, -81.5975])
    assert (vectors @ [0.5, 0.5]).max() == pytest.approx(19.3711)


PLANES = """\
# Planes
{
  policyType => "MaxPlanesLowerBoundWithObservedState",
  numPlanes => 2,
  planes => [
    { action => 1, observed state val => 2, numEntries => 1, entries => [ 1, -2.5e-1 ] },
    { action => 0, observed state val => 0, numEntries => 2, entries => [ 0, 24.7,  # more
      1, 3 ] }
  ]
}
"""

ALPHA = """\
<?xml version="1.0" encoding="ISO-8859-1"?>
<Policy version="0.1" type="value" model="rover.pomdpx">
<AlphaVector vectorLength="2" numObsValue="3" numVectors="2">
<Vector action="1" obsValue="2">1.5 -2 </Vector>
<SparseVector action="0" obsValue="0"><Entry>1 0.5</Entry></SparseVector>
</AlphaVector> </Policy>
"""


@pytest.fixture
def rover_model(tmp_path: Path) -> TabularModel:
    return read_model(saved(tmp_path, rover(), "rover.pomdpx"))


@pytest.fixture
def tiger_model(tmp_path: Path) -> TabularModel:
    return read_model(saved(tmp_path, TIGER))


def test_planes(tmp_path: Path, rover_model: TabularModel) -> None:
    vectors, actions = table_of(saved(tmp_path, PLANES, "p.policy"), rover_model)
    inf = np.inf
    np.testing.assert_array_equal(vectors, [[-inf] * 5 + [-0.25], [24.7, 3, -inf, -inf, -inf, -inf]])
    np.testing.assert_array_equal(actions, [1, 0])


def test_alpha_vectors(tmp_path: Path, rover_model: TabularModel) -> None:
    vectors, actions = table_of(saved(tmp_path, ALPHA, "p.policy"), rover_model)
    inf = np.inf
    np.testing.assert_array_equal(vectors, [[-inf] * 4 + [1.5, -2], [0, 0.5, -inf, -inf, -inf, -inf]])
    np.testing.assert_array_equal(actions, [1, 0])


def test_a_space_before_the_end_of_a_vector_is_not_needed(tmp_path: Path, rover_model: TabularModel) -> None:
    assert "-2 </Vector>" in ALPHA
    closed = saved(tmp_path, ALPHA.replace("-2 </Vector>", "-2</Vector>"), "closed.policy")
    spaced = saved(tmp_path, ALPHA, "spaced.policy")
    np.testing.assert_array_equal(table_of(closed, rover_model)[0], table_of(spaced, rover_model)[0])


def test_policy_survives_writing_bit_for_bit(tmp_path: Path, tiger_model: TabularModel) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 2)) * 10.0 ** np.arange(-25, 25)[:, None]
    actions = [i % 3 for i in range(50)]
    path = tmp_path / "new" / "tiger.policy"
    write_policy(path, tiger_model, pieces_of(vectors, actions), name='"Tiger" & <co>.pomdp')
    read, read_actions = table_of(path, tiger_model)
    np.testing.assert_array_equal(read, vectors)
    assert read_actions == actions
    assert not re.search(r"\de[+-]?\d", path.read_text())
    assert path.read_text().count(" </Vector>") == 50  # without the space, APPL's reader drops vectors
    assert [file.name for file in path.parent.iterdir()] == ["tiger.policy"]


def test_visible_policy_is_written_value_by_value(tmp_path: Path, rover_model: TabularModel) -> None:
    inf = np.inf
    vectors = np.array([[1.0, 2, 3, 4, -inf, 5], [-inf, -inf, -inf, -inf, 6, 7]])
    path = tmp_path / "rover.policy"
    write_policy(path, rover_model, pieces_of(vectors, [0, 1]))
    read, actions = table_of(path, rover_model)
    expected = [[1, 2, -inf, -inf, -inf, -inf], [-inf, -inf, 3, 4, -inf, -inf], [-inf, -inf, -inf, -inf, 6, 7]]
    np.testing.assert_array_equal(read, expected)
    np.testing.assert_array_equal(actions, [0, 0, 1])
    write_policy(path, rover_model, pieces_of(read, actions))
    again, _ = table_of(path, rover_model)
    np.testing.assert_array_equal(again, read)


def test_floor_stands_in_where_nothing_is_visible(tmp_path: Path, tiger_model: TabularModel) -> None:
    path, pieces = tmp_path / "t.policy", [PartialVector(np.array([0]), np.array([1.0]), 2)]
    with pytest.raises(InputError, match="floor"):
        write_policy(path, tiger_model, pieces)
    assert not path.exists()
    write_policy(path, tiger_model, pieces, floor=-2000)
    np.testing.assert_array_equal(table_of(path, tiger_model)[0], [[1, -2000]])


@pytest.mark.parametrize(
    ("pieces", "reason"),
    [
        ([([0, 1, 2], [1.0, 2.0, 3.0], 0)], "states among its 2, each once"),
        ([([0, 0], [1.0, 2.0], 0)], "states among its 2, each once"),
        ([([0, 1], [1.0], 0)], "a value for each"),
        ([([0, 1], [1.0, 2.0], 3)], "between 0 and 2"),
        ([([0, 1], [1.0, np.nan], 0)], "not finite"),
        ([([0, 1], [1.0, np.inf], 0)], "not finite"),
        ([], "would be empty"),
    ],
)
def test_policies_not_written(tmp_path: Path, tiger_model: TabularModel, pieces: list, reason: str) -> None:
    made = [PartialVector(np.array(states), np.array(values), action) for states, values, action in pieces]
    with pytest.raises(InputError, match=reason):
        write_policy(tmp_path / "t.policy", tiger_model, made)
    assert not (tmp_path / "t.policy").exists()


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "reason"),
    [
        (ALPHA, 'vectorLength="2"', 'vectorLength="3"', 3, "vectorLength is 3"),
        (ALPHA, 'numObsValue="3"', 'numObsValue="1"', 3, "numObsValue is 1"),
        (ALPHA, 'numVectors="2"', 'numVectors="9"', 3, "numVectors is 9"),
        (ALPHA, 'action="1"', 'action="2"', 4, "the action is '2'"),
        (ALPHA, 'obsValue="2"', 'obsValue="-1"', 4, "'-1'"),
        (ALPHA, "1.5 -2", "1.5", 4, "has 1 numbers; it must have 2"),
        (ALPHA, "1.5 -2", "1.5 nan", 4, "'nan'"),
        (ALPHA, "1 0.5", "2 0.5", 5, "the state is '2'"),
        (ALPHA, "</AlphaVector>", "", 6, "mismatched tag"),
        (PLANES, "numPlanes => 2", "numPlanes => 3", 4, "there are 2 planes, not 3"),
        (PLANES, "action => 1", "action => 7", 6, "the action is '7'"),
        (PLANES, "numEntries => 1", "numEntries => 2", 6, "there are 1 entries, not 2"),
        (PLANES, "[ 1, -2.5e-1 ]", "[ 1, -2.5e-1", 6, "stands where a comma or"),
        (PLANES, "0, 24.7", "0, many", 7, "'many'"),
        (PLANES, "1, 3 ]", "0, 3 ]", 7, "lists a state twice"),
        (PLANES, "  ]\n}\n", "", 8, "the file ends before the policy does"),
        (PLANES, "  ]\n}\n", "  ]\n}\n}\n", 11, "ends before this"),
        (PLANES, "MaxPlanes", "MinPlanes", 2, "the policy type"),
    ],
)
def test_broken_policies(
    tmp_path: Path, rover_model: TabularModel, text: str, old: str, new: str, line: int, reason: str
) -> None:
    assert old in text
    path = saved(tmp_path, text.replace(old, new, 1), "broken.policy")
    with pytest.raises(InputError) as error:
        read_policy(path, rover_model)
    assert reason in str(error.value)
    assert f"{path}, line {line}: " in str(error.value)
