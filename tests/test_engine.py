"""Jobs side by side."""

import threading

import pytest

import whiffclock as wc
from whiffclock.params import InputError
from whiffclock.recovery import BranchSettings
from whiffclock.runs.engine import EngineSettings, Stopped, run_jobs


def test_results_come_in_the_order_of_the_jobs():
    jobs = [lambda tick, i=i: i for i in range(20)]
    assert run_jobs(jobs, 4) == list(range(20))


def test_a_failing_job_stops_the_others():
    stopped = threading.Event()

    def endless(tick):
        try:
            while True:
                tick(1)
        except Stopped:
            stopped.set()
            raise

    def failing(tick):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_jobs([endless, failing], 2)
    assert stopped.is_set()


def test_nothing_is_begun_after_a_failure():
    begun = []

    def failing(tick):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_jobs([failing, *[lambda tick: begun.append(1)] * 50], 1)
    assert not begun


@pytest.mark.parametrize(
    ("kind", "name"), [(EngineSettings, "workers"), (BranchSettings, "trials"), (BranchSettings, "seed")]
)
def test_settings_check_what_their_base_class_checks(kind, name):
    with pytest.raises(InputError, match=rf"{name} is a number of 401 digits"):
        kind(**{name: 10**400})


@pytest.mark.parametrize("workers", [-1, 0])
def test_a_notebook_needs_at_least_one_worker(workers, tmp_path):
    with pytest.raises(InputError, match=f"--workers is {workers}; it must lie between 1 and 1024"):
        wc.sweep({"threshold": "dense", "episodes": 10}, tmp_path, workers=workers)
    with pytest.raises(InputError, match=f"--workers is {workers}"):
        wc.reproduce(tmp_path, workers=workers)
    with pytest.raises(InputError, match=f"--workers is {workers}"):
        wc.train(wc.builtin_plume(), "dense", episodes=10, workers=workers)
