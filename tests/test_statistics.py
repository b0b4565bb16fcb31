"""Statistics of plumes: fields whose answers are known."""

import dataclasses
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whiffclock.environments import PAPER
from whiffclock.params import InputError
from whiffclock.plume import Plume, dns
from whiffclock.plume.correlation import FOLLOWING_LAGS, Following, following_flow
from whiffclock.plume.durations import complete_runs, distribution, power_law
from whiffclock.plume.statistics import full_width, plume_statistics

SNAPSHOTS, LENGTH, WIDTH = 1200, 110, 15


def statistics(whiffs):
    return plume_statistics(Plume.from_array(whiffs.astype(np.float32)), 0.5)


def markov_chains(start, stay, shape, seed):
    """Independent two-state chains: P(whiff | blank) = start, P(whiff | whiff) = stay."""
    rng = np.random.default_rng(seed)
    w = np.empty(shape, dtype=bool)
    w[0] = rng.random(shape[1:]) < start / (1 - stay + start)
    for t in range(1, shape[0]):
        w[t] = rng.random(shape[1:]) < np.where(w[t - 1], stay, start)
    return w


def test_coin_flips_have_no_memory():
    p = 0.3
    seen = statistics(np.random.default_rng(0).random((SNAPSHOTS, LENGTH, WIDTH)) < p)
    assert abs(seen.probability.mean() - p) < 0.002
    assert seen.after_whiff == pytest.approx(p, abs=0.005)
    assert seen.after_blank == pytest.approx(p, abs=0.005)
    assert np.abs([*seen.autocorrelation["20-80"], *seen.along, *seen.across]).max() < 0.01
    assert max(seen.following.correlation) < 0.02
    durations = np.arange(1, 5)
    assert np.diff(seen.blanks.edges)[:4].tolist() == [1, 1, 1, 1]
    assert np.allclose(seen.whiffs.density[:4], (1 - p) * p ** (durations - 1), atol=0.005)
    assert np.allclose(seen.blanks.density[:4], p * (1 - p) ** (durations - 1), atol=0.005)


def test_markov_chains_forget_geometrically():
    start, stay = 0.2, 0.7
    seen = statistics(markov_chains(start, stay, (SNAPSHOTS, LENGTH, WIDTH), seed=1))
    powers = (stay - start) ** np.arange(1, 5)
    for values in seen.autocorrelation.values():
        assert np.allclose(values, powers, atol=0.02)
    assert seen.after_whiff == pytest.approx(stay, abs=0.005)
    assert seen.after_blank == pytest.approx(start, abs=0.005)
    assert seen.whiff_duration.mean() == pytest.approx(1 / (1 - stay), rel=0.02)
    assert seen.blank_duration.mean() == pytest.approx(1 / start, rel=0.02)
    assert seen.whiffs.mean == pytest.approx(1 / (1 - stay), rel=0.02)


@pytest.mark.parametrize("speed", [1, 2, 6])
def test_a_frozen_pattern_is_followed_at_its_speed(speed):
    pattern = np.random.default_rng(2).random((speed * SNAPSHOTS + LENGTH, WIDTH)) < 0.4
    t, x = np.ogrid[:SNAPSHOTS, :LENGTH]
    seen = statistics(pattern[x - speed * t + speed * SNAPSHOTS])
    assert seen.following.speed == pytest.approx(speed, abs=0.01)
    inside = np.isfinite(seen.following.displacement)  # later, the fastest have left the grid
    assert inside.tolist() == [speed * lag + 20 < LENGTH - 1 for lag in FOLLOWING_LAGS]
    assert np.allclose(np.array(seen.following.correlation)[inside], 1, atol=0.01)
    assert seen.autocorrelation["20-80"][0] == pytest.approx(0, abs=0.02)
    assert seen.along[0] == pytest.approx(0, abs=0.02)


def test_wide_structures_correlate_across_the_wind():
    whiffs = np.random.default_rng(3).random((SNAPSHOTS, LENGTH, 6)) < 0.4
    seen = statistics(np.repeat(whiffs, 3, axis=2)[:, :, :17])
    # Rows 6 to 10 lie in blocks 6-8 and 9-11: 4 of 5 share theirs with the next row, 3 of 5 with the last.
    assert seen.across[0] == pytest.approx(0.7, abs=0.02)
    assert seen.apart("across", 1.5) == pytest.approx((seen.across[0] + seen.across[1]) / 2)
    assert abs(seen.across[3]) < 0.02


def test_the_width_of_a_gaussian():
    y = np.arange(81)
    for sigma in (2.0, 5.0, 11.0):
        profile = 0.7 * np.exp(-((y - 40) ** 2) / (2 * sigma**2))
        assert full_width(profile) == pytest.approx(2 * np.sqrt(2 * np.log(2)) * sigma, rel=0.01)
    assert full_width(np.array([0, 0, 1.0, 0, 0])) == 1
    assert np.isnan(full_width(np.ones(9)))
    assert np.isnan(full_width(np.zeros(9)))


def test_the_exponent_of_a_power_law():
    rng = np.random.default_rng(4)
    d = np.arange(1, 2000)
    weight = d**-1.5
    lengths = rng.choice(d, size=40_000, p=weight / weight.sum())
    assert power_law(lengths, (2, 20)) == pytest.approx(1.5, abs=0.05)
    made = distribution(lengths)
    assert (made.density * np.diff(made.edges)).sum() == pytest.approx(1)
    assert np.isnan(power_law(lengths[:5], (2, 20)))


@given(st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=1, max_size=4))
def test_runs_are_what_one_counts_by_hand(rows):
    expected = {True: [], False: []}
    for row in rows:
        changes = [t for t in range(1, 12) if row[t] != row[t - 1]]
        for first, last in pairwise(changes):
            expected[row[first]].append(last - first)
    whiffs, blanks = complete_runs(np.array(rows))
    assert whiffs.tolist() == expected[True]
    assert blanks.tolist() == expected[False]


@given(st.integers(2, 30), st.integers(1, 40), st.integers(1, 70), st.integers(0, 2**16))
def test_any_grid_gives_statistics_and_json(snapshots, length, width, seed):
    rng = np.random.default_rng(seed)
    field = rng.random((snapshots, length, width), dtype=np.float32) + np.float32(0.01)
    source = int(rng.integers(length)), int(rng.integers(width))
    threshold = float(np.quantile(field, 0.6))
    seen = plume_statistics(Plume.from_array(field, source), threshold)
    assert np.allclose(seen.probability, (field >= threshold).mean(axis=0))
    again = json.loads(json.dumps(seen.to_dict(), allow_nan=False))
    assert again["axis_probability"][0] == pytest.approx(seen.probability[source])


def test_slabs_make_no_difference(plume, monkeypatch):
    whole = plume_statistics(plume, 3e-6)
    monkeypatch.setattr("whiffclock.plume.statistics._SLAB_BYTES", 3 * 200 * 27)
    assert json.dumps(plume_statistics(plume, 3e-6).to_dict()) == json.dumps(whole.to_dict())


def test_precision_makes_no_difference(plume):
    finer = Plume.from_array(plume.field.astype(np.float64), plume.source, plume.origin, plume.environments)
    threshold = float(plume.field[100, 20, 13])
    assert plume_statistics(finer, threshold).to_dict() == plume_statistics(plume, threshold).to_dict()
    steps = np.full((4, 90, 9), np.nextafter(np.float32(5e-6), np.float32(0)))
    steps[:2] = 5e-6
    for kind in (np.float32, np.float64):
        seen = plume_statistics(Plume.from_array(steps.astype(kind), environments=PAPER), 3e-6)
        assert seen.boxes["sparse"] == (0.5,) * 4


def test_richer_plumes_have_more_of_everything(plume):
    seen = plume_statistics(plume)
    assert all(np.diff([seen.boxes[name][0] for name in seen.boxes]) <= 0)
    assert all(np.diff(list(seen.start_cells.values())) <= 0)
    assert seen.start_cells["sparser"] > 0
    with pytest.raises(InputError, match="nothing reaches"):
        plume_statistics(plume, 1.0)


def test_the_core_is_the_same_whichever_way_it_is_cut():
    seen = statistics(markov_chains(0.2, 0.7, (300, LENGTH, WIDTH), seed=5))
    assert seen.neighbours["20-80"] == pytest.approx((seen.along[0], seen.across[0]))
    assert list(seen.neighbours) == list(seen.autocorrelation) == ["8-42", "42-83", "83-120", "20-80"]


def test_all_blanks_are_those_between_two_whiffs():
    whiffs = np.zeros((12, 3, 2), dtype=bool)
    whiffs[[0, 2, 6], 0, 0] = True  # blanks of 1 and 3
    whiffs[[3, 9], 2, 1] = True  # of 5; those at both ends do not count
    seen = statistics(whiffs)
    assert seen.all_blanks == pytest.approx((3, np.sqrt(8 / 3)))
    assert np.isnan(statistics(whiffs[:2]).all_blanks).all()


def test_the_maps_of_a_plume(plume):
    seen = plume_statistics(plume)
    for name, threshold in PAPER.items():
        assert (seen.maps[name] == (plume.field >= np.float32(threshold)).mean(axis=0)).all()
    assert not plume_statistics(Plume.from_array(plume.field / 1000, environments=PAPER), 1e-9).maps["sparser"].any()


def test_a_plume_with_the_figures_of_the_dns_meets_its_targets(plume):
    like = plume_statistics(plume)
    maps = dns.maps()
    like = dataclasses.replace(
        like,
        shape=(2598, 123, 27),
        source=(0, 13),
        probability=maps["dense"],
        maps={**maps, "sparser": np.where(maps["sparser"] < 0.5 / 2598, 0, maps["sparser"])},
        autocorrelation={**like.autocorrelation, **dns.AUTOCORRELATION},
        along=(0.3, 0.2, 0.1, 0.05),
        across=(0.3, 0.2, 0.1, 0.05),
        neighbours=dict.fromkeys(like.neighbours, (dns.ALONG[1], dns.ACROSS[1])),
        following=Following((0.9, 1.9, 3.8, 7.5, 15.0), tuple(dns.FOLLOWING.values()), dns.SPEED),
        all_blanks=dns.BLANKS,
        start_cells={**like.start_cells, "sparser": 1270},
    )
    judged = {row.figure: row.met for row in dns.beside_dns(like) if row.met is not None}
    assert len(judged) == 38
    assert all(judged.values())
    assert dns.error_of_map(like, "dense") == 0
    off = dataclasses.replace(like, maps={name: one + 0.2 for name, one in maps.items()})
    assert dns.error_of_map(off, "sparse") == pytest.approx(0.2)
    assert {row.met for row in dns.beside_dns(off)[:4]} == {False}
    near = np.array([maps[name][list(dns.DISTANCES), 13] for name in PAPER])
    assert near == pytest.approx(np.array(list(dns.AXIS.values())), abs=0.02)


def test_a_plume_too_short_for_a_figure_is_not_judged_by_it(plume):
    rows = {row.figure: row for row in dns.beside_dns(plume_statistics(plume))}
    far = rows["full width at half maximum, x = 60"]
    assert far.met is None
    assert far.to_dict()["here"] is None
    assert rows["full width at half maximum, x = 16"].met is not None
    assert rows["start cells at 7e-6"].met is None
    assert rows["map at 1e-6, x >= 3, RMSE"].met is not None
    with pytest.raises(InputError, match="DNS statistics are at the threshold 3e-6"):
        dns.beside_dns(plume_statistics(plume, 5e-6))


def test_a_peak_between_cells_is_that_of_the_parabola_through_its_neighbours():
    class Parabola:
        """A core whose correlation at each lag is a parabola around the displacement of a flow at 0.87."""

        def correlation(self, dx, lag):
            return 0.8 - 0.01 * (dx - 0.87 * lag) ** 2

    found = following_flow(Parabola())
    assert found.displacement == pytest.approx([0.87 * lag for lag in FOLLOWING_LAGS], abs=1e-9)
    assert found.correlation == pytest.approx([0.8] * len(FOLLOWING_LAGS), abs=1e-12)
    assert found.speed == pytest.approx(0.87)
