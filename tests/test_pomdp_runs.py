"""Runs of the solver: the same seed gives the same bits, every way to stop leaves an answer, a warm start is kept."""

import itertools
import math
import signal
import threading
import time
import tracemalloc

import numpy as np
import pytest
from small_pomdps import SAMPLINGS, TIGER, check_proper, looking_robot, random_tables, saved, search, tables, tiger
from typer.testing import CliRunner

from whiffclock.cli import app
from whiffclock.params import InputError
from whiffclock.pomdp.blocks import BlockModel
from whiffclock.pomdp.deadline import Deadline
from whiffclock.pomdp.prune import prune
from whiffclock.pomdp.sample import Predictor, by_bounds, by_policy, by_upper
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.pomdp.start import shortfall
from whiffclock.pomdp.tree import Tree

# The same seed gives the same bits


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kind", ["tables", "grid"])
def test_a_budget_of_backups_can_be_repeated(kind, sampling):
    model = search(1, (9, 7), 0.95) if kind == "grid" else BlockModel(random_tables(2, 0.95))

    def run(seed, slow=False):
        settings = SolverSettings(seconds=None, backups=300, gap=0, sampling=sampling, seed=seed)
        return solve(model, settings, progress=lambda state: time.sleep(0.05) if slow else None)

    one, other = run(3), run(3, slow=True)
    assert (one.lower, one.upper, one.backups) == (other.lower, other.upper, other.backups)
    for k in range(model.n_blocks):
        assert one.vectors.array(k).tobytes() == other.vectors.array(k).tobytes()
        assert one.vectors.actions(k).tolist() == other.vectors.actions(k).tolist()
    if sampling == "policy" and kind == "grid":
        assert run(4).vectors.array(0).tobytes() != one.vectors.array(0).tobytes()


# Ways to stop, and to start


def hard():
    """A search that takes its time."""
    return search(0, (41, 21), 0.98)


def test_ctrl_c_ends_with_what_there_is():
    handler = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    solution = solve(hard(), SolverSettings(seconds=20))
    timer.join()
    assert solution.ended == "interrupted"
    assert solution.seconds < 5
    check_proper(solution)
    assert signal.getsignal(signal.SIGINT) is handler


def test_limits_are_kept():
    solution = solve(hard(), SolverSettings(seconds=0.4))
    assert solution.ended == "time is up"
    assert 0.4 <= solution.seconds < 1.4
    solution = solve(hard(), SolverSettings(seconds=None, cpu_seconds=0.3))
    assert solution.ended == "time is up"
    assert 0.3 <= solution.history[-1].cpu_seconds < 1
    assert solution.seconds >= 0.3  # one core cannot spend more than the time that passes
    solution = solve(hard(), SolverSettings(megabytes=1.5))
    assert solution.ended == "memory is full"
    assert solution.history[-1].megabytes > 1.5 > solution.history[0].megabytes
    solution = solve(hard(), SolverSettings(seconds=None, backups=100))
    assert solution.ended == "backups done"
    assert 100 <= solution.backups < 100 + math.log(0.01) / math.log(0.98) + 1  # the last walk is finished
    assert solution.to_dict()["gap"] == solution.upper - solution.lower


def test_a_belief_that_leads_to_itself_does_not_hold_a_walk(monkeypatch):
    """Waiting teaches nothing here, and the upper bound would wait for ever."""
    stay, ask = np.eye(2), np.array([[0.5, 0.5], [0.5, 0.5]])
    model = BlockModel(tables([stay, ask], [np.full((2, 2), 0.5), stay], [[0.9, 0.9], [1, 0.0]], [0.5, 0.5], 0.999))
    tree, walks = Tree(model, model.vectors(), model.upper()), []
    monkeypatch.setattr("whiffclock.pomdp.sample._climb", lambda tree, walk: walks.append(walk) or len(walk))
    for onward in (False, True):
        by_bounds(tree, 1e-3, Predictor(tree), onward=onward)
    back, on = ([node for node, _ in walk] for walk in walks)
    assert len(set(back)) < len(back)
    assert len(set(on)) == len(on)


def test_walks_end_although_the_discount_is_near_one():
    """At .999 a reward counts a hundredth after 4603 steps only."""
    model = BlockModel(random_tables(2, 0.999))
    solution = solve(model, SolverSettings(seconds=None, backups=1, gap=0, sampling="policy"))
    assert 1 <= solution.backups <= 100


@pytest.mark.parametrize("walk", [by_policy, by_upper])
def test_a_walk_leaves_time_to_back_up(walk, monkeypatch):
    """The clock advances by one at every look; the way down is far longer than the time."""
    monkeypatch.setattr("whiffclock.pomdp.deadline.perf_counter", itertools.count().__next__)
    monkeypatch.setattr("whiffclock.pomdp.sample._NEW_PER_WALK", 1000)
    model = search(3, (30, 21), 0.98)
    tree = Tree(model, model.vectors(), model.upper(), Deadline(60))
    before = tree.upper[0] - tree.lower[0]
    assert walk(tree, np.random.default_rng(0), 500) == 21
    assert tree.upper[0] - tree.lower[0] < before


def test_the_memory_that_is_reported_is_the_memory_that_is_held():
    rng, n = np.random.default_rng(0), 150
    made = rng.dirichlet(np.full(n, 0.02), size=(2, n)), rng.dirichlet(np.ones(4), size=(2, n))
    model = BlockModel(tables(*made, rng.normal(size=(2, n)), np.full(n, 1 / n), 0.9))
    solve(model, SolverSettings(seconds=None, backups=1))  # compiled now
    tracemalloc.start()
    solution = solve(model, SolverSettings(seconds=None, backups=500, gap=0))
    held = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    assert solution.history[-1].megabytes > 0.5
    assert 0.5 * held < max(state.megabytes for state in solution.history) < 1.5 * held


def test_a_full_memory_is_said(tmp_path):
    file = saved(tmp_path, TIGER)
    done = CliRunner().invoke(app, ["pomdp", "solve", str(file), "--megabytes", "0.01", "--gap", "0"])
    assert done.exit_code == 0
    assert "the memory limit of 0.01 MB was reached after" in " ".join(done.stderr.split())
    assert "--megabytes" in done.stderr
    assert "model_megabytes" in done.stdout or "model megabytes" in done.stdout


def test_a_callback_hears_all_that_is_kept():
    heard = []
    solution = solve(BlockModel(tiger()), SolverSettings(seconds=5), progress=heard.append)
    assert heard == solution.history
    assert len(heard) >= 2


def solved(kind):
    """A model, its solution, and the solution's vectors to start from."""
    model = {
        "grid": lambda: search(5, (15, 9), 0.95),
        "tables": lambda: BlockModel(tiger()),
        "look": lambda: BlockModel(looking_robot()[0]),
    }[kind]()
    first = solve(model, SolverSettings(seconds=None, backups=600, gap=1e-6))
    start = [
        (k, vector, int(action))
        for k in range(model.n_blocks)
        for vector, action in zip(first.vectors.array(k), first.vectors.actions(k), strict=True)
    ]
    return model, first, start


@pytest.mark.parametrize("kind", ["grid", "tables", "look"])
def test_a_warm_start_has_its_bound_at_once(kind):
    model, first, start = solved(kind)
    again = solve(model, SolverSettings(seconds=None, backups=0), start)
    assert again.backups == 0
    assert again.history[0].lower >= first.lower - 1e-6
    assert again.lower > solve(model, SolverSettings(seconds=None, backups=0)).lower  # not by itself
    assert again.upper >= first.lower
    check_proper(again)


@pytest.mark.parametrize("kind", ["grid", "tables", "look"])
@pytest.mark.parametrize("change", [lambda v: 2 * v, lambda v: 1.1 * v, lambda v: v + 0.1 * np.ptp(v)])
def test_vectors_that_are_not_lower_bounds_are_refused(kind, change):
    model, _, start = solved(kind)
    for sampling in SAMPLINGS:
        settings = SolverSettings(seconds=None, backups=0, sampling=sampling)
        with pytest.raises(InputError, match=r"to start from (is|are) not .*lower bounds?: .*\.$"):
            solve(model, settings, [(k, change(vector), action) for k, vector, action in start])


def test_the_policy_of_the_start_earns_what_was_promised():
    """Twice the value of a policy: every walk finds, on average, one value missing."""
    model, first, start = solved("tables")
    for factor in (1, 1.5):
        vectors = model.vectors()
        for k, vector, action in start:
            vectors.add(k, factor * vector, action)
        tree = Tree(model, vectors, model.upper())
        missing = shortfall(tree, np.random.default_rng(0))
        assert tree.lower[0] == pytest.approx(factor * first.lower, abs=2e-3)
        if factor == 1:
            assert (missing <= 1e-9).all()
        else:
            assert missing.mean() > 0.5 * first.lower


def test_bounds_that_cross_are_not_called_a_solution(monkeypatch):
    def trusting(model, vectors, upper, start):
        for k, vector, action in start:
            vectors.add(k, vector, action)

    model, _, start = solved("tables")
    monkeypatch.setattr("whiffclock.pomdp.solver.add_start", trusting)
    with pytest.raises(InputError, match="above the upper bound"):
        solve(model, SolverSettings(seconds=20), [(k, 2 * vector, action) for k, vector, action in start])


@pytest.mark.parametrize(
    "entry",
    [
        (0, np.zeros(3), 0),
        (0, np.zeros((1, 2)), 0),
        (1, np.zeros(2), 0),
        (0, np.zeros(2), 3),
        (0, np.full(2, np.nan), 0),
    ],
)
def test_vectors_that_do_not_fit_are_refused(entry):
    with pytest.raises(InputError, match="Vector 0 to start from does not fit the model"):
        solve(BlockModel(tiger()), SolverSettings(backups=0), [entry])


def test_a_warm_start_is_not_thrown_away(monkeypatch):
    """Vectors that no visited belief needs yet stay until there are many more, or all is over."""
    model, left = search(5, (15, 9), 0.95), []
    values = np.random.default_rng(0).random((800, model.target.size)) * 1e-3

    def watched(tree):
        left.append(len(tree.vectors))
        return prune(tree)

    monkeypatch.setattr("whiffclock.pomdp.solver.prune", watched)
    solve(model, SolverSettings(seconds=None, backups=40), [(0, value, 0) for value in values])
    assert len(left) == 1
    assert left[0] >= 800


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seconds": -1.0}, "seconds is -1; it must be 0 or more."),
        ({"backups": -3}, "backups is -3; it must be 0 or more."),
        ({"seed": -1}, "seed is -1; it must be 0 or more."),
        ({"gap": -0.5}, "The gap is -0.5; it must be 0 or more."),
        ({"megabytes": 0.0}, "The memory limit is 0 MB; it must be positive."),
        ({"sampling": "luck"}, "The sampling is 'luck'; it must be mixed, published or policy."),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(change, said):
    with pytest.raises(InputError) as caught:
        SolverSettings(**change)
    assert str(caught.value) == said
