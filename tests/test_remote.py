"""Engines in other processes: the same results, and what is left when workers die."""

import hashlib
import logging
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import whiffclock
from whiffclock.memory import clock
from whiffclock.params import EvaluationSettings, InputError, LearningSettings, WorldSettings
from whiffclock.runs import remote
from whiffclock.runs.engine import EngineError, EngineSettings
from whiffclock.runs.jobs import JobFolder, execute, nested, threads
from whiffclock.runs.kinds import CastAndSurge, Evaluate, HeuristicTwoQ, Train

LEARNING = LearningSettings.shortened(200, horizon=60)


def jobs_on(plume, agents=3):
    """Trainings, tests that depend on them, and on two of them at once."""

    def test(policy, threshold):
        return Evaluate(policy, plume.fingerprint, threshold, plume.settle(), EvaluationSettings(2, horizon=60))

    trained = [Train(plume.fingerprint, 3e-6, clock(60), LEARNING, plume.settle(), seed) for seed in range(agents)]
    tests = [test(policy, threshold) for policy in trained for threshold in (3e-6, 5e-6)]
    return [*tests, test(HeuristicTwoQ(*trained[:2], 7), 5e-6), test(CastAndSurge(45, 60), 3e-6)]


def digests(folder):
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.rglob("*.npz")}


@pytest.fixture(scope="module")
def expected(plume, tmp_path_factory):
    """Jobs, and the digests of their records on threads of this process."""
    jobs, folder = jobs_on(plume), tmp_path_factory.mktemp("threads")
    execute(jobs, plume, JobFolder(folder), threads(2))
    found = digests(folder)
    assert len(found) == 3 + len(jobs)
    return jobs, found


@contextmanager
def started(module, *words, log, **environment):
    """A process of Dask, which is killed at the end."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{module}", *words, "--no-dashboard"]
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env=os.environ | environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def scheduler(folder):
    file = folder / "scheduler.json"
    words = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
    with started("scheduler", *words, log=folder / "scheduler.log") as process:
        until(file.exists)
        yield process, str(file)


def worker(folder, name, **environment):
    words = ["--scheduler-file", str(folder / "scheduler.json"), "--nthreads", "1", "--no-nanny", "--name", name]
    return started("worker", *words, log=folder / f"{name}.log", **environment)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_local_processes_give_the_same_records(expected, plume, tmp_path):
    jobs, found = expected
    done = []
    with EngineSettings("processes", 2).open() as engine:
        execute(jobs, plume, JobFolder(tmp_path / "processes"), engine, done.append)
        assert len(list(engine._folder.iterdir())) == 3  # whiffs at three thresholds, once for all jobs
    assert digests(tmp_path / "processes") == found
    assert sum(done) == sum(job.cost(plume) for job in {j.key: j for i in jobs for j in (i, *nested(i))}.values())
    assert not engine._folder.exists()


def test_a_killed_process_is_replaced(expected, plume, tmp_path):
    jobs, found = expected
    said, killed, before = [], [], {*multiprocessing.active_children()}

    def kill_once(amount):
        if not killed:
            killed.append(({*multiprocessing.active_children()} - before).pop())
            os.kill(killed[0].pid, signal.SIGKILL)

    with EngineSettings("processes", 2).open(said.append) as engine:
        execute(jobs, plume, JobFolder(tmp_path / "killed"), engine, kill_once)
    assert digests(tmp_path / "killed") == found
    assert said == ["whiffclock: a worker process died; it was killed, or memory ran out. Its jobs are started again."]


def test_processes_that_keep_dying_are_given_up(plume, tmp_path, monkeypatch):
    with EngineSettings("processes", 1).open() as engine:
        monkeypatch.setattr(engine, "submit", lambda job, *args: engine.executor.submit(os._exit, 1))
        with pytest.raises(EngineError, match=r"a worker process died; .* \(4 times\)"):
            execute(jobs_on(plume), plume, JobFolder(tmp_path), engine)


def test_bad_input_in_a_worker_keeps_its_sentence(plume, tmp_path):
    job = Train(plume.fingerprint, 3e-6, clock(60), LEARNING, plume.settle(WorldSettings(radius=500)))
    with EngineSettings("processes", 1).open() as engine, pytest.raises(InputError, match="no search can start"):
        execute([job], plume, JobFolder(tmp_path), engine)


def test_a_dask_cluster_survives_the_death_of_a_worker(expected, plume, tmp_path):
    jobs, found = expected
    killed = []
    with scheduler(tmp_path) as (_, file), worker(tmp_path, "one") as one, worker(tmp_path, "two"):

        def kill_once(amount):
            if not killed:
                one.kill()
                killed.append(one)

        with EngineSettings(scheduler=file).open() as engine:
            until(lambda: len(engine._client.scheduler_info()["workers"]) == 2)
            execute(jobs, plume, JobFolder(tmp_path / "dask"), engine, kill_once)
    assert killed
    assert digests(tmp_path / "dask") == found


def test_without_its_scheduler_a_run_ends_and_the_next_one_finishes(expected, plume, tmp_path):
    jobs, found = expected
    store = JobFolder(tmp_path / "dask")
    with (
        scheduler(tmp_path) as (process, file),
        worker(tmp_path, "one"),
        EngineSettings(scheduler=file).open() as engine,
        pytest.raises(EngineError, match="Dask scheduler was lost"),
    ):
        execute(jobs, plume, store, engine, lambda amount: process.kill())
    assert 1 <= len(digests(tmp_path / "dask")) < len(found)
    execute(jobs, plume, store)
    assert digests(tmp_path / "dask") == found


def test_a_worker_with_another_version_is_refused(plume, tmp_path):
    package, other = Path(whiffclock.__file__).parent, tmp_path / "other"
    shutil.copytree(package, other / "whiffclock", ignore=shutil.ignore_patterns("__pycache__", "data"))
    source = other / "whiffclock" / "__init__.py"
    source.write_text(source.read_text().replace(f'"{whiffclock.__version__}"', '"0.0.9"'))
    with scheduler(tmp_path) as (_, file), worker(tmp_path, "old", PYTHONPATH=str(other)):
        until(lambda: "Starting established connection" in (tmp_path / "old.log").read_text())
        with (
            pytest.raises(InputError, match=r"The Dask worker tcp://.* has whiffclock 0\.0\.9, and this is"),
            EngineSettings(scheduler=file).open(),
        ):
            pass


def test_a_worker_that_comes_later_with_another_version_is_refused(plume):
    with pytest.raises(InputError, match=r"a worker has whiffclock .*, and this is 0\.0\.9"):
        remote.perform(CastAndSurge(45, 60), plume.without_field(), {}, {}, "0.0.9")


@contextmanager
def server(reply=b""):
    """The address of a server that is not Dask's: it accepts, says ``reply``, and waits."""
    taken = []

    def serve():
        with suppress(OSError):
            while True:
                taken.append(listener.accept()[0])
                taken[-1].sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    for connection in taken:
        connection.close()


def refused_by(where):
    """Exit code and message of a command with this scheduler, and the seconds that it took."""
    words = ["train", "-e", "dense", "--seeds", "1", "--episodes", "10", "--scheduler", where]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "whiffclock", *words], capture_output=True, text=True, check=False, timeout=50
    )
    return done.returncode, done.stderr, time.monotonic() - began


@pytest.mark.parametrize("where", ["127.0.0.1:9", "tcp://127.0.0.1:9", "foo://127.0.0.1:9", "tcp://127.0.0.1", "a:b"])
def test_no_scheduler(where, monkeypatch):
    monkeypatch.setattr(remote, "_SECONDS_TO_CONNECT", 0.5)
    with (
        pytest.raises(InputError, match=f"No Dask scheduler answers at {where}"),
        EngineSettings(scheduler=where).open(),
    ):
        pass


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-OpenSSH_9.6 and what follows"], ids=["silent", "another protocol"])
def test_a_server_that_is_not_a_scheduler_is_refused_in_one_sentence(reply):
    with server(reply) as where:
        code, said, seconds = refused_by(where)
    assert (code, said) == (2, f"whiffclock: No Dask scheduler answers at {where}.\n")
    assert seconds < 25


def test_a_bad_scheme_is_refused_at_once():
    code, said, seconds = refused_by("foo://127.0.0.1:9")
    assert (code, said) == (2, "whiffclock: No Dask scheduler answers at foo://127.0.0.1:9.\n")
    assert seconds < 15


def test_ctrl_c_ends_the_wait_for_a_scheduler(monkeypatch):
    monkeypatch.setattr(remote, "_SECONDS_TO_CONNECT", 60)
    with server() as where:
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt), EngineSettings(scheduler=where).open():
            pass
    assert time.monotonic() - began < 20


STARTING = """
import os, signal, sys
from distributed import LocalCluster
from whiffclock import entry
from whiffclock.runs import engine
def started(*args, made=LocalCluster.__init__, **options):
    os.killpg(0, signal.SIGINT)
    made(*args, **options)
LocalCluster.__init__ = started
if __name__ == "__main__":
    sys.argv = ["whiffclock", "train", "-e", "dense", "--seeds", "1", "--episodes", "10", "--engine", "dask"]
    entry.main()
"""


def test_ctrl_c_while_dask_starts_is_no_traceback(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(STARTING)
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, start_new_session=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_a_local_cluster_is_quiet_and_serves_this_machine_only():
    import psutil
    from distributed.client import logger

    before = [logging.getLogger(name).level for name in ("distributed", logger.name)]
    with EngineSettings("dask", 1).open():
        assert logger.level == logging.CRITICAL
        here = psutil.Process()
        served = {
            connection.laddr.ip
            for process in (here, *here.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert served == {"127.0.0.1"}
    assert [logging.getLogger(name).level for name in ("distributed", logger.name)] == before


@pytest.mark.parametrize("content", ["{}", "[]", "not JSON", '{"address": '])
def test_a_file_that_is_not_a_scheduler_file(content, tmp_path):
    where = tmp_path / "scheduler.json"
    where.write_text(content)
    with pytest.raises(InputError, match="is not a scheduler file"), EngineSettings(scheduler=str(where)).open():
        pass


def test_no_scheduler_file(tmp_path):
    where = str(tmp_path / "none.json")
    with pytest.raises(InputError, match="There is no scheduler file"), EngineSettings(scheduler=where).open():
        pass


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"engine": "spark"}, "it must be threads, processes or dask"),
        ({"workers": 0}, "--workers is 0"),
        ({"workers": -1}, "--workers is -1"),
        ({"workers": 10**400}, "workers is a number of 401 digits"),
        ({"scheduler": "tcp://h:1", "engine": "processes"}, "needs the engine dask"),
        ({"scheduler": "tcp://h:1", "workers": 3}, "leave out --workers"),
    ],
)
def test_settings_that_contradict_each_other(settings, problem):
    with pytest.raises(InputError, match=problem):
        EngineSettings(**settings)


def test_a_plume_without_its_field_has_the_whiffs_it_was_given(plume):
    light = plume.without_field()
    assert light == plume
    light.records[3e-6] = plume.whiffs(3e-6)
    assert np.array_equal(light.whiffs(3e-6).words, plume.whiffs(3e-6).words)
    with pytest.raises(InputError, match="concentrations of this plume are in another process"):
        light.whiffs(5e-6)
