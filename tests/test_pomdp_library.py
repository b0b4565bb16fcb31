"""The solver as a library: arrays in, a policy out; what is wrong is said in a sentence."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from small_pomdps import (
    TIGER,
    brute_force,
    dense_tables,
    looking_robot,
    random_tables,
    robot,
    same,
    saved,
    search,
    tiger,
)
from typer.testing import CliRunner

import whiffclock as wc
from whiffclock.cli import app
from whiffclock.pomdp.blocks import BlockModel
from whiffclock.pomdp.prune import _SLACK, _visited, prune, thin
from whiffclock.pomdp.solver import SolverSettings
from whiffclock.pomdp.solver import solve as solve_model
from whiffclock.pomdp.tree import Tree

HEARD, UNKNOWN = [[0.85, 0.15], [0.15, 0.85]], [[0.5, 0.5], [0.5, 0.5]]
T, O, R = [[[1, 0], [0, 1]], UNKNOWN, UNKNOWN], [HEARD, UNKNOWN, UNKNOWN], [[-1, -1], [-100, 10], [10, -100]]  # noqa: E741


@pytest.fixture(scope="module")
def solved():
    return wc.pomdp.solve(T, O, R, 0.95, backups=2000)


# Arrays


def test_all_forms_of_a_model_are_one(tmp_path):
    steps = [np.broadcast_to(np.array(R[a], dtype=float)[:, None], (2, 2)) for a in range(3)]
    seen = np.broadcast_to(np.array(steps)[..., None], (3, 2, 2, 2))
    forms = [
        (T, O, R),
        tuple(map(np.array, (T, O, R))),
        ([sp.csc_matrix(np.array(m, float)) for m in T], [sp.coo_array(np.array(m)) for m in O], np.array(R)),
        (T, O, steps),
        (T, O, [sp.csr_array(part) for part in steps]),
        (T, O, seen),
    ]
    for form in forms:
        same(wc.pomdp.from_arrays(*form, 0.95), tiger())
    same(wc.pomdp.from_arrays(T, O, R, np.float64(0.95), [0.5, 0.5]), tiger())
    same(wc.pomdp.read(saved(tmp_path, TIGER)), tiger())
    one = wc.pomdp.from_arrays(T, HEARD, R, 0.95)  # the same observations after each action
    assert (dense_tables(one)[1] == np.array(HEARD)).all()


def test_rewards_of_steps_and_observations_are_expected_ones():
    model, rng = random_tables(5), np.random.default_rng(0)
    transition, observation = dense_tables(model)
    n_actions, n, n_seen = observation.shape
    paid = rng.normal(size=(n_actions, n, n, n_seen))
    expected = np.einsum("ast,ato,asto->as", transition, observation, paid)
    found = wc.pomdp.from_arrays(transition, observation, paid, 0.9)
    np.testing.assert_allclose(found.reward, expected, atol=1e-12)


def test_arrays_are_copied_and_rows_rescaled():
    moves = np.array(T) * 1.00005
    before = moves.copy()
    model = wc.pomdp.from_arrays(moves, O, R, 0.95)
    assert (moves == before).all()
    np.testing.assert_allclose([matrix.sum(axis=1) for matrix in model.transition], 1, atol=1e-14)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"T": np.eye(2)}, "T must have the shape (A, S, S), or be a sequence with a matrix for each action."),
        ({"T": []}, "T must have the shape (A, S, S), or be a sequence with a matrix for each action."),
        ({"T": [np.eye(2), np.eye(3), np.eye(2)]}, "T[1] has the shape (3, 3); it must be (2, 2), "
                                                   "state by next state."),
        ({"T": [[[1, 0], [1]]] * 3}, "T[0] is not an array of numbers; its rows must be equally long."),
        ({"T": [[[1, 0], [0, "x"]]] * 3}, "T[0] is not an array of numbers; its rows must be equally long."),
        ({"T": [[[1, 0], [0, 0.5]]] * 3}, "The transition of action 0 sums to 0.5 in state 1; it must sum to one."),
        ({"T": [[[2, -1], [0, 1]]] * 3}, "The transition of action 0 has a negative probability."),
        ({"T": [[[np.nan, 0], [0, 1]]] * 3}, "T[0] has a value that is not finite."),
        ({"O": O[:2]}, "O has 2 actions and T 3; both must have the same."),
        ({"O": [np.ones((3, 1))] * 3}, "O[0] has the shape (3, 1); it must be (2, 1), next state by observation."),
        ({"O": 3}, "O must have the shape (A, S, Z) or (S, Z), or be a sequence with a matrix for each action."),
        ({"R": np.transpose(R)}, "R has the shape (2, 3); it must be (A, S) = (3, 2) or (A, S, S) = (3, 2, 2) or "
                                 "(A, S, S, Z) = (3, 2, 2, 2)."),
        ({"R": 1.0}, "R has the shape (); it must be (A, S) = (3, 2) or (A, S, S) = (3, 2, 2) or "
                     "(A, S, S, Z) = (3, 2, 2, 2)."),
        ({"R": [[np.inf, 0]] * 3}, "R has a value that is not finite."),
        ({"discount": 1.0}, "The discount is 1; it must lie between 0 and 1; for a task without discounting choose "
                            "one close to 1, such as 0.999."),
        ({"discount": "x"}, "The discount is 'x'; it must be a number between 0 and 1."),
        ({"b0": [0.5, 0.4]}, "The initial belief must be 2 probabilities that sum to one."),
        ({"b0": [1.0]}, "The initial belief must be 2 probabilities that sum to one."),
        ({"states": ["only"]}, "There are 2 states, but 1 names."),
        ({"O": None}, "O is missing; give T, O, R and discount, or a model."),
        ({"T": tiger()}, "A model has its own observations, rewards, discount, initial belief and names; "
                         "leave them out."),
        ({"seconds": -1}, "seconds is -1; it must be 0 or more."),
        ({"second": 1}, "SolverSettings has no setting called second; did you mean seconds?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(change, sentence):
    with pytest.raises(wc.InputError) as error:
        wc.pomdp.solve(**{"T": T, "O": O, "R": R, "discount": 0.95} | change)
    assert str(error.value) == sentence


# Solutions


def test_a_solution_answers(solved):
    assert solved.ended == "gap reached"
    assert solved.value([0.5, 0.5]) == pytest.approx(solved.lower)
    assert solved.value([0.5, 0.5]) == pytest.approx(19.3714, abs=1e-3)
    assert [solved.action([p, 1 - p]) for p in (0.5, 0.999, 0.001)] == [0, 2, 1]
    np.testing.assert_allclose(solved.update([0.5, 0.5], 0, 1), [0.15, 0.85])
    assert repr(solved).startswith("Solution(19.37")
    named = wc.pomdp.solve(T, O, R, 0.95, backups=10, actions=["listen", "left", "right"], observations=["l", "r"])
    np.testing.assert_allclose(named.update([0.5, 0.5], "listen", "r"), [0.15, 0.85])
    for wrong, words in (((0, 2), "go from 0 to 1"), (("look", 0), "no action called 'look'; there are listen, left")):
        with pytest.raises(wc.InputError, match=words):
            named.update([0.5, 0.5], *wrong)
    with pytest.raises(wc.InputError, match="The belief must be 2 probabilities"):
        solved.value([1.0])


def test_the_action_is_the_best_one_step_ahead():
    model = random_tables(11, 0.5)
    solution = wc.pomdp.solve(model, backups=400)
    transition, observation = dense_tables(model)
    for weights in np.random.default_rng(1).dirichlet(np.ones(len(model.states)), size=5):
        low, high = brute_force(model, 7, weights)
        assert low - 0.05 <= solution.value(weights) <= high + 1e-9
        ahead = weights @ model.reward.T
        for a in range(2):
            for o in range(2):
                after = (weights @ transition[a]) * observation[a][:, o]
                ahead[a] += 0.5 * after.sum() * solution.value(solution.update(weights, a, o)) if after.sum() else 0
        assert solution.action(weights) == ahead.argmax()


def test_simulations_earn_the_value(solved):
    found = solved.simulate(400, seed=1)
    error = found.reward.std() / np.sqrt(400)
    assert abs(found.reward.mean() - 19.3714) < 4 * error + 0.1
    assert found.states.shape == (400, found.actions.shape[1] + 1)
    again = solved.simulate(400, seed=1)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))
    weights = 0.95 ** np.arange(found.actions.shape[1])
    np.testing.assert_allclose(found.reward, np.array(R)[found.actions, found.states[:, :-1]] @ weights)


def test_a_robot_that_looks_first():
    model, initial = looking_robot()
    solution = wc.pomdp.solve(model, backups=3000)
    assert solution.value(initial) == pytest.approx(solution.lower, abs=1e-9)
    with pytest.raises(wc.InputError, match="seen before the first action"):
        solution.action(initial)
    seen = initial * (model.visible == 1)
    assert 0 <= solution.action(seen / seen.sum()) < 3
    reward = solution.simulate(300, seed=2).reward
    assert reward.mean() >= solution.lower - 4 * reward.std() / np.sqrt(300)
    with pytest.raises(wc.InputError, match="cannot arise from the initial one"):
        wc.pomdp.solve(robot(), backups=10).value(np.eye(9)[8])


def test_the_graph_of_the_tigers_policy(solved):
    graph = solved.policy_graph()
    assert graph.nodes[0] == (0, pytest.approx(solved.lower))
    assert {node.action for node in graph.nodes} == {0, 1, 2}
    for i, _ in enumerate(graph.nodes):
        mine = [edge for edge in graph.edges if edge.node == i]
        assert sum(edge.probability for edge in mine) == pytest.approx(1)
        assert sorted({edge.observation for edge in mine}) == [edge.observation for edge in mine]
    opened = {i for i, node in enumerate(graph.nodes) if node.action}
    assert {edge.following for edge in graph.edges if edge.node in opened} == {0}  # it listens again
    text = graph.to_dot()
    assert text.startswith("digraph policy {\n  0 [label=")
    assert text.count("->") == len(graph.edges)


def test_a_saved_policy_is_continued(solved, tmp_path):
    solved.save(tmp_path / "tiger.policy")
    again = wc.pomdp.solve(T, O, R, 0.95, start=tmp_path / "tiger.policy", backups=0)
    assert again.lower == pytest.approx(solved.lower, abs=1e-9)


def test_the_convergence_is_drawn(solved):
    lines = wc.plot_convergence(solved).lines
    assert [line.get_ydata()[-1] for line in lines] == [solved.upper, solved.lower]


def test_the_history_is_in_json(tmp_path):
    result = CliRunner().invoke(app, ["pomdp", "solve", str(saved(tmp_path, TIGER)), "--cpu-seconds", "5", "--json"])
    facts = json.loads(result.stdout)
    history = facts["history"]
    assert facts["ended"] == "gap reached"
    assert history[-1]["lower"] == facts["lower"]
    assert set(history[0]) == {"lower", "upper", "vectors", "backups", "nodes", "seconds", "cpu_seconds", "megabytes"}


# Thinning


@pytest.mark.parametrize("seed", range(6))
def test_thinned_vectors_keep_the_bounds_of_visited_beliefs(seed):
    block = BlockModel(random_tables(seed, 0.9) if seed else looking_robot()[0])
    kept = {}

    def watched(tree):
        kept["beliefs"], kept["lower"], kept["before"] = _visited(tree), tree.lower.copy(), len(tree.vectors)
        kept["slack"] = _SLACK * (1 - block.discount) * (tree.upper[0] - tree.lower[0])
        thin(tree)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whiffclock.pomdp.solver.thin", watched)
        solution = solve_model(block, SolverSettings(seconds=None, backups=300, gap=1e-6))
    for node, belief in kept["beliefs"].items():
        if node == 0 and block.looks_first:
            continue
        slack = kept["slack"] if node else 0.0
        assert solution.vectors.best(belief)[1] >= kept["lower"][node] - slack - 1e-9
    assert len(kept["beliefs"]) == solution.history[-1].nodes
    assert len(solution.vectors) <= kept["before"]
    assert (solution.vectors.used >= block.n_actions).all()


def test_vectors_for_which_there_is_no_room_are_kept(monkeypatch):
    monkeypatch.setattr("whiffclock.pomdp.prune._ROOM", 0)
    block = BlockModel(random_tables(2, 0.9))
    tree = Tree(block, block.vectors(), block.upper())
    prune(tree)
    before = len(tree.vectors)
    thin(tree)
    assert len(tree.vectors) == before


# Models for other solvers


def test_a_written_model_is_read_again(tmp_path):
    small = search(3, (5, 4), 0.9)
    for i, model in enumerate([tiger(), robot(), random_tables(4), small.tables()]):
        path = tmp_path / f"{i}.pomdp"
        wc.pomdp.write(model, path)
        same(wc.pomdp.read(path), model)
    assert wc.pomdp.read(path).states == small.tables().states
    with pytest.raises(wc.InputError, match="seen before the first action, which the format cannot say"):
        wc.pomdp.write(looking_robot()[0], path)
    with pytest.raises(wc.InputError, match=r"must end in \.pomdp"):
        wc.pomdp.write(tiger(), tmp_path / "tiger.pomdpx")


def test_a_search_and_its_file_have_the_same_value(tmp_path):
    model = search(5, (6, 3), 0.8)
    wc.pomdp.write(model.tables(), tmp_path / "search.pomdp")
    own = solve_model(model, SolverSettings(seconds=None, backups=20_000))
    read = wc.pomdp.solve(wc.pomdp.read(tmp_path / "search.pomdp"), backups=20_000)
    assert own.ended == read.ended == "gap reached"
    assert own.lower <= read.upper + 1e-6
    assert read.lower <= own.upper + 1e-6
