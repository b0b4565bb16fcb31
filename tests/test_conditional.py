"""Likelihoods that depend on the observation before: counted from the record, used by the belief, saved with it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import reference
from command import whiffclock as run

from whiffclock.agents.bayes import (
    PRIOR,
    BayesSettings,
    belief_heuristic,
    conditional_chances,
    infotaxis,
    quasi_optimal,
    search_model,
)
from whiffclock.agents.files import load_policy
from whiffclock.archive import write_npz
from whiffclock.evaluation import evaluate
from whiffclock.params import EvaluationSettings, InputError
from whiffclock.plume import Plume
from whiffclock.plume.reading.files import write_plume
from whiffclock.plume.toy import toy_plume
from whiffclock.pomdp.gridsearch import GridSearch
from whiffclock.pomdp.solver import SolverSettings, solve
from whiffclock.runs.kinds import Given, Solve
from whiffclock.world.moves import MOVES

DENSE, CONDITIONAL = 3e-6, BayesSettings(likelihood="conditional")
UPWIND, PLUS, MINUS, DOWNWIND = range(4)


@pytest.fixture(scope="module")
def small():
    return toy_plume(snapshots=150, length=20, width=11, seed=3)


@pytest.fixture(scope="module")
def agent(small):
    model = search_model(small, DENSE)
    vectors = solve(model, SolverSettings(seconds=None, backups=300)).vectors
    return quasi_optimal(model, vectors, {"threshold": DENSE})


@pytest.fixture(scope="module")
def correlated(small, agent):
    return replace(agent, conditional=conditional_chances(small, DENSE, CONDITIONAL))


def test_a_whiff_that_drifts_by_one_cell_is_certain_to_follow():
    """Every third snapshot a whiff enters at x = 0 and moves one cell downwind with each snapshot."""
    field = np.zeros((31, 4, 1))
    for t in range(31):
        field[t, t % 3 :: 3] = 1.0
    chance = Plume.from_array(field, environments={"one": 0.5}).whiffs(0.5).conditional(MOVES, 0.5)
    # At x = 2: 10 whiffs in 31 snapshots. Downwind with the whiff: 10 pairs, always a whiff; else 20, never one.
    own = 0.5 * 10 / 31
    assert chance[DOWNWIND, :, 2, 0] == pytest.approx([own / 20.5, (10 + own) / 10.5])
    # Upwind from x = 3: 10 whiffs there, none of which is followed by one here.
    assert chance[UPWIND, :, 2, 0] == pytest.approx([(10 + own) / 20.5, own / 10.5])
    # Across there is no cell, so only blanks come before, and the frequency is that of 30 snapshots.
    assert chance[PLUS, 0, 2, 0] == pytest.approx((10 + own) / 30.5)
    assert chance[MINUS, 1, 2, 0] == pytest.approx(10 / 31)


def test_counts_are_those_of_plain_python(small):
    whiffs = small.field >= DENSE
    expected = reference.conditional_chances(whiffs.tolist(), PRIOR)
    np.testing.assert_allclose(small.whiffs(DENSE).conditional(MOVES, PRIOR), expected, rtol=1e-12)


def test_tables_are_probabilities_and_average_to_the_frequency(small):
    """Off the record and where there is never a whiff, the floor; elsewhere the mean over pairs is the frequency."""
    chance = small.whiffs(DENSE).conditional(MOVES, 0.25)
    assert ((chance >= 0) & (chance <= 1)).all()
    whiffs = small.field >= DENSE
    before = whiffs[:-1].mean(axis=0)
    inner = slice(1, -1), slice(1, -1)
    came = np.stack([np.roll(before, move, axis=(0, 1))[inner] for move in MOVES])
    total = chance[:, 1][:, *inner] * came + chance[:, 0][:, *inner] * (1 - came)
    assert np.abs(total - whiffs[1:].mean(axis=0)[inner]).max() < 0.01
    tables = conditional_chances(small, DENSE, CONDITIONAL)
    assert tables.shape == (4, 2, 39, 21)
    assert (tables.min(), tables[:, :, 0].max()) == (1e-3, 1e-3)
    assert np.ptp(tables, axis=1).max() > 0.3  # the observation before matters
    assert conditional_chances(small, DENSE, BayesSettings()) is None


def test_an_update_worked_by_hand():
    """Three cells beside the target; a whiff, then downwind, then a whiff or a blank."""
    target = np.array([1, 0, 0, 0, 0], bool)[:, None]
    initial = np.array([0, 0.5, 0.25, 0.25, 0])[:, None]
    chance = np.array([0.1, 0.5, 0.2, 0.4, 0.8])[:, None]
    model = GridSearch(np.stack([1 - chance, chance]), target, initial, MOVES, 0.9)
    after = np.full((4, 2, 5, 1), 0.5)
    after[DOWNWIND, 1, :, 0] = 0.1, 0.1, 0.6, 0.3, 0.9
    after[DOWNWIND, 0, :, 0] = 0.1, 0.1, 0.2, 0.1, 0.4
    policy = belief_heuristic("QMDP", model, conditional=after)
    memory = policy.begin(np.array([True, True, False]))
    first = memory.one(memory.who[0])
    assert first.weights.tolist() == pytest.approx([0.25 / 0.4, 0.05 / 0.4, 0.1 / 0.4])  # by the plain frequencies
    memory = policy.observe(memory, np.full(3, DOWNWIND), np.array([True, False, True]))
    twice, once, late = (memory.one(k) for k in memory.who)
    assert twice.cells.tolist() == [2, 3, 4]
    weights = np.array([0.25 * 0.6, 0.05 * 0.3, 0.1 * 0.9])
    assert twice.weights.tolist() == pytest.approx((weights / weights.sum()).tolist())
    weights = np.array([0.25 * 0.4, 0.05 * 0.7, 0.1 * 0.1])
    assert once.weights.tolist() == pytest.approx((weights / weights.sum()).tolist())
    weights = np.array([0.5 * 0.5 * 0.2, 0.25 * 0.8 * 0.1, 0.25 * 0.6 * 0.4])
    assert late.weights.tolist() == pytest.approx((weights / weights.sum()).tolist())
    assert memory.last[memory.who].tolist() == [1, 0, 1]
    kept = policy.select(memory, np.array([1, 2]))
    assert kept.last[kept.who].tolist() == [0, 1]


def test_with_the_same_tables_it_is_the_independent_agent(small, agent, correlated):
    same = replace(agent, conditional=np.broadcast_to(agent.model.likelihood[1], correlated.conditional.shape))
    settings = EvaluationSettings(snapshots=2)
    plain, equal, other = (evaluate(one, small, DENSE, settings=settings) for one in (agent, same, correlated))
    assert plain == equal
    assert plain != other


def test_it_is_saved_and_loaded_with_its_tables(small, correlated, tmp_path):
    settings = EvaluationSettings(snapshots=1)
    for policy in (correlated, infotaxis(small, DENSE, likelihood="conditional")):
        policy.save(tmp_path / "policy.npz")
        again = load_policy(tmp_path / "policy.npz")
        assert np.array_equal(again.conditional, policy.conditional)
        assert repr(again) == repr(policy)
        assert "conditional likelihoods" in repr(again)
        assert evaluate(again, small, DENSE, settings=settings) == evaluate(policy, small, DENSE, settings=settings)


@pytest.mark.parametrize(
    "change", [lambda a: a[:-1], lambda a: a[:, :, :-1], lambda a: a * np.nan, lambda a: a + 1, lambda a: a.astype(str)]
)
def test_broken_tables_in_a_file_are_refused_in_one_sentence(correlated, tmp_path, change):
    path = tmp_path / "policy.npz"
    arrays = correlated.to_arrays()
    write_npz(path, arrays | {"conditional": change(arrays["conditional"])})
    with pytest.raises(InputError) as refused:
        load_policy(path)
    assert str(refused.value).startswith(f"{path} is a damaged whiffclock policy (")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: a * np.nan, lambda a: a + 1])
def test_tables_that_do_not_fit_are_refused(correlated, change):
    with pytest.raises(InputError, match=r"^The conditional probabilities of a whiff must be 4 x 2 x 39 x 21 numbers"):
        replace(correlated, conditional=change(correlated.conditional))


def test_jobs_know_the_difference_and_old_keys_stay(small, agent, correlated):
    place = small.fingerprint, DENSE, small.settle()
    solver = SolverSettings(seconds=None, backups=2)
    plain, other = Solve(*place, BayesSettings(), solver), Solve(*place, CONDITIONAL, solver)
    assert plain.key != other.key
    assert "likelihood" not in json.dumps(plain.description)
    assert Given.of(agent).digest != Given.of(correlated).digest
    one, two = plain.compute(small, {}, lambda _: None), other.compute(small, {}, lambda _: None)
    assert one.conditional is None
    assert np.array_equal(two.conditional, correlated.conditional)
    assert np.array_equal(one.vectors.array(), two.vectors.array())  # solved for independent whiffs all the same


def test_from_the_command_line(small, tmp_path):
    plume, plain, other = tmp_path / "plume.npz", tmp_path / "plain.npz", tmp_path / "conditional.npz"
    write_plume(small, plume)
    words = ["--plume", plume, "--part"]
    for path in (plain, other):
        done = run("bayes", "solve", *words, "train", "-e", "dense", "--backups", 50, "--likelihood",
                   "independent" if path is plain else "conditional", "--out", path)  # fmt: skip
        assert done.returncode == 0, done.stderr
    tested = run("bayes", "evaluate", plain, other, *words, "test", "--snapshots", 2, "--json")
    results = json.loads(tested.stdout)
    assert results[0]["G"] != results[1]["G"]
    refused = run("bayes", "evaluate", plain, *words, "test", "--likelihood", "conditional")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "has independent likelihoods; solve again with --likelihood conditional" in " ".join(refused.stderr.split())
    assert (
        run("bayes", "evaluate", other, *words, "test", "--snapshots", 1, "--likelihood", "conditional").returncode == 0
    )
    unknown = run("bayes", "solve", "-e", "dense", "--likelihood", "markov")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "markov" in unknown.stderr
    assert unknown.stderr.count("\n") == 1
