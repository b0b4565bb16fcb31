"""Small controllers: changes of their tables, the search, their graph as text and picture, and all that policies do."""

import json
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from blanks import follow_blanks
from command import whiffclock
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Circle, FancyArrowPatch
from test_programs import QUICK, finished, of

import whiffclock as wc
from whiffclock.agents import programs
from whiffclock.agents.programs import (
    Ground,
    Program,
    Scored,
    anneal_controller,
    early,
    first_program,
    in_order,
    simplified_controller,
)
from whiffclock.chains import chains, reachable
from whiffclock.cli.info import program_texts
from whiffclock.drawing.controllers import EDGES, GLYPHS
from whiffclock.memory import clock, controller
from whiffclock.params import InputError
from whiffclock.world.moves import DISPLACEMENT


def policy_of(next_node, actions, first=(1, 0)):
    """A controller made by hand."""
    memory = replace(controller(len(actions)), next_node=np.array(next_node), first=np.array(first), maker="")
    return wc.TablePolicy("own", memory, np.array(actions))


@st.composite
def controllers(draw, most=9):
    """Any controller of a few nodes."""
    n = draw(st.integers(2, most))
    nodes = st.integers(0, n - 1)
    next_node = draw(st.lists(st.tuples(nodes, nodes), min_size=n, max_size=n))
    actions = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return policy_of(next_node, actions)


@pytest.fixture(scope="module")
def searched(plume):
    """A controller that was searched for a moment."""
    return finished(of(plume, memory=controller(6)), plume)


@pytest.mark.parametrize("n", [2, 3, 8, 64])
def test_every_change_keeps_the_tables_valid(n):
    memory = controller(n)
    changes = programs.Changes(memory, np.random.default_rng(n))
    program, redirected, acted = first_program(memory), set(), set()
    for _ in range(3000):
        new = changes.of(program)
        assert (new.actions.dtype, new.actions.shape) == (np.int8, (n,))
        assert (new.next_node.dtype, new.next_node.shape) == (np.int32, (n, 2))
        assert ((new.actions >= 0) & (new.actions < 4)).all()
        assert ((new.next_node >= 0) & (new.next_node < n)).all()
        redirected |= {*map(tuple, np.argwhere(new.next_node != program.next_node).tolist())}
        acted |= {*np.flatnonzero(new.actions != program.actions).tolist()}
        program = new
    assert acted == {*range(n)}
    assert redirected == {(node, whiff) for node in range(n) for whiff in (0, 1)}


def test_at_first_a_large_controller_is_a_clock_with_a_loop():
    memory = controller(40)
    changes = programs.Changes(memory, np.random.default_rng(0), free=False)
    program, loops = first_program(memory), set()
    for _ in range(300):
        program = changes.of(program)
        assert np.array_equal(program.next_node[:-1], memory.next_node[:-1])
        assert program.next_node[-1, 1] == 0
        loops.add(int(program.next_node[-1, 0]))
    assert len(loops) > 20


def test_early_rounds_begin_anew_and_the_better_controller_stays(plume, searched):
    ground = Ground.of(plume, (plume.environments["dense"],), plume.settle(), QUICK)
    how, memory = replace(QUICK, candidates=40, rounds=4), controller(6)
    good = Program(searched.actions, searched.memory.next_node)
    downwind = Program(np.full(6, 3, dtype=np.int8), memory.next_node)
    for program, stays in ((good, True), (downwind, False)):
        scored = Scored(ground, memory, program)
        best, objective = anneal_controller(scored, how, 0, np.random.default_rng(0), lambda share: None)
        assert (best is program) == stays
        assert objective == pytest.approx(Scored(ground, memory, best).objective)
        assert scored.candidates <= 10  # of a round
    later = Scored(ground, memory, downwind)
    anneal_controller(later, how, 2, np.random.default_rng(0), lambda share: None)
    assert later.program is not downwind


def test_early_rounds_have_fewer_starts():
    how = replace(QUICK, snapshots=16, rounds=6)
    assert [early(how, part).snapshots for part in range(6)] == [2, 2, 2, 4, 8, 16]
    assert early(replace(how, snapshots=3), 0).snapshots == 1


def test_a_node_is_put_between_two_others():
    next_node = np.array([[1, 0], [2, 0], [3, 1], [3, 2], [0, 0]])
    programs._put_between(next_node, 1, 2, 0)  # out of 0 -> 1 -> 2, into 2 -> 3
    assert next_node.tolist() == [[2, 0], [3, 2], [1, 2], [3, 2], [0, 0]]
    loop = np.array([[0, 1], [1, 0]])
    programs._put_between(loop, 0, 0, 0)  # a loop of its own stays one
    assert loop[0, 0] == 0


def test_a_searched_controller_is_better_than_its_start_and_than_a_clock(plume, searched):
    found = searched.made_from["found"]["dense"]
    assert found["improvement"]["low"] > 0
    assert searched.memory.rows == 6
    clocked = finished(of(plume, memory=clock(6)), plume)
    assert found["unseen"]["G"] > clocked.made_from["found"]["dense"]["unseen"]["G"]


@given(controllers(), st.integers(0, 10**6))
def test_order_and_nodes_that_no_search_reaches_do_not_matter(plume, policy, seed):
    threshold, how = plume.environments["dense"], {"snapshots": 1, "horizon": 60}
    arrival = wc.evaluate(policy, plume, threshold, **how).arrival
    ordered = in_order(controller(policy.memory.rows), Program(policy.actions, policy.memory.next_node))
    same = policy_of(ordered.next_node, ordered.actions)
    assert np.array_equal(wc.evaluate(same, plume, threshold, **how).arrival, arrival)
    rng, n = np.random.default_rng(seed), policy.memory.rows
    other = np.setdiff1d(np.arange(n), reachable(policy.memory))
    next_node, actions = policy.memory.next_node.copy(), policy.actions.copy()
    next_node[other], actions[other] = rng.integers(n, size=(len(other), 2)), rng.integers(4, size=len(other))
    changed = policy_of(next_node, actions)
    assert np.array_equal(wc.evaluate(changed, plume, threshold, **how).arrival, arrival)
    assert chains(changed) == chains(policy)


@given(controllers())
def test_chains_are_the_controller(policy):
    """Steps along the chains, by what they say alone, are those of the tables."""
    found = chains(policy)
    nodes = [node for chain in found for node in chain.nodes]
    assert sorted(nodes) == sorted(reachable(policy.memory))
    starts = {chain.nodes[0] for chain in found}
    for chain in found:
        assert {chain.blank, chain.whiff} <= starts
        for node, after in zip(chain.nodes, [*chain.nodes[1:], chain.blank], strict=True):
            assert policy.actions[node] == chain.action
            assert policy.memory.next_node[node].tolist() == [after, chain.whiff]
    assert {*policy.memory.first.tolist()} <= starts


def test_equal_moves_are_one_chain_only_if_a_search_enters_at_the_first():
    upwind = policy_of([[1, 0], [2, 0], [3, 0], [3, 0]], [0, 0, 0, 0], first=(0, 0))
    assert [chain.nodes for chain in chains(upwind)] == [(0, 1, 2), (3,)]  # the last has a loop
    entered = policy_of([[1, 0], [2, 0], [3, 1], [3, 0]], [0, 0, 0, 0], first=(0, 0))
    assert [chain.nodes for chain in chains(entered)] == [(0,), (1,), (2,), (3,)]
    moves = policy_of([[1, 0], [2, 0], [3, 0], [0, 0]], [0, 1, 1, 3], first=(0, 0))
    assert [(chain.nodes, chain.action) for chain in chains(moves)] == [((0,), 0), ((1, 2), 1), ((3,), 3)]


def test_simplified_controllers_lose_no_more_than_allowed(plume):
    memory, rng = controller(8), np.random.default_rng(0)
    ground = Ground.of(plume, (plume.environments["dense"],), plume.settle(), QUICK)
    next_node = np.column_stack([memory.next_node[:, 0], rng.integers(8, size=8)]).astype(np.int32)
    scored = Scored(ground, memory, first_program(memory)._replace(next_node=next_node))
    objective, allowed = scored.objective, 0.5 * scored.standard_error
    program = simplified_controller(scored, 0.5)
    assert Scored(ground, memory, program).objective >= objective - allowed
    assert len({*program.next_node[:, 1].tolist()}) < len({*next_node[:, 1].tolist()})
    free = simplified_controller(Scored(ground, memory, program), 1e9)
    assert len({*free.next_node[:, 1].tolist()}) == 1  # whatever it costs
    assert free.next_node.dtype == np.int32


def drawn(policy):
    ax = wc.plot_controller(policy)
    plt.close(ax.figure)
    circles = [patch for patch in ax.patches if isinstance(patch, Circle)]
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    kinds = [[arrow for arrow in arrows if arrow.get_linestyle() == looks] for looks in ("-", EDGES[1]["ls"])]
    return ax, circles, kinds


@given(controllers())
def test_the_drawing_has_a_circle_per_chain_and_an_arrow_per_transition(policy):
    ax, circles, kinds = drawn(policy)
    found = chains(policy)
    assert len(circles) == len(found)
    assert [len(arrows) for arrows in kinds] == [len(found) + 1] * 2  # one each is the start
    glyphs = sorted(text.get_text() for text in ax.texts if text.get_text() in GLYPHS.values())
    assert glyphs == sorted(GLYPHS[chain.action] for chain in found)
    places = np.array([circle.center for circle in circles])
    for circle, place in zip(circles, places, strict=True):
        apart = np.hypot(*(places - place).T)
        assert (apart[apart > 0] > 2 * circle.radius).all()
        for limits, at in zip((ax.get_xlim(), ax.get_ylim()), place, strict=True):
            assert limits[0] < at - circle.radius < at + circle.radius < limits[1]


def test_without_equal_moves_there_is_a_circle_per_reachable_node(searched):
    policy = policy_of([[1, 0], [2, 0], [0, 2], [0, 1]], [0, 1, 3, 2])
    _, circles, _ = drawn(policy)
    assert len(circles) == len(reachable(policy.memory)) == 3
    _, circles, (blank, whiff) = drawn(searched)
    assert 0 < len(circles) <= 6
    assert min(len(blank), len(whiff)) > 1


def test_clocks_are_drawn_too_and_other_policies_are_refused():
    ax, circles, _ = drawn(wc.TablePolicy("own", clock(40), np.repeat([0, 1, 2, 3], 10)))
    assert len(circles) == 6  # nodes 0, 1-9, 10-19, 20-29, 30-38, and the last with its loop
    assert sum(text.get_text() == "×10" for text in ax.texts) == 2
    with pytest.raises(InputError, match="no nodes to draw"):
        wc.plot_controller(wc.Policy())


def test_a_file_keeps_everything(searched, plume, tmp_path):
    searched.save(tmp_path / "controller.npz")
    again = wc.load_policy(tmp_path / "controller.npz")
    assert again == searched
    assert np.array_equal(again.memory.next_node, searched.memory.next_node)
    assert again.made_from == searched.made_from
    first, second = (wc.evaluate(policy, plume, after=0.5, snapshots=2) for policy in (searched, again))
    assert np.array_equal(first.arrival, second.arrival)
    table = wc.compare([again, wc.cast_and_surge(30, 60)], plume, "dense", snapshots=2, horizon=60)
    assert {row.agent for row in table.rows} >= {"searched controller-6"}


def test_recovery_paths_go_around_loops():
    policy = policy_of([[1, 0], [2, 0], [1, 0]], [0, 1, 2])
    path = wc.recovery_path(policy, moves=6)
    assert path.tolist() == [[0, 0], [-1, 0], [-1, 1], [-1, 0], [-1, 1], [-1, 0], [-1, 1]]
    assert np.array_equal(follow_blanks(policy, policy.begin(np.ones(1, dtype=bool)), 6)[0], path)
    assert wc.geometry(path).cast_width == 1
    assert len(wc.recovery_path(policy)) == 4


def test_the_recovery_path_of_a_searched_controller_is_as_long_as_its_blanks(searched):
    """It begins at the node that most nodes have after a whiff, and goes around its loop."""
    memory, record = searched.memory, searched.clock_record(0)
    targets = memory.next_node[reachable(memory), 1].tolist()
    assert targets.count(memory.after_whiff[0]) == max(map(targets.count, targets))
    assert chains(searched)[0].nodes[0] == memory.after_whiff[0]
    path = wc.recovery_path(searched)
    assert len(path) - 1 == record["largest_clock"] >= record["longest_blank"]
    nodes = [int(memory.after_whiff[0])]
    for _ in path[2:]:
        nodes.append(int(memory.next_node[nodes[-1], 0]))
    assert np.array_equal(np.diff(path, axis=0), DISPLACEMENT[searched.actions[nodes]])
    assert policy_of([[1, 0], [2, 0], [1, 0]], [0, 1, 2]).memory.last_clock >= 500
    assert [controller(7).last_clock, clock(9, (3,)).last_clock] == [6, 8]


def test_the_commands_take_controllers(tmp_path):
    assert whiffclock("plume", "toy", "plume.npz", "--snapshots", "200", "--length", "40", cwd=tmp_path).returncode == 0
    words = ["--memory", "controller:6", "--candidates", "150", "--horizon", "60", "--snapshots", "4", "-e", "dense"]
    done = whiffclock("optimize", "--plume", "plume.npz", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file = "programs/dense/searched-controller-6-seed00.npz"
    policy = wc.load_policy(tmp_path / file)
    texts = program_texts(policy)
    shown = whiffclock("info", file, cwd=tmp_path).stdout
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    for name, text in texts.items():
        assert f"{name} {text}" in lines
        assert f"{name}: {text}" in done.stdout
    facts = json.loads(whiffclock("info", file, "--json", cwd=tmp_path).stdout)
    assert texts.items() <= facts.items()
    found = wc.evaluate(policy, wc.read_plume(tmp_path / "plume.npz"), after=0.5, snapshots=2)
    for command in ("evaluate", "compare"):
        tested = whiffclock(command, file, "--plume", "plume.npz", "--after", "0.5", "--snapshots", "2", cwd=tmp_path)
        assert tested.returncode == 0, tested.stderr
        assert f"{found.mean('G'):.3f}" in tested.stdout


def test_nodes_as_text():
    policy = policy_of([[2, 0], [0, 0], [3, 0], [4, 0], [0, 3]], [0, 3, 1, 1, 2])
    assert program_texts(policy) == {
        "node 0": "upwind, then 2 after a blank, 0 after a whiff",
        "node 2": "+y, then 3 after a blank, 0 after a whiff",
        "node 3": "+y, then 4 after a blank, 0 after a whiff",
        "node 4": "-y, then 0 after a blank, 3 after a whiff",
        "node 1": "downwind, then 0 after a blank, 0 after a whiff",
    }
    straight = policy_of([[2, 0], [0, 0], [3, 0], [4, 0], [0, 0]], [0, 3, 1, 1, 2])
    assert list(program_texts(straight)) == ["node 0", "nodes 2-3", "node 4", "node 1"]
