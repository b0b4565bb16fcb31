"""Calibration: exact counts, the order of the flow, targets and their files."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whiffclock.environments import PAPER
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin_plume
from whiffclock.plume.calibration import CrosswindProfile, Target, calibrate, map_error, map_sorted, read_target
from whiffclock.plume.durations import complete_runs
from whiffclock.plume.reading.files import read_plume, write_plume
from whiffclock.plume.toy import toy_plume

MAPS = Path(__file__).parents[2] / "shared" / "data" / "plume" / "whiff_probability_4x27x123.npy"
LEVELS = np.array([1e-6, 3e-6, 5e-6, 7e-6], dtype=np.float32)


@pytest.fixture(scope="module")
def dns():
    return read_target("dns")


@pytest.fixture(scope="module")
def dns_maps():
    if not MAPS.is_file():
        pytest.skip("the whiff-probability maps of the DNS are not beside the project")
    return np.load(MAPS).transpose(0, 2, 1)


@pytest.fixture(scope="module")
def shipped():
    return builtin_plume()


def small_target(seed, thresholds=3, shift=0.0):
    rng = np.random.default_rng(seed)
    amplitude = np.sort(rng.uniform(0, 1.2, (thresholds, 3)), axis=0)[::-1]
    width, shape = rng.uniform(0.4, 4, 3), rng.uniform(1, 3, 3)
    c = np.sort(rng.choice(np.arange(1, 30), thresholds, replace=False)) * 1e-6
    rows = [CrosswindProfile(float(c[k]), tuple(amplitude[k]), tuple(width), tuple(shape)) for k in range(thresholds)]
    return Target("a table", (0.0, 3.0, 9.0), tuple(rows), shift)


def fields(seed, kind):
    """Small fields: distinct values, many ties, mostly zeros, some negative, none but one, or next to none."""
    rng = np.random.default_rng(seed)
    field = np.exp(rng.normal(0, 3, (25, 8, 5))) * 3e-6
    field *= {"dense": 1, "ties": 1, "zeros": rng.random(field.shape) < 0.2, "negative": 1, "empty": 0, "faint": 1e-38}[
        kind
    ]
    if kind == "ties":
        field = np.rint(field * 1e6) * 1e-6
    if kind == "negative":
        field -= 4e-6
    field[0, 0, 0] = 1e-4
    return Plume.from_array(field.astype(np.float32), (0, 2), "made up")


kinds = st.sampled_from(["dense", "ties", "zeros", "negative", "empty", "faint"])
seeds = st.integers(0, 2**16)


@given(seeds, kinds, st.integers(1, 4), st.floats(-1, 1))
def test_counts_are_exact_and_nothing_else_moves(seed, kind, thresholds, shift):
    plume, target = fields(seed, kind), small_target(seed, thresholds, shift)
    made = calibrate(plume, target)
    before, after = plume.field, made.field
    wanted = np.rint(target.probability(8, 5, (0, 2)) * 25)
    assert (np.diff(wanted, axis=0) <= 0).all()
    for c, counts in zip(target.thresholds, wanted, strict=True):
        assert ((after >= np.float32(c)).sum(axis=0) == counts).all()
        assert made.reaches(c) == (counts.sum() > 0)
    higher = before[:, None] > before[None]
    assert (after[:, None] >= after[None])[higher].all()
    assert np.isfinite(after).all()
    assert (after[before >= 0] >= 0).all()
    assert after.max() <= max(1e3 * target.thresholds[-1] * 1.001, before.max())
    assert after.dtype == np.float32
    assert made.source == plume.source
    assert made.origin == "made up, whiff probabilities mapped onto a table"
    assert calibrate(plume, target).fingerprint == made.fingerprint
    assert calibrate(made, target).fingerprint == made.fingerprint


@given(seeds, kinds, st.floats(-1, 1))
def test_the_mirror_image_of_a_plume_has_the_mirror_image_for_a_result(seed, kind, shift):
    plume, target = fields(seed, kind), small_target(seed, shift=shift)
    flipped = Plume.from_array(plume.field[:, :, ::-1].copy(), (0, 2))
    mirror = calibrate(flipped, dataclasses.replace(target, shift=-shift))
    assert (mirror.field == calibrate(plume, target).field[:, :, ::-1]).all()


def test_a_cell_worked_by_hand():
    series = np.array([64, 16, 4, 2, 1, 0.5, 0], dtype=np.float32)
    # Two whiffs at 8, four at 1: 16 becomes 8 and 2 becomes 1. Between, one octave of s is one of c; above and
    # below, values are halved.
    levels = np.array([1, 8], dtype=np.float32)
    assert map_sorted(series, np.array([4, 2]), levels).tolist() == [32, 8, 2, 1, 0.5, 0.25, 0]
    # No whiff at 8: the peak would be 32, and stays below 8. 64 is 32 times 2, so the logarithm has 3/5 of its range.
    made = map_sorted(series, np.array([4, 0]), levels)
    assert made[0] == np.nextafter(np.float32(8), np.float32(0))
    assert made[1:].tolist() == pytest.approx([2 ** (3 * 3 / 5), 2 ** (3 / 5), 1, 0.5, 0.25, 0])
    # No whiff at all: scaled, to stay below 1.
    quiet = map_sorted(series, np.array([0, 0]), levels)
    assert quiet.tolist() == pytest.approx((series / 64).tolist())
    assert quiet[0] < 1
    # As many at 8 as at 1: what comes after them stays below 1.
    assert map_sorted(series, np.array([2, 2]), levels).tolist() == pytest.approx([32, 8, 1, 1, 0.5, 0.25, 0])
    # All whiffs, one of them without odor: an octave lies below 0.5, half of it above the only zero.
    full = map_sorted(series, np.array([7, 2]), levels)
    assert full[-1] == 1
    assert full[5] == pytest.approx(8 ** (0.5 / 5.5))


def test_equal_concentrations_come_in_the_order_of_their_neighbourhood():
    field = np.zeros((60, 9, 9), dtype=np.float32)
    field[20:24, 3, 4] = 1e-5
    field[40, 5, 4] = 1e-5
    row = CrosswindProfile(1e-6, (0.1,), (1e6,), (1.0,))
    made = calibrate(Plume.from_array(field), Target("everywhere a tenth", (0.0,), (row,)))
    whiffs = made.field >= np.float32(1e-6)
    assert (whiffs.sum(axis=0) == 6).all()
    assert np.flatnonzero(whiffs[:, 3, 3]).tolist() == [19, 20, 21, 22, 23, 24]
    assert whiffs[40, 5, 4]
    assert whiffs[20:24, 3, 4].all()
    assert np.abs(np.nonzero(whiffs)[0] - 30).max() <= 20


def test_single_and_double_precision_give_the_same(dns):
    plume = fields(3, "dense")
    finer = Plume.from_array(plume.field.astype(np.float64), plume.source)
    assert calibrate(finer, dns).fingerprint == calibrate(plume, dns).fingerprint


def test_a_table_becomes_a_map():
    rows = (
        CrosswindProfile(1e-6, (0.4, 0.8), (1.0, 2.0), (1.0, 2.0)),
        CrosswindProfile(2e-6, (0.42, 1.0), (1.0, 2.0), (1.0, 2.0)),
    )
    made = Target("two rows", (2.0, 4.0), rows[:1], shift=1.0).probability(8, 5, (1, 1))[0]
    assert made[1, 2] == made[0, 2] == pytest.approx(0.4)
    assert made[4, 0] == pytest.approx((0.4 * np.exp(-2) + 0.8 * np.exp(-1)) / 2)
    assert made[7, 4] == made[5, 4] == pytest.approx(0.8 * np.exp(-1))
    # A small crossing gets the lower probability, a large one is refused.
    both = Target("two rows", (2.0, 4.0), rows)
    assert (np.diff(both.probability(3, 5, (0, 2)), axis=0) == 0).all()
    with pytest.raises(InputError, match=r"more whiffs at 2e-6 .* 4 cells downwind and 0 across, by 0\.2;"):
        both.probability(8, 5, (0, 2))
    certain = CrosswindProfile(1e-6, (3.0,), (1.0,), (1.0,))
    assert Target("one row", (0.0,), (certain,)).probability(1, 3, (0, 1))[0, 0] == pytest.approx([1, 1, 1])


def test_large_fields_are_refused(dns, tmp_path, monkeypatch, plume):
    monkeypatch.setattr("whiffclock.plume.reading.files.LOAD_BYTES", 1)
    write_plume(plume, tmp_path / "a.nc")
    with pytest.raises(InputError, match="too large to be calibrated"):
        calibrate(read_plume(tmp_path / "a.nc"), dns)


def test_the_example_in_the_docs_is_a_target(tmp_path, plume):
    text = (Path(__file__).parents[1] / "docs" / "plume.md").read_text("utf-8")
    (tmp_path / "own.toml").write_text(text.split("```toml\n")[1].split("```")[0])
    target = read_target(str(tmp_path / "own.toml"))
    assert target.thresholds == (1e-6, 3e-6)
    made = calibrate(plume, target)
    assert made.whiffs(3e-6).probability()[20, 13] == pytest.approx(0.6, abs=0.5 / 200)


# The target of the DNS, and the built-in plume with it


def test_the_table_of_the_dns_has_its_figures(dns):
    assert dns.thresholds == tuple(PAPER.values())
    seen = dns.probability(123, 27, (0, 13))[:, :, 13]
    axis = {
        1e-6: (0.21, 0.42, 0.55, 0.62, 0.80, 0.78, 0.80, 0.87, 0.91, 0.92, 0.94, 0.98),
        3e-6: (0.16, 0.34, 0.49, 0.58, 0.72, 0.70, 0.71, 0.73, 0.67, 0.53, 0.36, 0.10),
        5e-6: (0.08, 0.26, 0.41, 0.51, 0.68, 0.64, 0.60, 0.45, 0.19, 0.06, 0.02, 0.00),
        7e-6: (0.04, 0.19, 0.33, 0.44, 0.64, 0.59, 0.48, 0.19, 0.02, 0.00, 0.00, 0.00),
    }
    for row, values in zip(seen, axis.values(), strict=True):
        assert row[[2, 4, 6, 8, 16, 24, 40, 56, 72, 88, 104, 120]] == pytest.approx(values, abs=0.02)


def test_the_table_of_the_dns_is_near_its_maps(dns, dns_maps):
    made = dns.probability(123, 27, (0, 13))
    assert [map_error(a, b, (0, 13)) <= 0.02 for a, b in zip(made, dns_maps, strict=True)] == [True] * 4
    assert np.abs(made - dns_maps)[:, 2:8].max() < 0.05


def errors(plume, dns_maps):
    seen = [plume.whiffs(c).probability() for c in PAPER.values()]
    return [map_error(a, b, (0, 13)) for a, b in zip(seen, dns_maps, strict=True)]


def test_the_built_in_plume_has_the_maps_of_the_dns(shipped, dns_maps):
    assert errors(shipped, dns_maps) == pytest.approx([0.010, 0.007, 0.004, 0.004], abs=0.001)


def test_puffs_get_the_maps_of_the_dns(dns, dns_maps):
    puffs = toy_plume(500, 123, 27, seed=0)
    assert min(errors(puffs, dns_maps)) > 0.05
    assert max(errors(calibrate(puffs, dns), dns_maps)) <= 0.02


def test_what_was_not_fitted_comes_near_the_dns(shipped):
    record = shipped.whiffs(PAPER["dense"]).record(slice(None))
    _, blanks = complete_runs(np.moveaxis(record, 1, 2).reshape(-1, record.shape[1]))
    assert 9 <= blanks.mean() <= 11
    assert 37 <= blanks.std() <= 45
    starts = shipped.starts(PAPER["sparser"], WorldSettings())
    assert 1150 <= len(starts) <= 1400
    assert 92 <= starts[:, 0].max() <= 104


def test_calibrating_the_built_in_plume_again_changes_no_whiff(shipped, dns):
    again = calibrate(shipped, dns)
    for threshold in PAPER.values():
        assert np.array_equal(again.whiffs(threshold).words, shipped.whiffs(threshold).words)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_of_a_target_are_finite(value):
    good = {"c": 1e-6, "amplitude": (0.5,), "width": (2.0,), "shape": (2.0,)}
    target = {"origin": "by hand", "x": (5.0,), "threshold": (CrosswindProfile(**good),), "shift": 0.0}
    assert Target(**target).shift == 0
    for name in ("amplitude", "width", "shape"):
        with pytest.raises(InputError):
            Target(**target | {"threshold": (CrosswindProfile(**good | {name: (value,)}),)})
    with pytest.raises(InputError):
        CrosswindProfile(**good | {"c": value})
    for name, bad in (("shift", value), ("x", (value,))):
        with pytest.raises(InputError):
            Target(**target | {name: bad})
