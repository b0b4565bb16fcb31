"""Policies for robots: C, MicroPython, JSON and CSV make the moves of the policy; the front end is that of the twin."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from command import whiffclock

import whiffclock as wc
from whiffclock.export import verify
from whiffclock.export.files import exported
from whiffclock.export.machine import Machine
from whiffclock.export.nose import whiffs_of
from whiffclock.export.settings import FrontEnd
from whiffclock.memory import Memory
from whiffclock.params import InputError

CC = verify.compiler()
needs_c = pytest.mark.skipif(CC is None, reason="there is no C compiler that works")
STRICT = [
    "-std=c99",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
]


def made(memory, seed=0, moves=None):
    """A policy with given moves, or moves by chance: hardly any runs."""
    actions = np.random.default_rng(seed).integers(0, 4, memory.rows) if moves is None else np.array(moves)
    return wc.TablePolicy("made by chance", memory, actions, {"seed": seed})


def by_hand(after, first=(1, 0)):
    n = len(after)
    return Memory("by hand", np.array(after), np.arange(n), np.zeros(n, int), np.array(first), np.array([0]))


def free(n, seed=1):
    """A controller with successors by chance."""
    return by_hand(np.random.default_rng(seed).integers(0, n, (n, 2)))


POLICIES = {
    "clock": made(wc.clock(500)),
    "runs": wc.shipped("clock-sparse"),
    "cast-and-surge": wc.cast_and_surge(40, 300),
    "two-Q": made(wc.clock(400, (10,))),
    "two-Q in runs": wc.heuristic_two_q(wc.cast_and_surge(10, 200), wc.cast_and_surge(60, 200), 12),
    "three modes": made(wc.clock(80, (3, 20))),
    "printed tau": made(wc.clock(90, (4, 30), literal_tau=True)),
    "window": made(wc.window(4, 100)),
    "wide window": made(wc.window(9, 60)),
    "controller": made(free(40)),
    "large controller": made(free(300)),
    "loop": made(by_hand([[i + 1 if i < 30 else 10, 0] for i in range(31)])),
    "loop in runs": made(by_hand([[i + 1 if i < 99 else 30, 0] for i in range(100)]), moves=[0] * 30 + [2] * 70),
    "one state": made(by_hand([[0, 0]], (0, 0))),
    "two states": made(wc.clock(2), moves=[0, 3]),
}  # fmt: skip


@pytest.fixture(params=POLICIES.values(), ids=POLICIES.keys())
def policy(request):
    return request.param


@needs_c
def test_the_header_makes_the_moves_of_the_policy(policy):
    states = Machine.of(policy).states
    text = exported(policy).text
    assert verify.differs_c(policy, text, "whiffclock", states, CC, *STRICT) == 0
    assert text.isascii()
    assert not re.search(r"malloc|float|double|\bfor\b|\bwhile\b|\bgoto\b", text.split("*/", 1)[1])


@pytest.mark.parametrize("to", ["micropython", "json", "csv"])
def test_modules_and_tables_make_the_moves_of_the_policy(policy, to):
    made = exported(policy, to)
    assert made.verified.startswith("verified: ")
    walk = {"micropython": verify.walk_python, "json": verify.walk_json, "csv": verify.walk_csv}[to](made.text)
    records = verify.whiff_records(Machine.of(policy).states, seed=7)[:4]
    assert np.array_equal([walk(record) for record in records.tolist()], verify.moves_of(policy, records))


def test_moves_on_records_are_those_of_the_tables(policy):
    records = verify.whiff_records(5, seed=3)[:3, :400]
    moves, memory = verify.moves_of(policy, records), policy.memory
    for record, found in zip(records.tolist(), moves.tolist(), strict=True):
        node, expected = None, []
        for bit in record:
            node = memory.first[bit] if node is None else memory.next_node[node, bit]
            expected.append(policy.actions[memory.row[node]])
        assert found == expected


def test_records_take_nearly_all_transitions(policy):
    machine = Machine.of(policy)
    seen, reachable, todo = set(), set(), {*machine.first.tolist()}
    while todo:
        node = todo.pop()
        reachable |= {(node, 0), (node, 1)}
        todo |= {int(after) for after in machine.after[node] if (int(after), 0) not in reachable}
    for record in verify.whiff_records(machine.states).tolist():
        node = machine.first[record[0]]
        for bit in record[1:]:
            seen.add((int(node), bit))
            node = machine.after[node, bit]
    assert seen <= reachable
    assert len(seen) >= 0.95 * len(reachable)


@needs_c
@pytest.mark.parametrize("name", ["clock", "runs", "two-Q in runs", "window", "controller"])
def test_the_header_has_no_undefined_behaviour(name):
    policy, how = POLICIES[name], FrontEnd(dead=5, slow=14)
    options = ("-std=c99", "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
    if not _compiles(*options):
        pytest.skip("the compiler has no sanitizers")
    text = exported(policy, front_end=how).text
    assert verify.differs_c(policy, text, "whiffclock", Machine.of(policy).states, CC, *options) == 0
    assert verify.differs_nose(how, text, "whiffclock", CC, *options) == 0


def _compiles(*options):
    try:
        verify.run_c(CC, "int main(void) { return 0; }\n", "", b"", *options)
    except RuntimeError:
        return False
    return True


def test_two_headers_fit_into_one_program_in_cpp(tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    for name in ("runs", "controller"):
        wc.export_policy(POLICIES[name], tmp_path / f"{name}.h", prefix=name, front_end={"dead": 3})
    (tmp_path / "main.cpp").write_text(
        '#include "runs.h"\n#include "controller.h"\nint main() {\n'
        "  runs_state a; controller_state b; runs_nose n;\n  runs_nose_begin(&n, 9);\n"
        "  return runs_begin(&a, 1) + runs_step(&a, runs_nose_step(&n, 9)) + controller_begin(&b, 1) < 0;\n}\n"
    )
    words = [compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "main", "main.cpp"]
    subprocess.run(words, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "main"], check=True)


def in_micropython(folder):
    """A command that runs run.py in MicroPython: its Unix port, or its build for Node from npm; None without both."""
    if unix := shutil.which("micropython"):
        return [unix, "run.py"]
    port = "@micropython/micropython-webassembly-pyscript/micropython.mjs"
    if (node := shutil.which("node")) is None:
        return None
    found = subprocess.run([node, "-p", f"require.resolve({port!r})"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        return None
    (folder / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        f"import {{ loadMicroPython }} from {json.dumps(found.stdout.strip())};\n"
        "const python = await loadMicroPython({ stdout: (line) => console.log(line) });\n"
        'python.runPython(readFileSync("run.py", "utf8"));\n'
    )
    return [node, "run.mjs"]


@pytest.mark.parametrize("name", POLICIES)
def test_a_module_runs_in_micropython(tmp_path, name):
    command = in_micropython(tmp_path)
    if command is None:
        pytest.skip("there is no MicroPython; CPython runs the module in the other tests")
    policy = POLICIES[name]
    record = verify.whiff_records(10)[:1, :300]
    text = exported(policy, "micropython").text
    moves = f"a = Agent()\nprint([a.step(w) for w in {record[0].tolist()}])\n"
    (tmp_path / "run.py").write_text(f"import sys\n{text}\n{moves}print(sys.implementation.name)\n")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
    printed, implementation = done.stdout.splitlines()
    assert implementation == "micropython"
    assert json.loads(printed) == verify.moves_of(policy, record)[0].tolist()


def test_tables_by_hand():
    policy = made(wc.clock(6, (2,)), moves=[0, 1, 2, 3, 3, 3, 2, 2, 2, 1, 1])
    machine = Machine.of(policy)
    assert machine.actions.tolist() == [0, 1, 2, 3, 3, 3, 0, 2, 2, 2, 1, 1]
    assert machine.packed == bytes([0b11_10_01_00, 0b10_00_11_11, 0b01_01_10_10])
    assert machine.runs == [(0, 1), (1, 1), (2, 1), (3, 3), (0, 1), (2, 3), (1, 2)]
    assert (machine.head, machine.by_runs, machine.table_bytes, machine.bits) == (12, False, 3 + 24, 8)
    large = Machine.of(made(wc.clock(100, (2,))))
    assert (large.head, large.table_bytes) == (2, 54)  # two states of a table are smaller than another comparison
    assert large.jumps == [(99, 99), (199, 199)]
    assert large.ranges == [(100, 100), (102, 0), (200, 100)]
    assert Machine.of(POLICIES["window"]).head == 15
    assert Machine.of(POLICIES["controller"]).head == 40
    assert Machine.of(POLICIES["runs"]).by_runs
    long = Machine.of(made(wc.clock(300), moves=[0] * 100 + [2] * 200))
    assert long.runs == [(0, 64), (0, 36), (2, 64), (2, 64), (2, 64), (2, 8)]


def test_a_clock_of_500_states_takes_two_kilobytes_of_text_and_200_bytes_of_tables():
    for policy in (POLICIES["clock"], *(wc.shipped(name) for name in wc.shipped())):
        made = exported(policy)
        assert len(made.text) <= 2048
        assert made.table_bytes <= 125


def test_a_policy_is_a_table_of_pandas():
    table = made(wc.clock(4, (2,)), moves=[0, 1, 2, 3, 1, 1, 1]).to_pandas()
    assert table.columns.tolist() == ["state", "mode", "action", "after_blank", "after_whiff", "first"]
    assert table.loc[2].tolist() == [2, 0, "-y", 3, 4, ""]
    assert table["first"].tolist() == ["", "", "", "", "whiff", "blank", "", ""]
    assert POLICIES["one state"].to_pandas()["first"].tolist() == ["both"]


def test_json_says_what_made_it():
    policy = wc.shipped("clock-dense")
    table = json.loads(exported(policy, "json").text)
    assert table["format"] == "whiffclock controller 1"
    assert table["made_from"] == policy.made_from
    assert table["actions"] == list(wc.ACTIONS)


def test_the_header_says_what_made_it():
    text = exported(wc.shipped("clock-sparse"), prefix="nose_7").text
    for part in ("searched clock", '"seed": 0', '"seconds": 80.0', '"plume": "f2c6821de81c5321"', wc.__version__):
        assert part in " ".join(text.split())
    assert "nose_7_step" in text
    assert "whiffclock_" not in text


@needs_c
@pytest.mark.parametrize("name", ["*/ int x; /*", "//*/", "a\nb\\", "??/", "τ ± \udcff", "%s %n", "/" + "*/" * 300])
def test_whatever_a_policy_is_called_stays_in_the_comment(name):
    policy = wc.TablePolicy(name, wc.clock(9), np.zeros(9, int), {"origin": name, "environment": name})
    for to in ("c", "micropython", "json"):
        assert exported(policy, to).verified.startswith("verified")


@needs_c
def test_a_header_that_does_something_else_is_found():
    policy = POLICIES["clock"]
    text, states = exported(policy).text, 500
    found = re.search(r"\{(\d+)U,", text)
    changed = text.replace(found[0], f"{{{int(found[1]) ^ 1}U,", 1)
    assert verify.differs_c(policy, changed, "whiffclock", states, CC) > 0
    shorter = text.replace("499U", "498U")
    assert verify.differs_c(policy, shorter, "whiffclock", states, CC) > 0
    with pytest.raises(RuntimeError, match="refuses the exported C"):
        verify.differs_c(policy, text.replace("return", "retrun", 1), "whiffclock", states, CC)
    module = exported(policy, "micropython").text
    assert verify.differs(policy, verify.walk_python(module.replace("499", "497")), states) > 0


def test_what_is_not_verified_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("whiffclock.export.verify.differs", lambda *_: 3)
    place = tmp_path / "agent.py"
    with pytest.raises(RuntimeError, match="differs from the policy in 3 of"):
        wc.export_policy(POLICIES["clock"], place)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_leaves_the_old_header(tmp_path, monkeypatch):
    place = tmp_path / "agent.h"
    place.write_text("old")
    monkeypatch.setattr("whiffclock.disk.os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(InputError, match="No space left"):
        wc.export_policy(POLICIES["clock"], place)
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_without_a_compiler_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("whiffclock.export.verify.shutil.which", lambda name: None)
    done = whiffclock("export", "clock-dense", "--out", tmp_path / "agent.h")
    assert done.returncode == 0
    assert "not verified, since there is no C compiler here" in done.stderr
    assert (tmp_path / "agent.h").read_text().startswith("/* searched clock")


def test_a_compiler_that_does_not_work_is_none(tmp_path, monkeypatch):
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("whiffclock.export.verify.shutil.which", lambda name: str(broken))
    assert verify.compiler() is None


def test_what_cannot_be_exported_gets_one_sentence(plume):
    class Mine(wc.Policy):
        def act(self, memory):
            return 0

    with pytest.raises(InputError, match="A QMDP policy cannot be exported, since its memory is no finite table"):
        wc.export_policy(wc.qmdp(plume, "dense"))
    with pytest.raises(InputError, match="A Mine policy cannot be exported"):
        wc.export_policy(Mine())
    with pytest.raises(InputError, match="is not a policy"):
        wc.export_policy("agent.npz")
    with pytest.raises(InputError, match="There is no export to 'rust'; there are c, micropython, json, csv"):
        wc.export_policy(POLICIES["clock"], to="rust")
    with pytest.raises(InputError, match=r"ending must be .h, .py, .json, .csv"):
        wc.export_policy(POLICIES["clock"], "agent.txt")
    with pytest.raises(InputError, match="leave it out of an export to json"):
        wc.export_policy(POLICIES["clock"], to="json", front_end={})
    with pytest.raises(InputError, match="rise"):
        wc.export_policy(POLICIES["clock"], front_end={"rise": 0})


@pytest.mark.parametrize("prefix", ["", "A", "9a", "_a", "a__b", "a-b", "a b", "int", "class", "a" * 32, "ä", "a_\n"])
def test_a_prefix_that_is_no_name_is_refused(prefix):
    with pytest.raises(InputError, match="The prefix is"):
        exported(POLICIES["runs"], prefix=prefix)


def test_the_front_end_by_hand():
    how = FrontEnd(rise=10, fall=5, slow=4, dead=2)
    #          baseline 100; begins at > 110, ends at < 105 or so; then two readings without
    given = [100, 110, 111, 111, 106, 103, 150, 150, 150]
    assert whiffs_of(np.array(given), how).tolist() == [0, 0, 1, 1, 1, 0, 0, 0, 1]
    assert whiffs_of(np.array([], dtype=int), how).tolist() == []
    steady = np.r_[np.full(50, 1000), np.full(3000, 1200)]
    found = whiffs_of(steady, FrontEnd(slow=6))
    assert found[50] == 1
    assert found[-1] == 0  # a sensor that drifted away is no whiff forever
    slow = np.arange(40_000) // 10
    assert not whiffs_of(slow, FrontEnd(slow=6)).any()  # nor is a slow rise one
    for wrong in ([1.5], [-1], [2**16], [[1]]):
        with pytest.raises(InputError, match="whole numbers from 0 to 65535"):
            whiffs_of(np.array(wrong), how)
    with pytest.raises(InputError, match="--fall is 50"):
        FrontEnd(fall=50)


@needs_c
@pytest.mark.parametrize(
    "how", [FrontEnd(), FrontEnd(rise=1, fall=0, slow=1), FrontEnd(300, 100, 14, 50), FrontEnd(40, 40, 4, 65535)]
)
def test_the_front_end_in_c_is_that_in_python(how):
    text = exported(POLICIES["runs"], front_end=how).text
    assert verify.differs_nose(how, text, "whiffclock", CC, *STRICT) == 0
    assert 0 < whiffs_of(verify.readings(), how).mean() < 1
    if how.dead == 0:
        changed = text.replace(f"over > {how.rise}", f"over >= {how.rise}")
        assert verify.differs_nose(how, changed, "whiffclock", CC) > 0


def test_the_command_writes_files_of_all_kinds(tmp_path):
    for to in ("c", "micropython", "json", "csv"):
        done = whiffclock("export", "clock-robust", "--to", to, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, exported(wc.shipped("clock-robust"), to).text)
        assert "verified" in done.stderr
    done = whiffclock(
        "export", "clock-robust", "--out", "a.h", "--front-end", "--rise", 50, "--prefix", "nav", cwd=tmp_path
    )
    assert done.returncode == 0
    assert "if (over > 50)" not in (text := (tmp_path / "a.h").read_text()) or "nav_nose" in text
    assert "over > 50" in text
    again = whiffclock("export", "clock-robust", "--out", "a.h", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert whiffclock("export", "clock-robust", "--out", "a.h", "--force", cwd=tmp_path).returncode == 0
    wrong = whiffclock("export", "clock-robust", "--rise", 50, cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "settings of --front-end" in wrong.stderr
    assert [path.name for path in Path(tmp_path).iterdir()] == ["a.h"]


def test_the_page_on_robots_has_the_sizes_of_the_programs():
    page = (Path(__file__).parent.parent / "docs" / "robots.md").read_text()
    made = {name: exported(wc.shipped(name)) for name in wc.shipped()}
    sparse, texts = made["clock-sparse"], [len(one.text) for one in made.values()]
    tables = [one.table_bytes for one in made.values()]
    assert f"(`clock-sparse`) | {sparse.table_bytes} bytes | {len(sparse.text):,} bytes" in page
    words = " ".join(page.split())
    assert (
        f"{min(tables)} to {max(tables)} bytes of tables in headers of {min(texts):,} to {max(texts):,} bytes" in words
    )
