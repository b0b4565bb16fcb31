"""Files of POMDPs and policies: every form of the grammars, agreement between formats, files broken on purpose."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from whiffclock.params import InputError
from whiffclock.pomdp.fileformat.files import read_model
from whiffclock.pomdp.fileformat.policyfile import read_policy, write_policy
from whiffclock.pomdp.tabular import TabularModel

EXAMPLES = Path(__file__).parents[2] / "shared" / "data" / "pomdp"

needs_examples = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the example problems are not beside the project")

# Kaelbling, Littman and Cassandra 1998, section 5.1
TIGER = """\
discount: 0.95
values: reward
states: left right
actions: listen open-left open-right
observations: hear-left hear-right
T: listen identity
T: open-left uniform
T: open-right uniform
O: listen
0.85 0.15
0.15 0.85
O: open-left uniform
O: open-right uniform
R: listen : * : * : * -1
R: open-left : left : * : * -100
R: open-left : right : * : * 10
R: open-right : left : * : * 10
R: open-right : right : * : * -100
"""

THREE = "discount: 0.9\nvalues: reward\nstates: 3\nactions: go stay\nobservations: lo hi\n"
THREE_ENTRIES = "T: * identity\nO: * uniform\n"


def saved(folder: Path, text: str, name: str = "problem.pomdp") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def dense(matrices: tuple) -> np.ndarray:
    return np.array([matrix.toarray() for matrix in matrices])


def same(one: TabularModel, other: TabularModel) -> None:
    np.testing.assert_allclose(dense(one.transition), dense(other.transition), atol=1e-12)
    np.testing.assert_allclose(dense(one.observation), dense(other.observation), atol=1e-12)
    np.testing.assert_allclose(one.reward, other.reward, atol=1e-12)
    np.testing.assert_allclose(one.initial, other.initial, atol=1e-12)
    assert one.discount == other.discount


# Cassandra's format


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
        ("discount: 0.95", "discount: nan", 1, "'nan' is not a finite number"),
        ("discount: 0.95", "discount 0.95", 1, "a colon"),
        ("discount: 0.95\n", "", 5, "before 'discount:' is given"),
        ("values: reward", "values: money", 2, "'money'"),
        ("states: left right", "states:", 3, "no states"),
        ("states: left right", "states: left left", 3, "listed twice"),
        ("states: left right", "states: 0", 3, "at least one"),
        ("states: left right", "states: 99999999999", 3, "at most"),
        ("states: left right", "states: left right\nstates: 2", 4, "was given in line 3"),
        ("T: listen identity", "T: listen identify", 6, "'identify'"),
        ("T: listen identity", "T: hearken identity", 6, "'hearken' is no action"),
        ("T: listen identity", "T: 3 identity", 6, "'3' is no action"),
        ("T: listen identity", "T: listen 1 0 0", 6, "has 3 numbers; it must have 4"),
        ("T: listen identity", "T: listen 1 0 0 1 1", 6, "has 5 numbers; it must have 4"),
        ("T: listen identity", "T: listen 1 0 0 1.2", 6, "a probability is 1.2"),
        ("T: listen identity", "T: listen 1 0 nan 1", 6, "'nan'"),
        ("T: listen identity", "T: listen : left : middle 1", 6, "'middle' is no state"),
        ("T: listen identity\n", "", None, "no probabilities are given for moving from state left under action listen"),
        ("0.85 0.15\n", "0.85 0.25\n", 9, "observing in state left under action listen sum to 1.1"),
        ("0.15 0.85\n", "0.15\n", 9, "has 3 numbers; it must have 4"),
        ("O: open-left uniform", "O: open-left identity", 12, "'identity'"),
        ("R: listen : * : * : * -1", "R: listen : * : * : * inf", 14, "'inf'"),
        ("R: listen : * : * : * -1", "R: listen -1", 14, "an action and a state"),
        ("R: listen : * : * : * -1", "R: listen : * : * : hear -1", 14, "'hear' is no observation"),
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


def refused(path: Path, line: int | None, reason: str) -> None:
    with pytest.raises(InputError) as error:
        read_model(path)
    message = str(error.value)
    assert str(path) in message
    assert reason in message
    assert message.endswith(".")
    assert "\n" not in message
    if line is not None:
        assert f", line {line}: " in message


@pytest.mark.parametrize("suffix", [".pomdp", ".pomdpx"])
@pytest.mark.parametrize("content", [b"", b" \n", b"\x00\x01\x02\xff" * 9, b"\x89PNG\r\n\x1a\n", b"hello\n", b"<a/>"])
def test_what_is_no_model_at_all(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    refused(path, None, "")


def test_paths_that_hold_no_model(tmp_path: Path) -> None:
    refused(tmp_path / "absent.pomdp", None, "There is no file")
    refused(tmp_path, None, "is a folder")
    refused(saved(tmp_path, TIGER, "tiger.txt"), None, "ends in .pomdp or .pomdpx")


@pytest.mark.parametrize("keep", range(0, TIGER.index("O: open-right"), 13))
def test_truncated_pomdp(tmp_path: Path, keep: int) -> None:
    refused(saved(tmp_path, TIGER[:keep]), None, "")


# PomdpX

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


def variable(kind: str, values: str, **attributes: str) -> str:
    listed = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{kind}{listed}><ValueEnum>{values}</ValueEnum></{kind}>"


def given(var: str, parents: str, *entries: tuple[str, str], kind: str = "CondProb") -> str:
    table = "ProbTable" if kind == "CondProb" else "ValueTable"
    listed = "\n".join(f"<Entry><Instance>{i}</Instance><{table}>{t}</{table}></Entry>" for i, t in entries)
    return f"<{kind}><Var>{var}</Var><Parent>{parents}</Parent><Parameter type='TBL'>{listed}</Parameter></{kind}>"


def rover(rock: str = "") -> str:
    """A rock that is good or bad, hidden, and a rover near or far, seen; the rock is declared first."""
    rock = rock or given("k_1", "a x_0 k_0", ("* * - -", "identity"), ("take near * -", "0 1"))
    return "\n".join(
        [
            "<pomdpx version='1.0'><Discount>0.9</Discount><Variable>",
            variable("StateVar", "good bad", vnamePrev="k_0", vnameCurr="k_1", fullyObs="false"),
            variable("StateVar", "near mid far", vnamePrev="x_0", vnameCurr="x_1", fullyObs="true"),
            variable("ObsVar", "shine dull", vname="o"),
            variable("ActionVar", "go take", vname="a"),
            "<RewardVar vname='r'/><RewardVar vname='toll'/></Variable><InitialStateBelief>",
            given("x_0", "null", ("-", "0.5 0.5 0")),
            given("k_0", "null", ("-", "0.75 0.25")),
            "</InitialStateBelief><StateTransitionFunction>",
            rock,
            given("x_1", "a x_0", ("* - -", "identity"), ("go near -", "0.2 0.8 0"), ("go mid -", "0 0.2 0.8")),
            "</StateTransitionFunction><ObsFunction>",
            given("o", "a k_1 x_1", ("* * * dull", "1"), ("go - near -", "0.9 0.1 0.2 0.8")),
            "</ObsFunction><RewardFunction>",
            given("r", "a x_0 k_0", ("take near -", "10 -10"), kind="Func"),
            given("toll", "a x_0 x_1", ("go near mid", "-1"), ("go mid far", "-2"), kind="Func"),
            given("toll", "o", ("shine", "0.5"), kind="Func"),
            "</RewardFunction></pomdpx>",
        ]
    )


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
        ('var="x_0"', 'var="x_1"', "'x_1' cannot stand here"),
        ('val="mid"', 'val="middle"', "'middle' is no value of x_0"),
        ("1.0</Terminal>", "2.0</Terminal>", "a probability is 2"),
        ('<Node var="k_0">', '<Node var="a">', "decided twice"),
    ]:
        refused(saved(tmp_path, rover(diagram.replace(old, new)), "broken.pomdpx"), None, reason)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("<Discount>0.95</Discount>", "<Discount>1</Discount>", 4, "must lie between 0 and 1"),
        ("<Discount>0.95</Discount>", "", 2, "has no <Discount>"),
        ("</Discount>", "</Discount>\n<Colour/>", 5, "<Colour> does not belong"),
        ("left right</ValueEnum>", "left left</ValueEnum>", 6, "names a value twice"),
        ('vnamePrev="s_0" ', "", 6, "'vnamePrev'"),
        ("<NumValues>2<", "<NumValues>two<", 7, "'two'"),
        ('vname="o"', 'vname="a"', 5, "two variables called 'a'"),
        ("<Parent>null</Parent>", "<Parent>a</Parent>", 11, "'a' cannot be a parent here"),
        ("<Parent>a s_1</Parent>", "<Parent>a s_0</Parent>", 18, "'s_0' cannot be a parent here"),
        ("<Var>s_1</Var>", "<Var>s_2</Var>", 14, "'s_2' cannot stand here"),
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
            "'hear' is no value of a",
        ),
        ("0.85 0.15 0.15 0.85", "0.85 0.15 0.15", 20, "has 3 numbers; its instance asks for 4"),
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
        ("<NumValues>2<", "<NumValues>99999999999<", 7, "no number of values"),
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


# Policies


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
