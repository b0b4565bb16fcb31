"""Tracks: what is read, guessed, said and refused; recoveries in them are those of the agents that made them."""

import importlib.util
import math
import pickle
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import whiffclock as wc
from whiffclock.params import InputError
from whiffclock.path_metrics import geometry
from whiffclock.tracks.columns import FLY_COLUMNS
from whiffclock.tracks.recoveries import cuts
from whiffclock.world.moves import DISPLACEMENT

SCRIPT = Path(__file__).parent.parent / "examples" / "tracks.py"
spec = importlib.util.spec_from_file_location("example_tracks", SCRIPT)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)


def table(path, rows, header="t,x,y,whiff"):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def upwind(n=20, whiffs=(0,)):
    return [(i, -i, 0, int(i in whiffs)) for i in range(n)]


def wandering(rng, moves=400):
    """Positions on the grid and whiffs: mostly upwind, some casts and returns, a whiff in every thirty moves."""
    turns = rng.random(moves) < 0.3
    action = rng.integers(4, size=moves)[np.maximum.accumulate(np.where(turns, np.arange(moves), 0))]
    path = np.cumsum([(0, 0), *DISPLACEMENT[action]], axis=0)
    whiff = rng.random(moves + 1) < 1 / 30
    whiff[0] = True
    return path, whiff


def recoveries_on_the_grid(path, whiff, shortest=10):
    """Geometries of the paths from each whiff to the next one, or to the end."""
    whiffs = np.flatnonzero(whiff)
    for a, b in zip(whiffs, [*whiffs[1:], len(path) - 1], strict=True):
        if b - a >= shortest:
            yield geometry(path[a : b + 1])


@pytest.mark.parametrize("degrees", [0, 90, 33.3, -127])
@pytest.mark.parametrize("steps", ["length", "time"])
def test_tracks_on_the_grid_give_back_the_metrics_exactly(tmp_path, degrees, steps):
    rng, rows, expected = np.random.default_rng(5), [], []
    for n in range(8):
        path, whiff = wandering(rng)
        seen = (path @ [1, 1j]) * 2.5 * np.exp(1j * math.radians(degrees))
        rows += [(n, 0.5 * t, at.real, at.imag, int(w)) for t, (at, w) in enumerate(zip(seen, whiff, strict=True))]
        expected += [astuple(shape) for shape in recoveries_on_the_grid(path, whiff)]
    tracks = wc.read_tracks(table(tmp_path / "a.csv", rows, "trial,time_s,x (mm),y (mm),signal"), wind=degrees)
    assert tracks.cell == 2.5
    assert tracks.move_s == 0.5
    assert len(expected) > 50
    assert np.isfinite(expected).all(axis=1).sum() > 10
    assert tracks.recoveries(steps=steps).metrics == pytest.approx(np.array(expected), nan_ok=True, abs=1e-9)


def programs(rng, count):
    """Paths of agents on blanks: a surge with sidesteps, casts that widen, a return and casts again."""
    for _ in range(count):
        surge = "".join("U" * rng.integers(1, 4) + rng.choice(["", "+", "-"]) for _ in range(rng.integers(2, 5)))
        casts = "".join("+-"[i % 2] * int(width) + "U" for i, width in enumerate(np.cumsum(rng.integers(2, 6, size=4))))
        moves = surge + casts + "D" * rng.integers(4, 15) + "+" * rng.integers(3, 9)
        yield np.cumsum([(0, 0), *DISPLACEMENT[["U+-D".index(move) for move in moves]]], axis=0)


def test_continuous_tracks_give_back_the_medians_within_a_tenth(tmp_path):
    rng, rows, truth = np.random.default_rng(2), [], []
    for n, path in enumerate(programs(rng, 200)):
        place, degrees = example.smoothed(path, rng), rng.uniform(-180, 180)
        seen = (place @ [1, 1j]) * 2.5 * np.exp(1j * math.radians(degrees))
        whiff = [1, *[0] * (len(seen) - 1)]
        rows += [(n, t / 20, p.real, p.imag, w, degrees) for t, (p, w) in enumerate(zip(seen, whiff, strict=True))]
        truth.append(astuple(geometry(path)))
    path = table(tmp_path / "a.csv", rows, "trial,time_s,x_mm,y_mm,whiff,wind_deg")
    found = wc.read_tracks(path, cell=2.5).recoveries(move_s=0.5, blank=1).metrics
    assert np.isnan(found).any(axis=1).mean() < 0.05
    assert np.nanmedian(found, axis=0) == pytest.approx(np.median(truth, axis=0), rel=0.1)


def test_everything_assumed_is_said(tmp_path):
    tracks = wc.read_tracks(table(tmp_path / "a.csv", upwind(), "frame,pos_x,pos_y,signal"), units="px", fps=10)
    assert {name: (one.value, one.confidence) for name, one in tracks.said.items()} == {
        "columns": ("t=frame, x=pos_x, y=pos_y, whiff=signal", "likely"),
        "units": ("px", "given"),
        "time": ("frames, 10 per s", "given"),
        "whiffs": ("as stored", "sure"),
        "individuals": (1, "likely"),
        "wind": ("right", "unclear"),
        "cell": ("1 px", "sure"),
    }
    assert all(one.option.startswith("--") for one in tracks.said.values())
    said = tracks.recoveries().said
    assert {name: one.value for name, one in said.items()} == {
        "move": "0.1 s", "blank": "1 s or more", "steps": "equal time, 0.1 s",
    }  # fmt: skip


def test_columns_are_found_by_name_or_given(tmp_path):
    rows = [(*row, 7) for row in upwind()]
    path = table(tmp_path / "a.csv", rows, "a,b,c,d,e")
    names = "t=a,x=b,y=c,whiff=d,individual=e"
    tracks = wc.read_tracks(path, columns=names, units="cells")
    assert tracks.individuals == ["7"]
    with pytest.raises(InputError, match=r"needs a column for x and y .*; it has 'a', 'b'"):
        wc.read_tracks(path)
    with pytest.raises(InputError, match="no column called 'z'"):
        wc.read_tracks(path, columns={"x": "z"})
    with pytest.raises(InputError, match="'speed'; it must be one of t, x, y"):
        wc.read_tracks(path, columns={"speed": "z"})
    with pytest.raises(InputError, match="pairs such as"):
        wc.read_tracks(path, columns="t:a")
    with pytest.raises(InputError, match=r"several columns for t: 'a t' and 'time'|several columns"):
        wc.read_tracks(table(tmp_path / "b.csv", rows, "t,x,y,whiff,time"), units="mm")


@pytest.mark.parametrize(
    ("rows", "header", "settings", "says"),
    [
        (upwind(), "t,x,y,whiff", {}, r"does not say the unit .* --units mm"),
        (upwind(), "t,x,y,speed", {}, "needs a column of odor or whiffs"),
        (upwind(whiffs=()), "t,x,y,whiff", {"units": "mm"}, "has no whiff at all"),
        (upwind(), "frame,x,y,whiff", {"units": "mm"}, "count frames; give the frames per second with --fps"),
        ([*upwind(), (3, 0, 0, 0)], "t,x,y,whiff", {"units": "mm"}, "time goes back from 19 to 3 s"),
        ([*upwind(), (19, 5, 0, 0)], "t,x,y,whiff", {"units": "mm"}, "two different frames at 19 s"),
        ([(0, 0, "abc", 1)], "t,x,y,whiff", {"units": "mm"}, "line 2: y is 'abc'"),
        ([], "t,x,y,whiff", {"units": "mm"}, "without rows"),
        ([(0, "", "", 1)] * 3, "t,x,y,whiff", {"units": "mm"}, "no frame with time, position and odor"),
        (upwind(), "t,x,y,whiff", {"units": "mm", "cell": 0}, "cell is 0; it must be positive"),
        (upwind(), "t,x,y,whiff", {"units": "mile"}, "it must be 'mm'"),
        (upwind(), "t,x,y,odor", {"units": "mm", "threshold": "low"}, "a number or 'auto'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path, rows, header, settings, says):
    path = table(tmp_path / "a.csv", rows, header)
    with pytest.raises(InputError, match=says) as error:
        wc.read_tracks(path, **settings)
    assert "\n" not in str(error.value)


def test_gaps_are_kept_counted_and_end_recoveries(tmp_path):
    rows = upwind(60, (0, 40))
    rows[20] = (20, "", 0, 0)
    rows[21] = (21, -21, 0, "nan")
    path = table(tmp_path / "a.csv", rows)
    tracks = wc.read_tracks(path, units="cells")
    assert [(first, last, ends) for first, last, ends in cuts(tracks.tracks[0])] == [(0, 19, "gap"), (38, 57, "end")]
    assert any("2 frames without" in line for line in tracks.left_out)
    assert any("1 gaps in time" in line for line in tracks.left_out)
    recoveries = tracks.recoveries()
    assert [one.censored for one in recoveries.found] == [True, True]
    assert any("1 of 2 recoveries are cut short by a gap" in line for line in recoveries.left_out)
    filled = wc.read_tracks(path, units="cells", interpolate=2)
    assert [ends for *_, ends in cuts(filled.tracks[0])] == ["whiff", "end"]
    assert any("2 frames in gaps were filled" in line for line in filled.left_out)
    assert filled.tracks[0].position[:, 0].tolist() == [-i for i in range(60)]
    assert [ends for *_, ends in cuts(wc.read_tracks(path, units="cells", interpolate=1).tracks[0])] == ["gap", "end"]


def test_tracks_without_a_whiff_have_no_recovery_and_are_counted(tmp_path):
    rows = [(trial, *row) for trial, whiffs in enumerate([(0,), ()]) for row in upwind(30, whiffs)]
    tracks = wc.read_tracks(table(tmp_path / "a.csv", rows, "trial,t,x,y,whiff"), units="cells")
    assert tracks.left_out == ["1 of 2 tracks have no whiff, and so no recovery."]
    assert [one.track.trial for one in tracks.recoveries().found] == ["0"]


def test_one_individual_has_no_interval_which_is_said(tmp_path):
    rows = [(fly, *row, "fed" if fly else "starved") for fly in range(3) for row in upwind(30)]
    recoveries = wc.read_tracks(table(tmp_path / "a.csv", rows, "fly,t,x,y,whiff,group"), units="cells").recoveries()
    assert "starved: recoveries of one individual, so there is no interval." in recoveries.left_out
    assert not any(line.startswith("fed") for line in recoveries.left_out)


def test_copies_of_a_frame_are_left_out_and_counted(tmp_path):
    rows = [row for row in upwind(30) for _ in range(2)]
    tracks = wc.read_tracks(table(tmp_path / "a.csv", rows), units="cells")
    assert len(tracks.tracks[0]) == 30
    assert tracks.left_out == ["30 frames are copies of the one before and were left out."]


def test_rows_of_several_individuals_may_alternate(tmp_path):
    rows = [(*row[:2], side, row[3], side) for row in upwind(30) for side in (1, 2)]
    tracks = wc.read_tracks(table(tmp_path / "a.csv", rows, "t,x,y,whiff,fly"), units="cells")
    assert tracks.individuals == ["1", "2"]
    assert [len(one) for one in tracks.tracks] == [30, 30]
    with pytest.raises(InputError, match="two different frames"):
        wc.read_tracks(table(tmp_path / "a.csv", rows, "t,x,y,whiff,nothing"), units="cells")


def test_the_wind_of_each_track_may_be_in_a_column(tmp_path):
    rows = []
    for trial, degrees in enumerate((0, 90, 225)):
        turn = np.exp(1j * math.radians(degrees))
        rows += [(trial, i, (-i * turn).real, (-i * turn).imag, int(i == 0), degrees) for i in range(20)]
    path = table(tmp_path / "a.csv", rows, "trial,t,x,y,whiff,wind_deg")
    recoveries = wc.read_tracks(path, units="cells").recoveries()
    assert [one.shape.surge_length for one in recoveries.found] == pytest.approx([19, 19, 19])
    turning = [(0, i, -i, 0, int(i == 0), 180 * (i % 2)) for i in range(20)]
    with pytest.raises(InputError, match="its wind turns"):
        wc.read_tracks(table(tmp_path / "b.csv", turning, "trial,t,x,y,whiff,wind_deg"), units="cells")


def test_odor_becomes_whiffs_well_above_its_noise(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.zeros(4000, dtype=bool)
    truth[::200] = truth[1::200] = True
    odor = 2 + 0.1 * rng.standard_normal(4000) + 3 * truth
    rows = [(i, -i, 0, c) for i, c in enumerate(odor)]
    path = table(tmp_path / "a.csv", rows, "t,x,y,odor")
    tracks = wc.read_tracks(path, units="cells")
    assert np.array_equal(tracks.tracks[0].whiff, truth)
    assert "noise 0.099" in tracks.said["whiffs"].because
    assert wc.read_tracks(path, units="cells", threshold=2.0).tracks[0].whiff.mean() == pytest.approx(0.5, abs=0.05)


def walker(n=40):
    """Eight columns as public arrays of walking flies have them: two trajectories."""
    one = np.arange(n)
    again = np.concatenate([one, one])
    still = np.zeros(2 * n)
    whiff = (again % 20 == 0).astype(float)
    return [np.repeat([3.0, 8.0], n), again / 90, -2.0 * again, still, still, still, still, whiff]


@pytest.mark.parametrize("kind", ["rows", "columns", "objects", "named"])
def test_walking_fly_arrays_are_read(tmp_path, kind):
    columns = walker()
    array = {
        "rows": np.stack(columns, axis=1),
        "columns": np.stack(columns),
        "named": np.rec.fromarrays(columns, names=",".join(FLY_COLUMNS)),
        "objects": np.empty(8, dtype=object),
    }[kind]
    if kind == "objects":
        array[:] = columns
    np.save(tmp_path / "fly.npy", array, allow_pickle=kind == "objects")
    tracks = wc.read_tracks(tmp_path / "fly.npy", **({"units": "mm"} if kind == "named" else {}))
    assert [one.trial for one in tracks.tracks] == ["3", "8"]
    assert tracks.unit == "mm"
    assert tracks.cell == 2
    assert len(tracks.recoveries()) == 4


class Harm:
    def __reduce__(self):
        return print, ("harm",)


def test_an_array_that_would_run_code_is_refused(tmp_path, capsys):
    array = np.empty(8, dtype=object)
    array[:] = [Harm()] * 8
    np.save(tmp_path / "fly.npy", array, allow_pickle=True)
    assert b"harm" in pickle.dumps(Harm())
    with pytest.raises(InputError, match="Python objects"):
        wc.read_tracks(tmp_path / "fly.npy")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("plural", ["", "s"])
def test_datasets_of_movement_are_read(tmp_path, plural):
    names, n = ["head", "thorax"], 50
    place = np.zeros((n, 2, 2, 3))
    place[:, 0] = -np.arange(n)[:, None, None]
    place[:, :, 0] += 100
    place[10, 0, 1, 2] = np.nan
    data = xr.Dataset(
        {
            "position": (("time", "space", "keypoint" + plural, "individual" + plural), place),
            "whiff": (("time",), (np.arange(n) % 25 == 0).astype(float)),
        },
        {"time": np.arange(n), "space": ["x", "y"], "keypoint" + plural: names, "individual" + plural: list("abc")},
        {"time_unit": "frames", "fps": 20.0},
    )
    data.to_netcdf(tmp_path / "poses.nc", engine="h5netcdf")
    tracks = wc.read_tracks(tmp_path / "poses.nc", units="px")
    assert tracks.individuals == ["a", "b", "c"]
    assert tracks.said["keypoint"].value == "thorax"
    assert tracks.said["time"].value == "frames, 20 per s"
    assert [len(one) for one in tracks.tracks] == [50, 50, 49]
    assert tracks.tracks[0].position[3].tolist() == [-3, 0]
    assert wc.read_tracks(tmp_path / "poses.nc", units="px", keypoint="head").tracks[0].position[3].tolist() == [
        97,
        100,
    ]
    with pytest.raises(InputError, match="no keypoint 'tail'; it has head, thorax"):
        wc.read_tracks(tmp_path / "poses.nc", units="px", keypoint="tail")


def test_columns_that_are_all_given_are_not_called_a_guess(tmp_path):
    table = tmp_path / "walk.csv"
    table.write_text("\n".join(["a,b,c,d", *(f"{t},{-t},0,{int(t % 9 == 0)}" for t in range(30))]), encoding="utf-8")
    said = wc.read_tracks(table, columns="t=a,x=b,y=c,whiff=d", units="cells").said["columns"]
    assert (said.confidence, said.because) == ("given", "by --columns")
