"""The command line as a user meets it: results, bad input, interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from command import whiffclock as run

from whiffclock.archive import write_npz
from whiffclock.cli.train import at_the_end
from whiffclock.environments import PAPER
from whiffclock.plume.reading.files import write_plume

WHIFFCLOCK = [sys.executable, "-c", "from whiffclock.cli import main; main()"]


@pytest.fixture(scope="module")
def folder(plume, tmp_path_factory):
    """A folder with a plume file and four trained policies."""
    made = tmp_path_factory.mktemp("cli")
    write_plume(plume, made / "plume.npz")
    for tau in ([], ["--tau", "4"]):
        done = run(
            "train", "--plume", made / "plume.npz", "-e", "dense", "-e", "sparse", "--seeds", 1,
            "--episodes", 300, "--horizon", 60, "--out", made / "policies", *tau,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return made


def test_train_writes_one_file_per_agent(folder):
    files = sorted(str(p.relative_to(folder / "policies")) for p in (folder / "policies").rglob("*.npz"))
    assert files == [
        "dense/single-q-seed00.npz",
        "dense/two-q-tau4-seed00.npz",
        "sparse/single-q-seed00.npz",
        "sparse/two-q-tau4-seed00.npz",
    ]


def test_what_is_trained_stays_trained(folder):
    words = [
        "train", "--plume", folder / "plume.npz", "-e", "dense", "--seeds", 2, "--episodes", 300,
        "--horizon", 60, "--out", folder / "again", "--json",
    ]  # fmt: skip
    first = json.loads(run(*words, "--workers", 1).stdout)
    assert [item["trained_now"] for item in first] == [True, True]
    bits = [Path(item["file"]).read_bytes() for item in first]
    assert bits[0] == (folder / "policies/dense/single-q-seed00.npz").read_bytes()
    Path(first[1]["file"]).unlink()
    second = json.loads(run(*words, "--workers", 2).stdout)
    assert [item["trained_now"] for item in second] == [False, True]
    assert [Path(item["file"]).read_bytes() for item in second] == bits
    clash = run(*words[:8], "301", *words[9:])
    assert clash.returncode == 2
    assert "other settings" in clash.stderr
    assert [Path(item["file"]).read_bytes() for item in second] == bits


def test_evaluate_prints_a_table_and_json(folder):
    words = ["evaluate", folder / "policies", "--plume", folder / "plume.npz"]
    table = run(*words)
    assert table.returncode == 0, table.stderr
    assert "dense/single-q-seed00" in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 80
    records = folder / "records"
    seen = json.loads(run(*words, "--json", "--records", records).stdout)
    assert len(seen) == 4
    assert 0 <= seen[0]["f+"]["mean"] <= 1
    assert seen[0]["f+"]["standard_error"] >= 0
    with np.load(records / "dense-single-q-seed00-in-dense.npz") as file:
        assert (file["arrival"] > 0).mean() == pytest.approx(seen[0]["f+"]["mean"])


def test_compare_has_all_agents(folder):
    done = run("compare", folder / "policies", "--plume", folder / "plume.npz", "--json")
    rows = json.loads(done.stdout)["rows"]
    agents = ["single-Q", "two-Q", "2Q^h", "cast-and-surge"]
    assert [(r["environment"], r["agent"]) for r in rows] == [(e, a) for e in ("dense", "sparse") for a in agents]
    table = run("compare", folder / "policies", "--plume", folder / "plume.npz")
    assert max(map(len, table.stdout.splitlines())) <= 80
    everywhere = run("compare", folder / "policies", "--plume", folder / "plume.npz", "--everywhere", "--json")
    assert "single-Q (sparse)" in {r["agent"] for r in json.loads(everywhere.stdout)["rows"]}


def test_info_describes_files_and_itself(folder):
    policy = json.loads(run("info", folder / "policies/dense/two-q-tau4-seed00.npz", "--json").stdout)
    assert policy["policy"] == "two-Q"
    assert policy["threshold"] == 3e-6
    assert policy["recovery in Q+"]["surge_length"] >= 0
    plume = json.loads(run("info", folder / "plume.npz", "--json").stdout)
    assert plume["grid"] == [40, 27]
    assert "not turbulence" in plume["plume"]
    itself = json.loads(run("info", "--json").stdout)
    assert itself["learning"]["episodes"] == 3_000_001
    assert run("info", folder / "plume.npz").returncode == 0


FIELDS = {
    "nan": np.full((4, 9, 5), np.nan),
    "negative": -np.ones((4, 9, 5)),
    "flat": np.ones((9, 5)),
    "faint": np.full((4, 9, 5), 1e-9),
    "good": np.full((4, 9, 5), 1e-5),
}


@pytest.mark.parametrize(
    ("plume", "words", "says"),
    [
        ("nan", [], "NaN"),
        ("negative", [], "must be positive"),
        ("flat", [], "2 dimensions"),
        ("faint", [], "nothing reaches"),
        ("good", ["--source", "9,2"], "outside the grid"),
        ("good", ["--source", "middle"], "two whole numbers"),
        ("good", ["--start-threshold", "1"], "nothing reaches"),
        ("good", ["--start-threshold", "low"], "a number"),
        ("good", ["--environment", "foggy"], "one of denser"),
        ("good", ["--environment", "-1"], "positive concentration"),
        ("good", ["--horizon", "1"], "horizon H is 1"),
        ("good", ["--gamma", "1"], "gamma is 1"),
        ("good", ["--gamma", "nan"], "gamma is nan"),
        ("good", ["--tau", "500"], "between 1 and H-1"),
        ("good", ["--tau", "9,3"], "must increase"),
        ("good", ["--tau", "soon"], "'auto' or whole numbers"),
        ("good", ["--episodes", "0"], "at least 1"),
        ("good", ["--seeds", "0"], "at least one"),
        ("good", ["--first-seed", "-1"], "0 or more"),
        ("good", ["--radius", "-1"], "radius is -1"),
        ("good", ["--end-of-record", "stop"], "'wrap' or 'avoid'"),
        ("missing", [], "no plume file"),
        ("broken", [], "not a readable"),
    ],
)
def test_bad_input_gets_one_sentence_and_writes_nothing(tmp_path, plume, words, says):
    path = tmp_path / f"{plume}.npy"
    if plume in FIELDS:
        np.save(path, FIELDS[plume])
    elif plume == "broken":
        path.write_bytes(b"\x93NUMPY nonsense")
    before = sorted(tmp_path.rglob("*"))
    known = ["--environments", PAPER.text]
    words = ["train", "--plume", path, *known, "--out", tmp_path / "out", "--seeds", 1, "--episodes", 50, *words]
    code, _, errors = run(*words)
    assert code == 2, errors
    assert says in errors
    assert len(errors.strip().splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_bad_paths_and_policies_get_one_sentence(folder, tmp_path):
    (tmp_path / "file").write_text("here")
    for words, says in [
        (["train", "--out", tmp_path / "file" / "x", "--seeds", 1], "cannot be written"),
        (["reproduce", "--profile", "quick", "--out", tmp_path / "file"], "cannot be written"),
        (["evaluate", tmp_path / "nothing.npz"], "no file at"),
        (["evaluate", tmp_path], "no policies in"),
        (["evaluate", folder / "plume.npz"], "not a whiffclock policy"),
        (["evaluate", folder / "policies", "--plume", folder / "plume.npz", "--radius", 3], "source radius"),
        (["evaluate", folder / "policies", "--snapshots", 0], "at least 1"),
        (["info", tmp_path / "file"], "not a readable"),
    ]:
        done = run(*words)
        assert done.returncode == 2, (words, done.stderr)
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_ctrl_c_stops_cleanly_and_keeps_what_is_finished(folder, tmp_path):
    words = ["train", "--plume", folder / "plume.npz", "-e", "dense", "--out", tmp_path, "--episodes", 40_000]
    # A test run in the background of a shell ignores Ctrl-C, and its children would, too.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + WHIFFCLOCK[2]
    process = subprocess.Popen(
        [*WHIFFCLOCK[:2], heeding, *map(str, words), "--seeds", "1000", "--horizon", "60"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TERM": "dumb"},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("*seed00.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "stopped" in errors
    assert "Traceback" not in errors
    kept = list(tmp_path.rglob("*"))
    assert all(p.is_dir() or p.name.endswith(".npz") for p in kept)
    from whiffclock.policy import TablePolicy

    for path in tmp_path.rglob("*.npz"):
        TablePolicy.load(path)


def test_help_and_import_are_light():
    probe = (
        "import sys, whiffclock; "
        "heavy = {'numba', 'matplotlib', 'rich', 'typer', 'numpy'} & set(sys.modules); sys.exit(bool(heavy))"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
    probe = (
        "import sys; sys.argv = ['whiffclock', '--help']\n"
        "from whiffclock.cli import app\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "sys.exit(bool({'numba', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "train" in done.stdout


TRAIN = ["--seeds", 1, "--episodes", 200, "--horizon", 40]


def test_a_window_is_trained_evaluated_compared_and_described(folder, tmp_path):
    """Another finite memory goes through all commands like the clock."""
    plume = ["--plume", folder / "plume.npz"]
    done = run("train", *plume, "-e", "dense", *TRAIN, "--memory", "window:4", "--out", tmp_path, "--json")
    (made,) = json.loads(done.stdout)
    assert made["agent"] == "window-4"
    assert made["memory"] == {"maker": "window", "n": 4, "length": 40}
    assert made["file"].endswith("dense/window-4-seed00.npz")
    again = run("train", *plume, "-e", "dense", *TRAIN, "--memory", "window:4", "--out", tmp_path, "--json")
    assert json.loads(again.stdout)[0]["trained_now"] is False
    (seen,) = json.loads(run("evaluate", tmp_path, *plume, "--json").stdout)
    assert 0 <= seen["f+"]["mean"] <= 1
    assert seen["horizon"] == 40
    rows = json.loads(run("compare", tmp_path, folder / "policies", *plume, "-e", "dense", "--json").stdout)["rows"]
    assert [row["agent"] for row in rows] == ["window-4", "single-Q", "two-Q", "2Q^h", "cast-and-surge"]
    told = json.loads(run("info", made["file"], "--json").stdout)
    assert told["memory"]["n"] == 4
    assert told["recovery"]["surge_length"] >= 0
    for words, says in (
        (["window:0"], "1 to 16"),
        (["sundial"], "there are clock, window"),
        (["window:4", "--tau", 3], "--tau"),
    ):
        bad = run("train", *plume, *TRAIN, "--out", tmp_path / "bad", "--memory", *words)
        assert bad.returncode == 2
        assert says in bad.stderr
        assert bad.stderr.count("\n") == 1


def test_training_goes_on_after_an_upgrade_and_with_a_renamed_plume(folder, tmp_path):
    words = ["-e", "dense", *TRAIN, "--out", tmp_path / "out", "--json"]
    (made,) = json.loads(run("train", "--plume", folder / "plume.npz", *words).stdout)
    (tmp_path / "renamed.npz").write_bytes((folder / "plume.npz").read_bytes())
    (again,) = json.loads(run("train", "--plume", tmp_path / "renamed.npz", *words).stdout)
    assert again["trained_now"] is False
    with np.load(made["file"]) as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    header["version"] = header["made_from"]["version"] = "0.0.9"
    write_npz(Path(made["file"]), arrays | {"header": np.array(json.dumps(header))})
    (upgraded,) = json.loads(run("train", "--plume", folder / "plume.npz", *words).stdout)
    assert upgraded["trained_now"] is False


def test_a_policy_of_version_0_1_is_still_read(folder, tmp_path):
    """Its header had a clock as long as the episodes, and one void record for all modes."""
    with np.load(folder / "policies/dense/two-q-tau4-seed00.npz") as file:
        arrays = dict(file)
    header = json.loads(str(arrays["header"]))
    memory = header.pop("memory")
    clock = {"horizon": memory["length"], **{k: memory[k] for k in ("taus", "split_zero", "literal_tau")}}
    learning = {k: v for k, v in header["made_from"]["learning"].items() if k != "horizon"}
    header |= {"format": "whiffclock policy 1", "clock": clock}
    header["made_from"]["learning"] = learning
    old = tmp_path / "policies/dense/two-q-tau4-seed00.npz"
    old.parent.mkdir(parents=True)
    void = arrays.pop("record_clock").max(axis=0)
    write_npz(old, arrays | {"header": np.array(json.dumps(header)), "record_void": void})
    plume = ["--plume", folder / "plume.npz"]
    new = folder / "policies/dense/two-q-tau4-seed00.npz"
    first, second = (json.loads(run("evaluate", path, *plume, "--json").stdout)[0] for path in (old, new))
    assert first["G"] == second["G"]
    assert first["horizon"] == second["horizon"] == 60
    words = ["-e", "dense", "--tau", 4, "--seeds", 1, "--episodes", 300, "--horizon", 60]
    kept = run("train", *plume, *words, "--out", tmp_path / "policies", "--json")
    assert json.loads(kept.stdout)[0]["trained_now"] is False


def test_tau_is_chosen_for_any_horizon_and_its_scan_is_kept(folder, tmp_path):
    words = ["train", "--plume", folder / "plume.npz", "-e", "dense", "--tau", "auto", "--seeds", 1, "--episodes", 60]
    (made,) = json.loads(run(*words, "--horizon", 2, "--out", tmp_path / "two", "--json").stdout)
    assert made["tau"] == [1]
    (made,) = json.loads(run(*words, "--horizon", 30, "--out", tmp_path / "long", "--json").stdout)
    assert made["tau"][0] in (1, 2, 3, 5, 8, 12, 20)
    scan = list((tmp_path / "long" / ".runs" / "policy").glob("*.npz"))
    assert len(scan) == 7
    named = [p for p in (tmp_path / "long").rglob("*.npz") if ".runs" not in p.parts]
    assert [str(p.relative_to(tmp_path / "long")) for p in named] == [f"dense/two-q-tau{made['tau'][0]}-seed00.npz"]
    (seen,) = json.loads(run("evaluate", tmp_path / "long", "--plume", folder / "plume.npz", "--json").stdout)
    assert Path(seen["file"]) == named[0]


def test_all_agents_of_a_comparison_have_the_same_horizon(folder, tmp_path):
    plume = ["--plume", folder / "plume.npz", "-e", "dense"]
    run("train", *plume, *TRAIN, "--out", tmp_path)
    rows = json.loads(run("compare", tmp_path, folder / "policies", *plume, "--json").stdout)["rows"]
    assert {row["best"]["horizon"] for row in rows} == {60}
    ensembles = [row["agent"] for row in rows if row["agent"].startswith("single-Q")]
    assert ensembles == ["single-Q, episodes 200, horizon 40", "single-Q, episodes 300, horizon 60"]
    short = json.loads(run("compare", tmp_path, *plume, "--horizon", 25, "--json").stdout)["rows"]
    assert {row["best"]["horizon"] for row in short} == {25}


def test_records_of_different_policies_have_different_names_and_say_what_made_them(folder, tmp_path):
    first = folder / "policies/dense/single-q-seed00.npz"
    other = tmp_path / "dense/single-q-seed00.npz"
    other.parent.mkdir()
    other.write_bytes((folder / "policies/sparse/single-q-seed00.npz").read_bytes())
    words = [first, other, "--plume", folder / "plume.npz", "-e", "dense", "--records", tmp_path / "records"]
    assert run("evaluate", *words).returncode == 0
    files = sorted((tmp_path / "records").glob("*.npz"))
    assert len(files) == 2
    headers = []
    for path in files:
        with np.load(path) as file:
            headers.append(json.loads(str(file["header"])))
            assert len(file["arrival"]) == headers[-1]["evaluation"]["starts"]
    assert sorted(header["made_from"]["threshold"] for header in headers) == [3e-6, 5e-6]
    assert {header["world"]["radius"] for header in headers} == {2.0}


def test_starts_that_are_impossible_are_refused_at_once(tmp_path):
    field = np.zeros((60, 9, 5))
    field[1, 5:7, 2] = 1e-5
    field[55, 8, 2] = 1e-5
    np.save(tmp_path / "plume.npy", field)
    words = ["train", "--plume", tmp_path / "plume.npy", "-e", "sparse", *TRAIN, "--out", tmp_path / "out"]
    words += ["--environments", PAPER.text]
    done = run(*words, "--start-on-whiff", "--end-of-record", "avoid")
    assert done.returncode == 2
    assert "1 of 3 start cells have no whiff among the 20 snapshots" in done.stderr
    assert done.stderr.count("\n") == 1


def test_training_ends_with_the_reward_of_its_agents(folder, tmp_path):
    words = [
        "train",
        "--plume",
        folder / "plume.npz",
        "-e",
        "dense",
        "--episodes",
        300,
        "--horizon",
        60,
        "--out",
        tmp_path,
    ]
    shown = run(*words, "--seeds", 3).stdout
    made = json.loads(run(*words, "--seeds", 3, "--json").stdout)
    (row,) = (line.split() for line in shown.splitlines() if "single-Q" in line)
    assert row[:3] == ["dense", "single-Q", "3"]
    for name, cell in (("G", row[3:6]), ("f+", row[6:9])):
        values = sorted(one[name] for one in made)
        assert float(cell[0]) == pytest.approx(values[1], abs=0.006)
        assert [float(end.strip("[]")) for end in cell[1:]] == pytest.approx([values[0], values[2]], abs=0.006)
    assert "last tenth of their training" in " ".join(shown.split())


def test_the_end_of_a_training_is_its_last_tenth():
    curve = {"episode": np.array([40.0, 80, 95, 100]), "G": np.array([0.0, 0.1, 0.2, 0.6]), "f+": np.ones(4)}
    assert at_the_end(curve) == pytest.approx({"G": (15 * 0.2 + 5 * 0.6) / 20, "f+": 1.0})
