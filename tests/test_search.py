"""The one search loop: in a plume, among independent whiffs, along a script."""

import numpy as np
import pytest

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.memory import clock
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume.toy import toy_plume
from whiffclock.policy import TablePolicy
from whiffclock.world.loop import search
from whiffclock.world.moves import UPWIND
from whiffclock.world.starts import one_start, start_cells, start_snapshots
from whiffclock.world.trajectory import trajectory
from whiffclock.world.worlds import PlumeWorld, ScriptWorld

SMALL = toy_plume(snapshots=10, length=20, width=7)


def counting(length=6):
    """A policy whose actions tell its clock: upwind on a whiff, then +y, -y, +y, ..."""
    actions = np.array([0] + [1 + i % 2 for i in range(length - 1)], dtype=np.int8)
    return TablePolicy("counting", clock(length), actions)


def test_a_script_says_what_is_smelled():
    script = [True, False, False, True, False]
    seen = trajectory(counting(), ScriptWorld(1, np.array(script)), 6)
    assert seen.whiff.tolist() == [*script, False, False]
    assert seen.clock.tolist() == [0, 1, 2, 0, 1, 2, 3]
    # On a whiff upwind; one blank later +y, then -y.
    assert np.diff(seen.position, axis=0).tolist() == [[-1, 0], [0, 1], [0, -1], [-1, 0], [0, 1], [0, -1]]
    assert not seen.arrived


def test_a_search_before_any_whiff_counts_from_one():
    seen = trajectory(counting(), ScriptWorld(1, np.array([False])), 2)
    assert seen.clock.tolist() == [1, 2, 3]


def test_moments_are_yielded_before_every_move_and_after_the_last():
    moments = list(search(counting(), ScriptWorld(3), 4))
    assert [moment.step for moment in moments] == [0, 1, 2, 3, 4]
    assert moments[0].whiff.all()
    assert not any(moment.whiff.any() for moment in moments[1:])
    assert moments[0].position.tolist() == [[0, 0]] * 3  # a moment keeps what it saw
    assert moments[4].position.tolist() == [[-1, 1]] * 3  # upwind, +y, -y, +y


def test_whoever_reads_a_moment_may_end_searches():
    ended = {}
    for moment in search(counting(), ScriptWorld(4), 10):
        moment.stop[:] = moment.search < moment.step
        for who in moment.search[moment.stop]:
            ended[int(who)] = moment.step
    assert ended == {0: 1, 1: 2, 2: 3, 3: 4}
    assert moment.step == 4


def test_arrivals_are_told_with_place_and_smell(plume):
    world = WorldSettings()
    record = plume.whiffs(1e-6).world(world)
    x, y = plume.source
    upwind = TablePolicy("upwind", clock(2), np.full(2, UPWIND, dtype=np.int8))
    points = np.array([[x + 4, y, 0], [x + 7, y, 3], [x + 4, y + 9, 0]])
    arrivals = {}
    for moment in search(upwind, PlumeWorld(record, points), 30):
        for who, at in zip(moment.arrived, moment.arrived_at, strict=True):
            arrivals[int(who)] = moment.step, at.tolist()
    assert arrivals == {0: (2, [x + 2, y, 2]), 1: (5, [x + 2, y, 8])}
    seen = trajectory(upwind, PlumeWorld(record, points[:1]), 30)
    assert seen.arrived
    assert seen.position.tolist() == [[x + 4, y], [x + 3, y], [x + 2, y]]
    assert seen.whiff[2] == plume.whiffs(1e-6).snapshot(2)[x + 2, y]


def test_an_example_search_is_the_search_of_the_evaluation(plume):
    from whiffclock.evaluation import evaluate

    policy = cast_and_surge(40, 60)
    seen = evaluate(policy, plume, 3e-6)
    record = plume.whiffs(3e-6).world(WorldSettings())
    for i in (0, 100, 777):
        one = trajectory(policy, PlumeWorld(record, seen.starts.points[i : i + 1]), 500)
        assert one.arrived == seen.arrived[i]
        assert len(one.position) - 1 == (seen.arrival[i] or 500)
        whiffs = np.flatnonzero(one.whiff[:-1] if one.arrived else one.whiff)
        last = whiffs[-1] if len(whiffs) else -1
        assert seen.last_whiff[i, 2] == last


def test_starts_on_a_whiff_need_one_among_the_snapshots_to_start_from():
    """With starts on a whiff and away from the end, a cell may have no snapshot to start from: refused, not redrawn."""
    from trainings import clock_task

    from whiffclock.agents.qlearning import Training
    from whiffclock.params import LearningSettings
    from whiffclock.plume import Plume

    field = np.zeros((30, 8, 5), dtype=np.float32)
    field[2, 5, 2] = field[28, 6, 2] = 1.0  # the second whiff comes within 10 steps of the end
    plume = Plume.from_array(field, (0, 2))
    world = WorldSettings(start_threshold=None, start_on_whiff=True, end_of_record="avoid")
    assert start_snapshots(30, world, 10) == 20
    assert len(start_cells(plume, 1.0, WorldSettings(start_threshold=None, start_on_whiff=True), 10)) == 2
    with pytest.raises(InputError, match=r"1 of 2 start cells have no whiff among the 20 snapshots .* \(6, 2\)"):
        start_cells(plume, 1.0, world, 10)
    with pytest.raises(InputError, match="no whiff among the 20 snapshots"):
        Training(clock_task(plume, 1.0, clock(10), LearningSettings.shortened(10), world))


@pytest.mark.parametrize("horizon", [0, -3, 2.5, "5"])
def test_a_search_without_a_move_is_refused(horizon):
    with pytest.raises(InputError, match="it must be a whole number of moves, at least 1"):
        trajectory(counting(), ScriptWorld(1), horizon)


def test_a_given_start_is_a_cell_of_the_plume(plume):
    world = WorldSettings()
    assert one_start(plume, 3e-6, world, (30, 13)).tolist() == [[30, 13, 0]]
    assert one_start(plume, 3e-6, world, np.array([3, 4, 199], dtype=np.uint8)).tolist() == [[3, 4, 199]]
    cells = plume.starts(3e-6, world)
    ((x, y, snapshot),) = one_start(plume, 3e-6, world).tolist()
    assert snapshot == 0
    assert abs(x) + abs(y - 13) == np.abs(cells - plume.source).sum(axis=1).max()
    for wrong in (
        (10.5, 13.2),
        (40, 0),
        (0, -1),
        (0, 0, 200),
        (3,),
        (1, 2, 3, 4),
        ("3", "4"),
        (True, False),
        5,
        [[1, 2]],
    ):
        with pytest.raises(InputError, match=r"whole numbers .* within 40 x 27 cells and 200 snapshots"):
            one_start(plume, 3e-6, world, wrong)


@pytest.mark.parametrize(
    ("start", "found"),
    [((3, 4), (3, 4, 0)), ([19, 6, 9], (19, 6, 9)), (np.array([3, 4]), (3, 4, 0)), ((3.0, np.int8(4)), (3, 4, 0))],
)
def test_starts(start, found):
    assert one_start(SMALL, 1e-6, WorldSettings(), start).tolist() == [[*found]]


@pytest.mark.parametrize(
    "start",
    [(3.5, 4.2), (20, 3), (3, 7), (3, 4, 10), (-1, 0), (3,), (1, 2, 3, 4), (), "34", 3, (True, 1), {3: 4}],
)
def test_starts_that_are_refused(start):
    right = "it must be whole numbers (x, y) or (x, y, snapshot) within 20 x 7 cells and 10 snapshots."
    with pytest.raises(InputError) as caught:
        one_start(SMALL, 1e-6, WorldSettings(), start)
    assert str(caught.value).endswith(right)
