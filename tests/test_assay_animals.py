"""The assay of animals in several conditions, and its power."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import whiffclock
from recovering import DENSE_SPARSE, made_up, random_policy

import whiffclock as wc
from whiffclock.assays.power import scaled, simulated
from whiffclock.assays.shares import Cells, Parts
from whiffclock.memory import clock


@pytest.fixture
def protocol(tmp_path):
    path = tmp_path / "protocol.toml"
    path.write_text('blank = 30\n[histories]\ndense = "5(W B) W"\nsparse = "W B30 W"\n')
    return path


def animals(shift=6.0, people=(("near", 0), ("near", 1), ("far", 2), ("far", 3)), trials=3, seed=0):
    """Tracks that go upwind from a whiff, in one condition farther than in the other."""
    rng, made = np.random.default_rng(seed), []
    for condition, who in people:
        for trial in range(trials):
            speed = 1 + shift / 10 * (condition == "far")
            x = -speed * np.arange(21) + rng.normal(0, 0.2, 21).cumsum()
            place = np.stack([x, rng.normal(0, 0.2, 21).cumsum()], axis=1)
            made.append(wc.Track(np.arange(21.0), place, np.arange(21) == 0, str(who), str(trial), condition))
    return wc.Tracks(tuple(made), "mm", 1.0)


def test_animals_are_compared_between_conditions():
    found = wc.assay(animals().recoveries(blank=20, steps="time", move_s=1)).tested[0]
    assert found.sample.paths.shape == (12, 21, 2)
    assert 0.01 < found.shares.low < found.shares.history < found.shares.high < 0.3
    assert found.shares.chance > 0
    surges = [np.median(found.metrics[found.sample.condition == i, 0]) for i in range(2)]
    assert surges[1] > 1.3 * surges[0]
    same = wc.assay(animals(0).recoveries(blank=20, steps="time", move_s=1)).tested[0]
    assert same.shares.history < 0.03
    assert found.sample.notes == ("12 recoveries of 4 individuals over 20 s; a cell is 1 mm, a move 1 s.",)


def test_what_is_left_out_of_animals_is_said():
    people = (("near", 0), ("near", 1), ("far", 2), ("far", 3), ("alone", 4), ("far", 0))
    notes = (
        wc.assay(animals(people=people, trials=1).recoveries(blank=10, steps="time", move_s=1)).tested[0].sample.notes
    )
    assert "the condition 'alone' has one individual and was left out." in notes
    assert any(note.startswith("one recovery of each individual") for note in notes)
    assert any("several conditions are compared with themselves" in note for note in notes)


@pytest.mark.parametrize(
    ("people", "how", "sentence"),
    [
        ((("near", 0), ("far", 1)), {}, "two conditions with 2 individuals each; 'near' has 1, 'far' has 1"),
        ((("near", 0), ("near", 1)), {}, "two conditions with 2 individuals each; 'near' has 2"),
        ((("", 0), ("", 1)), {}, "have no conditions; name the column that has them: --columns condition=NAME"),
        ((("near", 0), ("near", 1)), {"steps": "length"}, "compares positions at equal times"),
        ((("near", 0), ("near", 1)), {"blank": 0.5}, "has 0.5 s, less than a move of 1 s"),
    ],
)
def test_animals_that_cannot_be_compared_are_refused(people, how, sentence):
    settings = {"blank": 20, "steps": "time", "move_s": 1} | how
    with pytest.raises(wc.InputError, match=sentence):
        wc.assay(animals(people=people).recoveries(**settings))


# Power


def test_power_grows_with_animals_trials_and_size():
    pool = made_up(3, (12, 12), 4, effect=1.0, own=1.0)
    few = {"animals": (4, 6), "trials": (1, 16)}
    large, small = simulated(pool, 0.4, **few), simulated(pool, 0.1, **few)
    assert large.enough(1) == 4
    assert small.found[1, 4] + 0.1 < small.found[1, 6]
    assert small.found[1, 4] + 0.1 < small.found[16, 4]
    assert small.found[1, 4] + 0.1 < large.found[1, 4]
    explained_share = Parts.of(Cells.of(replace(pool, paths=_with(pool, scaled(pool, 0.3))))).shares(np.full(2, 0.5))[1]
    assert explained_share == pytest.approx(0.3, abs=0.02)


def _with(pool, rows):
    return np.concatenate([pool.paths[:, :1], rows.reshape(len(pool), -1, 2)], axis=1)


def test_a_test_without_effect_finds_it_in_one_of_twenty():
    pool = made_up(0, (12, 12), 4, effect=1.0)
    assert simulated(pool, 1e-6, animals=(8,), trials=(1,)).found[1, 8] < 0.12


@pytest.mark.parametrize(
    ("changes", "policy", "share", "sentence"),
    [
        ({"noise": 0.0}, "two", 0.1, "give the protocol a noise, such as noise = 0.1"),
        ({}, "two", 0.0, "share of 0; it must lie between 0 and 1"),
        ({}, "one", 0.1, "a difference that cannot be scaled; take an agent with modes"),
        ({"histories": {str(i): f"W{i + 1}" for i in range(11)}}, "two", 0.1, "with 11 conditions is not simulated"),
    ],
)
def test_power_that_cannot_be_simulated_is_refused(changes, policy, share, sentence):
    agent = {"one": wc.shipped("clock-sparse"), "two": random_policy(clock(60, (5,)))}[policy]
    with pytest.raises(wc.InputError, match=sentence):
        wc.assay(DENSE_SPARSE | {"noise": 0.1} | changes, agent, power=share)


def test_the_command_says_how_many_animals_are_needed(protocol, tmp_path):
    random_policy(clock(60, (5,))).save(tmp_path / "two.npz")
    protocol.write_text("noise = 0.3\n" + protocol.read_text())
    done = whiffclock("assay", protocol, tmp_path / "two.npz", "--power", "0.4")
    assert done.returncode == 0
    assert "Power, if the history explains 0.4 of" in " ".join(done.stdout.split())
    found = json.loads(whiffclock("assay", protocol, tmp_path / "two.npz", "--power", "0.4", "--json").stdout)
    assert {row["trials"] for row in found["power"][0]["found"]} == {1, 4, 16}
    assert found["power"][0]["enough"]["1"] >= found["power"][0]["enough"]["16"] >= 3


@pytest.fixture
def table(tmp_path):
    """A table of tracks with two conditions."""
    rows = ["fly,trial,condition,t,x_mm,y_mm,whiff"]
    for i, one in enumerate(animals().tracks):
        places = zip(one.t, one.position, one.whiff, strict=True)
        rows += [f"{one.individual},{i},{one.condition},{t},{x:.3f},{y:.3f},{int(w)}" for t, (x, y), w in places]
    path = tmp_path / "flies.csv"
    path.write_text("\n".join(rows))
    return path


def test_the_command_reads_tracks_with_conditions(table, tmp_path):
    words = ("assay", table, "--cell", "1", "--move-s", "1", "--blank", "20")
    done = whiffclock(*words, "--out", tmp_path / "out")
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    assert "Recovery after 2 conditions, 20 moves" in text
    assert "wind right (assumed:" in text
    assert "12 recoveries of 4 individuals over 20 s; a cell is 1 mm, a move 1 s." in text
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert (tmp_path / "out" / "assay.png").exists()
    found = json.loads(whiffclock(*words, "--json").stdout)["tested"][0]
    same = wc.assay(wc.read_tracks(table, cell=1).recoveries(move_s=1, blank=20)).tested[0]
    assert found["history"] == same.shares.history
    assert set(found["metrics"]) == {"near", "far"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("flies.csv", "clock-sparse"), "flies.csv is not a protocol (.toml), which policies need"),
        (("flies.csv", "--steps", "length"), "compares positions at equal times"),
        (("flies.csv", "--columns", "condition=fly"), "two conditions with 2 individuals each"),
        (("flies.csv", "--power", "7"), "share of 7; it must lie between 0 and 1"),
        (("protocol.toml", "clock-sparse", "--cell", "2", "--move-s", "1"), "options of tracks (--cell, --move-s)"),
        (("protocol.toml",), "No policy was given"),
    ],
)
def test_wrong_words_are_one_sentence(table, protocol, tmp_path, words, sentence):
    done = whiffclock("assay", *words, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
