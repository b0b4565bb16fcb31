"""A study: from a recording whose orientation nobody said to a report, in one command."""

from dataclasses import replace

import numpy as np
import pytest
from command import whiffclock
from test_reproduce import TINY

import whiffclock as wc
from whiffclock.paper.profiles import PROFILES
from whiffclock.params import InputError


@pytest.fixture(scope="module")
def odor():
    """Part of the built-in plume (synthetic), c[t, x, y]."""
    return np.asarray(wc.builtin_plume().field[600:900])


@pytest.fixture
def film(tmp_path, odor):
    """Synthetic: the same as a film with wind upwards, of dark odor before a bright wall."""
    light = 250 - np.clip(odor / odor.max() * 3, 0, 1) * 200
    frames = np.rot90(light.transpose(0, 2, 1), 1, axes=(1, 2)).round().astype(np.uint8)
    np.save(tmp_path / "film.npy", frames)
    return tmp_path / "film.npy"


def test_a_film_with_unknown_wind_and_dark_odor_becomes_a_report(film, odor, tmp_path, monkeypatch):
    monkeypatch.setitem(PROFILES, "quick", TINY)
    done = whiffclock("study", film, "--out", tmp_path / "mine", "--only", "fig1,fig3")
    assert done.returncode == 0, done.stderr
    plume = wc.read_plume(tmp_path / "mine" / "plume.toml")
    assert plume.field.shape == odor.shape
    assert np.corrcoef(np.asarray(plume.field).mean(0).ravel(), odor.mean(0).ravel())[0, 1] > 0.95
    assert np.hypot(*(np.array(plume.source) - (0, 13))) <= 3
    assert plume.environments.names == ("denser", "dense", "sparse", "sparser")
    page = (tmp_path / "mine" / "report.html").read_text()
    assert page.index('id="plume"') < page.index('id="fig1"') < page.index('id="about"')
    assert "with plume.toml" in page
    assert (tmp_path / "mine" / "plume.png").is_file()


def test_a_source_that_is_given_is_taken(film, tmp_path, monkeypatch):
    monkeypatch.setitem(PROFILES, "quick", TINY)
    done = whiffclock("study", film, "--source", "1,12", "--out", tmp_path / "mine", "--only", "fig1")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "mine" / "report.html").read_text()
    assert "the source at (1, 12)" in page


def test_wind_and_axes_that_are_not_said_are_seen(film, odor, tmp_path):
    plume = wc.read_plume(film, wind="auto", invert=True)
    assert "turned (wind up)" in plume.origin
    assert np.corrcoef(np.asarray(plume.field).mean(0).ravel(), odor.mean(0).ravel())[0, 1] > 0.95
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).random((60, 40, 40)))
    with pytest.raises(InputError, match="two ways"):
        wc.read_plume(tmp_path / "noise.npy", wind="auto")


def test_noise_is_no_plume_and_nothing_is_written(tmp_path):
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).random((60, 40, 40)))
    done = whiffclock("study", tmp_path / "noise.npy", "--out", tmp_path / "mine")
    assert done.returncode == 2
    assert "two ways" in done.stderr
    assert not (tmp_path / "mine" / "plume.toml").exists()


def test_what_is_given_wins_over_what_is_found(film):
    seen = wc.check_plume(film, environments={"faint": 30.0})
    assert seen.settings["environments"] == {"faint": 30.0}
    seen.require_clear()
    with pytest.raises(InputError, match="--thresholds"):
        replace(seen, settings={}).require_clear()
