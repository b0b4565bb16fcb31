"""``whiffclock tracks``: assumptions, table, picture and files; agents beside animals; intervals by animal."""

import json
import re

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.path_metrics import GEOMETRY, geometry
from whiffclock.recovery import recovery_path
from whiffclock.tracks.beside import groups_of, mean_path
from whiffclock.tracks.track import Track, Tracks


def walk(x, individual="1", condition="", whiffs=(0,), unit=2.0):
    """A track along the wind, one move per second."""
    place = np.stack([unit * np.asarray(x, dtype=float), np.zeros(len(x))], axis=1)
    whiff = np.isin(np.arange(len(x)), whiffs)
    return Track(np.arange(len(x), dtype=float), place, whiff, individual, "1", condition)


def there_and_back(far, back=5):
    return [*range(0, -far - 1, -1), *range(-far + 1, -far + 1 + back)]


@pytest.fixture
def animals():
    """Five animals; the first one has many recoveries, which are not like those of the others."""
    many = [walk(there_and_back(20), "a") for _ in range(30)]
    return Tracks((*many, *(walk(there_and_back(8 + i), f"b{i}") for i in range(4))), "mm", cell=2.0)


@pytest.fixture
def table(tmp_path):
    rows = ["fly,condition,t_s,x_mm,y_mm,whiff"]
    for fly in range(4):
        for n, x in enumerate(there_and_back(10 + fly)):
            rows.append(f"{fly},{'fed' if fly < 2 else 'starved'},{n},{2 * x},{0.1 * (n % 2)},{int(n == 0)}")
    (tmp_path / "flies.csv").write_text("\n".join(rows))
    return tmp_path / "flies.csv"


def test_medians_and_intervals_are_those_of_animals_not_of_recoveries(animals):
    (group,) = groups_of(animals.recoveries(move_s=1, blank=0))
    found = group.summary("upwind_search")
    assert len(group.values) == 34
    assert found.median == np.median([40, 16, 18, 20, 22])
    assert (found.low, found.high) == (16, 40)  # the whole range, as always with five
    assert found.quartiles == (40, 40)
    alone = Tracks(animals.tracks[:30], "mm", 2.0)
    (group,) = groups_of(alone.recoveries(move_s=1, blank=0))
    assert np.isnan(group.summary("upwind_search").low)


def test_returns_that_never_begin_are_a_share(animals):
    tracks = Tracks((*animals.tracks[:1], walk(range(0, -20, -1), "c")), "mm", 2.0)
    (group,) = groups_of(tracks.recoveries(move_s=1, blank=0))
    found = group.summary("downwind_return_start")
    assert (found.median, found.never) == (20, 0.5)


def test_agents_are_cut_at_as_many_moves_and_in_the_same_unit(animals, plume):
    policy = wc.cast_and_surge(40, length=200)
    recoveries = animals.recoveries(move_s=1, blank=0)
    _, agent = groups_of(recoveries, [policy])
    assert agent.agents
    for one, values in zip(recoveries.found, agent.values, strict=True):
        shape = geometry(recovery_path(policy)[: len(one.steps)])
        assert values[GEOMETRY.index("cast_width")] == 2.0 * shape.cast_width
        assert values[GEOMETRY.index("surge_length")] == 2.0 * shape.surge_length
    rows = recoveries.compare([policy])
    assert set(rows["group"]) == {"animals", "cast-and-surge"}
    with pytest.raises(wc.InputError, match="recovery for every history"):
        groups_of(recoveries, [wc.infotaxis(plume, "dense")])


def test_the_mean_goes_on_as_long_as_half_of_the_paths():
    paths = [np.stack([np.arange(n), np.full(n, k)], axis=1) for n, k in ((5, 0), (9, 1), (20, 5))]
    mean = mean_path(paths)
    assert mean[:5].tolist() == [[i, 2] for i in range(5)]
    assert mean[5:].tolist() == [[i, 3] for i in range(5, 9)]


def test_the_command_says_shows_draws_and_writes(table, tmp_path):
    picture, rows = tmp_path / "flies.png", tmp_path / "rows.csv"
    done = whiffclock("tracks", table, "--compare", "clock-sparse", "--out", picture, "--csv", rows)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("assumed: it blows towards larger x", "--wind", "fed", "starved", "searched", "4 of 4 recoveries"):
        assert word in done.stdout
    assert picture.stat().st_size > 10_000
    lines = rows.read_text().splitlines()
    assert lines[0].startswith("individual,trial,condition,start_s,seconds,ends,steps,surge_length")
    assert len(lines) == 5
    again = whiffclock("tracks", table, "--csv", rows)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_the_json_has_all_that_the_table_has(table):
    found = json.loads(whiffclock("tracks", table, "--json", "--cell", "2", "--wind", "0").stdout)
    assert found["said"]["wind"] == {"value": 0.0, "confidence": "given", "because": "by --wind", "option": "--wind"}
    assert [group["name"] for group in found["groups"]] == ["fed", "starved"]
    assert found["groups"][0]["metrics"]["upwind_search"]["median"] == 21
    assert found["groups"][1]["metrics"]["downwind_return_start"]["quartiles"] == [12.25, 12.75]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--wind", "north"], "--wind is 'north'"),
        (["--threshold", "low"], "--threshold is 'low'"),
        (["--columns", "t"], "pairs such as"),
        (["--blank", "1e9"], "none of 1e9 s or more; --blank takes shorter ones"),
        (["--cell", "1e9"], "smaller --cell"),
        (["--steps", "both"], "'both'; it must be"),
        (["--compare", "nothing-there"], "nothing-there"),
    ],
)
def test_bad_options_are_one_sentence(table, tmp_path, options, says):
    done = whiffclock("tracks", table, *options, "--out", tmp_path / "new.png")
    assert done.returncode == 2
    assert re.search(says, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "new.png").exists()


def test_tracks_are_drawn_into_given_axes(animals):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert wc.plot_tracks(animals, [wc.cast_and_surge(30)], ax=ax) is ax
    assert ax.has_data()
    with pytest.raises(wc.InputError, match="condition 'fed'"):
        wc.plot_tracks(animals, condition="fed")
