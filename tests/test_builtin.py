"""The built-in plume: what it says of itself, and that its recipe still makes such a plume."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from whiffclock.params import ENVIRONMENTS, WorldSettings
from whiffclock.plume import Plume
from whiffclock.plume.builtin import builtin
from whiffclock.plume.dns import beside_dns
from whiffclock.plume.simulate.recipe import SimulationSettings
from whiffclock.plume.simulate.record import simulate
from whiffclock.plume.statistics import plume_statistics


@pytest.fixture(scope="module")
def shipped():
    return builtin()


def test_it_is_the_papers_grid_and_says_that_it_is_simulated(shipped):
    assert shipped.plume.field.shape == (2598, 123, 27)
    assert shipped.plume.source == (0, 13)
    assert "simulated by whiffclock" in shipped.plume.origin
    assert shipped.recipe["command"] == "whiffclock plume simulate plume.npz"


def test_the_recorded_recipe_is_the_default_recipe(shipped):
    assert shipped.recipe["settings"] == json.loads(json.dumps(SimulationSettings().to_dict()))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_its_whiffs_are_the_same_in_single_and_double_precision(shipped, kind):
    field = shipped.plume.field
    assert field.dtype == np.float32
    plume = Plume.from_array(field.astype(kind), shipped.plume.source)
    assert plume.fingerprint == shipped.plume.fingerprint == "f5e6d86443f839f7"
    own = WorldSettings(start_threshold=None)
    counted = {
        name: (int(np.bitwise_count(plume.whiffs(t).words).sum()), len(plume.starts(t, own)))
        for name, t in ENVIRONMENTS.items()
    }
    assert counted == {
        "denser": (2852202, 2635),
        "dense": (1311167, 2251),
        "sparse": (587401, 1696),
        "sparser": (339797, 1156),
    }
    middle = field.shape[0] // 2
    assert [int(plume.whiffs(t).snapshot(middle).sum()) for t in ENVIRONMENTS.values()] == [1132, 509, 225, 122]


def test_how_near_it_comes_to_the_dns(shipped):
    """The plume of version 0.1 was made for figures of the DNS that were wrong; docs/plume.md lists what it misses."""
    statistics = plume_statistics(shipped.plume)
    rows = beside_dns(statistics)
    missed = [row.figure for row in rows if row.met is False]
    assert missed == [
        *(f"map at {c}, x >= 3, RMSE" for c in ("1e-6", "3e-6", "5e-6", "7e-6")),
        *(f"autocorrelation, x = 8-42, lag {lag}" for lag in (1, 2, 3, 4)),
        "autocorrelation, x = 42-83, lag 1",
        "autocorrelation, x = 83-120, lag 1",
        "blanks, all cells, mean",
        "blanks, standard deviation",
        *(f"correlation 1 cell along, x = {place}" for place in ("8-42", "83-120")),
        *(f"correlation 1 cell across, x = {place}" for place in ("42-83", "83-120")),
    ]
    assert [row.met for row in rows].count(True) == 22
    assert statistics.all_blanks == pytest.approx((8.38, 35.96), abs=0.01)


def test_its_statistics_are_mirror_symmetric(shipped):
    probability = shipped.plume.whiffs(ENVIRONMENTS["dense"]).probability()
    difference = probability - probability[:, ::-1]
    assert np.sqrt((difference**2).mean()) < 0.05


def test_every_environment_has_somewhere_to_start(shipped):
    cells = [len(shipped.plume.starts(t, WorldSettings(start_threshold=None))) for t in ENVIRONMENTS.values()]
    assert cells == sorted(cells, reverse=True)
    assert cells[-1] > 500


def test_the_recipe_makes_such_a_plume(shipped):
    """A short record of the same recipe: another stretch of the same turbulence, compared in coarse statistics."""
    again = simulate(replace(SimulationSettings(), snapshots=120))
    here, there = (p.whiffs(3e-6).probability()[8:100, 9:18] for p in (again, shipped.plume))
    assert here.mean() == pytest.approx(there.mean(), abs=0.1)
    assert np.corrcoef(here.ravel(), there.ravel())[0, 1] > 0.7
    lag_one = [plume_statistics(p).autocorrelation["20-80"][0] for p in (again, shipped.plume)]
    assert lag_one[0] == pytest.approx(lag_one[1], abs=0.15)


def test_loading_it_needs_no_library_for_other_files():
    seen = "import sys; from whiffclock.plume.builtin import builtin_plume; builtin_plume(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout.split()
    assert not {"dask", "xarray", "h5py", "zarr"} & set(loaded)
