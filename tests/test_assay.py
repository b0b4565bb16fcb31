"""The assay: protocols, plays, shares of what the history explains, the command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command import whiffclock
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

import whiffclock as wc
from whiffclock.agents.noise import Noisy
from whiffclock.agents.shipped import trained
from whiffclock.assays.playing import Sample, play
from whiffclock.assays.power import scaled, simulated
from whiffclock.assays.protocol import DrawSettings, draw_histories, read_history, read_protocol
from whiffclock.assays.shares import Cells, Parts, explained, permutation_test
from whiffclock.memory import clock, window
from whiffclock.policy import TablePolicy
from whiffclock.world.loop import search
from whiffclock.world.worlds import ScriptWorld

DENSE_SPARSE = {"blank": 40, "histories": {"dense": "5(W B) W", "sparse": "W B30 W", "one": "W"}}


def random_policy(memory, seed=0):
    return TablePolicy("random", memory, np.random.default_rng(seed).integers(0, 4, memory.rows))


def many(count=60, blank=40, seed=0):
    """Random histories of different length and density."""
    rng = np.random.default_rng(seed)
    made = {str(i): [*(rng.random(rng.integers(0, 40)) < rng.random()).astype(int), 1] for i in range(count)}
    return {"blank": blank, "repeats": 2, "histories": made}


# Protocols


def test_histories_are_spelled_or_listed():
    for given_, expected in (
        ("W", [1]),
        ("W3 B2 W", [1, 1, 1, 0, 0, 1]),
        ("2(W B2) W", [1, 0, 0, 1, 0, 0, 1]),
        ("2(2(W) B) W", [1, 1, 0, 1, 1, 0, 1]),
        ("B2W", None),
        ([0, 1], [0, 1]),
        (np.array([True, False, True]).astype(int), [1, 0, 1]),
    ):
        if expected is None:
            with pytest.raises(wc.InputError, match="has 'B2W'; it must be runs such as W3 or B12"):
                read_history("x", given_)
        else:
            assert read_history("x", given_).astype(int).tolist() == expected


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"histories": {"a": "W", "b": "W B"}}, "'b' ends with a blank; it must end with a whiff"),
        ({"histories": {"a": "W", "b": ""}}, "'b' has 0 observations; it must have 1 to 10,000"),
        ({"histories": {"a": "W", "b": "999999(W9999)"}}, "'b' is too long"),
        ({"histories": {"a": "W", "b": "B999999 W"}}, "'b' has 10,002 observations"),
        ({"histories": {"a": "W", "b": [1, 2]}}, r"'b' is \[1, 2\]; its observations must be 0 and 1"),
        ({"histories": {"a": "W", "b": 7}}, "'b' is 7; it must be text such as 'W3 B12 W', or a list of 0 and 1"),
        ({"histories": {"a": "W"}}, "The number of histories is 1; recoveries can be compared from 2 on"),
        ({"histories": 3}, r"histories is 3; it must be a table, \[histories\]"),
        ({"blank": 3}, "has neither histories nor draw; it must have one of the tables"),
        ({"histories": {"a": "W"}, "draw": {}}, "has histories and draw; it must have one of the tables"),
        ({"histories": {"a": "W", "b": "W2"}, "blnk": 3}, "no setting called blnk; did you mean blank"),
        ({"histories": {"a": "W", "b": "W2"}, "blank": 0}, "The long blank has 0 moves; it must have 1 to 10000"),
        ({"histories": {"a": "W", "b": "W2"}, "repeats": 1}, "The number of repeats is 1; it must be 2 or more"),
        ({"histories": {"a": "W", "b": "W2"}, "noise": 1.5}, "The noise is 1.5; it must be a share of random moves"),
        ({"histories": {"a": "W", "b": "W2"}, "repeats": 5000}, "2 histories with 5000 repeats each; 5,000 plays"),
        ({"draw": {}}, "draw has no environment; give a name or a concentration"),
        ({"draw": {"environment": "thick"}}, "environment is 'thick'; it must be one of denser, dense"),
        ({"draw": {"environment": "sparse", "length": 9_000}}, "9000 observations does not fit into a record of 2598"),
        ({"draw": {"environment": "sparse", "plume": "none.npz"}}, "none.npz"),
    ],
)
def test_wrong_protocols_are_refused(values, sentence, tmp_path):
    with pytest.raises(wc.InputError, match=sentence):
        wc.assay(values, wc.shipped("clock-sparse"))


def test_drawn_histories_are_those_of_the_record(plume):
    draw = DrawSettings("sparse", histories=5, length=30, seed=4)
    found = draw_histories(plume, draw)
    assert [len(history) for history in found.values()] == [30] * 5
    assert all(history[-1] for history in found.values())
    record = plume.whiffs(plume.environments["sparse"]).record(slice(None))  # [x, t, y]
    views = np.lib.stride_tricks.sliding_window_view(record, 30, axis=1)
    for history in found.values():
        assert (views == history).all(axis=-1).any()
    again, other = draw_histories(plume, draw), draw_histories(plume, DrawSettings("sparse", 5, 30, seed=5))
    assert all(np.array_equal(one, again[name]) for name, one in found.items())
    assert any(not np.array_equal(one, other[name]) for name, one in found.items())


# Plays


def test_searches_can_have_scripts_of_their_own():
    """Each search as it would be alone."""
    rng, policy = np.random.default_rng(1), random_policy(clock(12, (3,)))
    script = rng.random((30, 7)) < 0.2
    together = np.stack([moment.position for moment in search(policy, ScriptWorld(7, script), 50)])
    for i in range(7):
        alone = np.stack([moment.position[0] for moment in search(policy, ScriptWorld(1, script[:, i]), 50)])
        assert np.array_equal(together[:, i], alone)


@pytest.mark.parametrize("memory", [clock(50), clock(50, (4,)), window(5, 50)])
def test_a_play_is_the_history_then_the_blank(memory):
    """Lockstep with a walk over the tables of the memory."""
    policy, protocol = random_policy(memory, 3), read_protocol(many(8))
    found = play(policy, protocol)
    for path, which in zip(found.paths, found.condition, strict=True):
        history = [*protocol.histories.values()][which]
        node = memory.first[int(history[0])]
        for whiff in history[1:]:
            node = memory.next_node[node, int(whiff)]
        place, expected = np.zeros(2, dtype=int), [np.zeros(2, dtype=int)]
        for _ in range(40):
            place = place + [(-1, 0), (0, 1), (0, -1), (1, 0)][policy.actions[memory.row[node]]]
            expected.append(place)
            node = memory.next_node[node, 0]
        assert np.array_equal(path, expected)


def test_a_recovery_is_the_recovery_path_of_its_mode():
    policy = next(one for one in trained() if one.name == "two-Q")
    found = play(policy, read_protocol(DENSE_SPARSE))
    first = [found.paths[found.condition == i][0] for i in range(2)]
    assert np.array_equal(first[0], wc.recovery_path(policy, 0, moves=40))
    assert np.array_equal(first[1], wc.recovery_path(policy, 1, moves=40))


def test_parts_of_the_plays_are_the_whole():
    """A policy that plays few searches at the same time gives the same recoveries."""
    policy, protocol = random_policy(window(4, 30)), read_protocol(many(10))
    few = Noisy(policy, 0.0)
    few.at_once = 3
    assert np.array_equal(play(few, protocol).paths, play(policy, protocol).paths)


def test_noise_replaces_its_share_of_moves():
    policy = wc.from_function(lambda clock: "upwind", 100)
    found = play(policy, read_protocol(DENSE_SPARSE | {"noise": 0.2, "repeats": 200}))
    upwind = (np.diff(found.paths[:, :, 0], axis=1) == -1).mean()
    assert upwind == pytest.approx(0.8 + 0.2 / 4, abs=0.01)  # a random move may be upwind, too


# Shares


def reference(recoveries):
    """Common, history and chance, one recovery at a time, for individuals with one condition each."""
    moves, conditions = recoveries.paths.shape[1] - 1, len(recoveries.conditions)
    means, within, apart = [], [], []
    for condition in range(conditions):
        own = recoveries.condition == condition
        people = np.unique(recoveries.individual[own])
        paths = [recoveries.paths[own & (recoveries.individual == one)][:, 1:].astype(float) for one in people]
        mean = np.mean([path.mean(axis=0) for path in paths], axis=0)
        scatter = sum(((path.mean(axis=0) - mean) ** 2).sum() for path in paths) / (len(people) - 1) / moves
        square = np.mean([((path - mean) ** 2).sum(axis=(1, 2)).mean() for path in paths]) / moves
        means.append(mean)
        within.append(square)
        apart.append(scatter / len(people))
    every, square = np.mean(means, axis=0), sum((mean**2).sum() for mean in means) / moves / conditions
    total = square + np.mean(within)
    between = sum(((mean - every) ** 2).sum() for mean in means) / moves / conditions
    history = between - np.mean(apart) * (1 - 1 / conditions)
    chance = np.mean(within) + np.mean(apart)
    return (total - history - chance) / total, history / total, chance / total


def made_up(seed, sizes=(3, 5, 2), trials=3, crossed=False, effect=1.0, moves=6, own=1.0):
    """Paths with an effect of the condition, one of the individual, and one of the trial."""
    rng = np.random.default_rng(seed)
    paths, condition, individual = [], [], []
    shift = effect * rng.normal(size=(len(sizes), moves + 1, 2))
    people = own * rng.normal(size=(max(sizes) if crossed else sum(sizes), moves + 1, 2))
    for i, size in enumerate(sizes):
        for j in range(size):
            who = j if crossed else sum(sizes[:i]) + j
            for _ in range(trials):
                paths.append(shift[i] + people[who] + rng.normal(size=(moves + 1, 2)))
                condition.append(i)
                individual.append(who)
    names = tuple("abcdefgh"[: len(sizes)])
    return Sample("made up", np.array(paths), np.array(condition), np.array(individual), names)


@tries(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(2, 5), min_size=2, max_size=4), st.integers(1, 3))
def test_shares_sum_to_one_and_are_those_of_the_reference(seed, sizes, trials):
    found = made_up(seed, sizes, trials)
    parts = Parts.of(Cells.of(found))
    shares = [float(one) for one in parts.shares(np.full(len(sizes), 1 / len(sizes)))]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx(reference(found))


@pytest.mark.parametrize("crossed", [False, True])
def test_history_is_zero_on_average_where_it_has_no_effect(crossed):
    """What individuals scatter is taken off, and once only where they have several conditions."""
    even = np.full(3, 1 / 3)
    found = [Parts.of(Cells.of(made_up(i, (4, 4, 4), 2, crossed, 0, own=2.0))).shares(even)[1] for i in range(400)]
    assert abs(np.mean(found)) < 3 * np.std(found) / 20
    raw = [Parts.of(Cells.of(made_up(i, (4, 4, 4), 2, crossed, 0, own=2.0))).products for i in range(50)]
    assert np.mean([np.trace(one) / 3 - one.mean() for one in raw]) > 0.1


def test_one_clock_has_one_recovery_and_nothing_is_explained():
    for policy in (wc.shipped("clock-sparse"), random_policy(clock(30)), wc.cast_and_surge(45, length=60)):
        shares = wc.assay(many(), policy).tested[0].shares
        assert (shares.history, shares.chance, shares.common, shares.p) == (0, 0, 1, 1)
        assert (shares.distinct, shares.deterministic) == (1, True)


@pytest.mark.parametrize("taus", [(5,), (3, 9), (2, 5, 12)])
def test_k_modes_have_at_most_k_recoveries(taus):
    shares = wc.assay(many(), random_policy(clock(60, taus), 2)).tested[0].shares
    assert 1 < shares.distinct <= len(taus) + 1
    assert 0 < shares.history < 1
    assert shares.p == 0.001


def test_windows_and_beliefs_have_many_recoveries(plume):
    protocol = many()
    windowed = wc.assay(protocol, random_policy(window(6, 60), 1)).tested[0].shares
    assert 8 < windowed.distinct <= 2**5  # the bits before the last whiff
    belief = wc.assay(protocol, wc.qmdp(plume, "sparse")).tested[0].shares
    assert belief.distinct > 10
    assert belief.history > 0.1
    assert belief.deterministic


def test_an_interval_covers_the_truth_and_a_test_is_uniform_without_effect():
    values = [
        permutation_test(Cells.of(made_up(i, (5, 5), 1, effect=0)), np.random.default_rng(i), 99) for i in range(100)
    ]
    assert 0.4 < np.mean(values) < 0.6
    assert np.mean(np.array(values) <= 0.05) < 0.13
    crossed = [
        permutation_test(Cells.of(made_up(i, (6, 6), 1, True, 0, own=5)), np.random.default_rng(i), 99)
        for i in range(100)
    ]
    assert 0.4 < np.mean(crossed) < 0.6
    strong = explained(made_up(0, (8, 8, 8), 2, effect=2))
    assert strong.p <= 0.002
    assert 0 < strong.low < strong.history < strong.high < 1


def test_individuals_that_have_several_conditions_are_compared_with_themselves():
    """A small effect beside large differences between individuals is seen only within them."""

    def p(seed, crossed):
        return permutation_test(Cells.of(made_up(seed, (8, 8), 1, crossed, 1.0, own=8)), np.random.default_rng(0), 199)

    assert max(p(i, True) for i in range(5)) < 0.05 < np.median([p(i, False) for i in range(5)])


def test_a_condition_needs_two_individuals():
    with pytest.raises(wc.InputError, match="Each condition needs 2 individuals at least; 'b' has 1"):
        explained(made_up(0, (3, 1)))
    with pytest.raises(wc.InputError, match="in 1 conditions; they can be compared from 2 on"):
        explained(made_up(0, (3,)))


def test_repeats_show_chance():
    class Coin(wc.Policy):
        rng = np.random.default_rng(0)

        def act(self, memory):
            return self.rng.integers(0, 2, size=len(memory))

    shares = wc.assay(DENSE_SPARSE, Coin()).tested[0].shares
    assert not shares.deterministic
    assert shares.chance > 0
    assert shares.low < 0.02
    assert shares.p > 0.01
    assert shares.recoveries == 30


def test_a_longer_history_before_the_last_whiff_does_not_move_a_clock():
    """Where a search was before the blank is set aside."""
    found = play(random_policy(clock(40)), read_protocol({"blank": 9, "histories": {"a": "W", "b": "W9 B9 W"}}))
    assert np.array_equal(found.paths[0], found.paths[-1])
    assert (found.paths[:, 0] == 0).all()
    assert found.paths.shape[1] == 9 + 1


# The command


@pytest.fixture
def protocol(tmp_path):
    path = tmp_path / "protocol.toml"
    path.write_text('blank = 30\n[histories]\ndense = "5(W B) W"\nsparse = "W B30 W"\n')
    return path


def test_the_command_prints_tables_of_eighty_columns(protocol, tmp_path):
    random_policy(clock(60, (5,))).save(tmp_path / "two.npz")
    done = whiffclock("assay", protocol, "clock-sparse", tmp_path / "two.npz")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = [line.split() for line in done.stdout.splitlines()]
    assert ["searched", "clock", "1", "of", "2", ".00", "1.00", ".00", "1.000"] in words
    assert sum(row[:4] == ["random", "2", "of", "2"] for row in words) == 1


def test_the_json_and_the_files_say_the_same(protocol, tmp_path):
    out = tmp_path / "out"
    done = whiffclock("assay", protocol, "clock-sparse", "clock-dense", "--json", "--out", out)
    found = json.loads(done.stdout)
    assert [one["distinct"] for one in found["tested"]] == [1, 1]
    assert found["protocol"]["histories"]["sparse"] == [1, *[0] * 30, 1]
    assert {file.name for file in out.iterdir()} == {"assay.nc", "assay.png", "assay.pdf", "recoveries.csv"}
    again = whiffclock("assay", protocol, "clock-sparse", "--out", out)
    assert again.returncode == 2
    assert "exists; choose another name, or replace it with --force" in again.stderr
    assert whiffclock("assay", protocol, "clock-sparse", "--out", out, "--force").returncode == 0


def test_the_tidy_data_have_every_recovery(protocol):
    result = wc.assay(protocol, {"mine": wc.shipped("clock-sparse"), "other": random_policy(clock(60, (5,)))})
    table, data = result.to_pandas(), result.to_xarray()
    assert len(table) == data.sizes["recovery"] == 2 * 2 * 10
    assert set(table["agent"]) == {"mine", "other"}
    one = table.iloc[-1]
    path = data["path"].isel(recovery=-1).values
    assert one["history"] == data["history"].values[-1] == "sparse"
    assert one["surge_length"] == wc.geometry(path).surge_length
    assert "searched" not in repr(result)
    assert "mine" in repr(result)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("blank = 30\n[histories]\na = 'W'\nb = 'X'\n", "protocol.toml: The history 'b' has 'X'"),
        ("blank = \n", "protocol.toml is not a TOML file"),
        ("[draw]\nenvironment = 'sparse'\nplume = 'no.h5'\n", "no.h5"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_nothing_is_written(protocol, tmp_path, text, sentence):
    protocol.write_text(text)
    done = whiffclock("assay", protocol, "clock-sparse", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert not (tmp_path / "out").exists()


# Animals


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
