"""Evaluation: the metrics against their definitions, common starts, standard errors."""

import json
import math

import numpy as np
import pytest
from trainings import clock_task

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.agents.qlearning import train
from whiffclock.evaluation import METRICS, Evaluation, evaluate
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, WorldSettings
from whiffclock.world.starts import Starts, make_starts


def made_up(arrival, stratum, shortest, gamma=0.9, horizon=10):
    n = len(arrival)
    starts = Starts(np.zeros((n, 3), np.int32), np.array(stratum), np.array(shortest))
    empty = np.zeros((n, 3), np.int32)
    return Evaluation(
        "x", 1.0, starts, EvaluationSettings(gamma=gamma), horizon, np.array(arrival), empty, np.ones((n, 1)), empty
    )


def test_the_metrics_are_their_definitions():
    seen = made_up([4, 0, 1], [0, 0, 0], [2, 5, 1])

    def rewards(steps):
        return [-0.1] * (steps - 1) + [1.0]

    discounted = [sum(r * 0.9**t for t, r in enumerate(rewards(n))) for n in (4, 1)]
    lost = sum(-0.1 * 0.9**t for t in range(10))
    assert seen.per_start("G") == pytest.approx([discounted[0], lost, discounted[1]])
    assert seen.per_start("G_sum") == pytest.approx([sum(rewards(4)), -1.0, 1.0])
    assert seen.per_start("T_min/T") == pytest.approx([0.5, 0.0, 1.0])
    assert seen.mean("f+") == pytest.approx(2 / 3)


def test_standard_errors_are_over_time_strata():
    seen = made_up([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1])
    assert seen.standard_error("f+") == pytest.approx(np.std([1, 0], ddof=1) / math.sqrt(2))
    assert math.isnan(made_up([1, 0], [0, 0], [1, 1]).standard_error("f+"))


def test_starts_cover_every_cell_and_every_part_of_the_record(plume):
    settings = EvaluationSettings(snapshots=7, seed=3)
    starts = make_starts(plume, 3e-6, WorldSettings(), settings, 500)
    cells = plume.starts(3e-6, WorldSettings())
    assert len(starts) == 7 * len(cells)
    for k in range(7):
        times = starts.points[starts.stratum == k, 2]
        assert (times >= k * 200 // 7).all()
        assert (times < (k + 1) * 200 // 7).all()
        assert np.array_equal(starts.points[starts.stratum == k, :2], cells)
    again = make_starts(plume, 3e-6, WorldSettings(), settings, 500)
    assert np.array_equal(starts.points, again.points)


def test_starts_on_a_whiff_are_on_a_whiff(plume):
    world = WorldSettings(start_on_whiff=True)
    starts = make_starts(plume, 5e-6, world, EvaluationSettings(snapshots=4), 500)
    x, y, t = starts.points.T
    assert (plume.field[t, x, y] >= 5e-6).all()


def test_all_policies_meet_the_same_starts(plume):
    one, other = (evaluate(cast_and_surge(angle), plume, 3e-6) for angle in (20, 60))
    assert np.array_equal(one.starts.points, other.starts.points)
    assert not np.array_equal(one.arrival, other.arrival)


def test_nobody_is_faster_than_possible(plume):
    seen = evaluate(cast_and_surge(45), plume, 1e-6)
    assert seen.arrived.any()
    assert (seen.arrival[seen.arrived] >= seen.starts.shortest[seen.arrived]).all()
    assert (seen.per_start("T_min/T") <= 1).all()


def test_every_decision_is_counted_in_one_mode(plume):
    policy = train(clock_task(plume, 3e-6, clock(100, (4,)), LearningSettings.shortened(500)))
    seen = evaluate(policy, plume, 3e-6)
    assert seen.occupancy.shape == (2, *plume.field.shape[1:])
    assert 0 < seen.occupancy.sum() <= seen.mode_steps.sum()
    steps = np.where(seen.arrived, seen.arrival, 100)
    assert np.array_equal(seen.mode_steps.sum(axis=1), steps)


def test_lost_searches_know_where_they_last_smelled(plume):
    upwind = cast_and_surge(5, 100)
    seen = evaluate(upwind, plume, 7e-6)
    lost = ~seen.arrived & (seen.last_whiff[:, 2] >= 0)
    assert lost.any()
    assert len(seen.lost_at()) == lost.sum()
    i = int(np.flatnonzero(lost)[0])
    x, y, when = seen.last_whiff[i]
    assert plume.field[(seen.starts.points[i, 2] + when) % 200, x, y] >= 7e-6


def test_a_policy_for_another_source_region_is_refused(plume):
    policy = train(clock_task(plume, 3e-6, clock(50), LearningSettings.shortened(50)))
    with pytest.raises(InputError, match="source radius of 2"):
        evaluate(policy, plume, 3e-6, WorldSettings(radius=3))


def test_more_strata_than_snapshots_are_refused(plume):
    with pytest.raises(InputError, match="only 200"):
        evaluate(cast_and_surge(45), plume, 3e-6, settings=EvaluationSettings(snapshots=201))


class Chooses:
    """A user's policy that always chooses one action, or what it takes for one."""

    name, modes, threshold, made_from = "somebody's", 1, 3e-6, {}

    def __init__(self, action):
        self.action = action

    def begin(self, whiff):
        return np.zeros(len(whiff))

    def act(self, memory):
        return np.full(len(memory), self.action)

    def observe(self, memory, action, whiff):
        return memory

    def select(self, memory, which):
        return memory[which]

    def mode(self, memory):
        return np.zeros(len(memory), dtype=np.int64)


@pytest.mark.parametrize("action", [-1, 4, 40])
def test_an_action_that_is_none_is_refused(plume, action):
    assert evaluate(Chooses(0), plume, 3e-6, settings=EvaluationSettings(snapshots=1, horizon=20)).mean("f+") > 0
    with pytest.raises(InputError, match="actions are 0 to 3"):
        evaluate(Chooses(action), plume, 3e-6, settings=EvaluationSettings(snapshots=1, horizon=20))


def test_starts_on_a_whiff_stay_in_their_stratum_and_are_different(plume):
    world, settings = WorldSettings(start_on_whiff=True), EvaluationSettings(snapshots=8)
    starts = make_starts(plume, 7e-6, world, settings, 500)
    edges = np.arange(9) * 200 // 8
    x, y, t = starts.points.T
    assert np.array_equal(np.searchsorted(edges, t, side="right") - 1, starts.stratum)
    assert len(np.unique(starts.points, axis=0)) == len(starts)
    # There is a start wherever a cell has a whiff in a stratum, and only there.
    record = plume.whiffs(7e-6)
    for cell in plume.starts(7e-6, world)[::50]:
        whiffs = np.flatnonzero(record.series(*cell))
        here = (x == cell[0]) & (y == cell[1])
        assert set(starts.stratum[here]) == set(np.searchsorted(edges, whiffs, side="right") - 1)
    anywhere = make_starts(plume, 7e-6, WorldSettings(), settings, 500)
    assert len(starts) <= len(anywhere)


def test_an_evaluation_is_a_dataset_with_names(plume):
    seen = evaluate(cast_and_surge(40, 60), plume, 3e-6, settings=EvaluationSettings(snapshots=3, horizon=60))
    made = seen.to_xarray()
    assert made.sizes["start"] == len(seen.starts)
    assert float(made["G"].mean()) == pytest.approx(seen.mean("G"))
    assert float(made["f+"].groupby("stratum").mean().std(ddof=1)) / 3**0.5 == pytest.approx(seen.standard_error("f+"))
    assert json.loads(made.attrs["summary"])["starts"] == len(seen.starts)


def test_a_start_on_a_whiff_is_the_drawn_time_or_the_next_whiff_of_its_stratum(plume):
    """Cell by cell in plain Python; after the last whiff of a stratum comes its first."""
    settings, snapshots, strata = EvaluationSettings(snapshots=8, seed=2), 200, 8
    drawn = make_starts(plume, 5e-6, WorldSettings(), settings, 500)
    moved = make_starts(plume, 5e-6, WorldSettings(start_on_whiff=True), settings, 500)
    expected, on_a_whiff = [], 0
    for (x, y, time), stratum in zip(drawn.points.tolist(), drawn.stratum.tolist(), strict=True):
        begin, end = stratum * snapshots // strata, (stratum + 1) * snapshots // strata
        whiffs = [t for t in range(begin, end) if plume.field[t, x, y] >= np.float32(5e-6)]
        if whiffs:
            expected.append([x, y, next((t for t in whiffs if t >= time), whiffs[0])])
        on_a_whiff += time in whiffs
    assert on_a_whiff > 50
    assert moved.points.tolist() == expected


def test_tables_are_searched_in_parts_with_the_same_result(plume, monkeypatch):
    """A part ends in fractions of a second, so that there is progress, and Ctrl-C is heard."""
    policy = train(clock_task(plume, 3e-6, clock(100, (4,)), LearningSettings.shortened(500)))
    whole, ticks = evaluate(policy, plume, 3e-6), []
    monkeypatch.setattr("whiffclock.evaluation.PART", 100 * 77)
    parts = evaluate(policy, plume, 3e-6, progress=ticks.append)
    assert parts == whole
    assert set(ticks[:-1]) == {77}
    assert sum(ticks) == len(whole.starts)

    def stop(searches):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(policy, plume, 3e-6, progress=stop)


def test_a_million_searches_are_more_than_one_call():
    from whiffclock.world.episode import PART

    assert PART // LearningSettings.horizon < 200_000


def test_a_standard_error_does_not_depend_on_the_order_of_the_metrics(monkeypatch):
    seen = made_up([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1])
    before = seen.standard_error("f+")
    monkeypatch.setattr("whiffclock.evaluation.METRICS", dict(reversed(METRICS.items())))
    assert seen.standard_error("f+") == before
