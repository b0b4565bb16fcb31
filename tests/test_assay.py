"""The assay: protocols, plays, shares of what the history explains, the command."""

import json

import numpy as np
import pytest
from command import whiffclock
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st
from recovering import DENSE_SPARSE, made_up, random_policy

import whiffclock as wc
from whiffclock.agents.noise import Noisy
from whiffclock.agents.shipped import trained
from whiffclock.assays.playing import play
from whiffclock.assays.protocol import DrawSettings, draw_histories, read_history, read_protocol
from whiffclock.assays.shares import Cells, Parts, explained, permutation_test
from whiffclock.memory import clock, window
from whiffclock.world.loop import search
from whiffclock.world.worlds import ScriptWorld


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


@pytest.mark.parametrize(
    ("words", "sentence"), [((3,), "protocol is 3; it must be the name"), (("no.toml",), "no.toml")]
)
def test_what_is_no_protocol_is_refused(words, sentence):
    with pytest.raises(wc.InputError, match=sentence):
        wc.assay(*words, wc.shipped("clock-sparse"))
    with pytest.raises(wc.InputError, match="power is 'much'; it must be a number"):
        wc.assay(DENSE_SPARSE, wc.shipped("clock-sparse"), power="much")
    with pytest.raises(wc.InputError, match="There is no policy to test"):
        wc.assay(DENSE_SPARSE)


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
