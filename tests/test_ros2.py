"""The ROS 2 example, with a stub in place of ROS: readings to whiffs, whiffs to displacements."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import whiffclock as wc
from whiffclock.export import verify

NODE = Path(__file__).parent.parent / "examples" / "ros2" / "search_node.py"


class Node:
    """What the example uses of rclpy.node.Node; messages and timers are called by the test."""

    def __init__(self, name):
        self.name, self.parameters, self.sent = name, {}, []

    def declare_parameter(self, name, default):
        self.parameters[name] = default

    def get_parameter(self, name):
        return SimpleNamespace(value=self.parameters[name])

    def create_subscription(self, kind, topic, callback, depth):
        self.topic, self.read = topic, callback

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(publish=self.sent.append)

    def create_timer(self, period, callback):
        self.period, self.tick = period, callback

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(to_msg=lambda: 0))


def stamped():
    return SimpleNamespace(header=SimpleNamespace(), vector=SimpleNamespace(x=0.0, y=0.0))


@pytest.fixture
def node(tmp_path, monkeypatch):
    wc.export_policy(wc.shipped("clock-sparse"), tmp_path / "agent.py")
    modules = {"rclpy": {}, "rclpy.node": {"Node": Node}, "geometry_msgs": {}, "olfaction_msgs": {}}
    modules |= {"geometry_msgs.msg": {"Vector3Stamped": stamped}, "olfaction_msgs.msg": {"GasSensor": object}}
    for name, contents in modules.items():
        stub = ModuleType(name)
        vars(stub).update(contents)
        monkeypatch.setitem(sys.modules, name, stub)
    monkeypatch.delitem(sys.modules, "agent", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.spec_from_file_location("search_node", NODE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module.SearchNode()
    sys.modules.pop("agent")


def test_the_node_makes_the_moves_of_the_policy(node):
    record = verify.whiff_records(20)[:1, :300]
    for whiff in record[0]:
        for raw in (399.0, 401.0 if whiff else 400.0, 1.0):
            node.read(SimpleNamespace(raw=raw))
        node.tick()
    upwind = {0: (0.25, 0.0), 1: (0.0, 0.25), 2: (0.0, -0.25), 3: (-0.25, 0.0)}
    expected = [upwind[move] for move in verify.moves_of(wc.shipped("clock-sparse"), record)[0].tolist()]
    assert [(one.vector.x, one.vector.y) for one in node.sent] == expected
    assert (node.topic, node.period) == ("gas", 1.0)
