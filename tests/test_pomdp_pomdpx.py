"""PomdpX: tables, diagrams and visible variables, broken files, and the same problems as in Cassandra's format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small_pomdps import EXAMPLES, TIGER, dense, given, needs_examples, refused, rover, same, saved

from whiffclock.pomdp.files import read_model

TIGER_X = """\
<?xml version='1.0' encoding='ISO-8859-1'?>
<pomdpx version='0.1' id='tiger'>
<Description>Tiger</Description>
<Discount>0.95</Discount>
<Variable>
<StateVar vnamePrev="s_0" vnameCurr="s_1"><ValueEnum>left right</ValueEnum></StateVar>
<ObsVar vname="o"><NumValues>2</NumValues></ObsVar>
<ActionVar vname="a"><ValueEnum>listen open-left open-right</ValueEnum></ActionVar>
<RewardVar vname="r"/>
</Variable>
<InitialStateBelief><CondProb><Var>s_0</Var><Parent>null</Parent><Parameter type="TBL">
<Entry><Instance>-</Instance><ProbTable>uniform</ProbTable></Entry>
</Parameter></CondProb></InitialStateBelief>
<StateTransitionFunction><CondProb><Var>s_1</Var><Parent>a s_0</Parent><Parameter type="TBL">
<Entry><Instance>* * *</Instance><ProbTable>0.5</ProbTable></Entry>
<Entry><Instance>listen - -</Instance><ProbTable>identity</ProbTable></Entry>
</Parameter></CondProb></StateTransitionFunction>
<ObsFunction><CondProb><Var>o</Var><Parent>a s_1</Parent><Parameter>
<Entry><Instance>* * -</Instance><ProbTable>uniform</ProbTable></Entry>
<Entry><Instance>listen - -</Instance><ProbTable>0.85 0.15 0.15 0.85</ProbTable></Entry>
</Parameter></CondProb></ObsFunction>
<RewardFunction><Func><Var>r</Var><Parent>a s_0</Parent><Parameter type="TBL">
<Entry><Instance>listen *</Instance><ValueTable>-1</ValueTable></Entry>
<Entry><Instance>open-left -</Instance><ValueTable>-100 10</ValueTable></Entry>
<Entry><Instance>open-right left</Instance><ValueTable>10</ValueTable></Entry>
<Entry><Instance>open-right 1</Instance><ValueTable>-100</ValueTable></Entry>
</Parameter></Func></RewardFunction>
</pomdpx>
"""


def test_tiger_in_both_formats(tmp_path: Path) -> None:
    tiger = read_model(saved(tmp_path, TIGER_X, "tiger.pomdpx"))
    same(tiger, read_model(saved(tmp_path, TIGER)))
    assert tiger.observations == ("o0", "o1")
    assert tiger.visible is None


def test_factored_model_with_a_visible_variable(tmp_path: Path) -> None:
    model = read_model(saved(tmp_path, rover(), "rover.pomdpx"))
    assert model.states == ("near,good", "near,bad", "mid,good", "mid,bad", "far,good", "far,bad")
    assert model.actions == ("go", "take")
    # Nothing shines but what is near.
    assert model.observations == ("shine,near", "dull,near", "dull,mid", "dull,far")
    np.testing.assert_array_equal(model.visible, [0, 0, 1, 1, 2, 2])
    np.testing.assert_allclose(model.initial, [0.375, 0.125, 0.375, 0.125, 0, 0])
    step = [[0.2, 0.8, 0], [0, 0.2, 0.8], [0, 0, 1]]
    np.testing.assert_allclose(model.transition[0].toarray(), np.kron(step, np.eye(2)))
    take = np.eye(6)
    take[0] = [0, 1, 0, 0, 0, 0]
    np.testing.assert_allclose(model.transition[1].toarray(), take)
    seen = [[0.9, 0.1, 0, 0], [0.2, 0.8, 0, 0], *[[0, 0, 1, 0]] * 2, *[[0, 0, 0, 1]] * 2]
    np.testing.assert_allclose(model.observation[0].toarray(), seen)
    # Rewards of all three functions add up: rock, toll, and half a point for what shines.
    go = [-0.8 + 0.5 * 0.2 * 0.9, -0.8 + 0.5 * 0.2 * 0.2, -1.6, -1.6, 0, 0]
    np.testing.assert_allclose(model.reward, [go, [10, -10, 0, 0, 0, 0]], atol=1e-15)


def test_decision_diagram_says_the_same(tmp_path: Path) -> None:
    diagram = """<CondProb><Var>k_1</Var><Parent>a x_0 k_0</Parent><Parameter type="DD"><DAG><Node var="a">
    <Edge val="go"><SubDAG type="template" idref="keep"/></Edge>
    <Edge val="take"><Node var="x_0">
      <Edge val="near"><SubDAG type="deterministic" var="k_1" val="bad"/></Edge>
      <Edge val="mid"><SubDAG type="persistent" var="k_1"/></Edge>
      <Edge val="far"><Node var="k_0">
        <Edge val="good"><Node var="k_1"><Edge val="good"><Terminal>1.0</Terminal></Edge></Node></Edge>
        <Edge val="bad"><SubDAG type="persistent" var="k_1"/></Edge></Node></Edge>
    </Node></Edge></Node></DAG>
    <SubDAGTemplate id="keep"><SubDAG type="persistent" var="k_1"/></SubDAGTemplate></Parameter></CondProb>"""
    table = read_model(saved(tmp_path, rover(), "table.pomdpx"))
    same(read_model(saved(tmp_path, rover(diagram), "diagram.pomdpx")), table)
    for old, new, reason in [
        ('idref="keep"', 'idref="kept"', "no <SubDAGTemplate> called 'kept'"),
        (
            '<SubDAGTemplate id="keep"><SubDAG type="persistent" var="k_1"/>',
            '<SubDAGTemplate id="keep"><SubDAG type="template" idref="keep"/>',
            "contains itself",
        ),
        ('var="x_0"', 'var="x_1"', "'x_1' is not allowed here"),
        ('val="mid"', 'val="middle"', "'middle' is not a known value of x_0"),
        ("1.0</Terminal>", "2.0</Terminal>", "a probability is 2"),
        ('<Node var="k_0">', '<Node var="a">', "occurs twice"),
    ]:
        refused(saved(tmp_path, rover(diagram.replace(old, new)), "broken.pomdpx"), None, reason)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("<Discount>0.95</Discount>", "<Discount>1</Discount>", 4, "must lie between 0 and 1"),
        ("<Discount>0.95</Discount>", "", 2, "has no <Discount>"),
        ("</Discount>", "</Discount>\n<Colour/>", 5, "<Colour> is not allowed"),
        ("left right</ValueEnum>", "left left</ValueEnum>", 6, "names a value twice"),
        ('vnamePrev="s_0" ', "", 6, "'vnamePrev'"),
        ("<NumValues>2<", "<NumValues>two<", 7, "'two'"),
        ('vname="o"', 'vname="a"', 5, "two variables called 'a'"),
        ("<Parent>null</Parent>", "<Parent>a</Parent>", 11, "'a' cannot be a parent here"),
        ("<Parent>a s_1</Parent>", "<Parent>a s_0</Parent>", 18, "'s_0' cannot be a parent here"),
        ("<Var>s_1</Var>", "<Var>s_2</Var>", 14, "'s_2' is not allowed here"),
        ("* * *</Instance>", "* *</Instance>", 15, "has 2 words; it must have 3, for a s_0 s_1"),
        (
            "<ProbTable>0.5</ProbTable>",
            "<ProbTable>0.4</ProbTable>",
            15,
            "s_1 given a = open-left, s_0 = left sum to 0.8",
        ),
        ("<ProbTable>0.5</ProbTable>", "<ProbTable>nan</ProbTable>", 15, "'nan'"),
        ("<ProbTable>0.5</ProbTable>", "<ProbTable>-0.5</ProbTable>", 15, "a probability is -0.5"),
        (
            "<Instance>listen - -</Instance><ProbTable>identity",
            "<Instance>hear - -</Instance><ProbTable>identity",
            16,
            "'hear' is not a known value of a",
        ),
        ("0.85 0.15 0.15 0.85", "0.85 0.15 0.15", 20, "has 3 numbers; its instance needs 4"),
        (
            "<Instance>* * *</Instance>",
            "<Instance>open-left * *</Instance>",
            None,
            "no probabilities are given for s_1 given a = open-right",
        ),
        ("listen *</Instance><ValueTable>-1", "listen *</Instance><ValueTable>much", 23, "'much'"),
        ('type="TBL"', 'type="CONT"', 11, "'CONT'"),
        ("</Func>", "", 27, "mismatched tag"),
        ("ISO-8859-1", "ISO-1", 1, "unknown encoding"),
        ("<NumValues>2<", "<NumValues>99999999999<", 7, "not a possible number of values"),
        ("</pomdpx>", "", 29, "no element found"),
        ("</pomdpx>", "</pomdpx>\n<pomdpx/>", 29, "junk after document element"),
        (
            "<pomdpx version='0.1' id='tiger'>",
            "<!DOCTYPE pomdpx [<!ENTITY a 'b'>]>\n<pomdpx version='0.1'>",
            2,
            "an entity",
        ),
    ],
)
def test_broken_pomdpx(tmp_path: Path, old: str, new: str, line: int, reason: str) -> None:
    assert old in TIGER_X
    refused(saved(tmp_path, TIGER_X.replace(old, new, 1), "broken.pomdpx"), line, reason)


def test_variables_that_wait_for_each_other(tmp_path: Path) -> None:
    circle = rover(given("k_1", "x_1", ("* -", "uniform"))).replace("<Parent>a x_0</Parent>", "<Parent>a k_1</Parent>")
    circle = (
        circle.replace("go near -", "go good -")
        .replace("go mid -", "go bad -")
        .replace("* - -</Instance><ProbTable>identity", "* * -</Instance><ProbTable>1 0 0")
    )
    refused(saved(tmp_path, circle, "circle.pomdpx"), None, "depends on itself")


# The example problems


@needs_examples
@pytest.mark.parametrize(
    ("name", "sizes", "nonzeros"),
    [
        ("Tiger", (2, 3, 2), 10),
        ("Hallway", (60, 5, 21), 2039),
        ("Hallway2", (92, 5, 17), 3227),
    ],
)
def test_examples_agree_in_both_formats(name: str, sizes: tuple[int, int, int], nonzeros: int) -> None:
    model = read_model(EXAMPLES / f"{name}.pomdp")
    same(model, read_model(EXAMPLES / f"{name}.pomdpx"))
    assert (len(model.states), len(model.actions), len(model.observations)) == sizes
    assert sum(matrix.nnz for matrix in model.transition) == nonzeros


@needs_examples
def test_tag_agrees_but_for_four_moves_of_the_target() -> None:
    flat, factored = read_model(EXAMPLES / "TagAvoid.pomdp"), read_model(EXAMPLES / "TagAvoid.pomdpx")
    np.testing.assert_allclose(flat.reward, factored.reward)
    np.testing.assert_allclose(flat.initial, factored.initial)
    np.testing.assert_array_equal(factored.visible, np.arange(870) // 30)
    unlike = {
        factored.states[s]
        for one, other in zip(flat.transition, factored.transition, strict=True)
        for s in np.flatnonzero(abs(one - other).sum(axis=1) > 1e-6)
    }
    assert unlike == {"Srv3rh9,Ttv3th9", "Srv1rh7,Ttv1th5", "Srv0rh6,Ttv1th6", "Srv0rh6,Ttv0th6"}
    # Without the robot's position, which only the factored model lets the agent see, the sensors agree.
    assert len(factored.observations) == 58
    sensor = [name.split(",")[0] for name in factored.observations]
    number = {name: i for i, name in enumerate(dict.fromkeys(sensor))}
    number["yes"] = 29
    merged = np.eye(30)[[number[name] for name in sensor]]
    np.testing.assert_allclose(dense(factored.observation) @ merged, dense(flat.observation), atol=1e-12)


@needs_examples
def test_rocksample() -> None:
    model = read_model(EXAMPLES / "RockSample_7_8.pomdpx")
    assert model.reward.shape == (13, 50 * 2**8)
    assert sum(matrix.nnz for matrix in model.transition) == 13 * 50 * 2**8
    assert len(model.observations) == 99  # two for each of 49 cells, one for having left
    start = np.flatnonzero(model.initial)
    assert {model.states[s].split(",")[0] for s in start} == {"s03"}
    np.testing.assert_allclose(model.initial[start], 2.0**-8)
