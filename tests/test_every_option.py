"""Nasty values for options: a sample of what ``make fuzz`` tries, and the ranges behind it."""

import sys

import pytest
from fuzz import options
from fuzz.cases import Bench

from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.memory import clock
from whiffclock.params import (
    BayesSettings,
    EvaluationSettings,
    InputError,
    LearningSettings,
    WorldSettings,
    require_memory,
    require_range,
)
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.simulate.recipe import FlowSettings, OdorSettings, SimulationSettings
from whiffclock.plume.toy import toy_plume
from whiffclock.pomdp.settings import SolverSettings

HUGE = (2**63, 2**64, 10**30, 10**400, -(10**400))


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (LearningSettings, ("episodes", "horizon", "curve_points", "record_last")),
        (EvaluationSettings, ("snapshots", "seed", "horizon")),
        (SimulationSettings, ("snapshots", "length", "width", "spin_up", "fill", "steps", "seed")),
        (OdorSettings, ("filaments",)),
        (SolverSettings, ("backups", "seed")),
        (ReadSettings, ("downsample", "background", "first", "end")),
    ],
)
def test_whole_numbers_that_no_kernel_can_hold_are_refused(kind, names, value):
    for name in names:
        with pytest.raises(InputError):
            kind(**{name: value})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 1e308, -1e308])
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (WorldSettings, ("radius", "start_threshold")),
        (LearningSettings, ("gamma", "alpha_start", "alpha_decay", "q_start", "trace")),
        (BayesSettings, ("discount", "floor")),
        (FlowSettings, ("depth", "wind", "reynolds", "roughness_drag", "slant", "frame_share")),
        (OdorSettings, ("size", "growth", "stretch", "walk", "memory", "strength", "source_height")),
        (SolverSettings, ("seconds", "cpu_seconds", "gap", "megabytes")),
        (ReadSettings, ("scale",)),
    ],
)
def test_numbers_that_are_none_or_overflow_are_refused(kind, names, value):
    for name in names:
        with pytest.raises(InputError):
            kind(**{name: value})


def test_a_range_says_what_is_right():
    require_range("x", 1, 1, 3)
    with pytest.raises(InputError, match=r"^x is 4; it must be at least 1 and at most 3\.$"):
        require_range("x", 4, 1, 3)
    with pytest.raises(InputError, match=r"^x is a number of 401 digits; it must be at least 1 and at most 3\.$"):
        require_range("x", 10**400, 1, 3)
    with pytest.raises(InputError, match=r"^x is nan; it must be a finite number\.$"):
        require_range("x", float("nan"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: require_memory(10**400, "This"),
        lambda: toy_plume(snapshots=2**31),
        lambda: toy_plume(width=10**400),
        lambda: SimulationSettings(length=2**31),
        lambda: SimulationSettings(flow=FlowSettings(points=(1024, 1024, 512))),
        lambda: clock(100_000, tuple(range(1, 99_999))),
    ],
)
def test_sizes_are_refused_before_memory_is_filled(make):
    with pytest.raises(InputError, match="4 GiB are allowed"):
        make()


def test_a_seed_is_not_negative():
    with pytest.raises(InputError, match="seed"):
        toy_plume(snapshots=2, length=2, width=2, seed=-1)


def test_cast_and_surge_is_not_made_before_its_length_is_checked():
    with pytest.raises(InputError, match="horizon"):
        cast_and_surge(30, 10**12)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("options"), ["options"], every=False)


def test_every_command_has_a_quick_form():
    assert {name for name, _ in options.commands()} <= options.BASES.keys()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize(
    "words",
    [
        "plume toy made.npz --seed=-1", "plume toy made.npz --snapshots=2147483648",
        "plume toy made.npz --width=18446744073709551616", f"plume toy {'b' * 300}.npz",
        "plume toy loop/in.npz", "plume toy dangling/in.npz", "plume toy text.txt/in.npz",
        "plume toy /dev/full", "plume toy \udcff.npz --snapshots 9 --length 9 --width 5",
        "plume export plume.npz made.npz --frames=" + "9" * 5000 + ":",
        "plume export plume.npz made.npz --crop=0:" + "9" * 5000 + ",0:1",
        "plume simulate made.npz --points 1024,1024,512", "plume simulate made.npz --length=2147483648",
        "plume simulate made.npz --growth=1e300", "plume inspect loop", f"plume inspect {'d' * 300}/in.npz",
        "evaluate policies --plume plume.npz --radius=1e308",
        "evaluate policies --plume plume.npz --horizon=2147483648",
        "evaluate policies --plume plume.npz --snapshots=2147483648", f"evaluate {'b' * 300}.npz",
        "compare policies --plume plume.npz --start-threshold own --horizon=10000000",
        "train --plume plume.npz --seeds=1000000000", "train --plume plume.npz --horizon=18446744073709551616",
        "train --plume plume.npz --radius=1e308", "train --plume plume.npz --memory=window:60",
        "train --plume plume.npz --first-seed=" + "9" * 400, "train --plume plume.npz --out=dangling",
        "train --plume plume.npz --episodes=" + "9" * 30, f"train --plume plume.npz --out={'d' * 300}",
        "bayes solve -e dense --plume plume.npz --seconds=nan", "bayes solve -e dense --plume plume.npz --backups=-1",
        "bayes solve -e dense --plume plume.npz --seed=" + "9" * 400, f"runs list --store={'d' * 300}",
        "runs show 0 --store=loop", "pomdp solve tiger.pomdp --seconds=1e308", "report dangling",
        "claims dangling C1", f"claims {'d' * 300}", "claims policies C" + "9" * 400, "data loop fig2",
        "data policies fig2 --csv=loop/in.csv", "data policies fig2 --csv=closed",
    ],
)  # fmt: skip
def test_a_nasty_value_is_refused_in_one_sentence(words, bench):
    outcome = bench.attempt(words.split(" "))
    expected = "other input" if "\udcff" in words else "refused"
    assert outcome.name == expected, outcome.said
    assert outcome.said.count("whiffclock: ") == (expected == "refused")
