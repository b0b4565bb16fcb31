"""Agents: schedules, determinism, learning, cast-and-surge, compositions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from trainings import clock_task

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.compose import heuristic_two_q, one_mode
from whiffclock.agents.qlearning import Task, Training, sparse_share, train
from whiffclock.evaluation import evaluate
from whiffclock.memory import clock, window
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, WorldSettings
from whiffclock.plume import Plume
from whiffclock.progress import Bar
from whiffclock.recovery import recovery_path
from whiffclock.runs.comparison import Comparison, contenders
from whiffclock.runs.jobs import ONE_THREAD, JobFolder
from whiffclock.runs.kinds import Train
from whiffclock.runs.training import TAUS, TauScan, with_chosen_tau
from whiffclock.world.episode import scheduled
from whiffclock.world.moves import ACTIONS

SHORT = LearningSettings.shortened(20_000)


def test_the_schedules_are_the_papers():
    paper = LearningSettings()
    assert (paper.alpha_start, paper.alpha_end, paper.alpha_decay) == (0.1, 1e-4, 2.5e6)
    assert scheduled(0.1, 1e-4, 2.5e6, 0) == pytest.approx(0.1, rel=1e-6)
    assert scheduled(1.0, 1e-4, 2.5e6, 1_249_999) == pytest.approx(0.50005, rel=1e-9)
    assert scheduled(1.0, 1e-4, 2.5e6, 2_499_999) == 1e-4
    assert scheduled(1.0, 1e-4, 2.5e6, 3_000_000) == 1e-4
    assert LearningSettings.shortened(3_000_001) == paper


def test_one_decision_by_hand():
    # One start, one step from the source: the only move that ends the episode is upwind.
    field = np.zeros((2, 6, 5))
    field[:, 3, 2] = 1.0
    plume = Plume.from_array(field, (0, 2))
    learning = LearningSettings(episodes=1, epsilon_start=0.0, epsilon_end=0.0, alpha_end=0.1)
    training = Training(clock_task(plume, 1.0, clock(5), learning, WorldSettings(start_threshold=None)))
    training.advance(1)
    # All Q are -1, the tie goes to upwind, and Q(0, upwind) = -1 + 0.1 (1 - (-1)).
    assert training.q[0].tolist() == [-1 + 0.1 * 2.0, -1, -1, -1]
    assert (training.q[1:] == -1).all()
    assert training.policy().records["curve"].tolist() == [[1, 1.0, 1.0, 1.0]]


def test_the_return_is_the_discounted_sum():
    field = np.zeros((2, 9, 5))
    field[:, 8, 2] = 1.0
    plume = Plume.from_array(field, (0, 2))
    learning = LearningSettings(episodes=1, epsilon_start=0.0, epsilon_end=0.0, gamma=0.9)
    task = clock_task(plume, 1.0, clock(20), learning, WorldSettings(start_threshold=None))
    # Q(s, upwind) only falls while the episode lasts if -0.1 + 0.9 * (-1) < -1, which it does not: the
    # agent walks upwind six times. Return: -0.1 (1 + .9 + ... + .9^4) + .9^5.
    expected = -0.1 * sum(0.9**t for t in range(5)) + 0.9**5
    assert train(task).records["curve"][0, 1] == pytest.approx(expected)


@pytest.mark.parametrize("taus", [(), (10,)])
def test_episodes_of_500_blanks_are_learned_from_and_searched(taus):
    # One whiff, far from the source, that nobody meets again: the clock runs to its end and stays there.
    field = np.zeros((600, 400, 5))
    field[0, 399, 2] = 1.0
    plume = Plume.from_array(field, (0, 2))
    world = WorldSettings(start_threshold=None)
    task = clock_task(plume, 1.0, clock(500, taus), LearningSettings.shortened(40), world)
    policy = train(task)
    assert policy.records["clock"][:, 0].max() == 499
    assert policy.records["curve"][:, 3].max() == 500
    downwind = replace(policy, actions=np.full_like(policy.actions, 3))
    seen = evaluate(downwind, plume, 1.0, world)
    assert not seen.arrived.any()
    assert (seen.mode_steps.sum(axis=1) == 500).all()


def test_same_seed_same_bits_in_any_number_of_parts(plume):
    task = clock_task(plume, 3e-6, clock(100, (5,)), LearningSettings.shortened(3000), seed=7)
    whole, parts = Training(task), Training(task)
    whole.advance(3000)
    while not parts.done:
        parts.advance(41)
    assert np.array_equal(whole.q, parts.q)
    for key, value in whole.policy().records.items():
        assert np.array_equal(value, parts.policy().records[key]), key
    other = Training(clock_task(plume, 3e-6, clock(100, (5,)), LearningSettings.shortened(3000), seed=8))
    other.advance(3000)
    assert not np.array_equal(whole.q, other.q)


def test_learning_beats_a_random_walk_and_improves(plume):
    policy = train(clock_task(plume, 3e-6, clock(200), SHORT, seed=0))
    curve = policy.records["curve"]
    assert curve[-20:, 1].mean() > curve[:20, 1].mean() + 0.3
    assert evaluate(policy, plume, 3e-6).mean("f+") > 0.8
    assert policy.actions[0] == ACTIONS.index("upwind")


def test_two_q_uses_both_modes(plume, tmp_path):
    policy = train(clock_task(plume, 3e-6, clock(200, (3,)), LearningSettings.shortened(2000), seed=0))
    assert 0.05 < sparse_share(policy) < 0.95
    learning = LearningSettings.shortened(1500, horizon=200, gamma=0.99)
    like = Train(plume.fingerprint, 3e-6, clock(200, split_zero=True), learning, plume.settle())
    scan = TauScan(seeds=1, episodes=500)
    (job,) = with_chosen_tau([like], plume, scan, JobFolder(tmp_path), ONE_THREAD, Bar(""))
    (tau,) = job.memory.spec["taus"]
    assert tau in TAUS
    assert job == replace(like, memory=clock(200, (tau,), split_zero=True))
    for trainings in scan.trainings(like).values():  # with the settings that were asked for
        assert trainings[0].memory.spec["split_zero"]
        assert trainings[0].learning == LearningSettings.shortened(500, horizon=200, gamma=0.99)
    slower = replace(like, learning=replace(learning, alpha_decay=600.0))
    assert scan.trainings(slower)[TAUS[0]][0].learning.alpha_decay == 200


def test_a_record_that_is_too_short_to_avoid_its_end_is_refused(plume):
    with pytest.raises(InputError, match="200 snapshots"):
        Training(clock_task(plume, 3e-6, clock(500), SHORT, WorldSettings(end_of_record="avoid")))


def test_cast_and_surge_is_algorithm_1():
    # Worked by hand for 45 degrees (sigma = 1): surge; cast to +1, step up; to -2, step up; to +3 ...
    names = [ACTIONS[a] for a in cast_and_surge(45, 16).actions]
    assert names == ["upwind", "+y", "upwind", *["-y"] * 3, "upwind", *["+y"] * 5, "upwind", *["-y"] * 3]
    # 60 degrees: ceil(1.73 x) = 2, 4, 6
    names = [ACTIONS[a] for a in cast_and_surge(60, 12).actions]
    assert names == ["upwind", "+y", "+y", "upwind", *["-y"] * 6, "upwind", "+y"]


@pytest.mark.parametrize("angle", [0, 90, -5, math.nan])
def test_impossible_angles_are_refused(angle):
    with pytest.raises(InputError, match="half-opening angle"):
        cast_and_surge(angle)


def test_tuning_takes_the_best_angle(plume, tmp_path):
    comparison = Comparison(plume, [], [3e-6], plume.settle(), EvaluationSettings(horizon=500))
    (tuned,) = comparison.rows(JobFolder(tmp_path), ONE_THREAD, Bar(""))
    for angle in (10, 40, 70):
        assert tuned.best.mean("G") >= evaluate(cast_and_surge(angle), plume, 3e-6).mean("G")
    made = tuned.to_xarray()
    assert float(made["mean"].sel(agent=0, metric="G")) == tuned.best.mean("G")
    assert made.attrs["environment"] == "dense"
    best = float(tuned.note.removesuffix(" degrees"))
    assert tuned.best.mean("G") == evaluate(cast_and_surge(best), plume, 3e-6).mean("G")


def test_heuristic_two_q_is_its_two_halves(plume):
    dense, sparse = cast_and_surge(20, 50), cast_and_surge(70, 50)
    both = heuristic_two_q(dense, sparse, 7)
    assert np.array_equal(one_mode(both, 0).actions, dense.actions)
    assert np.array_equal(one_mode(both, 1).actions, sparse.actions)
    assert np.array_equal(recovery_path(both, 0), recovery_path(dense))
    same = heuristic_two_q(dense, dense, 7)
    assert np.array_equal(evaluate(same, plume, 3e-6).arrival, evaluate(dense, plume, 3e-6).arrival)
    with pytest.raises(InputError, match="single-mode"):
        heuristic_two_q(both, sparse, 7)
    with pytest.raises(InputError, match="one horizon"):
        heuristic_two_q(dense, cast_and_surge(20, 60), 7)


def test_the_recovery_path_of_cast_and_surge():
    path = recovery_path(cast_and_surge(45, 7))
    assert path.tolist() == [[0, 0], [-1, 0], [-1, 1], [-2, 1], [-2, 0], [-2, -1], [-2, -2], [-3, -2]]


def test_the_truncations_are_read_off_the_training(plume):
    policy = train(clock_task(plume, 3e-6, clock(100), LearningSettings.shortened(500)))
    ((largest, reading_sum, readings, longest, blank_sum, blanks),) = policy.records["clock"].tolist()
    assert len(recovery_path(policy, truncation="none")) == 101
    assert len(recovery_path(policy)) == largest + 1
    assert len(recovery_path(policy, truncation="mean clock reading")) == round(reading_sum / readings) + 1
    assert len(recovery_path(policy, truncation="longest blank")) == longest + 1
    assert len(recovery_path(policy, truncation="mean blank")) == round(blank_sum / blanks) + 1
    assert longest <= largest


def test_heuristic_two_q_is_for_the_source_region_of_its_parts(plume):
    small, large = (
        train(clock_task(plume, 3e-6, clock(50), LearningSettings.shortened(20), WorldSettings(radius=radius)))
        for radius in (2.0, 3.0)
    )
    with pytest.raises(InputError, match="one source region"):
        heuristic_two_q(small, large, 7)
    both = heuristic_two_q(small, small, 7)
    with pytest.raises(InputError, match="source radius of 2"):
        evaluate(both, plume, 3e-6, WorldSettings(radius=3))


def test_clock_records_are_kept_for_each_mode(plume):
    policy = train(clock_task(plume, 3e-6, clock(100, (4,)), LearningSettings.shortened(500)))
    minus, plus = policy.records["clock"]
    assert minus[2] > 0
    assert plus[2] > 0
    assert len(recovery_path(policy, 0)) == minus[0] + 1
    assert len(recovery_path(policy, 1)) == plus[0] + 1
    assert len(recovery_path(policy, 0, "mean blank")) == round(minus[4] / minus[5]) + 1


def test_a_clock_shorter_or_longer_than_an_episode_learns(plume):
    """The length of the clock and the longest episode are two settings."""
    for length, horizon in ((20, 60), (60, 20)):
        learning = LearningSettings.shortened(300, horizon=horizon)
        policy = train(Task(plume, 3e-6, clock(length), learning))
        assert policy.q.shape == (length, 4)
        assert policy.records["curve"][:, 3].max() <= horizon
        assert policy.records["clock"][0, 0] <= min(length - 1, horizon)
        assert evaluate(policy, plume, 3e-6).horizon == horizon


def test_heuristic_two_q_searches_as_long_as_its_parts(plume):
    part = train(clock_task(plume, 3e-6, clock(50), LearningSettings.shortened(20, horizon=50)))
    assert evaluate(heuristic_two_q(part, part, 7), plume, 3e-6).horizon == 50


def test_only_a_clock_can_be_confined_to_a_mode(plume):
    policy = train(Task(plume, 3e-6, window(3, 40), LearningSettings.shortened(20)))
    with pytest.raises(InputError, match="on a clock"):
        one_mode(policy, 0)
    with pytest.raises(InputError, match="window-3 is not one"):
        heuristic_two_q(policy, policy, 7)


def test_a_given_cast_and_surge_stands_beside_the_tuned_one(plume, tmp_path):
    settings = EvaluationSettings(2, horizon=50)
    comparison = Comparison(plume, contenders([cast_and_surge(80, 50)]), [3e-6], plume.settle(), settings)
    given, tuned = comparison.rows(JobFolder(tmp_path), ONE_THREAD, Bar(""))
    assert (given.agent, tuned.agent) == ("cast-and-surge, as given", "cast-and-surge")
    assert given.best.mean("G") == evaluate(cast_and_surge(80, 50), plume, 3e-6, settings=settings).mean("G")


def test_an_empty_scan_of_tau_is_refused():
    with pytest.raises(InputError, match="seeds is 0"):
        TauScan(seeds=0)


def test_policies_with_other_settings_are_not_one_ensemble(plume, tmp_path):
    def trained(seed, **changes):
        learning = LearningSettings.shortened(20, horizon=50, **changes)
        return train(Task(plume, 3e-6, clock(50), learning, seed=seed))

    ensemble = [trained(0), trained(1)]
    assert [one.name for one in contenders(ensemble)] == ["single-Q", "single-Q"]
    mixed = [*ensemble, trained(0, gamma=0.9)]
    assert [one.name for one in contenders(mixed)] == ["single-Q", "single-Q", "single-Q, gamma 0.9"]
    comparison = Comparison(plume, contenders(mixed), [3e-6], plume.settle(), EvaluationSettings(1))
    rows = comparison.rows(JobFolder(tmp_path), ONE_THREAD, Bar(""))
    assert [(row.agent, len(row.evaluations)) for row in rows[:2]] == [("single-Q", 2), ("single-Q, gamma 0.9", 1)]
    angles = contenders([cast_and_surge(30, 50), cast_and_surge(40, 50)])
    assert len({one.name for one in angles}) == 2


def test_the_records_of_a_training_have_names(plume):
    policy = train(clock_task(plume, 3e-6, clock(60, (4,)), LearningSettings.shortened(400, curve_points=4)))
    curve = policy.curve()
    assert curve["episode"].tolist() == [100, 200, 300, 400]
    assert 0 <= curve["f+"].min() <= curve["f+"].max() <= 1
    assert -1 <= curve["G"].min() <= curve["G"].max() <= 1
    assert 1 <= curve["steps"].min() <= curve["steps"].max() <= 60
    for mode in (0, 1):
        record = policy.clock_record(mode)
        assert record["clock_sum"] <= record["clocks"] * record["largest_clock"]
        assert record["blank_sum"] <= record["blanks"] * record["longest_blank"]
        assert len(recovery_path(policy, mode)) == record["largest_clock"] + 1
    assert cast_and_surge(30).clock_record(0) == {}
    with pytest.raises(InputError, match="there is no mode 2"):
        recovery_path(policy, 2)
