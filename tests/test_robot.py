"""Searches in continuous space: a robot of one cell per snapshot is the grid, others follow a plain-Python robot."""

import json
import math

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.drawing.film import phases_of
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume.reading.writing import write_plume
from whiffclock.world.moves import DISPLACEMENT
from whiffclock.world.robot import RobotSettings
from whiffclock.world.worlds import RobotWorld

CAST = wc.cast_and_surge(40, 60)
THIRD = {"cell": 0.3, "frame": 0.1, "speed": 3}  # 3 x 0.1 is not 0.3 in floating point


@pytest.mark.parametrize("radius", [0, 0.5, 2, 2.9])
def test_a_robot_of_one_cell_per_snapshot_is_the_grid(plume, radius):
    how = {"threshold": "dense", "snapshots": 3, "world": {"radius": radius}}
    for policy in (CAST, wc.TablePolicy("half", wc.clock(5, taus=(2,)), np.array([0, 1, 3, 2, 0, 1, 0, 2, 3]))):
        grid, robot = wc.evaluate(policy, plume, **how), wc.evaluate(policy, plume, **how, **THIRD)
        assert grid == robot
    assert 0 < grid.mean("f+") < 1


def test_its_path_is_the_same_until_it_crosses_the_edge_of_the_source_region(plume):
    grid = wc.search(CAST, plume, (30, 16, 7), "sparse")
    robot = wc.search(CAST, plume, (30, 16, 7), "sparse", **THIRD)
    assert grid.arrived
    assert np.array_equal(grid.position[:-1], robot.position[:-1])
    for name in ("whiff", "clock", "action", "snapshot"):
        assert np.array_equal(getattr(grid, name), getattr(robot, name))
    assert np.array_equal(phases_of(grid), phases_of(robot))
    assert robot.metres[0].tolist() == pytest.approx([9, 4.8])
    assert repr(robot).startswith(f"Trajectory({grid.moves} moves from (30, 16), {grid.moves / 10:g} s, ")
    table = robot.to_pandas()
    assert table["x_m"].tolist() == pytest.approx(robot.metres[:, 0].tolist())
    assert set(table["heading"]) <= {180, 90, -90, 0}


def reference(plume, at, start, actions, robot, radius):
    """One robot in plain Python: (x, y, snapshot, arrived, whiff) after every decision."""
    (x, y, t), heading, record = start, math.pi, plume.whiffs(at)
    (source_x, source_y), found = plume.source, []
    parts, snapshots = math.ceil(8 * max(1, robot.stride)), plume.field.shape[0]
    for action in actions:
        dx, dy = DISPLACEMENT[action].tolist()
        arrived = whiff = False
        for _ in range(robot.every):
            if arrived:
                break
            for _ in range(parts):
                if robot.turn_rate is None:
                    heading = math.atan2(dy, dx)
                else:
                    off = math.remainder(math.atan2(dy, dx) - heading, 2 * math.pi)
                    off -= 2 * math.pi * (off > math.pi - 1e-9)  # a half turn has one side
                    most = math.radians(robot.turn_rate * robot.frame) / parts
                    heading += max(-most, min(most, off))
                x += math.cos(heading) * robot.stride / parts
                y += math.sin(heading) * robot.stride / parts
                arrived = math.dist((x, y), (source_x, source_y)) <= radius
                if arrived:
                    break
            t = (t + 1) % snapshots
            i, j = math.floor(x + 0.5), math.floor(y + 0.5)
            inside = 0 <= i < plume.field.shape[1] and 0 <= j < plume.field.shape[2]
            whiff |= bool(inside and record.snapshot(t)[i, j])
        found.append((x, y, t, arrived, whiff))
        if arrived:
            break
    return found


@pytest.mark.parametrize(
    "body",
    [
        {"speed": 0.7},
        {"speed": 0.31, "every": 3},
        {"speed": 2.6},
        {"speed": 1, "turn_rate": 50},
        {"speed": 0.4, "turn_rate": 33, "every": 2},
        {"speed": 1.7, "turn_rate": 500, "frame": 0.8},
    ],
)
def test_robots_move_turn_smell_and_arrive_as_one_in_plain_python(plume, body):
    robot, rng, n, radius = RobotSettings(cell=1, **body).settle(plume), np.random.default_rng(3), 60, 2.5
    points = np.column_stack([rng.integers(0, 40, n), rng.integers(0, 27, n), rng.integers(0, 200, n)])
    points = points[np.hypot(*(points[:, :2] - plume.source).T) > radius]
    world = RobotWorld(plume.whiffs("dense").world(WorldSettings(radius=radius)), points, robot, radius)
    script = rng.choice(4, p=[0.55, 0.15, 0.15, 0.15], size=(len(points), 60))
    slow = [reference(plume, "dense", p, row, robot, radius) for p, row in zip(points.tolist(), script, strict=True)]
    ended, whiffs = np.zeros(len(points), dtype=bool), 0
    for step in range(60):
        arrived, whiff = world.step(script[:, step])
        for i in np.flatnonzero(~ended):
            x, y, t, there, smelled = slow[i][step]
            assert world.position[i, :3] == pytest.approx([x, y, t], abs=1e-9)
            assert (arrived[i], whiff[i]) == (there, smelled)
            whiffs += smelled
        ended |= arrived
    assert 0 < ended.sum() < len(points)
    assert whiffs > 0


def test_arrivals_are_counted_in_snapshots_and_t_min_at_the_speed_of_the_robot(plume):
    upwind = wc.TablePolicy("upwind", wc.clock(2), np.zeros(2, dtype=int))
    grid = wc.evaluate(upwind, plume, "dense", snapshots=2, horizon=100)
    slow = wc.evaluate(upwind, plume, "dense", snapshots=2, horizon=100, cell=1, speed=0.5, every=2)
    assert np.array_equal(slow.arrived, grid.arrived)
    assert np.array_equal(slow.arrival, 2 * grid.arrival)
    assert slow.mean("T_min/T") == pytest.approx(grid.mean("T_min/T"))
    assert slow.mode_steps.max() <= 50
    short = wc.search(upwind, plume, (30, 2), "dense", horizon=21, cell=1, speed=1, every=5)
    assert (short.moves, short.seconds, short.x.tolist()) == (4, 5, [30, 25, 20, 15, 10])


def test_a_very_fast_turn_is_a_turn_at_once(plume):
    once = wc.evaluate(CAST, plume, "dense", snapshots=2, cell=1, speed=1)
    fast = wc.evaluate(CAST, plume, "dense", snapshots=2, cell=1, speed=1, turn_rate=1e6)
    slow = wc.evaluate(CAST, plume, "dense", snapshots=2, cell=1, speed=1, turn_rate=20)
    assert np.array_equal(once.arrival, fast.arrival)
    assert slow.mean("G") < once.mean("G")


def test_sizes_are_those_of_the_plume_unless_they_are_given(plume):
    sized = plume._with(cell_mm=50.0, frame_s=0.5)
    assert RobotSettings(speed=0.2).settle(sized).stride == 2
    assert RobotSettings(speed=0.2, cell=0.1, frame=1).settle(sized).stride == 2
    assert RobotSettings(speed=0.2, cell=0.1).settle(plume).stride == 2
    assert RobotSettings().settle(plume) == RobotSettings()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"speed": 0.1}, "does not say how large its cells are"),
        ({"cell": 0.1}, "A robot needs a speed in m/s; give speed"),
        ({"turn_rate": 90, "every": 2}, "with turn_rate, every"),
        ({"speed": 0, "cell": 1}, "must be positive"),
        ({"speed": "fast", "cell": 1}, "speed is 'fast'"),
        ({"speed": 1, "cell": -1}, "must be positive"),
        ({"speed": 1, "cell": 1, "every": 0}, "at least 1"),
        ({"speed": 1, "cell": 1e-9}, "cells per snapshot"),
        ({"speed": 1, "cell": 1, "wheels": 4}, "no setting called wheels"),
        ({"speed": 1, "cell": 1, "every": 9, "horizon": 8}, "every 9 snapshots"),
    ],
)
def test_other_robots_are_refused(plume, body, says):
    with pytest.raises(InputError, match=says):
        wc.search(CAST, plume, (30, 16), "dense", **body)
    with pytest.raises(InputError, match=says if "wheels" not in body else "wheels"):
        wc.evaluate(CAST, plume, "dense", snapshots=1, **body)


def test_only_robots_are_measured_in_metres(plume):
    with pytest.raises(InputError, match=r"give wc\.search a speed"):
        _ = wc.search(CAST, plume, (30, 16), "dense").metres


def test_the_command_evaluates_robots(tmp_path, plume):
    CAST.save(tmp_path / "cast.npz")
    write_plume(plume, tmp_path / "plume.npz")
    words = ("evaluate", tmp_path / "cast.npz", "-e", "dense", "--plume", tmp_path / "plume.npz", "--snapshots", 2)
    done = whiffclock(*words, "--cell", 0.1, "--speed", 0.05, "--turn-rate", 45, "--json")
    (found,) = json.loads(done.stdout)
    expected = wc.evaluate(CAST, plume, "dense", snapshots=2, cell=0.1, speed=0.05, turn_rate=45)
    assert found["G"]["mean"] == expected.mean("G")
    refused = whiffclock(*words, "--turn-rate", 45)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "give speed (--speed)" in refused.stderr
