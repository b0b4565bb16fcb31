"""The built-in plume: what it says of itself, and that its recipe still makes such a plume."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from whiffclock.environments import PAPER
from whiffclock.params import WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin, packed
from whiffclock.plume.calibration import calibrate, read_target
from whiffclock.plume.dns import beside_dns, maps
from whiffclock.plume.simulate.recipe import SimulationSettings
from whiffclock.plume.simulate.record import simulate
from whiffclock.plume.statistics import plume_statistics


@pytest.fixture(scope="module")
def shipped():
    return builtin()


def test_it_is_the_papers_grid_and_says_that_it_is_simulated(shipped):
    assert shipped.plume.field.shape == (2598, 123, 27)
    assert shipped.plume.source == (0, 13)
    assert "turbulence simulated by whiffclock" in shipped.plume.origin
    assert "whiff probabilities mapped onto the channel-flow DNS behind the paper" in shipped.plume.origin
    assert shipped.recipe["command"] == "whiffclock plume simulate plume.npz"


def test_the_recorded_recipe_is_the_default_recipe(shipped):
    assert shipped.recipe["settings"] == json.loads(json.dumps(SimulationSettings().to_dict()))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_its_whiffs_are_the_same_in_single_and_double_precision(shipped, kind):
    field = shipped.plume.field
    assert field.dtype == np.float32
    plume = Plume.from_array(field.astype(kind), shipped.plume.source)
    assert plume.fingerprint == shipped.plume.fingerprint == "f2c6821de81c5321"
    own = WorldSettings(start_threshold=None)
    counted = {
        name: (int(np.bitwise_count(plume.whiffs(t).words).sum()), len(plume.starts(t, own)))
        for name, t in PAPER.items()
    }
    assert counted == {
        "denser": (3012657, 2928),
        "dense": (1213325, 2576),
        "sparse": (535661, 2148),
        "sparser": (313943, 1259),
    }
    middle = field.shape[0] // 2
    assert [int(plume.whiffs(t).snapshot(middle).sum()) for t in PAPER.values()] == [1083, 362, 133, 76]


def test_it_meets_all_targets_of_the_dns(shipped):
    statistics = plume_statistics(shipped.plume)
    rows = beside_dns(statistics)
    assert [row.figure for row in rows if row.met is False] == []
    assert [row.met for row in rows].count(True) == 38
    assert statistics.all_blanks == pytest.approx((10.60, 41.80), abs=0.01)  # not fitted


def test_storing_it_has_moved_no_whiff(shipped):
    """The number of whiffs in every cell is that of the target, rounded."""
    for name, threshold in PAPER.items():
        counts = shipped.plume.whiffs(threshold).probability() * 2598
        assert np.abs(counts - np.rint(maps()[name] * 2598)).max() < 1e-6


@pytest.mark.parametrize("threshold", PAPER.values())
def test_values_at_a_threshold_stay_on_their_side_of_it(threshold):
    at, below = np.float32(threshold), np.nextafter(np.float32(threshold), np.float32(0))
    stored = packed(np.array([at, below])).astype(np.float32) / np.float32(1e6)
    assert stored[0] == at
    assert at * 0.98 < stored[1] < at


def test_its_statistics_are_mirror_symmetric(shipped):
    probability = shipped.plume.whiffs(PAPER["dense"]).probability()
    difference = probability - probability[:, ::-1]
    assert np.sqrt((difference**2).mean()) < 0.05


def test_every_environment_has_somewhere_to_start(shipped):
    cells = [len(shipped.plume.starts(t, WorldSettings(start_threshold=None))) for t in PAPER.values()]
    assert cells == sorted(cells, reverse=True)
    assert cells[-1] > 500


def test_the_recipe_makes_such_a_plume(shipped):
    """A short record of the same recipe: another stretch of the same turbulence, before and after the mapping."""
    raw = simulate(replace(SimulationSettings(), snapshots=120, target="none"))
    seen, wanted = (values[8:100, 9:18] for values in (raw.whiffs(1e-6).probability(), maps()["dense"]))
    assert np.corrcoef(seen.ravel(), wanted.ravel())[0, 1] > 0.6
    mapped = calibrate(raw, read_target("dns"))
    lag_one = [plume_statistics(p).autocorrelation["20-80"][0] for p in (mapped, shipped.plume)]
    assert lag_one[0] == pytest.approx(lag_one[1], abs=0.1)


def test_loading_it_needs_no_library_for_other_files():
    seen = "import sys; from whiffclock.plume.builtin import builtin_plume; builtin_plume(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout.split()
    assert not {"dask", "xarray", "h5py", "zarr"} & set(loaded)
