"""``whiffclock recovery``: the table, the picture, the measures as JSON."""

import json

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.memory import clock
from whiffclock.path_metrics import TRUNCATIONS, geometry
from whiffclock.policy import TablePolicy
from whiffclock.recovery import recovery_path
from whiffclock.world.episode import CLOCK_RECORD

UP, DOWN = 0, 3


def saved(path, actions, seed=0, memory=None, **made):
    memory = memory or clock(len(actions))
    about = {"seed": seed, "threshold": 5e-6, "environment": "sparse"} | made
    TablePolicy("single-Q" if memory.modes == 1 else "two-Q", memory, np.array(actions), about).save(path)


@pytest.fixture
def ensemble(tmp_path):
    """Three agents that go 2, 4 and 6 cells upwind; the first two return, the last one does not."""
    for seed, actions in enumerate(([UP] * 2 + [DOWN] * 6, [UP] * 4 + [DOWN] * 4, [UP] * 6 + [DOWN, UP])):
        saved(tmp_path / f"seed{seed}.npz", actions, seed)
    return tmp_path


def test_a_line_has_median_range_and_how_many_never_return(ensemble):
    done = whiffclock("recovery", ensemble)
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    first = next(i for i, line in enumerate(lines) if line[0] == "sparse")
    # surge, cast, upwind, return and its start, with moves 8 before them; seed 2 goes back one cell and up again.
    assert lines[first] == ["sparse", "single-Q", "3", "8", "4", "0", "4", "4", "3"]
    assert lines[first + 1] == ["2-7", "2-6", "1-6", "2-4"]
    assert lines[first + 2] == ["1", "never"]
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_json_has_the_geometry_of_each_path(ensemble):
    found = json.loads(whiffclock("recovery", ensemble, "--json").stdout)
    assert [one["upwind_search"] for one in found] == [2, 4, 6]
    assert found[2]["downwind_return_start"] is None
    policy = wc.load_policy(ensemble / "seed1.npz")
    assert {**geometry(recovery_path(policy)).to_dict()}.items() <= found[1].items()


def test_each_mode_has_a_line(tmp_path):
    memory = clock(6, (2,))
    saved(tmp_path / "two.npz", np.arange(memory.rows) % 4, memory=memory)
    found = json.loads(whiffclock("recovery", tmp_path, "--json").stdout)
    assert [one["mode"] for one in found] == ["Q-", "Q+"]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_picture_has_a_panel_for_each_path(ensemble, ending):
    picture = ensemble.parent / f"picture.{ending}"
    done = whiffclock("recovery", ensemble, "--out", picture)
    assert done.returncode == 0
    assert str(picture) in done.stderr
    if ending == "svg":
        text = picture.read_text()
        assert sum(f"<!-- seed {seed} -->" in text for seed in range(3)) == 3
        assert "<!-- sparse, single-Q -->" in text


def test_truncations_shorten_paths(tmp_path):
    counts = {"largest_clock": 5, "longest_blank": 3, "clock_sum": 8, "clocks": 2, "blank_sum": 2, "blanks": 2}
    records = {"clock": np.array([[counts[name] for name in CLOCK_RECORD]])}
    TablePolicy("single-Q", clock(9), np.zeros(9, dtype=int), {"seed": 0}, records=records).save(tmp_path / "a.npz")
    moves = dict(zip(TRUNCATIONS, (9, 5, 4, 3, 1), strict=True))
    for name, expected in moves.items():
        (found,) = json.loads(whiffclock("recovery", tmp_path, "--truncation", name, "--json").stdout)
        assert (found["moves"], found["upwind_search"]) == (expected, expected)
    (found,) = json.loads(whiffclock("recovery", tmp_path, "--json").stdout)
    assert found["moves"] == 5


def test_what_cannot_be_drawn_is_refused_in_one_sentence(ensemble, tmp_path, plume):
    done = whiffclock("recovery", ensemble, "--truncation", "late")
    assert done.returncode == 2
    assert "largest clock reading" in done.stderr
    done = whiffclock("recovery", ensemble, "--out", "picture.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert ".png" in done.stderr
    solved = wc.solve_bayes(plume, "dense", backups=2)
    solved.save(tmp_path / "bayes.npz")
    done = whiffclock("recovery", tmp_path / "bayes.npz")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "finite memory" in done.stderr
