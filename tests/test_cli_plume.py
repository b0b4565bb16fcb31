"""``whiffclock plume inspect``, ``compare``, ``calibrate`` and others as a user meets them."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from command import whiffclock

from whiffclock.drawing import pictures
from whiffclock.drawing.plume.page import outline
from whiffclock.plume.calibration import FIRST, calibrate, read_target
from whiffclock.plume.reading.files import read_plume, write_plume
from whiffclock.plume.statistics import plume_statistics
from whiffclock.plume.toy import toy_plume


@pytest.fixture
def run():
    return partial(whiffclock, "plume")


@pytest.fixture(scope="module")
def folder(plume, tmp_path_factory):
    made = tmp_path_factory.mktemp("plumes")
    write_plume(plume, made / "a.npz")
    write_plume(toy_plume(snapshots=150, length=90, width=41, seed=2), made / "b.npz")
    return made


def test_a_calibration_too_short_to_measure_is_null_in_json(run, tmp_path):
    write_plume(toy_plume(snapshots=60, length=FIRST, width=11, seed=1), tmp_path / "a.npz")
    done = run("calibrate", tmp_path / "a.npz", tmp_path / "b.npz", "--target", "dns", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout, parse_constant=pytest.fail)["thresholds"]
    assert [row["before"] for row in rows] == [None] * len(rows)


def test_inspect_prints_tables_and_draws_a_page(run, folder, plume):
    done = run("inspect", folder / "a.npz", "--out", folder / "pages/a.png")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "not turbulence" in done.stdout
    assert "…" not in done.stdout
    seen = plume_statistics(plume)
    rows = {line.split("  ")[0].strip(): line.split() for line in done.stdout.splitlines() if line.strip()}
    assert float(rows["mean whiff"][6]) == pytest.approx(seen.whiff_duration[30, 13], rel=0.01)
    assert float(rows["mean blank"][6]) == pytest.approx(seen.blank_duration[30, 13], rel=0.01)
    assert (folder / "pages/a.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("words", "ending"),
    [(["inspect", "a.npz"], "png"), (["compare", "a.npz"], "pdf"), (["compare", "a.npz", "b.npz"], "svg")],
)
def test_a_page_is_replaced_only_if_told_and_only_as_a_whole(run, folder, tmp_path, monkeypatch, words, ending):
    page = tmp_path / f"page.{ending}"
    page.write_text("mine")
    command = [words[0], *(folder / name for name in words[1:]), "--out", page]
    refused = run(*command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--force" in refused.stderr
    assert page.read_text() == "mine"

    def on_a_full_disk(_figure, _form, _salt, file):
        file.write(b"half of a pic")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pictures, "save_picture", on_a_full_disk)
        for there in (page, tmp_path / f"new.{ending}"):
            full = run(*command[:-1], there, "--force")
            assert full.returncode == 1  # the machine failed, not the input
            assert f"{there} cannot be written: No space left on device" in full.stderr
    assert page.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == [page.name]
    assert run(*command, "--force").returncode == 0
    assert page.read_bytes()[:4] in (b"\x89PNG", b"%PDF", b"<?xm")


@pytest.mark.parametrize("name", ["[/c]", "\\[b] [red]x $x^$"])
def test_names_are_names_and_no_markup(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    made, copy = f"{name}.npz", f"{name}.npy"
    sizes = ["--snapshots", 20, "--length", 12, "--width", 7]
    for command, file in (
        (["toy", made, *sizes], made),
        (["export", made, copy], copy),
        (["inspect", copy, "--threshold", 1e-6], copy),
        (["compare", copy], copy),
        (["compare", made, copy, "--out", f"{name}.png"], copy),
    ):
        done = run(*command)
        assert done.returncode == 0, done.stderr
        assert Path(file).name in done.stdout.replace("\n", "")
        assert "--out" not in command or command[command.index("--out") + 1] in done.stderr
    missing = run("inspect", f"no {name}.npz")
    assert missing.returncode == 2
    assert f"no {name}.npz" in missing.stderr


def test_inspect_speaks_json(run, folder, plume):
    done = run("inspect", folder / "a.npz", "--threshold", "sparse", "--json")
    assert json.loads(done.stdout) == plume_statistics(plume, 5e-6).to_dict()


def test_compare_with_the_dns_and_with_another_plume(run, folder):
    table = run("compare", folder / "b.npz")
    assert table.returncode == 0, table.stderr
    assert max(map(len, table.stdout.splitlines())) <= 80
    assert "targets met" in table.stdout
    assert "…" not in table.stdout
    pair = run("compare", folder / "a.npz", folder / "b.npz", "--threshold", "2e-6", "--out", folder / "ab.pdf")
    assert max(map(len, pair.stdout.splitlines())) <= 80
    assert "DNS" not in pair.stdout
    assert (folder / "ab.pdf").read_bytes()[:4] == b"%PDF"
    rows = json.loads(run("compare", folder / "b.npz", "--json").stdout)["rows"]
    assert {row["met"] for row in rows} == {True, False, None}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["inspect", "a.npz", "--threshold", "foggy"], "one of denser"),
        (["inspect", "a.npz", "--threshold", "-1"], "positive concentration"),
        (["inspect", "a.npz", "--threshold", "1"], "nothing reaches"),
        (["inspect", "a.npz", "--out", "page.doc"], "it must end in .png, .pdf or .svg"),
        (["compare", "a.npz", "--threshold", "5e-6"], "give a second plume"),
        (["compare", "missing.npz"], "no plume file"),
    ],
)
def test_bad_input_gets_one_sentence(run, folder, words, says):
    done = run(words[0], folder / words[1], *words[2:])
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert says in done.stderr


def test_the_outline_of_cells_closes():
    cells = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
    sides = outline(cells, (-0.5, 1.5, -0.5, 2.5))
    assert len(sides) == 10
    ends = np.concatenate(sides)
    _, meetings = np.unique(ends, axis=0, return_counts=True)
    assert (meetings % 2 == 0).all()
    assert len(outline(np.zeros((4, 4), dtype=bool), (0, 4, 0, 4))) == 0


def test_the_old_name_of_toy_still_works_with_a_warning(run, tmp_path):
    done = run("standin", tmp_path / "puffs.npz", "--snapshots", 5, "--length", 12, "--width", 7)
    assert (done.returncode, done.stderr) == (0, "whiffclock: standin is called toy now.\n")
    assert "standin" not in run("--help").stdout


def test_toy_refuses_to_replace_a_plume(run, tmp_path):
    words = ["toy", tmp_path / "puffs.npz", "--snapshots", 5, "--length", 12, "--width", 7]
    assert run(*words).returncode == 0
    again = run(*words)
    assert (again.returncode, again.stdout) == (2, "")
    assert "exists; choose another name" in again.stderr
    assert run(*words, "--force").returncode == 0


def test_simulate_writes_a_plume_and_refuses_to_replace_it(run, tmp_path):
    out = tmp_path / "small.npz"
    words = ["simulate", out, "--snapshots", 4, "--length", 12, "--width", 7, "--points", "16,16,12"]
    words += ["--spin-up", 1, "--fill", 6, "--filaments", 10]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["small.npz"]
    whole = out.read_bytes()
    again = run(*words)
    assert again.returncode == 2
    assert "exists; choose another name" in again.stderr
    assert run(*words, "--force").returncode == 0
    assert out.read_bytes() == whole
    bad = run("simulate", tmp_path / "other.npz", "--points", "many")
    assert bad.returncode == 2
    assert "three whole numbers" in bad.stderr


def test_compare_without_files_lays_the_built_in_plume_beside_the_dns(run):
    done = run("compare")
    assert done.returncode == 0, done.stderr
    assert "built-in plume: turbulence simulated by whiffclock" in done.stdout
    assert "This plume and the DNS slice" in done.stdout


TARGET = """\
origin = "a survey"
x = [0, 20]
[[threshold]]
c = 1e-6
amplitude = [0.9, 0.6]
width = [1.0, 4.0]
shape = [2.0, 2.0]
[[threshold]]
c = 4e-6
amplitude = [0.5, 0.1]
width = [1.0, 3.0]
shape = [2.0, 2.0]
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("x = [0, 20]", "x = [20, 0]", "must increase"),
        ("x = [0, 20]", "x = []", "at least one distance"),
        ("c = 4e-6", "c = 1e-6", "increase from one to the next"),
        ("c = 1e-6", "c = -1e-6", "positive and increase"),
        ("width = [1.0, 4.0]", "width = [1.0, 0.0]", "width at c = 1e-6 has values out of range"),
        ("amplitude = [0.9, 0.6]", "amplitude = [0.9, nan]", "amplitude is nan; it must be a finite number"),
        ("shape = [2.0, 2.0]", "shape = [2.0]", "shape at c = 1e-6 has 1 values"),
        ("shape = [2.0, 2.0]", "shapes = [2.0]", "shape"),
        ("x = [0, 20]", "x = [0, 'far']", "cannot be used"),
        ("x = [0, 20]", "x = [0, 20]\nheight = 3", "height"),
        ("x = [0, 20]", "x = [0, 20", "not a TOML file"),
        ("amplitude = [0.5, 0.1]", "amplitude = [0.5, 0.9]", "a higher threshold cannot have more"),
    ],
)
def test_a_bad_target_gets_one_sentence_and_nothing_is_written(run, plume, tmp_path, old, new, says):
    write_plume(plume, tmp_path / "a.npz")
    file = tmp_path / "bad.toml"
    file.write_text(TARGET.replace(old, new, 1))
    done = run("calibrate", tmp_path / "a.npz", tmp_path / "b.npz", "--target", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["a.npz", "b.npz", "--target", "missing.toml"], "cannot be read"),
        (["a.npz", "a.npz", "--target", "dns", "--force"], "is the file to read"),
        (["a.npz", "b.doc", "--target", "dns"], "must be .npy"),
        (["no.npz", "b.npz", "--target", "dns"], "no plume file"),
        (["a.npz", "there.npz", "--target", "dns"], "exists; choose another name"),
        (["a.npz", "b.npz", "c.npz", "--target", "dns"], "at most two"),
    ],
)
def test_bad_files_get_one_sentence(run, plume, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    write_plume(plume, Path("a.npz"))
    Path("there.npz").write_text("mine")
    whole = Path("a.npz").read_bytes()
    done = run("calibrate", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "there.npz"]
    assert Path("a.npz").read_bytes() == whole


def test_the_command_writes_the_plume_and_shows_a_table(run, plume, tmp_path):
    (tmp_path / "own.toml").write_text(TARGET)
    write_plume(plume, tmp_path / "a.npz")
    words = ["calibrate", tmp_path / "a.npz", tmp_path / "b.nc", "--target", tmp_path / "own.toml"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "c >= 4e-6" in done.stdout
    made = read_plume(tmp_path / "b.nc")
    assert made.origin == f"{plume.origin}, whiff probabilities mapped onto a survey"
    assert (made.field == calibrate(plume, read_target(str(tmp_path / "own.toml"))).field).all()
    facts = json.loads(run(*words, "--force", "--json").stdout)
    assert facts["fingerprint"] == made.fingerprint
    rows = facts["thresholds"]
    assert [row["threshold"] for row in rows] == [1e-6, 4e-6]
    assert all(row["after"] < 0.5 / 200 < row["before"] for row in rows)
