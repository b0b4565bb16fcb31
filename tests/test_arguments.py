"""What users give to functions: as on the command line, from NumPy, or refused in one sentence."""

import doctest
from pathlib import Path

import numpy as np
import pytest

from whiffclock import arguments
from whiffclock.agents.castsurge import cast_and_surge
from whiffclock.arguments import memory_of, path_of, policies_of, seeds_of, settings_of, taus_of
from whiffclock.memory import clock, window
from whiffclock.params import InputError, WorldSettings
from whiffclock.plume.toy import toy_plume
from whiffclock.world.starts import one_start

PLUME = toy_plume(snapshots=10, length=20, width=7)
WORLD = WorldSettings()
CAST = cast_and_surge(30)
#: Of no use as any of the arguments.
NASTY = (True, 1.5, float("nan"), float("inf"), -1, 10**30, {}, {"a": 1}, object(), [None], "", "no", b"1", ["1"], int)


def test_their_examples():
    assert doctest.testmod(arguments).failed == 0


@pytest.mark.parametrize(
    ("seeds", "seed", "found"),
    [
        (None, 0, [0]),
        (None, np.int64(4), [4]),
        (np.int64(2), 0, [0, 1]),
        (3.0, 5, [5, 6, 7]),
        (1, 2**63 - 1, [2**63 - 1]),
        ([3, 1], 0, [3, 1]),
        (range(2, 4), 0, [2, 3]),
        (np.arange(2), 0, [0, 1]),
    ],
)
def test_seeds(seeds, seed, found):
    made = seeds_of(seeds, seed)
    assert made == found
    assert all(type(one) is int for one in made)


@pytest.mark.parametrize(
    ("seeds", "seed", "sentence"),
    [
        (0, 0, "The number of agents is 0; it must be at least 1 and at most 100000."),
        (2.5, 0, "seeds is 2.5; it must be a whole number."),
        (True, 0, "seeds is True; it must be a whole number."),
        ("3", 0, "seeds is '3'; it must be a whole number."),
        ([], 0, "The list of seeds is empty; it must hold at least 1."),
        ([1, 2, 1], 0, "The seeds are [1, 2, 1]; they must differ from each other."),
        ([1, -1], 0, "The seed is -1; it must be 0 or more."),
        ([1, 1.5], 0, "seeds is 1.5; it must be a whole number."),
        (None, -1, "The seed is -1; it must be 0 or more."),
        (None, None, "seed is None; it must be a whole number."),
        ([1, 2], 3, "seed is that of the first agent; where each agent has its own in seeds, leave it out."),
        (2, 2**63 - 1, "seed is 9223372036854775808; it must be at least -9.22337e18 and at most 9.22337e18."),
    ],
)
def test_seeds_that_are_refused(seeds, seed, sentence):
    with pytest.raises(InputError) as caught:
        seeds_of(seeds, seed)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("tau", "found"),
    [
        (None, ()), ((), ()), ([], ()), (5, (5,)), (np.int64(5), (5,)), (5.0, (5,)), ([5, 20], (5, 20)),
        (np.array([5, 20]), (5, 20)), ("10", (10,)), ("5,20", (5, 20)), ("5, 20", (5, 20)), ("auto", None),
    ],
)  # fmt: skip
def test_taus(tau, found):
    assert taus_of(tau) == found


@pytest.mark.parametrize(
    "tau", ["soon", "", "5,", "1.5", 2.5, True, ["5"], [True], {5: 6}, float("nan"), [[5]], [None]]
)
def test_taus_that_are_refused(tau):
    with pytest.raises(InputError, match=r"^tau is .*; it must be 'auto' or whole numbers such as 10 or 5,20\.$"):
        taus_of(tau)


def test_memories():
    assert memory_of(None, 50) == clock(50)
    assert memory_of("clock", 50, (5,), split_zero=True) == clock(50, (5,), split_zero=True)
    assert memory_of("clock:40", 50, (5,)) == clock(40, (5,))
    assert memory_of(None, 50, None) == clock(50)  # tau is not chosen yet
    assert memory_of("window:3", 50, (), split_zero=False) == window(3, 50)
    own = window(2, 30)
    assert memory_of(own, 50) is own


@pytest.mark.parametrize(
    ("memory", "taus", "settings", "sentence"),
    [
        ("window:3", (5,), {}, "tau is a setting of the clock, and the memory is window-3; leave out tau (--tau)."),
        ("window:3", None, {}, "tau is a setting of the clock, and the memory is window-3; leave out tau (--tau)."),
        (window(2), (5,), {}, "tau is a setting of the clock, and the memory is window-2; leave out tau (--tau)."),
        (clock(9), (5,), {}, "tau is a setting of the clock, and the memory is single-Q; leave out tau (--tau)."),
        ("window", (), {"split_zero": True}, "split_zero is a setting of the clock, and the memory is window-4;"),
        (None, (), {"split_zero": "no"}, "split_zero is 'no'; it must be True or False."),
        (3, (), {}, "memory is 3; it must be a Memory, or a text such as 'window:3'."),
        ("elephant", (), {}, "There is no memory called 'elephant'; there are "),
        (None, (60,), {}, "The blank thresholds tau are [60]; they must increase and lie between 1 and H-1 = 49."),
    ],
)
def test_memories_that_are_refused(memory, taus, settings, sentence):
    with pytest.raises(InputError) as caught:
        memory_of(memory, 50, taus, **settings)
    assert str(caught.value).startswith(sentence)


def test_settings():
    own = WorldSettings(radius=1)
    assert settings_of(WorldSettings, own) is own
    assert settings_of(WorldSettings, None) == WorldSettings()
    assert settings_of(WorldSettings, {"radius": np.float32(3)}) == WorldSettings(3.0)
    with pytest.raises(InputError, match="did you mean radius"):
        settings_of(WorldSettings, {"radios": 3})
    right = r"^world is 3; it must be WorldSettings, or a dictionary of such settings\.$"
    with pytest.raises(InputError, match=right):
        settings_of(WorldSettings, 3)


def test_policies():
    assert policies_of(CAST) == [(None, CAST)]
    assert policies_of([CAST, (CAST, CAST)]) == [(None, CAST)] * 3
    assert policies_of({"a": CAST, "b": [CAST, CAST]}) == [("a", CAST), ("b", CAST), ("b", CAST)]
    for empty in ([], (), {}, {"a": []}):
        with pytest.raises(InputError, match="no policy to test"):
            policies_of(empty)
    with pytest.raises(InputError, match=r"A str is not a policy.*load_policy reads one"):
        policies_of("agent.npz")


def test_paths():
    assert path_of("a/b.npz") == path_of(Path("a/b.npz")) == Path("a/b.npz")
    for wrong in (None, 3, "", "a\0b", b"a", ["a"]):
        with pytest.raises(InputError, match="it must be the name of a file or folder"):
            path_of(wrong)


@pytest.mark.parametrize(
    "take",
    [
        seeds_of, taus_of, policies_of, path_of,
        lambda value: seeds_of(None, value),
        lambda value: memory_of(value, 50),
        lambda value: memory_of(None, 50, literal_tau=value),
        lambda value: settings_of(WorldSettings, value),
        lambda value: one_start(PLUME, 1e-6, WORLD, value),
        lambda value: one_start(PLUME, 1e-6, WORLD, (value, 1)),
    ],
)  # fmt: skip
def test_no_value_gives_another_error(take):
    for value in NASTY:
        try:
            take(value)
        except InputError as error:
            sentence = str(error)
            assert sentence.isprintable()
            assert sentence[-1] in ".?"
