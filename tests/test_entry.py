"""How the command line ends: one sentence and an exit code, whatever the machine does."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time

import numba
import numpy as np
import pytest
from command import whiffclock
from numba.core import caching

from whiffclock import cli, entry, jit
from whiffclock.params import InputError

WHIFFCLOCK = (sys.executable, "-m", "whiffclock")


def run(*words, env=None, **how):
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run((*WHIFFCLOCK, *words), env=os.environ | (env or {}), text=True, check=False, **how)


def ending(error, monkeypatch, capsys):
    """Exit code and message of a command that raises ``error``."""

    def app():
        raise error

    monkeypatch.setattr(cli, "app", app)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # handlers and streams of the tests stay as they are
    monkeypatch.setattr(entry, "_prepare_streams", lambda: None)
    with pytest.raises(SystemExit) as end:
        entry.main()
    return end.value.code, capsys.readouterr().err


def caused(by):
    error = InputError("It cannot be written.")
    error.__cause__ = by
    return error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("The horizon is 0."), 2, "whiffclock: The horizon is 0.\n"),
        (caused(OSError(errno.EACCES, "Permission denied")), 2, "whiffclock: It cannot be written.\n"),
        (caused(OSError(errno.ENOSPC, "No space left on device")), 1, "whiffclock: It cannot be written.\n"),
        (caused(MemoryError()), 1, "whiffclock: It cannot be written.\n"),
        (OSError(errno.ENOSPC, "No space left on device", "a.npz"), 1, "whiffclock: a.npz: No space left on device.\n"),
        (OSError(errno.ELOOP, "Too many links", "a"), 2, "whiffclock: a: Too many links.\n"),
        (MemoryError("Unable to allocate 74.5 GiB"), 1,
         "whiffclock: There is not enough memory: Unable to allocate 74.5 GiB.\n"),
        (MemoryError(), 1, "whiffclock: There is not enough memory.\n"),
        (RecursionError("maximum depth"), 2, "whiffclock: An input is nested too deeply.\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
)  # fmt: skip
def test_an_expected_failure_is_one_sentence(error, code, said, monkeypatch, capsys):
    assert ending(error, monkeypatch, capsys) == (code, said)


@pytest.mark.parametrize("bug", [KeyError("x"), ValueError("x"), OSError("x"), OSError(errno.ENOENT, "without a path")])
def test_a_mistake_of_ours_keeps_its_traceback(bug, monkeypatch, capsys):
    with pytest.raises(type(bug)):
        ending(bug, monkeypatch, capsys)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("--help",), ("runs", "prune", "--help"), ("--version",)])
def test_a_full_output_is_said(words):
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith("whiffclock: ")
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_stderr_changes_no_exit_code():
    with open("/dev/full", "w") as full:
        assert run("info", "nowhere.npz", stderr=full).returncode == 2


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_failure(closed):
    command = f"{' '.join(WHIFFCLOCK)} --version {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_leaves_gets_no_traceback():
    read, write = os.pipe()
    os.close(read)
    done = run("--help", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_signs_that_the_encoding_lacks_are_spelled_out():
    code = "from whiffclock import entry; entry._prepare_streams(); print('1 ± 2 τ ── é')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert done.stdout == b"1 +- 2 tau \\u2500\\u2500 \\xe9\n"


def test_a_file_name_that_is_no_text_is_printed_as_it_is(tmp_path):
    name = b"\xff.npz"
    done = subprocess.run([*WHIFFCLOCK, "info", name], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"whiffclock: There is no file at \xff.npz.\n"


@pytest.mark.parametrize("words", [("info", "\x1b[31m.npz"), ("\x1b[31m",), ("train", "\x1b[31m")])
def test_control_characters_of_names_are_escaped(words):
    done = whiffclock(*words)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "\\x1b[31m" in done.stderr


STOPPED = """
import os, signal, sys
class Stop:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.{signal})
sys.meta_path.insert(0, Stop())
sys.argv = ["whiffclock", "info"]
from whiffclock.entry import main
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("module", ["typer", "rich.console", "numba.core.types", "numpy"])
def test_a_signal_during_imports_is_no_traceback(name, code, module):
    program = STOPPED.format(name=module, signal=name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")


IN_A_CLASS = """
import os, signal
from whiffclock import cli, entry
class Name:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(1000):
            pass
def app():
    type("Made", (), {"name": Name()})
cli.app = app
entry.main()
"""


def test_a_signal_while_a_class_is_made_is_no_traceback():
    done = subprocess.run([sys.executable, "-c", IN_A_CLASS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "")


IN_A_CALLBACK = """
import ctypes, os, signal, sys, time
from whiffclock import cli, entry
def app():
    ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT))()
    time.sleep(60)
cli.app = app
entry.main()
"""


def test_a_signal_in_a_callback_from_compiled_code_is_not_lost():
    done = subprocess.run([sys.executable, "-c", IN_A_CALLBACK], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_sigterm_keeps_finished_work(tmp_path):
    plume = tmp_path / "plume.npz"
    run("plume", "toy", plume, "--snapshots", "40", "--length", "16", "--width", "7")
    words = ("train", "--plume", plume, "-e", "dense", "--start-threshold", "own", "--horizon", "40", "--out", "made")
    words += ("--seeds", "50", "--episodes", "200000", "--workers", "1")
    at_work = subprocess.Popen([*WHIFFCLOCK, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + 60
    while not list(tmp_path.glob("made/dense/*.npz")) and time.monotonic() < ends:
        time.sleep(0.05)
    at_work.terminate()
    _, said = at_work.communicate(timeout=60)
    assert at_work.returncode == 143
    assert "finished work is in made; the same command continues from there." in said
    assert "Traceback" not in said
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]


def kernel_of(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))

    @jit.kernel()
    def doubled(x):
        return 2 * x

    return doubled


@pytest.mark.parametrize("damage", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 30])
def test_a_damaged_cache_is_made_again(damage, left, tmp_path, monkeypatch):
    assert kernel_of(tmp_path, monkeypatch)(2) == 4
    files = list(tmp_path.rglob(f"*.{damage}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:left])
    assert kernel_of(tmp_path, monkeypatch)(2) == 4
    again = kernel_of(tmp_path, monkeypatch)
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_full_cache_is_no_failure(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)
    assert kernel_of(tmp_path, monkeypatch)(2) == 4
    assert "(No space left on device)" in capsys.readouterr().err


def test_without_a_place_for_the_cache_it_is_temporary(tmp_path, monkeypatch, capsys):
    given = [place for place in caching.CacheImpl._locator_classes if "UserProvided" in place.__name__]
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", given)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(jit, "_printed", set())
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    for _ in range(2):
        made = jit.kernel()(lambda x: x + np.int64(1))
        assert made(2) == 3
        assert numba.config.CACHE_DIR == ""  # kernels of the user are not ours to place
    assert list(tmp_path.glob("whiffclock-kernels-*/*/*.nbc"))
    assert capsys.readouterr().err.count("whiffclock: compiled functions are cached in") == 1


def test_a_temporary_cache_of_others_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = jit._temporary_folder()
    assert jit._temporary_folder() == own
    own.chmod(0o777)
    assert jit._temporary_folder() != own
