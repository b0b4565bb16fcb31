"""What a stranger sees first: no words at all, the demo, and the doctor."""

import json
import tomllib
from pathlib import Path

import matplotlib
import pytest
from command import whiffclock

from whiffclock import __version__
from whiffclock.cli import demo, doctor
from whiffclock.world import loop

matplotlib.use("Agg")
PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_no_words_show_three_things_to_do_next():
    done = whiffclock()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert max(map(len, lines)) < 80
    assert [line.split()[:2] for line in lines[2:5]] == [["whiffclock", word] for word in ("demo", "view", "study")]
    for line in lines[2:5]:
        assert whiffclock(line.split()[1], "--help").returncode == 0
    assert whiffclock("--help").stdout.startswith("Usage")
    assert whiffclock("plume").stderr.startswith("Usage")  # groups still show their help


@pytest.mark.parametrize(("words", "figures"), [((), None), (("--small", "--out", "there"), "fig3")])
def test_the_demo_is_a_quick_reproduction_of_the_built_in_plume(words, figures, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(demo, "reproduced", lambda *all, **more: asked.append((all, more)))
    done = whiffclock("demo", *words, cwd=tmp_path)
    ((opened, profile, only, out, store, _, _), more) = asked[0]
    assert (profile, only, out, store) == ("quick", figures, Path("there" if words else "demo"), None)
    assert more == {"anyway": False}
    assert opened().origin.startswith("built-in plume")
    assert done.returncode == 0
    assert f"Next: open {out}/report.html" in done.stderr


def test_the_doctor_finds_this_installation_well():
    done = whiffclock("doctor", "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert found["whiffclock"].startswith(f"{__version__} in ")
    assert found["cores"] >= 1
    assert found["packages"]["numba"] != "no"
    assert [*found["tests"]] == ["searches", "training", "figures", "files"]


def test_the_doctor_reports_what_fails_and_goes_on(monkeypatch):
    move = loop._actions
    monkeypatch.setattr(loop, "_actions", lambda *what: (move(*what) + 1) % 4)
    monkeypatch.setitem(doctor.TESTS, "training", lambda: {}["missing"])
    monkeypatch.setattr(doctor, "version", lambda name: "9.9.9")
    done = whiffclock("doctor")
    assert done.returncode == 1
    assert "numpy 9.9.9" in done.stdout
    lines = done.stdout.splitlines()[-4:]
    assert [line.split()[0] for line in lines] == ["FAILED", "FAILED", "ok", "ok"]
    assert "searches: AssertionError: the search from" in lines[0]
    assert "training: KeyError: 'missing'" in lines[1]


def test_the_doctor_knows_all_extras():
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra, package in doctor.EXTRAS.items():
        assert any(one.startswith(package) for one in extras[extra])
    assert doctor.EXTRAS.keys() == extras.keys() - {"all", "docs", "bench", "dev"}
