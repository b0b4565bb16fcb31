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
from whiffclock.pomdp.tabular import TabularModel


@needs_examples
def test_policy_of_the_reference_solver() -> None:
    vectors, actions = read_policy(EXAMPLES / "Tiger.policy", read_model(EXAMPLES / "Tiger.pomdp"))
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
    vectors, actions = read_policy(saved(tmp_path, PLANES, "p.policy"), rover_model)
    inf = np.inf
    np.testing.assert_array_equal(vectors, [[-inf] * 5 + [-0.25], [24.7, 3, -inf, -inf, -inf, -inf]])
    np.testing.assert_array_equal(actions, [1, 0])


def test_alpha_vectors(tmp_path: Path, rover_model: TabularModel) -> None:
    vectors, actions = read_policy(saved(tmp_path, ALPHA, "p.policy"), rover_model)
    inf = np.inf
    np.testing.assert_array_equal(vectors, [[-inf] * 4 + [1.5, -2], [0, 0.5, -inf, -inf, -inf, -inf]])
    np.testing.assert_array_equal(actions, [1, 0])


def test_policy_survives_writing_bit_for_bit(tmp_path: Path, tiger_model: TabularModel) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 2)) * 10.0 ** np.arange(-25, 25)[:, None]
    actions = np.arange(50) % 3
    path = tmp_path / "new" / "tiger.policy"
    write_policy(path, tiger_model, vectors, actions, name='"Tiger" & <co>.pomdp')
    read, read_actions = read_policy(path, tiger_model)
    np.testing.assert_array_equal(read, vectors)
    np.testing.assert_array_equal(read_actions, actions)
    assert read_actions.dtype == np.int64
    assert not re.search(r"\de[+-]?\d", path.read_text())
    assert [file.name for file in path.parent.iterdir()] == ["tiger.policy"]


def test_visible_policy_is_written_value_by_value(tmp_path: Path, rover_model: TabularModel) -> None:
    inf = np.inf
    vectors = np.array([[1.0, 2, 3, 4, -inf, 5], [-inf, -inf, -inf, -inf, 6, 7]])
    path = tmp_path / "rover.policy"
    write_policy(path, rover_model, vectors, np.array([0, 1]))
    read, actions = read_policy(path, rover_model)
    expected = [[1, 2, -inf, -inf, -inf, -inf], [-inf, -inf, 3, 4, -inf, -inf], [-inf, -inf, -inf, -inf, 6, 7]]
    np.testing.assert_array_equal(read, expected)
    np.testing.assert_array_equal(actions, [0, 0, 1])
    write_policy(path, rover_model, read, actions)
    again, _ = read_policy(path, rover_model)
    np.testing.assert_array_equal(again, read)


def test_floor_stands_in_where_nothing_is_visible(tmp_path: Path, tiger_model: TabularModel) -> None:
    path, vectors, actions = tmp_path / "t.policy", np.array([[1.0, -np.inf]]), np.array([2])
    with pytest.raises(InputError, match="floor"):
        write_policy(path, tiger_model, vectors, actions)
    assert not path.exists()
    write_policy(path, tiger_model, vectors, actions, floor=-2000)
    np.testing.assert_array_equal(read_policy(path, tiger_model)[0], [[1, -2000]])


@pytest.mark.parametrize(
    ("vectors", "actions", "reason"),
    [
        ([[1.0, 2.0, 3.0]], [0], "vectors of 2 values"),
        ([[1.0, 2.0]], [0, 1], "an action for each"),
        ([[1.0, 2.0]], [3], "between 0 and 2"),
        ([[1.0, np.nan]], [0], "NaN"),
        (np.empty((0, 2)), [], "would be empty"),
    ],
)
def test_policies_not_written(
    tmp_path: Path, tiger_model: TabularModel, vectors: list, actions: list, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        write_policy(tmp_path / "t.policy", tiger_model, np.array(vectors), np.array(actions, dtype=int))
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
