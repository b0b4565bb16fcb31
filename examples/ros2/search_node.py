"""A ROS 2 node that searches for a source of odor with an exported policy.

    whiffclock export clock-sparse --to micropython --out agent.py
    python search_node.py --ros-args -p cell:=0.25 -p period:=1.0 -p threshold:=400.0

It reads ``olfaction_msgs/GasSensor`` on ``gas`` and publishes the next displacement, in metres, as
``geometry_msgs/Vector3Stamped`` on ``move``: x is upwind, y across the wind. The controller of your robot follows it.

Tested with a stub of the ROS interface only (tests/test_ros2.py), never on a robot.
"""

import rclpy
from agent import Agent
from geometry_msgs.msg import Vector3Stamped
from olfaction_msgs.msg import GasSensor
from rclpy.node import Node

#: Displacement, in cells, of each move: upwind, +y, -y, downwind.
MOVES = ((1, 0), (0, 1), (0, -1), (-1, 0))


class SearchNode(Node):
    """One move per period; there is a whiff if any reading since the last move was above the threshold."""

    def __init__(self):
        super().__init__("whiffclock")
        for name, default in (("cell", 0.25), ("period", 1.0), ("threshold", 400.0)):
            self.declare_parameter(name, default)
        self.agent, self.whiff = Agent(), 0
        self.create_subscription(GasSensor, "gas", self.smell, 10)
        self.publisher = self.create_publisher(Vector3Stamped, "move", 10)
        self.create_timer(self.value("period"), self.decide)

    def value(self, name):
        """A parameter."""
        return self.get_parameter(name).value

    def smell(self, reading):
        """Note a whiff."""
        if reading.raw > self.value("threshold"):
            self.whiff = 1

    def decide(self):
        """Publish the next displacement."""
        x, y = MOVES[self.agent.step(self.whiff)]
        self.whiff = 0
        target = Vector3Stamped()
        target.header.stamp = self.get_clock().now().to_msg()
        target.header.frame_id = "wind"
        target.vector.x, target.vector.y = x * self.value("cell"), y * self.value("cell")
        self.publisher.publish(target)


def main():
    """Run until the node is stopped."""
    rclpy.init()
    node = SearchNode()
    rclpy.spin(node)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
