"""Blocks split the states by what is observed, and change no value; pruning keeps every promise of the tree."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from small_pomdps import (
    SAMPLINGS,
    brute_force,
    check_proper,
    dense_tables,
    looking_robot,
    random_tables,
    robot,
    search,
    tables,
)

from whiffclock.pomdp.blocks import BlockBelief, BlockModel
from whiffclock.pomdp.prune import prune
from whiffclock.pomdp.sample import Predictor, by_bounds, by_policy, by_upper
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.pomdp.tabular import TabularModel
from whiffclock.pomdp.tree import Tree

# Blocks


def in_one_block(model):
    """The same model, but for a trace of doubt: a first belief over all states, and at times nothing is seen."""
    transition, observation = dense_tables(model)
    n = len(model.initial)
    blurred = [np.hstack([(1 - 1e-12) * matrix, np.full((n, 1), 1e-12)]) for matrix in observation]
    doubt = np.append(np.full(n - 1, 1 / (n - 1)), 0)
    return tables(transition, blurred, model.reward, (1 - 1e-9) * model.initial + 1e-9 * doubt, model.discount)


def test_what_is_observed_splits_the_states():
    model = BlockModel(robot())
    assert sorted(len(states) for states in model.states) == [2, 2, 2, 2]
    assert 8 not in np.concatenate(model.states)  # nothing leads there
    for block in map(model.block, range(model.n_blocks)):
        assert (np.diff(block.edges.action) >= 0).all()
        for a in range(3):
            assert (block.edges.action[block.edges.first[a] : block.edges.first[a + 1]] == a).all()
    flat = BlockModel(in_one_block(robot()))
    assert [len(states) for states in flat.states] == [8]
    one, other = (solve(block, SolverSettings(seconds=10, gap=1e-5)) for block in (model, flat))
    assert one.ended == other.ended == "gap reached"
    assert one.lower == pytest.approx(other.lower, abs=3e-5)
    low, high = brute_force(robot(), 4)
    assert low <= one.upper
    assert one.lower <= high


def corridor(n):
    """A walker who knows where it is, on n cells, and a thing hidden on one of two sides; sparse tables."""
    cells = np.arange(2 * n)
    steps = [np.clip(cells + shift, cells % 2, 2 * n - 2 + cells % 2) for shift in (-2, 2)]
    moves = tuple(sp.csr_array((np.ones(2 * n), (cells, to)), shape=(2 * n, 2 * n)) for to in steps)
    seen = sp.csr_array((np.ones(2 * n), (cells, cells // 2)), shape=(2 * n, n))
    initial = np.where(cells < 2, 0.5, 0.0)
    return TabularModel(moves, (seen, seen), np.zeros((2, 2 * n)), initial, 0.95)


def test_many_blocks_one_behind_the_other_take_no_longer():
    """From one end, every block is found through the one before."""
    BlockModel(corridor(4))  # compiled now
    began = time.process_time()
    model = BlockModel(corridor(4000))
    assert time.process_time() - began < 2
    assert model.n_blocks == 4000
    assert all(states.tolist() == [states[0], states[0] + 1] for states in model.states)


def test_keys_are_small_and_tell_beliefs_apart():
    model, other = BlockModel(robot()), np.array([0.25, 0.75])
    keys = {model.key(BlockBelief(block, weights)) for block in (0, 1) for weights in (other, other[::-1].copy())}
    assert len(keys) == 4
    assert model.key(BlockBelief(0, other + np.array([1e-13, -1e-13]))) in keys
    assert len(BlockModel(corridor(200)).key(BlockBelief(0, np.full(400, 1 / 400)))) == 16


def test_a_first_belief_wider_than_any_other_has_a_block_of_its_own():
    initial = np.zeros(9)
    initial[:6] = [0.1, 0.2, 0.1, 0.2, 0.1, 0.3]
    model = BlockModel(robot(initial=initial))
    assert not model.looks_first
    assert sorted(len(states) for states in model.states) == [2, 2, 2, 2, 6]
    assert model.root().weights.tolist() == pytest.approx(initial[:6].tolist())
    one, flat = (solve(block, SolverSettings(seconds=10, gap=1e-5)) for block in
                 (model, BlockModel(in_one_block(robot(initial=initial)))))  # fmt: skip
    check_proper(one)
    assert one.ended == flat.ended == "gap reached"
    assert one.lower == pytest.approx(flat.lower, abs=3e-5)
    low, high = brute_force(robot(initial=initial), 4)
    assert low <= one.upper
    assert one.lower <= high


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_first_look_is_worth_the_mean_over_what_is_seen(sampling):
    table, initial = looking_robot()
    model = BlockModel(table)
    assert model.looks_first
    mean = 0.0
    for cell in range(3):
        own = np.zeros(9)
        own[2 * cell : 2 * cell + 2] = initial[2 * cell : 2 * cell + 2]
        alone = solve(BlockModel(robot(initial=own / own.sum())), SolverSettings(seconds=10, gap=1e-5))
        assert alone.ended == "gap reached"
        mean += own.sum() * alone.lower
    solution = solve(model, SolverSettings(seconds=None, backups=2000, gap=1e-5, sampling=sampling))
    check_proper(solution)
    assert solution.lower <= mean + 2e-5
    assert solution.upper >= mean - 1e-9
    if sampling != "policy":
        assert solution.lower == pytest.approx(mean, abs=3e-5)


def test_different_looks_may_ask_for_different_actions():
    """Two rooms that one sees, each with its own good action: worth 1 / (1 - .5) in either."""
    model = tables([np.eye(2)] * 2, [np.eye(2)] * 2, np.eye(2), [0.5, 0.5], 0.5, visible=np.array([0, 1]))
    solution = solve(BlockModel(model), SolverSettings(backups=100))
    check_proper(solution)
    assert solution.lower == pytest.approx(2, abs=1e-3)
    assert solution.upper == pytest.approx(2, abs=1e-3)


# Pruning


def grown_tree(model, sampling, walks=60):
    upper = model.upper()
    tree = Tree(model, model.vectors(), upper)
    rng, predictor = np.random.default_rng(0), Predictor(tree)
    for _ in range(walks):
        if sampling == "published":
            by_bounds(tree, 0.5 * float(tree.upper[0] - tree.lower[0]), predictor)
        else:
            by_policy(tree, rng, 12)
            if not upper.interpolates:
                by_upper(tree, rng, 12)
    return tree, tree.root


def walk_all(tree, root):
    """Every node with a belief that leads there, once each."""
    seen, waiting = {0}, [(0, root)]
    while waiting:
        node, spread = waiting.pop()
        yield node, spread
        here = tree.edges_of(node)
        for edge, child in enumerate(tree.child[here]):
            if child >= 0 and child not in seen:
                seen.add(int(child))
                waiting.append((int(child), tree.model.spread(tree.model.child(spread, edge))))


def check_tree(tree, root, tolerance):
    """All picks exist, and give what the lower bounds say; no lower bound is above its upper one."""
    model, vectors = tree.model, tree.vectors
    nodes = 0
    for node, spread in walk_all(tree, root):
        nodes += 1
        assert tree.block[node] == spread.belief.block
        assert tree.lower[node] <= tree.upper[node] + tolerance
        if not (node == 0 and model.looks_first):
            assert 0 <= tree.pick[node] < len(vectors.actions(int(tree.block[node])))
            assert vectors.value(spread.belief, int(tree.pick[node])) >= tree.lower[node] - tolerance
        here = tree.edges_of(node)
        for edge in range(here.stop - here.start):
            at = here.start + edge
            assert tree.edge_block[at] == model.edges(int(tree.block[node])).block[edge]
            assert 0 <= tree.edge_pick[at] < len(vectors.actions(int(tree.edge_block[at])))
            if spread.probability[edge] > 1e-6 and tree.edge_lower[at] > -np.inf:
                value = vectors.value(model.child(spread, edge), int(tree.edge_pick[at]))
                assert value >= tree.edge_lower[at] - tolerance
                assert tree.edge_lower[at] <= tree.edge_upper[at] + tolerance
            elif spread.probability[edge] > 1e-6:
                assert tree.seen_vectors[node] == 0  # it will be looked at again
    assert nodes == tree.size


@pytest.mark.parametrize("sampling", ["policy", "published"])
@pytest.mark.parametrize("kind", ["grid", "tables", "robot", "look"])
def test_pruning_keeps_every_promise(kind, sampling):
    model = {
        "grid": lambda: search(2, (9, 7), 0.9),
        "tables": lambda: BlockModel(random_tables(6, 0.95)),
        "robot": lambda: BlockModel(robot(0.95)),
        "look": lambda: BlockModel(looking_robot()[0]),
    }[kind]()
    tolerance = 1e-5 if kind == "grid" else 1e-8
    tree, root = grown_tree(model, sampling)
    check_tree(tree, root, tolerance)
    bounds = tree.lower[: tree.size].copy(), tree.upper[: tree.size].copy()
    blind = [tree.vectors.array(k)[: model.n_actions].copy() for k in range(model.n_blocks)]
    before = len(tree.vectors)
    gone = prune(tree)
    assert gone == before - len(tree.vectors)
    assert gone > 0 or kind != "grid"
    check_tree(tree, root, tolerance)
    assert (tree.lower[: tree.size] == bounds[0]).all()
    assert (tree.upper[: tree.size] == bounds[1]).all()
    for k in range(model.n_blocks):
        assert (tree.vectors.array(k)[: model.n_actions] == blind[k]).all()
    assert prune(tree) == 0  # what is needed once is needed twice
    rng = np.random.default_rng(1)
    for _ in range(10):
        by_policy(tree, rng, 12)
    check_tree(tree, root, tolerance)
    assert (tree.lower[: len(bounds[0])] >= bounds[0]).all()
