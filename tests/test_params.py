"""Settings: strictly typed when they are read, finite, and refused in one sentence."""

import json
import math
import pickle
import re
import time
import timeit
from dataclasses import MISSING, dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from types import NoneType

import numpy as np
import pytest
from clock_settings import ClockSettings

import whiffclock.agents.bayes
import whiffclock.plume.simulate.recipe
import whiffclock.pomdp.solver  # noqa: F401  (the settings below are found by their base class)
from whiffclock.assays.protocol import DrawSettings
from whiffclock.paper.profiles import PROFILES, Profile
from whiffclock.params import BayesSettings, EvaluationSettings, InputError, LearningSettings, Settings, WorldSettings
from whiffclock.plume.calibration import CrosswindProfile, Target
from whiffclock.plume.reading.layouts import ReadSettings
from whiffclock.plume.simulate.recipe import FlowSettings, SimulationSettings
from whiffclock.recovery import BranchSettings
from whiffclock.runs.engine import EngineSettings
from whiffclock.runs.leaderboard import SIZES, Size
from whiffclock.runs.training import TauScan


@dataclass(frozen=True)
class Outer(Settings):
    world: WorldSettings = field(default_factory=WorldSettings)


def refused(kind, values):
    with pytest.raises(InputError) as caught:
        kind.from_dict(values)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("kind", "values", "name"),
    [
        (ClockSettings, {"horizon": 50.0}, "horizon"),
        (ClockSettings, {"horizon": "50"}, "horizon"),
        (ClockSettings, {"horizon": None}, "horizon"),
        (ClockSettings, {"horizon": True}, "horizon"),
        (ClockSettings, {"horizon": 10**30}, "horizon"),
        (ClockSettings, {"taus": [5.0]}, "taus"),
        (ClockSettings, {"taus": 5}, "taus"),
        (ClockSettings, {"split_zero": 1}, "split_zero"),
        (WorldSettings, {"radius": "2"}, "radius"),
        (WorldSettings, {"radius": 10**400}, "radius"),
        (WorldSettings, {"end_of_record": "stop"}, "end_of_record"),
        (LearningSettings, {"episodes": 1e6}, "episodes"),
        (ReadSettings, {"crop": [0, 1, 2]}, "crop"),
        (Outer, {"world": {"radius": "2"}}, "world.radius"),
        (Outer, {"world": {"radius": -1}}, "radius"),
        (Outer, {"world": None}, "world"),
        (SimulationSettings, {"flow": {"points": [96, 96]}}, "flow.points"),
        (SimulationSettings, {"odor": {"filaments": 10**400}}, "filaments is a number of 401 digits"),
        (ClockSettings, None, "ClockSettings"),
        (ClockSettings, [500], "ClockSettings"),
        (ClockSettings, {3: 4}, "ClockSettings"),
    ],
)
def test_settings_of_a_wrong_type_are_refused_by_name(kind, values, name):
    assert name in refused(kind, values)


def test_unknown_names_are_refused_at_any_depth():
    assert refused(ClockSettings, {"horizn": 5, "b": 1}) == "ClockSettings has no setting called b, horizn."
    assert refused(Outer, {"world": {"size": 5}}) == "WorldSettings has no setting called size."


def test_settings_survive_their_dictionary():
    assert ClockSettings.from_dict({"horizon": 50, "taus": [3, 5]}) == ClockSettings(50, (3, 5))
    assert WorldSettings.from_dict({"radius": 3, "start_threshold": None}) == WorldSettings(3.0, None)
    assert isinstance(WorldSettings.from_dict({"radius": 3}).radius, float)
    assert Outer.from_dict(Outer(WorldSettings(1.0)).to_dict()) == Outer(WorldSettings(1.0))
    assert SimulationSettings.from_dict(SimulationSettings().to_dict()) == SimulationSettings()


def all_settings():
    found = [kind for kind in Settings.__subclasses__() if kind.__module__.startswith("whiffclock")]
    assert len(found) >= 8
    for kind in found:
        if any(setting.default is MISSING and setting.default_factory is MISSING for setting in fields(kind)):
            continue  # cannot be made of one value; tested where it is
        for setting in fields(kind):
            if "float" in str(setting.type) and not re.search("tuple|dict", str(setting.type)):
                yield pytest.param(kind, setting.name, id=f"{kind.__name__}.{setting.name}")


@pytest.mark.parametrize(("kind", "name"), list(all_settings()))
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(kind, name, value):
    with pytest.raises(InputError, match=r"nan|inf"):
        kind(**{name: value})
    assert "nan" in (sentence := refused(kind, {name: value})) or "inf" in sentence


NASTY = [
    None, "", "no", "1", b"1", True, False, 0, 1, -1, 1.5, 2.0, math.nan, math.inf, -math.inf, 1e308, 10**30, 10**5000,
    np.int64(2), np.int64(2**62 + 1), np.uint64(2**64 - 1), np.float32(0.5), np.float64(2.0), np.longdouble(2),
    np.bool_(1), np.array(2), np.array([1, 2]), np.array([[1.5]]), np.array(["a"]), np.datetime64("2026-01-01"), 1j,
    Decimal(2), Fraction(1, 2), [], (), {}, [None], [10**5000], (1, 2), (1.0, 2.0, 4.0, 8.0), [0.5, np.float32(1)],
    {"a": 1}, {3: 4}, {1, 2}, range(2), object(), int, np.int64, print, lambda: None, "x" * 1000, "a\nb", "\x1b[31m",
]  # fmt: skip
REQUIRED = {
    DrawSettings: {"environment": "sparse"},
    Profile: PROFILES["quick"].to_dict(),
    Size: SIZES["quick"].to_dict(),
    CrosswindProfile: {"c": 1e-6, "amplitude": (0.5,), "width": (2.0,), "shape": (2.0,)},
    Target: {"origin": "here", "x": (1.0,), "threshold": (CrosswindProfile(1e-6, (0.5,), (2.0,), (2.0,)),)},
}
PLAIN = (NoneType, bool, int, float, str)


def every_setting():
    for kind in Settings.__subclasses__():
        if kind.__module__.startswith("whiffclock"):
            yield from (pytest.param(kind, f.name, id=f"{kind.__name__}.{f.name}") for f in fields(kind))


def is_plain(value):
    if type(value) is tuple:
        return all(map(is_plain, value))
    if type(value) is dict:
        return all(map(is_plain, (*value, *value.values())))
    return type(value) in PLAIN or isinstance(value, Settings)


@pytest.mark.parametrize(("kind", "name"), list(every_setting()))
def test_any_value_becomes_plain_or_is_refused_in_one_sentence(kind, name):
    worked = 0
    for value in NASTY:
        try:
            made = kind(**REQUIRED.get(kind, {}) | {name: value})
        except InputError as error:
            sentence = str(error)
            assert sentence.endswith("."), sentence
            assert sentence.isprintable(), sentence
            assert len(sentence) < 300
        else:
            worked += 1
            assert is_plain(getattr(made, name)), value
            json.dumps(made.to_dict(), allow_nan=False)
            assert pickle.loads(pickle.dumps(made)) == made
            assert kind.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert worked < len(NASTY) / 2


@pytest.mark.parametrize(
    ("kind", "name", "value", "plain"),
    [
        (LearningSettings, "episodes", 1e4, 10_000),
        (EvaluationSettings, "seed", np.int64(2**62 + 1), 2**62 + 1),
        (LearningSettings, "gamma", np.float32(0.5), 0.5),
        (LearningSettings, "bootstrap_at_horizon", np.bool_(False), False),
        (EvaluationSettings, "horizon", np.array(7), 7),
        (WorldSettings, "radius", 3, 3.0),
        (ReadSettings, "source", np.array([0, 13]), (0, 13)),
        (ReadSettings, "key", np.str_("odor"), "odor"),
        (TauScan, "taus", range(1, 4), (1, 2, 3)),
        (BranchSettings, "trials", np.uint8(5), 5),
        (ReadSettings, "environments", {"dense": np.float32(0.5)}, {"dense": 0.5}),
        (SimulationSettings, "flow", {"depth": 10}, FlowSettings(depth=10.0)),
    ],
)
def test_numbers_of_numpy_and_whole_floats_become_plain(kind, name, value, plain):
    found = getattr(kind(**{name: value}), name)
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(
    ("kind", "values", "sentence"),
    [
        (LearningSettings, {"episodes": "many"}, "episodes is 'many'; it must be a whole number."),
        (LearningSettings, {"episodes": 10.5}, "episodes is 10.5; it must be a whole number."),
        (LearningSettings, {"episodes": True}, "episodes is True; it must be a whole number."),
        (LearningSettings, {"episodes": math.nan}, "episodes is nan; it must be a whole number."),
        (LearningSettings, {"episodes": 0}, "episodes is 0; it must be at least 1 and at most 1e12."),
        (LearningSettings, {"gamma": None}, "gamma is None; it must be a number."),
        (LearningSettings, {"gamma": math.nan}, "gamma is nan; it must be a finite number."),
        (LearningSettings, {"gamma": 1.0}, "The discount gamma is 1; it must lie between 0 and 1."),
        (LearningSettings, {"alpha_decay": 0}, "alpha_decay is 0; it must be a positive number of episodes."),
        (LearningSettings, {"gama": 0.9}, "LearningSettings has no setting called gama; did you mean gamma?"),
        (LearningSettings, {"colour": 0.9}, "LearningSettings has no setting called colour."),
        (WorldSettings, {"start_on_whiff": "no"}, "start_on_whiff is 'no'; it must be True or False."),
        (WorldSettings, {"start_on_whiff": 0}, "start_on_whiff is 0; it must be True or False."),
        (WorldSettings, {"end_of_record": 3}, "end_of_record is 3; it must be 'wrap' or 'avoid'."),
        (BayesSettings, {"floor": 0.5}, "The floor is 0.5; it must lie between 0 and 0.5."),
        (ReadSettings, {"source": (1, 2, 3)}, "source is (1, 2, 3); it must be a sequence of 2 whole numbers or None."),
        (ReadSettings, {"environments": 3}, "environments is 3; it must be a dictionary of numbers or 'auto' or None."),
        (ReadSettings, {"background": -1}, "background is -1; it must be 0 or more."),
        (EngineSettings, {"workers": -1}, "--workers is -1; it must lie between 1 and 1024."),
        (EngineSettings, {"scheduler": 8786}, "scheduler is 8786; it must be a text or None."),
        (BranchSettings, {"seed": 2**63}, "seed is 9223372036854775808; it must be at least -9.22337e18 and at most"),
        (BranchSettings, {"trials": 0}, "trials is 0; it must be positive."),
        (SimulationSettings, {"flow": 3}, "flow is 3; it must be FlowSettings, or a dictionary of such settings."),
        (SimulationSettings, {"flow": {"dept": 3}}, "FlowSettings has no setting called dept; did you mean depth?"),
        (FlowSettings, {"period": (1, 0)}, "period is 0; it must be positive."),
        (TauScan, {"taus": 5}, "taus is 5; it must be a sequence of whole numbers."),
    ],
)
def test_settings_say_what_would_be_right(kind, values, sentence):
    with pytest.raises(InputError) as caught:
        kind(**values)
    assert str(caught.value).startswith(sentence)


def test_a_shortened_schedule_takes_and_refuses_the_same():
    assert LearningSettings.shortened(1e4) == LearningSettings.shortened(np.int32(10_000))
    for wrong in ({"episodes": "many"}, {"episodes": 0}, {"episodes": 10, "gama": 0.9}):
        with pytest.raises(InputError, match=r"many|episodes is 0|gamma"):
            LearningSettings.shortened(**wrong)


def test_changed_settings_are_checked_again():
    with pytest.raises(InputError, match="gamma"):
        replace(LearningSettings(), gamma=2)
    with pytest.raises(InputError, match="did you mean horizon"):
        replace(LearningSettings(), horizn=2)


def test_thousands_of_settings_are_made_in_no_time():
    LearningSettings()
    used = min(timeit.repeat(LearningSettings, number=100, repeat=20, timer=time.process_time))
    assert used < 100 * 60e-6  # 17 microseconds each on an idle core
