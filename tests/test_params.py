"""Settings: strictly typed when they are read, finite, and refused in one sentence."""

import re
from dataclasses import MISSING, dataclass, field, fields

import pytest
from clock_settings import ClockSettings

import whiffclock.agents.bayes
import whiffclock.plume.simulate.recipe
import whiffclock.pomdp.solver  # noqa: F401  (the settings below are found by their base class)
from whiffclock.params import InputError, LearningSettings, Settings, WorldSettings
from whiffclock.plume.layouts import ReadSettings
from whiffclock.plume.simulate.recipe import SimulationSettings


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
